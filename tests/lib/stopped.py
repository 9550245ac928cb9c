# SPDX-License-Identifier: MIT
"""Ranks that are stopped: runs that lose one so, and that it has left in the end."""

from loops import SLOW, STEADY
from trials import run_trials

# The command is back within one second; a busy machine is given more. It was nine before.
SOON = 0.05


def job_words(*more, loop=SLOW):
    return [*STEADY, '--output', 'out.npy', *more, *loop]


def attempt(number, cases):
    case, line = cases[number]
    case(line)
    return [], None


def at_once(*cases):
    wrong = [text for _, text in run_trials(attempt, range(len(cases)), len(cases), cases) if text is not None]
    assert not wrong, '\n'.join(wrong)
