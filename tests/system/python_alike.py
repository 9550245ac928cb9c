# SPDX-License-Identifier: MIT
"""More programs as those of python_reports.py: what is sent, exceptions, iterables, waiting, and what calls do in their worker."""
import asyncio
import collections
import dataclasses
import datetime
import decimal
import fractions
import functools
import itertools
import math
import operator
import os
import pathlib
import random
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ALL_COMPLETED, FIRST_COMPLETED, FIRST_EXCEPTION, as_completed, wait

from python_reports import main


def name_of(call):
    """The name of the exception that it raises; its value if none."""
    try:
        return call()
    except BaseException as error:
        return type(error).__name__


# --- globals and state ---

@functools.lru_cache(maxsize=None)
def doubled(i):
    return i * 2


def hits(i):
    doubled(i)
    return doubled.cache_info().hits


def executor_lru_cache_functions(make):
    with make(1) as ex:
        return ex.submit(doubled, 4).result(), list(ex.map(doubled, [1, 1])), [ex.submit(hits, 9).result() for _ in range(3)]


def appended(item, found=[]):  # noqa: B006, which is what is looked at
    found.append(item)
    return len(found)


def executor_a_default_that_is_a_list(make):
    with make(1) as ex:
        return [ex.submit(appended, i).result() for i in range(3)]


# --- what is sent ---

Point = collections.namedtuple('Point', 'x y')


@dataclasses.dataclass
class Body:
    mass: float
    at: tuple = ()


class Slots:
    __slots__ = ('a',)

    def __init__(self, a):
        self.a = a


class Thing:
    def __init__(self, n):
        self.n = n

    def times(self, m):
        return self.n * m

    @classmethod
    def named(cls, n):
        return cls.__name__, n

    @staticmethod
    def plain(n):
        return n + 1

    def __call__(self, n):
        return self.n + n


class TooBad(Exception):
    pass


def same(x):
    return x


def square(x):
    return x * x


def executor_classes_of_the_script(make):
    with make(2) as ex:
        back = [ex.submit(same, one).result() for one in (Point(1, 2), Body(2.0, (1,)), Slots(3))]
        return [type(one) in (Point, Body, Slots) for one in back], back[0].y, back[1] == Body(2.0, (1,)), back[2].a


def executor_methods_and_callables(make):
    with make(2) as ex:
        calls = Thing(3).times, Thing.named, Thing.plain, Thing(4), functools.partial(pow, 2), abs, operator.neg
        return [ex.submit(call, 5).result() for call in calls], list(ex.map(operator.itemgetter(1), ['ab', 'cd']))


def executor_values_of_many_kinds(make):
    values = [None, ..., NotImplemented, 10**40, 1e-320, math.inf, 'é\udcff', b'\0\xff', True, 3j, {1: (2, [3, {4}])}, frozenset('a'), range(3),
              datetime.datetime(2020, 1, 2, tzinfo=datetime.timezone.utc), decimal.Decimal('1.10'), fractions.Fraction(1, 3), pathlib.Path('a/b')]
    with make(2) as ex:
        return list(map(repr, ex.map(same, values))), [a is b for a, b in zip(values[:3], ex.map(same, values[:3]))]


def executor_not_a_number(make):
    with make(2) as ex:
        return math.isnan(ex.submit(same, math.nan).result())


def nest(depth):
    made = []
    for _ in range(depth):
        made = [made]
    return made


def executor_deep_objects(make):
    with make(2) as ex:
        return repr(ex.submit(nest, 100).result()), ex.submit(repr, nest(100)).result() == repr(nest(100))


def executor_large_arguments_and_results(make):
    with make(2) as ex:
        return ex.submit(len, bytes(20_000_000)).result(), len(ex.submit(bytes, 20_000_000).result()), [len(one) for one in ex.map(bytes, [3_000_000] * 3)]


def changed(values):
    values.append(1)
    return len(values)


def executor_arguments_are_copies(make):
    values = [0]
    with make(2) as ex:
        return ex.submit(changed, values).result(), ex.submit(changed, values).result(), values


def executor_arguments_that_cannot_be_sent(make):
    with make(2) as ex:
        return name_of(lambda: ex.submit(same, threading.Lock()).result()), ex.submit(same, 1).result()


