# SPDX-License-Identifier: MIT
"""The report of a study, a page of Markdown that joins tables and pictures; which pictures there are; and maps for a terminal."""
from __future__ import annotations

import re
import textwrap
from typing import Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence

from hdss import _text
from hdss._study_matrix import WORKERS_COLUMN, Table, seconds_of
from hdss._study_numbers import CONFIDENCE, confidence_at_most
from hdss._study_plan import AXES, AXIS, INTERVAL_LEAST, MEASURE, NO_PLATFORM, UNTIL_LEAST, Study, value_text
from hdss._study_summary import Cell, Steps, Summary, figure_text, number_text, probability_text

LINES, ALL, BOXES, HEAT = '', 'all-', 'box-', 'heat-'  # kinds of pictures, as the names of their files begin
SERIES_MAX = 64  # lines that can be told apart in one picture
BOXES_MAX = 72   # boxes that can be


# --- pictures ---

class Figure(NamedTuple):
    kind: str
    measure: str
    panel: int       # a cell that has its values on the axes that do not lie in the picture
    x: str           # the axes: of a heat map both; y of lines: what each line is for, or ''
    y: str
    group: str = ''  # of lines: the other axis of what each line is for, or '': there is one line for each value of `group` and each of `y`


class Figures:
    """The pictures of a study: lines or bars of a measure along an axis, box plots of the runs, and heat maps of two axes. What has other values on the
    remaining axes gets a picture of its own: a panel. Where lines are not for techniques there are pictures with all techniques together as well."""

    def __init__(self, summary: Summary) -> None:
        self.summary, self.matrix, self.study = summary, summary.matrix, summary.study
        self.all = list(self._list())

    def _list(self) -> Iterator[Figure]:
        study = self.study
        heat = study.heat
        for measure in study.measured:
            lines = Figure(LINES, measure, 0, study.x, study.series)
            together = Figure(ALL, measure, 0, study.x, study.series, 'technique')
            # techniques stand in pictures of their own, and few enough to be told apart in one
            has_all = study.varies('technique') and 'technique' not in (study.x, study.series) and self.lines_of(together) <= SERIES_MAX
            yield from self._panels(lines)
            if has_all:
                yield from self._panels(together)
            if study.repetitions >= INTERVAL_LEAST:
                is_few = has_all and self.columns_of(together) * self.lines_of(together) <= BOXES_MAX
                yield from self._panels((together if is_few else lines)._replace(kind=BOXES))
            if heat is not None:
                yield from self._panels(Figure(HEAT, measure, 0, *heat))
                heat = heat if study.has_heat_line else None

    def _panels(self, figure: Figure) -> Iterator[Figure]:
        """A panel is named by the first of its cells."""
        for i in range(self.matrix.count):
            if all(self.matrix.at(i, axis) == 0 for axis in (figure.x, figure.y, figure.group) if axis):
                yield figure._replace(panel=i)

    def _count(self, axis: str) -> int:
        return len(self.study.values[axis]) if axis else 1

    def columns_of(self, figure: Figure) -> int:
        return self._count(figure.x)

    def lines_of(self, figure: Figure) -> int:
        """Lines of the picture, or rows of the map; those of a group next to each other."""
        return self._count(figure.group) * self._count(figure.y)

    def cell(self, figure: Figure, x: int, y: int) -> Cell:
        """The cell at these values of its axes; y is the number of the line, and 0 where there is no such axis."""
        group, place = divmod(y, self._count(figure.y))
        cell = self.matrix.with_place(figure.panel, figure.x, x)
        return self.summary.cells[self.matrix.with_place(self.matrix.with_place(cell, figure.y, place), figure.group, group)]

    def has_data(self, figure: Figure) -> bool:
        """The improvement of nothing but baselines shows nothing."""
        return any(value.count and (figure.measure != 'improvement' or value.median != 0) for value in
                   (self.cell(figure, x, y).values[figure.measure] for y in range(self.lines_of(figure)) for x in range(self.columns_of(figure))))

    def name(self, figure: Figure) -> str:
        """"time", "time-2", "all-time", "box-time", "heat-time": what its files are called."""
        alike = [other for other in self.all if other.kind == figure.kind and other.measure == figure.measure]
        return f'{figure.kind}{figure.measure}' + (f'-{alike.index(figure) + 1}' if len(alike) > 1 else '')

    def title(self, figure: Figure) -> str:
        """"Loop time against workers"; the part of a measure's title behind the comma stands at the axis."""
        title, along = MEASURE[figure.measure].title.partition(',')[0], AXIS[figure.x].title
        if figure.kind == HEAT:
            title += f' by {along} and {AXIS[figure.y].title}'
        else:
            title += f'{" of the runs" if figure.kind == BOXES else ""} {"against" if self.study.is_numeric(figure.x) else "by"} {along}'
        return title[0].upper() + title[1:]

    def panel(self, figure: Figure) -> str:
        """"mandelbrot width=512, dfss": what all of the picture shares."""
        parts = []
        for axis in AXES:
            value = self.matrix.value(figure.panel, axis.name)
            is_usual = axis.standard is not None and axis.name != 'technique' and value == axis.standard and not self.study.varies(axis.name)
            if axis.name not in (figure.x, figure.y, figure.group) and not is_usual:
                parts.append(value_text(axis.name, value))
        return ', '.join(parts)

    def line(self, figure: Figure, y: int) -> str:
        """"gss", "gss, 2 masters": what a line is for."""
        places = zip((figure.group, figure.y), divmod(y, self._count(figure.y)))
        return ', '.join(value_text(axis, self.study.values[axis][place]) for axis, place in places if axis)


