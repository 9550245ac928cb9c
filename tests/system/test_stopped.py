# SPDX-License-Identifier: MIT
"""Ranks that are stopped (SIGSTOP) and never go on: the loop is computed by the others, and the command is back soon after its end.

The end of the loop is when all results are in the output, which is looked at while the command runs.
"""
import os
import signal
import time

from launch import MASTER, WORKER, finish, kill_tree, long, main, report, start, wait_until
from nodes import Nodes
from test_faults import faults, hdss, job_words, lines_with, pids, ranks
from test_resume import SLOW, check, read, undisturbed, wait_for_records

# The command is back within one second; a busy machine is given more. It was nine before.
SOON_S = 4
LIMIT_S = 60


def is_stored(output, reference):
    """The records stand at the end, behind a head."""
    try:
        return read(output)[-2400:] == reference[-2400:]
    except OSError:
        return False


def time_end(process, output='out.npy'):
    """The run, with its `late`: the seconds between the end of its loop and of the command."""
    reference, end, stored = undisturbed(*SLOW)[1], time.monotonic() + LIMIT_S, None
    while process.poll() is None and time.monotonic() < end:
        if stored is None and is_stored(output, reference):
            stored = time.monotonic()
        time.sleep(0.005)
    if process.poll() is None:
        kill_tree(process.pid)
        raise AssertionError(f'hangs{" after its loop" if stored else ""}: {finish(process)}')
    result = finish(process)
    result.late = 0 if stored is None else time.monotonic() - stored
    return result


def stopped(line, find):
    """Runs it, and once something is done stops the process that find() names, for ever."""
    undisturbed(*SLOW)
    process = start(line)
    wait_for_records(process)
    pid = find(process)
    os.kill(pid, signal.SIGSTOP)
    result = time_end(process)
    wait_until(lambda: not os.path.exists(f'/proc/{pid}'), 'the end of the stopped rank', SOON_S)  # of another machine, a moment later
    return result


def check_end(result, masters=0, workers=0):
    """A worker is late, or was found to be lost before: on another machine that takes as long as its chunk has."""
    check(result, undisturbed(*SLOW))
    told, late = faults(), len(lines_with(result, 'had not left when all was done'))
    assert report()['outcome'] == 'done' and told['lost_masters'] == masters and told.get('late_workers', 0) == late, (told, result)
    assert told['lost_workers'] + late == workers, (told, result)
    assert result.late < SOON_S, (result.late, result)
    os.remove('out.npy')


def test_a_stopped_master_is_lost():
    for masters in (1, 2):
        result = stopped(hdss(masters, 3, job_words()), lambda process: pids(process, MASTER)[0])
        assert len(lines_with(result, 'master rank 1 has been stopped for 10 seconds: it is ended')) == 1, result
        assert len(lines_with(result, 'supermaster: master rank 1 was lost')) == 1, result
        check_end(result, masters=1)


def test_a_stopped_worker_is_not_waited_for():
    for masters in (0, 2):
        result = stopped(hdss(masters, 4, job_words()), lambda process: pids(process, WORKER)[1])
        assert faults()['reissued_chunks'] >= 1, (faults(), result)
        assert faults()['lost_workers'] == 0, (faults(), result)
        check_end(result, workers=1)


def far_pid(nodes, program, node=1):
    """The first one of the program on that node."""
    found = sorted(nodes.ranks().items())
    return next(pid for _, (pid, at, path) in found if at == node and path == os.path.realpath(program))


@long
def test_on_another_machine():
    """A worker that is alone there, one under a master, and a master."""
    def on_nodes(masters, workers, program):
        with Nodes(3) as nodes:
            line = nodes.hdss(['--masters', masters, '--workers', workers, *job_words()])
            return stopped(line, lambda process: far_pid(nodes, program))
    try:
        check_end(on_nodes(0, 3, WORKER), workers=1)
        check_end(on_nodes(3, 6, WORKER), workers=1)
        check_end(on_nodes(3, 6, MASTER), masters=1)
    except OSError as problem:
        return str(problem)
    return None


@long
def test_a_run_that_is_stopped_as_a_whole_goes_on():
    process = start(hdss(1, 2, job_words()))
    wait_for_records(process)
    found = [pid for pid, _ in ranks(process).values()]
    for number in (signal.SIGSTOP, signal.SIGCONT):
        for pid in found:
            os.kill(pid, number)
        time.sleep(12 if number == signal.SIGSTOP else 0)  # longer than a single rank may be stopped
    result = finish(process)
    assert faults()['lost_masters'] == 0 and faults()['lost_workers'] == 0, (faults(), result)
    check(result, undisturbed(*SLOW))


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