class Stubborn:
    def __reduce__(self):
        raise RuntimeError('no')


def executor_objects_that_raise_when_they_are_sent(make):
    with make(2) as ex:
        return name_of(lambda: ex.submit(same, Stubborn()).result()), name_of(lambda: list(ex.map(same, [Stubborn()]))), ex.submit(same, 1).result()


def closed_over(_):
    return (i for i in range(3))


def executor_results_that_cannot_be_sent(make):
    with make(2) as ex:
        error = ex.submit(closed_over, 0).exception()
        return isinstance(error, Exception), ex.submit(same, 1).result()


def executor_arrays_of_numpy(make):
    try:
        import numpy
    except ImportError:
        return None
    with make(2) as ex:
        big = ex.submit(numpy.ones, 200_000).result()
        big[3] = 7
        there = list(ex.map(numpy.sum, [numpy.full(100_000, i) for i in range(3)]))
        back = ex.submit(same, numpy.arange(6).reshape(2, 3).T).result()
        return float(big.sum()), list(map(float, there)), back.tolist(), ex.submit(same, numpy.float32(1.5)).result().dtype.name, \
            [type(one).__name__ for one in ex.map(same, numpy.arange(2))]


# --- exceptions ---

def raises(kind):
    raise {'key': KeyError('k'), 'own': TooBad('a', 2), 'stop': StopIteration(1), 'exit': SystemExit(3), 'assert': AssertionError(),
           'os': FileNotFoundError(2, 'no', 'file'), 'unicode': UnicodeDecodeError('utf-8', b'x', 0, 1, 'bad'), 'recursion': RecursionError('deep')}[kind]


def executor_exceptions_arrive(make):
    with make(2) as ex:
        errors = [ex.submit(raises, kind).exception() for kind in ('key', 'own', 'stop', 'exit', 'assert', 'os', 'unicode', 'recursion')]
        return [(type(error).__name__, repr(error.args)) for error in errors], isinstance(errors[1], TooBad), errors[5].filename


def executor_the_traceback_of_the_worker(make):
    with make(2) as ex:
        return 'raise {' in str(ex.submit(raises, 'key').exception().__cause__)


def chained(_):
    try:
        return 1 / 0
    except ZeroDivisionError as error:
        raise ValueError('outer') from error


def executor_chains_of_exceptions(make):
    with make(2) as ex:
        text = str(ex.submit(chained, 0).exception().__cause__)
        return 'ZeroDivisionError' in text and 'direct cause' in text


def deep(n):
    return deep(n + 1)


def executor_endless_recursion(make):
    with make(2) as ex:
        return name_of(lambda: ex.submit(deep, 0).result()), ex.submit(same, 1).result()


def warned(_):
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        warnings.warn('as an error', UserWarning)


def executor_warnings_as_errors(make):
    with make(2) as ex:
        return name_of(lambda: ex.submit(warned, 0).result())


def bad_at_two(x):
    if x == 2:
        raise KeyError('two')
    return x


def pool_a_map_of_a_pool_raises(make):
    with make(2) as pool:
        return name_of(lambda: pool.map(bad_at_two, range(6))), name_of(lambda: pool.starmap(bad_at_two, [(1,), (2,)]))


# --- iterables ---

def executor_maps_of_nothing(make):
    with make(2) as ex:
        return list(ex.map(same, [])), list(ex.map(same, iter(())))


def pool_maps_of_nothing(make):
    with make(2) as pool:
        return pool.map(same, []), list(pool.imap(same, ())), pool.starmap(pow, []), pool.map_async(same, []).get(20)


def executor_sizes_of_chunks(make):
    with make(2) as ex:
        return [list(ex.map(square, range(7), chunksize=size)) for size in (1, 2, 100)]


def pool_sizes_of_chunks(make):
    with make(2) as pool:
        return [pool.map(square, range(7), size) for size in (1, 3, 100)]


def executor_chunks_that_cannot_be(make):
    with make(2) as ex:
        return name_of(lambda: list(ex.map(square, [1], chunksize=0))), name_of(lambda: list(ex.map(square, [1], chunksize=-1)))


