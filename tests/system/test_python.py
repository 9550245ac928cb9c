# SPDX-License-Identifier: MIT
"""The Python package under attack: calls that crash, hang, print, fork and cannot be pickled; programs that are interrupted, killed and forked;
and everything that an executor, a pool, a loop, commands and jobs promise. No call is lost by what another one does, and no process and no
folder is left.

Calls run in the Python of the workers' version, as which this program runs itself again."""
import asyncio
import concurrent.futures
import ctypes
import errno
import functools
import glob
import importlib.util
import itertools
import multiprocessing
import os
import pty
import re
import select
import signal
import subprocess
import sys
import threading
import time
import traceback
import weakref
from unittest import mock

from launch import HDSS, PROGRAM, TIMEOUT_S, environment, finish, kill_tree, let_user_code_crash, long, main, run, state_of, wait_until
from pythons import obstacle, python_with

PACKAGE = os.path.join(os.environ['BUILD_ROOT'], 'deploy/python')
HAS_NUMPY = importlib.util.find_spec('numpy') is not None
FOR_EVER_S = 100000
OF_SETS = ('HDSS_SET', 'SLURM_JOB_ID', 'PBS_JOBID', 'LSB_JOBID')


# --- where a test is ---

def own_places():
    """The folders that programs of this test use, all in the current one."""
    here = os.getcwd()
    os.makedirs('places', exist_ok=True)
    places = os.path.join(here, 'places')
    return {'HDSS_CONTROL_DIR': here, 'HDSS_PYTHON_FOLDER': places, 'TMPDIR': places, 'XDG_STATE_HOME': places}


def is_of_here(pid):
    """True for a process that was started in the places of this test."""
    try:
        with open(f'/proc/{pid}/environ', 'rb') as file:
            return f'HDSS_CONTROL_DIR={os.getcwd()}'.encode() in file.read().split(b'\0')
    except OSError:
        return False


def processes():
    return [int(name) for name in os.listdir('/proc') if name.isdigit() and int(name) != os.getpid() and is_of_here(name)]


def folders():
    return glob.glob('places/*hdss-python-*') + glob.glob('places/.*hdss-python-*')


def leaves_nothing(test):
    """Runs the test in places of its own. Nothing that it has started is there afterwards."""
    @functools.wraps(test)
    def checked():
        os.environ.update(own_places())
        skip = test()
        wait_until(lambda: not processes(), 'the end of all processes')
        wait_until(lambda: not folders(), 'the end of all folders')
        return skip
    return checked


def start(*words, **options):
    """A program in the Python that runs this one."""
    env = {**environment(), **options.pop('env', {})}
    return subprocess.Popen([sys.executable, *words], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            start_new_session=True, **options)


def program(text, name='program.py'):
    with open(name, 'w', encoding='utf-8') as file:
        file.write(text)
    return name


def python(text, *words, **options):
    """What has come of a program."""
    return finish(start(program(text), *words, **options))


# --- functions of the workers ---

def square(i):
    return i * i


def crash():
    ctypes.string_at(0)


def leave_by(number):
    os.kill(os.getpid(), number)
    time.sleep(FOR_EVER_S)


