# SPDX-License-Identifier: MIT
"""The trace of a run, the CSV that `hdss run --trace` writes, in the order in which it is told and drawn: workers by node and rank, the chunks of each
by the time at which they began.

The file is RFC 4180. Its first line has COLUMNS; later versions may add some behind them, and kinds of rows, which are left out here. Times are
seconds since the beginning of the trace. An empty field is not known, and is None here. A row that is broken is refused with the number of its line."""
from __future__ import annotations

import gc
import re
from typing import Any, BinaryIO, Callable, Dict, Iterator, List, NamedTuple, NoReturn, Optional, Set, Tuple

from hdss._command import real, whole

COLUMNS = 'kind,time_s,worker,node,master,chunk,first,count,reason,asked_s,begun_s,ended_s,stored_s,compute_s,fate,formula,text'
NAMES = COLUMNS.split(',')
REASONS = ('own', 'other', 'cut', 'requeued', 'recalled', 'copy', 'verify', 'adopted')
FATES = ('done', 'lost', 'returned', 'dropped', 'failed', 'open', 'undone')
ROW_MAX = 64 << 10  # bytes of a row
TIME_MAX = 1e9
RANK_MAX, NUMBER_MAX, COUNT_MAX = (1 << 24) - 1, (1 << 32) - 1, (1 << 63) - 1
WORKER_LOST = 'worker lost'  # how the text of such an event begins


class Broken(Exception):
    """The trace cannot be read; the text says where and why."""


class Chunk:
    """A chunk that a worker was given. `assumed`: when it can have begun, if that is not known of the chunk that its worker was at when it was lost
    or the trace ended. `is_part`: another row tells of the same chunk, and stands for its times."""
    __slots__ = ('given', 'worker', 'node', 'master', 'number', 'first', 'count', 'reason', 'asked', 'begun', 'ended', 'stored', 'compute', 'fate', 'assumed',
                 'is_part')

    def __init__(self, given: float, worker: int, node: int, master: Optional[int], number: int, first: Optional[int], count: int, reason: str,
                 asked: Optional[float], begun: Optional[float], ended: Optional[float], stored: Optional[float], compute: Optional[float], fate: str) -> None:
        self.given, self.worker, self.node, self.master, self.number, self.first, self.count = given, worker, node, master, number, first, count
        self.reason, self.asked, self.begun, self.ended, self.stored, self.compute, self.fate = reason, asked, begun, ended, stored, compute, fate
        self.assumed: Optional[float] = None
        self.is_part = False

    def has(self, iteration: int) -> bool:
        return self.first is not None and self.first <= iteration < self.first + self.count

    def order(self) -> Tuple[float, int, bool]:
        begun = self.begun if self.begun is not None else self.assumed if self.assumed is not None else self.given
        return begun, self.number, not self.is_part


class Worker:
    def __init__(self, rank: int, node: int, master: Optional[int], host: Optional[str] = None, power: float = 0.0) -> None:
        self.rank, self.node, self.master, self.host, self.power = rank, node, master, host, power
        self.lost: Optional[float] = None  # when it was lost
        self.chunks: List[Chunk] = []


class Cut(NamedTuple):
    """A scheduling step of the technique."""
    time: float
    worker: Optional[int]
    first: Optional[int]
    size: int
    formula: Optional[int]

    def has(self, iteration: int) -> bool:
        return self.first is not None and self.first <= iteration < self.first + self.size


class Event(NamedTuple):
    time: float
    worker: Optional[int]
    text: str


