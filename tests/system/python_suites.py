# SPDX-License-Identifier: MIT
"""Runs other people's tests of executors on hdss.Executor: test.test_concurrent_futures of CPython, its tests of multiprocessing.Pool on
hdss.Pool, and demo/futures/test_futures.py of mpi4py. None is copied: CPython's come with the interpreter, and that of mpi4py is a file
that is named.

    python_suites.py cpython [TEST...]
    python_suites.py pool [TEST...]
    python_suites.py mpi4py FILE [TEST...]

The last line of standard output is JSON: {"ran": .., "failed": [..], "skipped": {..}, "excluded": {..}}; `unknown` instead, with the
reason, where the tests are not laid out as in the versions that are known here: of CPython 3.9 and later, of mpi4py 3.1 and 4. The
status is 0 where all has gone well.

Tests that are left out stand in tables, each with its reason. One that does not exist is an error.
"""
import importlib
import importlib.machinery
import importlib.util
import json
import os
import pickle
import pkgutil
import sys
import time
import types
import unittest
from concurrent import futures

import hdss


class Unknown(Exception):
    """The suite is not laid out as in the versions that are known here."""


# --- what tests of ProcessPoolExecutor look at ---

class SetProcess:
    """The daemons of an executor, as the one process that they are for it."""

    def __init__(self, process):
        self._process = process

    def join(self):
        self._process.wait()

    def terminate(self):
        self._process.terminate()


class SuiteExecutor(hdss.Executor):
    """hdss.Executor with what the tests say to a ProcessPoolExecutor, and see in it. How processes are started (mp_context) is HDSS's."""

    def __init__(self, max_workers=None, mp_context=None, initializer=None, initargs=()):
        super().__init__(max_workers, initializer=initializer, initargs=initargs)
        self._max_workers = max_workers

    @property
    def _broken(self):
        return self._engine.error is not None

    @property
    def _processes(self):
        process = self._set._process
        return {process.pid: SetProcess(process)}

    @property
    def _executor_manager_thread(self):
        return self._engine._thread

    @property
    def _call_queue(self):
        return types.SimpleNamespace(join_thread=lambda: None)

    def shutdown(self, wait=True, *, cancel_futures=False):
        """A pool of processes hands calls to its workers before it looks whether the others are cancelled. A set may not be up yet, and
        then all are; so wait for those that begin."""
        while cancel_futures and not self._engine._open and not self._engine.queue.is_over():
            time.sleep(0.01)
        super().shutdown(wait, cancel_futures=cancel_futures)


class SuitePool(SuiteExecutor):
    """Takes the place of ProcessPoolExecutor where a test names that."""


def install():
    """For programs that tests start: they take the executor from concurrent.futures."""
    futures.SuiteExecutor = SuiteExecutor


# --- CPython ---

# The classes of tests that run on our executor, and the mixins that they need.
MIXINS = ('InitializerMixin', 'FailingInitializerMixin', 'WaitTests', 'AsCompletedTests', 'ProcessPoolShutdownTest', 'ProcessPoolExecutorTest',
          'ExecutorDeadlockTest')

_INHERITED = 'hands a semaphore of multiprocessing to workers, which processes can only inherit'
_ALL_START = 'counts processes that are started when they are needed; the workers of a set all start with it'
_TASKS = 'looks at the processes that a pool starts one after the other for max_tasks_per_child'
EXCLUDED = {
    'ProcessPoolShutdownTest.test_processes_terminate': _INHERITED,
    'ProcessPoolExecutorTest.test_saturation': _INHERITED,
    'ProcessPoolExecutorTest.test_idle_process_reuse_one': _ALL_START,
    'ProcessPoolExecutorTest.test_idle_process_reuse_multiple': _ALL_START,
    'ProcessPoolExecutorTest.test_max_tasks_per_child': _TASKS,
    'ProcessPoolExecutorTest.test_max_tasks_per_child_defaults_to_spawn_context': _TASKS,
    'ProcessPoolExecutorTest.test_max_tasks_early_shutdown': _TASKS,
}
# Of later versions of Python.
EXCLUDED_SINCE = {
    (3, 12): {'ExecutorDeadlockTest.test_gh105829_should_not_deadlock_if_wakeup_pipe_full': 'replaces parts of ProcessPoolExecutor by others'},
    (3, 13): {'ProcessPoolExecutorTest.test_python_finalization_error': 'replaces parts of ProcessPoolExecutor by others'},
}

