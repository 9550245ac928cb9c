# SPDX-License-Identifier: MIT
"""Tasks that are commands: each runs once whatever the line-up, its output is kept in order, its end is told, and nothing of it is left."""
import glob
import os
import signal
import stat

from launch import (HDSS, SUPERMASTER, UNTIL_HURRY, WORKER, finish, gone, hurry, job, journal_is_over, kill_tree, main, mpirun_line, ranks_of, report,
                    run, run_job, start, wait_until)
from openmpi import RANK_VARIABLE, RECOVERING

OUT, ERR, LOG = 'tasks.txt.out', 'tasks.txt.err', 'tasks.txt.log'
HEADING = ['Seq', 'Host', 'Starttime', 'JobRuntime', 'Send', 'Receive', 'Exitval', 'Signal', 'Command', 'Worker', 'Node', 'CPUtime', 'MaxRSS',
           'Tries', 'End', 'Outbytes', 'Errbytes']


def write(name, text):
    with open(name, 'w') as file:
        file.write(text)


def read(name):
    with open(name) as file:
        return file.read()


def log(name=LOG):
    """The rows of a task log, each {column: text}."""
    rows = [line.split('\t') for line in read(name).splitlines()]
    assert rows[0] == HEADING, rows[0]
    assert all(len(row) == len(HEADING) for row in rows), rows
    return [dict(zip(HEADING, row)) for row in rows[1:]]


def tasks(lines):
    write('tasks.txt', ''.join(line + '\n' for line in lines))
    return ['exec', 'tasks=tasks.txt']


def check(result, status=0):
    assert result.status == status, result
    return result


def run_failing(masters, workers, words):
    """Under hdss run, as mpirun by itself takes two seconds to end when a rank has another status than 0."""
    return check(run([HDSS, 'run', '--masters', masters, '--workers', workers, *words]), 3)


LINEUPS = ((0, 1), (0, 3), (2, 3))


def test_each_task_runs_once_and_in_order():
    count = 60
    for masters, workers in LINEUPS:
        words = tasks(f'sh -c "echo {i}; echo e{i} >&2; echo x >> ran.{i}"' for i in range(1, count + 1))
        result = check(run_job(masters, workers, ['--report', 'report.json', *words]))
        assert read(OUT) == ''.join(f'{i}\n' for i in range(1, count + 1)), read(OUT)
        assert read(ERR) == ''.join(f'e{i}\n' for i in range(1, count + 1)), read(ERR)
        assert [read(f'ran.{i}') for i in range(1, count + 1)] == ['x\n'] * count
        rows = log()
        assert [int(row['Seq']) for row in rows] == list(range(1, count + 1))
        assert all(row['Exitval'] == '0' and row['Signal'] == '0' and row['End'] == 'exit' and row['Tries'] == '1' for row in rows)
        assert f'{count} submitted = {count} done + 0 failed + 0 given up' in result.out, result
        assert report()['done'] == count and not glob.glob('*.parts') and all(map(journal_is_over, glob.glob('*.journal')))
        for path in glob.glob('ran.*') + [OUT, ERR, LOG]:
            os.remove(path)


def test_tasks_are_handed_out_one_at_a_time():
    """Unless another technique is asked for; `auto` begins so and learns from what is finished."""
    lines, words = [f'echo {i}' for i in range(1, 101)], ['--overwrite', '--report', 'report.json']
    for masters, workers in LINEUPS:
        result = check(run_job(masters, workers, [*words, *tasks(lines)]))
        technique = report()['technique']
        assert technique['name'] == 'ss' and technique['default'] == 'kernel' and report()['chunks'] >= 100, technique
        assert 'ss, the default where iterations wait or have effects' in result.out, result
        check(run_job(masters, workers, [*words, '--technique', 'css:chunk=10', *tasks(lines)]))
        technique = report()['technique']
        assert technique['name'] == 'css' and 'default' not in technique and report()['chunks'] < 100, technique
        check(run_job(masters, workers, [*words, '--technique', 'auto', *tasks(lines)]))
        technique = report()['technique']
        assert technique['auto']['decisions'] >= 1 and report()['done'] == 100, technique
        assert read(OUT) == ''.join(f'{i}\n' for i in range(1, 101)), read(OUT)


def test_workers_alone_run_tasks():
    words = tasks(f'echo {i}' for i in range(1, 31))
    for dca in ('two-sided', 'rma', 'node'):
        check(run(mpirun_line([(3, [WORKER, '--dca', dca, *words])])))
        assert read(OUT) == ''.join(f'{i}\n' for i in range(1, 31)), (dca, read(OUT))