class Trace:
    """All that a trace tells, of chunks only if they are wanted. Raises Broken, and OSError, while it is read."""

    def __init__(self, file: BinaryIO, name: str, wants_chunks: bool = True) -> None:
        self.facts: Dict[str, str] = {}
        self.workers: List[Worker] = []
        self.cuts: List[Cut] = []
        self.events: List[Event] = []
        self.resumed: List[Tuple[int, int]] = []  # first and count of what an earlier run had done
        self._chunks: List[Chunk] = []
        self._wants_chunks = wants_chunks
        collects = gc.isenabled()
        gc.disable()  # nothing here is a circle, and looking for some takes longer than all else
        try:
            self._read(_Reader(file, name))
            self._order()
        finally:
            if collects:
                gc.enable()

    @property
    def iterations(self) -> Optional[int]:
        return self._count('iterations')

    @property
    def masters(self) -> Optional[int]:
        return self._count('masters')

    def _count(self, key: str) -> Optional[int]:
        return whole(self.facts[key]) if key in self.facts else None

    def chunks(self) -> Iterator[Chunk]:
        for worker in self.workers:
            yield from worker.chunks

    def end(self) -> float:
        """The last moment of which the trace tells."""
        times = [time for chunk in self.chunks() for time in (chunk.given, chunk.begun, chunk.ended, chunk.stored) if time is not None]
        return max([0.0, *times, *(cut.time for cut in self.cuts), *(event.time for event in self.events)])

    def span(self, worker: Worker, chunk: Chunk, end: float) -> Optional[Tuple[float, float]]:
        """From when to when the chunk was with the kernel. One of which no end is known was cut off by the loss of its worker, or by `end`, the end of
        the trace. None if it has not begun, and for a row whose times another one stands for."""
        begun = chunk.begun if chunk.begun is not None else chunk.assumed
        if begun is None or chunk.is_part:
            return None
        return begun, max(begun, chunk.ended if chunk.ended is not None else worker.lost if worker.lost is not None else end)

    # --- rows ---

    def _read(self, reader: _Reader) -> None:
        takers: Dict[str, Callable[[Row], None]] = {'run': self._take_fact, 'worker': self._take_worker, 'chunk': self._take_chunk, 'cut': self._take_cut,
                                                    'event': self._take_event, 'resumed': self._take_resumed}
        add, fast = self._chunks.append, _CHUNK.fullmatch
        seen: Set[bytes] = set()  # ranks: of a worker one chunk is enough if none is wanted
        for line in reader.lines():
            match = fast(line)
            if match is None:
                row = reader.row(line)
                if row is not None:
                    try:
                        takers[row.kind](row)
                    except ValueError as error:
                        reader.refuse(str(error))
                continue
            if not self._wants_chunks and match[2] in seen:
                continue
            seen.add(match[2])
            given, worker, node, master, number, first, count, reason, asked, begun, ended, stored, compute, fate = match.groups()
            add(Chunk(float(given), int(worker), int(node or 0), int(master) if master else None, int(number or 0), int(first) if first else None, int(count),
                      _REASONS[reason], float(asked) if asked else None, float(begun) if begun else None, float(ended) if ended else None,
                      float(stored) if stored else None, float(compute) if compute else None, _FATES[fate]))

    def _take_fact(self, row: Row) -> None:
        key, _, value = row.text.partition('=')
        if key in ('iterations', 'workers', 'masters'):
            try:
                whole(value)
            except ValueError:
                raise ValueError(f"'{value:.40}' is no number") from None
        self.facts[key] = value

    def _take_worker(self, row: Row) -> None:
        words = dict(reversed([word.partition('=')[::2] for word in row.text.split(' ') if word.find('=') > 0]))
        try:
            power = max(0.0, real(words.get('power', '')))
        except ValueError:
            power = 0.0
        self.workers.append(Worker(row.worker or 0, row.node or 0, row.master, words.get('host'), power))

    def _take_chunk(self, row: Row) -> None:
        self._chunks.append(Chunk(row.time or 0.0, row.worker or 0, row.node or 0, row.master, row.chunk or 0, row.first, row.size or 0, row.reason, row.asked,
                                  row.begun, row.ended, row.stored, row.compute, row.fate))

    def _take_cut(self, row: Row) -> None:
        self.cuts.append(Cut(row.time or 0.0, row.worker, row.first, row.size or 0, row.formula))

    def _take_event(self, row: Row) -> None:
        self.events.append(Event(row.time or 0.0, row.worker, row.text))

    def _take_resumed(self, row: Row) -> None:
        self.resumed.append((row.first or 0, row.size or 0))

    # --- order ---

    def _order(self) -> None:
        """Of several rows about one worker the first counts; one of which only chunks tell gets its place, too."""
        known = {worker.rank: worker for worker in reversed(self.workers)}
        for chunk in self._chunks:
            worker = known.get(chunk.worker)
            if worker is None:
                worker = known[chunk.worker] = Worker(chunk.worker, chunk.node, chunk.master)
            worker.chunks.append(chunk)
        self._chunks = []
        for event in self.events:
            if event.worker in known and event.text.startswith(WORKER_LOST):
                known[event.worker].lost = event.time
        self.workers = sorted(known.values(), key=lambda worker: (worker.node, worker.rank))
        for worker in self.workers:
            _mark_parts(worker.chunks)
            _assume_beginning(worker.chunks)
            begun = [chunk.begun for chunk in worker.chunks if chunk.begun is not None]
            if len(begun) < len(worker.chunks) or any(a >= b for a, b in zip(begun, begun[1:])):
                worker.chunks.sort(key=Chunk.order)


