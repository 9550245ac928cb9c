# SPDX-License-Identifier: MIT
"""The files by which a program and the workers that run its calls exchange calls and results.

All are in one folder, which all of them see. HDSS schedules *units*, the iterations of an open job; a unit is one call, or
a batch of items of a map. The client writes, before it adds iterations to the job:

    setup                       what a worker has to know of the client, and to do first: two pickles
    function-F                  a pickled function of a map
    K.index                     units K * SEGMENT and following: an entry each, ENTRY
    K.data                      their contents, one behind another
    unit-I                      contents of one unit that is large
    sent-ID                     a large function, or the buffer of an array (hdss/_globals.py)

and removes them when all of these units are done. A worker writes, before it says that a unit is done:

    bell                        a pipe: entries, each a head, HEAD, and so many bytes
    R-HOST-PID-N                entries that are long, or of another machine, or that the full pipe did not take; N counts up when a
                                file is full
    R-HOST-PID-N.unit-I         the result of one unit that is large
    printed-HOST.out, .err      what is written to the descriptors of standard output and error, as by programs that calls run

Buffers of arrays, in both directions, are files of their own, which are mapped where they are needed: in shared memory if all workers
are of this machine, else, or if that is full, in the folder.

An entry of the pipe may say that a file has something new. A client of other machines, whose workers have no pipe, looks at the files from
time to time. An entry that is cut off is still being written. The result of a unit may be there twice, where its worker was lost before
HDSS heard of it: the first counts.
"""
from __future__ import annotations

import fcntl
import mmap
import os
import select
import struct
from typing import Any, BinaryIO, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

SEGMENT = 4096
BUFFER = 1 << 16          # bytes from which the buffer of an array is a file
LARGE = 1 << 20           # bytes from which a unit, or its result, has a file of its own
RESULTS_MAX = 16 << 20    # bytes with which a file of results is full
SETUP, BELL = 'setup', 'bell'
RESULTS, PRINTS = 'R-', 'printed-'

ENTRY = struct.Struct('<QQQQ')  # place and length in K.data, function, items; an entry that is not written yet is zeros
ALONE = (1 << 64) - 1           # as place: the unit has a file of its own
CALL = 0                        # as function: the contents are (function, arguments, keywords)
CALLS = (1 << 64) - 1           # as function: the contents are a batch of such contents
HEAD = struct.Struct('<QQQQ')   # unit, length, kind, nanoseconds that it took

# Kinds of entries. FILE names a file that has something new; WAKE is the client's own.
RESULT, RESULT_ALONE, PRINTED, PRINTED_ERROR, BROKEN, FILE, WAKE = range(7)
PIPE_BYTES, READ_BYTES = 1 << 20, 1 << 16
SHORT = select.PIPE_BUF - 256  # bytes of an entry that goes by the pipe in one piece, with one of a FILE before it

Entry = Tuple[int, int, int, bytes]  # unit, kind, nanoseconds, contents


class Unit(NamedTuple):
    """A unit as a worker finds it."""
    data: bytes
    function: int
    items: int


def write_all(file: int, data: bytes) -> None:
    """Writes all of it, also beyond what one system call takes."""
    view = memoryview(data)
    while view:
        view = view[os.write(file, view):]


def _write_at(file: int, data: bytes, place: int) -> None:
    written = os.pwrite(file, data, place)
    while written < len(data):
        written += os.pwrite(file, memoryview(data)[written:], place + written)


def read_file(path: str) -> bytes:
    with open(path, 'rb') as file:
        return file.read()


def remove_file(path: str, pid: int) -> None:
    """Removes a file that process `pid` has made, if this is that one and not one that it has forked. It may be gone."""
    if os.getpid() == pid:
        try:
            os.unlink(path)
        except OSError:
            pass


# --- buffers ---

