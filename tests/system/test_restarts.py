# SPDX-License-Identifier: MIT
"""Runs that `hdss run` starts again by itself where they lose their supermaster or launcher: how often, what is told, and what is not started again."""
import os
import re
import signal
import sys

from journals import begun_with, head_of, wait_for_records, with_one_record
from launch import (HDSS, SUPERMASTER, UNTIL_HURRY, WORKER, catches, descendants, finish, gone, hurried, journal_is_over, main, ranks_of, report,
                    run, start, wait_until)
from loops import LONG, SLOW, STEADY
from processes import pid_of
from results import check, read, undisturbed
from resumed import kill_the_supermaster, killed_run, resume


def lose_the_supermaster(process, times=1, path='out.npy.journal'):
    """Kills so many supermasters one after the other, each when something was recorded under it."""
    seen = {None}
    for _ in range(times):
        def record():
            return process.poll() is not None or (inode_of(path) not in seen and os.path.getsize(path) > begun_with(path))
        wait_until(record, 'a record of the next supermaster')
        pid = pid_of(process, SUPERMASTER)
        assert pid is not None, finish(process)
        seen.add(inode_of(path))
        os.kill(pid, signal.SIGKILL)


def inode_of(path):
    try:
        return os.stat(path).st_ino
    except OSError:
        return None


def lines_of_hdss(result):
    return [line for line in result.err if line.startswith('hdss: ')]


AGAIN = 'hdss: the run ended without its supermaster: starting again where it was, 1 of 3 times'


def test_a_run_that_loses_its_supermaster_goes_on():
    reference = undisturbed(*SLOW)
    for masters in (0, 2):
        process = start([HDSS, 'run', '--verbose', '--workers', '2', '--masters', str(masters), *STEADY, '--output', 'out.npy', *SLOW])
        lose_the_supermaster(process)
        with hurried():
            result = finish(process)
        check(result, reference)
        assert lines_of_hdss(result) == [AGAIN] and result.out.count('checksum') == 1, result
        assert sum(' -n 1 ' in line for line in result.err) == 1, result  # the line of mpirun is shown once
        figures = report()
        assert figures['outcome'] == 'done' and figures['done'] == 300 and figures['faults']['resumed_iterations'] > 0, figures
        assert sum(row['iterations'] for row in figures['worker_stats']) == 300 - figures['faults']['resumed_iterations'], figures
        os.remove('out.npy')


def test_a_run_that_loses_its_launcher_goes_on():
    process = start([HDSS, 'run', '--workers', '2', *STEADY, '--output', 'out.npy', *SLOW])
    wait_for_records(process)
    ranks = ranks_of(process, WORKER) + ranks_of(process, SUPERMASTER)
    os.kill(next(pid for pid in descendants(process.pid) if pid not in ranks), signal.SIGKILL)
    # Ranks outlive it for some moments; nobody else goes on with the run before they have ended.
    wait_until(lambda: all(map(gone, ranks)), 'the end of the ranks')
    with hurried():
        result = finish(process)
    assert result.status == 0 and read('out.npy') == undisturbed(*SLOW)[1] and journal_is_over('out.npy.journal'), result
    assert lines_of_hdss(result) == [AGAIN] and report()['faults']['resumed_iterations'] > 0, (result, report())


def test_a_run_goes_on_as_often_as_it_may():
    reference = undisturbed(*LONG)
    process = start([HDSS, 'run', '--workers', '2', '--restarts', '1', *STEADY, '--output', 'out.npy', *LONG])
    lose_the_supermaster(process, 2)
    result = finish(process)
    said = lines_of_hdss(result)
    assert result.status == 1 and not result.out and len(said) == 2 and said[0].endswith('starting again where it was, 1 of 1 times'), result
    assert '1 times, which is all that --restarts allows' in said[1] and said[1].endswith('--resume goes on with what is stored'), result
    check(resume(0, 3, LONG), reference)
    os.remove('out.npy')
    process = start([HDSS, 'run', '--workers', '2', '--restarts', '0', *STEADY, '--output', 'out.npy', *LONG])
    lose_the_supermaster(process)
    result = finish(process)
    assert result.status == 1 and not result.out and len(lines_of_hdss(result)) == 1 and '--resume goes on' in result.raw_err, result
    check(resume(0, 3, LONG), reference)