# Where a process of theirs dies the whole pool is broken. Here the call has hdss.CallDied, all others go on, and nothing dies of an
# exception, whoever raises it: it is the call's.
RAISED_INSTEAD = {
    'test_exit_at_task_unpickle': SystemExit,
    'test_error_at_task_unpickle': pickle.UnpicklingError,
    'test_error_during_result_unpickle_in_result_handler': pickle.UnpicklingError,
    'test_exit_during_result_unpickle_in_result_handler': SystemExit,
}


def cpython_modules():
    """The modules of the suite: one file, or a package (since 3.12)."""
    package = importlib.import_module('test.test_concurrent_futures')
    if not hasattr(package, '__path__'):
        return [package]
    names = [found.name for found in pkgutil.iter_modules(package.__path__, package.__name__ + '.') if not found.name.endswith('.__main__')]
    return [importlib.import_module(name) for name in names]


def find(modules, name):
    """(module, class) of the suite."""
    for module in modules:
        found = vars(module).get(name)
        if found is not None and found.__module__ == module.__name__:
            return module, found
    raise Unknown(f'test.test_concurrent_futures of Python {sys.version_info[0]}.{sys.version_info[1]} has no {name}')


def take_key(key):
    """Initializer: processes that multiprocessing starts have the key of their parent, by which they reach its managers."""
    import multiprocessing
    multiprocessing.current_process().authkey = key


def own_parts(modules):
    """What stands in front of each class of the suite: our executor, and what is to be expected of it. By the mixin's name."""
    import multiprocessing
    _, executor_mixin = find(modules, 'ExecutorMixin')

    class Ours(executor_mixin):
        executor_type = SuiteExecutor
        lost = hdss.SetLost

        def get_context(self):
            return multiprocessing.get_context('spawn')

        def setUp(self):
            for module in modules:
                if hasattr(module, 'BrokenProcessPool'):
                    module.BrokenProcessPool = self.lost
            super().setUp()

    class OursReachesManagers(Ours):
        executor_kwargs = {'initializer': take_key, 'initargs': (bytes(multiprocessing.current_process().authkey),)}

        def create_event(self):
            """Of Python 3.13: an event that workers see. tearDown() ends the manager."""
            if self.manager is None:
                self.manager = self.get_context().Manager()
            return self.manager.Event()

    class OursSurvivesCrashes(Ours):
        lost = hdss.CallDied

        def _check_crash(self, error, *arguments, **keywords):
            super()._check_crash(RAISED_INSTEAD.get(self._testMethodName, error), *arguments, **keywords)

    return {'ProcessPoolExecutorTest': OursReachesManagers, 'WaitTests': OursReachesManagers, 'ExecutorDeadlockTest': OursSurvivesCrashes}, Ours


def with_our_executor(modules):
    """Has the modules find our executor where they name one, also in programs that they start."""
    process = types.SimpleNamespace(**{**vars(futures.process), '_RemoteTraceback': hdss.RemoteTraceback})
    names = {name: getattr(futures, name) for name in futures.__all__}
    replaced = types.SimpleNamespace(**{**names, 'ProcessPoolExecutor': SuitePool, 'process': process})
    for module in modules:
        if getattr(module, 'futures', None) is futures:
            module.futures = replaced
        if hasattr(module, 'assert_python_ok'):
            module.assert_python_ok = by_our_executor(module.assert_python_ok)


