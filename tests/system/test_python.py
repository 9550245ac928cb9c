# SPDX-License-Identifier: MIT
"""The Python package: everything that an executor, a pool, a loop, commands and jobs promise. No process and no folder is left.

Calls run in the Python of the workers' version, as which this program runs itself again."""
import asyncio
import concurrent.futures
import errno
import glob
import importlib
import itertools
import multiprocessing
import os
import pathlib
import re
import sys
import threading
import time
import weakref
from unittest import mock

from calls import (FOR_EVER_S, HAS_NUMPY, INTERRUPTED, crash, folders, leaves_nothing, processes, program, python, raise_it, raised_by,
                   run_in_the_workers_python, square, start)
from launch import HDSS, TIMEOUT_S, finish, let_user_code_crash, main, run, wait_until


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

    engine = importlib.import_module('hdss._engine')  # which the package loads when it is needed
    watch, called = engine._watch, []
    with mock.patch.object(engine, '_watch', watch_late):
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
    writer = importlib.import_module('hdss._spool').UnitWriter
    full = mock.patch.object(writer, 'add', side_effect=OSError(errno.ENOSPC, 'No space left on device'))
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
        refused(TypeError, 'fn: 5; accepted: a function', executor.map, 5, [1])
        refused(TypeError, "timeout: 'soon'; accepted: seconds", executor.map, square, [1], timeout='soon')

        def uses_it():
            return executor.submit(square, 1)
        refused(TypeError, 'a call cannot use the executor that runs it', executor.submit(uses_it).result)
        refused(TypeError, 'a hdss.Set cannot be sent', executor.submit(square, executor.set).result)


@leaves_nothing
def test_wrong_arguments_are_named():
    """Before anything is started."""
    for wrong in (1.5, 'two', [2], float('nan')):
        refused(TypeError, f'workers: {wrong!r}; accepted: a whole number of at least 1', hdss.Executor, wrong)
        refused(TypeError, f'retries: {wrong!r}; accepted: a whole number', hdss.Executor, 1, retries=wrong)
        refused(TypeError, f'max_tasks_per_child: {wrong!r}; accepted: a whole number', hdss.Executor, 1, max_tasks_per_child=wrong)
    for wrong in ('soon', [1], True):
        refused(TypeError, f'timeout: {wrong!r}; accepted: seconds above 0', hdss.Executor, 1, timeout=wrong)
    for wrong in (float('nan'), float('inf'), -1):
        refused(ValueError, f'timeout: {wrong!r}; accepted: seconds above 0', hdss.Executor, 1, timeout=wrong)
    refused(ValueError, 'max_tasks_per_child: 0; accepted: 1 or more', hdss.Executor, 1, max_tasks_per_child=0)
    refused(ValueError, 'maxtasksperchild: 0; accepted: 1 or more', hdss.Pool, 1, maxtasksperchild=0)
    refused(TypeError, "initargs: 'abc'; accepted: a tuple", hdss.Pool, 1, initializer=print, initargs='abc')
    refused(TypeError, 'initargs: 5; accepted: a tuple', hdss.Executor, 1, initializer=print, initargs=5)
    refused(TypeError, 'name: 5; accepted: a text', hdss.Executor, 1, name=5)
    refused(TypeError, "priority: 'high'; accepted", hdss.Executor, 1, priority='high')
    refused(TypeError, "environment: 'A=1'; accepted: a dictionary", hdss.Executor, 1, environment='A=1')
    refused(TypeError, "environment['A']: None; accepted", hdss.Executor, 1, environment={'A': None})
    refused(TypeError, "mp_context: 'fork'; accepted: a context of multiprocessing", hdss.Executor, 1, mp_context='fork')
    refused(TypeError, 'set: 5; accepted: a hdss.Set, or the name', hdss.Executor, set=5)
    for wrong in ('echo one', b'echo one', {'echo': 'one'}, 5):
        refused(TypeError, f'commands: {wrong!r}; accepted: a list of commands', hdss.exec, wrong, workers=1)
    refused(ValueError, 'commands: []; accepted: lines, or lists of words', hdss.exec, [[]], workers=1)
    refused(TypeError, 'commands: None; accepted: lines, or lists of words', hdss.exec, [None], workers=1)
    refused(TypeError, 'a word of commands: None; accepted: a text, bytes, a path, or a number', hdss.exec, [['echo', None]], workers=1)
    refused(ValueError, 'a null character', hdss.exec, ['a\0b'], workers=1)
    refused(TypeError, "options['topology']: []; accepted", hdss.exec, ['true'], workers=1, options={'topology': []})
    refused(TypeError, 'kernel: 5; accepted: the name of a kernel', hdss.job, 5, workers=1)
    refused(TypeError, 'after: 5; accepted: a list of numbers', hdss.job, 'synthetic', workers=1, after=5)
    if not HAS_NUMPY:
        return 'no numpy: all but loops'
    for wrong in (1.5, 'x', None):
        refused(TypeError, f'n: {wrong!r}; accepted: a whole number, 0 or more', hdss.loop, square, wrong, workers=1)
    refused(ValueError, 'n: 9223372036854775808; accepted', hdss.loop, square, 2**63, workers=1)
    refused(TypeError, 'function: 5; accepted: f(i), or f(first, count)', hdss.loop, 5, 3, workers=1)
    refused(TypeError, 'shape: 1.5; accepted: a whole number', hdss.loop, square, 3, shape=(1.5,), workers=1)
    return None