def put_buffer(folders: Sequence[str], data: Any) -> str:
    """Writes a buffer to a file of the first of the folders that has room for it. Returns its path."""
    for folder in folders:
        path = os.path.join(folder, 'sent-' + os.urandom(16).hex())
        try:
            with open(path, 'xb', buffering=0, opener=_opener) as file:
                write_all(file.fileno(), data)
            return path
        except OSError:
            _remove(path)
            if folder == folders[-1]:
                raise
    raise ValueError('no folder for a buffer')


def map_buffer(path: str, is_readonly: bool) -> mmap.mmap:
    """The buffer in a file. What is written to it is seen by this process alone."""
    with open(path, 'rb') as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ if is_readonly else mmap.ACCESS_COPY)


def take_buffer(path: str, is_readonly: bool) -> Any:
    """Reads the buffer of a result, and removes its file. It is not mapped, as each map would keep a descriptor."""
    with open(path, 'rb', buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        data = bytearray(size)
        view = memoryview(data)
        while view:
            view = view[file.readinto(view) or len(view):]
    _remove(path)
    return memoryview(data).toreadonly() if is_readonly else data


# --- the client's side ---

class UnitWriter:
    """Writes units, by number from 0 on, and removes the files of those that are done."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.count = 0
        self._left: Dict[int, int] = {}  # of each segment: units that are not done, of those that there will be
        self._index = self._data = -1
        self._place = 0
        self._alone: 'set[int]' = set()

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, name)

    def _begin_segment(self, segment: int) -> None:
        self.close()
        flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC
        self._data = os.open(self._path(f'{segment}.data'), flags, 0o600)
        self._index = os.open(self._path(f'{segment}.index'), flags, 0o600)
        self._left[segment] = SEGMENT
        self._place = 0

    def add(self, units: List[Tuple[bytes, int, int]]) -> int:
        """Writes units, each (contents, function, items). Returns the number of the first. Those of a call that is interrupted are not there,
        and their places are written again."""
        first = self.count
        while units:
            segment, within = divmod(self.count, SEGMENT)
            if within == 0:
                self._begin_segment(segment)
            part, units = units[:SEGMENT - within], units[SEGMENT - within:]
            self._add_part(part, within)
        return first

    def _add_part(self, part: List[Tuple[bytes, int, int]], within: int) -> None:
        entries, contents, place = [], [], self._place
        for number, (data, function, items) in enumerate(part, self.count):
            if len(data) < LARGE:
                entries.append(ENTRY.pack(place, len(data), function, items))
                contents.append(data)
                place += len(data)
            else:
                with open(self._path(f'unit-{number}'), 'wb', opener=_opener) as file:
                    file.write(data)
                self._alone.add(number)
                entries.append(ENTRY.pack(ALONE, len(data), function, items))
        _write_at(self._data, b''.join(contents), self._place)
        _write_at(self._index, b''.join(entries), within * ENTRY.size)
        self._place, self.count = place, self.count + len(part)

    def done(self, unit: int) -> None:
        """The unit is done, and nobody will read it again."""
        segment = unit // SEGMENT
        if unit in self._alone:
            self._alone.discard(unit)
            _remove(self._path(f'unit-{unit}'))
        self._left[segment] -= 1
        if self._left[segment] == 0:
            del self._left[segment]
            _remove(self._path(f'{segment}.data'))
            _remove(self._path(f'{segment}.index'))

    def close(self) -> None:
        for file in (self._index, self._data):
            if file >= 0:
                os.close(file)
        self._index = self._data = -1


def _opener(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass


class _Entries:
    """Entries of a pipe or a file, which may come in any pieces."""

    def __init__(self) -> None:
        self.rest = b''

    def take(self, data: bytes) -> List[Entry]:
        found: List[Entry] = []
        data, at = self.rest + data if self.rest else data, 0
        while len(data) - at >= HEAD.size:
            unit, length, kind, took = HEAD.unpack_from(data, at)
            if len(data) - at - HEAD.size < length:
                break
            found.append((unit, kind, took, data[at + HEAD.size:at + HEAD.size + length]))
            at += HEAD.size + length
        self.rest = data[at:]
        return found


class ResultReader:
    """Reads what workers have written. `bell` becomes readable if there is something."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._files: Dict[str, Tuple[BinaryIO, _Entries]] = {}
        self._seen: 'set[str]' = set()
        self._pipe = _Entries()
        self._room = 0  # bytes for which the pipe always has room: each two pages have more than one page of them
        self.bell = -1

    def open(self) -> None:
        path = os.path.join(self._folder, BELL)
        os.mkfifo(path, 0o600)
        self.bell = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            fcntl.fcntl(self.bell, 1031, PIPE_BYTES)  # F_SETPIPE_SZ
        except OSError:  # the user has too many of them
            pass
        self._room = fcntl.fcntl(self.bell, 1032) // 2 - select.PIPE_BUF  # F_GETPIPE_SZ

    def wake(self) -> None:
        """Makes the bell readable."""
        try:
            os.write(self.bell, HEAD.pack(0, 0, WAKE, 0))
        except OSError:  # full, so that it is readable; or closed
            pass

    def entries(self, looks: bool) -> Iterator[Entry]:
        """What has come since. `looks`: also in files of which the pipe has said nothing, as it does if it is full."""
        left = self._room  # beyond which the pipe may have been full
        while True:
            try:
                data = os.read(self.bell, READ_BYTES)
            except BlockingIOError:
                break
            for entry in self._pipe.take(data):
                if entry[1] == FILE:
                    yield from self._of_file(entry[3].decode())
                elif entry[1] != WAKE:
                    yield entry
            left -= len(data)
            if len(data) < READ_BYTES:
                break
        if looks or left < 0:
            for name in os.listdir(self._folder):
                if name.startswith(RESULTS) and '.unit-' not in name:
                    yield from self._of_file(name)

    def _of_file(self, name: str) -> Iterator[Entry]:
        """A result in a file of its own is read from there. A file that is full and read is removed."""
        path = os.path.join(self._folder, name)
        if name not in self._files:
            if name in self._seen:
                return
            self._seen.add(name)
            self._files[name] = open(path, 'rb', buffering=0), _Entries()
        file, entries = self._files[name]
        for data in iter(lambda: file.read(1 << 20), b''):
            for unit, kind, took, contents in entries.take(data):
                if kind == RESULT_ALONE:
                    alone = os.path.join(self._folder, contents.decode())
                    contents, kind = read_file(alone), RESULT
                    _remove(alone)
                yield unit, kind, took, contents
        if file.tell() >= RESULTS_MAX and not entries.rest:  # the worker goes on in another one
            file.close()
            del self._files[name]
            _remove(path)

    def close(self) -> None:
        for file, _ in self._files.values():
            file.close()
        self._files.clear()
        bell, self.bell = self.bell, -1
        if bell >= 0:
            os.close(bell)


class PrintedReader:
    """Reads what is written to the descriptors of workers."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._places: Dict[str, int] = {}

    def read(self, is_end: bool) -> List[Tuple[bool, bytes]]:
        """(True for standard output, bytes) of what is new: whole lines, and all of it at the end."""
        found = []
        for name in sorted(name for name in os.listdir(self._folder) if name.startswith(PRINTS)):
            with open(os.path.join(self._folder, name), 'rb') as file:
                file.seek(self._places.get(name, 0))
                data = file.read()
            if not is_end:
                data = data[:data.rfind(b'\n') + 1]
            self._places[name] = self._places.get(name, 0) + len(data)
            if data:
                found.append((name.endswith('.out'), data))
        return found


# --- the workers' side ---

class UnitReader:
    """Reads units of a folder, in any order."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._open: Dict[int, Tuple[BinaryIO, BinaryIO]] = {}

    def _segment(self, segment: int, anew: bool) -> Tuple[BinaryIO, BinaryIO]:
        if anew and segment in self._open:
            for file in self._open.pop(segment):
                file.close()
        if segment not in self._open:
            while len(self._open) > 4:
                for file in self._open.pop(next(iter(self._open))):
                    file.close()
            path = os.path.join(self._folder, str(segment))
            self._open[segment] = open(path + '.index', 'rb', buffering=0), open(path + '.data', 'rb', buffering=0)
        return self._open[segment]

    def _look(self, unit: int, anew: bool) -> Optional[Unit]:
        segment, within = divmod(unit, SEGMENT)
        index, data = self._segment(segment, anew)
        entry = os.pread(index.fileno(), ENTRY.size, within * ENTRY.size)
        if len(entry) < ENTRY.size:
            return None
        place, length, function, items = ENTRY.unpack(entry)
        if place == ALONE:
            contents = read_file(os.path.join(self._folder, f'unit-{unit}'))
        else:
            contents = os.pread(data.fileno(), length, place)
        return Unit(contents, function, items) if len(contents) == length else None

    def descriptors(self) -> List[int]:
        """Those that are open."""
        return [file.fileno() for files in self._open.values() for file in files]

    def read(self, unit: int) -> Optional[Unit]:
        """The unit; None where it is not there yet, as a network file system shows it later here."""
        return self._look(unit, False) or self._look(unit, True)

    def function(self, number: int) -> bytes:
        """The pickled function of a map."""
        return read_file(os.path.join(self._folder, f'function-{number}'))


class ResultWriter:
    """Writes the results of a worker's process."""

    def __init__(self, folder: str, host: str) -> None:
        self._folder = folder
        self._name = f'{RESULTS}{host}-{os.getpid()}-'
        self._number = 0
        self._file = -1
        self._written = 0
        self._due = b''  # tells the client of what is in the file
        self._bell = self._open_bell()
        self.pid = os.getpid()

    def descriptors(self) -> List[int]:
        """Those that are open."""
        return [file for file in (self._file, self._bell) if file >= 0]

    def open_again(self) -> None:
        """Goes on in another file, where the descriptors have been closed and may be of something else by now."""
        self._file = -1
        self._bell = self._open_bell()

    def _open_bell(self) -> int:
        try:
            return os.open(os.path.join(self._folder, BELL), os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:  # the client is on another machine
            return -1

    def _send(self, entry: bytes) -> bool:
        """Writes to the pipe, after what is due to it. False if it is full, or there is none."""
        if self._bell < 0:
            return False
        try:
            os.write(self._bell, self._due + entry)
        except OSError:
            return False
        self._due = b''
        return True

    def _next_file(self) -> None:
        if self._file >= 0:
            os.close(self._file)
        self._number += 1
        self._file = os.open(os.path.join(self._folder, f'{self._name}{self._number}'),
                             os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_EXCL | os.O_CLOEXEC, 0o600)
        self._written = 0

    def write(self, unit: int, kind: int, took: int, data: bytes) -> None:
        """An entry: to the pipe if it is short, else to a file, of which the pipe then tells."""
        if len(data) <= SHORT and self._send(HEAD.pack(unit, len(data), kind, took) + data):
            return
        if self._file < 0 or self._written >= RESULTS_MAX:
            self._next_file()
        if kind == RESULT and len(data) >= LARGE:
            name = f'{self._name}{self._number}.unit-{unit}'
            with open(os.path.join(self._folder, name), 'wb', opener=_opener) as file:
                file.write(data)
            kind, data = RESULT_ALONE, name.encode()
        write_all(self._file, HEAD.pack(unit, len(data), kind, took) + data)
        self._written += HEAD.size + len(data)
        name = f'{self._name}{self._number}'
        self._due = HEAD.pack(0, len(name), FILE, 0) + name.encode()
        self._send(b'')
