# SPDX-License-Identifier: MIT
"""joblib on HDSS: hdss.register_joblib(), and then parallel_backend('hdss')."""
from __future__ import annotations

import threading
from typing import Any, Callable, Dict, List, Optional, Tuple

from hdss import _broadcast
from hdss._errors import HdssError
from hdss._executor import Executor

KEEP_S = 60.0         # for which workers stay after a call of Parallel
SHARED_MIN = 1 << 20  # bytes of an array that is sent once for all tasks


class _Kept:
    """An executor that outlives a call of Parallel, for the next one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._executor: Optional[Executor] = None
        self._key: Any = None
        self._timer: Optional[threading.Timer] = None

    def take(self, key: Any, make: Callable[[], Executor]) -> Executor:
        """The executor for this key, the one that is kept or a new one."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            self._timer = None
            if self._executor is not None and (self._key != key or not self._executor.is_usable()):
                self._executor.shutdown(wait=False)
                self._executor = None
            if self._executor is None:
                self._executor, self._key = make(), key
            return self._executor

    def leave(self) -> None:
        """Nobody uses it at the moment."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            self._timer = threading.Timer(KEEP_S, self.drop)
            self._timer.daemon = True
            self._timer.start()

    def drop(self, now: bool = False) -> None:
        """Ends it."""
        with self._lock:
            executor, self._executor = self._executor, None
        if executor is not None and now:
            executor.kill()
        if executor is not None:
            executor.shutdown(wait=False)


_kept = _Kept()


def _open_array(path: str) -> Any:
    return _broadcast.load(path)


class _Shared:
    """Arrays that are sent once for a call of Parallel."""

    def __init__(self, is_shared: bool) -> None:
        self._is_shared = is_shared
        self._of: Dict[int, Tuple[Any, '_broadcast.Broadcast[Any]']] = {}

    def reduce(self, value: Any) -> Any:
        """How a large array is pickled; NotImplemented for all else."""
        import numpy
        if type(value) is not numpy.ndarray or value.nbytes < SHARED_MIN or value.dtype.hasobject:
            return NotImplemented
        if id(value) not in self._of:
            self._of[id(value)] = value, _broadcast.broadcast(value, shared=self._is_shared)
        return _open_array, (self._of[id(value)][1].path,)


class _Batch:
    """joblib's batch of tasks, whose large arrays are sent apart."""

    def __init__(self, batch: Callable[[], Any], shared: _Shared) -> None:
        import cloudpickle
        import io

        class Pickler(cloudpickle.CloudPickler):  # type: ignore[misc]
            """cloudpickle's, which asks `shared` first."""

            def reducer_override(self, value: Any) -> Any:
                reduced = shared.reduce(value)
                return super().reducer_override(value) if reduced is NotImplemented else reduced

        file = io.BytesIO()
        Pickler(file, 5).dump(batch)
        self._data = file.getvalue()

    def __call__(self) -> Any:
        import pickle
        return pickle.loads(self._data)()


def _backend_class() -> Any:
    """The backend, as a class of the joblib that is there."""
    from joblib._parallel_backends import AutoBatchingMixin, ParallelBackendBase, SequentialBackend
    from joblib.parallel import FallbackToBackend

    class HdssBackend(AutoBatchingMixin, ParallelBackendBase):  # type: ignore[misc]
        """Tasks of joblib as calls of an executor. Options of parallel_backend('hdss', ..) are those of hdss.Executor."""

        supports_timeout = True
        supports_retrieve_callback = True
        supports_inner_max_num_threads = False

        def __init__(self, nesting_level: Optional[int] = None, **options: Any) -> None:
            super().__init__(nesting_level=nesting_level)
            self._options = options
            self._executor: Optional[Executor] = None
            self._shared = _Shared(False)

        def effective_n_jobs(self, n_jobs: Optional[int]) -> int:
            if n_jobs == 0:
                raise ValueError('n_jobs == 0 in Parallel has no meaning')
            if n_jobs is None:
                return 1
            if n_jobs > 0:
                return n_jobs
            import os
            cores = len(os.sched_getaffinity(0))
            return max(cores + 1 + n_jobs, 1)

        def configure(self, n_jobs: int = 1, parallel: Any = None, prefer: Any = None, require: Any = None, **options: Any) -> int:
            number = self.effective_n_jobs(n_jobs)
            if number == 1 and 'set' not in self._options:
                raise FallbackToBackend(SequentialBackend(nesting_level=self.nesting_level))
            self.parallel = parallel
            known = {**self._options, **{key: value for key, value in options.items() if key in ('set', 'timeout', 'retries')}}
            words = dict(known) if 'set' in known else {'workers': number, **known}
            self._executor = _kept.take(repr(sorted(words.items())), lambda: Executor(**words))
            self._shared = _Shared('set' in words)
            return self._executor.workers if 'set' in words else number

        def submit(self, func: Callable[[], Any], callback: Optional[Callable[[Any], Any]] = None) -> Any:
            executor = self._executor
            if executor is None:
                raise HdssError('the backend is not configured')
            future = executor.submit(_Batch(func, self._shared))
            future.get = future.result  # type: ignore[attr-defined]
            if callback is not None:
                future.add_done_callback(callback)
            return future

        def apply_async(self, func: Callable[[], Any], callback: Optional[Callable[[Any], Any]] = None) -> Any:
            return self.submit(func, callback)

        def retrieve_result_callback(self, out: Any) -> Any:
            return out.result()

        def terminate(self) -> None:
            self._executor = None
            self._shared = _Shared(False)
            _kept.leave()
            self.reset_batch_stats()

        def abort_everything(self, ensure_ready: bool = True) -> None:
            _kept.drop(now=True)
            self._executor = None
            if ensure_ready:
                self.configure(n_jobs=self.parallel.n_jobs, parallel=self.parallel)

        def get_nested_backend(self) -> Tuple[Any, Optional[int]]:
            return SequentialBackend(nesting_level=(self.nesting_level or 0) + 1), None

    return HdssBackend


def register_joblib(name: str = 'hdss') -> None:
    """Has joblib know HDSS as a backend of that name: `with joblib.parallel_backend('hdss', n_jobs=8):`, also for
    scikit-learn. Large arrays are sent once for all tasks of a call. Workers stay for a minute, for the next call."""
    import joblib
    joblib.register_parallel_backend(name, _backend_class())


__all__: List[str] = ['register_joblib']