def _mark_parts(chunks: List[Chunk]) -> None:
    """A chunk of whose iterations not the same has become has several rows: marks all but one of them, that was computed, and done."""
    numbers = [chunk.number for chunk in chunks]
    if all(a < b for a, b in zip(numbers, numbers[1:])):
        return
    whole_chunk: Optional[Chunk] = None
    for chunk in sorted(chunks, key=lambda chunk: (RANK_MAX + 1 if chunk.master is None else chunk.master, chunk.number,
                                                   2 * (chunk.begun is None) + (chunk.fate != 'done'))):
        if whole_chunk is None or chunk.number == 0 or (chunk.number, chunk.master) != (whole_chunk.number, whole_chunk.master):
            whole_chunk = chunk
            continue
        chunk.is_part = True
        if whole_chunk.compute is None:  # the first row has it, for all of the chunk
            whole_chunk.compute = chunk.compute


def _assume_beginning(chunks: List[Chunk]) -> None:
    """Of the chunks that were lost, or are open, the worker had begun the one that it was given first, when it had ended all others."""
    cut_off = [chunk for chunk in chunks if chunk.fate in ('lost', 'open') and not chunk.is_part and chunk.begun is None]
    if cut_off:
        first = min(cut_off, key=lambda chunk: chunk.given)
        first.assumed = max([first.given, *(chunk.ended for chunk in chunks if chunk.ended is not None)])


# --- the file ---

class Row(NamedTuple):
    kind: str
    time: Optional[float]
    worker: Optional[int]
    node: Optional[int]
    master: Optional[int]
    chunk: Optional[int]
    first: Optional[int]
    size: Optional[int]  # the column count
    reason: str
    asked: Optional[float]
    begun: Optional[float]
    ended: Optional[float]
    stored: Optional[float]
    compute: Optional[float]
    fate: str
    formula: Optional[int]
    text: str


KINDS = ('run', 'worker', 'chunk', 'cut', 'event', 'resumed')
# The fields that a kind cannot do without, in the order in which they are missed.
NEEDS = {'worker': ('worker',), 'chunk': ('worker', 'time', 'size'), 'cut': ('time', 'size'), 'event': ('time',), 'resumed': ('size', 'first')}
_TIME, _COUNT = r'(\d{1,9}(?:\.\d{1,12})?)', r'(\d{1,18})'
_REASONS, _FATES = ({word.encode(): word for word in ('', *words)} for words in (REASONS, FATES))
# A row of a chunk as it mostly is, which is read at once; all others are looked at field by field.
_CHUNK = re.compile((f'chunk,{_TIME},' + r'(\d{1,7}),(\d{1,7})?,(\d{1,7})?,(\d{1,9})?,' + f'{_COUNT}?,{_COUNT},({"|".join(REASONS)}|),' + f'{_TIME}?,' * 5
                     + f'({"|".join(FATES)}|),' + r'\d{0,18},\r?\n?').encode())
_NUMBERS: Dict[str, Tuple[str, float]] = {**{name: ('time', TIME_MAX) for name in NAMES if name.endswith('_s')},
                                          **{name: ('count', RANK_MAX) for name in ('worker', 'node', 'master')}, 'chunk': ('count', NUMBER_MAX),
                                          **{name: ('count', COUNT_MAX) for name in ('first', 'count', 'formula')}}