def test_workers_have_numbers():
    for line in (job(2, 3, ['--output', 'o', 'exec', 'command=echo {%}', 'count=30']),
                 mpirun_line([(3, [WORKER, '--dca', 'two-sided', '--output', 'o', '--overwrite', 'exec', 'command=echo {%}', 'count=30'])])):
        check(run(line))
        assert len(read('o')) == 60 and set(read('o').split()) <= {'1', '2', '3'}, read('o')


def test_the_checksum_is_that_of_the_output():
    words = tasks(f'echo {i}' for i in range(40))
    sums = {run_job(masters, workers, words).checksum() for masters, workers in LINEUPS}
    assert len(sums) == 1, sums
    write('tasks.txt', read('tasks.txt').replace('echo 7', 'echo 8'))
    assert run_job(0, 2, words).checksum() not in sums


def test_failed_tasks_stop_nobody():
    lines = ['echo fine', 'sh -c "echo bad >&2; exit 3"', 'no-such-command x', 'sh -c "kill -9 \\$\\$"', '/etc/passwd', 'echo last']
    for masters, workers in LINEUPS:
        result = run_failing(masters, workers, ['--overwrite', *tasks(lines)])
        assert '6 submitted = 2 done + 4 failed + 0 given up' in result.out, result
        assert 'failed       tasks 2-5' in result.out and 'exec: 4 of 6 tasks failed\n  done         2 of 6 tasks (33.3 %)' in result.out, result
        assert "1 task failed with exit 3: 2 sh -c 'echo bad >&2; exit 3': bad\n" in result.out, result
        assert '2 tasks could not be started, e.g. 3 no-such-command x\n' in result.out, result
        assert read(OUT) == 'fine\nlast\n'
        assert read(ERR).splitlines()[0] == 'bad' and 'task 3: no-such-command: No such file or directory' in read(ERR), read(ERR)
        assert [(row['Exitval'], row['Signal'], row['End']) for row in log()] == [
            ('0', '0', 'exit'), ('3', '0', 'exit'), ('127', '0', 'not-started'), ('0', '9', 'signal'), ('126', '0', 'not-started'),
            ('0', '0', 'exit')]


def test_a_command_for_a_number_of_tasks():
    result = check(run_job(0, 2, ['--output', 'o', 'exec', 'command=sh -c "echo {} {#} $0 \\$HDSS_TASK \\$HDSS_RANK \\$HDSS_NODE" {rank}'.replace('$0', '\\$0'),
                                  'count=50']))
    lines = [line.split() for line in read('o').splitlines()]
    assert [line[0] for line in lines] == [line[1] for line in lines] == [line[3] for line in lines] == [str(i) for i in range(1, 51)], result
    assert all(line[2] == line[4] and line[4] in '12' and line[5] == '0' for line in lines), lines
    check(run_job(0, 2, ['exec', 'command=true']))
    assert read('exec.out') == '' and len(log('exec.log')) == 1


def test_tables_fill_in_the_columns():
    write('t.tsv', 'name\tsize\n' + ''.join(f'n {i}\t{i * i}\n' for i in range(20)))
    check(run_job(0, 2, ['--output', 'o', 'exec', 'table=t.tsv', 'command=printf "%s:%s:%s\\n" {name} {2} {#}']))
    assert read('o') == ''.join(f'n {i}:{i * i}:{i + 1}\n' for i in range(20)), read('o')
    write('t.csv', 'a,b\n"x,1",$(touch evil)\n"y ""2""",\'\n')
    check(run_job(0, 2, ['--output', 'p', 'exec', 'table=t.csv', 'shell=yes', 'command=echo {a} "{b}" | cat']))
    assert read('p') == 'x,1 $(touch evil)\ny "2" \'\n', read('p')
    assert not os.path.exists('evil')


