# SPDX-License-Identifier: MIT
"""Launching real runs for the system tests: mpirun lines, a scratch folder for each test, TAP on standard output.

The programs come from the environment (SUPERMASTER, MASTER, WORKER, HDSS), which Meson sets. A run that does not end is
killed with all of its ranks and fails its test; nothing here sleeps to give something time.
"""
import contextlib
import glob
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

import leftovers
import openmpi

SUPERMASTER, MASTER, WORKER, HDSS = (os.environ.get(name, '') for name in ('SUPERMASTER', 'MASTER', 'WORKER', 'HDSS'))
FORK = os.path.join(os.path.dirname(WORKER), 'hdss-fork')
# Runs a test program with the modules of this folder, as Meson does.
PROGRAM = [sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'program.py')]
JOIN = [HDSS, 'join']
TIMEOUT_S = float(os.environ.get('HDSS_TEST_TIMEOUT', '120'))
# How many times the usual a test waits for anything.
PATIENCE = TIMEOUT_S / 120
# Seconds: the most that a test waits before and after each command, at random, as a busy machine has it wait.
PAUSE_S = float(os.environ.get('HDSS_TEST_PAUSE', '0'))


class Skipped(Exception):
    """Ends a test that this build cannot run, and says why."""


class Run:
    """What a finished run left: status, out, err (without mpirun's own banner), seconds."""

    def __init__(self, status, out, err, seconds):
        self.status, self.out, self.raw_err, self.seconds = status, out, err, seconds
        self.err = [line for line in strip_banner(err).splitlines() if line.strip()]

    def checksum(self):
        found = re.search(r'checksum +([0-9a-f]{16})', self.out)
        assert found, f'no checksum in the summary:\n{self.out}\n{self.raw_err}'
        return found.group(1)

    def __str__(self):
        """The cause first, as a long text is cut at its end: what the programs say, what they print, and all of standard error."""
        said = '\n'.join(self.err)
        parts = [f'status {self.status} after {self.seconds:.1f} s', f'--- err\n{said}', f'--- out\n{self.out}']
        if self.raw_err.strip() != said.strip():
            parts.append(f'--- all of err\n{self.raw_err}')
        return '\n'.join(parts)

    __repr__ = __str__  # in the tuples of assertions, too


# A line of the log of a run that takes long, as on a busy machine.
LOGGED = re.compile(r'[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2} ')


def strip_banner(text):
    """Removes what mpirun says of a rank that exits with another status than 0, which are paragraphs between lines of dashes, and of
    itself on a busy machine; and the lines of a log."""
    kept, inside = [], False
    for line in text.splitlines():
        if re.fullmatch(r'-{60,}', line):
            inside = not inside
        elif not inside and not openmpi.is_of_launcher(line) and not LOGGED.match(line):
            kept.append(line)
    return '\n'.join(kept)


def environment():
    env = dict(os.environ)
    if os.getuid() == 0:
        env.update(OMPI_ALLOW_RUN_AS_ROOT='1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1')
    # Open MPI keeps one-time allocations; the sanitizers' verdict on them is not ours.
    # A test may preload something, which then comes before theirs.
    env['ASAN_OPTIONS'] = env.get('ASAN_OPTIONS', '') + ':detect_leaks=0:verify_asan_link_order=0'
    env['LC_ALL'] = 'C.UTF-8'
    return env


def let_user_code_crash():
    """As without a sanitizer, which takes the signals and exits."""
    signals = ''.join(f':handle_{name}=0' for name in ('segv', 'sigbus', 'sigfpe', 'sigill', 'abort'))
    os.environ['ASAN_OPTIONS'] = os.environ.get('ASAN_OPTIONS', '') + signals + ':use_sigaltstack=0'


def journal_is_over(journal):
    """True for the journal of a complete run: its last record is the end."""
    try:
        with open(journal, 'rb') as file:
            data = file.read()
    except OSError:
        return False
    at = 36 + int.from_bytes(data[12:16], 'little')
    while at + 16 < len(data):
        at += 16 + 16 * (int.from_bytes(data[at:at + 4], 'little') & (1 << 30) - 1)
    return at + 16 == len(data) and data[at:at + 4] == bytes(4)


