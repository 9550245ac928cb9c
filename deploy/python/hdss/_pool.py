# SPDX-License-Identifier: MIT
"""hdss.Pool: a pool as those of multiprocessing and of schwimmbad, on top of hdss.Executor."""
from __future__ import annotations

import concurrent.futures
import functools
import threading
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, cast

from hdss import _given
from hdss._executor import Executor, zipped
from hdss._map import Results

_Callback = Optional[Callable[[Any], Any]]


class AsyncResult:
    """What will become of a call, or of a map, as multiprocessing.pool.AsyncResult."""

    def __init__(self, future: 'concurrent.futures.Future[Any]', callback: _Callback, error_callback: _Callback) -> None:
        self._future, self._callback, self._error_callback = future, callback, error_callback
        future.add_done_callback(self._tell)

    def _tell(self, future: 'concurrent.futures.Future[Any]') -> None:
        if future.cancelled():
            return
        error = future.exception()
        if error is None and self._callback is not None:
            self._callback(future.result())
        elif error is not None and self._error_callback is not None:
            self._error_callback(error)

    def get(self, timeout: Optional[float] = None) -> Any:
        """The result. Raises what the call has raised, or multiprocessing.TimeoutError after `timeout` seconds."""
        try:
            return self._future.result(timeout)
        except concurrent.futures.TimeoutError:
            if self._future.done():  # the call itself has raised it
                raise
            import multiprocessing
            raise multiprocessing.TimeoutError from None

    def wait(self, timeout: Optional[float] = None) -> None:
        """Waits until it is over, `timeout` seconds at most."""
        concurrent.futures.wait([self._future], timeout)

    def ready(self) -> bool:
        """True when it is over."""
        return self._future.done()

    def successful(self) -> bool:
        """True where it has raised nothing. ValueError before it is over."""
        if not self.ready():
            raise ValueError(f'{self!r} not ready')
        return not self._future.cancelled() and self._future.exception() is None


