#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Corners that other programs get wrong: what is stopped, killed or left by a task, and whoever could be waited for for ever."""
import json
import os
import signal
import time

from faults import lines_with
from launch import HDSS, SUPERMASTER, UNTIL_HURRY, descendants, finish, gone, hurry, main, python_is_there, report, run, script, start, state_of, wait_until
from pods import join
from processes import members, program_of
from sets import down, here, up, wait_for, well

STOPPED = 'has been stopped for 10 seconds: it is ended'


def tasks(*words, jobs=2):
    """hdss exec --shell with a task for each of the words behind the command."""
    return run([HDSS, 'exec', '-j', jobs, '--shell', *words])


def lines_of(name):
    try:
        with open(name, encoding='ascii') as file:
            return file.read().split()
    except OSError:
        return []


# --- what is stopped ---

def test_a_worker_of_tasks_that_is_stopped_is_ended():
    """The other worker runs its task, which it may only after that worker has ended."""
    task = script('task', 'echo $PPID >> workers', UNTIL_HURRY, 'echo $1')
    process = start([HDSS, 'run', '--workers', '2', '--report', 'report.json', 'exec', f'command={task} {{#}}', 'count=60'])
    wait_until(lambda: len(set(lines_of('workers'))) == 2, 'a task of each worker')
    os.kill(int(lines_of('workers')[0]), signal.SIGSTOP)
    hurry()
    ended = finish(process)
    assert ended.status == 0 and len(lines_with(ended, STOPPED)) == 1 and report()['faults']['lost_workers'] == 1, ended
    assert lines_of('exec.out') == [str(number) for number in range(1, 61)]


def test_a_task_that_stops_itself_keeps_its_time_limit():
    ended = tasks('--timeout', '0.5', 'test {} = 1 && kill -STOP $$; echo {}', ':::', '1', '2')
    assert ended.status == 3 and ended.out == '2\n' and len(lines_with(ended, 'ended at its time limit of 0.5 s')) == 1, ended


def test_a_call_that_stops_its_process_keeps_its_time_limit():
    if not python_is_there():
        return 'built without Python'
    with open('stops.py', 'w', encoding='utf-8') as file:
        file.write('import os, signal\n\ndef describe():\n    return {"iterations": 20}\n\ndef run(first, count):\n'
                   '    if first <= 5 < first + count:\n        os.kill(os.getpid(), signal.SIGSTOP)\n    return [0] * count\n')
    ended = run([HDSS, 'run', '--workers', '2', '--iteration-timeout', '0.3', '--retries', '0', '--report', 'report.json', 'python:stops.run'])
    assert ended.status == 3 and report()['failed'] == [[5, 1]], ended
    return None


def test_a_task_that_stops_who_guards_its_worker_holds_nobody_up():
    script('stop', 'for process in /proc/[0-9]*; do', '    read name < $process/comm 2> /dev/null',
           '    test "$name" = hdss-guard && grep -q "^PPid:.$1$" $process/status && kill -STOP ${process#/proc/}', 'done')
    ended = tasks('./stop $PPID; echo {}', ':::', '1', '2', '3')
    assert ended.status == 0 and sorted(ended.out.split()) == ['1', '2', '3'], ended


def test_a_stopped_supermaster_of_pods_is_ended():
    """No other rank of its launch is there to notice. The set starts again with its jobs, and the pod leaves."""
    here()
    well(['up', '--listen', 'local', '--pods-only', '--restarts', '1'])
    try:
        pod = join(workers=1)
        first = well(['submit', 'exec', 'command=echo done', 'count=1']).strip()
        wait_for(first)
        stopped = next(pid for pid in supermasters() if state_of(pid) not in 'TZ')
        os.kill(stopped, signal.SIGSTOP)
        assert finish(pod).status == 1
        wait_until(lambda: supermasters() not in ([], [stopped]), 'another supermaster')
        again = join(workers=1)
        wait_for(well(['submit', '--output', 'again.out', 'exec', 'command=echo done', 'count=1']).strip())
    finally:
        down()
    assert finish(again).status == 0