def clear_outputs(command):
    """Removes what an earlier run of the test has left under the names of this one's output, unless the line says what becomes of it."""
    words = [str(word) for word in command]
    names = [words[i + 1] for i, word in enumerate(words[:-1]) if word == '--output'][-1:]
    if {'--resume', '--overwrite', '--dry-run'} & set(words):
        return
    if not names and 'exec' in words:
        names = [word.split('=', 1)[1] + '.out' for word in words if word.startswith(('tasks=', 'table='))] or ['exec.out']
    for name in names:
        if not os.path.exists(name + '.journal') or journal_is_over(name + '.journal'):
            for path in {name, *glob.glob(glob.escape(name) + '.*'), *(re.sub(r'\.out$', ending, name) for ending in ('.err', '.log'))}:
                if os.path.isfile(path) and not os.path.islink(path):
                    os.remove(path)


# Kernels that a build may lack.
PAPERS = ('evrard', 'floyd-steinberg', 'hydro', 'spinimage')


def need_papers(words=PAPERS):
    """Skips the test if this build lacks a kernel of a paper that is among the words."""
    lacking = [word for word in words if word in PAPERS and not os.path.exists(os.path.join(os.path.dirname(HDSS), f'hdss-{word}.so'))]
    if lacking:
        raise Skipped(f'this build has no {lacking[0]}: -Dresearch=disabled')


# Options of `hdss run` that only a launch over MPI has.
OVER_MPI = ('--mpirun', '--mpi-args', '--one-launch', '--dca two-sided', '--carrier mpi')


def need_mpi(words=('mpirun',)):
    """Skips the test if this build has no MPI and the line is of a launch that takes it."""
    line = ' '.join(map(str, words))
    is_over_mpi = line.startswith('mpirun') or any(f' {option}' in line.partition(' run')[2] for option in OVER_MPI)
    if is_over_mpi and not os.environ.get('HAS_MPI', 'yes'):
        raise Skipped('this build has no MPI')


def start(command, **options):
    need_papers(command)
    need_mpi(command)
    if options.pop('begins_anew', True):
        clear_outputs(command)
    return subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, errors='backslashreplace',  # who is killed may leave half a character
                            env=environment(), start_new_session=True, **options)


def finish(process, timeout=None):
    began = time.monotonic()
    try:
        out, err = process.communicate(timeout=timeout or TIMEOUT_S)
    except subprocess.TimeoutExpired:
        leftovers.keep_processes()
        kill_tree(process.pid)
        out, err = process.communicate()
        leftovers.keep_run(process.args, 'hangs', out, err)
        raise AssertionError(f'hangs: {process.args}\n{err}\n{out}') from None
    leftovers.keep_run(process.args, process.returncode, out, err)
    return Run(process.returncode, out, err, time.monotonic() - began)


def children_of(pid):
    """Processes that it has begun, as the kernel lists them for each of its threads; none where it is gone."""
    found = []
    try:
        for thread in os.listdir(f'/proc/{pid}/task'):
            with open(f'/proc/{pid}/task/{thread}/children') as children:
                found += map(int, children.read().split())
    except OSError:
        pass
    return found


def descendants(pid):
    """Processes below `pid`. Where one of them ends meanwhile the kernel's list may lack another, so that it is read until it stays the same."""
    found, todo = [], [pid]
    while todo:
        parent = todo.pop()
        below, before = children_of(parent), None
        while below != before:
            below, before = children_of(parent), below
        found += below
        todo += below
    return found


def state_of(pid):
    """The letter by which the kernel tells what the process does; empty where there is none."""
    try:
        with open(f'/proc/{pid}/stat', encoding='utf-8', errors='replace') as file:
            return file.read().rsplit(')', 1)[1].split()[0]
    except OSError:
        return ''


def gone(pid):
    """The process has ended, be it that nobody has asked after it."""
    return state_of(pid) in ('', 'Z')


def ranks_of(process, program):
    """Processes below `process` that run the program."""
    found = []
    for pid in descendants(process.pid):
        try:
            if os.path.realpath(f'/proc/{pid}/exe') == os.path.realpath(program):
                found.append(pid)
        except OSError:
            pass
    return found


