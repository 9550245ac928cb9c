# SPDX-License-Identifier: MIT
"""The engine of an executor: one open job of a set, to which calls are added as there is room for them, and a thread that
writes the units, reads the results (hdss/_spool.py), and says whose they are."""
from __future__ import annotations

import collections
import logging
import os
import select
import sys
import threading
import time
import traceback
import weakref
from typing import Any, Callable, Deque, Dict, List, Optional, Sequence, Tuple

from hdss import _interpreter, _pickled, _spool
from hdss._control import Control, environment_words, Refused
from hdss._errors import CallDied, HdssError, SetLost
from hdss._progress import Bar
from hdss._sets import PACKAGE, remove_folder, Set, work_folder

AHEAD_S = 0.1        # units are added for so long ahead: as long as the way of one takes, and several of those at once that are short
AHEAD_MAX = 4096
BYTES_AHEAD = 1 << 28  # of arrays in units that are open
LOOK_S = 0.05        # between two looks for results of other machines, and how long calls have ended when what they have printed is looked for
IDLE_S = 1.0         # without a call, after which the thread waits for one
JOIN_S = 0.001       # that calls of submit() take together which run as one unit
JOIN_MAX = 500
MEANS_MAX = 64
FAILURES_WAIT_S = 20
OUTPUT_S = 1.0       # between two looks for what programs of the calls have printed
END_WAIT_S = 2       # for the end of the job
THREADS = ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'MKL_NUM_THREADS', 'NUMEXPR_NUM_THREADS', 'VECLIB_MAXIMUM_THREADS')


def let_go(lock: Any) -> None:
    """Releases a condition, or another lock that its thread may have got several times, as far as this thread has it: called
    behind what Ctrl-C has interrupted. The methods of threading.Condition are Python, and an interrupt in the first or the
    last line of one leaves a `with` without its end. The engine's thread would wait for that lock, and nothing else end."""
    try:
        while True:
            lock.release()
    except RuntimeError:  # this thread has not got it
        pass


def interrupt_of(error: BaseException) -> Optional[KeyboardInterrupt]:
    """The Ctrl-C by which a wait for a condition has ended; None where the wait, or what was waited for, has raised anything else.
    Where Ctrl-C comes when wait() has just given the lock back, Condition.__exit__() finds it not held: its RuntimeError hides
    the interrupt."""
    if isinstance(error, KeyboardInterrupt):
        return error
    is_of_exit = any(frame.f_code is threading.Condition.__exit__.__code__ for frame, _ in traceback.walk_tb(error.__traceback__))
    return error.__context__ if is_of_exit and isinstance(error.__context__, KeyboardInterrupt) else None


def end_wait(error: BaseException, lock: Any, bar: Optional[Bar]) -> None:
    """Called behind a wait for the condition `lock` that has raised the error. Where Ctrl-C has ended it nobody waits any more,
    and no bar is drawn. Raises KeyboardInterrupt where the error hides it."""
    interrupt = interrupt_of(error)
    if interrupt is None:
        return
    let_go(lock)
    if bar is not None:
        bar.hide()
    if interrupt is not error:
        raise interrupt from None


class Unit:
    """What is run at once: a call, or a batch of a map. Subclasses say what it is made of, and who wants its outcome.
    The methods are called by the engine's thread."""

    items = 1
    array_bytes = 0  # that it is sent with
    may_join = False  # it can be run together with others of its source

    def begin(self) -> bool:
        """Called once, before the unit is added. False where nobody wants it any more: then it is not."""
        return True

    def contents(self) -> Tuple[bytes, int, int]:
        """Its contents, the number of its function, and its items."""
        raise NotImplementedError

    def forget_contents(self) -> None:
        """They are not asked for any more."""

    def take(self, outcome: bytes) -> int:
        """A worker has made this outcome of it. Returns how many of its items are done; the others were handed back."""
        raise NotImplementedError

    def end(self, took_s: float) -> None:
        """Hands on what take() has got."""
        raise NotImplementedError

    def fail(self, error: BaseException) -> None:
        """It will not be done."""
        raise NotImplementedError

    def cancel(self) -> bool:
        """Nobody wants it any more. False if it has begun."""
        return False

    def is_wanted(self) -> bool:
        """False where nobody asks for its outcome any more."""
        return True

    def split(self) -> List['Unit']:
        """The parts into which a unit that a worker has died of can be divided; none where it cannot."""
        return []

    def joined(self, others: List['Unit']) -> 'Unit':
        """One unit of this one and others that come after it."""
        raise NotImplementedError


