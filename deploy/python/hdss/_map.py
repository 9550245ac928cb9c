# SPDX-License-Identifier: MIT
"""A map: items of iterables, batched so that a batch takes about a millisecond, and their results, in order or as they come.

Containers are read at once, by the caller. Other iterables may take their time, or wait for results: they are read by a thread of the
map, so far ahead as keeps the workers busy, and what waits is bounded.
"""
from __future__ import annotations

import collections
import concurrent.futures
import itertools
import os
import threading
import time
from typing import Any, Callable, Deque, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple, Type

from hdss import _pickled
from hdss._engine import end_wait, Engine, Source, Unit

BATCH_S, BATCH_LONG_S = 0.001, 0.02
BATCH_MAX, BATCH_FIRST = 5000, 500  # items
BATCH_PART = 4  # of a batch, at the end of a list; what is less is not worth the way
MEASURED_MAX = 64
BATCH_BYTES = 1 << 18
SIZED_AHEAD = 1 << 20
END_WAIT_S = 1          # for an iterable whose end is looked for
AHEAD = 1 << 14       # items and results of other iterables
READ_AHEAD_S = 0.25   # for which the workers have items, if these are quick; else there are two for each
CONTAINERS = ('builtins', 'collections', 'array', 'numpy')  # modules whose types with a length are read without a wait


def is_container(iterable: Iterable[Any]) -> bool:
    return hasattr(iterable, '__len__') and type(iterable).__module__ in CONTAINERS


class _Values(List[Any]):
    """Plain values: items, or results, that need no pickle of their own."""


class _Batch(Unit):
    """Consecutive items of a map: their pickles, or _Values."""

    def __init__(self, of: 'Map', first: int, items: List[Any], kept: Sequence[Any] = (), is_shared: bool = False) -> None:
        self._map, self._first, self._items, self._kept, self._is_shared = of, first, items, kept, is_shared
        self._outcomes: List[Any] = []
        self.items, self.array_bytes = len(items), sum(file.bytes for file in kept)

    def begin(self) -> bool:
        return not self._map.is_cancelled

    def is_wanted(self) -> bool:
        return not self._map.is_cancelled

    def contents(self) -> Tuple[bytes, int, int]:
        items = list(self._items)
        return _pickled.batch_of(items, isinstance(self._items, _Values), self._is_shared), self._map.function, len(items)

    def take(self, outcome: bytes) -> int:
        are_plain, _, outcomes = _pickled.open_batch(outcome)
        self._outcomes = _Values(outcomes) if are_plain else [_pickled.fetched(one) for one in outcomes]
        return len(outcomes)

    def end(self, took_s: float) -> None:
        count = len(self._outcomes)
        if count < len(self._items):
            self._map.take_back(self._first + count, type(self._items)(self._items[count:]), self._kept)
        self._map.receive(self._first, self._outcomes, took_s)

    def fail(self, error: BaseException) -> None:
        self._map.receive(self._first, [error] * len(self._items), None)

    def split(self) -> List[Unit]:
        if len(self._items) == 1:
            return []
        kind = type(self._items)
        return [_Batch(self._map, self._first + i, kind([item]), self._kept) for i, item in enumerate(self._items)]


def _result(outcome: Any) -> Any:
    """The value of an outcome, or the exception raised."""
    is_value, value = _pickled.open_outcome(outcome)
    try:
        if not is_value:
            raise value
        return value
    finally:
        del outcome, value  # the traceback of what is raised has this frame