def catches(pid, number):
    """True while the process has a handler for the signal."""
    try:
        with open(f'/proc/{pid}/status') as status:
            mask = int(re.search(r'SigCgt:\s*([0-9a-f]+)', status.read()).group(1), 16)
    except FileNotFoundError:  # it has left already
        return False
    return bool(mask >> (number - 1) & 1)


def shared_memory(process):
    """Files in /dev/shm that the processes of the run have mapped."""
    found = set()
    for pid in [process.pid, *descendants(process.pid)]:
        try:
            with open(f'/proc/{pid}/maps') as maps:
                found.update(line.split(None, 5)[5].strip() for line in maps if '/dev/shm/' in line)
        except OSError:
            pass
    return {path for path in found if not path.endswith(' (deleted)')}


def kill_each(pids):
    """Those that are there still: some may go with others."""
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def kill_tree(pid):
    kill_each([pid, *descendants(pid)])  # in this order: it does not learn of the others' ends


def contexts_of(contexts):
    words = []
    for i, (count, program) in enumerate(contexts):
        words += ([':'] if i else []) + ['-n', count, *program]
    return words


def rank_of_tests(variable, *words):
    """The words of a rank that is a program of the tests, which the variable names: it lies apart from the modules that carry its messages. A build
    without MPI lacks those that are about it."""
    if variable not in os.environ:
        need_mpi()
    return ['env', f'HDSS_MODULES={os.path.dirname(HDSS)}', os.environ[variable], *words]


def mpirun_line(contexts, options=(), mca=()):
    """contexts: [(count, [program, argument, ...]), ...]; mca: parameters of Open MPI for all of them. MPIRUN names another library's."""
    need_mpi()
    line = [*os.environ['MPIRUN'].split(), *options] if 'MPIRUN' in os.environ else openmpi.mpirun(options, mca)
    return line + contexts_of(contexts)


def fork_line(contexts):
    return [FORK, *contexts_of(contexts)]


def techniques():
    """The names of all techniques, as `hdss techniques` lists them."""
    listed = subprocess.run([HDSS, 'techniques'], capture_output=True, text=True, check=True).stdout
    return [line.split()[0] for line in listed.split('\n\n')[0].splitlines()[1:]]


def job(masters, workers, words, worker_options=(), options=None):
    """A line by hand: of mpirun with these options, or if MPIRUN or HDSS_CARRIER says so; else of hdss-fork."""
    contexts = [(1, [SUPERMASTER, *words])]
    if masters:
        contexts.append((masters, [MASTER]))
    if workers:
        contexts.append((workers, [WORKER, *worker_options]))
    if options is not None or 'MPIRUN' in os.environ or os.environ.get('HDSS_CARRIER') == 'mpi':
        return mpirun_line(contexts, options or ())
    return fork_line(contexts)


def hdss(masters, workers, words, *options):
    return [HDSS, 'run', '--masters', masters, '--workers', workers, *options, *words]


def pause():
    time.sleep(random.uniform(0, PAUSE_S))


def run(command, **options):
    pause()
    result = finish(start(command, **options))
    pause()
    return result


def run_job(masters, workers, words, **options):
    return run(job(masters, workers, words), **options)


def report(path='report.json'):
    with open(path) as file:
        return json.load(file)


def unhurried(iterations=40000, sleep_us=5000, elements=1, held=0):
    """The words of a loop whose iterations take that time until hurry(), and none from then on: it is not over before what a test does to
    it. `held`: so many at its end wait for hurry() however long."""
    return [os.environ['UNHURRIED'], f'iterations={iterations}', f'sleep={sleep_us}', f'elements={elements}', f'held={held}', 'until=hurry']


# Of a task: the same for a command of a shell.
UNTIL_HURRY = 'while ! [ -e hurry ]; do sleep 0.05; done'


def hurry():
    with open('hurry', 'w', encoding='ascii'):
        pass


@contextlib.contextmanager
def hurried():
    """What runs meanwhile takes no time; what comes after it does, unless it was hurried before."""
    before = os.path.exists('hurry')
    hurry()
    try:
        yield
    finally:
        if not before:
            os.remove('hurry')


