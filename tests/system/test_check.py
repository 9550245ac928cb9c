# SPDX-License-Identifier: MIT
"""What `hdss run` finds before it launches: in the supermaster's words, with status 2, nothing started and nothing made. What a dry run shows."""
import os
import shlex
import shutil

from launch import HDSS, finish, job, main, run, run_job, start

SOURCE = os.environ['SOURCE_ROOT']
# A launcher that tells when it is asked for more than its version.
LAUNCHER = '#!/bin/sh\nif [ "$1" = --version ]; then echo "mpirun (Open MPI) 4.1.4"; else echo started >>started; fi\n'
LINES = 'gzip -9 "a b.txt"\n# none\n\necho {#} \\$HOME\necho \'it\'"\'"\'s\'\necho four\n'


def write(path, text, mode=0o644):
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)
    os.chmod(path, mode)


def everything():
    return sorted((name, os.lstat(os.path.join(folder, name)).st_mtime_ns) for folder, folders, names in os.walk('.') for name in folders + names)


def line(*words, workers=2, before=()):
    return [*before, HDSS, 'run', '--mpirun', './launcher', '--workers', str(workers), *words]


def begin():
    if not os.path.exists('launcher'):
        write('launcher', LAUNCHER, 0o755)


def refused(*words, said, before=()):
    """Refused so, be it a dry run or not; returns what is wrong."""
    begin()
    there = everything()
    for dry in ([], ['--dry-run']):
        result = run(line(*dry, *words, before=before), begins_anew=False)
        assert result.status == 2 and result.out == '' and result.raw_err == f'hdss run: {said}\n', result
        assert everything() == there, (words, everything())
    return said


def shown(*words, err='', workers=2):
    """The lines of a dry run behind that of mpirun."""
    begin()
    there = everything()
    result = run(line('--dry-run', *words, workers=workers))
    assert result.status == 0 and result.raw_err == err, result
    assert everything() == there, (words, everything())
    first, *others = result.out.splitlines()
    assert './launcher' in shlex.split(first) and words[-1] in shlex.split(first), first
    return others


def commands(lines):
    """As a shell would take them apart."""
    assert all(line.startswith('    ') for line in lines), lines
    return [shlex.split(line) for line in lines]


def test_outputs_that_cannot_be():
    os.mkdir('folder')
    write('file', '')
    refused('--output', 'folder', 'synthetic', said='folder: it is a folder; accepted: the name of a file, such as folder/results.npy')
    refused('--output', '/tmp', 'synthetic', said='/tmp: it is a folder; accepted: the name of a file, such as /tmp/results.npy')
    refused('--output', 'folder/', 'exec', 'command=true', said='folder/: it is a folder; accepted: the name of a file, such as folder/results.out')
    for name in ('-', '/dev/null', '/dev/stdout'):
        refused('--output', name, 'exec', 'command=true', said=f'{name}: results of tasks are files, which replace what is there; accepted: the name of a file (hdss exec prints to standard output)')
    refused('--output', 'no/such/x.npy', 'synthetic', said='no/such/x.npy: there is no folder no/such; `mkdir -p no/such` makes it')
    refused('--output', 'no/such/x', 'exec', 'command=true', said='no/such/x: there is no folder no/such; `mkdir -p no/such` makes it')
    refused('--output', 'file/x.npy', 'synthetic', said='file/x.npy: file is not a folder')
    refused('--output', 'x.jpg', 'mandelbrot', said='x.jpg: unknown kind of output file; accepted: names that end in .npy, .png, .csv, .bin or .raw')
    write('x.parts', '')
    refused('--output', 'x', 'exec', 'command=true', said='x.parts: is there, and is not a folder; accepted: another --output, or without it')
    refused('--report', 'no/r.json', 'synthetic', said='--report: cannot write no/r.json: there is no folder no; `mkdir -p no` makes it')
    refused('--record-costs', 'no/costs', 'synthetic', said='--record-costs: cannot write no/costs: there is no folder no; `mkdir -p no` makes it')
    refused('--journal', 'no/j', 'synthetic', said='--journal: no/j: there is no folder no; `mkdir -p no` makes it')


