# SPDX-License-Identifier: MIT
"""A map: items of iterables, batched so that a batch takes about a millisecond, and their results, in order or as they come.

The iterables are read by the thread that asks for results, never by another one: all at once where they have a length,
else so far ahead that what waits is bounded.
"""
from __future__ import annotations

import collections
import concurrent.futures
import itertools
import os
import threading
import time
from typing import Any, Callable, Deque, Dict, Iterable, Iterator, List, Optional, Tuple

from hdss import _pickled
from hdss._engine import end_wait, Engine, Source, Unit

BATCH_S = 0.001
BATCH_MAX = 1000
BATCH_BYTES = 1 << 18
SIZED_AHEAD = 1 << 20
AHEAD = 1 << 14


class _Batch(Unit):
    """Consecutive items of a map."""

    def __init__(self, of: 'Map', first: int, items: List[bytes]) -> None:
        self._map, self._first, self._items = of, first, items
        self.items = len(items)

    def begin(self) -> bool:
        return not self._map.is_cancelled

    def is_wanted(self) -> bool:
        return not self._map.is_cancelled

    def contents(self) -> Tuple[bytes, int, int]:
        return _pickled.dumps(self._items), self._map.function, len(self._items)

    def end(self, outcome: bytes, took_s: float) -> None:
        self._map.receive(self._first, _pickled.loads(outcome), took_s)

    def fail(self, error: BaseException) -> None:
        self._map.receive(self._first, [error] * len(self._items), None)

    def cancel(self) -> None:
        self.fail(concurrent.futures.CancelledError())

    def split(self) -> List[Unit]:
        if len(self._items) == 1:
            return []
        return [_Batch(self._map, self._first + i, [item]) for i, item in enumerate(self._items)]


def _result(outcome: Any) -> Any:
    """The value of an outcome, or the exception raised."""
    is_value, value = (False, outcome) if isinstance(outcome, BaseException) else _pickled.open_outcome(outcome)
    try:
        if not is_value:
            raise value
        return value
    finally:
        del outcome, value  # the traceback of what is raised has this frame


