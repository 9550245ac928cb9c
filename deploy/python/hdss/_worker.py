# SPDX-License-Identifier: MIT
"""What the workers run: `python:hdss._worker.calls`, the calls of an executor, and `python:hdss._worker.loop`, a loop of one
function. Both are kernels in Python (hdss-kernel(7)), in the isolated helper of a worker."""
from __future__ import annotations

import io
import itertools
import os
import sys
import time
from typing import Any, BinaryIO, Callable, Dict, List, Optional, Tuple

from hdss import _interpreter, _pickled, _spool, _state

WAIT_S = 60.0  # for a unit that is added, and that a network file system does not show yet
FUNCTIONS_MAX = 64
NEVER_NS = 1 << 62
LOOK_ITEMS, LOOK_NS = 16, 20000  # items between two looks at the clock, if so many take no longer


# --- what calls print ---

class _Printed(io.RawIOBase):
    """Standard output or error of the calls: goes to the client with the results."""

    def __init__(self, calls: '_Calls', kind: int, descriptor: int) -> None:
        super().__init__()
        self._calls, self._kind, self._descriptor = calls, kind, descriptor

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def write(self, data: Any) -> int:
        text = bytes(data)
        self._calls.printed(self._kind, text)
        return len(text)


def _printing(calls: '_Calls', kind: int, descriptor: int) -> io.TextIOWrapper:
    raw = io.BufferedWriter(_Printed(calls, kind, descriptor), 1 << 16)
    return io.TextIOWrapper(raw, encoding='utf-8', errors='backslashreplace', line_buffering=True)


# --- calls ---

def _loads(data: bytes) -> Any:
    """What the client has sent."""
    try:
        return _pickled.loads(data)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f'{error}: a worker on {os.uname().nodename} needs it for what it was sent, and looks for modules where the program '
                                  'does: install it for all nodes, or name its folder by PYTHONPATH', name=error.name, path=error.path) from None


def _apply(function: Callable[..., Any], arguments: Tuple[Any, ...], keywords: Dict[str, Any]) -> Any:
    """An item of a batch of calls of submit()."""
    return function(*arguments, **keywords)


