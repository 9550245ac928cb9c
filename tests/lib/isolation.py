# SPDX-License-Identifier: MIT
"""Kernels that crash in a helper: the hostile one, what it does, what it leaves, and helpers that are killed."""
import os
import re
import signal

from kernels import built
from launch import children_of, finish, hdss, job, report, run, wait_until
from processes import helpers
from results import records

SEGV = 'killed the child process: signal 11 (Segmentation fault)'
ABORTED = 'killed the child process: signal 6 (Aborted)'
OVERDUE = 'ran for longer than 0.5 s (--iteration-timeout)'
# What an iteration does, and why it fails then; None: it does not.
MODES = {
    'segv': SEGV, 'nullcall': SEGV, 'abort': ABORTED, 'stack': SEGV, 'thread': SEGV, 'exit': 'ended the child process with status 9',
    'exit0': 'ended the child process with status 0', '_exit': 'ended the child process with status 7',
    'kill': 'killed the child process: signal 9 (Killed)', 'return1': 'run() returned 1; accepted: 0, or -1 for a failure',
    'return7': 'run() returned 7; accepted: 0, or -1 for a failure', 'fail': 'is hostile', 'term': None, 'closefds': None, 'closestd': None,
    'fork': None, 'copy': None, 'endcopy': None, 'handlers': None, 'limits': None, 'chdir': None, 'atexit': None,
}


def hostile():
    return built('hostile')


def words(*more, chunk=50, isolate='on'):
    return ['--isolate', isolate, '--power', 'equal', '--technique', f'css:chunk={chunk}', '--report', 'report.json', '--output', 'out.npy',
            '--overwrite', *more, hostile()]


def check_records(count, bad):
    got = records()
    assert len(got) == count
    wrong = [i for i in range(count) if got[i] != (0 if i in bad else i * 1000003)]
    assert not wrong, wrong


def check_failures(result, bad, reason, count=300, name=''):
    figures = report()
    failed = sorted(first + i for first, number in figures['failed'] for i in range(number))
    assert failed == bad and figures['done'] == count - len(bad), (name, figures['failed'], figures['done'], result)
    assert all(entry['reason'] == reason for entry in figures['failures']), (name, figures['failures'])
    assert figures['faults'].get('lost_workers', 0) == 0, (name, figures['faults'], result)
    assert result.status == (3 if bad else 0), (name, result)
    check_records(count, bad)


def check_nothing_begins(kernel, reason, environment=()):
    """Of a kernel that cannot be described: one line of `hdss run`, which starts nothing, and one of the supermaster."""
    for program, line in (('hdss run', hdss(0, 2, kernel)), ('supermaster', job(1, 2, kernel))):
        result = run(['env', *environment, *line])
        assert result.status == 2 and len(result.err) == 1 and re.fullmatch(f'{program}: {reason}', result.err[0]), (reason, result)


def some_are_done():
    return os.path.exists('out.npy') and os.path.getsize('out.npy') > 128 and any(records())


# Iterations that wait in a child of their helper until the file is there.
GATE = ['at=0', 'every=20', 'mode=command', 'command=until test -e go; do sleep 0.01; done']


def check_killed(process, are_there, count):
    """Kills helpers again and again, each time once `are_there` says of the number of helpers that all are. The first helper of each
    worker has opened the kernel by then, as both are at the GATE: a kernel that nobody can open ends the run."""
    wait_until(lambda: sum(1 for pid in helpers(process) if children_of(pid)) == 2, 'two helpers that compute')
    with open('go', 'w', encoding='ascii'):
        pass
    wait_until(lambda: are_there(len(helpers(process))) and some_are_done(), 'two helpers')
    killed = 0
    while process.poll() is None and killed < 9:  # ten in a row that have not begun are given up
        for pid in helpers(process)[:1]:
            try:
                os.kill(pid, signal.SIGKILL)
                killed += 1
            except ProcessLookupError:
                pass
        before = set(helpers(process))
        wait_until(lambda: process.poll() is not None or set(helpers(process)) - before or are_there(len(helpers(process))), 'another helper')
    result = finish(process)
    assert killed > 3
    check_failures(result, [], None, count)
