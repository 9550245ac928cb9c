# SPDX-License-Identifier: MIT
"""Functions, arguments and results as bytes: by pickle where that is the same and quick, else by cloudpickle, which also
takes what is defined in a script, a notebook or a function."""
from __future__ import annotations

import pickle
import sys
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

from hdss._spool import BUFFER, put_buffer, take_buffer

PROTOCOL = 5
PLAIN = frozenset((int, float, complex, bool, str, bytes, type(None)))
_TEXTS = {str, bytes}
_BYTES = (bytes, bytearray)
_FEW, _DEPTH = 32, 3

# Bits of the first byte of what a batch of a map has: its items, or outcomes, are plain and not each a pickle; the worker hands back what
# it has not begun after BATCH_NS.
_PLAIN, _SHARED = 1, 2
BATCH_NS = 3000000

# The first byte of an outcome: a value, an exception, a value whose large buffers are files.
_VALUE, _RAISED, _APART = b'\0', b'\1', b'\2'


def is_plain(value: Any, depth: int = _DEPTH, apart: bool = True) -> bool:
    """True for what pickle makes the same of as cloudpickle does, in less time: numbers, texts, arrays of numbers, and few of these
    together. Without `apart`: only if nothing of it goes apart."""
    kind = type(value)
    if kind in PLAIN or kind is bytearray:
        return apart or kind not in _BYTES or len(value) < BUFFER
    if kind is tuple or kind is list:
        return depth > 0 and len(value) <= _FEW and all(is_plain(part, depth - 1, apart) for part in value)
    if kind is dict:
        return depth > 0 and len(value) <= _FEW and all(type(key) in PLAIN and is_plain(part, depth - 1, apart) for key, part in value.items())
    return apart and (kind is _Bytes or kind.__module__ == 'numpy' and not getattr(getattr(value, 'dtype', None), 'hasobject', True))


class _Bytes:
    """Large bytes in a pickle: a buffer that goes apart, as that of an array does."""

    def __init__(self, value: Union[bytes, bytearray]) -> None:
        self._value = value

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self._value), (pickle.PickleBuffer(self._value),)


def marked(value: Any, known: Optional[Dict[int, Any]] = None) -> Any:
    """The value with its large bytes as _Bytes, if it is plain: then all references to what can change are known, and one object stays one."""
    if known is None:
        return marked(value, {}) if is_plain(value) else value
    kind = type(value)
    if kind in _BYTES and len(value) >= BUFFER:
        return known.setdefault(id(value), _Bytes(value))
    if kind is tuple or kind is list:
        return known.get(id(value)) or known.setdefault(id(value), kind(marked(part, known) for part in value))
    if kind is dict:
        return known.get(id(value)) or known.setdefault(id(value), {key: marked(part, known) for key, part in value.items()})
    return value


def trim(kept: Dict[Any, Any], most: int) -> None:
    """Forgets the oldest of what is kept, as another thread may do at the same time."""
    while len(kept) > most:
        try:
            del kept[next(iter(kept))]
        except (KeyError, RuntimeError, StopIteration):
            pass


def dumps(value: Any, is_back: bool = False, buffer_callback: Optional[Callable[[Any], Any]] = None) -> bytes:
    """The value as bytes, for a worker, or back for the program. Raises what its own __reduce__ does, or TypeError, AttributeError or
    PicklingError."""
    if is_plain(value):
        return dumps_plain(value, PROTOCOL, buffer_callback=buffer_callback)
    data: bytes = cloud().dumps(value, is_back, buffer_callback)
    return data


def dumps_apart(value: Any, is_back: bool = False) -> Tuple[bytes, List[Any]]:
    """As dumps(), with the large buffers of arrays apart."""
    large: List[Any] = []

    def is_within(buffer: Any) -> bool:
        raw = buffer.raw()
        if raw.nbytes < BUFFER:
            return True
        large.append(raw)
        return False

    return dumps(value, is_back, is_within), large


def cloud() -> Any:
    """The module hdss._globals, which pickles by cloudpickle."""
    try:
        from hdss import _globals
    except ModuleNotFoundError as error:
        if error.name != 'cloudpickle':
            raise
        raise ModuleNotFoundError(f'{sys.executable} has no cloudpickle, by which functions are sent; install it: pip install cloudpickle, '
                                  'or apt install python3-cloudpickle', name='cloudpickle') from None
    return _globals


dumps_plain, loads, load = pickle.dumps, pickle.loads, pickle.load  # also where a call has replaced them
PicklingError = pickle.PicklingError


# --- batches ---

def are_plain(values: Sequence[Any], most: int) -> bool:
    """True for numbers, and texts of no more than so many characters, for which one pickle does as well as one of each."""
    kinds = set(map(type, values))
    return kinds <= PLAIN and (not kinds & _TEXTS or sum(len(value) for value in values if type(value) in _TEXTS) <= most)


def batch_of(values: List[Any], are_plain: bool, is_shared: bool = False) -> bytes:
    """Plain values, or items or outcomes of which each is bytes. Of a shared batch, some may come back."""
    return bytes([_PLAIN * are_plain + _SHARED * is_shared]) + dumps_plain(values, PROTOCOL)


def open_batch(data: bytes) -> Tuple[bool, bool, List[Any]]:
    """Whether its values are plain; whether it is shared; and these."""
    return bool(data[0] & _PLAIN), bool(data[0] & _SHARED), loads(memoryview(data)[1:])


# --- outcomes of calls ---

def value_outcome(value: Any, folders: Sequence[str] = ()) -> bytes:
    """A result on its way back. Its large buffers go to files of the folders, if there are any."""
    try:
        if type(value) in PLAIN:
            return _VALUE + dumps_plain(value, PROTOCOL)
        data, large = dumps_apart(value, True) if folders else (dumps(value, True), [])
        if not large:
            return _VALUE + data
        files = [(put_buffer(folders, buffer), buffer.readonly) for buffer in large]
        return _APART + dumps_plain((data, files), PROTOCOL)
    except BaseException as error:  # of whatever the user's __reduce__ does
        return raised_outcome(error)


def raised_outcome(error: BaseException) -> bytes:
    """An exception on its way back, with its traceback as text."""
    from hdss._errors import NotPicklable, remote_text  # which takes long to be imported, and workers rarely need
    text = remote_text(error)
    error.__traceback__ = error.__context__ = None
    try:
        data = dumps((error, text), True)
        loads(data)  # some exceptions can be pickled and not be made again
    except BaseException as second:
        said = f'{type(error).__name__}: {error!s:.300} (the exception itself could not be pickled: {type(second).__name__}: {second!s:.200})'
        data = dumps((NotPicklable(said), text))
    return _RAISED + data


def fetched(outcome: bytes) -> Any:
    """The outcome for open_outcome(), with what it has in files, which are removed."""
    if outcome[:1] != _APART:
        return outcome
    try:
        data, files = loads(memoryview(outcome)[1:])
        return data, [take_buffer(*file) for file in files]
    except OSError as error:
        return error


def open_outcome(outcome: Any) -> Tuple[bool, Any]:
    """(True, the result), or (False, the exception), of what fetched() gives, or of an exception. What cannot be unpickled is an exception,
    too."""
    try:
        if isinstance(outcome, BaseException):
            return False, outcome
        if isinstance(outcome, tuple):
            return True, loads(outcome[0], buffers=outcome[1])
        value = loads(memoryview(outcome)[1:])
    except BaseException as failure:
        return False, failure
    if outcome[:1] == _VALUE:
        return True, value
    from hdss._errors import with_cause
    error, text = value
    return False, with_cause(error, text)