def pool_starmaps(make):
    with make(2) as pool:
        return pool.starmap(pow, [(2, 3), [3, 2]]), pool.starmap(pow, iter([(2, 5)])), pool.starmap_async(pow, [(2, 2)]).get(20), \
            pool.starmap(max, [(1, 2), (1, 2, 3)])


def slowly(n, pause=0.05):
    for i in range(n):
        time.sleep(pause)
        yield i


def pool_a_slow_source_has_its_first_result_at_once(make):
    with make(2) as pool:
        pool.apply(same, (0,))
        began = time.monotonic()
        results = pool.imap(same, slowly(60))
        return next(results), time.monotonic() - began < 2.0


def pool_an_endless_source(make):
    with make(2) as pool:
        return list(itertools.islice(pool.imap(square, slowly(10**6, 0.001)), 5))


def executor_results_are_in_order(make):
    with make(2) as ex:
        return list(ex.map(square, range(3000))) == [i * i for i in range(3000)]


def executor_a_map_that_is_left(make):
    with make(2) as ex:
        results = ex.map(square, range(50))
        first = next(results)
        del results
        return first, ex.submit(square, 9).result()


# --- waiting ---

def wait_for(seconds):
    time.sleep(seconds)
    return seconds


def executor_results_that_take_too_long(make):
    with make(2) as ex:
        future = ex.submit(wait_for, 0.6)
        late = name_of(lambda: future.result(0.05)), name_of(lambda: future.exception(0.01))
        return late, future.result(), name_of(lambda: list(ex.map(wait_for, [0.4, 0.4], timeout=0.05)))


def executor_as_they_are_done(make):
    with make(2) as ex:
        futures = {ex.submit(square, i): i for i in range(6)}
        return sorted((futures[done], done.result()) for done in as_completed(futures))


def executor_waits(make):
    with make(2) as ex:
        slow, quick = ex.submit(wait_for, 0.7), ex.submit(wait_for, 0.0)
        first = wait([slow, quick], return_when=FIRST_COMPLETED)
        bad, slower = ex.submit(bad_at_two, 2), ex.submit(wait_for, 0.5)
        failed = wait([slower, bad], return_when=FIRST_EXCEPTION)
        both = wait([slow, slower], return_when=ALL_COMPLETED)
        return quick in first.done, slow in first.not_done, bad in failed.done, len(both.done), len(wait([slow], 0).done)


def executor_cancelled_calls(make):
    with make(1) as ex:
        futures = [ex.submit(wait_for, 0.3) for _ in range(20)]
        while not futures[0].running():
            time.sleep(0.01)
        last = futures[-1].cancel()
        ex.shutdown(cancel_futures=True)
        return last, futures[-1].cancelled(), name_of(futures[-1].result), futures[0].result(), sum(one.cancelled() for one in futures) > 10


def executor_callbacks(make):
    told = []
    with make(2) as ex:
        future = ex.submit(square, 3)
        future.add_done_callback(lambda done: told.append(done.result()))
        future.result()
        future.add_done_callback(lambda done: told.append('late'))
    return told


def executor_after_the_end(make):
    ex = make(2)
    future = ex.submit(square, 3)
    ex.shutdown()
    ex.shutdown()
    return future.result(), name_of(lambda: ex.submit(square, 1)), name_of(lambda: list(ex.map(square, [1])))


def executor_what_was_submitted_is_done_at_the_end(make):
    with make(2) as ex:
        futures = [ex.submit(wait_for, 0.05) for _ in range(6)]
    return [future.done() for future in futures]


def pool_a_result_of_a_pool(make):
    told = []
    with make(2) as pool:
        slow = pool.apply_async(wait_for, (0.5,), callback=told.append)
        early = slow.ready(), name_of(slow.successful), name_of(lambda: slow.get(0.05))
        bad = pool.apply_async(bad_at_two, (2,), error_callback=lambda error: told.append(type(error).__name__))
        slow.wait(20)
        bad.wait(20)
        found = early, slow.get(), slow.successful(), bad.successful(), name_of(bad.get)
        until = time.monotonic() + 10
        while len(told) < 2 and time.monotonic() < until:
            time.sleep(0.01)
        return found, sorted(map(str, told))


