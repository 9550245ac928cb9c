# SPDX-License-Identifier: MIT
"""Runs that are killed, and gone on with."""
import os
import signal

from journals import wait_for_records
from launch import SUPERMASTER, finish, hurried, job, kill_tree, run_job, start
from loops import SLOW, STEADY
from processes import pid_of


def resume(masters, workers, words, *more, output='out.npy'):
    with hurried():
        return run_job(masters, workers, [*STEADY, '--resume', '--output', output, *more, *words])


def kill_the_supermaster(process):
    pid = pid_of(process, SUPERMASTER)
    if pid is not None:
        os.kill(pid, signal.SIGKILL)


def killed_run(*more, output='out.npy', words=SLOW):
    process = start(job(1, 2, [*STEADY, '--output', output, *more, *words]))
    wait_for_records(process, output + '.journal')
    kill_tree(process.pid)
    finish(process)


def refused(result, *parts):
    assert result.status == 2 and len(result.err) == 1, result
    for part in parts:
        assert part in result.err[0], (part, result)
