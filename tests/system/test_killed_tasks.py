# SPDX-License-Identifier: MIT
"""A list of tasks under hdss exec, of which one in ten fails, is killed at random instants and resumed until it is done: each task has run to its
end once, but for those that a kill has caught between their end and the journal, of which each worker has a few; output, errors, task log and
report are those of a run that nothing happens to.

HDSS_TEST_TASKS says how many tasks (default 200), HDSS_TEST_KILLS how many kills (default 2), HDSS_TEST_SEED which (default 1). The last line sums
up what was killed, how runs ended, and how many tasks have run once more.
"""
import collections
import os
import random
import signal
import time

from launch import HDSS, SUPERMASTER, TIMEOUT_S, WORKER, descendants, finish, kill_tree, main, ranks_of, report, start, wait_until
from processes import comm_of

TASKS = int(os.environ.get('HDSS_TEST_TASKS', '200'))
KILLS = int(os.environ.get('HDSS_TEST_KILLS', '2'))
SEED = int(os.environ.get('HDSS_TEST_SEED', '1'))
WORKERS = 2
CAUGHT = 3  # tasks of a worker that may run once more after a kill: one that has ended, and two that it had asked for ahead
DONE = 3    # the status of a list with tasks that fail
LIMIT_S = TIMEOUT_S + TASKS / 50
TARGETS = ['hdss', 'hdss asked', 'mpirun', 'mpirun asked', 'supermaster', 'worker', 'workers', 'all']
# The last that a task does is to say that it has run to its end.
LINE = 'echo out {}; case {} in (*3) echo bad {} >&2; echo {} >>ended; exit 7;; esac; echo {} >>ended'


def fails(task):
    return task % 10 == 3


def progress():
    """Bytes that tasks have written at their ends."""
    return os.path.getsize('ended') if os.path.exists('ended') else 0


def all_progress():
    return sum(len(str(task)) + 1 for task in range(1, TASKS + 1))


def pids_of(process, target):
    if target.startswith('hdss'):
        return [process.pid]
    if target.startswith('mpirun'):
        return [pid for pid in descendants(process.pid) if comm_of(pid) in ('mpirun', 'prterun')][:1]
    found = ranks_of(process, SUPERMASTER if target == 'supermaster' else WORKER)
    return found[:1] if target != 'workers' else found


def disturb(process, target):
    if target == 'all':
        kill_tree(process.pid)
        return
    for pid in pids_of(process, target):
        try:
            os.kill(pid, signal.SIGTERM if target.endswith('asked') else signal.SIGKILL)
        except ProcessLookupError:
            pass


def is_left():
    """True while a process works in this folder: ranks go on for a moment when their launcher was killed."""
    here = os.getcwd()
    for entry in os.listdir('/proc'):
        try:
            if entry.isdigit() and int(entry) != os.getpid() and os.readlink(f'/proc/{entry}/cwd') == here:
                return True
        except OSError:
            pass
    return False


def launch(chance, killed):
    """A run that is killed, more than once where it goes on; or let be when all kills are done."""
    again = ['--resume'] if os.path.exists('all.journal') else []
    process = start([HDSS, 'exec', '-j', WORKERS, '--output', 'all', '--report', 'report.json', *again, '--shell', LINE, '::::', 'numbers'])
    while len(killed) < KILLS and process.poll() is None:
        at = progress() + chance.uniform(0, 2 * (all_progress() - progress()) / (KILLS + 1 - len(killed)))
        while process.poll() is None and progress() < at:
            time.sleep(0.01)
        if process.poll() is None:
            killed.append(chance.choice(TARGETS))
            disturb(process, killed[-1])
            time.sleep(chance.uniform(0, 0.5))
    run = finish(process, LIMIT_S)
    wait_until(lambda: not is_left(), f'the end of all processes, {killed}')
    return run


def is_through(run):
    """Or it was killed when all was done."""
    return run.status == DONE or (run.status == 2 and 'it is complete' in run.raw_err)


def check_files():
    with open('all', encoding='ascii') as file:
        assert file.read() == ''.join(f'out {task}\n' for task in range(1, TASKS + 1))
    with open('all.err', encoding='ascii') as file:
        assert file.read() == ''.join(f'bad {task}\n' for task in range(1, TASKS + 1) if fails(task))
    with open('all.log', encoding='utf-8') as file:
        rows = [line.split('\t') for line in file][1:]
    assert [(int(row[0]), row[6]) for row in rows] == [(task, '7' if fails(task) else '0') for task in range(1, TASKS + 1)]
    # The files that --resume failed needs are kept.
    kept = ['all', 'all.err', 'all.journal', 'all.list', 'all.log', 'all.parts', 'ended', 'numbers', 'report.json']
    assert sorted(os.listdir('.')) == kept, os.listdir('.')


def check_ended(kills):
    """Returns how many tasks have run once more."""
    with open('ended', encoding='ascii') as file:
        times = collections.Counter(int(line) for line in file)
    assert sorted(times) == list(range(1, TASKS + 1)), sorted(set(range(1, TASKS + 1)) - set(times))[:10]
    more = sum(times.values()) - TASKS
    assert more <= CAUGHT * WORKERS * kills, (more, kills)
    return more


def test_each_task_runs_once_whatever_is_killed():
    chance, killed, statuses = random.Random(SEED), [], []
    with open('numbers', 'w', encoding='ascii') as file:
        file.writelines(f'{task}\n' for task in range(1, TASKS + 1))
    began, run = time.monotonic(), None
    while run is None or not is_through(run):
        assert len(statuses) <= KILLS, (killed, statuses, run)
        run = launch(chance, killed)
        statuses.append(run.status)
        assert run.status in (1, 4, -signal.SIGKILL) or is_through(run), (killed, statuses, run)
    check_files()
    more = check_ended(len(killed))
    print(f'# tasks={TASKS} seed={SEED} seconds={time.monotonic() - began:.0f} killed: {", ".join(killed)}; statuses: {statuses}; '
          f'once more: {more}', flush=True)
    if run.status == DONE:
        figures = report()
        assert figures['done'] == TASKS, figures


if __name__ == '__main__':
    main([test_each_task_runs_once_whatever_is_killed])