def test_tasks_are_printed_and_counted_once():
    command = f'command=echo {{}}; [ {{}} -le 10 ] || {UNTIL_HURRY}'
    process = start([HDSS, 'run', '--workers', '3', '--report', 'report.json', 'exec', command, 'shell=yes', 'count=60'])
    lose_the_supermaster(process, path='exec.out.journal')
    with hurried():
        result = finish(process)
    assert result.status == 0 and lines_of_hdss(result) == [AGAIN] and result.out.count('60 submitted = 60 done') == 1, result
    with open('exec.out') as file:
        printed = file.read().split()
    assert printed == [str(i) for i in range(1, 61)], printed
    assert report()['done'] == 60 and journal_is_over('exec.out.journal'), report()
    # those that fail are no loss
    result = run([HDSS, 'run', '--workers', '2', '--overwrite', 'exec', 'command=false {}', 'count=3'])
    assert result.status == 3 and not lines_of_hdss(result), result


# The third task kills the supermaster of its run. The others last, so that each loss finds some of them.
KILLER = '''
import os, signal, sys, time
def name_and_parent(pid):
    with open(f'/proc/{pid}/stat') as file:
        before, behind = file.read().rsplit(')', 1)
    return before.split('(', 1)[1], int(behind.split()[1])
above, pid = [], os.getpid()
while pid > 1:
    above.append(pid)
    pid = name_and_parent(pid)[1]
with open(f'ran.{sys.argv[1]}', 'a') as file:
    file.write('x')
for pid in map(int, filter(str.isdigit, os.listdir('/proc'))):
    try:
        name, parent = name_and_parent(pid)
    except OSError:
        continue
    if sys.argv[1] == '3' and name == 'supermaster' and parent in above:
        os.kill(pid, signal.SIGKILL)
        time.sleep(1000)
time.sleep(0.2)
print('out', sys.argv[1])
'''
FOUND = 'supermaster: task 3 failed: 3 supermasters were lost while it ran (--resume failed tries it again); given up'


def test_a_task_that_kills_the_supermaster_is_given_up():
    """The others are not, though they ran whenever it was lost."""
    with open('killer.py', 'w', encoding='ascii') as file:
        file.write(KILLER)
    for masters in (0, 2):
        line = [HDSS, 'run', '--workers', '4', '--masters', str(masters), '--report', 'report.json', '--overwrite', 'exec',
                f'command={sys.executable} killer.py {{}}', 'count=12']
        result = run(line)
        assert result.status == 3 and FOUND in result.err and sum('starting again' in text for text in result.err) == 3, result
        assert read('exec.out') == b''.join(b'out %d\n' % i for i in range(1, 13) if i != 3), read('exec.out')
        assert report()['failed'] == [[2, 1]], report()
        assert os.path.getsize('ran.3') == 3, os.listdir()  # a task of the last start may run beside it, and be lost
        again = run([word if word != '--overwrite' else '--resume' for word in line])
        assert again.status == 3 and FOUND in again.err and os.path.getsize('ran.3') == 3, again
        os.remove('ran.3')
    result = run([HDSS, 'run', '--technique', 'gss', '--workers', '4', '--overwrite', 'exec', f'command={sys.executable} killer.py {{}}', 'count=12'])
    assert result.status == 3 and FOUND in result.err and len([text for text in result.err if '(--technique ss)' in text]) == 1, result
    assert os.path.getsize('ran.3') == 3, os.listdir()
    os.remove('ran.3')
    for line in (f'{HDSS} exec -j4 {sys.executable} killer.py ::: $(seq 8)', f'(seq 7; sleep 1; echo 8) | {HDSS} exec -j4 {sys.executable} killer.py'):
        result = run(['sh', '-c', line])
        assert result.status == 3 and FOUND in result.err, result
        assert sorted(result.out.splitlines()) == [f'out {i}' for i in range(1, 9) if i != 3], result


def test_a_run_that_is_asked_to_stop_is_not_started_again():
    words = ['--power', 'equal', '--technique', 'ss', '--output', 'out.npy', 'synthetic', 'iterations=2000', 'mean=2e6', 'distribution=constant',
             'mode=sleep']
    process = start([HDSS, 'run', '--workers', '2', *words])
    wait_until(lambda: os.path.exists('out.npy') and len(ranks_of(process, WORKER)) == 2, 'the workers')
    wait_until(lambda: catches(pid_of(process, SUPERMASTER), signal.SIGUSR1), 'the handlers')
    process.send_signal(signal.SIGINT)
    kill_the_supermaster(process)
    result = finish(process)
    assert result.status in (1, 4) and 'starting again' not in result.raw_err, result
    process = start([HDSS, 'run', '--workers', '2', '--overwrite', *words])
    wait_until(lambda: len(ranks_of(process, WORKER)) == 2, 'the workers')
    for number in (signal.SIGINT, signal.SIGINT):
        process.send_signal(number)
    result = finish(process)
    assert result.status != 0 and 'starting again' not in result.raw_err, result


