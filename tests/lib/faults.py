# SPDX-License-Identifier: MIT
"""Losses of ranks: how they are brought about, and how a run tells of them."""
import contextlib
import json
import os
import signal

from journals import wait_for_records
from launch import HDSS, finish, hurried, report, run, start
from loops import SLOW, STEADY
from processes import pids


def job_words(*more):
    return [*STEADY, '--output', 'out.npy', *more, *SLOW]


def all_are_busy():
    """True if each worker of the run in this folder, in which its socket is (HDSS_CONTROL_DIR), has a chunk."""
    shown = run([HDSS, 'show', '--format', 'json'])
    if shown.status != 0:
        return False
    job = json.loads(shown.out)
    return job['busy'] == job['workers']


def disturbed(line, program, places, number=signal.SIGKILL, goes_on=True):
    """Runs it, and sends the signal to the ranks of the program at these places once something is done. A loop that waits for it is hurried
    from then on, if the run is to go on."""
    process = start(line)
    wait_for_records(process)
    running = pids(process, program)
    for place in places:
        os.kill(running[place], number)
    with hurried() if goes_on else contextlib.nullcontext():
        return finish(process)


def clear():
    os.remove('out.npy')


def faults():
    return report()['faults']


def lines_with(result, text):
    return [line for line in result.err if text in line]


def is_complete(result):
    """It was killed when all was done, and there is nothing to resume."""
    return result.status == 0 and len(lines_with(result, 'is complete: nothing is left to do')) == 1
