# SPDX-License-Identifier: MIT
"""Ranks that are stopped (SIGSTOP) and never go on, while the run is to drain, or as the supermaster: nobody waits for them for ever."""
import os
import signal

from faults import lines_with
from journals import wait_for_records
from launch import MASTER, SUPERMASTER, TIMEOUT_S, WORKER, finish, hdss, hurried, main, report, run, start, wait_until
from loops import ENDLESS
from processes import pids
from results import check, read, undisturbed
from stopped import SOON, at_once, job_words

# A drain waits for iterations of some milliseconds.
DRAINED_S = TIMEOUT_S / 8


def go_on():
    with hurried():
        check(run(hdss(0, 3, job_words('--technique', 'gss', '--resume', loop=ENDLESS))), undisturbed(*ENDLESS))


def drain(line, program, place=0):
    """What is stopped does not hold up a drain."""
    process = start(line)
    wait_for_records(process)
    pid = pids(process, program)[place]
    os.kill(pid, signal.SIGSTOP)
    process.send_signal(signal.SIGTERM)
    result = finish(process)
    assert result.status == 4 and report()['outcome'] == 'drained' and result.seconds < DRAINED_S, result
    wait_until(lambda: not os.path.exists(f'/proc/{pid}'), 'the end of the stopped rank', SOON)
    go_on()
    os.remove('out.npy')


def drain_master(line):
    drain(line, MASTER)


def drain_worker(line):
    drain(line, WORKER, 1)


def lose_supermaster(line):
    """It is ended, as others wait for it, and the run with it. Who is stopped when, and who is not, is in tests/unit/cli/test_launch_script.c."""
    process = start(line)
    wait_for_records(process)
    pid = pids(process, SUPERMASTER)[0]
    os.kill(pid, signal.SIGSTOP)
    result = finish(process)
    assert result.status == 1 and len(lines_with(result, 'hdss: the supermaster has been stopped for 10 seconds: it is ended')) == 1, result
    wait_until(lambda: not os.path.exists(f'/proc/{pid}'), 'the end of the stopped rank', SOON)
    go_on()


def drain_flat(line):
    """One of workers alone is waited for, but not by a drain, which fails without it."""
    process = start(line)
    wait_until(lambda: os.path.exists('out.npy') and any(read('out.npy')[200:]), 'the first result')
    pid = pids(process, WORKER)[1]
    os.kill(pid, signal.SIGSTOP)
    process.send_signal(signal.SIGTERM)
    result = finish(process)
    assert result.status == 1 and len(lines_with(result, 'a rank has been stopped for 10 seconds and the others drain: it is ended')) == 1, result
    wait_until(lambda: not os.path.exists(f'/proc/{pid}'), 'the end of the stopped rank', SOON)


def test_a_drain():
    words, flat = job_words(loop=ENDLESS), ['--output', 'out.npy', *ENDLESS]
    at_once((drain_master, hdss(1, 2, words)), (drain_master, hdss(2, 4, words)), (drain_worker, hdss(0, 3, words)),
            (drain_worker, hdss(2, 4, words)), (drain_flat, hdss(0, 3, flat, '--dca', 'rma')), (drain_flat, hdss(0, 3, flat, '--dca', 'node')))


def test_the_supermaster():
    words, once = job_words(loop=ENDLESS), ['--restarts', '0']
    at_once((lose_supermaster, hdss(0, 2, words, *once)), (lose_supermaster, hdss(2, 4, words, *once)))


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