class Pool:
    """Workers as a pool: the methods of multiprocessing.Pool, and map(function, tasks, callback=) of schwimmbad.

    `processes` and the keywords are those of hdss.Executor. At the end of a `with` what is not done is dropped, as with
    multiprocessing; close() and join() wait for it.
    """

    def __init__(self, processes: Optional[int] = None, initializer: Optional[Callable[..., Any]] = None, initargs: Iterable[Any] = (),
                 maxtasksperchild: Optional[int] = None, context: Any = None, **options: Any) -> None:
        try:
            tasks = None if maxtasksperchild is None else _given.whole('maxtasksperchild', maxtasksperchild, 1)
        except TypeError as error:  # as multiprocessing has it
            raise ValueError(str(error)) from None
        self._executor = Executor(processes, initializer=initializer, initargs=_given.arguments(initargs), max_tasks_per_child=tasks,
                                  mp_context=context, **options)
        self._is_closed = False
        self._collecting: List[threading.Thread] = []

    def __repr__(self) -> str:
        return repr(self._executor).replace('hdss.Executor', 'hdss.Pool')

    def __reduce__(self) -> Any:
        raise TypeError('a hdss.Pool cannot be sent to a worker: a call cannot use the pool that runs it; it can make one of its own')

    @property
    def size(self) -> int:
        """Workers. Waits until they are there."""
        return self._executor.workers

    # --- schwimmbad ---

    def is_master(self) -> bool:
        """True: workers never come to this line of the program."""
        return True

    def is_worker(self) -> bool:
        """False: see is_master()."""
        return False

    # --- one call ---

    def apply_async(self, func: Callable[..., Any], args: Iterable[Any] = (), kwds: Optional[Dict[str, Any]] = None, callback: _Callback = None,
                    error_callback: _Callback = None) -> AsyncResult:
        """Has func(*args, **kwds) run; callbacks are called with what comes of it."""
        self._check()
        return AsyncResult(self._executor.submit(func, *args, **(kwds or {})), callback, error_callback)

    def apply(self, func: Callable[..., Any], args: Iterable[Any] = (), kwds: Optional[Dict[str, Any]] = None) -> Any:
        """The result of func(*args, **kwds)."""
        return self.apply_async(func, args, kwds).get()

    # --- many ---

    def map(self, func: Callable[[Any], Any], iterable: Iterable[Any], chunksize: Optional[int] = None, callback: _Callback = None) -> List[Any]:
        """The results of func for all items, in their order. `callback` is called with each, by this thread."""
        self._check()
        results = self._executor.map(func, iterable, chunksize=chunksize)
        if callback is None:
            return list(results)
        return [(callback(result), result)[1] for result in results]

    def starmap(self, func: Callable[..., Any], iterable: Iterable[Iterable[Any]], chunksize: Optional[int] = None) -> List[Any]:
        """As map(), where each item has the arguments."""
        self._check()
        return list(self._executor.starmap(func, [tuple(item) for item in iterable], chunksize=chunksize))

    def imap(self, func: Callable[[Any], Any], iterable: Iterable[Any], chunksize: Optional[int] = None) -> Results:
        """An iterator over the results, in the order of the items: next(it), or it.next(timeout). After an exception the others come."""
        return self._results(func, iterable, chunksize, True)

    def imap_unordered(self, func: Callable[[Any], Any], iterable: Iterable[Any], chunksize: Optional[int] = None) -> Results:
        """As imap(), but the results come as they are there."""
        return self._results(func, iterable, chunksize, False)

    def _results(self, func: Callable[[Any], Any], iterable: Iterable[Any], chunksize: Optional[int], is_ordered: bool) -> Results:
        import multiprocessing
        self._check()
        given_by = functools.partial(Results, late=multiprocessing.TimeoutError)
        return cast(Results, self._executor._map(func, *zipped((iterable,)), None, chunksize, None, is_ordered, given_by))

    def map_async(self, func: Callable[[Any], Any], iterable: Iterable[Any], chunksize: Optional[int] = None, callback: _Callback = None,
                  error_callback: _Callback = None) -> AsyncResult:
        """As map(), without waiting."""
        self._check()
        return self._gather(self._executor.map(func, _sized(iterable), chunksize=chunksize), callback, error_callback)

    def starmap_async(self, func: Callable[..., Any], iterable: Iterable[Iterable[Any]], chunksize: Optional[int] = None,
                      callback: _Callback = None, error_callback: _Callback = None) -> AsyncResult:
        """As starmap(), without waiting."""
        self._check()
        items = [tuple(item) for item in iterable]
        return self._gather(self._executor.starmap(func, items, chunksize=chunksize), callback, error_callback)

    def _gather(self, results: Iterator[Any], callback: _Callback, error_callback: _Callback) -> AsyncResult:
        """Collects results by a thread."""
        future: 'concurrent.futures.Future[Any]' = concurrent.futures.Future()
        future.set_running_or_notify_cancel()

        def collect() -> None:
            try:
                future.set_result(list(results))
            except BaseException as error:
                future.set_exception(error)

        told = AsyncResult(future, callback, error_callback)
        thread = threading.Thread(target=collect, name='hdss map', daemon=True)
        thread.start()
        self._collecting = [one for one in self._collecting if one.is_alive()] + [thread]
        return told

    # --- the end ---

    def _check(self) -> None:
        if self._is_closed:
            raise ValueError('Pool not running')

    def close(self) -> None:
        """Nothing more comes; what was given is done."""
        self._is_closed = True
        self._executor.shutdown(wait=False)

    def terminate(self) -> None:
        """Ends at once; what is not done is dropped."""
        self._is_closed = True
        self._executor.kill()

    def join(self) -> None:
        """Waits for the end, behind close() or terminate(), with the callbacks of what was asked for."""
        if not self._is_closed:
            raise ValueError('Pool is still running')
        self._executor.shutdown(wait=True)
        for thread in self._collecting:
            if thread is not threading.current_thread():
                thread.join()

    def __enter__(self) -> 'Pool':
        self._check()
        return self

    def __exit__(self, *_: object) -> None:
        self.terminate()
        self.join()


def _sized(iterable: Iterable[Any]) -> Iterable[Any]:
    """A list, where the iterable has no length: nobody may be there who asks for results while it is read."""
    return iterable if hasattr(iterable, '__len__') else list(iterable)