def by_our_executor(assert_python_ok):
    def run(option, script):
        path = os.pathsep.join([os.path.dirname(os.path.abspath(__file__)), os.environ.get('PYTHONPATH', '')])
        return assert_python_ok(option, 'import python_suites\npython_suites.install()\n' + script, __isolated=False, PYTHONPATH=path)
    return run


def cpython_tests():
    """(the tests, what is left out)."""
    modules = cpython_modules()
    excluded = dict(EXCLUDED)
    for version, tests in EXCLUDED_SINCE.items():
        if sys.version_info >= version:
            excluded.update(tests)
    with_our_executor(modules)
    special, usual = own_parts(modules)
    _, base = find(modules, 'BaseTestCase')
    classes = []
    for name in MIXINS:
        module, mixin = find(modules, name)
        front = special.get(name, usual)
        bases = (front, mixin, base) if name == 'ExecutorDeadlockTest' else (mixin, front, base)
        classes.append(type(name, bases, {'__module__': module.__name__}))
    return classes, excluded


# --- CPython's tests of multiprocessing.Pool ---

_PROCESSES = 'looks at the processes of a pool, which are those of a set here'
POOL_EXCLUDED = {
    'TestPool.test_imap_handle_iterable_exception': 'expects that the items of a chunk are lost behind which the iterable raises; here they have results',
    'TestPool.test_resource_warning': 'sets the state that multiprocessing keeps in a pool, for a warning of its own',
    'TestPoolWorkerErrors.test_unpickleable_result': 'returns a function that multiprocessing cannot pickle; here it arrives',
    'TestPoolWorkerLifetime.test_pool_worker_lifetime': _PROCESSES,
}


class PoolOfSuite(hdss.Pool):
    """hdss.Pool with what the tests see of multiprocessing's."""

    @property
    def _pool(self):
        return [None] * self.size


def pool_tests():
    """(the tests, what is left out)."""
    import multiprocessing
    import multiprocessing.pool
    module = importlib.import_module('test._test_multiprocessing')
    inside = types.SimpleNamespace(**{**vars(multiprocessing.pool), 'RemoteTraceback': hdss.RemoteTraceback})
    module.multiprocessing = types.SimpleNamespace(**{**vars(multiprocessing), 'Pool': PoolOfSuite, 'pool': inside})
    classes = []
    for name in ('_TestPool', '_TestPoolWorkerErrors', '_TestPoolWorkerLifetime'):
        mixin = vars(module).get(name)
        if mixin is None:
            raise Unknown(f'test._test_multiprocessing of Python {sys.version_info[0]}.{sys.version_info[1]} has no {name}')
        own = {'__module__': module.__name__, 'TYPE': 'processes', 'Pool': PoolOfSuite}
        # Methods that are called in workers, which have the mixin, and not the class that is made here and has a pool.
        own.update({called: staticmethod(getattr(mixin, called)) for called in vars(mixin) if called.startswith('_test_')})
        classes.append(type(name[1:], (mixin, unittest.TestCase), own))
    return classes, POOL_EXCLUDED


# --- mpi4py ---

class PoolExecutor(hdss.Executor):
    """hdss.Executor with the methods of mpi4py.futures.MPIPoolExecutor that others do not have."""

    def __init__(self, max_workers=None, initializer=None, initargs=()):
        super().__init__(max_workers, initializer=initializer, initargs=initargs)

    @property
    def num_workers(self):
        return self.workers if self.is_usable() else 0

    @property
    def _max_workers(self):
        return self.num_workers or None

    @property
    def _pool(self):
        return self._engine

    def bootup(self, wait=True):
        self._check()
        if wait:
            assert self.workers > 0
        return self

    def map(self, fn, *iterables, timeout=None, chunksize=1, buffersize=None, unordered=False):
        if unordered and buffersize is not None:
            raise ValueError('buffersize and unordered')
        run = self.imap_unordered if unordered else super().map
        return run(fn, *iterables, timeout=timeout, chunksize=chunksize, buffersize=buffersize)