def steps_panel(steps: Steps, panel: int) -> str:
    """"mandelbrot width=512, 4 workers": what all curves of the panel share."""
    return ', '.join(value_text(axis.name, steps.matrix.value(panel, axis.name)) for axis in AXES if axis.name not in steps.axes
                     and (steps.summary.study.varies(axis.name) or axis.name in ('kernel', 'workers')))


# --- the page ---

def _escaped(text: str) -> str:
    """A table's cell ends at a stroke."""
    return re.sub(r'([|\\<*_`\[])', r'\\\1', text)


def _label(study: Study, axis: str, value: str) -> str:
    """For a value that the study calls 0 or none."""
    if axis == 'masters' and value == '0':
        return 'central'
    return 'the default' if axis == 'platform' and value == NO_PLATFORM and study.simulates else value


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], begin: str = '|') -> str:
    """Each of the texts stands between two strokes; the head has a blank before each of them."""
    lines = [begin + ''.join(f' {text} |' for text in head), '|' + len(head) * '---|']
    return '\n'.join(lines + ['| ' + ' | '.join(row) + ' |' for row in rows]) + '\n'


def _unit(measure: str) -> str:
    return f', {MEASURE[measure].unit}' if MEASURE[measure].unit else ''


class Report:
    """The texts of a report. `name` is that of the study's files without their endings, and `file` the study's, as given; `is_drawn`: the pictures are
    there."""

    def __init__(self, name: str, file: str, summary: Summary, table: Table, figures: Figures, steps: Optional[Steps], is_drawn: bool) -> None:
        self.name, self.file, self.summary, self.table = name, file, summary, table
        self.figures, self.steps, self.is_drawn = figures, steps, is_drawn
        self.study, self.matrix = summary.study, summary.matrix
        self.shown = [axis.name for axis in AXES if self.study.varies(axis.name) or axis.name == 'workers']

    def page(self) -> str:
        study = self.study
        parts: List[Optional[str]] = [
            f'# {study.title or self.name}\n\nMade by `hdss study {self.file}`.\n', self._count(), self._machines(), '## What was run\n', self._axes(),
            self._about_medians(), self._cells(_median), self._definitions(), self._differences(), self._quartiles(),
            self._workers() if 'compute' in study.measured else None, self._failures(), self._time_steps(), self._pictures()]
        return '\n'.join(part for part in parts if part is not None) + '\n'

    def _count(self) -> str:
        summary, study, name = self.summary, self.study, self.name
        return (f'{summary.done + summary.failed + summary.to_come} runs: {self.matrix.count} cells, {"up to " if study.until > 0 else ""}{study.repetitions} '
                f'time{"" if study.repetitions == 1 else "s"} each, in the order of seed {study.seed}. Done: {summary.done}, failed: {summary.failed}, '
                f'to come: {summary.to_come}. Each is a row of [{name}.csv]({name}.csv), and each cell one of [{name}-cells.csv]({name}-cells.csv) and of '
                f'[{name}-cells.json]({name}-cells.json).\n')

    def _machines(self) -> str:
        """Each machine of the table of runs once: a study may go on elsewhere."""
        columns = [*(f'machine.{name}' for name in ('processor', 'cores', 'memory_gib', 'system', 'host')), 'version', 'commit']
        lines = dict.fromkeys('- {}, {} cores, {} GiB, {} ({}); HDSS {}, commit {}\n'.format(*(row.get(column, '') for column in columns))
                              for row in self.table.rows)
        return ''.join(lines)

    def _axes(self) -> str:
        study = self.study
        rows = [[axis.title, ('<br>' if axis.name == 'kernel' else ', ').join(_escaped(_label(study, axis.name, value)) for value in study.values[axis.name])]
                for axis in AXES]
        if study.options:
            rows.append(['options', ' '.join(map(_escaped, study.options))])
        return _table(['axis', 'values'], rows)

    def _values(self, cell: int) -> List[str]:
        return [_escaped(_label(self.study, axis, self.matrix.value(cell, axis))) for axis in self.shown]

    def _runs(self, cell: Cell) -> str:
        """How many runs are done, and what became of the others."""
        study, ended = self.study, cell.done + cell.failed
        text = str(cell.done) + (f', **{cell.failed} {cell.status}**' if cell.failed else '')
        if cell.values['time'].is_settled(study):
            return text
        if ended < study.repetitions:
            return f'{text}, {"up to " if study.until > 0 else ""}{study.repetitions - ended} to come'
        return text + (', **too wide**' if study.until > 0 else '')

    def _cells(self, write: Callable[[Cell, str], str]) -> str:
        measured = self.study.measured
        head = [*(AXIS[axis].title for axis in self.shown), 'runs', *(MEASURE[name].title + _unit(name) for name in measured)]
        return _table(head, [[*self._values(i), self._runs(cell), *(write(cell, name) for name in measured)] for i, cell in enumerate(self.summary.cells)])

    def _about_medians(self) -> str:
        """What stands in brackets behind a median, and how far that can be trusted."""
        study, runs = self.study, self.study.repetitions
        text = '## Medians\n\nThe median of the runs that are done'
        if runs < INTERVAL_LEAST:
            return (f'{text}{", in round brackets the least and the greatest" if runs > 1 else ""}.\nThere is no interval of confidence: that takes '
                    f'{INTERVAL_LEAST} runs of a cell at least, and `repetitions` is {runs}.\n')
        if study.has_intervals:
            text += ('; in square brackets its 95 % interval of confidence, by the percentile method of the bootstrap, from the exact distribution of the '
                     f'median of all resamples (Efron and Tibshirani 1993); in round ones, where fewer than {INTERVAL_LEAST} runs are done, the least and the '
                     'greatest.\n')
        else:
            text += ', in round brackets the least and the greatest.\n'
        if study.has_intervals and confidence_at_most(runs) < CONFIDENCE:
            text += (f'No interval of so few runs is as sure as that: between the least and the greatest of {runs} runs lies the median with '
                     f'{100 * confidence_at_most(runs):.0f} %.\n')
        if study.until > 0:
            text += (f'Each cell was run until the interval of its loop time was at most {study.until:g} % of the median to either side, {UNTIL_LEAST} times '
                     f'at least and {runs} times at most; **too wide** are those that did not come so far.\n')
        if study.simulates and not study.has_seeds:
            text += ('Repetitions of a simulated cell are the same run again: it has no interval of confidence, and its difference no p. With `seeds = yes` '
                     'they are not.\n')
        if 'speedup' in study.measured:
            text += 'The interval of the speedup is that of the loop time: its reference is taken as it is.\n'
        return text

    def _definitions(self) -> str:
        study = self.study
        lines = [f'- {MEASURE[name].title}: {MEASURE[name].about}\n' for name in study.measured if MEASURE[name].about is not None]
        for what, places in (('the baseline', study.baseline),
                             ("the speedup's base, whose loop time is taken times its workers and threads", study.speedup_base)):
            if places is not None:
                lines.append(f'- {what}:' + ''.join(f' {AXIS[axis].title} {_escaped(study.values[axis][place])}' for axis, place in places.items()) + '\n')
        return ''.join(lines)

    # --- differences and quartiles ---

    def _differences(self) -> Optional[str]:
        """Nothing where each cell has one run, or is compared with none."""
        study, needed = self.study, self.summary.runs_needed
        if study.repetitions < 2 or all(cell.difference is None for cell in self.summary.cells):
            return None
        other = 'the baseline' if study.baseline is not None else ('the quickest of the cells that differ in nothing but '
                                                                   + AXIS[self.summary.compared_along].title)
        text = (f'## Differences\n\nThe loop time of each cell beside that of {other}; in square brackets the 95 % interval of confidence of what is saved. p '
                'is the probability of ranks as far apart as these where nothing but chance is at work (Mann and Whitney 1947, two-sided), and is corrected '
                'for all cells that are compared with the same one (Holm 1979). A cell is called quicker or slower where the corrected p is below 0.05.\n')
        if needed:
            text += f'Too few runs cannot bring it below that, however far they are apart; {needed} of each cell can.\n'
        if study.baseline is None:
            text += 'The quickest was chosen after the runs, which makes the others look slower than they are; a `baseline` does not.\n'
        head = [*(AXIS[axis].title for axis in self.shown), 'against', 'loop time saved, %', 'p', 'p, corrected', 'in words']
        return f'{text}\n{_table(head, [row for row in map(self._difference, range(self.matrix.count)) if row])}'

    def _difference(self, index: int) -> List[str]:
        difference = self.summary.cells[index].difference
        if difference is None:
            return []
        against = [_escaped(_label(self.study, axis.name, self.matrix.value(difference.against, axis.name))) for axis in AXES
                   if self.matrix.at(index, axis.name) != self.matrix.at(difference.against, axis.name)]
        saved = figure_text('improvement', difference.saved)
        if difference.interval is not None:
            saved += f' [{difference.interval[0]:.1f}, {difference.interval[1]:.1f}]'
        return [*self._values(index), ', '.join(against), saved, probability_text(difference.p), probability_text(difference.p_corrected), difference.verdict]

    def _quartiles(self) -> Optional[str]:
        if self.study.repetitions < INTERVAL_LEAST:
            return None
        return ('## Quartiles\n\nThe least, the lower quartile, the median, the upper quartile and the greatest of the runs that are done (type 7 of Hyndman '
                f'and Fan 1996).\n\n{self._cells(_quartiles)}')

    # --- workers, failures, time steps ---

    def _workers(self) -> Optional[str]:
        """How long each worker has computed: the median over the runs of each cell, and how even that is."""
        times: Dict[int, List[float]] = {}
        for i in range(self.matrix.count):
            runs = seconds_of(self.summary.rows_of(i), WORKERS_COLUMN)
            if runs:
                times[i] = [_middle(sorted(of)) for of in zip(*runs)]
        if not times:
            return None
        columns = max(map(len, times.values()))
        axes = [axis for axis in self.shown if self.study.varies(axis)]
        rows = [[*(self.matrix.value(i, axis) for axis in axes), *([*map(number_text, of), *(columns - len(of)) * ['']]),
                 f'{max(of) * len(of) / sum(of) if sum(of) > 0 else 1:.2f}'] for i, of in times.items()]
        head = [*(AXIS[axis].title for axis in axes), *map(str, range(1, columns + 1)), 'most / mean']
        return ('## Computing time of each worker\n\nSeconds inside the kernel, the median of the runs that are done; the workers in the order of their '
                'ranks.\n\n'
                + _table(head, rows))

    def _failures(self) -> Optional[str]:
        rows = [[_escaped(self.matrix.describe(i)), f'{cell.failed} {cell.status}', _escaped(cell.reason)] for i, cell in enumerate(self.summary.cells)
                if cell.failed]
        return '## Failed\n\n' + _table(['cell', 'runs', 'why'], rows) if rows else None

    def _time_steps(self) -> Optional[str]:
        steps, name = self.steps, self.name
        if steps is None:
            return None
        parts = [f'## Time steps\n\nHow long each time step took is in [{name}-steps.csv]({name}-steps.csv).\n']
        if not steps.panels:
            parts.append('No run that is done has several time steps, and not more than are kept.\n')
        for place, panel in enumerate(steps.panels if self.is_drawn else []):
            file = f'{name}-{steps.name(place)}'
            parts.append(f'{_escaped(steps_panel(steps, panel))} ([PNG]({file}.png))\n\n![Time of each time step]({file}.svg)\n')
        return '\n'.join(parts)

    # --- pictures ---

    def _pictures(self) -> Optional[str]:
        """For heat maps there are tables as well."""
        parts: List[str] = []
        before = None
        for figure in self.figures.all:
            is_first, before = before is None or before[:2] != figure[:2], figure
            if not self.figures.has_data(figure) or (figure.kind != HEAT and not self.is_drawn):
                continue
            if not parts:
                parts.append('## Pictures\n' if self.is_drawn else '## Tables of two axes\n')
            title, file = self.figures.title(figure), f'{self.name}-{self.figures.name(figure)}'
            if is_first:
                parts.append(f'### {title}{_unit(figure.measure)}\n')
            parts.append(_escaped(self.figures.panel(figure)) + (f' ([PNG]({file}.png))' if self.is_drawn else '') + '\n')
            if figure.kind == HEAT:
                parts.append(self._map(figure))
            if self.is_drawn:
                parts.append(f'![{title}]({file}.svg)\n')
        return '\n'.join(parts) if parts else None

    def _map(self, figure: Figure) -> str:
        columns, rows = self.study.values[figure.x], self.study.values[figure.y]
        lines = [f'| {AXIS[figure.x].title}, below: {AXIS[figure.y].title} |' + ''.join(f' {_escaped(value)} |' for value in columns),
                 '|---|' + len(columns) * '---:|']
        lines += [f'| {_escaped(value)} |' + ''.join(f' {text} |' for text in self._squares(figure, y)) for y, value in enumerate(rows)]
        return '\n'.join(lines) + '\n'

    def _squares(self, figure: Figure, y: int) -> List[str]:
        """The numbers in a row of a heat map."""
        return [_square(self.figures.cell(figure, x, y), figure.measure) for x in range(self.figures.columns_of(figure))]

    def maps(self) -> str:
        """The maps that the study asks for, for a terminal: of what is improved, else of the first measure."""
        measured = self.study.measured
        measure = 'improvement' if 'improvement' in measured else measured[0]
        return ''.join(self._plain_map(figure) for figure in self.figures.all
                       if self.study.has_heat_line and figure.kind == HEAT and figure.measure == measure and self.figures.has_data(figure))

    def _plain_map(self, figure: Figure) -> str:
        columns, rows = self.study.values[figure.x], self.study.values[figure.y]
        width, side = max(7, *map(_bytes, columns)), max(7, *map(_bytes, rows), len(AXIS[figure.y].title))
        panel = textwrap.fill(_text.plain(self.figures.panel(figure)), 80, break_long_words=False, break_on_hyphens=False)
        lines = [f'{self.figures.title(figure)}{_unit(figure.measure)}', panel]
        lines += [f'  {head:<{side}}' + ''.join(f'  {text:>{width}}' for text in texts)
                  for head, texts in [(AXIS[figure.y].title, columns), *((value, self._squares(figure, y)) for y, value in enumerate(rows))]]
        return '\n'.join(lines) + '\n\n'


def _bytes(text: str) -> int:
    return len(text.encode(errors='surrogateescape'))


def _middle(values: Sequence[float]) -> float:
    return (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2


def _median(cell: Cell, measure: str) -> str:
    value, difference = cell.values[measure], cell.difference
    if not value.count:
        return '-'
    text = figure_text(measure, value.median)
    if value.count == 1:
        return text
    low, high = (figure_text(measure, end) for end in value.interval or (value.quartiles.least, value.quartiles.most))
    text += f' ({low} .. {high})' if value.interval is None else f' [{low}, {high}]'
    if measure != 'improvement' or difference is None:
        return text
    return text + (f', p {probability_text(difference.p_corrected)}: {difference.verdict}' if difference.p is not None else f', {difference.verdict}')


def _quartiles(cell: Cell, measure: str) -> str:
    value = cell.values[measure]
    return ' .. '.join(figure_text(measure, figure) for figure in value.quartiles._replace(median=value.median)) if value.count else '-'


def _square(cell: Cell, measure: str) -> str:
    value = cell.values[measure]
    return figure_text(measure, value.median) if value.count else cell.status if cell.failed else '-'