def supermasters():
    return [pid for pid in members(os.getcwd()) if program_of(pid) == os.path.realpath(SUPERMASTER)]


# --- what is killed ---

# A module that kills the process that imports it: `deaths` times, from when the folder "deadly" is there.
MORTAL = '''import os, signal
for i in range({deaths} if os.path.exists('deadly') else 0):
    try:
        os.mkdir(__file__ + str(i))
    except FileExistsError:
        continue
    os.kill(os.getpid(), signal.SIGKILL)

def describe():
    return {{'iterations': 20}}

def run(first, count):
    return [0] * count
'''


def test_a_load_that_dies_in_a_set_costs_its_job_alone():
    """A load may die twice. After the third death its job fails."""
    if not python_is_there():
        return 'built without Python'
    here()
    up('--jobs-at-once', '1')
    try:
        well(['submit', 'exec', f'command={script("task", UNTIL_HURRY)}', 'count=1'])
        jobs = []
        for name, deaths in (('twice', 2), ('always', 1000)):
            with open(f'{name}.py', 'w', encoding='utf-8') as file:
                file.write(MORTAL.format(deaths=deaths))
            jobs.append(well(['submit', f'python:{name}.run']).strip())
        jobs.append(well(['submit', '--output', 'other.out', 'exec', 'command=echo done', 'count=1']).strip())
        os.mkdir('deadly')
        hurry()
        wait_until(lambda: [status_of(number) for number in jobs] == [0, 2, 0], 'the end of all')
        assert lines_with(run([HDSS, 'output', jobs[1]]), 'loading it killed the child process'), run([HDSS, 'output', jobs[1]])
        assert len([name for name in os.listdir('.') if name.startswith('twice.py')]) == 3, os.listdir('.')
    finally:
        down()
    return None


def test_jobs_outlive_a_task_that_kills_all_workers():
    """The set is started again, with all of its workers, and the task is given up."""
    here()
    up('--restarts', '2')
    killer = script('killer', 'kill -9 $PPID', 'sleep 5')
    try:
        good = well(['submit', '--output', 'good.out', 'exec', 'command=sleep 0.05', 'count=100']).strip()
        bad = well(['submit', '--output', 'bad.out', 'exec', f'command={killer}', 'count=1']).strip()
        wait_until(lambda: (status_of(good), status_of(bad)) == (0, 3), 'the end of both')
    finally:
        down()


def status_of(number):
    """None if the job is not over, or if no set answers, as between two starts."""
    told = run([HDSS, 'show', number, '--format', 'json'])
    return json.loads(told.out).get('status') if told.status == 0 else None


def test_a_task_that_kills_the_supermaster_is_not_tried_for_ever():
    killer = script('killer', 'test "$1" = 3 || exec echo $1', 'for process in /proc/[0-9]*; do',
                    '    test "$(readlink $process/exe)" = "$SUPERMASTER" && test "$(readlink $process/cwd)" = "$PWD" && kill -9 ${process#/proc/}',
                    'done', 'sleep 5')
    os.environ['SUPERMASTER'] = os.path.realpath(SUPERMASTER)
    line = [HDSS, 'run', '--workers', '2', '--restarts', '1', 'exec', 'env=SUPERMASTER', f'command={killer} {{#}}', 'count=6']
    ended = run(line)
    assert ended.status == 1 and len(lines_with(ended, 'starting again')) == 1, ended
    assert lines_with(ended, 'which is all that --restarts allows'), ended
    ended = run([*line[:2], '--resume', *line[2:]])
    assert ended.status == 3 and lines_with(ended, 'task 3 failed: 3 supermasters were lost while it ran'), ended