def test_lists_fill_in_their_fields():
    os.makedirs('in/b')
    write('rows', '1\t2\nin/a.x\tp q\nin/b/c.y\t\n\\.\n')
    check(run_job(0, 2, ['--output', 'o', 'exec', 'list=rows', 'command=printf "%s:" {#} {1/.} {1//} {2} {-2.} {%}', 'workdir={1//}']))
    assert read('o') in [f'1:a:in:p q:in/a:{i}:2:c:in/b::in/b/c:{k}:' for i in '12' for k in '12'], read('o')
    check(run_job(0, 2, ['--output', 'p', '--overwrite', 'exec', 'list=rows', 'command=sh -c \'echo "$(pwd) $PWD $A $B" "$@"\'', 'workdir={1//}', 'env=A=1 2\\,3,B=4', 'shell=yes']))
    assert read('p') == ''.join(f'{os.getcwd()}/{name} {os.getcwd()}/{name} 1 2,3 4 {rest}\n' for name, rest in (('in', 'p q'), ('in/b', ''))), read('p')
    write('lines', '1\necho {} "a  b"\n\nno-such-command\n\\.\n')
    run_failing(0, 1, ['exec', 'list=lines'])
    assert read('lines.out') == '{} a  b\n' and 'task 3: no-such-command: No such file' in read('lines.err')
    run_failing(0, 1, ['exec', 'list=rows', 'command=true', 'workdir=none/{1/}'])
    assert 'hdss: task 1: workdir=none/a.x: No such file or directory' in read('rows.err'), read('rows.err')


def test_a_list_may_grow_while_tasks_run():
    write('rows', '1\n0\n')
    process = start([HDSS, 'run', '--workers', '2', '--output', 'o', 'exec', 'list=rows', 'follow=yes', 'shell=yes', 'retries=1', 'command=echo {}; echo > ran.{}'])
    for i in range(1, 5):
        wait_until(lambda i=i: os.path.exists(f'ran.{i - 1}'), f'task {i}')
        with open('rows', 'a') as file:
            file.write(f'{i}\n')
    with open('rows', 'a') as file:
        file.write('5\na\\b\n6\n\\.\n')
    check(finish(process), 3)
    assert read('o') == ''.join(f'{i}\n' for i in range(7)), read('o')
    assert [row['End'] for row in log('o.log')] == ['exit'] * 6 + ['not-started', 'exit']
    assert read('o.err').startswith('hdss: task 7: rows, line 8: a backslash; accepted: '), read('o.err')


def test_lines_that_were_added_are_run_by_resume():
    title = '1\tk\n'
    for source, command, lines in (('tasks=file', [], ['echo 1', 'false', '# none', 'echo 3']), ('table=file', ['command={1} {k}'], ['echo\t1', 'false\t2', 'echo\t3']),
                                   ('list=file', ['command={1} {k}'], ['echo\t1', 'false\t2', 'echo\t3'])):
        head, end = '' if source.startswith('tasks') else title, '\\.\n' if source.startswith('list') else ''
        words = ['--output', 'o', 'exec', source, *command, *(['header=yes'] if source.startswith('table') else [])]
        write('file', head + ''.join(line + '\n' for line in lines[:2]) + end)
        run_failing(0, 1, words)
        write('file', head + ''.join(line + '\n' for line in lines) + end)
        result = run_failing(0, 1, ['--resume', *words])
        assert any('file has 1 new line' in line for line in result.err) and read('o') == '1\n3\n', (source, result)
        write('file', head + ''.join(line.replace('false', 'true') + '\n' for line in lines) + end)
        result = check(run([HDSS, 'run', '--workers', '1', '--resume', *words]), 2)
        assert 'file: task 2 has changed since the run' in result.err[0], (source, result)
        os.remove('o.journal')


def test_no_line_of_a_table_is_lost():
    write('files.tsv', 'a.dat\nb.dat\n')
    result = check(run([HDSS, 'run', '--workers', '1', 'exec', 'command=echo {}', 'table=files.tsv']), 2)
    assert "files.tsv: 'a.dat' in its first line looks like a value" in result.err[0] and 'header=no where it is a row' in result.err[0], result
    check(run_job(0, 1, ['--output', 'o', 'exec', 'command=echo {} {1.}', 'table=files.tsv', 'header=no']))
    assert read('o') == 'a.dat a\nb.dat b\n', read('o')
    check(run_job(0, 1, ['--output', 'p', 'exec', 'command=echo {}', 'table=files.tsv', 'header=yes']))
    assert read('p') == 'b.dat\n', read('p')


