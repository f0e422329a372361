"""The control agent that needs no model: it follows the README's own commands and a table of known fixes.

task: what it was given. fences: README -> blocks. snippet: a block as a file to run. commands: blocks -> steps to run.
server: how a README starts a server. repository: how a README builds one. session: runs a step, for real.
fixes: error -> known fix, a table.
expected: what the README says a step prints. verify: output -> was it decoded. report: what was observed -> report.
attempt: the order of all this.
"""
