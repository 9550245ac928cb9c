# SPDX-License-Identifier: MIT
"""hdss.Executor: an executor of concurrent.futures whose calls run in a set of daemons."""
from __future__ import annotations

import concurrent.futures
import logging
import os
import threading
import time
import weakref
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple, Union

from hdss import _engine, _given, _pickled, _progress, _spool
from hdss._engine import end_wait, Engine, Unit
from hdss._errors import SetLost
from hdss._map import Map, Results, is_container
from hdss._sets import Set, as_set, checked_workers


JOIN_BYTES = 1 << 16  # of calls that a worker may run together


class _Future(concurrent.futures.Future[Any]):
    """A future that keeps no lock when the wait for it is interrupted, and beside which no bar is drawn any more. It does not know
    the engine: whoever keeps a future, or an exception that its result has raised, keeps nothing of an executor that has ended."""

    _condition: threading.Condition  # the standard library's own

    def __init__(self, bar: Optional[_progress.Bar]) -> None:
        super().__init__()
        self._bar = bar

    def result(self, timeout: Optional[float] = None) -> Any:
        """The result of the call. Raises what the call has raised, or TimeoutError after `timeout` seconds."""
        try:
            return super().result(timeout)
        except (KeyboardInterrupt, RuntimeError) as error:
            end_wait(error, self._condition, self._bar)
            raise
        finally:
            del self  # the traceback of what is raised has this frame


def _tell(how: Callable[[Any], None], outcome: Any) -> None:
    """Has a future know its outcome. A callback of it may raise SystemExit, which the standard library lets through."""
    try:
        how(outcome)
    except SystemExit:
        logging.getLogger('concurrent.futures').exception('a callback of a future has raised SystemExit')


class _Call(Unit):
    """A call of submit()."""

    def __init__(self, queue: _engine.Queue, future: 'concurrent.futures.Future[Any]', data: bytes, kept: Any, files: List[Any]) -> None:
        self._queue, self.future, self.data, self._kept = queue, future, data, (kept, files)
        self.array_bytes = sum(file.bytes for file in files)
        self.may_join = queue.joins and not files and len(data) < JOIN_BYTES

    def begin(self) -> bool:
        return self.future.running() or self.future.set_running_or_notify_cancel()

    def contents(self) -> Tuple[bytes, int, int]:
        return self.data, _spool.CALL, 1

    def forget_contents(self) -> None:
        self.data = b''

    def take(self, outcome: bytes) -> int:
        self.data = outcome
        return 1

    def end(self, took_s: float) -> None:
        self._queue.note_time(took_s)
        self.settle()

    def settle(self) -> None:
        is_value, value = _pickled.open_outcome(_pickled.fetched(self.data))
        _tell(self.future.set_result if is_value else self.future.set_exception, value)

    def fail(self, error: BaseException) -> None:
        _tell(self.future.set_exception, error)

    def cancel(self) -> bool:
        is_cancelled = self.future.cancel()
        if is_cancelled:
            self.future.set_running_or_notify_cancel()
        return is_cancelled

    def joined(self, others: List[Unit]) -> Unit:
        return _Calls(self._queue, [self, *others])


class _Calls(Unit):
    """Calls of submit() that are quick, which a worker runs one after another, as a batch of a map: what it has not begun in time it hands back."""

    def __init__(self, queue: _engine.Queue, calls: List[Any]) -> None:
        self._queue, self._calls, self._outcomes, self._are_plain = queue, calls, [], False  # type: _engine.Queue, List[_Call], List[Any], bool

    def begin(self) -> bool:
        self._calls = [call for call in self._calls if call.begin()]
        self.items = len(self._calls)
        return self.items > 0

    def contents(self) -> Tuple[bytes, int, int]:
        return _pickled.batch_of([call.data for call in self._calls], False, True), _spool.CALLS, self.items

    def take(self, outcome: bytes) -> int:
        self._are_plain, _, self._outcomes = _pickled.open_batch(outcome)
        return len(self._outcomes)

    def end(self, took_s: float) -> None:
        self._queue.note_time(took_s / len(self._outcomes))
        self._queue.put_first(self._calls[len(self._outcomes):])
        for call, outcome in zip(self._calls, self._outcomes):
            if self._are_plain:
                _tell(call.future.set_result, outcome)
            else:
                call.take(outcome)
                call.settle()

    def fail(self, error: BaseException) -> None:
        for call in self._calls:
            call.fail(error)

    def split(self) -> List[Unit]:
        for call in self._calls:
            call.may_join = False
        return list(self._calls)