@leaves_nothing
def test_numbers_of_numpy_paths_and_bytes():
    words = [b'printf', '%s|', b'\xff', pathlib.Path('a b'), 7, 0.5]
    with hdss.exec([words, pathlib.Path('/bin/true')], workers=1, output=pathlib.Path('words.out')) as made:
        made.wait(TIMEOUT_S)
    with open('words.out', 'rb') as file:
        assert file.read() == b'\xff|a b|7|0.5|'
    with hdss.exec((['echo', str(i)] for i in range(2)), workers=1, timeout=9.5, output='generated.out') as made:
        made.wait(TIMEOUT_S)
    with hdss.Executor(workers=1, environment={**os.environ, 'A_NUMBER': 4, 'A_PATH': pathlib.Path('/tmp')},
                       mp_context=multiprocessing.get_context('spawn')) as executor:
        assert executor.submit(os.getenv, 'A_NUMBER').result(TIMEOUT_S) == '4'
        assert executor.submit(os.getenv, 'A_PATH').result(TIMEOUT_S) == '/tmp'
    if not HAS_NUMPY:
        return 'no numpy'
    import numpy
    assert list(hdss.loop(square, numpy.int64(3), shape=numpy.array([1], 'int8')[1:], workers=numpy.uint8(2))) == [0, 1, 4]
    with hdss.Executor(workers=numpy.int32(1), timeout=numpy.float64(90), retries=numpy.int8(1), priority=numpy.int64(2), weight=numpy.int16(1)) as executor:
        assert list(executor.map(square, numpy.arange(4), chunksize=numpy.int64(2), buffersize=numpy.int64(4))) == [0, 1, 4, 9]
    job = hdss.job('synthetic', workers=1, iterations=numpy.int64(20), mean=numpy.float64(10), options={'quiet': numpy.bool_(False)})
    assert job.wait(TIMEOUT_S).info()['done'] == 20
    job.close()
    return None


@leaves_nothing
def test_what_they_are():
    """Workers, state, and where the page is."""
    executor = hdss.Executor(workers=1)
    assert re.fullmatch(r'<hdss.Executor: starting>', repr(executor)), repr(executor)
    assert executor.workers == 1
    page = f'hdss page {executor.set.name}'
    assert repr(executor) == f'<hdss.Executor: 1 worker, up; {page}>' and repr(executor.set) == f'<hdss.Set: 1 worker, up; {page}>', repr(executor)
    job = hdss.job('synthetic', set=executor.set, iterations=5, mean=10)
    assert repr(job.wait()).startswith(f'<hdss.Job {job.id}: done, in <hdss.Set: 1 worker, up'), repr(job)
    executor.shutdown()
    assert repr(executor) == '<hdss.Executor: shut down>' and repr(executor.set) == '<hdss.Set: closed>'


limit, table = 1, {'rows': []}


def within(i):
    return i < limit, len(table['rows'])


def grow_table():
    table['rows'].append(None)
    return len(table['rows'])


def large():
    return len(LARGE_TEXT), limit


LARGE_TEXT = b'x' * (2 << 20)