class PoolExecutorOf4(PoolExecutor):
    """As version 4 has it: without workers it has 0 of them."""

    _max_workers = PoolExecutor.num_workers


_COMM = 'MPICommExecutor: the ranks of a communicator of the program become workers; ours are those of a set'
_OWN_POOL = "looks at the threads, queues and events inside of mpi4py's pool"
_OWN_FUTURES = "is about functions and classes of mpi4py that make futures of futures, which no executor has a part in"
MPI4PY_EXCLUDED = {
    'ProcessPoolInitTest.test_init_kwargs': 'python_exe, mpi_info, globals, main, path, wdir and env say how MPI starts workers; a set has its own',
    'ProcessPoolInitTest.test_init_pyargs': "python_args: arguments of the workers' interpreter, which is embedded in those of a set",
    'ProcessPoolInitTest.test_init_globals': "globals: variables of the workers' __main__",
    'ProcessPoolInitTest.test_run_name': "the name under which mpi4py's workers run the program's main module; ours do not run it",
    'ProcessPoolInitTest.test_max_workers_environ': "MPI4PY_FUTURES_MAX_WORKERS is mpi4py's",
    'ProcessPoolShutdownTest.test_shutdown': _OWN_POOL,
    'ProcessPoolShutdownTest.test_shutdown_cancel': _OWN_POOL,
    'ProcessPoolShutdownTest.test_init_bootup_shutdown': _OWN_POOL,
    'ProcessPoolShutdownTest.test_context_manager_shutdown': _OWN_POOL,
    'ProcessPoolShutdownTest.test_del_shutdown': _OWN_POOL,
    'ProcessPoolSubmitTest.test_mpi_serialized_support': "the lock by which mpi4py's threads share an MPI library; there is none in the program",
    'ProcessPoolSubmitTest.test_shared_executors': 'executors that share the ranks of MPI_COMM_WORLD, under python -m mpi4py.futures',
    'MPICommExecutorTest.*': _COMM,
    'ThenTest.*': _OWN_FUTURES,
}
MPI4PY_EXCLUDED_BEFORE_4 = {
    'ProcessPoolExecutorTest.test_submit_cancel': 'cancels a call that a worker without work may have begun; version 4 has another test of that name',
}
MPI4PY_EXCLUDED_SINCE_4 = {
    'ProcessPoolInitTest.test_init_sys_flags': "python_args: arguments of the workers' interpreter, which is embedded in those of a set",
    'ProcessPoolInitTest.test_get_comm_workers': 'the communicator of the workers, which those of a set keep to themselves',
    'ProcessPoolInitTest.test_use_pkl5_kwarg': 'use_pkl5: how mpi4py sends buffers',
    'ProcessPoolInitTest.test_use_pkl5_environ': "MPI4PY_FUTURES_USE_PKL5 is mpi4py's",
    'ThreadPoolTest.*': 'runs the ThreadPoolExecutor of the standard library',
    'CollectTest.*': _OWN_FUTURES,
    'ComposeTest.*': _OWN_FUTURES,
}


def double_of_mpi4py(executor):
    """A package mpi4py whose executor is ours. No MPI library is loaded."""
    comm = types.SimpleNamespace(Get_size=lambda: 1, Get_rank=lambda: 0)
    package, mpi, double, aplus, util = (types.ModuleType(name) for name in ('mpi4py', 'mpi4py.MPI', 'mpi4py.futures', 'mpi4py.futures.aplus', 'mpitestutil'))
    vars(mpi).update(COMM_WORLD=comm, COMM_SELF=comm, get_vendor=lambda: ('HDSS', (1, 0, 0)), Get_version=lambda: (3, 1))
    inside = types.SimpleNamespace(SharedPool=None, RemoteTraceback=hdss.RemoteTraceback)
    vars(double).update({name: getattr(futures, name) for name in futures.__all__}, MPIPoolExecutor=executor, MPICommExecutor=None,
                        BrokenExecutor=futures.BrokenExecutor, _lib=inside, _core=inside, aplus=aplus)
    aplus.ThenableFuture = None
    util.disable_mpi_spawn = lambda: False
    vars(package).update(MPI=mpi, futures=double)
    sys.modules.update({module.__name__: module for module in (package, mpi, double, aplus, util)})