def test_what_must_not_be_written():
    # Root may write anywhere, unless it has given that up.
    before = ['setpriv', '--bounding-set', '-dac_override,-dac_read_search'] if os.getuid() == 0 else []
    if before and (not shutil.which('setpriv') or run([*before, 'true']).status != 0):
        return 'root cannot give up its rights here'
    os.mkdir('locked')
    write('locked.npy', 'precious', 0o444)
    os.chmod('locked', 0o555)
    refused('--output', 'locked/x.npy', 'synthetic', said='locked/x.npy: cannot be made in the folder locked: Permission denied', before=before)
    refused('--output', 'locked/x', 'exec', 'command=true', said='locked/x: cannot be made in the folder locked: Permission denied', before=before)
    refused('--output', 'locked.npy', 'synthetic', said='locked.npy is there already; accepted: --overwrite to replace it, or another name', before=before)
    refused('--overwrite', '--output', 'locked.npy', 'synthetic', said='locked.npy: cannot write: Permission denied', before=before)
    refused('--report', 'locked/r.json', 'synthetic',
            said='--report: cannot write locked/r.json: cannot be made in the folder locked: Permission denied', before=before)
    refused('exec', 'command=true', 'keep=locked', said='exec: keep=locked: Permission denied; accepted: a folder that files can be made in', before=before)


def test_powers():
    refused('--power', 'none', 'synthetic', said="--power 'none': accepted: measure, equal or a readable file (none: No such file or directory)")
    refused('--power', '1,2,3', 'synthetic', said='--power 1,2,3: 3 numbers; accepted: one for each of the 2 workers')
    refused('--power', '1,0', 'synthetic', said="--power 1,0: '0': accepted: a number from 1e-09 to 1e+09")
    write('powers', '1 1\n2 3\n')
    assert shown('--power', 'powers', 'synthetic') == ['10,000 iterations']
    # Masters come before the workers, and with --dca nobody does.
    refused('--masters', '1', '--power', 'powers', 'synthetic', said='--power powers: line 1: rank 1 is no worker of this run')
    refused('--dca', 'rma', '--power', 'powers', 'synthetic', said='--power powers: line 2: rank 2 is no worker of this run')
    write('powers', '0 1\n1 3\n')
    assert shown('--dca', 'rma', '--power', 'powers', 'synthetic') == ['10,000 iterations']


def test_loops_and_their_parameters():
    refused('--iterations', '9999:2', 'synthetic',
            said='--iterations 9999:2: the loop of this synthetic has 10000 iterations; accepted is FIRST + COUNT up to that')
    refused('mandelbrot', 'xmin=2', 'xmax=1', said='mandelbrot: the region x 2 .. 1, y -1.45 .. 1.45 is empty; accepted: xmin < xmax, ymin < ymax')
    refused('synthetic', 'distribution=file', said='synthetic: distribution=file and file=PATH go together: file=PATH is missing')
    refused('synthetic', 'distribution=file', 'file=none', said='synthetic: file=none: No such file or directory')
    refused('--threads', '2', 'exec', 'command=true',
            said='--threads: exec runs on one thread of a worker only; accepted: 1, or a kernel that yields records, has no other effects and no '
                 'dependencies, and allows threads')
    refused('--resume', 'synthetic', said='--resume goes on from a journal, and this job has none; accepted: with --output FILE, or with --journal FILE')


def test_jobs_of_workers_alone():
    refused('--dca', 'rma', '--output', 'x.npy', 'synthetic', 'steps=2',
            said='--dca: synthetic has time steps; accepted are loops of one step, or a supermaster')
    refused('--dca', 'rma', 'floyd-steinberg',
            said='--dca: the iterations of floyd-steinberg depend on one another; accepted are independent ones, or a supermaster')
    refused('--dca', 'rma', '--technique', 'auto', 'synthetic', said='--technique auto is for launches with a supermaster, not for --dca')
    refused('--dca', 'node', '--weighting', 'acp', 'synthetic',
            said='--weighting acp does not go with --dca node, whose big chunks are for all workers of a node: accepted are none, power')
    refused('--dca', 'rma', '--resume', 'synthetic', said='--resume is for launches with a supermaster, not for --dca')
    refused('--dca', 'rma', '--hosts', 'other:2', '--resume', 'synthetic', said='--resume is for launches with a supermaster, not for --dca')
    refused('--dca', 'rma', '--output', 'no/x.npy', 'synthetic', said='no/x.npy: there is no folder no; `mkdir -p no` makes it')


def test_tasks_and_tables():
    write('bad.txt', 'echo ok\n\necho \'home\n')
    write('t.csv', 'a,b\n1,2\n3,4\n')
    write('short.csv', 'a,b\n1,2\n3\n')
    write('three.txt', 'echo 1\necho 2\necho 3\n')
    write('file', '')
    refused('exec', said='exec: accepted: tasks=FILE, or command=LINE with count=N, table=FILE or list=FILE')
    refused('exec', 'tasks=nosuch', said='exec: nosuch: No such file or directory')
    refused('exec', 'tasks=.', said='exec: .: not a regular file')
    refused('exec', 'tasks=bad.txt', said='exec: bad.txt, line 3: column 6: quotes that do not end')
    refused('exec', 'command=echo {a} {c}', 'table=t.csv',
            said='exec: command: {c}: t.csv has no such column; accepted: a name of its first line, 1 to 2, or \\{ for a brace')
    refused('exec', 'command=echo {a}', 'table=short.csv', said='exec: short.csv, line 3: 1 fields; accepted: 2, as the first line has')
    refused('exec', 'tasks=three.txt', 'table=t.csv', said='exec: three.txt has 3 tasks, and t.csv 2 rows; accepted: as many, or one task for all rows')
    refused('exec', 'command=true', 'keep=file', said='exec: keep=file: Not a directory; accepted: a folder that files can be made in')
    refused('exec', 'command=true', 'keep=no/such', said='exec: keep=no/such: there is no folder no; `mkdir -p no` makes it')