class Source:
    """Where units come from, in the order of their time: the calls of submit(), or the items of a map."""

    def take(self) -> Optional[Unit]:
        """The next unit; None where there is none at the moment."""
        raise NotImplementedError

    def fail(self, error: BaseException) -> None:
        """No other unit is taken; what is left of it fails with the error."""
        raise NotImplementedError

    def is_over(self) -> bool:
        """No other unit will come."""
        raise NotImplementedError

    def has_items(self) -> bool:
        """Something of it is left to be taken."""
        return False

    def cancel(self) -> None:
        """Nothing of it that has not begun is wanted any more."""

    def close(self) -> None:
        """The executor is shut down: what is there is done, and nothing else is read that units could be made of."""

    def forget(self) -> None:
        """Called when it is over: nothing of it is left."""


class Queue(Source):
    """Units that are put in, first in first out, by any thread."""

    def __init__(self, joins: bool) -> None:
        self._units: Deque[Unit] = collections.deque()
        self.workers, self._closed, self.joins = 1, False, joins
        self._mean_s = 0.0  # of one

    def __bool__(self) -> bool:
        return bool(self._units)

    def note_time(self, took_s: float) -> None:
        self._mean_s = 0.8 * self._mean_s + 0.2 * took_s if self._mean_s > 0 else took_s

    def put(self, unit: Unit) -> None:
        self._units.append(unit)

    def put_first(self, units: Sequence[Unit]) -> None:
        self._units.extendleft(reversed(units))

    def close(self) -> None:
        self._closed = True

    def take(self) -> Optional[Unit]:
        """The next one, or several of which each is quick."""
        try:
            unit = self._units.popleft()
        except IndexError:
            return None
        if unit.may_join and self._mean_s > 0:
            most = min(JOIN_MAX, int(JOIN_S / self._mean_s), len(self._units) // (2 * self.workers))
            others: List[Unit] = []
            while len(others) < most and self._units and self._units[0].may_join:
                others.append(self._units.popleft())
            return unit.joined(others) if others else unit
        return unit

    def fail(self, error: BaseException) -> None:
        while True:
            unit = self.take()
            if unit is None:
                return
            if unit.begin():
                unit.fail(error)

    def is_over(self) -> bool:
        return self._closed and not self._units

    def cancel(self) -> None:
        """But for units that a worker has handed back, as they have begun for their futures."""
        units = [self._units.popleft() for _ in range(len(self._units))]
        self.put_first([unit for unit in units if not unit.cancel()])


class Engine:
    """Runs units in a set. It does not know the executor, so that one that is forgotten can be collected."""

    def __init__(self, in_set: Set, owns_set: bool, words: List[str], setup: Tuple[Any, Tuple[Any, ...]], options: Dict[str, Any],
                 prints: bool, environment: Optional[Dict[str, str]], bar: Optional[Bar], tasks: int, joins: bool) -> None:
        self.set = in_set
        self._owns_set, self._has_nodes = owns_set, in_set.may_have_nodes
        self.pid = os.getpid()
        self._words, self._options, self._prints, self._tasks = words, options, prints, tasks
        self._environment = dict(os.environ if environment is None else environment)
        self._here = os.getcwd()
        self._folder = work_folder(in_set)
        self.folder = self._folder.path
        self._memory = in_set.memory()  # a folder in shared memory, if there is one
        self.folders = [*self._memory, self.folder]  # for buffers
        self._is_woken = False  # the thread will look for units in any case
        self._is_idle = False   # the thread looks for nothing until it is woken
        self._writer, self._reader = _spool.UnitWriter(self.folder), _spool.ResultReader(self.folder)
        self._lock = threading.RLock()  # code that the collector or a signal runs while it is held may close the engine
        self._adding = threading.RLock()  # of whoever adds units
        self._told = 0  # units of which the set was told
        self._is_unsure = False   # it may have been told wrongly
        self._is_leaving = False  # nothing is added any more
        self._open: Dict[int, Unit] = {}
        self._open_bytes = 0
        self.queue = Queue(joins)
        self._sources: List[Source] = [self.queue]
        self._functions = 0
        self.means: Dict[bytes, float] = {}  # seconds of an item of a map, by the function's pickle
        self._sender: Any = None
        self._mean_s, self._ended = 0.0, 0  # of how many units
        self.bar = bar
        self._submitted = self._done = self._failed = 0  # calls and items
        self._has_submissions = False  # since the sources were asked for units the last time
        self.workers = 1
        self._wants_end = False
        self._printed, self._printed_s = _spool.PrintedReader(self.folder), time.monotonic()
        self._looked_s = self._active_s = self._printed_s
        self._has_news = False  # calls have ended since the last look at what is printed
        self._job: Optional[int] = None
        self._failures: Deque[Dict[str, Any]] = collections.deque()
        self._said: Deque[HdssError] = collections.deque()
        self.error: Optional[BaseException] = None
        self.is_over = threading.Event()
        self._watched: Optional[Control] = None
        self._watch: Optional[threading.Thread] = None
        self._is_gone = threading.Event()  # a thread whose join() is interrupted is taken for one that has ended
        self._thread = threading.Thread(target=self._run, name='hdss', daemon=True)
        try:
            self._make_files(setup)
            _engines.add(self)
            self._thread.start()
        except BaseException as error:
            if self._thread.ident is None:
                self._leave()
            else:  # Ctrl-C: the thread has begun, and ends by itself
                self.kill(_as_lost(error))
            raise

    def _make_files(self, setup: Tuple[Any, Tuple[Any, ...]]) -> None:
        """The bell, and what workers do first."""
        self._reader.open()
        client = {**_interpreter.describe_client(), 'prints': self._prints, 'tasks': self._tasks, 'folders': self.folders}
        with open(os.path.join(self.folder, _spool.SETUP), 'wb') as file:
            file.write(_pickled.dumps_plain(client, 2) + _pickled.dumps(setup))  # by other versions of Python, the first one can be read

    # --- called by any thread ---

    def wake(self) -> None:
        """Has the thread look for units. A system call for each of many would hand the interpreter to the thread each time."""
        if not self._is_woken:
            self._is_woken = True
            self._reader.wake()

    def put(self, unit: Unit) -> None:
        """Takes a unit of submit()."""
        if not self._hurry(1, lambda: [unit] if unit.begin() else []):
            self.queue.put(unit)
            self.wake()

    def add_source(self, source: Source, is_ready: bool) -> None:
        """Takes the units of a source. `is_ready`: it has some."""
        with self._lock:
            self._sources.append(source)
            is_late = self._wants_end
        if is_late:
            source.close()
        if not is_ready or not self._hurry(2, lambda: self._units_of([source], self._room())) or source.has_items():
            self.wake()
        self.fail_late()

    def _hurry(self, sources: int, take: Callable[[], List[Unit]]) -> bool:
        """Adds units by this thread, if a worker has nothing to do and there are no other sources: that saves the way by the engine's thread.
        False if it cannot. Where the thread is interrupted in that, whatever the line, the engine's thread goes on."""
        units: List[Unit] = []
        try:
            if not self._may_hurry(sources) or self._adding._is_owned() or not self._adding.acquire(False):  # type: ignore[attr-defined]
                return False
            is_done = self._may_hurry(sources)
            if is_done:
                units = take()
                self._write(units)
                self._tell()
            self._adding.release()
        except BaseException as error:
            let_go(self._adding)
            self._is_unsure = True
            self.wake()
            if not isinstance(error, OSError) or error.errno is None:
                raise
            self.error = self.error or _as_lost(error)  # of the disk
            for unit in units:
                unit.fail(self.error)
            return True
        if self._is_idle or self._is_unsure:
            self.wake()
        return is_done

    def _may_hurry(self, sources: int) -> bool:
        return (self._job is not None and self.error is None and not self._is_leaving and len(self._open) < self.workers
                and len(self._sources) == sources and not self.queue)

    def packed(self, value: Any) -> Tuple[bytes, List[Any]]:
        """A value as bytes, and what has to be kept until a worker has read these: the files of large buffers."""
        if _pickled.is_plain(value, apart=False):
            return _pickled.dumps_plain(value, _pickled.PROTOCOL), []
        data, large = _pickled.dumps_apart(_pickled.marked(value))
        if not large:
            return data, []
        data, files = self.sender().mapped(data, large)
        return data, files

    def packed_call(self, function: Callable[..., Any], *rest: Any) -> Tuple[bytes, Any, List[Any]]:
        """A function with its arguments, likewise, and what is sent in its place. A function is sent once."""
        sent = self.sender().sent(function)
        is_plain = not rest or (not rest[1] and _pickled.are_plain(rest[0], _spool.BUFFER))  # most often, and quickly
        if sent is not function and (is_plain or _pickled.is_plain(rest, apart=False)):
            return _pickled.dumps_plain((sent, *rest), _pickled.PROTOCOL), sent, []
        data, files = self.packed((sent, *_pickled.marked(rest)))
        return data, sent, files

    def sender(self) -> Any:
        if self._sender is None:
            self._sender = _pickled.cloud().Sender(self.folders)
        return self._sender

    def put_function(self, function: Callable[..., Any]) -> Tuple[int, bytes, Any]:
        """Has workers find the function of a map. Returns its number, its pickle, and what has to be kept as long as the map. Raises what
        pickling raises."""
        try:
            data, *kept = self.packed_call(function)
            with self._lock:
                self._functions += 1
                number = self._functions
            with open(os.path.join(self.folder, f'function-{number}'), 'wb') as file:
                file.write(data)
        except FileNotFoundError:  # the folder goes when all is over
            if self.is_over.is_set():
                raise SetLost(str(self.error or 'the executor was shut down')) from None
            raise
        _pickled.trim(self.means, MEANS_MAX)
        return number, data, kept

    def drop_function(self, number: int) -> None:
        try:
            os.unlink(os.path.join(self.folder, f'function-{number}'))
        except OSError:
            pass

    def close(self) -> None:
        """Nothing more comes: what is there is done, and then the engine ends. A child that was forked has no part in it."""
        if os.getpid() != self.pid:
            return
        with self._lock:
            self._wants_end = True
            sources = list(self._sources)
        for source in sources:
            source.close()
        self.wake()

    def note_submitted(self, items: int) -> None:
        """So many calls or items more, or less, are there to be done, for the progress."""
        if items > 0 and self.bar is not None:
            self.bar.go_on(self._done, self._failed)
        with self._lock:
            self._submitted += items
            self._has_submissions = True

    def fail_late(self) -> None:
        """Called behind what hands a unit or a source over: where the thread has ended meanwhile nobody else fails it."""
        if self.is_over.is_set():
            self._fail_all(self.error or HdssError('the executor was shut down'))

    def cancel_open(self) -> None:
        """What has not been added to the job is cancelled."""
        with self._lock:
            sources = list(self._sources)
        for source in sources:
            source.cancel()

    def kill(self, error: BaseException) -> None:
        """Ends at once, with what runs; all that is open fails with the error."""
        self.error = self.error or error
        self.close()

    def join(self) -> None:
        """Waits for the end. Where Ctrl-C comes meanwhile what runs is ended at once, and KeyboardInterrupt raised.
        A thread of the engine, which runs the callbacks of futures, returns at once: it would wait for itself."""
        if threading.current_thread() in (self._thread, self._watch):
            return
        let_go(self._adding)  # which a handler of a signal has, if submit() of its thread was interrupted
        try:
            self._is_gone.wait()
        except (KeyboardInterrupt, RuntimeError) as error:
            self.kill(SetLost('the executor was interrupted'))
            self._is_gone.wait()
            raise interrupt_of(error) or error
        finally:
            self._thread.join()

    # --- the thread ---

    def _run(self) -> None:
        try:
            self._begin()
            self._serve()
        except BaseException as error:  # of the set, of the disk: no unit may be left waiting
            self.error = self.error or _as_lost(error)
        finally:
            try:
                self._finish()
            finally:
                self._is_gone.set()

    def _begin(self) -> None:
        self.workers = self.queue.workers = self.set.workers
        self._control = self.set.control()
        words = ['python:hdss._worker.calls', 'folder=' + self.folder, '--summary', 'none', *self._words]
        body = {'words': words, 'folder': self._here, 'open': True, 'attached': True, 'environment': self._words_of_environment(), **self._options}
        self._adds = self.set.control()
        self._tie = self.set.control()  # the job ends with this connection, however this process ends
        self._job = int(self._tie.ask('POST', '/v1/jobs', body)['id'])
        self._watched = self.set.control()
        self._watch = threading.Thread(target=_watch, args=(weakref.ref(self), self._watched, self._job), name='hdss watch', daemon=True)
        self._watch.start()

    def _words_of_environment(self) -> List[str]:
        values = self._environment
        values['PYTHONPATH'] = os.pathsep.join([PACKAGE] + [path for path in [values.get('PYTHONPATH')] if path])
        if not any(name in values for name in THREADS):
            cores = self.workers if self._has_nodes else len(os.sched_getaffinity(0))
            values.update({name: str(max(1, cores // self.workers)) for name in THREADS})
        return environment_words(values)

    def _serve(self) -> None:
        waits = select.poll()
        waits.register(self._reader.bell, select.POLLIN)
        while True:
            self._take_results(self._has_nodes and time.monotonic() >= self._looked_s + LOOK_S)
            self._is_woken = False  # from here on all is looked for
            if self.error is not None:
                return
            self._take_failures()
            self._fill()
            now = time.monotonic()
            if now >= self._printed_s + OUTPUT_S or (self._has_news and not self._open and now >= self._active_s + LOOK_S):
                self._take_printed(False)
            if not self._open:
                self._forget_cancelled()
            self._draw(False)
            if self._is_done():
                return
            self._await(waits, now >= self._active_s + IDLE_S)

    def _await(self, waits: Any, is_idle: bool) -> None:
        """Sleeps until there is something, or it is time to look."""
        self._is_idle = is_idle and not self._has_news and not self._wants_end
        if self._open or not self._is_idle:  # a thread that adds a unit looks in the other order
            self._is_idle = False
            looks = self._open or self._has_news or self._has_nodes
            waits.poll(LOOK_S * 1000 if looks else 10 if self._wants_end else IDLE_S * 1000)
        else:
            waits.poll()
        self._is_idle = False

    def _forget_cancelled(self) -> None:
        """Nothing is open, and no source had anything: what was submitted before they were asked and is not done was cancelled."""
        with self._lock:
            if not self._has_submissions:
                self._submitted = self._done + self._failed

    def _draw(self, is_end: bool) -> None:
        if self.bar is not None:
            self.bar.draw(self._done, self._submitted, self._failed, is_end)

    def _is_done(self) -> bool:
        with self._adding, self._lock:
            self._is_leaving = self._wants_end and not self._open and all(source.is_over() for source in self._sources)
        return self._is_leaving

    def _ahead(self) -> int:
        """How many units wait beside those that the workers compute, at most. No more than results are known, so that long calls
        behind a few short ones wait here, where they can be cancelled."""
        if self._mean_s == 0:
            return self.workers
        return max(1, min(AHEAD_MAX, self._ended, int(self.workers * AHEAD_S / self._mean_s)))

    def _room(self) -> int:
        """For how many units more there is room: for none before half of those that wait have begun, as what it takes to add some, however many,
        is taken from the calls where the cores are busy."""
        ahead = self._ahead()
        return self.workers + ahead - len(self._open) if len(self._open) <= self.workers + ahead // 2 else 0

    def _take_units(self) -> List[Unit]:
        with self._lock:
            self._has_submissions = False
            for source in [source for source in self._sources if source.is_over() and source is not self.queue]:
                self._sources.remove(source)
                source.forget()
            sources = list(self._sources)
        return self._units_of(sources, self._room())

    def _units_of(self, sources: List[Source], room: int) -> List[Unit]:
        """So many units at most, of one source after another."""
        units: List[Unit] = []
        while room > 0 and sources:
            for source in list(sources):
                unit = source.take()
                if unit is None:
                    sources.remove(source)
                elif unit.begin():
                    units.append(unit)
                    room -= 1
                    self._open_bytes += unit.array_bytes
                    if self._open_bytes > BYTES_AHEAD and len(self._open) + len(units) > self.workers:
                        room = 0
                if room <= 0:
                    break
        return units

    def _fill(self) -> None:
        with self._adding:
            units = self._take_units() if self._room() > 0 else []
            try:
                if units:
                    self._write(units)
            except BaseException as error:  # they are in no source any more, and not yet open
                for unit in units:
                    unit.fail(_as_lost(error))
                raise
            if units:
                self._active_s = time.monotonic()
            if self._is_unsure or not self._adds.is_in_order():
                self._is_unsure, self._told = False, self._writer.count
                self._adds.close()
                self._tell_again()
            else:
                self._tell()

    def _write(self, units: List[Unit]) -> None:
        """Opens units. For the set they are there when it has been told."""
        first = self._writer.add([unit.contents() for unit in units])
        self._open.update(zip(range(first, first + len(units)), units))
        for unit in units:
            unit.forget_contents()

    def _tell(self) -> None:
        """Has the job as many iterations as there are units, without waiting for the answer."""
        if self._told < self._writer.count:
            self._told = self._writer.count
            try:
                self._adds.tell(f'/v1/jobs/{self._job}/items', f'{{"total":{self._told}}}')
            except OSError as error:
                if error.errno is None:
                    raise
                self._is_unsure = True  # the connection has gone

    def _tell_again(self) -> None:
        """Raises if the job takes no units. An answer that is lost is asked for once more."""
        for ask in (self._control.ask, self._control.ask):
            try:
                ask('POST', f'/v1/jobs/{self._job}/items', {'total': self._told})
                return
            except SetLost as error:
                lost = error
        raise lost

    def _settle(self, number: int) -> Optional[Unit]:
        unit = self._open.pop(number, None)
        if unit is not None:
            self._open_bytes -= unit.array_bytes
            self._writer.done(number)
        return unit

    def _take_results(self, looks: bool) -> None:
        """`looks`: also for those of other machines."""
        if looks:
            self._looked_s = time.monotonic()
        for number, kind, took, data in self._reader.entries(looks):
            if kind in (_spool.PRINTED, _spool.PRINTED_ERROR):
                self._print(kind == _spool.PRINTED, data)
                continue
            if kind == _spool.BROKEN:
                text = data.decode()
                logging.getLogger('concurrent.futures').critical(text)
                raise SetLost(text)
            unit, self._has_news = self._settle(number), True
            if unit is not None:
                took_s = took / 1e9
                self._mean_s = took_s if self._mean_s == 0 else 0.9 * self._mean_s + 0.1 * took_s
                done = unit.take(data)
                self._done += done if unit.is_wanted() else 0
                self._ended += 1
                self._draw(False)  # before whoever waits for it goes on, and prints
                unit.end(took_s)
                self._active_s = time.monotonic()

    def _print(self, is_output: bool, data: bytes) -> None:
        file = sys.stdout if is_output else sys.stderr
        if self._prints and file is not None:
            if self.bar is not None:
                self.bar.clear()
            try:
                file.write(data.decode('utf-8', 'replace'))
                file.flush()
            except (OSError, ValueError):  # nobody reads it, it is closed, or its encoding has no such character
                pass

    def _take_printed(self, is_end: bool) -> None:
        """Prints what programs of the calls have written since the last time."""
        self._printed_s, self._has_news = time.monotonic(), False
        try:
            for is_output, data in self._printed.read(is_end):
                self._print(is_output, data)
        except OSError:  # the folder is gone
            pass

    def _take_failures(self) -> None:
        """What workers have died of. Results that they had written before count."""
        if self._said:
            raise self._said.popleft()
        while self._failures:
            failure = self._failures.popleft()
            self._take_results(True)
            for number in range(failure['first'], failure['first'] + failure['count']):
                unit = self._settle(number)
                if unit is None:
                    continue
                parts = unit.split()
                if parts:
                    self.queue.put_first(parts)
                else:
                    self._failed += unit.items if unit.is_wanted() else 0
                    self._draw(False)
                    unit.fail(CallDied(f'the call was given up: {failure["reason"]}'))

    # --- what the other thread says ---

    def note_failures(self, failures: List[Dict[str, Any]]) -> None:
        self._failures.extend(failures)
        self.wake()

    def note_end(self, error: HdssError) -> None:
        self._said.append(error)
        self.wake()

    # --- the end ---

    def _fail_all(self, error: BaseException) -> None:
        with self._lock:
            sources, self._sources = self._sources, [self.queue]
        for source in sources:
            source.fail(error)
            source.forget()
        for number in list(self._open):
            unit = self._settle(number)
            if unit is not None:
                unit.fail(error)

    def _end_job(self) -> None:
        """Takes leave of the set. A job whose calls are all over is complete; else it is ended at once."""
        if self._job is None:
            return
        try:
            if self.error is None:
                self._control.ask('POST', f'/v1/jobs/{self._job}/items', {'end': True})
            else:
                self._control.ask('DELETE', f'/v1/jobs/{self._job}')
            if not self._owns_set:
                self._control.ask('GET', f'/v1/jobs/{self._job}?wait={END_WAIT_S}')  # it needs the folder for so long
        except (HdssError, Refused):
            pass
        for control in (self._control, self._adds, self._tie):
            control.close()

    def _end_watch(self) -> None:
        """Whoever has waited for the end of the executor finds no thread of it."""
        if self._watched is not None and self._watch is not None and self._watch.ident is not None:
            self._watched.end()
            self._watch.join()
            self._watched.close()

    def _finish(self) -> None:
        if os.getpid() != self.pid:
            return
        if self.error is not None:
            self._fail_all(self.error)
        if self.error is None:
            self._draw(True)
        elif self.bar is not None:
            self.bar.leave()
        self._end_job()
        self.is_over.set()
        self.fail_late()
        self._end_watch()
        if self._owns_set:
            self.set.close()
        self._take_printed(True)
        self._leave()

    def _leave(self) -> None:
        """Nothing is left of it."""
        with self._adding:
            self._is_leaving = True
            self._writer.close()
            self._reader.close()
        _engines.discard(self)
        self._folder.remove()
        if os.getpid() == self.pid:
            for folder in self._memory:
                remove_folder(folder)


def _as_lost(error: BaseException) -> SetLost:
    """What breaks the executor: a BrokenExecutor, whatever the reason. It keeps no traceback, and with it no engine."""
    if isinstance(error, HdssError):
        return SetLost(str(error))
    lost = SetLost(f'{type(error).__name__}: {error}')
    lost.__cause__ = error.with_traceback(None)
    return lost


# --- the thread that watches ---

def _watch(engine_of: 'weakref.ref[Engine]', control: Control, job: int) -> None:
    """Asks for calls that workers have died of, and whether the job still goes on."""
    first = 0
    while True:
        try:
            answer = control.ask('GET', f'/v1/jobs/{job}/failures?from={first}&wait={FAILURES_WAIT_S}')
            engine = engine_of()
            if engine is None:
                return
        except HdssError as error:
            engine = engine_of()
            if engine is not None and not engine.is_over.is_set():
                engine.note_end(error if isinstance(error, SetLost) else SetLost(str(error)))
            return
        first = answer['next']
        if answer['failures']:
            engine.note_failures(answer['failures'])
        state = answer['job']['state']
        if engine.is_over.is_set():
            return
        if state in ('done', 'failed', 'cancelled'):
            engine.note_end(SetLost(f'job {job} of the executor was ended from outside: it is {state}'))
            return
        del engine


# --- the end of the process ---

_engines: 'set[Engine]' = set()


def _end_all() -> None:
    """What was submitted is done before the interpreter ends."""
    global _shut_down
    _shut_down = True
    for engine in list(_engines):
        if engine.pid == os.getpid():
            engine.close()
    for engine in list(_engines):
        if engine.pid == os.getpid():
            engine.join()


_shut_down = False


def is_shut_down() -> bool:
    """True where the interpreter is ending."""
    return _shut_down


def _forget_engines() -> None:
    _engines.clear()


os.register_at_fork(after_in_child=_forget_engines)
if hasattr(threading, '_register_atexit'):
    threading._register_atexit(_end_all)
else:
    import atexit
    atexit.register(_end_all)
