# SPDX-License-Identifier: MIT
"""Ranks that are stopped (SIGSTOP) and never go on: the loop is computed by the others, and the command is back soon after its end.

The end of the loop is when all results are in the output, which is looked at while the command runs. The runs of a test go at once, as most of
their time is spent waiting for the ten seconds after which others get what a stopped rank has.
"""
import ctypes
import os
import signal
import subprocess
import time

from faults import all_are_busy, faults, lines_with
from journals import wait_for_records
from launch import MASTER, TIMEOUT_S, WORKER, finish, hdss, hurried, job, kill_tree, main, need_mpi, report, start, wait_until
from loops import SLOW
from nodes import Nodes
from openmpi import RECOVERING
from processes import pids, ranks
from results import check, read, undisturbed
from stopped import SOON, at_once, job_words


def is_stored(reference):
    """The records stand at the end, behind a head."""
    try:
        return read('out.npy')[-2400:] == reference[-2400:]
    except OSError:
        return False


def time_end(process, again):
    """The run, with its `late`: the seconds between the end of its loop and of the command. again() is called all the time."""
    reference, end, stored = undisturbed(*SLOW)[1], time.monotonic() + TIMEOUT_S, None
    while process.poll() is None and time.monotonic() < end:
        if stored is None and is_stored(reference):
            stored = time.monotonic()
        again()
        time.sleep(0.005)
    if process.poll() is None:
        kill_tree(process.pid)
        raise AssertionError(f'hangs{" after its loop" if stored else ""}: {finish(process)}')
    result = finish(process)
    result.late = 0 if stored is None else time.monotonic() - stored
    return result


LIBC = ctypes.CDLL(None)
PTRACE_SEIZE, PTRACE_INTERRUPT, WALL = 0x4206, 0x4207, 0x40000000


def hold(pid):
    """Holds it as a debugger does: no signal but SIGKILL lets it go on. OSError where this machine lets nobody do that."""
    for request in (PTRACE_SEIZE, PTRACE_INTERRUPT):
        if LIBC.ptrace(request, pid, None, None) != 0:
            raise OSError(f'cannot hold process {pid}')


def let_go(pid):
    """Once it is killed its parent hears of it."""
    LIBC.waitpid(pid, None, os.WNOHANG | WALL)


def stopped(line, find, held=False, is_far=False):
    """Runs it, and once something is done, and each worker of this machine has a chunk, stops the process that find() names, or holds it, for ever."""
    undisturbed(*SLOW)
    os.environ['HDSS_CONTROL_DIR'] = os.getcwd()
    process = start(line)
    wait_for_records(process)
    if not is_far:
        wait_until(all_are_busy, 'a chunk for each worker')
    pid = find(process)
    try:
        if held:
            hold(pid)
        else:
            os.kill(pid, signal.SIGSTOP)
    except OSError:
        kill_tree(process.pid)
        process.communicate()
        raise
    with hurried():
        result = time_end(process, lambda: let_go(pid) if held else None)

    def is_gone():  # of another machine, a moment later
        if held:
            let_go(pid)
        return not os.path.exists(f'/proc/{pid}')
    wait_until(is_gone, 'the end of the stopped rank', SOON)
    return result


def check_end(result, masters=0):
    """No worker was lost, and what is told of masters and of workers that had not left is told once each. Returns how many the latter are."""
    check(result, undisturbed(*SLOW))
    told, late = faults(), len(lines_with(result, 'had not left when all was done'))
    assert report()['outcome'] == 'done' and told['lost_masters'] == masters and told.get('late_workers', 0) == late, (told, result)
    assert len(lines_with(result, 'has been stopped for 10 seconds: it is ended')) == masters, result
    assert len(lines_with(result, 'supermaster: master rank')) == masters, result
    assert result.late < SOON * TIMEOUT_S, (result.late, result)
    return late


def lose_master(line):
    result = stopped(line, lambda process: pids(process, MASTER)[0])
    check_end(result, masters=1)
    assert faults()['lost_workers'] == 0, (faults(), result)


def rouse_worker(line):
    """It goes on at the end, and leaves in order."""
    result = stopped(line, lambda process: pids(process, WORKER)[1])
    assert check_end(result) == 0 and faults()['lost_workers'] == 0 and faults()['reissued_chunks'] >= 1, (faults(), result)
    assert len(lines_with(result, 'is stopped and the run is over: it goes on, to leave')) == 1, result


def hold_worker(line):
    """It does not come to leave, and is killed at the end."""
    result = stopped(line, lambda process: pids(process, WORKER)[1], held=True)
    assert check_end(result) == 1 and faults()['lost_workers'] == 0, (faults(), result)


def test_on_one_machine():
    at_once((lose_master, hdss(1, 2, job_words())), (lose_master, hdss(1, 3, job_words())), (lose_master, hdss(2, 2, job_words())),
            (lose_master, hdss(2, 4, job_words())), (rouse_worker, hdss(0, 3, job_words())), (rouse_worker, hdss(2, 4, job_words())))


def no_debugger():
    """Why this machine lets nobody hold a process; None where it does."""
    child = subprocess.Popen(['sleep', '1000'])
    try:
        hold(child.pid)
    except OSError as problem:
        return str(problem)
    finally:
        child.kill()
        child.wait()
    return None


def test_a_worker_that_is_held():
    reason = no_debugger()
    if reason is None:
        at_once((hold_worker, hdss(0, 3, job_words())), (hold_worker, hdss(2, 4, job_words())))
    return reason


def test_a_line_written_by_hand():
    """Without any option mpirun sees all ranks of a stopped worker's run leave in order."""
    at_once((rouse_worker, job(0, 3, job_words())), (rouse_worker, job(2, 4, job_words())),
            (lose_master, job(2, 4, job_words(), options=RECOVERING)))


def far_pid(nodes, program, node=1):
    """The first one of the program on that node."""
    found = sorted(nodes.ranks().items())
    return next(pid for _, (pid, at, path) in found if at == node and path == os.path.realpath(program))


def test_on_another_machine():
    """A worker beside others, one that is alone there, one under a master, and a master. How long a silent worker is not lost is as long as its
    chunk goes to no other: either may come first."""
    need_mpi()

    def on_nodes(masters, workers, program):
        with Nodes(3) as nodes:
            line = nodes.hdss(['--masters', masters, '--workers', workers, *job_words()])
            return stopped(line, lambda process: far_pid(nodes, program), is_far=True)
    try:
        for masters, workers in ((0, 6), (0, 3), (3, 6)):
            late = check_end(on_nodes(masters, workers, WORKER))
            assert late + faults()['lost_workers'] <= 1, faults()
            os.remove('out.npy')
        check_end(on_nodes(3, 6, MASTER), masters=1)
    except OSError as problem:
        return str(problem)
    return None


def test_a_run_that_is_stopped_as_a_whole_goes_on():
    process = start(hdss(1, 2, job_words()))
    wait_for_records(process)
    found = [pid for pid, _ in ranks(process).values()]
    for number in (signal.SIGSTOP, signal.SIGCONT):
        for pid in found:
            os.kill(pid, number)
        time.sleep(12 if number == signal.SIGSTOP else 0)  # longer than a single rank may be stopped
    with hurried():
        result = finish(process)
    assert faults()['lost_masters'] == 0 and faults()['lost_workers'] == 0, (faults(), result)
    check(result, undisturbed(*SLOW))


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