class _Reader:
    """The rows of a file: `line` is the one at which the row at hand ends, `begun` that at which it begins."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file, self._name = file, name
        self.line, self.begun = 0, 1

    def refuse(self, what: str) -> NoReturn:
        raise Broken(f'{self._name:.150}:{self.begun}: {what:.300}')

    def lines(self) -> Iterator[bytes]:
        """Rows behind the header. A newline within quotes ends none."""
        held = b''
        is_head = True
        for line in iter(lambda: self._file.readline(ROW_MAX + 2), b''):  # one that is longer, as of a device, is refused
            self.line += 1
            if held or b'"' in line:
                held += line
                if len(held) > ROW_MAX + 1:
                    self.refuse(f'the row is longer than {ROW_MAX} bytes')
                if held.count(b'"') % 2 == 1:
                    continue
                line, held = held, b''
            if is_head:
                self._check_head(line)
                is_head = False
            else:
                yield line
            self.begun = self.line + 1
        if held:
            self.refuse('the file ends within quotes')
        if is_head:
            self._check_head(b'')

    def _check_head(self, line: bytes) -> None:
        text = _without_end(line)
        if text != COLUMNS and not text.startswith(COLUMNS + ','):
            self.refuse('this is no trace: its first line is not kind,time_s,worker,...,formula,text')

    def row(self, text: bytes) -> Optional[Row]:
        """The row of the line; None if it is of a kind of later versions."""
        if len(text) > ROW_MAX + text.endswith(b'\n'):
            self.refuse(f'the row is longer than {ROW_MAX} bytes')
        line = _without_end(text)
        if '\0' in line:
            self.refuse('a NUL byte, which no text has')
        fields = line.split(',') if '"' not in line else self._cut(line)
        if len(fields) < len(NAMES):
            self.refuse(f'{len(fields)} field{"" if len(fields) == 1 else "s"}; accepted are {len(NAMES)} or more')
        if fields[0] not in KINDS:
            return None
        row = Row(*[self._field(name, text, fields[0]) for name, text in zip(NAMES, fields)])
        missing = next((name for name in NEEDS.get(row.kind, ()) if getattr(row, name) is None), None)
        if row.kind == 'run' and '=' not in row.text:
            missing = 'text with KEY=VALUE'
        if missing is not None:
            self.refuse(f"a row of the kind '{row.kind}' has no {dict(time='time_s', size='count').get(missing, missing)}")
        return row

    def _cut(self, line: str) -> List[str]:
        fields: List[str] = []
        at = 0
        while True:
            match = _FIELD.match(line, at)
            if match is None:
                self.refuse('a quote is not as accepted: a field with quotes begins and ends with one, and has each quote within it twice')
            quoted, plain, comma = match.groups()
            fields.append(plain if quoted is None else quoted.replace('""', '"'))
            if not comma:
                return fields
            at = match.end()

    def _field(self, name: str, text: str, kind: str) -> Any:
        form, most = _NUMBERS.get(name, ('', 0))
        if form == '':
            words = {'reason': REASONS, 'fate': FATES}.get(name)
            if words is not None and text and text not in words and kind != 'resumed':
                self.refuse(f"{name} is '{text:.40}'; accepted are {', '.join(words)}")
            return text
        if text == '':
            return None
        try:
            value = real(text) if form == 'time' else whole(text)
        except ValueError:
            value = -1
        if not 0 <= value <= most:
            self.refuse(f"{name} is '{text:.40}'; accepted are " + ('seconds from 0 to 1e9' if form == 'time' else f'whole numbers from 0 to {int(most)}'))
        return value


def _without_end(line: bytes) -> str:
    text = line.decode('utf-8', 'surrogateescape')
    text = text[:-1] if text.endswith('\n') else text
    return text[:-1] if text.endswith('\r') else text


# A field and the comma behind it; one with quotes begins and ends with one.
_FIELD = re.compile(r'(?:"((?:[^"]|"")*)"|([^",]*))(,|\Z)', re.DOTALL)


def open_trace(name: str) -> BinaryIO:
    """Opens a file that is to be read as a trace. Raises Broken with one line."""
    try:
        return open(name, 'rb')
    except IsADirectoryError:
        raise Broken(f'{name:.300}: it is a folder; accepted: a trace that --trace FILE.csv has written') from None
    except (OSError, ValueError) as error:
        raise Broken(f'{name:.300}: {getattr(error, "strerror", None) or error}') from None