def test_the_supermaster_says_the_same():
    write('bad.txt', 'echo ok\n\necho \'home\n')
    cases = [['--output', 'no/such/x.npy', 'synthetic'], ['--report', 'no/r.json', 'synthetic'], ['--power', '1,2,3', 'synthetic'], ['exec', 'tasks=bad.txt'],
             ['exec', 'command=true', 'keep=bad.txt']]
    begin()
    expected = [run(line(*words)).raw_err for words in cases]
    running = [start(job(0, 2, words)) for words in cases]
    for said, process in zip(expected, running):
        result = finish(process)
        assert result.status == 2 and [line.replace('supermaster: ', 'hdss run: ', 1) for line in result.err] == said.splitlines(), (said, result)


def test_earlier_runs():
    write('tasks.txt', 'true\nfalse\ntrue\n')
    assert run_job(0, 2, ['exec', 'tasks=tasks.txt']).status == 3
    refused('exec', 'tasks=tasks.txt',
            said='tasks.txt.out.journal: a run has left it; accepted: --resume=failed to try again what failed, --resume to complete its files, --overwrite to begin anew')
    assert shown('--overwrite', 'exec', 'tasks=tasks.txt') == ['3 tasks:', '    true', '    false', '    true']
    assert shown('--resume', 'exec', 'tasks=tasks.txt') == ['3 tasks, 3 of them done']
    assert shown('--resume', 'failed', 'exec', 'tasks=tasks.txt') == ['3 tasks, 2 of them done; the others:', '    false']
    refused('--resume', '--iterations', '0:2', 'exec', 'tasks=tasks.txt',
            said='tasks.txt.out.journal: is the journal of another job: --iterations is all there and 0:2 here')
    shutil.rmtree('tasks.txt.out.parts')
    refused('--resume', 'exec', 'tasks=tasks.txt',
            said='--resume: the results of 3 tasks are not there, of which tasks.txt.out.journal says that they are in tasks.txt.out')
    write('x.npy.journal', 'something else')
    refused('--output', 'x.npy', 'synthetic',
            said='x.npy.journal: is not a journal; accepted: --overwrite to begin anew, or --journal with another name')
    write('done.npy', '')
    refused('--resume', '--output', 'done.npy', 'synthetic',
            said='--resume: done.npy is there, but no done.npy.journal: it is complete, or was made without a journal; with --overwrite it is made anew')
    assert shown('--resume', '--output', 'new.npy', 'synthetic',
                 err='hdss run: there is no new.npy.journal: the run begins at its first iteration\n') == ['10,000 iterations']


def test_a_dry_run_shows_loops():
    assert shown('synthetic', 'iterations=8192') == ['8,192 iterations']
    assert shown('synthetic', 'iterations=1') == ['1 iteration']
    assert shown('--iterations', '5:100', 'synthetic', 'iterations=8192') == ['100 of 8,192 iterations']
    assert shown('--output', 'x.npy', 'synthetic', 'steps=3', 'iterations=1000') == ['3,000 iterations, in 3 time steps']
    assert shown('--report', '/dev/stdout', 'synthetic') == ['10,000 iterations']


def test_a_dry_run_shows_tasks():
    write('tasks.txt', LINES)
    write('t.csv', 'name,n\n"a b",1\nc,2\n')
    heading, *lines = shown('exec', 'keep=kept', 'tasks=tasks.txt')
    assert heading == '4 tasks; the first three:', heading
    assert commands(lines) == [['gzip', '-9', 'a b.txt'], ['echo', '2', '$HOME'], ['echo', "it's"]], lines
    heading, *lines = shown('--iterations', '2:2', 'exec', 'tasks=tasks.txt')
    assert heading == '2 of 4 tasks:' and commands(lines) == [['echo', "it's"], ['echo', 'four']], lines
    heading, *lines = shown('exec', 'table=t.csv', 'command=wc {name} {n}')
    assert heading == '2 tasks:' and commands(lines) == [['wc', 'a b', '1'], ['wc', 'c', '2']], lines
    assert shown('exec', 'table=t.csv', 'shell=yes', 'command=wc {name} | tee {n}') == ['2 tasks:', "    wc 'a b' | tee '1'", "    wc 'c' | tee '2'"]
    assert shown('exec', 'command=true') == ['1 task:', '    true']
    write('many.txt', 'echo a task with some words of its own\n' * 100000)
    assert shown('exec', 'tasks=many.txt') == ['100,000 tasks; the first three:'] + 3 * ['    echo a task with some words of its own']


