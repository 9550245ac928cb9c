# SPDX-License-Identifier: MIT
"""joblib on HDSS: hdss.register_joblib(), and then parallel_backend('hdss'). For joblib 1.2 and later.

joblib cuts its tasks into batches and submits each as one call. Workers outlive a call of Parallel, for the next one: a
set of one's own for a minute. An executor, which is a job of the set, serves one call of Parallel at a time, so that a
call that is aborted ends what it has running, and nothing else.
"""
from __future__ import annotations

import functools
import io
import os
import pickle
import re
import threading
import warnings
import weakref
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any, Callable, Dict, List, Optional, Set as SetOf, Tuple

from hdss import _control, _interpreter, _pickled
from hdss._errors import HdssError
from hdss._executor import Executor
from hdss._sets import Folder, Set, as_set, shared_folder
from hdss._spool import remove_file

KEEP_S = 60.0  # for which workers stay after a call of Parallel
OPTIONS = ('set', 'initializer', 'initargs', 'timeout', 'retries', 'name', 'priority', 'weight', 'prints', 'environment')


# --- workers that stay ---

class _KeptSet:
    """A set, with the executors of it that nobody uses at the moment."""

    def __init__(self, of: Set, is_given: bool) -> None:
        self.set = of
        self._is_given = is_given
        self.idle: List[Tuple[Any, Executor]] = []  # each with its options
        self.lent = 0

    def take(self, options: Dict[str, Any], begin: Tuple[str, bytes], key: Any) -> Executor:
        """An idle executor with these options, or a new one. Idle ones with others end. `begin`: what workers begin with,
        the name of the backend and the user's initializer."""
        found = None
        for known, executor in self.idle:
            if found is None and known == key and executor.is_usable():
                found = executor
            else:
                executor.shutdown(wait=False)
        self.idle.clear()
        if found is None:
            key_of_managers = None if self.set.may_have_nodes else _key()
            found = Executor(set=self.set, initializer=_begin_worker, initargs=(key_of_managers, *begin), **options)
        self.lent += 1
        return found

    def close(self) -> None:
        for _, executor in self.idle:
            executor.shutdown(wait=True)
        if not self._is_given:
            self.set.close()


class _Kept:
    """The sets that are in use, or were a short time ago."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # the collector may end a backend of this thread while it is held
        self._sets: Dict[Any, _KeptSet] = {}
        self._timer: Optional[threading.Timer] = None

    def take(self, given: Any, workers: Optional[int], options: Dict[str, Any], begin: Tuple[str, bytes], key: Any) -> Tuple[Any, Executor]:
        """An executor of the set that is given or named, or of one of one's own. Idle sets with other workers end."""
        place = (given if not isinstance(given, Set) else id(given), workers)
        with self._lock:
            self._stop_timer()
            for other, kept in list(self._sets.items()):
                if kept.lent == 0 and (other != place or not kept.set.is_up()):
                    self._sets.pop(other, None)
                    kept.close()
            try:
                if place not in self._sets or not self._sets[place].set.is_up():
                    self._sets[place] = _KeptSet(as_set(given, workers), isinstance(given, Set))
                return place, self._sets[place].take(options, begin, key)
            except BaseException:
                self._start_timer()
                raise

    def give_back(self, place: Any, executor: Executor, key: Any) -> None:
        """Nobody uses the executor at the moment."""
        with self._lock:
            kept = self._sets.get(place)
            if kept is None or kept.set is not executor.set or not executor.is_usable():
                executor.shutdown(wait=False)
            else:
                kept.idle.append((key, executor))
            if kept is not None:
                kept.lent -= 1
            self._start_timer()

    def _start_timer(self) -> None:
        self._stop_timer()
        self._timer = threading.Timer(KEEP_S, self._drop_idle)
        self._timer.daemon = True
        self._timer.start()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None

    def _drop_idle(self) -> None:
        with self._lock:
            for place, kept in list(self._sets.items()):
                if kept.lent == 0:
                    self._sets.pop(place, None)
                    kept.close()


_kept = _Kept()


