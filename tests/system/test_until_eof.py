# SPDX-License-Identifier: MIT
"""A set that ends with its standard input: whoever starts one of its own never leaves it behind, however it ends itself."""
import json
import os
import subprocess
import sys

from launch import HDSS, descendants, environment, finish, gone, main, python_is_there, run, start, wait_until
from loops import SLEEPY
from processes import pids_in
from sets import here, job, well

STARTED = ['up', '--workers', '2', '--until-eof', '--format', 'json']


def started(process):
    """The session that a set prints, in one line, as soon as it answers."""
    line = process.stdout.readline()
    assert line, finish(process)  # it has ended, and says why
    session = json.loads(line)
    assert line.endswith('\n') and session['kind'] == 'set' and session['name'] == 'main' and well(['submit', '--wait', 'synthetic', 'iterations=1']), line
    return session


def start_with_input(command):
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(),
                            start_new_session=True)


def all_below(process):
    return [process.pid, *descendants(process.pid)]


def nothing_stays(pids):
    wait_until(lambda: all(map(gone, pids)), 'the end of all processes of the set')
    assert not os.path.exists(f'hdss-{os.getuid()}/main.sock')


def test_a_set_ends_with_its_standard_input():
    here()
    for talks in (False, True):
        process = start_with_input([HDSS, *STARTED])
        session, pids = started(process), all_below(process)
        assert len(pids) > 4 and session['ranks'] == {'masters': 0, 'workers': 2}, (pids, session)
        process.stdin.write('ignored\n' * 50000 if talks else '')
        process.stdin.flush()
        number = 2 if talks else 1
        assert job(str(number))['id'] == number  # it is still there
        process.stdin.close()
        process.stdin = None
        ended = finish(process)
        assert ended.status == 0 and ended.out == '' and ended.err == [], ended
        nothing_stays(pids)
    closed = run(['sh', '-c', f'exec {HDSS} {" ".join(STARTED)} <&-'])
    assert closed.status == 2 and closed.err == ['hdss up: --until-eof: standard input is closed; accepted: one that ends, as a pipe does'], closed
    at_once = start([HDSS, *STARTED])  # nothing can come: the set ends as soon as it can
    ended = finish(at_once)
    assert ended.status in (0, 4) and ended.err == [], ended
    nothing_stays([at_once.pid])


def began():
    return [name for name in os.listdir('.') if name.startswith('began.')]


HOLDER = '''
import subprocess, sys, time
with subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
    process.stdout.readline()
    print(process.pid, flush=True)
    time.sleep(1000)
'''


def test_a_set_does_not_outlive_who_holds_its_standard_input():
    """The holder is killed, idle and while a kernel sleeps in a process of its own, which has the set drain."""
    if not python_is_there():
        return 'built without Python'
    here()
    with open('sleepy.py', 'w', encoding='ascii') as file:
        file.write(SLEEPY)
    for works in (False, True):
        holder = start([sys.executable, '-c', HOLDER, HDSS, *STARTED])
        try:
            up_pid = int(holder.stdout.readline())
            if works:
                well(['submit', '--drain-time', '1', '--technique', 'ss', '--power', 'equal', 'python:sleepy.work', 'quick=2'])
                wait_until(lambda: len(began()) == 4, 'two iterations that sleep')
            pids = [up_pid, *descendants(up_pid)]
        finally:
            holder.kill()
            finish(holder)
        nothing_stays(pids)
        assert all(gone(pid) for name in began() for pid in pids_in(name))
    return None


def test_a_set_that_does_not_drain_ends_all_the_same():
    """A job may have an hour to drain; who starts a set with a pipe has not."""
    if not python_is_there():
        return 'built without Python'
    here()
    with open('sleepy.py', 'w', encoding='ascii') as file:
        file.write(SLEEPY)
    process = start_with_input([HDSS, *STARTED])
    started(process)
    well(['submit', '--drain-time', '3600', '--technique', 'ss', '--power', 'equal', 'python:sleepy.work', 'quick=0'])
    wait_until(lambda: os.path.exists('began.0'), 'an iteration that sleeps')
    pids = all_below(process)
    process.stdin.close()
    process.stdin = None
    ended = finish(process)
    assert 'hdss up: the set has not ended in 60 s: its ranks are ended' in ended.err and ended.status != 0, ended
    nothing_stays(pids)
    return None


if __name__ == '__main__':
    sys.exit(main([
        test_a_set_ends_with_its_standard_input,
        test_a_set_does_not_outlive_who_holds_its_standard_input,
        test_a_set_that_does_not_drain_ends_all_the_same,
    ]))