def test_lines_that_need_a_shell_have_one():
    check(run_job(0, 1, tasks(['echo a | cat; echo $HDSS_TASK', '( cd / ; pwd ) &> a.log', '[[ 1 -lt 2 ]] && echo b', "echo 'c | d'", 'diff <(echo 1) <(echo 1) && X=5 env | grep ^X='])))
    assert read(OUT) == 'a\n1\nb\nc | d\nX=5\n' and read('a.log') == '/\n', read(OUT)
    result = check(run_job(0, 1, [*tasks(['echo a | cat']), 'shell=no', '--overwrite']), 2)
    assert result.err == ["supermaster: exec: tasks.txt, line 1: column 8: '|' is for a shell; accepted: a shell (no --no-shell, no shell=no), or '|' in quotes"], result
    check(run_job(0, 1, [*tasks(['echo $0']), 'shell=sh', '--overwrite']))
    assert read(OUT).endswith('sh\n')


def test_a_command_is_looked_for_where_its_own_path_says():
    os.mkdir('bin')
    write('bin/mine', '#!/bin/sh\necho "$0 $PATH"\n')
    os.chmod('bin/mine', 0o755)
    check(run_job(0, 1, tasks([f'PATH=nowhere PATH={os.getcwd()}/bin mine', 'true'])))
    assert read(OUT) == f'{os.getcwd()}/bin/mine {os.getcwd()}/bin\n', read(OUT) + read(ERR)
    check(run_job(0, 1, ['--output', 'o', 'exec', 'command=mine', f'env=PATH={os.getcwd()}/bin']))
    assert read('o') == read(OUT), read('o')


def test_a_task_has_nothing_of_the_run():
    lines = ['env', 'ls /proc/self/fd', 'cat', 'MINE=1 env']
    check(run_job(0, 1, ['--output', 'o', *tasks(lines), 'keep=kept']))
    names = {line.split('=')[0] for line in read('kept/1.out').splitlines()}
    assert not [name for name in names if name.startswith(('OMPI_COMM_', 'OMPI_UNIVERSE', 'PMI', 'OPAL_'))], names
    assert read('kept/2.out') == '0\n1\n2\n3\n' and 'MINE=1' in read('kept/4.out').splitlines()
    assert not os.path.exists('kept/3.out') and read('o') == ''
    check(run(job(0, 1, ['--overwrite', '--output', 'o', 'exec', 'command=env', 'inherit=mpi'], options=())))
    assert f'{RANK_VARIABLE}=1' in read('o').splitlines()
    check(run([HDSS, 'run', '--carrier', 'mpi', '--workers', '1', '--overwrite', '--output', 'o', 'exec', 'command=env', 'inherit=all']))
    names = {line.split('=')[0] for line in read('o').splitlines()}
    assert RANK_VARIABLE in names and not names & {'HDSS_STATUS_FILE', 'HDSS_SUMMARY_FILE', 'HDSS_RANKS_MAY_END'}, names


def test_time_limits_end_the_whole_group():
    lines = ['sh -c "sleep 1000 & echo $! > pid; wait"'.replace('$', '\\$'), 'echo quick']
    result = check(run_job(0, 1, [*tasks(lines), 'timeout=2', '--report', 'report.json']), 3)
    row = log()[0]
    assert row['End'] == 'timeout' and row['Signal'] == '15' and float(row['JobRuntime']) >= 2, row
    assert 'task 1: ended at its time limit of 2 s' in read(ERR) and read(OUT) == 'quick\n', result
    assert gone(int(read('pid')))


def test_who_fails_is_tried_again():
    lines = ['sh -c "echo x >> tries; echo $(wc -l < tries); test $(wc -l < tries) = 3"'.replace('$', '\\$').replace('`', ''), 'false']
    check(run_job(0, 1, [*tasks(lines), 'retries=2']), 3)
    assert read(OUT) == '3\n', read(OUT)
    assert [(row['Tries'], row['Exitval']) for row in log()] == [('3', '0'), ('3', '1')]


def test_output_is_cut():
    check(run_job(0, 2, [*tasks(['head -c 5000 /dev/zero', 'sh -c "head -c 99 /dev/zero >&2"', 'head -c 3000000 /dev/zero']), '--max-output', '100000']))
    assert read(OUT) == '\0' * 105000
    assert read(ERR) == '\0' * 99 + 'hdss: task 3: its output: cut after 100000 bytes, 2900000 dropped; --max-output BYTES says how much is kept\n', read(ERR)
    assert [row['Receive'] for row in log()] == ['5000', '99', '3000000']
    assert sum(int(row['Outbytes']) for row in log()) == os.path.getsize(OUT) and sum(int(row['Errbytes']) for row in log()) == os.path.getsize(ERR), log()


