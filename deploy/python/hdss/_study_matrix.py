# SPDX-License-Identifier: MIT
"""The runs of a study: its cells, their order, the command line of each, and the table of those that were made. Nothing here starts anything."""
from __future__ import annotations

from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from hdss._command import Refusal
from hdss._study_check import Engine, topology_options
from hdss._study_plan import AXES, HALF_OF_MFSC, NO_PLATFORM, SIMULATE, Axis, Study, dealt, is_dca, real, split, topology, value_text, whole

DONE, FAILED, TIMEOUT = 'done', 'failed', 'timeout'  # what became of a run
_M64 = (1 << 64) - 1


class Random:
    """xoshiro256** 1.0 (Blackman and Vigna 2018), seeded by splitmix64: the numbers of common/util/random.c."""

    def __init__(self, seed: int) -> None:
        self.state = []
        for _ in range(4):
            seed = (seed + 0x9e3779b97f4a7c15) & _M64
            z = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9 & _M64
            z = (z ^ z >> 27) * 0x94d049bb133111eb & _M64
            self.state.append(z ^ z >> 31)

    def next(self) -> int:
        s = self.state
        result = s[1] * 5 & _M64
        result = (result << 7 | result >> 57) * 9 & _M64
        t = s[1] << 17 & _M64
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = (s[3] << 45 | s[3] >> 19) & _M64
        return result

    def below(self, count: int) -> int:
        """Uniform from 0 on, without bias."""
        reject_below = (1 << 64) % count
        value = self.next()
        while value < reject_below:
            value = self.next()
        return value % count


class Run(NamedTuple):
    cell: int
    repetition: int  # from 0


class Table:
    """The table of runs, as its file has it: texts by the names of their columns, which come in the order in which they were first seen."""

    def __init__(self) -> None:
        self.columns: Dict[str, None] = {}
        self.rows: List[Dict[str, str]] = []
        self._texts: Dict[int, str] = {}  # of rows, by their identity, as long as the columns are the same

    def add(self, row: Dict[str, str]) -> Dict[str, str]:
        before = len(self.columns)
        self.columns.update(dict.fromkeys(row))
        if len(self.columns) > before:
            self._texts.clear()
        self.rows.append(row)
        return row

    def text(self) -> str:
        texts = self._texts
        for row in self.rows:
            if id(row) not in texts:
                texts[id(row)] = _line([row.get(column, '') for column in self.columns])
        return ''.join([_line(list(self.columns)) if self.columns else '', *(texts[id(row)] for row in self.rows)])

    def remove(self, row: Dict[str, str]) -> None:
        self.rows = [other for other in self.rows if other is not row]
        self._texts.clear()  # what is new may have the identity of what is gone

    @classmethod
    def parse(cls, name: str, text: str) -> Table:
        """Raises Refusal where the text of the file `name` is no table."""
        table = cls()
        lines = _lines(name, text)
        _, head = next(lines, (1, []))
        for i, column in enumerate(head):
            if column in head[:i]:
                raise Refusal(f"{name:.150}, line 1: two columns are called '{column:.100}'")
        table.columns = dict.fromkeys(head)
        for line, fields in lines:
            if len(fields) != len(head):
                raise Refusal(f'{name:.150}, line {line}: {len(fields)} fields, where the first line names {len(head)}')
            table.rows.append(dict(zip(head, fields)))
        return table


def _line(fields: List[str]) -> str:
    return ','.join(map(_field, fields)) + '\n'