@leaves_nothing
def test_globals_follow_the_program():
    """A worker keeps what its calls have done to a global, until the program changes it."""
    global limit
    with hdss.Executor(workers=1) as executor:
        assert executor.submit(within, 1).result() == (False, 0)
        assert [executor.submit(grow_table).result() for _ in range(3)] == [1, 2, 3]
        limit = 2
        assert executor.submit(within, 1).result() == (True, 3) and list(executor.map(within, [1, 2])) == [(True, 3), (False, 3)]
        first = [executor.submit(within, 2) for _ in range(50)]
        limit = 3
        second = [executor.submit(within, 2) for _ in range(50)]
        assert [future.result()[0] for future in first + second] == [False] * 50 + [True] * 50
        table['rows'] = [None] * 7
        assert executor.submit(within, 1).result() == (True, 7) and executor.submit(grow_table).result() == 8 and len(table['rows']) == 7
        local = [executor.submit(lambda i=i: (i, limit)).result() for i in range(3)]
        assert local == [(0, 3), (1, 3), (2, 3)]


@leaves_nothing
def test_a_large_function_is_sent_once():
    global limit
    with hdss.Executor(workers=2) as executor:
        limit = 1
        assert {executor.submit(large).result() for _ in range(20)} == {(2 << 20, 1)}
        assert list(executor.starmap(large, [()] * 3)) == [(2 << 20, 1)] * 3 and len(sent_by(executor)) == 1, sent_by(executor)
        limit = 2
        assert executor.submit(large).result() == (2 << 20, 2) and len(sent_by(executor)) == 2


def sent_by(executor):
    """The files with functions and arrays."""
    return [file for folder in executor._engine.folders for file in glob.glob(os.path.join(folder, 'sent-*'))]


def add_one(array):
    array[0] += 1
    return float(array[0]), float(array.sum())


@leaves_nothing
def test_a_large_array_that_comes_again_is_sent_once():
    """Each call has a copy of its own; what the program changes is sent anew."""
    if not HAS_NUMPY:
        return 'no numpy'
    import numpy
    array = numpy.zeros(1 << 19)
    with hdss.Executor(workers=2) as executor:
        assert [executor.submit(add_one, array).result() for _ in range(5)] == [(1, 1)] * 5 and array[0] == 0
        assert list(executor.map(add_one, [array] * 3)) == [(1, 1)] * 3 and len(sent_by(executor)) == 1
        array[1] = 5
        assert executor.submit(add_one, array).result() == (1, 6) and len(sent_by(executor)) == 2
        array.flags.writeable = False
        raised_by(executor.submit(add_one, array), ValueError)
        assert sum(executor.map(lambda one: float(one.sum()), [array[i:] for i in range(4)])) == 10
    return None


def change(buffer, parts, named=()):
    buffer[0] = 7
    return type(buffer), buffer is parts[1] is parts[2][0], bytes(buffer[:2]), parts[0], named[0] is parts[0]


@leaves_nothing
def test_large_bytes_go_as_arrays_do():
    """What they are, and one object where it is one, in lists and tuples, too."""
    text, buffer = os.urandom(1 << 21), bytearray(1 << 17)
    with hdss.Executor(workers=2) as executor:
        for parts in ([text, buffer, (buffer,)], (text, buffer, [buffer]), [text, buffer, [buffer, square]]):
            for call in (executor.submit(change, buffer, parts, named=(text,)), executor.submit(change, buffer, parts, named=[text])):
                assert call.result() == (bytearray, True, b'\7\0', text, True)
        assert list(executor.map(len, [text, buffer, text])) == [1 << 21, 1 << 17, 1 << 21]
        wait_until(lambda: len(sent_by(executor)) == 1, 'all but the text, which came again, to be read')
    assert buffer[0] == 0


@leaves_nothing
def test_arrays_go_by_shared_memory():
    """Both ways, in memory that the workers share, and in the folder where there is no room for them."""
    if not HAS_NUMPY:
        return 'no numpy'
    import numpy
    arrays = [numpy.full(1 << 14, i, dtype=float) for i in range(6)]
    with hdss.Executor(workers=2) as executor:
        assert executor._engine.folders[0].startswith('/dev/shm/') == os.path.isdir('/dev/shm')
        executor.submit(square, 1).result()
        for places in (executor._engine.folders, ['/absent', *executor._engine.folders]):
            executor._engine.sender()._folders = places
            for results in (list(executor.map(add_one, arrays)), [executor.submit(add_one, array).result() for array in arrays]):
                assert results == [(i + 1, i * (1 << 14) + 1) for i in range(6)] and arrays[2][0] == 2
        results = list(executor.map(numpy.negative, arrays))
        assert [float(one[5]) for one in results] == [-i for i in range(6)] and all(one.flags.writeable for one in results)
        left = executor.map(numpy.negative, arrays)
        wait_until(lambda: not sent_by(executor), 'all to be read')
    assert [float(one[5]) for one in left] == [-i for i in range(6)]
    return None


