# SPDX-License-Identifier: MIT
"""The figures of each cell over its repetitions: how many runs, of each measure the median, its interval of confidence and the quartiles, whether the
cell's loop time differs from another one's, and how long its time steps took."""
from __future__ import annotations

import math
import re
import statistics
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence

from hdss._study_matrix import DONE, IDEAL_COLUMN, STEPS_COLUMN, Matrix, Run, Table, seconds_of
from hdss._study_numbers import CONFIDENCE, Interval, Quartiles, correct_holm, mann_whitney, mann_whitney_least, median_interval, quartiles, saving_interval
from hdss._study_plan import AXES, MEASURE, UNTIL_LEAST, Study, real

LEVEL = 0.05  # a difference counts where its corrected probability is below that
QUICKER, SLOWER, UNCLEAR, FEW, SAME = 'quicker', 'slower', 'may be chance', 'too few runs to tell', 'the same run each time'


class Value:
    """A figure over the runs of a cell that have it."""

    def __init__(self, values: Sequence[float], has_interval: bool) -> None:
        self.values = sorted(values)
        self.quartiles = quartiles(self.values) if self.values else Quartiles(0, 0, 0, 0, 0)
        self.median = self.quartiles.median
        self.interval: Optional[Interval] = median_interval(self.values) if has_interval else None

    @property
    def count(self) -> int:
        return len(self.values)

    def is_settled(self, study: Study) -> bool:
        """True if the study runs a cell until its interval is narrow enough, and the one of these loop times is, or they are all the same."""
        if study.until <= 0 or self.count < UNTIL_LEAST:
            return False
        if self.interval is None:
            return self.quartiles.most <= self.quartiles.least
        return max(self.median - self.interval[0], self.interval[1] - self.median) <= study.until / 100 * self.median


class Difference(NamedTuple):
    """The loop time of a cell beside that of another one."""

    against: int      # the other cell
    saved: float      # 100 times the part of the other's median that is saved
    interval: Optional[Interval]
    p: Optional[float] = None  # of the test of Mann and Whitney; not where the verdict is SAME: chance has no part in what is run again
    p_corrected: Optional[float] = None  # for all cells that are compared with the same one
    verdict: str = SAME


class Cell:
    def __init__(self) -> None:
        self.done = self.failed = 0
        self.status = self.reason = ''  # of the last failure
        self.values: Dict[str, Value] = {}
        self.ideal_s: Optional[float] = None  # W/P, the median of its runs
        self.difference: Optional[Difference] = None  # None: there is nothing to compare with


NOTHING = Value((), False)