def _forget_in_child() -> None:
    """A child that was forked has workers of its own."""
    global _kept
    _kept = _Kept()


os.register_at_fork(after_in_child=_forget_in_child)


# --- tasks ---

class _ArrayFile:
    """A file with the elements of an array. It is there as long as this object."""

    def __init__(self, array: Any, path: str) -> None:
        self.path = path
        self.order = 'F' if array.flags.f_contiguous and not array.flags.c_contiguous else 'C'
        self._finalizer = weakref.finalize(self, remove_file, path, os.getpid())
        (array.T if self.order == 'F' else array).tofile(path)


class _Arrays:
    """The large arrays of a call of Parallel, each of which is sent once, as a file that workers map. A file is there as
    long as its array, or a batch that was given it, is; the folder of the files until close()."""

    def __init__(self, is_shared: bool, max_nbytes: Optional[int], mode: Optional[str], base: Optional[str]) -> None:
        self._is_shared, self._max_nbytes, self._base = is_shared, max_nbytes if mode is not None else None, base
        self._mode = 'r+' if mode == 'w+' else mode
        self._folder: Optional[Folder] = None
        self._is_closed = False
        self._number = 0
        self._sent: Dict[int, Tuple[Any, _ArrayFile]] = {}  # by the address, which is the array's while it lives
        self._lock = threading.RLock()

    def forget(self) -> None:
        """A new call begins: arrays may have changed since they were sent."""
        with self._lock:
            self._sent.clear()

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            self._sent.clear()
            if self._folder is not None:
                self._folder.remove()
            self._folder = None

    def _next_path(self) -> str:
        if self._is_closed:
            raise HdssError('the call of Parallel is over')
        if self._folder is None:
            self._folder = shared_folder(self._is_shared) if self._base is None else Folder(self._base)
        self._number += 1
        return os.path.join(self._folder.path, f'array-{self._number}')

    def _file(self, array: Any) -> _ArrayFile:
        with self._lock:
            known = self._sent.get(id(array))
            if known is not None and known[0]() is array:
                return known[1]
            file, place = _ArrayFile(array, self._next_path()), id(array)
            self._sent[place] = weakref.ref(array, functools.partial(self._forget, place)), file
            return file

    def _forget(self, place: int, reference: Any) -> None:
        """The array that was at the place is no longer there."""
        with self._lock:
            known = self._sent.get(place)
            if known is not None and known[0] is reference:
                del self._sent[place]

    def reduce(self, value: Any, used: 'SetOf[_ArrayFile]') -> Any:
        """How an array is pickled that is large, or mapped from a file; NotImplemented for all else."""
        import numpy
        if not isinstance(value, numpy.ndarray) or value.dtype.hasobject:
            return NotImplemented
        mapped = _reduce_mapped(value, self._is_shared)
        if mapped is not None:
            return mapped
        if type(value) not in (numpy.ndarray, numpy.memmap) or self._max_nbytes is None or value.nbytes <= self._max_nbytes:
            return NotImplemented
        file = self._file(value)
        used.add(file)
        return numpy.memmap, (file.path, value.dtype, self._mode, 0, value.shape, file.order)


def _reduce_mapped(array: Any, is_shared: bool) -> Any:
    """An array that is mapped from a file is mapped by workers, too, as joblib has it. Other machines may not have the file:
    they get what is in it, where nothing is to be written to it."""
    from joblib import _memmapping_reducer as reducers
    if not hasattr(reducers, '_get_backing_memmap') or not hasattr(reducers, '_reduce_memmap_backed'):
        return None
    behind = reducers._get_backing_memmap(array)
    if behind is None or (is_shared and behind.mode not in ('r+', 'w+')):
        return None
    return reducers._reduce_memmap_backed(array, behind)


def _pickled_batch(batch: Callable[[], Any], arrays: _Arrays) -> Tuple[bytes, 'SetOf[_ArrayFile]']:
    """A batch of tasks as bytes, and the files of arrays that it uses."""
    from hdss import _globals
    used: 'SetOf[_ArrayFile]' = set()

    class Pickler(_globals.Pickler):
        """That of all calls, which asks `arrays` first."""

        def reducer_override(self, value: Any) -> Any:
            reduced = arrays.reduce(value, used)
            return super().reducer_override(value) if reduced is NotImplemented else reduced

    file = io.BytesIO()
    Pickler(file).dump(batch)
    return file.getvalue(), used