def mpi4py_tests(path):
    """(the tests, what is left out)."""
    import cloudpickle
    with open(path, encoding='utf-8') as file:
        is_of_4 = 'class CollectTest' in file.read()
    double_of_mpi4py(PoolExecutorOf4 if is_of_4 else PoolExecutor)
    spec = importlib.util.spec_from_loader('test_futures', importlib.machinery.SourceFileLoader('test_futures', path))  # its name may end as it likes
    module = importlib.util.module_from_spec(spec)
    sys.modules['test_futures'] = module
    try:
        spec.loader.exec_module(module)
    except (ImportError, AttributeError) as error:
        raise Unknown(f'{path}: {error}') from None
    cloudpickle.register_pickle_by_value(module)  # workers have no double of mpi4py
    classes = [one for one in vars(module).values() if isinstance(one, type) and issubclass(one, unittest.TestCase)]
    return classes, {**MPI4PY_EXCLUDED, **(MPI4PY_EXCLUDED_SINCE_4 if is_of_4 else MPI4PY_EXCLUDED_BEFORE_4)}


# --- running them ---

class Result(unittest.TextTestResult):
    """Says how long each test has taken."""

    def startTest(self, test):
        super().startTest(test)
        self.began = time.monotonic()

    def stopTest(self, test):
        super().stopTest(test)
        self.stream.writeln(f'    {time.monotonic() - self.began:.1f} s')


def chosen(classes, excluded, wanted):
    """(a suite of the tests that are wanted, and what is left out of it)."""
    suite, left_out = unittest.TestSuite(), {}
    for one in classes:
        for name in unittest.defaultTestLoader.getTestCaseNames(one):
            full = f'{one.__name__}.{name}'
            reason = excluded.get(full) or excluded.get(one.__name__ + '.*')
            if reason:
                left_out[full] = reason
            elif not wanted or any(word in full for word in wanted):
                suite.addTest(one(name))
    for name in excluded:
        assert name in left_out or any(full.startswith(name.removesuffix('*')) for full in left_out), f'{name} is excluded, and does not exist'
    return suite, left_out


def run(classes, excluded, wanted):
    suite, left_out = chosen(classes, excluded, wanted)
    result = unittest.TextTestRunner(sys.stderr, verbosity=2, resultclass=Result).run(suite)
    failed = [str(test) for test, _ in result.failures + result.errors] + [str(test) for test in result.unexpectedSuccesses]
    return {'ran': result.testsRun, 'failed': failed, 'skipped': {str(test): reason for test, reason in result.skipped}, 'excluded': left_out}


def note_left():
    """Has CPython's helpers of tests say what a test has left behind, threads or processes. Returns a function that lists it."""
    try:
        from test import support
    except ImportError:
        return lambda: []
    warned, warn = [], support.print_warning
    support.print_warning = lambda text: (warned.append(text), warn(text))
    return lambda: [f'a test has left threads or processes behind: {warned}'] if support.environment_altered else []


def main(which, *arguments):
    try:
        if which in ('cpython', 'pool'):
            classes, excluded = cpython_tests() if which == 'cpython' else pool_tests()
            wanted = arguments
        else:
            classes, excluded = mpi4py_tests(arguments[0])
            wanted = arguments[1:]
    except Unknown as unknown:
        print(json.dumps({'unknown': str(unknown)}))
        return 0
    left = note_left()
    said = run(classes, excluded, wanted)
    said['failed'] += left()
    print('\n' + json.dumps(said))  # a line of its own: tests print, too
    return 1 if said['failed'] else 0


if __name__ == '__main__':
    import python_suites  # the module by its name, by which workers and programs find it, too
    sys.exit(python_suites.main(*sys.argv[1:]))