class Summary:
    def __init__(self, matrix: Matrix, table: Table) -> None:
        self.matrix, self.study = matrix, matrix.study
        self.rows = matrix.rows(table)
        self.done = self.failed = 0
        self.to_come = 0  # runs that are neither, of cells that are not settled
        self.cells = [self._cell(i) for i in range(matrix.count)]
        self._compare()
        if 'speedup' in self.study.measured:
            self._set_speedups()
        if 'improvement' in self.study.measured:
            self._set_improvements()

    # --- each cell ---

    def rows_of(self, cell: int) -> List[Optional[Dict[str, str]]]:
        return [self.rows.get(Run(cell, repetition)) for repetition in range(self.study.repetitions)]

    def _cell(self, index: int) -> Cell:
        cell, study = Cell(), self.study
        rows = [row for row in self.rows_of(index) if row is not None]
        done = [row for row in rows if row.get('status') == DONE]
        for row in rows:
            if row.get('status') != DONE:
                cell.failed += 1
                cell.status, cell.reason = row.get('status', ''), row.get('reason', '')
        cell.done = len(done)
        for name in dict.fromkeys(['time', 'efficiency', *study.measured]):
            figures = [figure for figure in (_figure(row, name) for row in done) if figure is not None]
            cell.values[name] = Value(figures, not self.matrix.repeats(index) and (name in study.measured or name == 'time'))
        ideals = [ideal for ideal in (real(row.get(IDEAL_COLUMN, '')) for row in done) if ideal is not None]
        cell.ideal_s = statistics.median(ideals) if ideals else None
        self.done += cell.done
        self.failed += cell.failed
        if not cell.values['time'].is_settled(study):
            self.to_come += study.repetitions - cell.done - cell.failed
        return cell

    # --- what follows from other cells ---

    def workers_of(self, cell: int) -> float:
        """With all their threads; `auto` counts as one."""
        return float(self.matrix.value(cell, 'workers')) * max(real(self.matrix.value(cell, 'threads')) or 0, 1)

    def serial_time(self, kernel: int) -> float:
        """The loop time that one worker would take: of the quickest cell of the kernel with the fewest workers and threads, times these. 0: there is
        none."""
        fewest, time = math.inf, 0.0
        for i, cell in enumerate(self.cells):
            elapsed, workers = cell.values['time'], self.workers_of(i)
            if self.matrix.at(i, 'kernel') == kernel and elapsed.count and workers <= fewest:
                total = elapsed.median * workers
                time = total if workers < fewest else min(time, total)
                fewest = workers
        return time

    def baseline(self, cell: int) -> int:
        """The cell that this one is compared with where the study has a baseline."""
        return self.matrix.with_places(cell, self.study.baseline or {})

    def _set_speedups(self) -> None:
        serial = [self.serial_time(kernel) for kernel in range(len(self.study.values['kernel']))]
        for i, cell in enumerate(self.cells):
            base = serial[self.matrix.at(i, 'kernel')]
            if self.study.speedup_base is not None:
                other = self.matrix.with_places(i, self.study.speedup_base)
                elapsed = self.cells[other].values['time']
                base = elapsed.median * self.workers_of(other) if elapsed.count else 0
            elapsed = cell.values['time']
            if elapsed.count and base > 0 and elapsed.quartiles.least > 0:
                cell.values['speedup'] = _follow(elapsed, lambda time, base=base: base / time)  # type: ignore[misc]

    def _set_improvements(self) -> None:
        """The baseline varies, too: the interval is that of the difference."""
        for i, cell in enumerate(self.cells):
            elapsed, baseline = cell.values['time'], self.cells[self.baseline(i)].values['time']
            if elapsed.count and baseline.count and baseline.median > 0:
                value = _follow(elapsed, lambda time, base=baseline.median: 100 * (1 - time / base))  # type: ignore[misc]
                value.interval = cell.difference.interval if cell.difference is not None else None
                cell.values['improvement'] = value

    # --- differences ---

    @property
    def compared_along(self) -> str:
        """The axis along which cells are compared where the study has no baseline: that of the techniques where it varies, else what the lines of a picture
        are for, else what they run along; '': nothing varies."""
        return next((axis for axis in ('technique', self.study.series, self.study.x) if axis and self.study.varies(axis)), '')

    def _other(self, index: int) -> int:
        """The cell of the baseline where the study has one, else the quickest of those that differ from this one along that axis alone."""
        axis = self.compared_along
        if self.study.baseline is not None:
            return self.baseline(index)
        others = [self.matrix.with_place(index, axis, i) for i in range(len(self.study.values[axis]))] if axis else []
        return min((i for i in others if self.cells[i].values['time'].count), key=lambda i: self.cells[i].values['time'].median, default=index)

    def _compare(self) -> None:
        """Each cell of a group is compared with one and the same. A test for each of them would find a difference by chance the sooner the more there are, so
        that their probabilities are corrected for the group. With three runs of each no difference can be significant, however large: that is said,
        too."""
        groups: Dict[int, List[int]] = {}
        for i, cell in enumerate(self.cells):
            against = self._other(i)
            if against != i:
                cell.difference = self._difference(i, against)
            if cell.difference is not None and cell.difference.p is not None:
                groups.setdefault(against, []).append(i)
        for against, group in groups.items():
            differences = [difference for difference in (self.cells[i].difference for i in group) if difference is not None]
            for i, difference, p in zip(group, differences, correct_holm([difference.p or 0.0 for difference in differences])):
                least = len(group) * mann_whitney_least(self.cells[i].values['time'].count, self.cells[against].values['time'].count)
                verdict = FEW if least >= LEVEL else UNCLEAR if p >= LEVEL else QUICKER if difference.saved > 0 else SLOWER
                self.cells[i].difference = difference._replace(p_corrected=p, verdict=verdict)

    def _difference(self, index: int, against: int) -> Optional[Difference]:
        own, other = self.cells[index].values['time'], self.cells[against].values['time']
        if not own.count or not other.count or other.median <= 0:
            return None
        interval = saving_interval(own.values, other.values) if own.interval is not None and other.interval is not None else None
        difference = Difference(against, 100 * (1 - own.median / other.median), interval)
        if self.matrix.repeats(index) or self.matrix.repeats(against):
            return difference
        return difference._replace(p=mann_whitney(own.values, other.values))

    @property
    def runs_needed(self) -> int:
        """Runs of each cell that can show a difference where some cells have too few for that; 0: all have enough, or nothing is compared. The more cells
        are compared with the same one, the more runs it takes."""
        differences = [cell.difference for cell in self.cells if cell.difference is not None]
        counts: Dict[int, int] = {}
        for difference in differences:
            counts[difference.against] = counts.get(difference.against, 0) + (difference.p is not None)
        compared, runs = max((counts[difference.against] for difference in differences if difference.verdict == FEW), default=0), 2
        while compared and compared * mann_whitney_least(runs, runs) >= LEVEL:
            runs += 1
        return runs if compared else 0

    # --- for programs ---

    def cells_table(self) -> Table:
        """A row for each cell. Numbers have all their digits: who reads them rounds them."""
        table = Table()
        for i, cell in enumerate(self.cells):
            row = {**{axis.name: self.matrix.value(i, axis.name) for axis in AXES}, 'runs': str(cell.done), 'failed': str(cell.failed)}
            for name in self.study.measured:
                value = cell.values[name]
                low, high = value.interval or (None, None)
                least, lower, median, upper, most = value.quartiles._replace(median=value.median) if value.count else 5 * (None,)
                for ending, figure in (('', median), ('.low', low), ('.high', high), ('.least', least), ('.q1', lower), ('.q3', upper), ('.most', most)):
                    row[name + ending] = digits(figure)
            table.add({**row, **self._difference_row(cell.difference)})
        return table

    def _difference_row(self, difference: Optional[Difference]) -> Dict[str, str]:
        if difference is None:
            return dict.fromkeys(('against', 'saved', 'saved.low', 'saved.high', 'p', 'p.corrected', 'verdict'), '')
        low, high = difference.interval or (None, None)
        return {'against': self.matrix.describe(difference.against), 'saved': digits(difference.saved), 'saved.low': digits(low), 'saved.high': digits(high),
                'p': digits(difference.p), 'p.corrected': digits(difference.p_corrected), 'verdict': difference.verdict}

    def cells_data(self) -> Dict[str, Any]:
        """The same as objects."""
        return {'confidence': CONFIDENCE, 'interval': 'exact bootstrap of the median, percentile method', 'test': 'Mann-Whitney, two-sided',
                'correction': 'Holm', 'level': LEVEL, 'cells': [self._cell_data(i) for i in range(self.matrix.count)]}

    def _axes_data(self, cell: int) -> Dict[str, str]:
        return {axis.name: self.matrix.value(cell, axis.name) for axis in AXES}

    def _cell_data(self, index: int) -> Dict[str, Any]:
        cell = self.cells[index]
        data: Dict[str, Any] = {'axes': self._axes_data(index), 'runs': cell.done, 'failed': cell.failed, 'measures': {}, 'difference': None}
        for name in self.study.measured:
            value = cell.values[name]
            data['measures'][name] = {'unit': MEASURE[name].unit, 'runs': value.count, 'median': value.median, 'interval': _pair(value.interval),
                                      'quartiles': list(map(float, value.quartiles._replace(median=value.median)))} if value.count else None
        if cell.difference is not None:
            against, saved, interval, p, p_corrected, verdict = cell.difference
            data['difference'] = {'against': self._axes_data(against), 'saved': saved, 'interval': _pair(interval), 'p': p, 'p_corrected': p_corrected,
                                  'verdict': verdict}
        return data