def test_no_task_is_said():
    write('empty.txt', '# nothing\n\n')
    write('t.csv', 'a,b\n')
    note = 'exec: empty.txt has no task: empty lines and those that begin with # are none\n'
    assert shown('exec', 'tasks=empty.txt', err='hdss run: ' + note) == ['0 tasks']
    assert shown('exec', 'command=echo {a}', 'table=t.csv',
                 err='hdss run: exec: t.csv has no row behind its first line, which names the columns\n') == ['0 tasks']
    result = run_job(0, 2, ['exec', 'tasks=empty.txt'])
    assert result.status == 0 and result.err == ['supermaster: ' + note.rstrip()], result


def test_files_of_another_machine_are_left_to_the_supermaster():
    assert shown('--hosts', 'other:2', '--output', 'no/x', 'exec', 'tasks=nosuch') == [
        'files and folders are those of other: the supermaster checks them there, when it has started']
    for words in ('--hostfile hosts', '--wdir /'):
        assert shown('--mpi-args', words, 'exec', 'tasks=nosuch') == [
            'files and folders may be others where the ranks begin: the supermaster checks them there, when it has started']
    assert shown('--dca', 'rma', '--hosts', 'other:2', 'exec', 'tasks=nosuch') == [
        'files and folders are those of other: the first worker checks them there, when it has started']


def test_what_is_right_is_launched_once():
    begin()
    run(line('synthetic'))
    with open('started', encoding='utf-8') as file:
        assert file.read() == 'started\n'


KERNEL = r'''
#include <hdss/kernel.h>
#include <stdio.h>
static const struct hdss_param params[] = {{NULL}};
static int describe(const union hdss_value *values, struct hdss_loop *loop, char error[HDSS_ERROR_MAX])
{
    (void)values, (void)error;
    *loop = (struct hdss_loop){.iterations = 12, .type = HDSS_UINT64, .record_length = 1, .dims = 1, .shape = {12}};
    return 0;
}
static int check(const union hdss_value *values, const struct hdss_loop *loop, char error[HDSS_ERROR_MAX])
{
    (void)values, (void)loop;
    fclose(fopen("checked", "w"));
    snprintf(error, HDSS_ERROR_MAX, "not today");
    return -1;
}
static int open_kernel(const union hdss_value *values, const struct hdss_loop *loop, const struct hdss_worker *worker,
                       void **instance, char error[HDSS_ERROR_MAX])
{
    (void)values, (void)loop, (void)worker, (void)instance, (void)error;
    return 0;
}
static int run(void *instance, uint64_t first, uint64_t count, void *records, char error[HDSS_ERROR_MAX])
{
    (void)instance, (void)first, (void)count, (void)records, (void)error;
    return 0;
}
HDSS_KERNEL(hdss_kernel) = {.abi = HDSS_KERNEL_ABI, .name = "own", .version = "1", .summary = "for a test", .params = params,
                            .describe = describe, .check = check, .open = open_kernel, .run = run};
'''


def test_the_check_of_a_users_kernel_is_left_to_the_leader():
    write('own.c', KERNEL)
    made = run(['cc', '-shared', '-fPIC', '-I', os.path.join(SOURCE, 'common/include'), 'own.c', '-o', 'own.so'])
    assert made.status == 0, made
    assert shown('./own.so') == ['12 iterations']
    result = run_job(0, 1, ['./own.so'])
    assert result.status == 2 and result.err == ['supermaster: own: not today'] and os.path.exists('checked'), result


def test_studies():
    write('s.study', 'kernel = exec tasks=nosuch\nworkers = 1 2\n')
    result = run([HDSS, 'study', '--dry-run', 's.study'])
    assert result.status == 2 and result.err == ['hdss study: s.study, line 1: exec: nosuch: No such file or directory'], result
    write('s.study', 'workers = 1 2\nkernel = synthetic distribution=file file=nosuch\n')
    result = run([HDSS, 'study', 's.study'])
    assert result.status == 2 and result.err == ['hdss study: s.study, line 2: synthetic: file=nosuch: No such file or directory'], result
    assert sorted(os.listdir()) == ['s.study']


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
