# SPDX-License-Identifier: MIT
"""hdss.broadcast: a large object that many calls use, in a file that each node reads once and all its workers share."""
from __future__ import annotations

import atexit
import os
import pickle
import struct
import threading
import weakref
from typing import Any, Dict, Generic, List, Optional, Tuple, TypeVar

from hdss import _pickled
from hdss._control import batch_name
from hdss._sets import Folder, shared_folder
from hdss._spool import remove_file

_Value = TypeVar('_Value')
_COUNT = struct.Struct('<Q')
ALIGNMENT = 64
KEPT_MAX = 16

_lock = threading.Lock()
_folders: Dict[bool, Folder] = {}
_loaded: 'Dict[str, Any]' = {}  # of a worker, by path
_number = 0


class Broadcast(Generic[_Value]):
    """An object that is sent once. `value` is the object itself here, and in a worker an equal one, whose numpy arrays are
    mapped from the file and cannot be written to. The file is there as long as this object."""

    def __init__(self, value: _Value, path: str) -> None:
        self._value: Optional[_Value] = value
        self.path = path
        self._finalizer = weakref.finalize(self, remove_file, path, os.getpid())

    @property
    def value(self) -> _Value:
        """The object."""
        return self._value  # type: ignore[return-value]

    def __reduce__(self) -> Tuple[Any, Tuple[str]]:
        return _Received, (self.path,)


class _Received(Generic[_Value]):
    """A Broadcast in a worker."""

    def __init__(self, path: str) -> None:
        self.path = path

    @property
    def value(self) -> Any:
        """The object, which a process loads once."""
        return load(self.path)

    def __reduce__(self) -> Tuple[Any, Tuple[str]]:
        return _Received, (self.path,)


def _next_path(is_shared: bool) -> str:
    global _number
    with _lock:
        folder = _folders.get(is_shared)
        if folder is None or folder.pid != os.getpid():
            folder = _folders[is_shared] = shared_folder(is_shared)
            atexit.register(folder.remove)
        _number += 1
        return os.path.join(folder.path, f'broadcast-{_number}')


def save(value: Any, path: str) -> None:
    """Writes an object: its pickle, and its buffers apart, each aligned, so that they can be mapped."""
    buffers: List[pickle.PickleBuffer] = []
    data = _pickled.cloud().dumps(value, buffer_callback=buffers.append)
    views = [buffer.raw() for buffer in buffers]
    sizes = [len(data)] + [view.nbytes for view in views]
    with open(path, 'wb') as file:
        file.write(struct.pack(f'<{len(sizes) + 1}Q', len(sizes), *sizes))
        for part in [data, *views]:
            file.write(b'\0' * (-file.tell() % ALIGNMENT))
            file.write(part)


def load(path: str) -> Any:
    """Reads what save() has written. Buffers are mapped; what was read before is not read again."""
    if path in _loaded:
        return _loaded[path]
    import mmap
    with open(path, 'rb') as file:
        view = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    (count,) = _COUNT.unpack_from(view)
    sizes, at, parts = struct.unpack_from(f'<{count}Q', view, _COUNT.size), _COUNT.size * (count + 1), []
    for size in sizes:
        at += -at % ALIGNMENT
        parts.append(view[at:at + size])
        at += size
    value = pickle.loads(parts[0], buffers=parts[1:])
    while len(_loaded) >= KEPT_MAX:
        del _loaded[next(iter(_loaded))]
    _loaded[path] = value
    return value


def broadcast(value: _Value, *, shared: Optional[bool] = None) -> 'Broadcast[_Value]':
    """Has the object sent once to each node instead of with each call that uses it.

        data = hdss.broadcast(numpy.load('data.npy'))
        executor.map(lambda i: fit(data.value, i), range(1000))

    shared   the set has other machines: the file goes to the current folder, or HDSS_PYTHON_FOLDER, which they see, too
             (default: in a batch job)
    """
    path = _next_path(batch_name() is not None if shared is None else shared)
    save(value, path)
    return Broadcast(value, path)
