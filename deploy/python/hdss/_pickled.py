# SPDX-License-Identifier: MIT
"""Functions, arguments and results as bytes: by pickle where that is the same and quick, else by cloudpickle, which also
takes what is defined in a script, a notebook or a function."""
from __future__ import annotations

import pickle
import sys
from typing import Any, Callable, Dict, Optional, Tuple

from hdss._errors import NotPicklable, remote_text, with_cause

PROTOCOL = 5
_PLAIN = frozenset((int, float, complex, bool, str, bytes, type(None)))
_FEW, _DEPTH = 32, 3

# The first byte of an outcome.
_VALUE, _RAISED = b'\0', b'\1'


def is_plain(value: Any, depth: int = _DEPTH, arrays: bool = True) -> bool:
    """True for what pickle makes the same of as cloudpickle does, in less time: numbers, texts, with `arrays` arrays of them, and few of
    these together."""
    kind = type(value)
    if kind in _PLAIN:
        return True
    if kind is tuple or kind is list:
        return depth > 0 and len(value) <= _FEW and all(is_plain(part, depth - 1, arrays) for part in value)
    if kind is dict:
        return depth > 0 and len(value) <= _FEW and all(type(key) in _PLAIN and is_plain(part, depth - 1, arrays) for key, part in value.items())
    return arrays and kind.__module__ == 'numpy' and not getattr(getattr(value, 'dtype', None), 'hasobject', True)


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


dumps_plain, loads = pickle.dumps, pickle.loads  # also where a call has replaced them
PicklingError = pickle.PicklingError


# --- outcomes of calls ---

def value_outcome(value: Any) -> bytes:
    """A result on its way back."""
    try:
        return _VALUE + dumps(value, True)
    except BaseException as error:  # of whatever the user's __reduce__ does
        return raised_outcome(error)


def raised_outcome(error: BaseException) -> bytes:
    """An exception on its way back, with its traceback as text."""
    text = remote_text(error)
    error.__traceback__ = error.__context__ = None
    try:
        data = dumps((error, text), True)
        loads(data)  # some exceptions can be pickled and not be made again
    except BaseException as second:
        said = f'{type(error).__name__}: {error!s:.300} (the exception itself could not be pickled: {type(second).__name__}: {second!s:.200})'
        data = dumps((NotPicklable(said), text))
    return _RAISED + data


def open_outcome(data: bytes) -> Tuple[bool, Any]:
    """(True, the result), or (False, the exception). What cannot be unpickled is an exception, too."""
    try:
        value = loads(memoryview(data)[1:])
    except BaseException as failure:
        return False, failure
    if data[:1] == _VALUE:
        return True, value
    error, text = value
    return False, with_cause(error, text)