class _Calls:
    """The calls of one folder, in this process."""

    def __init__(self, folder: str) -> None:
        _interpreter.is_of_worker = True
        self._folder, self._host = folder, os.uname().nodename.split('.')[0] or 'host'
        self._units = _spool.UnitReader(folder)
        self._results = _spool.ResultWriter(folder, self._host)
        self._functions: Dict[int, Callable[..., Any]] = {}
        self._unit, self._pid = 0, os.getpid()
        self._began = 0  # when the function of the unit was called first
        self._tasks = self._done = 0  # after so many this process ends; 0: never
        self._folders: List[str] = []  # for buffers of results
        self._files: List[io.TextIOWrapper] = []
        self._opened: Dict[int, _state.File] = {}
        with open(os.path.join(folder, _spool.SETUP), 'rb') as setup:
            self._broken = self._set_up(_pickled.load(setup)) or self._initialize(setup)
        self._state = _state.State()

    def _set_up(self, client: Dict[str, Any]) -> Optional[str]:
        """Makes this interpreter as the client's. Returns why it cannot."""
        refused = _interpreter.refusal(client)
        if refused is not None:
            return refused
        _interpreter.take_path(client)
        self._tasks, self._folders = client['tasks'], client['folders']
        self._take_descriptors(client['prints'])
        self._files = [_printing(self, _spool.PRINTED, 1), _printing(self, _spool.PRINTED_ERROR, 2)]
        sys.stdout, sys.stderr = self._files
        try:
            import hdss._globals  # noqa: F401, which what the client sends needs
        except ImportError:  # said by what needs it
            pass
        return None

    def _initialize(self, setup: BinaryIO) -> Optional[str]:
        """Runs the initializer. Returns why it has failed."""
        try:
            initializer, arguments = _pickled.load(setup)
            if initializer is not None:
                initializer(*arguments)
        except BaseException as error:
            from hdss._errors import remote_text
            return 'the initializer has failed:\n' + remote_text(error)
        return None

    def _take_descriptors(self, prints: bool) -> None:
        """What does not go by Python's own files, as of programs that a call runs, goes to files that the client reads."""
        for descriptor, ending in ((1, '.out'), (2, '.err')):
            path = os.path.join(self._folder, _spool.PRINTS + self._host + ending) if prints else os.devnull
            file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            os.dup2(file, descriptor)
            os.close(file)

    def printed(self, kind: int, text: bytes) -> None:
        """What a call has printed. A process that a call has forked has files of its own."""
        if self._results.pid != os.getpid():
            self._results = _spool.ResultWriter(self._folder, self._host)
        self._results.write(self._unit, kind, 0, text)

    def _function(self, number: int) -> Callable[..., Any]:
        function = self._functions.get(number)
        if function is None:
            (function,) = _loads(self._units.function(number))
            while len(self._functions) >= FUNCTIONS_MAX:
                del self._functions[next(iter(self._functions))]
            self._functions[number] = function
        return function

    def _read(self, number: int) -> _spool.Unit:
        until = time.monotonic() + WAIT_S
        while True:
            try:
                unit = self._units.read(number)
            except FileNotFoundError:
                unit = None
            if unit is not None:
                return unit
            if time.monotonic() > until:
                raise RuntimeError(f'{self._folder}: unit {number} is not there; do all nodes share this folder?')
            time.sleep(0.01)

    def _one(self, data: bytes) -> bytes:
        try:
            function, arguments, keywords = _loads(data)
            self._began = time.perf_counter_ns()
            value = function(*arguments, **keywords)
        except BaseException as error:
            self._set_back()
            return _pickled.raised_outcome(error)
        self._set_back()  # what pickling the result needs, too
        return _pickled.value_outcome(value, self._folders)

    def _many(self, unit: _spool.Unit) -> bytes:
        try:
            function = _apply if unit.function == _spool.CALLS else self._function(unit.function)
            is_plain, is_shared, items = _pickled.open_batch(unit.data)
        except BaseException as error:
            return _pickled.batch_of([_pickled.raised_outcome(error)] * unit.items, False)
        values: List[Any] = []  # those that are plain are pickled together
        outcomes: Dict[int, bytes] = {}
        now, append = time.perf_counter_ns, values.append
        self._began = last = now()
        until = last + _pickled.BATCH_NS if is_shared else NEVER_NS
        left, called = (iter(items), map) if is_plain else (map(_loads, items), itertools.starmap)
        count, before = 1, -1
        while before < len(values) and last < until:
            before = len(values)
            try:
                for value in called(function, itertools.islice(left, count)):
                    if type(value) not in _pickled.PLAIN:
                        outcomes[len(values)], value = _pickled.value_outcome(value, self._folders), None
                    append(value)
            except BaseException as error:
                outcomes[len(values)] = _pickled.raised_outcome(error)
                append(None)
            took, last = now() - last, now()
            count = min(2 * count, LOOK_ITEMS) if took < LOOK_NS else 1
        self._set_back()
        if not outcomes:
            return _pickled.batch_of(values, True)
        return _pickled.batch_of([outcomes[i] if i in outcomes else _pickled.value_outcome(value) for i, value in enumerate(values)], False)

    def _note_opened(self) -> None:
        """Knows the descriptors that are open for units and results, which a call may close."""
        numbers = self._results.descriptors() + self._units.descriptors()
        if self._opened.keys() != set(numbers):
            self._opened = {number: _state.file_of(number) for number in numbers}

    def _set_back(self) -> None:
        """Makes the process as it was before the call; where that cannot be, says that it is unfit for another one."""
        if os.getpid() != self._pid:  # the call has forked, and the copy has come back from it
            os._exit(1)
        is_fit = self._state.set_back()
        if any(_state.file_of(number) != file for number, file in self._opened.items()):
            is_fit = False
            self._results.open_again()
        for file in self._files:
            try:
                file.flush()
            except (ValueError, OSError):  # the call has closed it
                pass
        if not is_fit:
            calls.is_unfit = True  # type: ignore[attr-defined]

    def run(self, number: int) -> None:
        if self._broken is not None:
            self._results.write(number, _spool.BROKEN, 0, self._broken.encode())
            return
        self._unit = number
        unit = self._read(number)
        self._note_opened()
        self._began = 0
        outcome = self._one(unit.data) if unit.function == _spool.CALL else self._many(unit)
        took = time.perf_counter_ns() - self._began if self._began > 0 else 0
        self._done += 1
        if self._done == self._tasks:
            calls.is_unfit = True  # type: ignore[attr-defined]
        self._results.write(number, _spool.RESULT, took, outcome)