def _words(timeout: Optional[float], retries: Optional[int]) -> List[str]:
    """Options of the job."""
    return _given.option_words({'iteration_timeout': _given.seconds('timeout', timeout),
                                'retries': None if retries is None else _given.whole('retries', retries)})


class Executor(concurrent.futures.Executor):
    """Runs calls in the workers of HDSS, on this machine or over the nodes of a batch job.

    Functions, arguments and results are pickled by cloudpickle, so that what is defined in a script, in a notebook or in a
    function can be sent as well. A call that raises has its exception on its future, with the traceback of the worker as
    the cause. A call that its worker dies of, or that takes longer than `timeout`, is tried again `retries` times, and then
    has hdss.CallDied; all others go on.

    max_workers, workers   a set of one's own with so many workers, which ends with the executor. Else the set that `hdss
                           submit` would find (HDSS_SET, that of the batch job, the only one), or one of one's own with a
                           worker for each core
    set                    a set: an hdss.Set, or the name of one that is up
    initializer, initargs  called in each worker when it begins; where it fails the executor is broken
    timeout                seconds that a call, or a batch of a map, may take; None: for ever
    retries                how often what a worker has died of is tried again (default 2)
    name, priority, weight of the job, as `hdss submit` has them
    prints                 what calls print is printed here (default), else dropped
    progress               a bar of what is done on standard error, or a line in a notebook; None: not
    environment            variables of the workers, in the place of those of this process
    max_tasks_per_child    calls, or batches of a map, after which the process of a worker ends, and another one takes its place
    mp_context             a context of multiprocessing, for programs that have one: workers are never forked from the program
    """

    def __init__(self, max_workers: Optional[int] = None, *, workers: Optional[int] = None, set: Union[Set, str, None] = None,
                 initializer: Optional[Callable[..., Any]] = None, initargs: Tuple[Any, ...] = (), timeout: Optional[float] = None,
                 retries: Optional[int] = None, name: Optional[str] = None, priority: int = 0, weight: int = 1, prints: bool = True,
                 progress: Optional[bool] = None, environment: Optional[Dict[str, str]] = None, mp_context: Any = None,
                 max_tasks_per_child: Optional[int] = None) -> None:
        if max_workers is not None and workers is not None:
            raise TypeError('max_workers and workers are the same; accepted: one of them')
        wanted = checked_workers(workers if workers is not None else max_workers)
        if initializer is not None and not callable(initializer):
            raise TypeError('initializer must be a callable')
        if mp_context is not None and not hasattr(mp_context, 'get_start_method'):
            raise _given.refusal(TypeError, 'mp_context', mp_context, 'a context of multiprocessing, or None')
        words, options, setup = _words(timeout, retries), _given.job_options(name, priority, weight), (initializer, _given.arguments(initargs))
        tasks = 0 if max_tasks_per_child is None else _given.whole('max_tasks_per_child', max_tasks_per_child, 1)
        variables = None if environment is None else _given.variables(environment)
        self._set = as_set(set, wanted)
        owns = self._set is not set
        bar = _progress.Bar() if progress else None
        self._is_shut_down = False
        try:
            joins = timeout is None and retries != 0 and tasks == 0  # else it is told that one runs several
            self._engine = Engine(self._set, owns, words, setup, options, prints, variables, bar, tasks, joins)
        except BaseException:
            if owns:
                self._set.close()
            raise
        self._finalizer = weakref.finalize(self, self._engine.close)
        self._finalizer.atexit = False

    def __repr__(self) -> str:
        return f'<hdss.Executor: {"shut down" if self._is_shut_down else self._engine.error or self._set.description()}>'

    def __reduce__(self) -> Any:
        raise TypeError('a hdss.Executor cannot be sent to a worker: a call cannot use the executor that runs it; it can make one of its own')

    @property
    def set(self) -> Set:
        """The set in which the calls run."""
        return self._set

    @property
    def workers(self) -> int:
        """Workers of the set. Waits until it is up."""
        return self._set.workers

    def is_usable(self) -> bool:
        """True where calls can still be submitted."""
        return not self._is_shut_down and self._engine.error is None and self._engine.pid == os.getpid()

    def _check(self) -> None:
        engine = self._engine
        if engine.pid != os.getpid():
            raise RuntimeError('this executor belongs to the process that was forked; make one here')
        if self._is_shut_down:
            raise RuntimeError('cannot schedule new futures after shutdown')
        if _engine.is_shut_down():
            raise RuntimeError('cannot schedule new futures after interpreter shutdown')
        if engine.error is not None:
            raise SetLost(str(engine.error))

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> 'concurrent.futures.Future[Any]':
        """Has fn(*args, **kwargs) run. What it takes is pickled here and now."""
        self._check()
        engine = self._engine
        future = _Future(engine.bar)
        try:
            call = engine.packed_call(fn, args, kwargs)
        except Exception as error:
            future.set_running_or_notify_cancel()
            future.set_exception(error)
            return future
        engine.note_submitted(1)
        engine.put(_Call(engine.queue, future, *call))
        engine.fail_late()
        return future

    def map(self, fn: Callable[..., Any], *iterables: Iterable[Any], timeout: Optional[float] = None, chunksize: Optional[int] = None,
            buffersize: Optional[int] = None) -> Iterator[Any]:
        """The results of fn for the items, in their order, as concurrent.futures has it.

        chunksize   items of a batch, which one worker runs; None: as many as take some milliseconds
        buffersize  results and items ahead of the one that is asked for, at most; None: all of lists and other containers, else
                    16,384. Other iterables are read by a thread: items for the workers, not all that there are
        timeout     seconds from now until the last result is there
        """
        return self._map(fn, *zipped(iterables), timeout, chunksize, buffersize)

    def starmap(self, fn: Callable[..., Any], iterable: Iterable[Tuple[Any, ...]], timeout: Optional[float] = None,
                chunksize: Optional[int] = None, buffersize: Optional[int] = None) -> Iterator[Any]:
        """As map(), where each item is the tuple of the arguments."""
        return self._map(fn, map(tuple, iterable), False, is_container(iterable), timeout, chunksize, buffersize)

    def imap_unordered(self, fn: Callable[..., Any], *iterables: Iterable[Any], timeout: Optional[float] = None, chunksize: Optional[int] = None,
                       buffersize: Optional[int] = None) -> Iterator[Any]:
        """As map(), but the results come in the order in which they are there, and after an exception the others."""
        return self._map(fn, *zipped(iterables), timeout, chunksize, buffersize, False, Results)

    def _map(self, fn: Callable[..., Any], items: Iterable[Any], are_single: bool, is_sized: bool, timeout: Optional[float],
             chunksize: Optional[int], buffersize: Optional[int], is_ordered: bool = True,
             given_by: Callable[..., Iterator[Any]] = Map.results) -> Iterator[Any]:
        for name, given, said in (('chunksize', chunksize, 'chunksize must be >= 1.'), ('buffersize', buffersize, 'buffersize must be None or > 0')):
            if given is not None and _given.whole(name, given, -_given.COUNT_MAX, '1 or more') < 1:
                raise ValueError(said)
        if not callable(fn):
            raise _given.refusal(TypeError, 'fn', fn, 'a function, or what else can be called')
        self._check()
        end_s = None if timeout is None else time.monotonic() + _wait('timeout', timeout)
        try:
            done = Map(self._engine, fn, items, are_single, is_sized, chunksize, buffersize, is_ordered)
        except (TypeError, AttributeError, _pickled.PicklingError) as error:
            return _Raising(error)
        return given_by(done, end_s, None if done.is_read() else self)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Takes no other call; what was submitted is done, or, with cancel_futures, what has begun. With `wait` it returns
        when all is over, a set of its own has ended, and no thread of it is left; a callback of a future does not wait."""
        self._is_shut_down = True
        if self._engine.pid != os.getpid():
            return
        if cancel_futures:
            self._engine.cancel_open()
        self._engine.close()
        if wait:
            self._engine.join()

    def kill(self) -> None:
        """Ends what runs at once; what is not done has hdss.SetLost."""
        self._is_shut_down = True
        self._engine.kill(SetLost('the executor was ended'))

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            self.kill()
        self.shutdown(wait=True)


def zipped(iterables: Sequence[Iterable[Any]]) -> Tuple[Iterable[Any], bool, bool]:
    """The items, whether each is one argument, and whether reading them takes no wait."""
    are_single = len(iterables) == 1
    return iter(iterables[0]) if are_single else zip(*iterables), are_single, all(map(is_container, iterables))


def _wait(name: str, given: Any) -> float:
    """Seconds for which something is waited for, 0 or less for not at all."""
    try:
        return float(given)
    except (TypeError, ValueError):
        raise _given.refusal(TypeError, name, given, 'seconds, or None') from None


class _Raising:
    """Results of a map whose function cannot be sent: raises when it is asked for the first item, as that of the standard library."""

    def __init__(self, error: BaseException) -> None:
        self._error: Optional[BaseException] = error

    def __iter__(self) -> '_Raising':
        return self

    def __next__(self) -> Any:
        return self.next()

    def next(self, timeout: Optional[float] = None) -> Any:
        error, self._error = self._error, None
        raise error or StopIteration

    def close(self) -> None:
        self._error = None
