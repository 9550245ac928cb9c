#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Corners that other programs get wrong: words that a terminal obeys, two runs on one file, litter, variables of a batch system that lie."""
import fcntl
import glob
import os
import re
import subprocess
import tempfile

from kernels import build
from launch import HDSS, TIMEOUT_S, environment, main, script, wait_until
from sets import down, here, up

# ESC, one-character CSI, a right-to-left override, an isolate, a separator of lines, a newline, and a byte of another encoding.
EVIL = b'\x1b[31m|\xc2\x9b31m|\xe2\x80\xae|\xe2\x81\xa6|\xe2\x80\xa8|\n|\xe9|'
SHOWN = '?[31m|?31m|?|?|?|?|?|'
OBEYED = re.compile('[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]')


def hdss(*words, status=None, **variables):
    """What it prints on both, as bytes."""
    done = subprocess.run([os.fsencode(word) for word in (HDSS, *words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env={**environment(), **variables}, timeout=TIMEOUT_S, check=False)
    assert status in (None, done.returncode), (words, done)
    return done


def plain(said):
    """The text, which has nothing that a terminal obeys."""
    text = said.decode('utf-8')
    assert not OBEYED.search(text), text
    return text


# --- words that a terminal obeys ---

def test_errors_of_tasks_are_shown_plainly():
    script('evil', b"printf '%s' '" + EVIL.replace(b'\n', b'') + b"' >&2", b'exit 3')
    ran = hdss('run', '--workers', '1', 'exec', 'command=./evil', '--output', 't.out', status=3)
    assert 'exit 3' in plain(ran.stdout + ran.stderr) and SHOWN.replace('?|?|?|?|', '?|?|?||') in plain(ran.stdout + ran.stderr), ran
    plain(hdss('log', 't.log', status=0).stdout)


def test_names_are_shown_plainly():
    name = os.fsdecode(EVIL) + 'x'
    lines = [(name,), ('run', name), ('run', 'mandelbrot', '--output', name + '/o.npy'), ('run', 'exec', 'tasks=' + name), ('run', 'mandelbrot', name + '=1'),
             ('run', '--technique', name, 'mandelbrot'), ('log', name), ('report', name), ('kernels', name), ('techniques', name), ('exec', '-a', name, 'echo'),
             ('simulate', '--jobs', name), ('study', name), ('jobs', name), ('show', name), ('up', '--name', name), ('submit', '--set', name, 'mandelbrot'),
             ('run', '--hosts', name, 'mandelbrot'), ('chunks', name, '--iterations', '10'), ('exec', '--joblog', name + '/l', 'echo', ':::', '1')]
    for words in lines:
        done = hdss(*words, HDSS_CONTROL_DIR=os.getcwd(), XDG_STATE_HOME=os.getcwd())
        assert done.returncode in (1, 2) and done.stderr.count(b'\n') >= 1, (words, done)
        plain(done.stdout + done.stderr)


def test_notes_of_kernels_are_shown_plainly():
    text = ''.join(f'\\{byte:03o}' for byte in EVIL)
    with open('noted.c', 'w', encoding='ascii') as file:
        file.write('''#include <hdss/kernel.h>
#include <stdio.h>
static const struct hdss_param params[] = {{0}};
static int describe(const union hdss_value *values, struct hdss_loop *loop, char error[HDSS_ERROR_MAX])
{
    *loop = (struct hdss_loop){.iterations = 4, .type = HDSS_FLOAT64, .record_length = 1, .dims = 1, .shape = {4}};
    snprintf(loop->note, sizeof loop->note, "note %s", "''' + text + '''");
    return 0;
}
static int open_it(const union hdss_value *values, const struct hdss_loop *loop, const struct hdss_worker *worker, void **instance, char error[HDSS_ERROR_MAX])
{
    return 0;
}
static int run(void *instance, uint64_t first, uint64_t count, void *records, char error[HDSS_ERROR_MAX])
{
    for (uint64_t i = 0; i < count; i++)
        ((double *)records)[i] = (double)(first + i);
    return 0;
}
HDSS_KERNEL(hdss_kernel) = {.abi = HDSS_KERNEL_ABI, .name = "noted", .version = "1", .params = params, .summary = "''' + text + '''", .describe = describe, .open = open_it, .run = run};
''')
    build('noted.so', 'noted.c')
    for words in (('run', '--workers', '1', './noted.so'), ('kernels', './noted.so')):
        done = hdss(*words, status=0)
        assert SHOWN.replace('\n', '?') in plain(done.stdout + done.stderr), done


def test_words_of_traces_and_logs_are_shown_plainly():
    evil, shown = EVIL.replace(b'\n', b''), SHOWN.replace('?|?|?|?|', '?|?|?||')
    hdss('run', '--workers', '1', '--trace', 't.csv', 'synthetic', 'iterations=9', status=0)
    with open('t.csv', 'rb') as file:
        trace = file.read()
    for known, named in ((b'kernel=', b'kernel=' + evil), (b'technique=', b'technique=' + evil), (b',power=', b',host=' + evil + b' power=')):
        assert known in trace, trace
        trace = trace.replace(known, named)
    with open('t.csv', 'wb') as file:
        file.write(trace)
    for words in (('--iteration', '1'), ('--worker', '1'), ('--chunk', '1')):
        assert plain(hdss('explain', 't.csv', *words, status=0).stdout).count(shown) >= 3, words
    host = b'h' * 100 + evil
    with open('t.log', 'wb') as file:
        file.write(b'Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n1\t' + host + b'\t1795908047.730\t0.006\t0\t2\t0\t0\techo 1\n')
    assert 'h' * 100 + shown in plain(hdss('log', 't.log', '--task', '1', status=0).stdout)


def test_jobs_of_a_set_are_shown_plainly():
    here()
    up()
    try:
        name = 'a\u202eb\u009bc\u2066'
        folder = os.fsdecode(EVIL.replace(b'\xe9', b''))
        os.mkdir(folder)
        os.chdir(folder)
        assert hdss('submit', '--name', name, 'exec', 'command=true', 'count=1', status=0).stdout == b'main/1\n'
        hdss('wait', '1', status=0)
        for words in (('jobs', '--all'), ('show', '1'), ('top', '--once'), ('wait', '1')):
            plain(hdss(*words, status=0).stdout)
        assert 'a?b?c?' in plain(hdss('show', '1').stdout)
    finally:
        down()
    for log in glob.glob('../hdss/main/*log*'):
        with open(log, 'rb') as file:
            plain(file.read())


def test_what_is_for_programs_stays_as_it_is():
    script('evil', b"printf '%s' '" + EVIL + b"'")
    assert hdss('exec', './evil', '{}', ':::', '1', status=0).stdout == EVIL
    dry = hdss('exec', '--dry-run', 'echo', ':::', EVIL, status=0).stdout
    assert dry == b"echo '\\x1b[31m|\xc2\x9b31m|\xe2\x80\xae|\xe2\x81\xa6|\xe2\x80\xa8|\\n|\xe9|'\n", dry
    words = ('exec', '--joblog', 'log', 'echo', ':::', b'a\xe2\x80\x8fb')  # as many names of files have it: U+200F
    assert hdss(*words, status=0).stdout == b'a\xe2\x80\x8fb\n'
    with open('log', 'rb') as file:
        assert b'a\xe2\x80\x8fb' in file.read()
    assert hdss(words[0], '--resume', *words[1:], status=0).stdout == b''


# --- a log of two runs ---

def is_locked(path):
    try:
        with open(path, 'r+', encoding='ascii') as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def test_the_log_of_a_run_is_cut_by_no_other():
    script('until', b'until [ -e go ]; do sleep 0.05; done', b'echo $1')
    first = subprocess.Popen([HDSS, 'exec', '-j', '1', '--joblog', 'log', './until', ':::', '1', '2', '3'], env=environment(), stdout=subprocess.PIPE)
    try:
        wait_until(lambda: is_locked('log'), 'the log of the first')
        second = hdss('exec', '-j', '1', '--joblog', 'log', 'echo', ':::', 'a', status=2)
        assert b'another run is writing it' in second.stderr, second
    finally:
        with open('go', 'wb'):
            pass
        assert first.wait(TIMEOUT_S) == 0
    with open('log', encoding='ascii') as file:
        assert [line.split('\t')[0] for line in file] == ['Seq', '1', '2', '3']
    hdss('exec', '--resume', '--joblog', 'log', './until', ':::', '1', '2', '3', '4', status=0)


# --- litter ---

def test_what_was_printed_does_not_stay():
    os.mkdir('tmp')
    with open('hole', 'wb') as file:
        file.write(bytes(1 << 20))
    if subprocess.run(['fallocate', '--punch-hole', '--length', '1MiB', 'hole'], capture_output=True, check=False).returncode != 0:
        return  # the file system takes nothing back
    # The last one ends when at most a tenth of all is there.
    script('task', b'[ $1 = 20 ] || exec head -c 2000000 /dev/zero', b'until [ $(du -sk tmp/hdss-exec* | cut -f1) -lt 4000 ]; do sleep 0.05; done')
    for order in ((), ('-k',)):
        done = hdss('exec', *order, '-j', '2', './task', ':::', *map(str, range(21)), status=0, TMPDIR=os.path.abspath('tmp'))
        assert len(done.stdout) == 40000000
        assert not os.listdir('tmp'), os.listdir('tmp')


def test_the_folder_of_a_killed_command_is_removed_by_any_run():
    os.mkdir('tmp')
    place = {'TMPDIR': os.path.abspath('tmp')}
    script('until', b'until [ -e go ]; do sleep 0.05; done')
    with subprocess.Popen([HDSS, 'exec', '-j', '1', './until', ':::', '1'], env={**environment(), **place}) as killed:
        wait_until(lambda: glob.glob('tmp/hdss-exec*/*.journal'), 'tasks that run')
        hdss('run', '--workers', '1', 'synthetic', 'iterations=1', status=0, **place)
        assert glob.glob('tmp/hdss-exec*'), 'removed while it was used'
        memory = os.path.basename(glob.glob('tmp/hdss-exec*')[0]).replace('hdss-exec', '/dev/shm/hdss-ranks')
        if os.access('/dev/shm', os.W_OK):
            os.mkdir(memory)  # as of a run over MPI
        killed.kill()

    def runs_and_looks():
        hdss('run', '--workers', '1', 'synthetic', 'iterations=1', status=0, **place)
        return not os.listdir('tmp') and not os.path.exists(memory)
    wait_until(runs_and_looks, 'the end of its ranks, which hold the folder')


def test_memory_of_killed_python_programs_is_removed():
    base = '/dev/shm'
    if not os.access(base, os.W_OK):
        return
    gone, held = (tempfile.mkdtemp(prefix='hdss-python-', dir=base) for _ in range(2))
    try:
        for folder in (gone, held):
            for name in ('new', 'state'):
                with open(os.path.join(folder, name), 'w', encoding='ascii'):
                    pass
        with open(os.path.join(held, 'new'), 'r+', encoding='ascii') as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            for folder in (gone, held):  # other runs sweep, too
                os.rename(os.path.join(folder, 'new'), os.path.join(folder, 'lock'))
            hdss('run', '--workers', '1', 'synthetic', 'iterations=1', status=0)
        assert not os.path.exists(gone) and os.listdir(held)
    finally:
        subprocess.run(['rm', '-rf', gone, held], check=True)


# --- variables ---

VARIABLE = re.compile(r'"((?:SLURM|PBS|LSB|PE)_[A-Z_]+)"')
JUNK = ('', 'junk', '-1', '99999999999999999999', '\x1b[31m', 'n[1-', '/nonexistent/9', '/')
APART = ('SLURM_JOB_NODELIST=a,b SLURM_TASKS_PER_NODE=3(x5) SLURM_JOB_ID=9', 'SLURM_JOB_NODELIST=a SLURM_NTASKS=0 SLURM_JOB_ID=9', 'SLURM_TASKS_PER_NODE=2',
         'SLURM_JOB_ID=9', 'SLURM_STEP_ID=0 SLURM_PROCID=7 SLURM_NTASKS=2', 'LSB_JOBID=9 LSB_MCPU_HOSTS=a', 'PBS_JOBID=9 PBS_NODEFILE=/dev/null',
         'PBS_JOBID=9 SLURM_JOB_ID=8 LSB_JOBID=7', 'SLURM_GPUS_ON_NODE=4 SLURM_JOB_GPUS=0-9,x SLURM_MEM_PER_CPU=1 SLURM_MEM_PER_NODE=-1')


def variables_of_batch_systems():
    """All that a source of the product names."""
    root, found = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'), set()
    for area in ('common', 'deploy', 'worker', 'supermaster', 'master'):
        for folder, _, names in os.walk(os.path.join(root, area)):
            for name in names:
                if name.endswith(('.c', '.h')):
                    with open(os.path.join(folder, name), encoding='utf-8') as file:
                        found.update(VARIABLE.findall(file.read()))
    assert len(found) > 20, found
    return sorted(found)


def test_variables_that_lie_are_named_or_ignored():
    """Those of a batch system, each with junk, empty and without the others, and several that do not fit."""
    lies = [f'{name}={value}' for name in variables_of_batch_systems() for value in JUNK]
    for place, lie in enumerate([*lies, *APART]):
        told = dict(word.split('=', 1) for word in (lie.split(' ') if lie in APART else [lie]))
        names_hosts = re.search('LIST|HOST|FILE', lie)  # where ssh would be asked for them
        others = (('jobs',) if names_hosts else ('exec', 'echo', ':::', 'ok'), ('alloc', '--dry-run'))
        for words in (('exec', '--dry-run', 'echo', ':::', 'ok'), ('run', '--dry-run', 'synthetic', 'iterations=10'), others[place % 2]):
            done = hdss(*words, HDSS_CONTROL_DIR=os.getcwd(), **told)
            assert 0 <= done.returncode <= 4, (lie, words, done)
            assert done.returncode != 2 or done.stderr.count(b'\n') == 1, (lie, words, done)
            plain(done.stdout + done.stderr)


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