def write_launcher(script):
    """A launcher that notes its words, and goes on as it is told."""
    with open('launcher', 'w') as file:
        file.write(f'#!/bin/sh\n[ "$1" = --version ] && exit\necho "$*" >> launches\nn=$(wc -l < launches)\n{script}\n')
    os.chmod('launcher', 0o755)


def launches_of(result):
    with open('launches') as file:
        noted = file.read().splitlines()
    os.remove('launches')
    return noted, lines_of_hdss(result)


BEGUN = 'printf "\\nbegun $$\\n" >$HDSS_STATUS_FILE'


def test_what_is_started_again_and_what_is_not():
    killed_run()
    head = read('out.npy.journal')[:head_of('out.npy.journal')]
    for done in (0, 10, 20, 30):
        with open(f'{done}.j', 'wb') as file:
            file.write(with_one_record(head, 0, done, 16 * '0') if done else head)
    line = [HDSS, 'run', '--mpirun', './launcher', '--workers', '2', '--overwrite', '--output', 'o.npy', 'synthetic']

    def attempt(script, *more):
        if os.path.exists('o.npy.journal'):
            os.remove('o.npy.journal')
        write_launcher(script)
        result = run([*line[:2], *more, *line[2:]])
        noted, said = launches_of(result)
        # the first start that has left a journal is gone on with, and the option stands behind --overwrite
        assert '--resume' not in noted[0] and all(re.search('--overwrite .*--resume', words) for words in noted[1:] if 'a rank was' not in result.raw_err), noted
        return result.status, len(noted), said

    # What the run says itself is its end, as is what it has said before it was lost.
    for status in (0, 1, 2, 3, 4):
        assert attempt(f'cp 10.j o.npy.journal; {BEGUN}; printf "\\nlead {status}\\n" >$HDSS_STATUS_FILE; exit 0')[:2] == (status, 1)
    status, launches, said = attempt(f'cp 10.j o.npy.journal; {BEGUN}; echo done >$HDSS_SUMMARY_FILE; exit 137')
    assert (status, launches) == (1, 1) and '; its summary was printed, and it is not started again; the same line with --resume' in said[-1], said
    # A launcher that cannot start anything is no better the next time.
    assert attempt('echo no >&2; exit 1')[:2] == attempt('exit 213')[:2] == (1, 1)
    # Open MPI's says nothing where it was sent a signal.
    assert attempt('exit 1') == (4, 1, ['hdss: stopped before the run had begun'])
    # As long as something is recorded it goes on, three times.
    more = '[ $n -gt 4 ] || cp $(((n - 1) * 10)).j o.npy.journal'
    status, launches, said = attempt(f'{more}; {BEGUN}; exit 137')
    assert (status, launches) == (1, 4) and 'it was started again 3 times' in said[-1], said
    assert [text.endswith(f'starting again where it was, {i} of 3 times') for i, text in enumerate(said[:3], 1)] == 3 * [True], said
    assert attempt(f'{more}; {BEGUN}; exit 137', '--restarts', '2')[:2] == (1, 3)
    assert attempt(f'{more}; {BEGUN}; exit 137', '--restarts', '0')[:2] == (1, 1)
    # One that records nothing any more does not.
    status, launches, said = attempt(f'cp 20.j o.npy.journal; {BEGUN}; exit 137')
    assert (status, launches) == (1, 2) and 'as the last start recorded nothing; the same line with --resume' in said[-1], said
    # Without its journal there is nothing to go on from; a refusal of a later start is a failure of the run.
    status, launches, said = attempt(f'{BEGUN}; exit 137')
    assert (status, launches) == (1, 1) and 'as o.npy.journal cannot be read to go on from' in said[-1], said
    assert attempt(f'cp 20.j o.npy.journal; [ $n = 1 ] || exit 2; {BEGUN}; exit 137')[:2] == (1, 2)
    # A signal between two starts is for the next one.
    status, launches, said = attempt(f'cp 10.j o.npy.journal; {BEGUN}; kill -INT $PPID; exit 137')
    assert (status, launches) == (1, 1) and 'starting again' not in ''.join(said), said
    # Where no journal is kept nothing is said of it.
    line = [HDSS, 'run', '--mpirun', './launcher', '--workers', '2', '--overwrite', '--output', 'o.npy', '--journal', 'off', 'synthetic']
    status, launches, said = attempt(f'{BEGUN}; exit 137')
    assert (status, launches, said[-1]) == (1, 1, 'hdss: a process of the run was ended by SIGKILL'), said
    result = run([HDSS, 'run', '--restarts', '1', 'synthetic'])
    assert result.status == 2 and '--journal FILE' in result.raw_err, result


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