_calls: Dict[str, _Calls] = {}


def _open_calls(folder: str) -> None:
    """Before the first call, of whose time it takes nothing."""
    try:
        _calls[folder] = _Calls(folder)
    except OSError:  # of the folder: the first call finds it, too, and says so
        pass


def calls(first: int, count: int, *, folder: str = '') -> List[bytes]:
    """Units of the folder of an executor."""
    if folder not in _calls:
        _calls[folder] = _Calls(folder)
    try:
        for number in range(first, first + count):
            _calls[folder].run(number)
    except BaseException:  # of what is ours, as a result that cannot be written: the call has failed, others are run elsewhere
        calls.is_unfit = True  # type: ignore[attr-defined]
        raise
    return [b''] * count


def _describe_calls(folder: str) -> Dict[str, Any]:
    """Iterations are added as calls are; none is run twice, or for its time alone."""
    return {'iterations': 0, 'streams': [''], 'has_effects': True}


calls.describe = _describe_calls  # type: ignore[attr-defined]
calls.open = _open_calls  # type: ignore[attr-defined]
calls.is_unfit = False  # type: ignore[attr-defined]
calls.version = 'calls-1'  # type: ignore[attr-defined]  # as worker/helper/package.c says it


# --- loops ---

class _Loop:
    """A function whose results are records."""

    def __init__(self, path: str) -> None:
        with open(path, 'rb') as file:
            said = _pickled.load(file)
            refused = _interpreter.refusal(said['client'])
            if refused is not None:
                raise RuntimeError(refused)
            _interpreter.take_path(said['client'])
            self._dtype, self._shape, self._is_scalar, self._view = said['dtype'], said['shape'], said['is_scalar'], said['view']
            self._function = _loads(file.read())

    def run(self, first: int, count: int) -> Any:
        import numpy
        result = [self._function(i) for i in range(first, first + count)] if self._is_scalar else self._function(first, count)
        array = numpy.asarray(result)
        if array.shape != (count, *self._shape):
            if self._is_scalar:
                raise ValueError(f'the function returns something of shape {array.shape[1:]}; accepted: {self._shape}, or say another shape=')
            raise ValueError(f'the function returns an array of shape {array.shape} for {count} iterations; accepted: {(count, *self._shape)}')
        if array.dtype != self._dtype:
            from hdss_python import cast  # type: ignore[import]
            array = cast(array, self._dtype)
        array = numpy.ascontiguousarray(array)
        return array.view(self._view) if self._view != self._dtype else array


_loops: Dict[str, _Loop] = {}


def loop(first: int, count: int, *, call: str = '', iterations: int = 0, dtype: str = '', shape: str = '') -> Any:
    """Iterations of the function in the file `call`."""
    if call not in _loops:
        _loops[call] = _Loop(call)
    return _loops[call].run(first, count)


def _describe_loop(call: str, iterations: int, dtype: str, shape: str) -> Dict[str, Any]:
    """The loop as hdss.loop() has it."""
    return {'iterations': iterations, 'dtype': dtype, 'shape': [int(length) for length in shape.split('x') if length]}


loop.describe = _describe_loop  # type: ignore[attr-defined]
loop.version = 'loop-1'  # type: ignore[attr-defined]  # as worker/helper/package.c says it