class Map(Source):
    """The items and results of one map. `are_single`: each item is an argument, else a tuple of several. `chunksize`: items of a batch; None: as
    many as take a millisecond."""

    def __init__(self, engine: Engine, function: Callable[..., Any], items: Iterable[Any], are_single: bool, is_sized: bool, chunksize: Optional[int],
                 buffersize: Optional[int], is_ordered: bool) -> None:
        self._engine = engine
        self.function, self._key, self._kept = engine.put_function(function)
        self._source: Iterator[Any] = iter(items)
        self._limit = buffersize or (SIZED_AHEAD if is_sized else AHEAD)
        self._are_single = are_single
        self._buffersize, self._chunksize, self._is_ordered, self._is_sized = buffersize, chunksize, is_ordered, is_sized
        self._items: Deque[Tuple[Any, ...]] = collections.deque()
        self._pulled = self._taken = self._received = self._given = 0
        self._is_complete = self._is_closed = self._is_stopped = self.is_cancelled = False
        self._end: BaseException = RuntimeError('cannot schedule new futures after shutdown')  # of what comes behind the end of the executor
        self._source_error: Optional[BaseException] = None
        self._failed: Optional[BaseException] = None  # of what is not done
        self._mean_s, self._measured = engine.means.get(self._key, 0.0), 1  # of how many items
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._room = threading.Condition(self._lock)   # for which the reader waits
        self._is_hungry = True                         # the engine has found too few items
        self._results: Dict[int, List[Any]] = {}       # by the first item of a batch
        self._back: Deque[Tuple[int, List[Any], Sequence[Any]]] = collections.deque()  # what workers have handed back, as batches have it
        self._order: Deque[int] = collections.deque()  # of the batches as they have come, where that counts
        self._reader: Optional[threading.Thread] = None
        try:
            if is_sized:
                engine.note_submitted(self._pull())
            else:
                self._reader = threading.Thread(target=self._read, name='hdss map', daemon=True)
            engine.add_source(self, is_sized)
            if self._reader is not None:
                self._reader.start()
        except BaseException:
            self.drop()
            raise

    # --- the thread of the caller ---

    def _pull(self) -> int:
        """Reads containers as far as there is room. Returns how many items."""
        room = self._limit - (self._pulled - self._given)
        if self._is_complete or self._is_closed or room <= 0 or (room < self._limit // 2 and room < 1024):
            return 0
        items = list(itertools.islice(self._source, room))
        with self._changed:
            if self._is_closed:  # meanwhile
                self._source = itertools.chain(items, self._source)
                return 0
            self._items.extend(items)
            self._pulled += len(items)
            self._is_complete = len(items) < room
        return len(items)

    def _tell(self, items: int) -> None:
        """Counts items that the engine can already see: it takes what it does not see for cancelled."""
        self._engine.note_submitted(items)
        self._engine.wake()

    def next_batch(self, until: Optional[float], late: Type[Exception] = concurrent.futures.TimeoutError) -> Optional[List[Any]]:
        """The outcomes of the next batch; None behind the last one. Raises `late` at the time `until`."""
        try:
            pulled = self._pull() if self._is_sized else 0
            if pulled > 0:
                self._tell(pulled)
            with self._changed:
                while not (self._order or self._given in self._results):
                    if self._given == self._pulled and (self._is_complete or self._is_stopped):
                        break
                    left = None if until is None else until - time.monotonic()
                    if left is not None and left <= 0:
                        raise late()
                    self._changed.wait(left)
                else:
                    first = self._given if self._is_ordered else self._order.popleft()
                    outcomes = self._results.pop(first)
                    self._given += len(outcomes)
                    self._room.notify_all()
                    return outcomes
            self._check_end()
            return None
        except (KeyboardInterrupt, RuntimeError) as error:
            end_wait(error, self._changed, self._engine.bar)
            raise

    def _check_end(self) -> None:
        """Raises what the iterables have raised, or if they have items that had not been read when the executor ended."""
        error, self._source_error = self._source_error, None
        if error is not None:
            raise error
        if self._reader is not None:
            self._reader.join(END_WAIT_S)
        if self._is_complete:
            return
        for _ in itertools.islice(self._source, 1) if self._reader is None else (None,):
            raise self._end

    def is_read(self) -> bool:
        """True where the iterables have been read to their end."""
        return self._is_complete

    def results(self, until: Optional[float], executor: object) -> Iterator[Any]:
        """The results, one by one. Raises what a call has raised, in its turn. What is not asked for any more is not run. Holds
        the executor, which nobody else may have any more, where items are still to be read for it."""
        try:
            while True:
                outcomes = self.next_batch(until)
                if outcomes is None:
                    return
                if isinstance(outcomes, _Values):
                    yield from outcomes
                    continue
                outcomes.reverse()
                while outcomes:  # nothing here refers to what the caller has got
                    yield _result(outcomes.pop())
        finally:
            self.drop()
            del self, executor  # the traceback of what is raised has this frame

    def drop(self) -> None:
        """Nothing that has not begun is run, and nobody asks for results any more. A child that was forked has no part in it."""
        if os.getpid() != self._engine.pid:
            return
        with self._changed:
            self.is_cancelled = self._is_complete = True
            self._engine.note_submitted(self._received - self._pulled)
            self._items.clear()
            self._back.clear()
            self._room.notify_all()
        self._engine.wake()

    def close(self) -> None:
        with self._changed:
            self._is_closed = True
            self._is_stopped = self._is_stopped or self._reader is None
            self._changed.notify_all()
            self._room.notify_all()

    def cancel(self) -> None:
        """Nothing that has not been taken is run."""
        self.fail(concurrent.futures.CancelledError())

    # --- the thread that reads ---

    def _read(self) -> None:
        """Reads iterables that may wait. Each item is there for the engine before the next one is asked for."""
        source = self._source
        try:
            while self._await_room():
                for item in source:
                    with self._lock:
                        if self.is_cancelled or self._is_stopped:
                            return
                        self._items.append(item)
                        self._pulled += 1
                        wakes = self._is_hungry and len(self._items) >= self._least()
                        self._is_hungry = self._is_hungry and not wakes
                        has_room = self._read_ahead() > 0
                    self._engine.note_submitted(1)
                    if wakes:
                        self._engine.wake()
                    if not has_room:
                        break
                else:
                    self._is_complete = True
                    return
            self._is_complete = self._is_complete or not any(True for _ in source)
        except BaseException as error:  # of whatever the iterable does
            self._source_error, self._is_complete = error, True
        finally:
            del source
            with self._changed:
                self._is_stopped = True
                self._changed.notify_all()
            self._engine.wake()
            del self  # the traceback of what the iterable has raised has this frame

    def _read_ahead(self) -> int:
        """For how many more items there is room. When the executor has been shut down all are read that it takes."""
        room = self._limit - (self._pulled - self._given)
        if self._buffersize is not None or self._is_closed:
            return room
        workers = self._engine.workers
        quick = int(workers * READ_AHEAD_S / self._mean_s) if self._mean_s > 0 else 0
        return min(room, max(2 * workers * (self._chunksize or 1), quick) - (self._pulled - self._received))

    def _await_room(self) -> bool:
        """False where nothing more is read."""
        with self._room:
            while not (self.is_cancelled or self._is_stopped):
                if self._read_ahead() > 0:
                    return True
                if self._is_closed:
                    self._is_stopped = True
                    break
                self._room.wait()
        return False

    def _least(self) -> int:
        """Items of which a batch is made while more may come."""
        return 1 if self._is_sized else min(self._chunksize or 1, self._limit)

    # --- the engine's thread ---

    def _size(self) -> int:
        """Items of the next batch: as many as take BATCH_S; of a list also more, an eighth of what a worker has of it, if that takes no longer
        than BATCH_LONG_S. Towards the end of a list fewer."""
        if self._chunksize is not None:
            return self._chunksize
        is_known, workers = self._mean_s > 0, self._engine.workers
        size = min(BATCH_MAX, max(1, int(BATCH_S / self._mean_s))) if is_known else BATCH_FIRST if self._is_sized else 1
        if self._is_sized and self._is_complete:
            if is_known:
                size = max(size, min(self._pulled // (4 * workers), int(BATCH_LONG_S / self._mean_s)))
            left = len(self._items) + sum(len(values) for _, values, _ in self._back)
            least = max(1, size // BATCH_PART) if is_known else 1
            size = min(size, max(least, left // (workers if is_known else 2 * workers)))
            size = left if left - size < least else size
        return size

    def has_items(self) -> bool:
        return bool(self._items)

    def take(self) -> Optional[Unit]:
        with self._lock:
            if not self._back and len(self._items) < (1 if self._is_complete or self._is_stopped or self._is_closed else self._least()):
                self._is_hungry = True
                return None
            size = self._size()
            if self._back:
                first, values, kept = self._back.popleft()
                if len(values) > size:
                    self._back.appendleft((first + size, type(values)(values[size:]), kept))
                return _Batch(self, first, type(values)(values[:size]), kept, True)
            first, pop = self._taken, self._items.popleft
            items = [pop() for _ in range(min(size, len(self._items)))]
            self._taken += len(items)
        if self._are_single and _pickled.are_plain(items, BATCH_BYTES):
            return _Batch(self, first, _Values(items), is_shared=self._chunksize is None)
        return self._packed(first, items)

    def _packed(self, first: int, items: List[Any]) -> Optional[Unit]:
        """A batch of the first ones of the items; the others are put back."""
        packed: List[bytes] = []
        kept: List[Any] = []
        length = done = 0
        for item in items:
            if length >= BATCH_BYTES:
                break
            done += 1
            try:
                data, files = self._engine.packed((item,) if self._are_single else item)
            except BaseException as error:  # of whatever the user's __reduce__ does
                if isinstance(error, KeyboardInterrupt):
                    raise
                self.receive(first + len(packed), [error], None)
                if packed:
                    break
                first += 1
                continue
            packed.append(data)
            length += len(data) + sum(file.bytes for file in files)
            kept += files
        left = items[done:]
        with self._lock:
            if left and self._failed is None:
                self._items.extendleft(reversed(left))
                self._taken -= len(left)
                left = []
        if left:
            self.receive(first + done, [self._failed] * len(left), None)
        return _Batch(self, first, packed, kept, self._chunksize is None) if packed else None

    def take_back(self, first: int, items: List[Any], kept: Sequence[Any]) -> None:
        """A worker has not begun these."""
        with self._lock:
            if self._failed is None and not self.is_cancelled:
                self._back.append((first, items, kept))
        if self._failed is not None:
            self.receive(first, [self._failed] * len(items), None)

    def receive(self, first: int, outcomes: List[Any], took_s: Optional[float]) -> None:
        """Outcomes of items, or the exceptions of items that have none."""
        if took_s is not None:
            mean, count = max(took_s / len(outcomes), 1e-7), self._measured
            self._mean_s = (count * self._mean_s + len(outcomes) * mean) / (count + len(outcomes))  # the last ones count most
            self._engine.means[self._key] = self._mean_s
            self._measured = min(count + len(outcomes), MEASURED_MAX)
        with self._changed:
            self._received += len(outcomes)
            self._results[first] = outcomes
            if not self._is_ordered:
                self._order.append(first)
            if first == self._given or not self._is_ordered:
                self._changed.notify_all()
            self._room.notify_all()
        if self.is_over():
            self.forget()

    def fail(self, error: BaseException) -> None:
        with self._changed:
            if self._taken < self._pulled:
                self._items.clear()
                self._results[self._taken] = [error] * (self._pulled - self._taken)
                if not self._is_ordered:
                    self._order.append(self._taken)
                self._taken = self._pulled
            while self._back:
                first, values, _ = self._back.popleft()
                self.receive(first, [error] * len(values), None)
            if not self._is_closed:
                self._end = error
            self._failed = error
            self._is_closed = self._is_stopped = True
            self._changed.notify_all()
            self._room.notify_all()

    def is_over(self) -> bool:
        are_out = self._chunksize is None and not self.is_cancelled and self._received < self._taken  # which may come back
        return (self._is_complete or self._is_stopped) and not self._items and not self._back and not are_out

    def forget(self) -> None:
        if self._received >= self._taken or self.is_cancelled:
            self._engine.drop_function(self.function)


class Results:
    """The results of a map as the iterators of multiprocessing.pool give them: an exception is one of them, and others come after it."""

    def __init__(self, of: Map, until: Optional[float], executor: object, late: Type[Exception] = concurrent.futures.TimeoutError) -> None:
        self._map, self._until, self._executor, self._late = of, until, executor, late
        self._outcomes: List[Any] = []
        self._has_begun = self._is_over = False

    def __iter__(self) -> 'Results':
        return self

    def __next__(self) -> Any:
        return self.next()

    def next(self, timeout: Optional[float] = None) -> Any:
        """The next result. TimeoutError if it is not there after `timeout` seconds: it can be asked for again."""
        self._has_begun = True
        try:
            if not self._outcomes and not self._is_over:
                outcomes = self._map.next_batch(self._until if timeout is None else time.monotonic() + timeout, self._late)
                self._outcomes = outcomes if outcomes is not None else []
                self._outcomes.reverse()
                if outcomes is None:
                    self.close()
            if self._is_over:
                raise StopIteration
            return self._outcomes.pop() if isinstance(self._outcomes, _Values) else _result(self._outcomes.pop())
        finally:
            del self  # the traceback of what is raised has this frame

    def close(self) -> None:
        """Nothing more is asked for: what has not begun is not run."""
        if not self._is_over:
            self._is_over, self._executor, self._outcomes = True, None, []
            self._map.drop()

    def __del__(self) -> None:
        if self._has_begun:
            self.close()
