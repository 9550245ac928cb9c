# SPDX-License-Identifier: MIT
"""Functions, arguments and results as bytes: by pickle where that is the same and quick, else by cloudpickle, which also
takes what is defined in a script, a notebook or a function."""
from __future__ import annotations

import pickle
from typing import Any, Tuple

from hdss._errors import NotPicklable, remote_text, with_cause

PROTOCOL = 5
_PLAIN = (int, float, complex, bool, str, bytes, type(None))

# The first byte of an outcome.
_VALUE, _RAISED = b'\0', b'\1'


def _is_plain(value: Any) -> bool:
    kind = type(value)
    return kind in _PLAIN or (kind is tuple and len(value) < 8 and all(type(part) in _PLAIN for part in value))


def dumps(value: Any) -> bytes:
    """The value as bytes. Raises what its own __reduce__ does, or TypeError, AttributeError or PicklingError."""
    if _is_plain(value):
        return pickle.dumps(value, PROTOCOL)
    import cloudpickle
    data: bytes = cloudpickle.dumps(value, PROTOCOL)
    return data


loads = pickle.loads
PicklingError = pickle.PicklingError


# --- outcomes of calls ---

def value_outcome(value: Any) -> bytes:
    """A result on its way back."""
    try:
        return _VALUE + dumps(value)
    except BaseException as error:  # of whatever the user's __reduce__ does
        return raised_outcome(error)


def raised_outcome(error: BaseException) -> bytes:
    """An exception on its way back, with its traceback as text."""
    text = remote_text(error)
    error.__traceback__ = error.__context__ = None
    try:
        data = dumps((error, text))
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