def test_output_that_nobody_has_said_to_cut_is_a_failure():
    check(run_job(0, 2, tasks(['head -c 67108865 /dev/zero', 'echo done'])), 3)
    assert os.path.getsize(OUT) == (1 << 26) + 5, os.path.getsize(OUT)
    assert read(ERR).startswith('hdss: task 1: its output: cut after 67108864 bytes, 1 dropped; '), read(ERR)
    assert [row['End'] for row in log()] == ['not-kept', 'exit'], log()


def test_each_task_can_have_files_of_its_own():
    os.mkdir('kept')
    write('victim', 'untouched')
    os.symlink('../victim', 'kept/2.out')
    check(run_job(1, 2, [*tasks(['sh -c "echo one; echo bad >&2"', 'echo two', 'true']), 'keep=kept']))
    assert read('kept/1.out') == 'one\n' and read('kept/1.err') == 'bad\n' and read('kept/2.out') == 'two\n'
    assert sorted(os.listdir('kept')) == ['1.err', '1.out', '2.out'] and read('victim') == 'untouched'
    assert stat.S_ISREG(os.lstat('kept/2.out').st_mode)


def test_a_task_whose_output_cannot_be_kept_has_failed():
    os.makedirs('kept/2.out')
    result = run_failing(0, 1, [*tasks(['echo one', 'echo two', 'echo three']), 'keep=kept'])
    assert '3 submitted = 2 done + 1 failed + 0 given up' in result.out and 'tasks 2' in result.out, result
    assert [row['End'] for row in log()] == ['exit', 'not-kept', 'exit'], log()
    assert read(ERR) == 'hdss: task 2: 2.out: File exists\n', read(ERR)
    os.rmdir('kept/2.out')
    check(run([HDSS, 'run', '--workers', '1', '--resume', 'failed', 'exec', 'tasks=tasks.txt', 'keep=kept']))
    assert read('kept/2.out') == 'two\n'


# Each task says that it has begun, and how often it has run to its end; those behind the twentieth wait for hurry().
STEADY = f'sh -c "echo x >> begun; sleep 0.25; [ {{}} -le 20 ] || {UNTIL_HURRY}; echo {{}} >> ended; echo {{}}"'


def lines_of(name):
    return len(read(name).splitlines()) if os.path.exists(name) else 0


def test_a_task_that_takes_long_is_run_once():
    runs = {}
    for masters in (0, 2):  # side by side: they only wait
        write(f'{masters}.txt', 'echo quick\n' * 30 + f'sh -c "echo x >> begun.{masters}; sleep 13"\n')
        runs[masters] = start([HDSS, 'run', '--masters', str(masters), '--workers', '3', '--technique', 'ss', 'exec', f'tasks={masters}.txt'])
    for masters, process in runs.items():
        check(finish(process))
        assert read(f'begun.{masters}') == 'x\n', (masters, read(f'begun.{masters}'))


def test_what_is_done_leaves_while_a_long_task_runs():
    process = start(job(0, 1, ['--technique', 'static', '--output', 'o', *tasks([*[f'echo {i}' for i in range(5)], 'sh -c "until test -e go; do sleep 0.05; done"', 'echo last'])]))
    wait_until(lambda: any(os.path.getsize(path) > 100 for path in glob.glob('o.parts/*-*')), 'the output of the first tasks')
    write('go', '')
    check(finish(process))
    assert read('o') == ''.join(f'{i}\n' for i in range(5)) + 'last\n', read('o')


def test_a_lost_worker_takes_its_task_along_and_others_do_it():
    write('sleeper', 'sh -c "sleep 1000 & echo \\$! > below; wait" & until test -s below; do sleep 0.01; done; echo $$ >> sleepers\nexec sleep 1000\n')
    lines = ['sh -c "test -e first && exit 0; touch first; exec sh sleeper"'] + ['sleep 0.05'] * 20
    process = start(job(0, 2, ['--technique', 'ss', *tasks(lines)], options=RECOVERING))
    wait_until(lambda: lines_of('sleepers') > 0, 'the sleeper')
    sleeper, below = int(read('sleepers')), int(read('below'))
    worker = int(open(f'/proc/{sleeper}/stat').read().rsplit(')', 1)[1].split()[1])
    assert worker in ranks_of(process, WORKER), 'a process stands between the worker and its task'
    os.kill(worker, signal.SIGKILL)
    wait_until(lambda: gone(sleeper) and gone(below), 'the end of the task of a worker that was killed, and of what it began')
    result = finish(process)
    assert [row['Exitval'] for row in log()] == ['0'] * 21, result


