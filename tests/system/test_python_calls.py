# SPDX-License-Identifier: MIT
"""Calls by hdss.Executor that crash, hang, print, fork and cannot be pickled: none is lost by what another one does.

Calls run in the Python of the workers' version, as which this program runs itself again."""
import functools
import itertools
import multiprocessing
import os
import signal
import subprocess
import threading
import time
import traceback

from calls import FOR_EVER_S, HAS_NUMPY, crash, leaves_nothing, python, raise_it, raised_by, run_in_the_workers_python, square
from launch import TIMEOUT_S, let_user_code_crash, main, wait_until


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


def others_are_there(executor, count=20):
    """Calls that have been submitted beside what is bad: asserts that none is lost."""
    futures = [executor.submit(square, i) for i in range(count)]
    return lambda: [future.result(TIMEOUT_S) for future in futures] == [i * i for i in range(count)]


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
def test_quick_calls_are_sent_together():
    def quick(i):
        if i == 700:
            crash()
        if i % 100 == 3:
            raise KeyError(i)
        if i % 500 == 9:
            time.sleep(0.05)  # the calls that wait behind it go elsewhere
        return i

    with hdss.Executor(workers=2) as executor:
        assert [executor.submit(square, i).result() for i in range(9)] == [i * i for i in range(9)]
        futures = [executor.submit(quick, i) for i in range(1500)]
        raised_by(futures[700], hdss.CallDied)
        for i, future in enumerate(futures):
            assert (raised_by(future, KeyError).args == (i,) if i % 100 == 3 else i == 700 or future.result(TIMEOUT_S) == i), i
        assert executor._engine._writer.count < 1000, executor._engine._writer.count
    with hdss.Executor(workers=2, retries=0) as executor:  # none is run again with another one that dies
        futures = [executor.submit(square, i) for i in range(500)]
        assert [future.result(TIMEOUT_S) for future in futures] == [i * i for i in range(500)]
        assert executor._engine._writer.count == 500


@leaves_nothing
def test_calls_that_were_handed_back_are_not_cancelled():
    with hdss.Executor(workers=1) as executor:
        for i in range(20):
            executor.submit(square, i).result()
        futures = [executor.submit(time.sleep, 0.05 * (i % 5 == 0)) for i in range(400)]
        wait_until(lambda: sum(future.done() for future in futures) > 5, 'some calls are over')
        begun = [future for future in futures if future.running()]
        executor.shutdown(cancel_futures=True)
        assert begun and not any(future.cancelled() for future in begun)
        assert all(future.cancelled() or future.result(0) is None for future in futures)


@leaves_nothing
def test_interrupts_as_calls_are_submitted():
    """Ctrl-C at any line of submit() leaves an executor that goes on."""
    class Interrupt(BaseException):
        pass

    def interrupt(*_):
        raise Interrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with hdss.Executor(workers=2) as executor:
            executor.submit(square, 0).result()
            for i in range(300):
                futures = []
                try:
                    signal.setitimer(signal.ITIMER_REAL, 2e-5 * (1 + i % 25))
                    try:
                        futures.append(executor.submit(square, i))
                        futures.append(executor.submit(square, i))
                    finally:
                        signal.setitimer(signal.ITIMER_REAL, 0)
                except Interrupt:
                    pass
                assert all(future.result(TIMEOUT_S) == i * i for future in futures), i
    finally:
        signal.signal(signal.SIGALRM, before)


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
        assert "KeyError: 'inside'" in text and 'in inner' in text and 'in outer' in text and os.path.basename(__file__) in text, text
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
        assert executor.submit(product, 300).result(TIMEOUT_S) == (1200.0, os.environ.get('OMP_NUM_THREADS', str(max(1, len(os.sched_getaffinity(0)) // 2))))
    with hdss.Executor(workers=2, environment={**os.environ, 'OMP_NUM_THREADS': '3'}) as executor:
        assert list(executor.map(product, [400] * 6)) == [(1600.0, '3')] * 6
    return None


@leaves_nothing
def test_large_arguments_and_results():
    block = os.urandom(30 << 20)
    with hdss.Executor(workers=2) as executor:
        assert executor.submit(lambda data: data[::-1], block).result(TIMEOUT_S) == block[::-1]
        assert [len(one) for one in executor.map(bytes, [1 << 20] * 30)] == [1 << 20] * 30


if __name__ == '__main__':
    run_in_the_workers_python()
    import hdss
    let_user_code_crash()
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