@leaves_nothing
def test_a_source_that_waits_for_a_result():
    """The next item comes when there is a result: nothing is read that is not there."""
    def items(told):
        yield from (1, 2, 3)
        assert told.wait(TIMEOUT_S)
        yield 4
    with hdss.Executor(workers=2) as executor:
        for results_of in (executor.map, executor.imap_unordered):
            told = threading.Event()
            results = results_of(square, items(told))
            first = next(results)
            told.set()
            assert sorted([first, *results]) == [1, 4, 9, 16]
        read = []
        results = executor.map(square, (read.append(i) or time.sleep(0.001) or i for i in range(10**9)))
        assert next(results) == 0 and len(read) < 16384
        results.close()


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


LATE = """import os, sys, time
if os.path.basename(os.readlink('/proc/self/exe')) == 'hdss-helper':
    time.sleep(4)
sys.path.remove(os.path.dirname(__file__))
del sys.modules['cloudpickle']
import cloudpickle
"""


@leaves_nothing
def test_the_time_of_a_call_begins_when_its_interpreter_is_ready():
    importlib.import_module('cloudpickle')  # this program has it, and the workers do not
    os.mkdir('late')
    with open('late/cloudpickle.py', 'w', encoding='ascii') as file:
        file.write(LATE)
    sys.path.insert(0, os.path.abspath('late'))
    try:
        with hdss.Executor(workers=1, timeout=2, retries=0) as executor:
            assert executor.submit(square, 5).result() == 25
    finally:
        sys.path.remove(os.path.abspath('late'))


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


@leaves_nothing
def test_more_workers_than_calls():
    with hdss.Executor(workers=8) as executor:
        assert executor.workers == 8
        assert executor.submit(square, 3).result() == 9 and list(executor.map(square, range(2))) == [0, 1]
    with hdss.Executor(workers=4):
        pass
    if not HAS_NUMPY:
        return 'no numpy: all but a loop'
    assert list(hdss.loop(square, 3, workers=8)) == [0, 1, 4]
    return None


@leaves_nothing
def test_a_set_that_is_up():
    """An executor takes it, and leaves it up; one with workers has its own all the same."""
    assert run([HDSS, 'up', '--workers', 2, '--name', 'mine']).status == 0
    try:
        with hdss.Executor() as executor, hdss.Executor(set='mine') as second, hdss.Executor(workers=1) as own:
            assert executor.workers == second.workers == 2 and own.workers == 1
            pids = [set(one.map(lambda i: os.getppid(), range(40), chunksize=1)) for one in (executor, second, own)]
            assert not pids[2] & (pids[0] | pids[1]), pids
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

    def default(n):
        with hdss.Executor() as executor:
            return executor.workers, executor.submit(square, n).result()
    with hdss.Set(workers=1) as own:
        os.environ['HDSS_SET'] = own.name
        try:
            with hdss.Executor(set=own) as executor:
                assert executor.submit(default, 3).result() == (1, 9)  # not by the set whose only worker waits for it
        finally:
            del os.environ['HDSS_SET']


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


def test_no_interpreter_describes_a_loop():
    """Python cannot begin there."""
    def plan(*words):
        with mock.patch.dict(os.environ, PYTHONHOME='/nowhere'):
            return run([HDSS, 'run', '--dry-run', 'python:hdss._worker.loop', 'iterations=10', *words])
    said = plan('dtype=float64', 'shape=2x3')
    assert said.status == 0 and said.out.endswith('\n10 iterations\n'), said
    for words in (['dtype=float65'], ['dtype=int32', 'shape=0x2'], ['dtype=int32', 'shape=2x2x2x2'], ['dtype=int32', 'shape=two']):
        assert plan(*words).status == 2, words


@leaves_nothing
def test_loops_that_fail():
    if not HAS_NUMPY:
        return 'no numpy'
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
    return None


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


if __name__ == '__main__':
    run_in_the_workers_python()
    import hdss
    let_user_code_crash()
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