def test_a_task_that_takes_three_workers_down_is_given_up_and_named():
    lines = [f'echo {i}' for i in range(1, 25)]
    lines[4] = 'kill -9 $PPID; sleep 1000'
    for masters, workers in ((0, 4), (2, 6)):
        words = ['--technique', 'css:chunk=12', '--report', 'report.json', '--output', f'o{masters}', *tasks(lines), 'shell=yes']
        result = run_failing(masters, workers, words)
        assert '24 submitted = 23 done + 0 failed + 1 given up' in result.out and 'given up     tasks 5' in result.out, result
        assert [line for line in result.err if 'task 5 failed: 3 workers were lost while they computed it; given up' in line], result
        figures = report()
        assert figures['failed'] == [[4, 1]] and figures['done'] == 23 and figures['faults']['lost_workers'] == 3, (figures, result)
        assert read(f'o{masters}') == ''.join(f'{i}\n' for i in range(1, 25) if i != 5), read(f'o{masters}')
        assert [int(row['Seq']) for row in log(f'o{masters}.log')] == [i for i in range(1, 25) if i != 5]


def test_a_run_that_was_killed_is_resumed_with_what_is_left():
    count = 40
    words = ['--technique', 'ss', '--output', 'o', 'exec', 'command=' + STEADY, f'count={count}']
    process = start(job(0, 2, words))
    wait_until(lambda: lines_of('ended') >= 10, 'a quarter of the tasks')
    kill_tree(process.pid)
    process.communicate()
    before = lines_of('ended')
    hurry()
    result = check(run_job(0, 2, ['--resume', '--report', 'report.json', *words]))
    assert read('o') == ''.join(f'{i}\n' for i in range(1, count + 1)), result
    assert report()['faults']['resumed_iterations'] > 0
    # All that was reported is not run again: at most what the last moment before the kill left unreported.
    assert count <= lines_of('ended') <= count + 20 and before >= 10
    assert [int(row['Seq']) for row in log('o.log')] == list(range(1, count + 1))


def test_a_guard_that_is_stopped_does_not_hold_up_the_end():
    stop = ('for try in $(seq 100); do for process in $(cat /proc/$PPID/task/*/children); do '
            'grep -q guard /proc/$process/comm && kill -STOP $process && echo stopped && exit 0; done; sleep 0.05; done')  # its name is late
    result = run_job(0, 2, [*tasks([stop] * 3), 'shell=yes', '--output', 'o'])
    check(result)
    assert read('o') == 'stopped\n' * 3, read('o')


def test_a_drain_ends_the_tasks_that_run():
    write('sleeper', 'echo $$ >> sleepers\nexec sleep 1000\n')
    process = start(job(0, 2, ['--technique', 'ss', '--drain-time', '0', *tasks(['echo done'] * 10 + ['sh sleeper'] * 10)]))
    wait_until(lambda: lines_of('sleepers') == 2, 'the sleepers')
    sleepers = [int(line) for line in read('sleepers').split()]
    os.kill(ranks_of(process, SUPERMASTER)[0], signal.SIGTERM)
    result = check(finish(process), 4)
    assert all(map(gone, sleepers)), result
    write('sleeper', 'echo awake\n')
    result = check(run_job(0, 2, ['--resume', '--technique', 'ss', 'exec', 'tasks=tasks.txt']))
    assert read(OUT) == 'done\n' * 10 + 'awake\n' * 10, result


def test_who_leaves_the_group_ends_with_the_run():
    daemon = "setsid sh -c 'echo $$ > pid.{}; exec sleep 1000' > /dev/null 2>&1 & while ! [ -s pid.{} ]; do sleep 0.01; done"
    words = ['exec', f'command={daemon}', 'count=3', 'shell=yes']
    for line in (job(0, 1, words), job(1, 2, words), mpirun_line([(2, [WORKER, '--dca', 'rma', *words])])):
        check(run(line))
        daemons = [int(read(name)) for name in glob.glob('pid.*')]
        assert len(daemons) == 3 and all(map(gone, daemons)), (line, daemons)
        for number in (1, 2, 3):
            os.remove(f'pid.{number}')
    # Of a run that is drained, beside a task that still runs.
    process = start(job(0, 1, ['exec', f'command={daemon}; echo > began; sleep 1000', 'shell=yes', '--drain-time', '0.2']))
    wait_until(lambda: os.path.exists('began'), 'the daemon')
    pid = int(read('pid.1'))
    assert not gone(pid)
    process.send_signal(signal.SIGUSR1)
    result = finish(process)
    assert gone(pid), result


