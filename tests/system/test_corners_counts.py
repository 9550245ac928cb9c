#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Corners that other programs get wrong: what is counted as done, and the bytes and the ends of tasks."""
import os
import signal
import subprocess

from faults import lines_with
from journals import has_records
from launch import HDSS, TIMEOUT_S, UNTIL_HURRY, environment, finish, hurried, main, report, run, script, start, wait_until


def exec_bytes(*words, status=0, **options):
    """What hdss exec prints, as bytes."""
    done = subprocess.run([HDSS, 'exec', '-j', '2', '-k', *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(),
                          timeout=TIMEOUT_S, check=False, **{'stdin': subprocess.DEVNULL, **options})
    assert done.returncode == status, (words, done)
    return done.stdout


def column(name, log='log'):
    with open(log, encoding='utf-8') as file:
        rows = [line.rstrip('\n').split('\t') for line in file]
    return [row[rows[0].index(name)] for row in rows[1:]]


# --- what is complete ---

def test_what_was_complete_and_was_changed_since_is_refused():
    loop = [HDSS, 'run', '--workers', '1', '--output', 'out', '--resume', 'exec', 'command=echo {#}', 'count=20']
    first = run(loop, begins_anew=False)
    assert first.status == 0 and lines_with(first, 'begins at its first iteration'), first
    again = run(loop, begins_anew=False)
    assert again.status == 0 and len(lines_with(again, 'out is complete: nothing is left to do')) == 1 and not again.out, again
    for change in (lambda: os.truncate('out', 7), lambda: os.remove('out.log')):
        change()
        again = run(loop, begins_anew=False)
        assert again.status == 2 and len(lines_with(again, 'when its run was complete; accepted: --overwrite')) == 1, again
    assert run([word.replace('resume', 'overwrite') for word in loop]).status == 0
    assert column('Seq', 'out.log') == [str(task) for task in range(1, 21)]


def test_lines_behind_a_complete_list_are_run():
    """As with GNU parallel: those alone, with their outputs behind those of the others."""
    for last in (2, 3, 7):
        with open('list', 'w', encoding='ascii') as file:
            file.writelines(f'echo {{{task}}}; echo x >> ran.{task}\n' for task in range(1, last + 1))
        done = run([HDSS, 'run', '--workers', '2', '--resume', 'exec', 'tasks=list', 'shell=yes'], begins_anew=False)
        with open('list.out', encoding='ascii') as file:
            assert done.status == 0 and file.read() == ''.join(f'{{{task}}}\n' for task in range(1, last + 1)), (last, done)
        assert column('Seq', 'list.log') == [str(task) for task in range(1, last + 1)]
    assert all(os.path.getsize(f'ran.{task}') == 2 for task in range(1, 8))


def test_who_is_asked_says_that_all_is_complete():
    line = ['exec', '--output', 'out', '--resume', 'true', ':::', 'a', 'b']
    assert run([HDSS, *line], begins_anew=False).status == 0
    again = run([HDSS, *line], begins_anew=False)
    assert again.status == 0 and again.err == ['hdss exec: out is complete: nothing is left to do'], again


def test_a_complete_run_is_complete_whoever_asks():
    """Another launch, other workers, and a dry run."""
    line = ['--output', 'out.npy', '--resume', 'synthetic', 'iterations=50', 'mean=0']
    assert run([HDSS, 'run', '--workers', '2', *line]).status == 0
    with open('out.npy', 'rb') as file:
        before = file.read()
    for options in (['--workers', '1'], ['--masters', '1', '--workers', '2'], ['--workers', '2', '--technique', 'gss'], ['--dry-run']):
        again = run([HDSS, 'run', *options, *line], begins_anew=False)
        assert again.status == 0 and len(lines_with(again, 'out.npy is complete')) == 1, (options, again)
    assert run([HDSS, 'run', '--workers', '1', *line[:-1], 'mean=1'], begins_anew=False).status == 2
    with open('out.npy', 'rb') as file:
        assert file.read() == before


def test_what_is_wrong_is_not_complete():
    """Results that are in doubt."""
    line = [HDSS, 'run', '--workers', '2', '--output', 'out.npy', 'synthetic', 'iterations=50', 'mean=0', 'wrong=10', '--verify', '1']
    assert run(line).status == 1 and not os.path.exists('out.npy.journal')
    assert run([*line, '--resume'], begins_anew=False).status == 2


def test_parts_and_files_are_made_of_one_another():
    """A list that becomes longer each time is joined or not."""
    joins = {True: [], False: ['--join', 'no']}
    for last, way in enumerate((False, True, True, False, False, True), 3):
        with open('list', 'w', encoding='ascii') as file:
            file.writelines(f'echo {task}\n' for task in range(last))
        for times in range(2):
            done = run([HDSS, 'run', '--workers', '2', '--resume', '--output', 'out', *joins[way], 'exec', 'tasks=list', 'shell=yes'], begins_anew=False)
            assert done.status == 0 and bool(lines_with(done, 'nothing is left to do')) == (times == 1), (last, way, done)
        assert way != os.path.exists('out.parts'), os.listdir('.')
    with open('out', encoding='ascii') as file:
        assert file.read().split() == [str(task) for task in range(8)]


def test_an_output_whose_folder_goes_is_not_called_done():
    os.mkdir('folder')
    process = start([HDSS, 'run', '--workers', '2', '--output', 'folder/out', 'exec', f'command={UNTIL_HURRY}; echo {{}}', 'shell=yes', 'count=10'])
    wait_until(lambda: os.path.exists('folder/out.journal'), 'the journal')
    os.rename('folder', 'elsewhere')
    with hurried():
        ended = finish(process)
    assert ended.status == 1 and not os.path.exists('folder'), ended


# --- the bytes of tasks ---

def test_bytes_come_as_they_are():
    """Without a newline at the end, with NUL, with what is no UTF-8, and in a line of some MB."""
    task = script('task', 'case $1 in 1) printf a;; 2) printf "b\\0c\\n";; 3) printf "\\377\\376\\n";; 4) head -c 3000000 /dev/zero | tr "\\0" x;; esac')
    expected = b'a' + b'b\0c\n' + b'\377\376\n' + b'x' * 3000000
    assert exec_bytes(task, ':::', '1', '2', '3', '4') == expected
    assert exec_bytes('--line-buffer', task, ':::', '1') in (b'a', b'a\n')


def test_lists_are_read_as_editors_leave_them():
    """Without a newline at the end, with blanks, with nothing in them, with letters of UTF-8, of one empty line, and with newlines of DOS."""
    for text, expected in ((b'a\nb', b'[a]\n[b]\n'), (b'a b\n c\n', b'[a b]\n[ c]\n'), (b'', b''), (b'\xc3\xa9\n', b'[\xc3\xa9]\n'), (b'\n', b'[]\n'),
                           (b'a\r\n', b'[a\r]\n')):
        with open('list', 'wb') as file:
            file.write(text)
        assert exec_bytes('-a', 'list', 'echo', '[{}]') == expected, text
        with open('list', 'rb') as file:
            assert exec_bytes('echo', '[{}]', stdin=file) == expected, text


def test_closed_descriptors_cost_no_output():
    for closed in ('<&-', '2>&-', '<&- 2>&-'):
        done = subprocess.run(['bash', '-c', f'exec "$0" exec -j 2 -k echo {{}} ::: 1 2 3 {closed}', HDSS], stdout=subprocess.PIPE, env=environment(),
                              timeout=TIMEOUT_S, check=False)
        assert (done.returncode, done.stdout) == (0, b'1\n2\n3\n'), (closed, done)


# --- the ends of tasks ---

def test_each_end_of_a_task_is_in_the_log():
    task = script('task', 'case $1 in s*) kill -${1#s} $$; sleep 9;; *) exit $1;; esac')
    ends = ['0', '1', '77', '126', '127', '128', '137', '255', 's9', 's15', 's1', 's34', 's6']
    exec_bytes('--joblog', 'log', task, ':::', *ends, status=3)
    assert [f's{number}' if number != '0' else status for status, number in zip(column('Exitval'), column('Signal'))] == ends
    exec_bytes('--joblog', 'more', './nothing', ':::', '1', status=2)
    assert not os.path.exists('more')
    exec_bytes('--joblog', 'more', '--shell', './nothing', ':::', '1', status=3)
    assert column('Exitval', 'more') == ['127'], column('Exitval', 'more')


def test_a_terminal_that_closes_ends_the_run_in_order():
    """What runs is given up after a second; nothing lets it end before."""
    line = ['exec', f'command=echo {{}}; [ {{}} -le 2 ] || {UNTIL_HURRY}', 'shell=yes', 'count=30']
    process = start([HDSS, 'run', '--workers', '2', '--drain-time', '1', '--report', 'report.json', *line])
    wait_until(lambda: has_records('exec.out.journal'), 'the first tasks')
    os.kill(process.pid, signal.SIGHUP)
    ended = finish(process)
    assert ended.status == 4 and 0 < report()['done'] < 30, ended
    with hurried():
        again = run([HDSS, 'run', '--workers', '2', '--resume', *line])
    with open('exec.out', encoding='ascii') as file:
        assert again.status == 0 and file.read().split() == [str(task) for task in range(1, 31)], again


def test_logs_that_cannot_be_written_are_told_before_anything_runs():
    os.mkdir('folder')
    for name, reason in (('folder', 'folder'), ('missing/log', 'missing'), ('/dev/full', '/dev/full')):
        done = run([HDSS, 'exec', '--joblog', name, 'echo', ':::', '1'])
        assert done.status in (1, 2) and len(lines_with(done, reason)) == 1, done
        assert name == '/dev/full' or not done.out, done


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