def _begin_worker(key: Optional[bytes], name: str, initializer: bytes) -> None:
    """In a worker, before its first batch: has tasks know the backend by its name, and reach managers of multiprocessing by
    the key; calls the initializer of the user."""
    if key is not None:
        import multiprocessing
        multiprocessing.current_process().authkey = key
    register_joblib(name)
    function, arguments = _pickled.loads(initializer)
    if function is not None:
        function(*arguments)


def _run_batch(data: bytes) -> Any:
    """In a worker: the results of a batch."""
    return _pickled.loads(data)()


def _raise(error: BaseException) -> None:
    raise error


def _key() -> bytes:
    """The key by which processes of this machine reach managers of multiprocessing."""
    import multiprocessing
    return bytes(multiprocessing.current_process().authkey)


def _release(used: 'SetOf[_ArrayFile]', _: Any) -> None:
    used.clear()


def _get(future: 'Future[Any]') -> Callable[..., Any]:
    """The method get() of a result, as joblib 1.2 has it of multiprocessing."""
    def get(timeout: Optional[float] = None) -> Any:
        try:
            return future.result(timeout)
        except FutureTimeoutError:
            if future.done():  # a task has raised it
                raise
            import multiprocessing
            raise multiprocessing.TimeoutError from None
    return get


# --- the backend ---

def _cores(joblib_count: Callable[[], int], given: Any) -> int:
    """Workers of the set that is given, or that is found, or cores of this machine."""
    if given is None and _control.find() is None:
        return joblib_count()
    return as_set(given).workers


