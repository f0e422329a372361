"""A hundred thousand attempts are a large cycle: whoever renders a page waits for all of it."""

import time

from scoring.board import board
from scoring.review import under_review
from scoring.sets import sets
from scoring.verdict import verdicts

AGENTS, PROJECTS = 20, 1667
MOST_GROWTH = 40
"""What ten times as many attempts may cost more: ten grows with them, a hundred with their square."""


def test_ten_times_as_many_attempts_do_not_take_a_hundred_times_as_long(attempt, edition):
    def made(projects: int) -> tuple[float, tuple[int, int, int]]:
        attempts = [
            attempt(f"agent-{agent}", f"project-{project}", number, score=(agent * project * number) % 101)
            for agent in range(AGENTS)
            for project in range(projects)
            for number in (1, 2, 3)
        ]
        # Processor time, and in relation: what else this machine does at the moment is not what is measured.
        start = time.process_time()
        found = sets(attempts, edition)
        rows = board(found, under_review(found, [], edition), [], edition)
        chains = verdicts(attempts, "agent-0", edition)
        return time.process_time() - start, (len(found), len(rows), len(chains))

    small, _ = made(PROJECTS // 10)
    large, counts = made(PROJECTS)
    assert counts == (AGENTS * PROJECTS, AGENTS, PROJECTS)
    assert large < MOST_GROWTH * small