def _field(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if any(letter in text for letter in ',"\n\r') else text


def _lines(name: str, text: str) -> Iterator[Tuple[int, List[str]]]:
    """The fields of each line, and its number: a quoted field may go over several."""
    at, line = 0, 1
    while at < len(text):
        fields, first = [], line
        while True:
            field, at = _read_field(text, at)
            if at < 0:
                raise Refusal(f'{name:.150}, line {first}: no row of a CSV file: a quote is not where it may be')
            line += field.count('\n')
            fields.append(field)
            if text[at:at + 1] != ',':
                break
            at += 1
        at, line = at + 1, line + 1
        yield first, fields


def _read_field(text: str, at: int) -> Tuple[str, int]:
    """A field without its quotes, and the place behind it; below 0 where a quote is not closed."""
    if text[at:at + 1] != '"':
        ends = [place for place in (text.find(',', at), text.find('\n', at)) if place >= 0]
        end = min(ends, default=len(text))
        return text[at:end - (text[at:end][-1:] == '\r')], end
    parts, at = [], at + 1
    while True:
        end = text.find('"', at)
        if end < 0:
            return '', -1
        parts.append(text[at:end])
        if text[end + 1:end + 2] != '"':
            break
        parts.append('"')
        at = end + 2
    end += 1 + (text[end + 1:end + 2] == '\r')
    return ''.join(parts), end if text[end:end + 1] in ('', ',', '\n') else -1


class Matrix:
    """All combinations of a study's values. A cell is a number, whose digits are the places of its values on the axes, the last axis the fastest."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.strides: Dict[str, int] = {}
        count = 1
        for axis in reversed(AXES):
            self.strides[axis.name] = count
            count *= len(study.values[axis.name])
        self.count = count
        self.options = ' '.join(study.options)
        self.halves: Dict[Tuple[str, str], Optional[str]] = {}

    def at(self, cell: int, axis: str) -> int:
        """The place of its value on the axis."""
        return cell // self.strides[axis] % len(self.study.values[axis])

    def value(self, cell: int, axis: str) -> str:
        return self.study.values[axis][self.at(cell, axis)]

    def with_place(self, cell: int, axis: str, place: int) -> int:
        """The cell that differs from this one in its place on the axis alone. No axis: the cell itself."""
        return cell + (place - self.at(cell, axis)) * self.strides[axis] if axis else cell

    def with_places(self, cell: int, places: Dict[str, int]) -> int:
        for axis, place in places.items():
            cell = self.with_place(cell, axis, place)
        return cell

    def order(self) -> List[Run]:
        """All runs in the order in which they are due: the first repetition of every cell, shuffled by the seed, then the second. So a machine that becomes
        slower in the meantime does not look like an effect of an axis, and a study that ends early has as much of every cell."""
        random, runs = Random(self.study.seed), []
        for repetition in range(self.study.repetitions):
            block = list(range(self.count))
            for i in range(self.count, 1, -1):
                other = random.below(i)
                block[i - 1], block[other] = block[other], block[i - 1]
            runs += [Run(cell, repetition) for cell in block]
        return runs

    def describe(self, cell: int) -> str:
        """"mandelbrot width=512, dtss, 2 masters, 4 workers": what varies, for people."""
        return ', '.join(value_text(axis.name, self.value(cell, axis.name)) for axis in AXES if self.study.varies(axis.name) or axis.name == 'workers')

    def simulates(self, cell: int) -> bool:
        """True if `hdss simulate` does it, not `hdss run`."""
        return self.value(cell, 'backend') == SIMULATE

    def repeats(self, cell: int) -> bool:
        """True if the repetitions of the cell are the same run again: simulated, without seeds of their own. They tell nothing of chance."""
        return self.simulates(cell) and not self.study.has_seeds

    # --- command lines ---

    def compose(self, cell: int, report: str, engine: Optional[Engine]) -> List[str]:
        """The words for the command, with its report to `report`. The engine says what a least chunk is that follows from the loop."""
        platform, study = self.value(cell, 'platform'), self.study
        line = ['simulate' if self.simulates(cell) else 'run']
        if self.simulates(cell) and platform != NO_PLATFORM:
            line += ['--platform', platform]
        for axis in AXES:
            is_shown = axis.name == 'technique' or (axis.name == 'threads' and study.line['threads'] != 0)
            if axis.option is not None and (is_shown or self.value(cell, axis.name) != axis.standard):
                line += [f'--{axis.option}', self._option_value(cell, axis, engine)]
        return [*line, *topology_options(self.value(cell, 'masters')), '--progress', 'never', '--report', report, *study.options,
                *split(self.value(cell, 'kernel'))]

    def _option_value(self, cell: int, axis: Axis, engine: Optional[Engine]) -> str:
        value, workers = self.value(cell, axis.name), self.value(cell, 'workers')
        if value == HALF_OF_MFSC and axis.name == 'min_chunk' and engine is not None:
            of = self.value(cell, 'kernel'), workers
            if of not in self.halves:
                self.halves[of] = engine.half_of_mfsc(*of)
            return self.halves[of] or value  # where it cannot be told hdss run says why
        if axis.is_dealt and (',' in value or '*' in value):  # dealt out again and again until each worker has one
            parts = dealt(value)
            return ','.join(parts[i % len(parts)] for i in range(int(workers)))
        return value

    # --- rows of the table ---

    def write(self, run: Run) -> Dict[str, str]:
        """What the run is, for a row of the table."""
        row = {axis.name: self.value(run.cell, axis.name) for axis in AXES if axis.name != 'masters'}
        masters = self.value(run.cell, 'masters')
        return {**row, 'topology': topology(masters), 'masters': '0' if is_dca(masters) else masters, 'repetition': str(run.repetition + 1),
                'options': self.options}

    def read(self, row: Dict[str, str]) -> Optional[Run]:
        """The run that the row is of; None where it is none of the matrix. A table that is older than an axis has no column for it: its runs had what is
        usual."""
        cell = 0
        for axis in AXES:
            value = row.get(axis.name, '')
            if axis.name == 'masters' and is_dca(row.get('topology', '')):
                value = row['topology']
            elif value == '' and axis.standard is not None:
                value = axis.standard
            if value not in self.study.values[axis.name]:
                return None
            cell += self.study.values[axis.name].index(value) * self.strides[axis.name]
        repetition = whole(row.get('repetition', ''))
        if repetition is None or not 1 <= repetition <= self.study.repetitions or row.get('options', '') != self.options:
            return None
        return Run(cell, repetition - 1)

    def rows(self, table: Table) -> Dict[Run, Dict[str, str]]:
        """The row of each run that has one."""
        found = {}
        for row in table.rows:
            run = self.read(row)
            if run is not None:
                found[run] = row
        return found


# --- reports as columns ---

WORKERS_COLUMN, WORKERS_MAX = 'worker_stats.compute_s', 64  # seconds of the workers in the order of their ranks; a run with more of them has no column
IDEAL_COLUMN = 'ideal_s'  # W/P, see _ideal_s()
STEPS_COLUMN, STEPS_MAX = 'steps.elapsed_s', 1000           # the same of the time steps
_NAME_MAX, _DEPTH_MAX = 200, 4


def flatten(row: Dict[str, str], report: Any, keeps_steps: bool) -> None:
    """Adds every number, text and truth of a report to the row, and of the objects in it by names as "imbalance.cov", but what has a column of that name in
    the row already; of lists only how long each worker has computed, and how long each time step took. Raises Refusal where it is no report."""
    if not isinstance(report, dict) or not _is_number(report.get('elapsed_s')):
        raise Refusal('the report has no elapsed_s')
    _flatten(row, '', report, 0)
    ideal_s = _ideal_s(report, row.get('load', ''))
    if ideal_s is not None:
        row[IDEAL_COLUMN] = f'{ideal_s:.6g}'
    _add_list(row, WORKERS_COLUMN, report.get('worker_stats'), 'compute_s', WORKERS_MAX)
    if keeps_steps:
        _add_list(row, STEPS_COLUMN, report.get('steps'), 'elapsed_s', STEPS_MAX)


def _ideal_s(report: Dict[str, Any], loads: str) -> Optional[float]:
    """W/P, the loop time if no worker ever waited: the work that was done, in seconds of a worker of power 1, over the power of all workers. A worker
    with `load` processes on its core has that part of its power. None where the report does not say it."""
    stats, efficiency = report.get('worker_stats'), report.get('efficiency')
    if not isinstance(stats, list) or not stats or not _is_number(efficiency):
        return None
    if not all(isinstance(worker, dict) and _is_number(worker.get('power')) and _is_number(worker.get('compute_s')) for worker in stats):
        return None
    load = [real(number) or 0 for number in dealt(loads)]  # none: 0
    powers = [worker['power'] / (1 + load[i % len(load)]) for i, worker in enumerate(stats)]
    computed = [worker['compute_s'] for worker in stats]
    if sum(computed) <= 0 or sum(powers) <= 0:
        return None
    mean_power_of_work = sum(c * power for c, power in zip(computed, powers)) / sum(computed)
    return float(report['elapsed_s'] * efficiency * mean_power_of_work / (sum(powers) / len(powers)))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _flatten(row: Dict[str, str], prefix: str, values: Dict[str, Any], depth: int) -> None:
    for key, value in values.items():
        name = f'{prefix}.{key}' if prefix else key
        if depth >= _DEPTH_MAX or len(name) >= _NAME_MAX:
            continue
        if isinstance(value, dict):
            _flatten(row, name, value, depth + 1)
        elif not row.get(name):
            text = {True: 'true', False: 'false'}[value] if isinstance(value, bool) else f'{value:.15g}' if isinstance(value, float) else value
            if isinstance(text, (str, int)):
                row[name] = str(text)


def _add_list(row: Dict[str, str], column: str, entries: Any, key: str, most: int) -> None:
    if not isinstance(entries, list) or not 0 < len(entries) <= most:
        return
    numbers = [entry.get(key) if isinstance(entry, dict) else None for entry in entries]
    if all(_is_number(number) for number in numbers):
        row[column] = ' '.join(f'{number:.6g}' for number in numbers)


def seconds_of(rows: Sequence[Optional[Dict[str, str]]], column: str) -> List[List[float]]:
    """The lists of the column in the rows of runs that are done; of runs whose list is not as long as the first one none."""
    lists = [[float(word) for word in row.get(column, '').split()] for row in rows if row is not None and row.get('status') == DONE]
    lists = [numbers for numbers in lists if numbers]
    return [numbers for numbers in lists if len(numbers) == len(lists[0])]