def _pair(interval: Optional[Interval]) -> Optional[List[float]]:
    return None if interval is None else list(interval)


def _figure(row: Dict[str, str], name: str) -> Optional[float]:
    """The value of a run; None where it has none."""
    measure = MEASURE[name]
    figure = real(row.get(measure.column, '')) if measure.column is not None else None
    if figure is None or measure.over is None:
        return figure
    over = real(row.get(measure.over, ''))
    return figure / over if over else None


def _follow(elapsed: Value, of: Callable[[float], float]) -> Value:
    """A value that only the loop times tell. It falls where the time rises, so that the order of the runs turns round. Its median follows from that of the
    time, as does its interval, whose reference is taken as it is."""
    value = Value([of(time) for time in elapsed.values], False)
    value.median = of(elapsed.median)
    if elapsed.interval is not None:
        value.interval = of(elapsed.interval[1]), of(elapsed.interval[0])
    return value


class Steps:
    """The time steps of loops that have several: how long each took, over the repetitions of a cell."""

    def __init__(self, summary: Summary) -> None:
        self.summary, self.matrix, study = summary, summary.matrix, summary.study
        self.cells = [self._cell(i) for i in range(summary.matrix.count)]
        # the axes of which each pair of values has a curve in a picture: the techniques of both levels; where none varies what other lines are for
        self.axes = [axis for axis in ('technique', 'thread_technique') if study.varies(axis)] or [study.series or study.x]
        # named by its first cell; a run with one step is a point, which is nothing to be seen
        self.panels = [i for i in range(summary.matrix.count) if all(summary.matrix.at(i, axis) == 0 for axis in self.axes)
                       and any(len(self.cells[k]) > 1 for k in self.curves(i))]

    def _cell(self, index: int) -> List[Value]:
        lists = seconds_of(self.summary.rows_of(index), STEPS_COLUMN)
        return [Value(step, not self.matrix.repeats(index)) for step in zip(*lists)]

    def curves(self, panel: int) -> List[int]:
        """The cells of a panel, those of one value of the first axis next to each other."""
        cells = [panel]
        for axis in self.axes:
            cells = [self.matrix.with_place(cell, axis, i) for cell in cells for i in range(len(self.summary.study.values[axis]))]
        return cells

    def name(self, place: int) -> str:
        return f'steps-{place + 1}' if len(self.panels) > 1 else 'steps'

    def table(self) -> Table:
        """A row for each step of each cell, from 1. One without a row names its columns, too, as programs do not read an empty file."""
        table = Table()
        table.columns = dict.fromkeys([*(axis.name for axis in AXES), 'step', 'runs', 'time', 'time.low', 'time.high', 'time.least', 'time.most'])
        for i, steps in enumerate(self.cells):
            for step, value in enumerate(steps):
                low, high = value.interval or (None, None)
                table.add({**{axis.name: self.matrix.value(i, axis.name) for axis in AXES}, 'step': str(step + 1), 'runs': str(value.count),
                           'time': digits(value.median), 'time.low': digits(low), 'time.high': digits(high), 'time.least': digits(value.quartiles.least),
                           'time.most': digits(value.quartiles.most)})
        return table