def test_only_what_failed_is_done_again():
    lines = [f'sh -c "echo x >> ran.{i}; test {i} -lt 5 -o -e mended && echo {i}"' for i in range(10)]
    check(run_job(0, 2, tasks(lines)), 3)
    write('mended', '')
    result = check(run_job(0, 2, ['--resume=failed', 'exec', 'tasks=tasks.txt']))
    assert [len(read(f'ran.{i}').splitlines()) for i in range(10)] == [1] * 5 + [2] * 5, result
    assert read(OUT) == ''.join(f'{i}\n' for i in range(10))
    assert [row['Exitval'] for row in log()] == ['0'] * 10


def test_output_that_is_gone_is_made_again():
    words = ['--output', 'o', *tasks([f'sh -c "echo x >> ran.{i}; echo {i}"' for i in range(20)] + ['false'])]
    first = run_failing(0, 1, ['--technique', 'ss', *words])

    def mended(lost):
        result = run_failing(0, 1, ['--resume', *words])
        told = [line for line in result.err if 'o.parts: of 21 tasks that o.journal calls done the output of ' in line]
        assert len(told) == 1 and lost(int(told[0].split(' the output of ')[1].split()[0])), result
        assert read('o') == ''.join(f'{i}\n' for i in range(20)) and result.checksum() == first.checksum(), result
        return [len(read(f'ran.{i}').splitlines()) for i in range(20)]

    part = glob.glob('o.parts/1-*')[0]
    os.truncate(part, os.path.getsize(part) - 1)
    runs = mended(lambda count: 1 <= count < 21)
    assert runs[0] in (1, 2) and set(runs) <= {1, 2}, runs
    for path in glob.glob('o.parts/*-*'):
        os.remove(path)
    assert mended(lambda count: count == 21) == [count + 1 for count in runs]
    part = glob.glob('o.parts/3-*')[0]
    with open(part, 'r+b') as file:
        file.seek(-1, os.SEEK_END)
        last = file.read(1)
        file.seek(-1, os.SEEK_END)
        file.write(bytes([last[0] ^ 1]))
    mended(lambda count: 1 <= count <= 21)
    os.rename('o.parts', 'elsewhere')
    result = check(run_job(0, 1, ['--resume', *words]), 2)
    assert len(result.err) == 1 and 'are not there, of which o.journal says that they are in o' in result.err[0], result


def test_the_manner_may_change_when_a_run_is_resumed():
    lines = ['sh -c "test -e first && exit 0; touch first; sleep 1000"', 'echo 2', 'false']
    run_failing(0, 1, [*tasks(lines), 'timeout=0.3'])
    result = run_failing(0, 1, ['--resume=failed', *tasks(lines), 'timeout=60', 'retries=2', 'max_output=1000'])
    assert [(row['End'], row['Tries']) for row in log()] == [('exit', '1'), ('exit', '1'), ('exit', '3')], result
    result = check(run_job(0, 1, ['--resume=failed', *tasks(lines), 'inherit=mpi']), 2)
    assert len(result.err) == 1 and 'inherit is nothing there and mpi here' in result.err[0], result


def test_the_log_is_shown():
    run_failing(1, 2, tasks(['echo one', 'sh -c "echo two; echo worse >&2; exit 3"', 'sleep 2', 'false']))
    result = check(run([HDSS, 'log', 'tasks.txt']))
    assert result.out.startswith(f'{LOG}: 4 tasks, 2 failed\n') and 'failed with exit 3: 2 sh -c ' in result.out and ': worse\n' in result.out, result
    assert result.out.splitlines()[-4].split()[0] == '3' and 'exit 0       sleep 2' in result.out, result
    result = check(run([HDSS, 'log', OUT, '--failed']))
    assert [line.split()[0] for line in result.out.splitlines()[1:]] == ['2', '4'], result
    result = check(run([HDSS, 'log', LOG, '--slowest', '1']))
    assert result.out.splitlines()[1:][0].split()[0] == '3' and len(result.out.splitlines()) == 2, result
    result = check(run([HDSS, 'log', 'tasks.txt', '--task', '2']))
    assert result.out.endswith('output:\ntwo\nerrors:\nworse\n') and '  ended        exit 3 after ' in result.out, result
    for words, said in ((['--task', '5'], f'--task 5: {LOG} has no such task'), (['--task', '0'], '--task'), (['more'], 'one file is accepted')):
        result = run([HDSS, 'log', 'tasks.txt', *words])
        assert result.status in (1, 2) and len(result.err) == 1 and said in result.err[0], result