def _backend_class(name: str) -> Any:
    """The backend of that name, as a class of the joblib that is there."""
    from joblib import _parallel_backends as backends
    from joblib.parallel import FallbackToBackend, SequentialBackend, cpu_count
    safe = getattr(backends, 'SafeFunction', lambda function: function)  # until joblib 1.2: has Ctrl-C of a task as another exception

    class HdssBackend(backends.AutoBatchingMixin, backends.ParallelBackendBase):  # type: ignore[misc]
        """Tasks of joblib as calls of an executor. Options of parallel_backend('hdss', ..) are those of hdss.Executor.

        n_jobs above 0 is so many workers of one's own; with `set` joblib gives that set twice as many batches at a time.
        n_jobs=-1 is all workers of the set that hdss.Set() finds, else of one with a worker for each core."""

        supports_timeout = True
        supports_retrieve_callback = True
        supports_inner_max_num_threads = True
        default_n_jobs = -1

        def __init__(self, nesting_level: Optional[int] = None, inner_max_num_threads: Optional[int] = None, **options: Any) -> None:
            unknown = sorted(options.keys() - OPTIONS)
            if unknown:
                raise TypeError(f'{", ".join(unknown)}: no option of this backend; accepted: {", ".join(OPTIONS)}')
            super().__init__(nesting_level=nesting_level, inner_max_num_threads=inner_max_num_threads)
            self._options = options
            self._workers: Optional[Executor] = None
            self._arrays: Optional[_Arrays] = None
            self._place: Any = None
            self._key: Any = None

        def effective_n_jobs(self, n_jobs: Optional[int]) -> int:
            if n_jobs == 0:
                raise ValueError('n_jobs == 0 in Parallel has no meaning')
            number = 1 if n_jobs is None else n_jobs  # joblib asks for default_n_jobs where nobody has said a number
            if _interpreter.is_of_worker:
                if number != 1:
                    warnings.warn('HDSS-backed parallel loops cannot be nested, setting n_jobs=1', stacklevel=3)
                return 1
            return number if number > 0 else max(_cores(cpu_count, self._options.get('set')) + 1 + number, 1)

        def configure(self, n_jobs: int = 1, parallel: Any = None, prefer: Any = None, require: Any = None, max_nbytes: Optional[int] = 1 << 20,
                      mmap_mode: Optional[str] = 'r', temp_folder: Optional[str] = None, **options: Any) -> int:
            number = self.effective_n_jobs(n_jobs)
            if number == 1:
                raise FallbackToBackend(SequentialBackend(nesting_level=self.nesting_level))
            self.parallel = parallel
            known = {**self._options, **{key: value for key, value in options.items() if key in OPTIONS}}
            given = known.pop('set', None)
            limits = self._limits(number, given)
            self._key = repr(sorted(known.items())), repr(sorted(limits.items()))
            begin = name, _pickled.dumps((known.pop('initializer', None), tuple(known.pop('initargs', ()))))
            known['environment'] = {**known.get('environment', os.environ), **limits}
            wants_all = n_jobs in (None, -1)
            is_found = given is not None or wants_all or (n_jobs < 0 and _control.find() is not None)
            self._place, self._workers = _kept.take(given, None if is_found else number, known, begin, self._key)
            self._arrays = _Arrays(self._workers.set.may_have_nodes, max_nbytes, mmap_mode, temp_folder or os.environ.get('JOBLIB_TEMP_FOLDER'))
            return self._workers.workers if wants_all else number

        def start_call(self) -> None:
            super().start_call()
            if self._arrays is not None:
                self._arrays.forget()

        def _limits(self, number: int, given: Any) -> Dict[str, str]:
            """Variables for the threads of libraries, as joblib sets them; a set of more machines has its own."""
            if given is not None and self.inner_max_num_threads is None:
                return {}
            limits: Dict[str, str] = self._prepare_worker_env(n_jobs=number)
            return limits

        def submit(self, func: Callable[[], Any], callback: Optional[Callable[[Any], Any]] = None) -> Any:
            executor, arrays = self._workers, self._arrays
            if executor is None or arrays is None:
                raise HdssError('the backend is not configured')
            used: 'SetOf[_ArrayFile]' = set()
            try:
                data, used = _pickled_batch(safe(func), arrays)
            except Exception as error:  # said by a worker: joblib expects an error from another thread, later
                future = executor.submit(_raise, pickle.PicklingError(f'cannot pickle the task to send: {type(error).__name__}: {error}'))
            else:
                future = executor.submit(_run_batch, data)
            future.add_done_callback(functools.partial(_release, used))  # the files are there until then
            future.get = _get(future)  # type: ignore[attr-defined]
            if callback is not None:
                future.add_done_callback(callback)
            return future

        def apply_async(self, func: Callable[[], Any], callback: Optional[Callable[[Any], Any]] = None) -> Any:
            return self.submit(func, callback)

        def retrieve_result_callback(self, out: Any) -> Any:
            return out.result()

        def terminate(self) -> None:
            executor, self._workers = self._workers, None
            arrays, self._arrays = self._arrays, None
            if arrays is not None:
                arrays.close()
            if executor is not None:
                _kept.give_back(self._place, executor, self._key)
            self.reset_batch_stats()

        def abort_everything(self, ensure_ready: bool = True) -> None:
            if self._workers is not None:
                self._workers.kill()
            self.terminate()
            if ensure_ready:
                arguments = getattr(self.parallel, '_backend_kwargs', None) or getattr(self.parallel, '_backend_args', {})
                self.configure(n_jobs=self.parallel.n_jobs, parallel=self.parallel, **arguments)

    return HdssBackend


def register_joblib(name: str = 'hdss', make_default: bool = False) -> None:
    """Has joblib know HDSS as a backend of that name: `with joblib.parallel_backend('hdss', n_jobs=8):`, also for
    scikit-learn; with make_default for all that names no other. Large arrays are sent once for all tasks of a call.
    Workers stay for a minute, for the next call."""
    import joblib
    if tuple(map(int, re.findall(r'\d+', joblib.__version__)[:2])) < (1, 2):
        raise HdssError(f'joblib {joblib.__version__}; accepted: 1.2 or later')
    joblib.register_parallel_backend(name, _backend_class(name), make_default=make_default)


__all__: List[str] = ['register_joblib']