# --- texts ---

def digits(value: Optional[float]) -> str:
    return '' if value is None else f'{value:.9g}'


def number_text(value: float) -> str:
    """A figure as people write it, with three digits that mean something: "0.0123", "12.3", "1,234"."""
    size = abs(value)
    if 1000 <= size < 1e15:
        return f'{"-" if value < 0 else ""}{int(size + 0.5):,}'
    decimals = 0 if size >= 100 or size == 0 else 1 if size >= 10 else 2 if size >= 1 else 3 if size >= 0.1 else 4 if size >= 0.01 else 5
    is_whole = size < 1000 and abs(size - round(size)) < 1e-12 * size
    return f'{value:.{0 if is_whole else decimals}f}'


def figure_text(measure: str, value: float) -> str:
    """The same of a measure; parts of a hundred have one digit behind the point."""
    return f'{0 if abs(value) < 0.05 else value:.1f}' if MEASURE[measure].unit == '%' else number_text(value)


def probability_text(p: Optional[float]) -> str:
    """A probability as people write it: "0.031", "< 0.001". A difference that chance has no part in has none."""
    return '-' if p is None else '< 0.001' if p < 0.001 else f'{p:.3f}' if p < 0.1 else f'{p:.2f}'


def json_text(value: Any, indent: str = '\n') -> str:
    """JSON with nine digits of each real number."""
    deeper = indent + '  '
    if isinstance(value, float):
        text = re.sub(r'e\+?(-?)0*', r'e\1', f'{value:.9g}')
        return text if '.' in text or 'e' in text else text + '.0'
    if isinstance(value, dict):
        return '{' + ','.join(f'{deeper}{json_text(key)}: {json_text(entry, deeper)}' for key, entry in value.items()) + indent + '}' if value else '{}'
    if isinstance(value, list):
        return '[' + ','.join(deeper + json_text(entry, deeper) for entry in value) + indent + ']' if value else '[]'
    return _scalar_text(value)


def _scalar_text(value: Any) -> str:
    if not isinstance(value, str):
        return 'null' if value is None else str(value)
    escaped = {'"': '\\"', '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t', '\b': '\\b', '\f': '\\f'}
    if any('\udc80' <= letter <= '\udcff' for letter in value):  # no UTF-8
        value = ''.join(letter if letter < '\x80' else len(letter.encode(errors='surrogateescape')) * '?' for letter in value)
    return '"' + ''.join(escaped.get(letter) or (letter if letter >= ' ' else f'\\u{ord(letter):04X}') for letter in value) + '"'