def test_output_can_stay_in_its_parts():
    result = check(run_job(1, 2, ['--join', 'no', *tasks(['echo a', 'false', 'echo b'])]), 3)
    assert 'failed       tasks 2' in result.out and f'output       {OUT}.parts' in result.out, result
    assert glob.glob(f'{OUT}.parts/1-*') and not any(os.path.exists(name) for name in (OUT, ERR, LOG))
    assert check(run([HDSS, 'log', 'tasks.txt'])).out.startswith(f'{OUT}.parts: 3 tasks, 1 failed\n')
    check(run([HDSS, 'run', '--workers', '1', '--resume', 'failed', *tasks(['echo a', 'false', 'echo b'])]), 3)
    assert read(OUT) == 'a\nb\n'


def test_parts_whose_bytes_their_reader_has_taken_are_not_missing():
    """Of those that stay the heads count, as where a part of another task was lost."""
    words = ['--workers', '1', '--join', 'no', *tasks(['echo one', 'echo a-second', 'echo three', f'touch began; {UNTIL_HURRY}', 'true']), 'shell=yes']
    process = start([HDSS, 'run', *words])
    wait_until(lambda: os.path.exists('began'), 'the last task')
    os.kill(ranks_of(process, SUPERMASTER)[0], signal.SIGTERM)
    wait_until(lambda: 'as the ranks were sent a signal' in process.stderr.readline(), 'the drain')
    hurry()
    check(finish(process), 4)
    with open(f'{OUT}.parts/1-0', 'r+b') as file:
        whole = file.read()
        file.seek(whole.index(b'a-second'))
        file.write(bytes(8))
        file.truncate(len(whole) - 1)
    result = check(run([HDSS, 'run', '--resume', *words]))
    assert len(result.err) == 1 and 'of 4 tasks that' in result.err[0] and 'the output of 1 is missing there' in result.err[0], result


def test_a_list_that_was_changed_is_not_resumed():
    check(run_job(0, 2, tasks(['true', 'false'])), 3)
    result = check(run_job(0, 2, ['--resume', *tasks(['true', 'echo'])]), 2)
    assert len(result.err) == 1 and 'task 2 has changed' in result.err[0] and 'with new and mended ones behind them' in result.err[0], result
    result = check(run_job(0, 2, ['--resume', *tasks(['true', 'false', 'touch mended'])]), 3)
    assert os.path.exists('mended'), result


def test_bad_input_is_one_line():
    write('bad.txt', 'echo ok\n\n# comment\necho "open\n')
    write('t.csv', 'a,b\n1,2\n3\n')
    # What needs no look at the line-up is found before MPI: no launch.
    alone = [(['exec', 'tasks=absent.txt'], 'absent.txt: No such file or directory'),
             (['exec', 'tasks=.'], '.: not a regular file'),
             (['exec', 'tasks=bad.txt', 'count=3'], 'count=3 goes with command=LINE'),
             (['exec', 'command=true', 'timeout=-1'], 'timeout=-1: accepted: a number from 0'),
             (['--max-output', '1k', 'exec', 'command=true'], 'max_output=1k: accepted: an integer from -1'),
             (['--max-output', '1', 'mandelbrot'], "unknown parameter 'max_output'"),
             (['--join', 'no', 'mandelbrot'], '--join is for variable output'),
             (['--technique', 'pls', 'exec', 'command=true'], '--technique')]
    launched = [(['exec'], 'accepted: tasks=FILE, or command=LINE'),
                (['exec', 'tasks=bad.txt'], 'bad.txt, line 4: column 6: quotes that do not end'),
                (['exec', 'command=echo {c}', 'table=t.csv'], '{c}: t.csv has no such column'),
                (['exec', 'command=echo {a}', 'table=t.csv'], 't.csv, line 3: 1 fields; accepted: 2'),
                (['exec', 'command=true', 'keep=bad.txt'], 'keep=bad.txt: ')]
    # Side by side: mpirun takes its time to end when a rank has failed.
    running = [start([SUPERMASTER, *words]) for words, _ in alone] + [start(job(0, 1, words)) for words, _ in launched]
    for (words, what), process in zip(alone + launched, running):
        result = check(finish(process), 2)
        assert len(result.err) == 1 and what in result.err[0], (words, result)
    assert not os.path.exists('exec.out') and not glob.glob('*.parts')


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