def wait_until(condition, what, share=0.5):
    """Waits for an event that a running job brings about, for that share of TIMEOUT_S. The longer it takes the more seldom it is looked at:
    a look may be a process."""
    began = time.monotonic()
    while not condition():
        waited = time.monotonic() - began
        assert waited < share * TIMEOUT_S, f'never came: {what}'
        time.sleep(min(0.1, 0.005 + waited / 20))


def script(name, *lines):
    """Writes a shell script of lines, each a string or bytes. Returns how it is called."""
    with open(name, 'wb') as file:
        file.write(b'\n'.join(map(os.fsencode, ['#!/bin/sh', *lines, ''])))
    os.chmod(name, 0o700)
    return './' + name


def source_only(folder, names):
    """For shutil.copytree() of the sources: leaves out what is hidden, and build folders, which are known by what Meson leaves in them."""
    return [name for name in names
            if name.startswith('.') or name == '__pycache__' or os.path.isdir(os.path.join(folder, name, 'meson-private'))]


def python_is_there():
    """Whether this build runs kernels in Python."""
    return os.path.exists(os.path.join(os.path.dirname(HDSS), 'hdss-python.so'))


def chosen(tests):
    """Those of the program's functions that are to run. HDSS_TEST_CHOSEN names a file of JSON: {"only": {PROGRAM: [FUNCTION, ..]}, "without":
    {PROGRAM: [FUNCTION, ..]}}, where a program is named by its file and one that "only" does not name runs whole."""
    path = os.environ.get('HDSS_TEST_CHOSEN')
    if not path:
        return tests
    program = os.path.basename(sys.argv[0]).removeprefix('test_').removesuffix('.py')
    with open(path, encoding='utf-8') as file:
        choice = json.load(file)
    only, without = choice.get('only', {}).get(program), choice.get('without', {}).get(program, [])
    unknown = set(only or []) - {name_of(test) for test in tests}
    assert not unknown, f'{path} names functions that {program} does not have: {sorted(unknown)}'
    return [test for test in tests if (only is None or name_of(test) in only) and name_of(test) not in without]


def name_of(test):
    return test.__name__.removeprefix('test_').replace('_', ' ')


def run_test(test):
    """Runs one function in a scratch folder of its own. Returns why it was skipped, or None; raises what it raises."""
    folder = tempfile.mkdtemp(prefix='hdss-test-')
    os.chdir(folder)
    leftovers.begin()
    try:
        skip = test()
        leftovers.check(PATIENCE * 10)
        return skip if isinstance(skip, str) else None
    except Skipped as why:
        leftovers.check(PATIENCE * 10)
        return str(why)
    except Exception:
        leftovers.keep(name_of(test), folder)
        leftovers.end()
        raise
    finally:
        os.chdir('/')
        shutil.rmtree(folder, ignore_errors=True)


def tell_problem(problem):
    """Prints the error, its place and the line of source there first: a long output is cut at its end."""
    frames = traceback.extract_tb(problem.__traceback__)
    text = f'{os.path.basename(frames[-1].filename)}:{frames[-1].lineno}: {type(problem).__name__}: {problem}'
    for line in [*text.splitlines(), *traceback.format_list(frames[2:])]:  # without main() and run_test()
        print('# ' + line.rstrip().replace('\n', '\n# '), flush=True)


def main(tests):
    """Runs the functions and prints TAP."""
    tests = chosen(tests)
    print(f'1..{len(tests)}' + ('' if tests else ' # SKIP none is chosen'), flush=True)
    failed = 0
    for number, test in enumerate(tests, 1):
        began = time.monotonic()
        try:
            skip = run_test(test)
            print(f'ok {number} - {name_of(test)}' + (f' # SKIP {skip}' if skip else ''), flush=True)
        except Exception as problem:
            failed += 1
            print(f'not ok {number} - {name_of(test)}', flush=True)
            tell_problem(problem)
        print(f'# {time.monotonic() - began:.1f} s', flush=True)
    sys.exit(1 if failed else 0)