class Map(Source):
    """The items and results of one map. `chunksize`: items of a batch; None: as many as take a millisecond."""

    def __init__(self, engine: Engine, function: Callable[..., Any], items: Iterable[Tuple[Any, ...]], is_sized: bool, chunksize: Optional[int],
                 buffersize: Optional[int], is_ordered: bool) -> None:
        self._engine = engine
        self.function = engine.put_function(function)
        self._source: Iterator[Tuple[Any, ...]] = iter(items)
        self._limit = buffersize or (SIZED_AHEAD if is_sized else AHEAD)
        self._chunksize, self._is_ordered, self._is_sized = chunksize, is_ordered, is_sized
        self._items: Deque[Tuple[Any, ...]] = collections.deque()
        self._pulled = self._taken = self._received = self._given = 0
        self._is_complete = self._is_closed = self.is_cancelled = False
        self._end: BaseException = RuntimeError('cannot schedule new futures after shutdown')  # of what comes behind the end of the executor
        self._mean_s = 0.0
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._results: Dict[int, List[Any]] = {}       # by the first item of a batch
        self._order: Deque[int] = collections.deque()  # of the batches as they have come, where that counts
        self._is_added = False
        self._pull()
        engine.add_source(self)
        self._is_added = True
        self._tell(self._pulled)

    # --- the thread of the caller ---

    def _pull(self) -> None:
        """Reads the iterables as far as there is room."""
        room = self._limit - (self._pulled - self._given)
        if self._is_complete or self._is_closed or room <= 0 or (room < self._limit // 2 and room < 1024):
            return
        items = list(itertools.islice(self._source, room))
        with self._changed:
            if self._is_closed:  # meanwhile
                self._source = itertools.chain(items, self._source)
                return
            self._items.extend(items)
            self._pulled += len(items)
            self._is_complete = len(items) < room
        if self._is_added:
            self._tell(len(items))

    def _tell(self, items: int) -> None:
        """Counts items that the engine can already see: it takes what it does not see for cancelled."""
        self._engine.note_submitted(items)
        self._engine.wake()

    def _next_batch(self, until: Optional[float]) -> Optional[List[Any]]:
        """The outcomes of the next batch; None behind the last one."""
        self._pull()
        with self._changed:
            while not (self._order or self._given in self._results):
                if self._given == self._pulled and (self._is_complete or self._is_closed):
                    self._check_end()
                    return None
                left = None if until is None else until - time.monotonic()
                if left is not None and left <= 0:
                    raise concurrent.futures.TimeoutError()
                self._changed.wait(left)
            first = self._given if self._is_ordered else self._order.popleft()
            outcomes = self._results.pop(first)
            self._given += len(outcomes)
        return outcomes

    def _check_end(self) -> None:
        """Raises where the iterables have items that had not been read when the executor ended."""
        for _ in () if self._is_complete else itertools.islice(self._source, 1):
            raise self._end

    def is_read(self) -> bool:
        """True where the iterables have been read to their end."""
        return self._is_complete

    def results(self, timeout: Optional[float], end_s: Optional[float], executor: object) -> Iterator[Any]:
        """The results, one by one. Raises what a call has raised, in its turn. What is not asked for any more is not run. Holds
        the executor, which nobody else may have any more, where items are still to be read for it."""
        until = end_s if timeout is not None else None
        try:
            while True:
                outcomes = self._next_batch(until)
                if outcomes is None:
                    return
                outcomes.reverse()
                while outcomes:  # nothing here refers to what the caller has got
                    yield _result(outcomes.pop())
        except (KeyboardInterrupt, RuntimeError) as error:
            end_wait(error, self._changed, self._engine.bar)
            raise
        finally:
            self._drop()
            del self, executor  # the traceback of what is raised has this frame

    def _drop(self) -> None:
        """Nothing that has not begun is run, and nobody asks for results any more. A child that was forked has no part in it."""
        if os.getpid() != self._engine.pid:
            return
        self.is_cancelled = self._is_complete = True
        self._engine.note_submitted(self._received - self._pulled)
        self._items.clear()
        self._engine.wake()

    def close(self) -> None:
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def cancel(self) -> None:
        """Nothing that has not been taken is run."""
        self.fail(concurrent.futures.CancelledError())

    # --- the engine's thread ---

    def _size(self) -> int:
        if self._chunksize is not None:
            return self._chunksize
        if self._mean_s == 0:
            return 1
        size = min(BATCH_MAX, max(1, int(BATCH_S / self._mean_s)))
        if self._is_sized and self._is_complete:
            size = min(size, max(1, len(self._items) // (2 * self._engine.workers)))
        return size

    def take(self) -> Optional[Unit]:
        packed: List[bytes] = []
        first, size, length = self._taken, self._size(), 0
        while len(packed) < size and length < BATCH_BYTES:
            with self._lock:  # for each item, so not the condition, whose methods are Python; fail() leaves what is taken to its batch
                if not self._items:
                    break
                item = self._items.popleft()
                self._taken += 1
            try:
                data = _pickled.dumps(item)
            except BaseException as error:  # of whatever the user's __reduce__ does
                self.receive(first + len(packed), [error], None)
                if packed:
                    break
                first += 1
                continue
            packed.append(data)
            length += len(data)
        return _Batch(self, first, packed) if packed else None

    def receive(self, first: int, outcomes: List[Any], took_s: Optional[float]) -> None:
        """Outcomes of items, or the exceptions of items that have none."""
        if took_s is not None:
            mean = max(took_s / len(outcomes), 1e-7)
            self._mean_s = mean if self._mean_s == 0 else 0.8 * self._mean_s + 0.2 * mean
        with self._changed:
            self._received += len(outcomes)
            self._results[first] = outcomes
            if not self._is_ordered:
                self._order.append(first)
            if first == self._given or not self._is_ordered:
                self._changed.notify_all()
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
            if not self._is_closed:
                self._is_closed, self._end = True, error
            self._changed.notify_all()

    def is_over(self) -> bool:
        return (self._is_complete or self._is_closed) and not self._items

    def forget(self) -> None:
        if self._received >= self._taken or self.is_cancelled:
            self._engine.drop_function(self.function)
