# SPDX-License-Identifier: MIT
"""Programs of the kinds of which users of pools and executors have filed bugs. Each is a function that returns what a user would see, and runs
with the pools and executors of a module: `python_reports.py pool|executor MODULE` prints a line for each. What multiprocessing or
concurrent.futures prints is what hdss has to print."""
import collections
import dataclasses
import enum
import functools
import importlib
import itertools
import os
import queue
import sys
import time

connection = None
cache = {}
loads = 0
seen = []


class Place(enum.Enum):
    HERE = 1
    THERE = 2


@dataclasses.dataclass
class Pair:
    one: int
    other: 'Pair' = None


Point = collections.namedtuple('Point', 'x y')


class Model:
    runs = 0

    def __init__(self, factor):
        self.factor = factor

    def run(self, i):
        Model.runs += 1
        return self.factor * i, Model.runs

    def __call__(self, i):
        return -self.factor * i


class Refused(Exception):
    def __init__(self, what):
        super().__init__(what)
        self.what = what


def connect(value):
    global connection
    connection = value
    cache['opened'] = value


def with_connection(i):
    return i, connection, cache.get('opened')


def load(i):
    global loads
    if i not in cache:
        loads += 1
        cache[i] = i * i
    return cache[i], loads


def remember(value):
    global loads
    loads = value


def recall():
    return loads


def count():
    count.calls += 1
    return count.calls


count.calls = 0


@functools.lru_cache(maxsize=None)
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def cached(n):
    return fibonacci(n), fibonacci.cache_info().currsize


@functools.singledispatch
def kind(value):
    return 'something'


@kind.register(int)
def _(value):
    return 'a number'


@kind.register(list)
def _(value):
    return [kind(one) for one in value]


def is_even(n):
    return n == 0 or is_odd(n - 1)


def is_odd(n):
    return n != 0 and is_even(n - 1)


def square(i):
    return i * i


def pid(_):
    return os.getpid()


def refuse(i):
    if i % 4 == 2:
        raise Refused(i)
    return i


def nap(seconds):
    time.sleep(seconds)
    return seconds


def write(name):
    with open(name, 'a', encoding='ascii') as file:
        file.write('x')


def describe_here(_):
    return __name__, __doc__.split()[0], os.path.basename(__file__)


def append(i):
    seen.append(i)
    return len(seen)


def everything(results):
    """Results and exceptions, to the end."""
    found = []
    while True:
        try:
            found.append(next(results))
        except StopIteration:
            return found
        except Exception as error:
            found.append(f'{type(error).__name__} {error}')


def broken_source(n):
    yield from range(n)
    raise Refused('the source')


# --- of pools ---

def pool_imap_goes_on(make):
    with make(2) as pool:
        return everything(pool.imap(refuse, range(12))), everything(pool.imap(refuse, iter(range(7))))


def pool_imap_unordered_goes_on(make):
    with make(2) as pool:
        return [sorted(map(str, everything(pool.imap_unordered(refuse, source)))) for source in (range(12), iter(range(7)))]


def pool_broken_source(make):
    with make(2) as pool:
        return everything(pool.imap(square, broken_source(3))), sorted(map(str, everything(pool.imap_unordered(square, broken_source(3)))))


def pool_source_that_waits_for_results(make):
    """A queue into which the program puts more after each result."""
    given, found = queue.Queue(), []
    for i in range(3):
        given.put(i)
    with make(2) as pool:
        for result in pool.imap(square, iter(given.get, None)):
            found.append(result)
            given.put(len(found) + 2 if len(found) < 10 else None)
            if given.empty():
                break
    return found


def pool_unbounded_source(make):
    def ten_thousand():
        yield from range(10000)
    with make(2) as pool:
        return sum(pool.imap(square, ten_thousand(), 50))


def pool_next_with_timeout(make):
    import multiprocessing
    with make(1) as pool:
        results = pool.imap(nap, [0.5, 0])
        try:
            results.next(timeout=0.01)
            return 'not late'
        except multiprocessing.TimeoutError:
            return 'late', results.next(), results.next(timeout=100)


def pool_initializer(make):
    with make(2, connect, (40,)) as pool:
        return pool.map(with_connection, range(4)), pool.apply(with_connection, (9,)), list(pool.imap(with_connection, iter(range(2))))


def pool_cache_of_a_worker(make):
    with make(1) as pool:
        return [pool.apply(load, (i,)) for i in (3, 3, 4, 3)], pool.map(load, [3, 4, 5]), pool.apply(load, (5,)), loads


def pool_attribute_of_a_function(make):
    with make(1) as pool:
        return [pool.apply(count) for _ in range(4)], count.calls


def pool_lru_cache(make):
    with make(1) as pool:
        return pool.apply(fibonacci, (30,)), pool.map(fibonacci, [1, 50]), pool.apply(cached, (40,)), fibonacci.cache_info().currsize