def pool_a_map_without_waiting(make):
    told = []
    with make(2) as pool:
        good = pool.map_async(square, range(4), callback=told.append)
        good.wait(20)
        bad = pool.map_async(bad_at_two, range(4), error_callback=lambda error: told.append(str(error)))
        bad.wait(20)
        until = time.monotonic() + 10
        while len(told) < 2 and time.monotonic() < until:
            time.sleep(0.01)
    return good.get(), name_of(bad.get), told


def pool_a_pool_that_was_closed(make):
    pool = make(2)
    later = pool.apply_async(square, (4,))
    still = name_of(pool.join)
    pool.close()
    pool.join()
    return still, later.get(), name_of(lambda: pool.map(square, [1])), name_of(lambda: pool.apply(square, (1,)))


def pool_a_pool_that_is_ended(make):
    pool = make(2)
    pool.map_async(wait_for, [0.2] * 200, 1)
    began = time.monotonic()
    pool.terminate()
    pool.join()
    return time.monotonic() - began < 10


# --- workers ---

def pid(_):
    time.sleep(0.01)
    return os.getpid()


def executor_processes(make):
    with make(2) as ex:
        found = set(ex.map(pid, range(20)))
        return os.getpid() in found, 1 <= len(found) <= 2


def drawn(_):
    time.sleep(0.05)
    return random.random()


def executor_random_numbers_differ(make):
    with make(2) as ex:
        return len(set(ex.map(drawn, range(6))))


def surroundings(_):
    return os.getcwd(), os.environ.get('ALIKE'), os.path.basename(sys.argv[0]), os.path.dirname(os.path.abspath(__file__)) in sys.path


def executor_surroundings_of_calls(make):
    os.environ['ALIKE'] = 'ä b'
    with make(2) as ex:
        return ex.submit(surroundings, 0).result() == surroundings(0)


def threaded(n):
    found = []
    threads = [threading.Thread(target=found.append, args=(i,)) for i in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(found)


def executor_threads_in_calls(make):
    with make(2) as ex:
        return ex.submit(threaded, 4).result()


def program(word):
    return subprocess.run(['echo', word], stdout=subprocess.PIPE, check=True).stdout.decode()


def executor_programs_in_calls(make):
    with make(2) as ex:
        return list(ex.map(program, ['a', 'b']))


def forked(_):
    child = os.fork()
    if child == 0:
        os._exit(7)
    return os.waitpid(child, 0)[1]


def executor_forks_in_calls(make):
    with make(2) as ex:
        return ex.submit(forked, 0).result()


def pooled(kind, n):
    with kind(1) as ex:
        return list(ex.map(square, range(n)))


def executor_an_executor_in_a_call(make):
    with make(2) as ex:
        return ex.submit(pooled, type(ex), 3).result()


def executor_threads_that_submit(make):
    found = []
    with make(2) as ex:
        def submit(n):
            found.extend(future.result() for future in [ex.submit(square, n * 10 + i) for i in range(10)])
        threads = [threading.Thread(target=submit, args=(n,)) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return sorted(found) == [i * i for i in range(60)]


def executor_executors_of_asyncio(make):
    async def gather(ex):
        loop = asyncio.get_running_loop()
        return await asyncio.gather(*[loop.run_in_executor(ex, square, i) for i in range(5)])
    with make(2) as ex:
        return asyncio.run(gather(ex))


def executor_many_submits(make):
    with make(2) as ex:
        return sum(future.result() for future in [ex.submit(square, i) for i in range(1500)])


def executor_two_at_once(make):
    with make(2) as one, make(2) as two:
        return list(map(operator.add, one.map(square, range(5)), two.map(square, range(5))))


def executor_one_after_the_other(make):
    found = []
    for i in range(3):
        with make(2) as ex:
            found.append(ex.submit(square, i).result())
    return found


def words(*args, **options):
    return args, options


def executor_keywords(make):
    with make(2) as ex:
        return ex.submit(words, 1, fn=2, self=3).result()


def pool_keywords(make):
    with make(2) as pool:
        return pool.apply(words, (1,), {'func': 2})


def executor_a_function_that_is_none(make):
    with make(2) as ex:
        return name_of(lambda: ex.submit(3).result()), name_of(lambda: list(ex.map(None, [1])))


if __name__ == '__main__':
    main(globals())
