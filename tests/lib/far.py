# SPDX-License-Identifier: MIT
"""Runs over pretended nodes that lose ranks on other nodes than the first."""
import contextlib
import os
import signal

from journals import wait_for_records
from launch import finish, hurried, report, start
from loops import SLOW, STEADY
from nodes import Nodes
from results import check, undisturbed


def words(*more):
    return [*STEADY, '--output', 'out.npy', *more, *SLOW]


def on_nodes(test, count=3):
    try:
        with Nodes(count) as nodes:
            test(nodes)
    except OSError as problem:
        return str(problem)


def disturbed(nodes, line, kill, goes_on=True):
    """Runs it; once something is done `kill` says which process is killed, or does it itself."""
    process = start(line)
    wait_for_records(process)
    pid = kill(nodes.ranks())
    if pid is not None:
        os.kill(pid, signal.SIGKILL)
    with hurried() if goes_on else contextlib.nullcontext():
        return finish(process)


def check_survived(result, workers=0, masters=0):
    check(result, undisturbed(*SLOW))
    figures = report()
    assert figures['outcome'] == 'done' and figures['done'] == 300, figures
    told = figures['faults']
    # One that is lost with the last chunk may be late, and nothing else, before it is found to be lost.
    assert told['lost_masters'] == masters and told['lost_workers'] + told.get('late_workers', 0) == workers, (told, result)
    os.remove('out.npy')