def once(path, what):
    """Runs it in the first process that comes here."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except FileExistsError:
        return 'again'
    return what()


def note(path):
    with open(path, 'a', encoding='ascii') as file:
        file.write('x')


class Unpicklable(Exception):
    """Is pickled, but cannot be made again: it wants two arguments."""

    def __init__(self, one, two):
        super().__init__(f'{one} and {two}')


class Grudge(Exception):
    def __init__(self, text):
        super().__init__(text)
        self.lock = threading.Lock()


def raise_it(what, *arguments):
    raise what(*arguments)


def raised_by(future, kind):
    error = future.exception(TIMEOUT_S)
    assert isinstance(error, kind), f'{error!r} is no {kind.__name__}'
    return error


def others_are_there(executor, count=20):
    """Calls that have been submitted beside what is bad: asserts that none is lost."""
    futures = [executor.submit(square, i) for i in range(count)]
    return lambda: [future.result(TIMEOUT_S) for future in futures] == [i * i for i in range(count)]


# --- bad calls ---

@leaves_nothing
def test_a_call_that_crashes():
    with hdss.Executor(workers=2) as executor:
        before, bad, behind = others_are_there(executor), executor.submit(crash), others_are_there(executor)
        assert 'SIGSEGV' in str(raised_by(bad, hdss.CallDied)) or 'signal 11' in str(bad.exception()), repr(bad.exception())
        assert before() and behind()
        assert executor.submit(square, 3).result() == 9


@leaves_nothing
def test_a_call_that_dies_is_tried_again():
    for retries, count in ((0, 1), (2, 3)):
        path = os.path.abspath(f'tries-{retries}')

        def die():
            note(path)
            os._exit(3)
        with hdss.Executor(workers=2, retries=retries) as executor:
            others = others_are_there(executor)
            raised_by(executor.submit(die), hdss.CallDied)
            assert others()
        assert os.path.getsize(path) == count, (retries, os.path.getsize(path))
    with hdss.Executor(workers=2) as executor:
        dies = functools.partial(once, os.path.abspath('first'), lambda: leave_by(signal.SIGKILL))
        assert executor.submit(dies).result(TIMEOUT_S) == 'again'


@leaves_nothing
def test_a_worker_that_is_killed():
    """The worker itself, not the process in which it runs calls: its call goes to another one."""
    with hdss.Executor(workers=3) as executor:
        others = others_are_there(executor)
        kills = functools.partial(once, os.path.abspath('killed'), lambda: (os.kill(os.getppid(), signal.SIGKILL), time.sleep(FOR_EVER_S)))
        assert executor.submit(kills).result(TIMEOUT_S) == 'again'
        assert others()
        assert list(executor.map(square, range(50))) == [i * i for i in range(50)]


@leaves_nothing
def test_a_call_that_hangs():
    with hdss.Executor(workers=2, timeout=0.5, retries=0) as executor:
        hangs = [executor.submit(time.sleep, FOR_EVER_S), executor.submit(once, '/dev/null/never', time.sleep)]
        others = others_are_there(executor)
        error = raised_by(hangs[0], hdss.CallDied)
        assert '0.5' in str(error), error
        raised_by(hangs[1], NotADirectoryError)
        assert others()


@leaves_nothing
def test_a_bad_item_of_a_map():
    """It shares its batch with others, which have their results."""
    def of(i):
        if i == 700:
            os._exit(1)
        return i
    with hdss.Executor(workers=2, retries=0) as executor:
        results = executor.map(of, range(1000), chunksize=100)
        assert list(itertools.islice(results, 700)) == list(range(700))
        try:
            next(results)
            raise AssertionError('item 700 has a result')
        except hdss.CallDied:
            pass
        found = set()
        results = executor.imap_unordered(of, range(690, 710), chunksize=20)
        for _ in range(20):
            try:
                found.add(next(results))
            except (hdss.CallDied, StopIteration):
                break
        assert found <= set(range(690, 710)) - {700}, found


@leaves_nothing
def test_exceptions():
    def inner():
        raise KeyError('inside')

    def outer():
        try:
            inner()
        except KeyError as error:
            raise ValueError('outside') from error
    with hdss.Executor(workers=2) as executor:
        error = raised_by(executor.submit(outer), ValueError)
        assert isinstance(error.__cause__, hdss.RemoteTraceback) and error.args == ('outside',), (error, error.__cause__)
        text = ''.join(traceback.format_exception(type(error), error, error.__traceback__))
        assert "KeyError: 'inside'" in text and 'in inner' in text and 'in outer' in text and 'test_python.py' in text, text
        for kind in (SystemExit, KeyboardInterrupt, GeneratorExit):
            assert raised_by(executor.submit(raise_it, kind, 7), kind).args == (7,)
        assert executor.submit(square, 2).result() == 4


@leaves_nothing
def test_what_cannot_be_pickled():
    with hdss.Executor(workers=2) as executor:
        others = others_are_there(executor)
        error = raised_by(executor.submit(raise_it, Grudge, 'has a lock'), hdss.NotPicklable)
        assert 'Grudge: has a lock' in str(error) and 'raise_it' in str(error.__cause__), (error, error.__cause__)
        assert 'one and two' in str(raised_by(executor.submit(raise_it, Unpicklable, 'one', 'two'), hdss.NotPicklable))
        for made in (threading.Lock, lambda: (i for i in range(3))):
            assert 'pickle' in str(raised_by(executor.submit(made), TypeError))
        assert 'pickle' in str(raised_by(executor.submit(square, threading.Lock()), TypeError))
        assert 'pickle' in str(raised_by(executor.submit(lambda lock=threading.Lock(): lock), TypeError))
        results = executor.map(square, [1, threading.Lock(), 3])
        assert next(results) == 1
        try:
            next(results)
            raise AssertionError('a lock was sent')
        except TypeError as problem:
            assert 'pickle' in str(problem), problem
        assert others()


@long
@leaves_nothing
def test_calls_that_print():
    """Millions of bytes, on both streams, by Python, by descriptors and by programs: all of it comes, and no result is lost."""
    result = python('''
import os, subprocess, sys, hdss
LINE = 'x' * 99
def print_many(i):
    for _ in range(20000):
        print(LINE)
        if _ % 10 == 0:
            print(LINE, file=sys.stderr)
    return i
def write(i):
    os.write(1, b'descriptor %d\\n' % i)
    subprocess.run(['echo', f'program {i}'], check=True)
    return i
with hdss.Executor(workers=2) as executor:
    assert list(executor.map(print_many, range(2))) == [0, 1]
    assert list(executor.map(write, range(5))) == list(range(5))
    sys.stdout.write('mine\\n')  # print() writes a line and its end by themselves
with hdss.Executor(workers=1, prints=False) as executor:
    assert executor.submit(print_many, 1).result() == 1
''')
    lines = result.out.splitlines()
    assert result.status == 0 and lines.count('x' * 99) == 40000 and 'mine' in lines, (result.status, len(lines), result.err[-3:])
    assert result.raw_err.splitlines().count('x' * 99) == 4000, len(result.raw_err)
    for i in range(5):
        assert lines.count(f'descriptor {i}') == lines.count(f'program {i}') == 1, lines[-20:]


@long
@leaves_nothing
def test_calls_that_fork():
    def fork_and_wait():
        pid = os.fork()
        if pid == 0:
            os._exit(5)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def both_return(i):
        """Where the child is not ended in time it comes back from the call, too."""
        os.fork()
        return i

    def child_raises():
        if os.fork() == 0:
            raise SystemExit(1)
        return 'parent'

    def pool():
        with multiprocessing.get_context('fork').Pool(2) as made:
            return made.map(abs, [-1, -2])
    with hdss.Executor(workers=2) as executor:
        assert executor.submit(fork_and_wait).result(TIMEOUT_S) == 5
        assert list(executor.map(both_return, range(20), chunksize=1)) == list(range(20))
        assert [executor.submit(child_raises).result(TIMEOUT_S) for _ in range(5)] == ['parent'] * 5
        assert executor.submit(pool).result(TIMEOUT_S) == [1, 2]
        assert executor.submit(subprocess.check_output, ['echo', 'said'], text=True).result(TIMEOUT_S) == 'said\n'
        assert executor.submit(input).exception(TIMEOUT_S).__class__ is EOFError


@long
@leaves_nothing
def test_calls_with_threads():
    def sums(n):
        found = []
        threads = [threading.Thread(target=lambda i=i: found.append(sum(range(i)))) for i in range(n)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return sorted(found)

    def left_behind():
        threading.Thread(target=time.sleep, args=[FOR_EVER_S], daemon=True).start()
        return threading.active_count()

    def product(n):
        import numpy
        matrix = numpy.full((n, n), 2.0)
        return float((matrix @ matrix)[0, 0]), os.environ['OMP_NUM_THREADS']
    with hdss.Executor(workers=2) as executor:
        assert executor.submit(sums, 20).result(TIMEOUT_S) == [i * (i - 1) // 2 for i in range(20)]
        assert executor.submit(left_behind).result(TIMEOUT_S) >= 2
        if not HAS_NUMPY:
            return 'all but numpy'
        assert executor.submit(product, 300).result(TIMEOUT_S) == (1200.0, os.environ.get('OMP_NUM_THREADS', '1'))
    with hdss.Executor(workers=2, environment={**os.environ, 'OMP_NUM_THREADS': '3'}) as executor:
        assert list(executor.map(product, [400] * 6)) == [(1600.0, '3')] * 6
    return None


@long
@leaves_nothing
def test_large_arguments_and_results():
    block = os.urandom(30 << 20)
    with hdss.Executor(workers=2) as executor:
        assert executor.submit(lambda data: data[::-1], block).result(TIMEOUT_S) == block[::-1]
        assert [len(one) for one in executor.map(bytes, [1 << 20] * 30)] == [1 << 20] * 30


# --- the client ---

@long
@leaves_nothing
def test_a_client_that_forks():
    with hdss.Executor(workers=2) as executor:
        assert executor.submit(square, 2).result() == 4
        waits = executor.submit(time.sleep, 0.5)
        pid = os.fork()
        if pid == 0:
            try:
                executor.submit(square, 1)
            except RuntimeError:
                executor.shutdown()
                with hdss.Executor(workers=1) as own:
                    found = own.submit(square, 4).result()
                os._exit(found)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 16
        waits.result(TIMEOUT_S)
        assert list(executor.map(square, range(10))) == [i * i for i in range(10)]


@leaves_nothing
def test_a_client_that_forks_at_once():
    """While a thread reads what the set says as it starts."""
    with hdss.Executor(workers=1) as executor:
        wait_until(lambda: executor.set._ready.locked(), 'the start of the set')
        pid = os.fork()
        if pid == 0:
            executor = None  # as where the name is used again
            os._exit(7)
        ended = []
        wait_until(lambda: ended.append(os.waitpid(pid, os.WNOHANG)) or ended[-1][0] == pid, 'the end of the child')
        assert os.waitstatus_to_exitcode(ended[-1][1]) == 7
        assert executor.submit(square, 4).result(TIMEOUT_S) == 16


@leaves_nothing
def test_many_threads():
    with hdss.Executor(workers=2) as executor:
        def user(number):
            one = executor.submit(square, number).result(TIMEOUT_S)
            return one == number * number and list(executor.map(square, range(number, number + 100))) == [i * i for i in range(number, number + 100)]
        with concurrent.futures.ThreadPoolExecutor(8) as threads:
            assert all(threads.map(user, range(24)))


INTERRUPTED = f'''
import sys, time, hdss
with hdss.Executor(workers=2) as executor:
    futures = [executor.submit(time.sleep, {FOR_EVER_S}) for _ in range(5)]
    print('up', executor.submit, flush=True) if executor.workers == 2 else None
    {{wait}}
'''


@leaves_nothing
def test_an_interrupted_program():
    for wait in ('futures[0].result()', 'list(executor.map(time.sleep, [100000] * 4))', 'pass'):
        process = start(program(INTERRUPTED.format(wait=wait)))
        assert process.stdout.readline().startswith('up'), process.stderr.read()
        wait_until(lambda: is_waiting(process.pid), 'a program that waits')
        process.send_signal(signal.SIGINT)
        result = finish(process)  # which takes less time than a call
        assert result.status in (-signal.SIGINT, 1) and 'KeyboardInterrupt' in result.raw_err, (wait, result)


def is_waiting(pid):
    """True where the first thread of the process sleeps."""
    return state_of(pid) == 'S'


class Terminal:
    """An interactive Python on a terminal."""

    def __init__(self):
        self.pid, self._leader = pty.fork()
        if self.pid == 0:
            os.execve(sys.executable, [sys.executable, '-i', '-q', '-c', 'import hdss, time'], {**environment(), 'TERM': 'dumb'})
        self._text = ''

    def expect(self, pattern):
        """Waits for the pattern, and forgets what stands before it."""
        end = time.monotonic() + TIMEOUT_S
        while True:
            found = re.search(pattern, self._text)
            if found:
                self._text = self._text[found.end():]
                return found
            assert time.monotonic() < end and select.select([self._leader], [], [], TIMEOUT_S)[0], f'no {pattern!r} in {self._text!r}'
            self._text += os.read(self._leader, 4096).decode('utf-8', 'replace')

    def type(self, text):
        os.write(self._leader, text.encode())

    def run(self, line):
        """Types a line when it is asked for."""
        self.expect('>>> ')
        self.type(line + '\n')

    def end(self):
        self.run('exit()')
        try:
            self.expect('what nobody says')
        except OSError:  # nobody has the terminal open any more
            pass
        os.close(self._leader)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


@long
@leaves_nothing
def test_an_interrupted_prompt():
    """Ctrl-C ends what is waited for; the executor can be used after it."""
    terminal = Terminal()
    try:
        terminal.run('executor = hdss.Executor(workers=2)')
        terminal.run('executor.submit(pow, 2, 3).result()')
        terminal.expect(r'\n8\r')
        terminal.run('long = executor.submit(time.sleep, 3); print("wai" + "ts"); executor.submit(time.sleep, 3).result()')
        terminal.expect('waits')
        terminal.type('\x03')
        terminal.expect('KeyboardInterrupt')
        terminal.run('long.result(), executor.submit(pow, 3, 3).result()')
        terminal.expect(r'\(None, 27\)')
        assert terminal.end() == 0
    except BaseException:
        kill_tree(terminal.pid)
        raise


@long
@leaves_nothing
def test_python_m():
    """Functions of the main module, of one of its package, and of a module beside it."""
    os.makedirs('package')
    program('', 'package/__init__.py')
    program('def cube(i):\n    return i ** 3\n', 'package/cubes.py')
    program('def half(i):\n    return i / 2\n', 'beside.py')
    program('''
import hdss, beside
from . import cubes
def twice(i):
    return 2 * i
if __name__ == '__main__':
    with hdss.Executor(workers=2) as executor:
        print(*(list(executor.map(f, range(4))) for f in (twice, cubes.cube, beside.half)))
''', 'package/__main__.py')
    result = finish(start('-m', 'package'))
    assert result.status == 0 and result.out == '[0, 2, 4, 6] [0, 1, 8, 27] [0.0, 0.5, 1.0, 1.5]\n', result
    result = finish(start('-c', 'import hdss; print(hdss.Executor(workers=1).submit(lambda: 7).result())'))
    assert result.status == 0 and result.out == '7\n', result


KILLED = f'''
import os, time, hdss
executor = hdss.Executor(workers=2)
calls = [executor.submit(time.sleep, {FOR_EVER_S}) for _ in range(5)]
while not calls[0].running():
    time.sleep(0.01)
print('runs', flush=True)
time.sleep({FOR_EVER_S})
'''


@leaves_nothing
def test_a_client_that_is_killed():
    """Its set ends. Its folders are those of nobody, and the next program removes them."""
    process = start(program(KILLED))
    assert process.stdout.readline() == 'runs\n', process.stderr.read()
    state = state_folder()
    assert folders() and os.path.isdir(state)
    process.kill()
    finish(process)
    wait_until(lambda: not processes(), 'the end of the set')
    before = folders()
    with hdss.Executor(workers=1) as executor:
        assert executor.submit(square, 5).result() == 25
        assert not set(before) & set(folders()) and not os.path.exists(state), 'folders of the one that was killed are left'


def state_folder():
    """That of the set of this test."""
    for pid in processes():
        with open(f'/proc/{pid}/cmdline', encoding='utf-8') as file:
            words = file.read().split('\0')
        if '--state' in words and '--until-eof' in words:
            return os.path.dirname(words[words.index('--state') + 1])
    raise AssertionError('there is no set')


@leaves_nothing
def test_a_set_that_is_killed():
    executor = hdss.Executor(workers=2)
    calls = [executor.submit(time.sleep, FOR_EVER_S) for _ in range(50)]
    assert executor.workers == 2
    wait_until(calls[0].running, 'a call')
    for pid in processes():
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    for call in calls:
        raised_by(call, hdss.SetLost)
    try:
        executor.submit(square, 1)
        raise AssertionError('a set that is gone takes calls')
    except hdss.SetLost as error:
        assert isinstance(error, concurrent.futures.BrokenExecutor)
    executor.shutdown()


@long
@leaves_nothing
def test_many_executors():
    for number in range(20):
        with hdss.Executor(workers=1) as executor:
            assert executor.submit(square, number).result() == number ** 2
    several = [hdss.Executor(workers=2) for _ in range(4)]
    futures = [executor.submit(square, i) for i in range(10) for executor in several]
    assert [future.result(TIMEOUT_S) for future in futures] == [i * i for i in range(10) for _ in several]
    for executor in several:
        executor.shutdown()


@long
@leaves_nothing
def test_forgotten_executors():
    """What was submitted is done, as with those of the standard library; then the set ends with the process."""
    result = python('''
import hdss
def say(i):
    print('said', i)
executor = hdss.Executor(workers=2)
for i in range(5):
    executor.submit(say, i)
hdss.Executor(workers=1)
print('end', flush=True)
''')
    assert result.status == 0 and sorted(result.out.splitlines()) == ['end', *(f'said {i}' for i in range(5))], result
    executor = hdss.Executor(workers=1)
    future = executor.submit(square, 3)
    del executor
    assert future.result(TIMEOUT_S) == 9
    result = python('import hdss, itertools\nexecutor = hdss.Executor(workers=1)\nresults = executor.map(abs, itertools.count())\n'
                    'print(next(results), next(results))\n')
    assert result.status == 0 and result.out == '0 1\n', result


# --- an executor ---

def refused(kind, text, call, *arguments, **keywords):
    try:
        call(*arguments, **keywords)
    except kind as error:
        assert text in str(error), error
    else:
        raise AssertionError(f'not refused: {text}')


@leaves_nothing
def test_after_the_end():
    executor = hdss.Executor(workers=1)
    with executor:
        assert executor.submit(square, 2).result() == 4
    refused(RuntimeError, 'cannot schedule new futures after shutdown', executor.submit, square, 1)
    refused(RuntimeError, 'cannot schedule new futures after shutdown', executor.map, square, [1])
    executor.shutdown()
    executor.shutdown(wait=False, cancel_futures=True)
    executor = hdss.Executor(workers=1)
    futures = [executor.submit(time.sleep, 0.01) for _ in range(10)]
    executor.shutdown(wait=False)
    assert [future.result(TIMEOUT_S) for future in futures] == [None] * 10
    executor.shutdown()


@leaves_nothing
def test_the_threads_of_an_executor_end():
    """However late one is, none is left behind shutdown(). A callback, which one of them runs, does not wait for them."""
    def watch_late(*arguments):
        watch(*arguments)
        time.sleep(0.3)

    def end(executor):
        future = executor.submit(time.sleep, 0.1)
        future.add_done_callback(lambda _: (executor.shutdown(), called.append(future)))
        executor.shutdown()
        assert called.pop() is future and {thread.name for thread in threading.enumerate()} & {'hdss', 'hdss watch'} == set()

    watch, called = hdss._engine._watch, []
    with mock.patch.object(hdss._engine, '_watch', watch_late):
        end(hdss.Executor(workers=1))
        with hdss.Set(workers=1) as kept:
            end(hdss.Executor(set=kept))


@leaves_nothing
def test_kept_errors_keep_no_engine():
    executor = hdss.Executor(workers=1)
    future, engine_of = executor.submit(raise_it, ValueError, 'kept'), weakref.ref(executor._engine)
    error = raised_by(future, ValueError)
    results = executor.map(raise_it, [KeyError])
    try:
        next(results)
    except KeyError as raised:
        of_map = raised
    executor.shutdown()
    del executor, results
    assert engine_of() is None and future.exception() is error and of_map is not None


def without_thread(name):
    """No thread of that name can be started."""
    def begin(thread):
        if thread.name == name:
            raise RuntimeError("can't start new thread")
        start(thread)

    start = threading.Thread.start
    return mock.patch.object(threading.Thread, 'start', begin)


@leaves_nothing
def test_what_cannot_begin():
    """Nothing is left of an executor that cannot be made, and one that ends as it begins fails its calls."""
    with without_thread('hdss'):
        refused(RuntimeError, "can't start new thread", hdss.Executor, workers=1)
    refused(TypeError, 'pickle', hdss.Executor, workers=1, initializer=square, initargs=(threading.Lock(),))
    assert not folders() and not processes()
    full = mock.patch.object(hdss._spool.UnitWriter, 'add', side_effect=OSError(errno.ENOSPC, 'No space left on device'))
    for what, said in ((without_thread('hdss watch'), "can't start new thread"), (full, 'No space left on device')):
        with what:
            executor = hdss.Executor(workers=1)
            lost = raised_by(executor.submit(square, 1), hdss.SetLost)
        assert said in str(lost), lost
        executor.shutdown()
        assert not folders() and not processes()


@leaves_nothing
def test_wrong_callbacks():
    """One that raises what ends a program, or shuts the executor down as an item is pickled, ends nothing but itself."""
    with hdss.Executor(workers=1) as executor:
        future = executor.submit(time.sleep, 0.1)
        future.add_done_callback(lambda _: sys.exit('a callback'))
        assert executor.submit(square, 2).result(TIMEOUT_S) == 4

    class Shuts:
        def __reduce__(self):
            executor.shutdown(wait=False, cancel_futures=True)
            return int, ('5',)

    executor = hdss.Executor(workers=1)
    results = executor.map(square, [Shuts(), 1, 2], timeout=TIMEOUT_S)
    assert next(results) == 25
    refused(concurrent.futures.CancelledError, '', next, results)
    executor.shutdown()


@leaves_nothing
def test_output_that_nobody_takes():
    with hdss.Executor(workers=1) as executor:
        assert executor.submit(square, 2).result() == 4
        with mock.patch.object(sys, 'stdout', open(os.devnull, 'w', encoding='ascii')):
            sys.stdout.close()
            assert executor.submit(print, 'a word').result(TIMEOUT_S) is None
        assert executor.submit(square, 3).result(TIMEOUT_S) == 9


@leaves_nothing
def test_wrong_use():
    refused(ValueError, 'max_workers must be greater than 0', hdss.Executor, 0)
    refused(TypeError, 'accepted: one of them', hdss.Executor, 1, workers=2)
    refused(TypeError, 'initializer must be a callable', hdss.Executor, 1, initializer=3)
    refused(ValueError, 'timeout: 0; accepted: seconds above 0', hdss.Executor, 1, timeout=0)
    refused(ValueError, 'retries: -1; accepted: 0 or more', hdss.Executor, 1, retries=-1)
    refused(hdss.HdssError, "no set 'nobody' of yours", hdss.Executor, set='nobody')
    with hdss.Executor(workers=1) as executor:
        refused(ValueError, 'chunksize must be >= 1', executor.map, square, [1], chunksize=0)
        refused(ValueError, 'buffersize must be None or > 0', executor.map, square, [1], buffersize=0)
        refused(TypeError, 'not iterable', executor.map, square, 5)


@leaves_nothing
def test_cancelled_calls():
    with hdss.Executor(workers=1) as executor:
        futures = [executor.submit(time.sleep, 0.2) for _ in range(30)]
        wait_until(futures[0].running, 'a call')
        assert not futures[0].cancel() and futures[-1].cancel() and futures[-2].cancel()
        executor.shutdown(cancel_futures=True)
        assert all(future.done() for future in futures) and not futures[0].cancelled() and sum(future.cancelled() for future in futures) > 20
    executor = hdss.Executor(workers=1)
    futures = [executor.submit(time.sleep, FOR_EVER_S) for _ in range(5)]
    results = executor.map(time.sleep, [FOR_EVER_S] * 5)
    wait_until(futures[0].running, 'a call')
    executor.kill()
    for future in futures:
        raised_by(future, hdss.SetLost)
    refused(hdss.SetLost, 'ended', next, results)
    executor.shutdown()


@leaves_nothing
def test_initializers():
    def begin(value):
        import builtins
        builtins.begun = value

    def begun():
        import builtins
        return builtins.begun
    with hdss.Executor(workers=2, initializer=begin, initargs=(6,)) as executor:
        assert [executor.submit(begun).result() for _ in range(8)] == [6] * 8
    with hdss.Executor(workers=2, initializer=crash) as executor:
        raised_by(executor.submit(square, 1), (hdss.CallDied, hdss.SetLost))
    executor = hdss.Executor(workers=2, initializer=raise_it, initargs=(ValueError, 'no beginning'))
    with executor:
        assert 'no beginning' in str(raised_by(executor.submit(square, 1), concurrent.futures.BrokenExecutor))
        refused(hdss.SetLost, 'no beginning', executor.submit, square, 1)


@leaves_nothing
def test_files_of_maps():
    """Of a function only as long as a map needs it."""
    with hdss.Executor(workers=2) as executor:
        for _ in range(3):
            assert list(executor.map(square, range(5))) == [0, 1, 4, 9, 16]
        functions = os.path.join(executor._engine.folder, 'function-*')
        wait_until(lambda: not glob.glob(functions), 'the end of files of functions')


@leaves_nothing
def test_maps():
    with hdss.Executor(workers=2) as executor:
        for size in (1, 3, 100, None):
            assert list(executor.map(pow, range(30), itertools.repeat(2), chunksize=size)) == [i * i for i in range(30)]
            assert list(executor.starmap(pow, [(i, 3) for i in range(30)], chunksize=size)) == [i ** 3 for i in range(30)]
            assert sorted(executor.imap_unordered(square, iter(range(30)), chunksize=size)) == [i * i for i in range(30)]
        assert list(executor.map(square, [])) == list(executor.map(square, iter([]))) == list(executor.imap_unordered(square, [])) == []
        assert list(executor.starmap(square, [])) == []
        assert list(executor.map(square, [5])) == [25]
        results = executor.map(lambda i: 1 // (i - 2), range(5))
        assert [next(results), next(results)] == [-1, -1]
        refused(ZeroDivisionError, '', next, results)
        refused(concurrent.futures.TimeoutError, '', list, executor.map(time.sleep, [0, 1], timeout=0.1))
        fast = executor.imap_unordered(lambda s: time.sleep(s) or s, [1.5, 0, 0, 0], chunksize=1)
        assert list(fast) == [0, 0, 0, 1.5]


@leaves_nothing
def test_maps_of_iterables_without_an_end():
    read = []

    def numbers():
        for i in itertools.count():
            read.append(i)
            yield i
    with hdss.Executor(workers=2) as executor:
        results = executor.map(square, numbers(), buffersize=10)
        assert len(read) <= 10, len(read)
        assert list(itertools.islice(results, 100)) == [i * i for i in range(100)] and len(read) <= 111, len(read)
        results.close()
        for i, result in enumerate(executor.map(square, itertools.count())):
            assert result == i * i
            if i == 30000:
                break
        unread = executor.map(square, itertools.count())
        begun = executor.map(square, itertools.count(), buffersize=5)
        assert next(begun) == 0
    refused(RuntimeError, 'cannot schedule new futures after shutdown', list, begun)
    del unread
    results = hdss.Executor(workers=2).map(square, iter(range(40000)))
    assert list(results) == [i * i for i in range(40000)]  # nobody but the results has the executor


@leaves_nothing
def test_futures_of_the_standard_library():
    with hdss.Executor(workers=2) as executor:
        futures = {executor.submit(square, i): i for i in range(20)}
        assert {futures[future]: future.result() for future in concurrent.futures.as_completed(futures)} == {i: i * i for i in range(20)}
        told = threading.Event()
        executor.submit(square, 1).add_done_callback(lambda future: told.set())
        assert told.wait(TIMEOUT_S)
        executor.submit(square, 1).add_done_callback(lambda future: 1 / 0)  # logged, and nothing else
        assert executor.submit(square, 4).result() == 16

        async def gather():
            loop = asyncio.get_running_loop()
            return await asyncio.gather(*(loop.run_in_executor(executor, square, i) for i in range(10)))
        assert asyncio.run(gather()) == [i * i for i in range(10)]


@long
@leaves_nothing
def test_more_workers_than_calls():
    with hdss.Executor(workers=8) as executor:
        assert executor.workers == 8
        assert executor.submit(square, 3).result() == 9 and list(executor.map(square, range(2))) == [0, 1]
    assert list(hdss.loop(square, 3, workers=8)) == [0, 1, 4]
    with hdss.Executor(workers=4):
        pass


@leaves_nothing
def test_a_set_that_is_up():
    """An executor takes it, and leaves it up; one with workers has its own all the same."""
    assert run([HDSS, 'up', '--workers', 2, '--name', 'mine']).status == 0
    try:
        with hdss.Executor() as executor, hdss.Executor(set='mine') as second, hdss.Executor(workers=1) as own:
            assert executor.workers == second.workers == 2 and own.workers == 1
            pids = [set(one.map(lambda i: os.getppid(), range(40), chunksize=1)) for one in (executor, second, own)]
            assert not pids[2] & (pids[0] | pids[1]), pids
            assert [row.split()[-1] for row in run([HDSS, 'jobs', '--set', 'mine']).out.splitlines() if 'hdss._worker' in row] is not None
        refused(ValueError, 'accepted: one of them', hdss.Executor, set='mine', workers=2)
        os.environ['HDSS_SET'] = 'mine'
        with hdss.Set(name='mine') as found, hdss.Executor(set=found) as executor:
            assert not found.is_own and list(executor.map(square, range(5))) == [0, 1, 4, 9, 16]
            interrupted = start(program(INTERRUPTED.format(wait='futures[0].result()').replace('workers=2', '')))
            assert interrupted.stdout.readline().startswith('up')
            interrupted.kill()
            finish(interrupted)
            assert list(executor.map(square, range(5))) == [0, 1, 4, 9, 16]  # the other program's calls have ended with it
        with hdss.Executor() as executor:  # clears away what that program has left
            assert list(executor.map(square, range(5))) == [0, 1, 4, 9, 16]
        assert not HAS_NUMPY or hdss.loop(square, 100).sum() == sum(i * i for i in range(100))
    finally:
        os.environ.pop('HDSS_SET', None)
        assert run([HDSS, 'down', '--set', 'mine']).status == 0


@leaves_nothing
def test_an_executor_in_a_call():
    def inner(n):
        with hdss.Executor(workers=1) as executor:
            return sum(executor.map(square, range(n)))
    with hdss.Executor(workers=2) as executor:
        assert list(executor.map(inner, [3, 4], chunksize=1)) == [5, 14]


# --- pools ---

@leaves_nothing
def test_a_pool():
    told, failed = [], []
    with hdss.Pool(2) as pool:
        assert pool.size == 2 and pool.is_master() and not pool.is_worker()
        assert pool.map(square, range(20)) == pool.map(square, iter(range(20)), 7) == list(pool.imap(square, range(20), 3)) == [i * i for i in range(20)]
        assert sorted(pool.imap_unordered(square, range(20), chunksize=4)) == [i * i for i in range(20)]
        assert pool.starmap(pow, [(2, 3), (3, 2)]) == pool.starmap_async(pow, [(2, 3), (3, 2)]).get(TIMEOUT_S) == [8, 9]
        assert pool.apply(pow, (2, 5)) == 32 and pool.apply(int, ['11'], {'base': 2}) == 3
        result = pool.apply_async(square, (7,), callback=told.append)
        assert result.get(TIMEOUT_S) == 49 and result.ready() and result.successful()
        bad = pool.apply_async(raise_it, (ValueError, 'bad'), error_callback=failed.append)
        bad.wait(TIMEOUT_S)
        assert not bad.successful()
        refused(ValueError, 'bad', bad.get, TIMEOUT_S)
        slow = pool.apply_async(time.sleep, (1,))
        refused(multiprocessing.TimeoutError, '', slow.get, 0.01)
        refused(ValueError, 'not ready', slow.successful)
        assert pool.map_async(square, range(5), callback=told.append).get(TIMEOUT_S) == [0, 1, 4, 9, 16]
        wait_until(lambda: len(told) == 2 and len(failed) == 1, 'callbacks')
        assert told == [49, [0, 1, 4, 9, 16]] and failed[0].args == ('bad',)
        seen = []
        assert pool.map(square, [1, 2, 3], callback=seen.append) == seen == [1, 4, 9]  # as schwimmbad has it
        assert next(iter(pool.imap(square, [3]))) == pool.imap(square, [3]).next() == 9
        pool.apply_async(time.sleep, (FOR_EVER_S,))
    refused(ValueError, 'Pool not running', pool.map, square, [1])
    pool = hdss.Pool(2)
    results = [pool.apply_async(square, (i,)) for i in range(5)]
    refused(ValueError, 'Pool is still running', pool.join)
    pool.close()
    pool.join()
    assert [result.get(TIMEOUT_S) for result in results] == [0, 1, 4, 9, 16]
    pool, slow = hdss.Pool(1), []
    pool.map_async(square, [3], callback=lambda found: (time.sleep(0.3), slow.append(found)))
    pool.close()
    pool.join()
    assert slow == [[9]]


def sampler(pool):
    """As emcee and others use a pool that they are given."""
    run_all = pool.map if pool is not None else map
    return list(run_all(square, range(4)))


@leaves_nothing
def test_a_pool_that_is_handed_on():
    with hdss.Pool(workers=2) as pool:
        assert sampler(pool) == [0, 1, 4, 9]


# --- loops, commands, jobs ---

@long
@leaves_nothing
def test_loops():
    if not HAS_NUMPY:
        return 'no numpy'
    import numpy
    assert list(hdss.loop(square, 10, workers=2)) == [i * i for i in range(10)]
    made = hdss.loop(lambda first, count: numpy.arange(first, first + count) * 3, 5000, dtype='int64', workers=2, technique='gss')
    assert made.dtype == numpy.int64 and (made == numpy.arange(5000) * 3).all()
    made[0] = 7  # it is the caller's
    for dtype in ('uint8', 'int16', 'float32', 'complex128', 'float16', 'int8'):
        made = hdss.loop(lambda i: i % 2, 100, dtype=dtype, workers=1)
        assert made.dtype == numpy.dtype(dtype) and made.shape == (100,) and (made == numpy.arange(100) % 2).all(), dtype
    made = hdss.loop(lambda i: i % 2 == 0, 100, dtype=bool, workers=1)
    assert made.dtype == bool and made.sum() == 50
    made = hdss.loop(lambda i: numpy.full((2, 3), i), 50, shape=(2, 3), output='kept.npy', workers=2)
    assert made.shape == (50, 2, 3) and (made[:, 1, 2] == numpy.arange(50)).all() and (numpy.load('kept.npy') == made).all()
    made = hdss.loop(lambda i: [i, -i], 9, shape=2, dtype='complex64', workers=1)
    assert made.shape == (9, 2) and made[8, 1] == -8
    assert hdss.loop(square, 0, workers=1).shape == (0,) and hdss.loop(square, 0, shape=(4,), dtype='int32', workers=1).shape == (0, 4)
    with hdss.Set(workers=2) as own:
        assert [hdss.loop(square, n, set=own).sum() for n in (1, 2, 3)] == [0, 1, 5]


@long
@leaves_nothing
def test_loops_that_fail():
    refused(ValueError, 'n: -1; accepted: 0 or more', hdss.loop, square, -1)
    refused(ValueError, "accepted: a name that ends in .npy", hdss.loop, square, 1, output='made.txt')
    refused(ValueError, 'dtype: object', hdss.loop, square, 1, dtype=object, workers=1)
    refused(ValueError, 'at most 3 dimensions', hdss.loop, square, 1, shape=(1, 2, 3, 4), workers=1)
    refused(TypeError, 'needs 3 arguments', hdss.loop, lambda a, b, c: 0, 1, workers=1)
    refused(hdss.JobFailed, 'the function returns 256; accepted by uint8: 0 to 255', hdss.loop, lambda i: 253 + i, 4, dtype='uint8', workers=1, retries=0)
    refused(hdss.JobFailed, 'int32', hdss.loop, lambda i: 1.5, 4, dtype='int32', workers=1, retries=0)
    refused(hdss.JobFailed, 'shape', hdss.loop, lambda i: [i, i], 4, workers=1, retries=0)
    refused(hdss.JobFailed, 'not this one', hdss.loop, lambda i: raise_it(ValueError, 'not this one'), 4, workers=1, retries=0)
    refused(hdss.JobFailed, '', hdss.loop, lambda i: crash() if i == 3 else i, 10, workers=2, retries=0)
    refused(hdss.JobFailed, '', hdss.loop, lambda i: time.sleep(FOR_EVER_S * (i == 3)), 10, workers=2, timeout=0.5, retries=0)


@leaves_nothing
def test_commands():
    with hdss.exec([f'echo {i}' for i in range(10)], workers=2) as made:
        made.wait(TIMEOUT_S)
        assert made.state == 'done' and made.progress == 1.0
        with open(made.output, encoding='ascii') as file:
            assert file.read() == ''.join(f'{i}\n' for i in range(10))
    with hdss.exec([['printf', '%s|', 'two words', "quote'd"], ['sh', '-c', 'echo $((1 + 1))']], workers=1, output='words.out') as made:
        made.wait()
    with open('words.out', encoding='ascii') as file:
        assert file.read() == "two words|quote'd|2\n"
    with hdss.exec(['echo a | tr a b'], workers=1, shell=True, output='shell.out') as made:
        made.wait()
    with open('shell.out', encoding='ascii') as file:
        assert file.read() == 'b\n'
    with hdss.exec(['true', 'exit 3', 'true'], workers=1, shell=True, retries=0) as made:
        refused(hdss.JobFailed, '', made.wait)
        assert made.state == 'failed'
    refused(ValueError, 'has a line end', hdss.exec, ['a\nb'], workers=1)


@leaves_nothing
def test_jobs():
    with hdss.Set(workers=2) as own:
        made = hdss.job('synthetic', set=own, iterations=200, mean=100, technique='fac2')
        assert made.wait(TIMEOUT_S) is made and made.is_over() and made.info()['done'] == 200
        assert '200 iterations' in made.report(), made.report()
        slow = hdss.job('synthetic', set=own, iterations=100000, mean=100000, name='slow')
        assert slow.info()['name'] == 'slow' and slow.progress < 1 and not slow.is_over()
        refused(TimeoutError, 'is not over', slow.wait, 0.2)
        behind = hdss.job('synthetic', set=own, iterations=10, after=[slow.id])
        assert behind.state == 'waiting'
        slow.cancel()
        refused(hdss.JobFailed, 'cancelled', slow.wait)
        assert slow.state == 'cancelled'
        gentle = hdss.job('synthetic', set=own, iterations=100000, mean=20000)
        wait_until(lambda: gentle.info()['done'], 'iterations')
        gentle.cancel(finish=True)
        wait_until(gentle.is_over, 'the end of what runs')

        async def both():
            return await asyncio.gather(*(awaited(hdss.job('synthetic', set=own, iterations=i, mean=10)) for i in (20, 30)))
        assert asyncio.run(both()) == [20, 30]
        refused(hdss.HdssError, 'nothing', hdss.job, 'nothing', set=own)
        refused(hdss.HdssError, 'iterations', hdss.job, 'synthetic', set=own, iterations='many')


async def awaited(job):
    return (await job).info()['done']


@leaves_nothing
def test_progress():
    """On a pipe nothing is drawn that a terminal would overwrite."""
    result = python('''
import hdss, sys
with hdss.Executor(workers=2, progress=True) as executor:
    assert list(executor.map(abs, range(50))) == list(range(50))
hdss.job('synthetic', workers=1, iterations=20, mean=10).wait(progress=True).close()
if sys.argv[1:] != ['without-numpy']:
    hdss.loop(abs, 20, workers=1, progress=True)
''', *([] if HAS_NUMPY else ['without-numpy']))
    assert result.status == 0 and result.out == '' and 'Traceback' not in result.raw_err, result


# --- in the right Python ---

def run_again(program_of_python):
    """As this program in that Python. The workers' Python looks for its library by the PATH."""
    path = os.pathsep.join([os.path.dirname(program_of_python), os.environ['PATH']])
    env = {name: value for name, value in os.environ.items() if name not in OF_SETS}
    os.execve(program_of_python, [program_of_python, PROGRAM[-1], os.path.abspath(__file__)],
              {**env, 'PATH': path, 'PYTHONPATH': PACKAGE, 'PYTHONDONTWRITEBYTECODE': '1', 'HDSS_TEST_PYTHON': program_of_python})


def all_tests():
    return [value for name, value in list(globals().items()) if name.startswith('test_')]


if __name__ == '__main__':
    if 'HDSS_TEST_PYTHON' not in os.environ:
        found = python_with('cloudpickle', 'numpy')[0]
        found, why = (found, None) if found else python_with('cloudpickle')
        why = why or obstacle()
        if why is not None:
            main([lambda: why])
        run_again(found)
    import hdss
    let_user_code_crash()
    main(all_tests())
