"""One attempt, really: machine, agent, recorder, evidence."""