def pool_singledispatch(make):
    with make(2) as pool:
        return pool.map(kind, [1, 'a', [2, 'b', [3]]])


def pool_class_attribute(make):
    with make(1) as pool:
        model = Model(3)
        return [pool.apply(model.run, (i,)) for i in range(3)], pool.map(Model(2), range(3)), Model.runs


def pool_tasks_per_child(make):
    with make(1, None, (), 1) as pool:
        return len({pool.apply(pid, (i,)) for i in range(3)})


def pool_callables(make):
    with make(2) as pool:
        return (pool.map(functools.partial(pow, 2), range(4)), pool.map(str.upper, ['a', 'b']), pool.map(Point._make, [(1, 2)]), pool.map(abs, iter([-1])),
                pool.apply(Pair, (1,), {'other': Pair(2)}))


def pool_error_callback(make):
    told = []
    with make(2) as pool:
        result = pool.map_async(refuse, range(4), error_callback=told.append)
        result.wait()
        pool.close()
        pool.join()
    return result.successful(), [(type(error).__name__, error.what) for error in told]


def pool_results_that_nobody_takes(make):
    pool = make(2)
    pool.imap_unordered(write, ['written'] * 20)
    pool.close()
    pool.join()
    return os.path.getsize('written'), os.remove('written')


def pool_left_early(make):
    with make(2) as pool:
        first = next(pool.imap(square, itertools.chain([5], range(1000))))
        return first, pool.map(square, range(3)), pool.map(square, []), pool.starmap(pow, iter([(2, 3)]))


# --- of executors ---

def executor_initializer(make):
    with make(2, initializer=connect, initargs=('here',)) as executor:
        return list(executor.map(with_connection, range(3))), executor.submit(with_connection, 7).result(), connection


def executor_globals_are_shared(make):
    """What one function sets another one sees, in the worker alone."""
    with make(1) as executor:
        executor.submit(remember, 5).result()
        return executor.submit(recall).result(), list(executor.map(append, range(3))), loads, seen


def executor_map_ends_at_an_exception(make):
    with make(2) as executor:
        return everything(executor.map(refuse, range(6))), everything(executor.map(refuse, iter(range(6))))


def executor_results_after_the_end(make):
    with make(2) as executor:
        results = executor.map(square, (i for i in range(100)))
    return sum(results)


def executor_classes_come_back(make):
    with make(2) as executor:
        pair, here, point = (executor.submit(made, value).result() for made, value in ((Pair, 1), (Place, 1), (Point._make, (1, 2))))
        model = executor.submit(Model, 4).result()
        return pair == Pair(1), here is Place.HERE, type(point) is Point, type(model) is Model, model.run(1), isinstance(pair, Pair)


def executor_recursion(make):
    with make(1) as executor:
        return [executor.submit(is_even, n).result() for n in (10, 11)], executor.submit(is_odd, 7).result()


def executor_exceptions(make):
    with make(2) as executor:
        error = executor.submit(refuse, 2).exception()
        return type(error) is Refused, error.what, error.args, 'in refuse' in str(error.__cause__)


def executor_iterables(make):
    with make(2) as executor:
        return (list(executor.map(pow, range(5), itertools.repeat(2))), list(executor.map(pow, [1, 2, 3], (2, 2))), list(executor.map(square)),
                list(executor.map(square, {3: 'a'})), sorted(executor.map(square, {1, 2})), list(executor.map(ord, 'ab')))


def executor_pipeline(make):
    with make(2) as executor:
        return list(executor.map(square, executor.map(square, iter(range(6)))))


def executor_names_of_the_module(make):
    with make(1) as executor:
        return list(executor.map(describe_here, [1])), executor.submit(describe_here, 1).result()


def executor_wrong_counts(make):
    found = []
    for words in ({'max_workers': 0}, {'max_workers': -1}, {'max_workers': 1, 'initializer': 5}):
        try:
            make(**words)
        except (TypeError, ValueError) as error:
            found.append(type(error).__name__)
    with make(1) as executor:
        try:
            executor.map(square, [1], chunksize=0)
        except ValueError as error:
            found.append(str(error))
    return found


def executor_timeout_of_a_map(make):
    with make(1) as executor:
        executor.submit(nap, 0).result()
        results = executor.map(nap, [0, 5], timeout=2)
        return next(results), [said.split()[0] for said in everything(results)]


def main(programs):
    of, module = sys.argv[1:]
    make = getattr(importlib.import_module(module), {'concurrent.futures': 'ProcessPoolExecutor', 'hdss': {'pool': 'Pool', 'executor': 'Executor'}[of],
                                                     'multiprocessing': 'Pool'}[module])
    for name, program in list(programs.items()):
        if name.startswith(of + '_'):
            try:
                print(name, program(make), flush=True)
            except Exception as error:
                print(name, 'raises', repr(error), flush=True)


if __name__ == '__main__':
    main(globals())