def test_tasks_that_kill_their_only_worker_cost_themselves():
    killer = script('killer', 'test "$1" = 3 || test "$1" = 4 || exec echo $1', 'kill -9 $PPID', 'sleep 1000')
    ended = run([HDSS, 'exec', '-j1', killer, '{}', ':::', *map(str, range(1, 7))])
    assert ended.status == 3 and sorted(ended.out.split()) == ['1', '2', '5', '6'], ended
    assert len(lines_with(ended, 'starting again')) == 6, ended
    assert all(lines_with(ended, f'task {task} failed: 3 workers were lost while they computed it') for task in (3, 4)), ended
    ended = run([HDSS, 'exec', '-j1', '--restarts', '0', killer, '{}', ':::', '1', '3', '4'])
    assert ended.status == 1 and ended.out.split() == ['1'] and not lines_with(ended, 'starting again'), ended


def test_a_task_that_kills_a_process_above_it_holds_nobody_up():
    """Its worker, the launcher, the command: the others end soon."""
    killer = script('above', 'test "$1" = 3 || exec echo $1', 'above=$PPID',
                    'while [ $above -gt 1 ] && [ "$(cat /proc/$above/comm)" != $2 ]; do above=$(awk "{print \\$4}" /proc/$above/stat); done',
                    'kill -9 $above', 'sleep 1000')
    for name, status in (('worker', 3), ('hdss-fork', 1), ('hdss', -signal.SIGKILL)):
        process = start([HDSS, 'exec', '-j2', killer, '{}', name, ':::', *map(str, range(1, 7))])
        below = descendants(process.pid)
        ended = finish(process)
        assert ended.status == status and '3' not in ended.out.split(), ended
        wait_until(lambda: not members(os.getcwd()), f'the end of all that was left of the killed {name}')
        assert all(map(gone, below))


# --- what is left, and what comes too late ---

def test_what_a_task_leaves_in_the_background_is_told():
    ended = tasks('(sleep 1000; echo late) > late.{} 2>&1 & echo {}', ':::', '1', '2')
    assert ended.status == 0 and sorted(ended.out.split()) == ['1', '2'], ended
    assert len(lines_with(ended, 'what it had left in the background was killed as it ended')) == 2, ended
    ended = tasks('sleep 0.01 & wait; echo {}', ':::', '1', '2')
    assert ended.status == 0 and not lines_with(ended, 'background'), ended


def test_a_daemon_of_a_task_is_waited_for_by_nobody():
    began = time.monotonic()
    ended = tasks('setsid sleep 1000 & echo $! > pid; echo {}', ':::', '1')
    assert ended.status == 0 and ended.out == '1\n' and time.monotonic() - began < 500, ended
    wait_until(lambda: not os.path.exists(f'/proc/{lines_of("pid")[0]}'), 'the end of the daemon')


def test_tasks_that_are_added_to_a_list_are_told():
    for more, expected in (('true', 0), ('echo "echo 3" >> list; echo "echo 4" >> list', 1)):
        with open('list', 'w', encoding='ascii') as file:
            file.write(f"echo 1\nsh -c '{more}'\n")
        ended = run([HDSS, 'run', '--workers', '2', 'exec', 'tasks=list'])
        assert ended.status == 0 and len(lines_with(ended, 'has 2 tasks more than when the run began')) == expected, ended


def test_a_pipe_that_nobody_reads_is_waited_for_by_nobody():
    for name in ('report.json', 'metrics.prom', 'out.raw', 'log'):
        os.mkfifo(name)
    for words, status in ((['--report', 'report.json', '--output', 'out.npy'], 1), (['--metrics-file', 'metrics.prom'], 2), (['--output', 'out.raw'], 2)):
        ended = run([HDSS, 'run', '--workers', '1', *words, 'mandelbrot', 'width=8', 'height=8'])
        assert ended.status == status, (words, ended)
    ended = run([HDSS, 'exec', '--joblog', 'log', 'echo', ':::', '1'])
    assert ended.status == 2 and not ended.out, ended


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
