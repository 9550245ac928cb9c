# SPDX-License-Identifier: MIT
"""The pictures of a study, by matplotlib where it is there. Lines run along an axis of numbers; along one of names there are bars, a group for each name.
Both show the median and its interval of confidence, or, where there is none, the range from the least to the greatest run; box plots show the quartiles,
and single runs that lie far from them (Tukey 1977)."""
from __future__ import annotations

import functools
import importlib
import io
import itertools
import math
import os
import re
import sys
import textwrap
import threading
import warnings
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from hdss._study_matrix import TIMEOUT
from hdss._study_numbers import whiskers
from hdss._study_plan import AXIS, INTERVAL_LEAST, MEASURE, real, value_text, whole
from hdss._study_report import BOXES, HEAT, Figure, Figures, steps_panel
from hdss._study_summary import Cell, Steps, Value, figure_text

# The eight colours of Okabe and Ito without their yellow, which white paper swallows, then those of Tol's muted scheme that stay apart from them.
COLOURS = ('#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#000000', '#882255', '#999933', '#332288', '#8c6d46', '#8a8a8a')
# Five and eleven share no divisor with each other or with the twelve colours: no two lines are alike.
DASHES = ('-', (0, (6, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)), (0, (10, 3)))
MARKERS = 'oxsDv^<>Pph'
INK, GREY = '#404040', '#606060'
LOOP_AXES = ('kernel', 'costs', 'workers', 'threads', 'slowdown', 'load', 'platform', 'backend')  # those that change what a loop computes, or by what
BOX_PANELS_MAX = 6   # panels of boxes that stand beside each other
BANDS_MAX = 4        # with so many curves the quartiles of each are a band; of more they would hide one another
LONG_LABEL = 14
CAPTION_LETTERS, CAPTION_LINES = 140, 3
LEGEND_LETTERS = 22      # beside the picture; longer names go on in the next line
LEGEND_HEIGHT_PT = 430
LEGEND_MANY = 24         # so many names are of small letters, and a line each
LETTER_HEIGHT = 0.0045   # of a letter of a name at the x axis that is turned by 25 degrees, as part of the picture
LOGARITHMIC_RATIO = 25.0    # from this ratio of its largest to its least value on an axis is logarithmic
LOGARITHMIC_COLOURS = 10.0  # and the colours of a map: the half of one value looks as far from it as that is from its double
DOUBLING_RATIO = 3.9        # neighbouring numbers of workers stand equally far from each other where they double
DIVERGING = ('#b2182b', '#f4a582', '#f7f7f7', '#92c5de', '#2166ac')
RISING = ('#f7fbff', '#c6dbef', '#6baed6', '#2171b5', '#08306b')
SETTINGS = {'svg.fonttype': 'none', 'svg.hashsalt': 'hdss', 'font.size': 11, 'font.family': 'sans-serif', 'axes.spines.top': False, 'axes.spines.right': False,
            'axes.edgecolor': INK, 'axes.axisbelow': True, 'legend.frameon': False, 'legend.handlelength': 3.5, 'axes.titlepad': 40}


def missing() -> str:
    """What is not there without which nothing is drawn; '' where all is."""
    try:
        importlib.import_module('logging').getLogger('matplotlib').setLevel('ERROR')  # where it keeps what it knows of fonts is nobody's concern
        importlib.import_module('matplotlib.figure')
    except ImportError:
        return f'matplotlib, which draws, is not there for {sys.executable}, the Python of HDSS: install it (python3-matplotlib for that of Debian and Ubuntu)'
    except (ValueError, OSError) as error:  # what its settings say, as a MPLBACKEND that there is not
        return f'matplotlib, which draws, cannot be loaded: {str(error).splitlines()[0]:.200}'
    return ''


def draw_all(figures: Figures, steps: Optional[Steps], beginning: str, command: str) -> None:
    """Draws all pictures that show something, each as SVG and as PNG with the command that makes it in its corner. Raises OSError."""
    draws = [(Drawing(figures, figure).draw, figures.name(figure)) for figure in figures.all if figures.has_data(figure)]
    if steps is not None:
        draws += [(functools.partial(_draw_steps, steps, panel), steps.name(place)) for place, panel in enumerate(steps.panels)]
    jobs = [Job(functools.partial(_draw_signed, draw, command), beginning + name) for draw, name in draws]
    # a share for each core where there are many; a program with threads is not forked
    width = max(1, min(len(os.sched_getaffinity(0)), len(jobs) // 4)) if threading.active_count() == 1 else 1
    children = [_draw_beside(jobs[i::width]) for i in range(1, width)]
    _draw_jobs(jobs[::width])
    for i, child in enumerate(children, 1):
        if os.waitpid(child, 0)[1] != 0:
            _draw_jobs(jobs[i::width])  # this process can say what is wrong


def _draw_signed(draw: Callable[[Any], None], command: str, canvas: Any) -> None:
    draw(canvas)
    canvas.text(0.995, 0.008, letters(command), ha='right', fontsize=8, color=GREY)


class Job(NamedTuple):
    draw: Callable[[Any], None]
    path: str  # without its ending


def _draw_jobs(jobs: Sequence[Job]) -> None:
    for job in jobs:
        _draw(job.draw, job.path)


def _draw_beside(jobs: Sequence[Job]) -> int:
    """The process that draws them."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            _draw_jobs(jobs)
            status = 0
        finally:
            os._exit(status)
    return child


def _draw(draw: Callable[[Any], None], path: str) -> None:
    for ending, content in zip(('svg', 'png'), pictures(draw, 'svg', 'png')):
        beside = f'{path}.{os.getpid()}'
        try:
            with open(beside, 'wb') as file:
                file.write(content)
            os.replace(beside, f'{path}.{ending}')
        finally:
            if os.path.exists(beside):
                os.unlink(beside)


def pictures(draw: Callable[[Any], None], *endings: str) -> List[bytes]:
    """The files of what is drawn, "svg" or "png" each."""
    matplotlib: Any = importlib.import_module('matplotlib')
    files = [io.BytesIO() for _ in endings]
    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()  # a matplotlibrc of the user's, which may ask for TeX or another ground, is for other pictures
        matplotlib.rcParams.update(SETTINGS)
        warnings.simplefilter('ignore')  # a letter that the font has not
        canvas = importlib.import_module('matplotlib.figure').Figure(figsize=(12.8, 8))
        draw(canvas)
        for file, ending in zip(files, endings):
            canvas.savefig(file, format=ending, dpi=100, metadata={'Date': None} if ending == 'svg' else None)
    return [file.getvalue() for file in files]


# --- what pictures share ---

def letters(text: str) -> str:
    """Letters between two dollars are no formula."""
    return text.replace('$', r'\$')


def write_caption(title: str, text: str, canvas: Any, middle: float = 0.43) -> None:
    """The title, and below it what all of the picture shares, in up to three lines."""
    canvas.text(middle, 0.955, letters(title), ha='center', fontsize=14)
    lines = textwrap.wrap(text, CAPTION_LETTERS, max_lines=CAPTION_LINES, placeholder=' ...')
    canvas.text(middle, 0.94, letters('\n'.join(lines)), ha='center', va='top', fontsize=9, color=GREY)


def number_text(value: float) -> str:
    """A number at an axis: 0.5, 1,000, 3×10⁶."""
    if abs(value) >= 1e6:
        exponent = math.floor(math.log10(abs(value)) + 1e-9)
        mantissa = value / 10**exponent
        power = '10' + str(exponent).translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))
        return power if abs(mantissa - 1) < 1e-9 else f'{mantissa:.4g}×{power}'
    return f'{value:,.0f}' if abs(value) >= 1000 else f'{value:.6g}'


def set_scale(axis: Any, is_logarithmic: bool, low: float, high: float, name: str) -> None:
    """An axis, 'x' or 'y', from low to high, with ticks at 1, 2 and 5 times a power of ten."""
    ticker: Any = importlib.import_module('matplotlib.ticker')
    ticks = axis.yaxis if name == 'y' else axis.xaxis
    if is_logarithmic:
        getattr(axis, f'set_{name}scale')('log')
        ticks.set_major_locator(ticker.LogLocator(10, (1, 2, 5) if high < 1000 * low else (1,)))
        ticks.set_minor_locator(ticker.NullLocator())
    getattr(axis, f'set_{name}lim')(low, high)
    ticks.set_major_formatter(ticker.FuncFormatter(lambda value, _: number_text(value)))


def legend_lines(label: str) -> str:
    """A name in lines that fit beside the picture, each after a blank or a comma of it."""
    lines = ['']
    for part in re.findall('[^ ,]*[ ,]?', label):
        if lines[-1] and len(lines[-1]) + len(part.rstrip()) > LEGEND_LETTERS:
            lines.append('')
        lines[-1] += part
    return '\n'.join(line.rstrip() for line in lines)


def _legend(axis: Any) -> None:
    """Beside the picture, in letters that leave room for all."""
    handles, labels = axis.get_legend_handles_labels()
    if len(labels) <= LEGEND_MANY:
        labels = [legend_lines(label) for label in labels]
    height = sum(1.35 + 1.2 * label.count('\n') for label in labels)  # in lines
    if labels:
        axis.legend(handles, labels, loc='upper left', bbox_to_anchor=(1.01, 1), borderaxespad=0, labelspacing=0.25,
                    fontsize=min(11, LEGEND_HEIGHT_PT / height))


def _tick(axis: str, value: str) -> str:
    """The word at a tick: without the axis's name, which stands beside it."""
    number = whole(value)
    if axis == 'masters':
        return value_text(axis, value)
    return number_text(number) if AXIS[axis].is_number and number is not None else letters(value)


class Drawing:
    """One figure."""

    def __init__(self, figures: Figures, figure: Figure) -> None:
        self.figures, self.figure, self.study = figures, figure, figures.study
        self.measure = MEASURE[figure.measure]
        self.columns, self.lines = figures.columns_of(figure), figures.lines_of(figure)
        self.names = self.study.values[figure.x]
        self.is_numeric = self.study.is_numeric(figure.x)
        self.has_bars = figure.kind == BOXES or not self.is_numeric
        numbers = [float(whole(name) or 0) for name in self.names]
        self.is_doubling = not self.has_bars and numbers[0] > 0 and numbers[-1] / numbers[0] > DOUBLING_RATIO
        self.numbers = numbers
        ticks = [_tick(figure.x, name) for name in self.names]
        self.letters_along = max(map(len, ticks))
        self.is_turned = self.letters_along > LONG_LABEL or ((self.has_bars or figure.kind == HEAT) and sum(map(len, ticks)) > 100)  # the names along x

    def draw(self, canvas: Any) -> None:
        write_caption(self.figures.title(self.figure), self._caption(), canvas)
        if self.figure.kind == HEAT:
            self._draw_map(canvas)
        elif self.figure.kind == BOXES and 1 < self.columns <= BOX_PANELS_MAX and self.is_numeric:
            self._draw_box_panels(canvas)
        else:
            axis = canvas.add_axes((0.08, self._bottom(), 0.7, 0.88 - self._bottom()))
            axis.grid(True, color='#e4e4e4')
            axis.set_ylabel(self._label())
            axis.set_xlabel(AXIS[self.figure.x].title)
            if self.figure.kind == BOXES:
                self._draw_boxes(axis, range(self.columns))
            else:
                self._draw_lines(axis)
            _legend(axis)

    def _bottom(self) -> float:
        """Where the axes begin: names that are turned need more room below them."""
        return 0.11 + (LETTER_HEIGHT * self.letters_along if self.is_turned else 0)

    def _caption(self) -> str:
        """What all of the picture shares, and what is drawn of the runs."""
        text, runs = self.figures.panel(self.figure), self.study.repetitions
        if runs == 1:
            return text
        drawn = {HEAT: '', BOXES: '; whiskers: within 1.5 heights of the box'}.get(
            self.figure.kind, ' (95 % interval of confidence)' if self.study.has_intervals else ' (least to greatest)')
        of = f'{"quartiles" if self.figure.kind == BOXES else "median"} of {"up to " if self.study.until > 0 else ""}{runs} runs{drawn}'
        return f'{text}, {of}' if text else of

    def _label(self) -> str:
        return self.measure.title + (f', {self.measure.unit}' if self.measure.unit else '')

    def _cell(self, x: int, y: int) -> Cell:
        return self.figures.cell(self.figure, x, y)

    def _value(self, x: int, y: int) -> Value:
        return self._cell(x, y).values[self.figure.measure]

    def _values(self, columns: Sequence[int]) -> Iterator[Value]:
        return (value for y in range(self.lines) for value in (self._value(x, y) for x in columns) if value.count)

    def _ends(self, value: Value) -> Tuple[float, float]:
        """The ends of what is drawn of a cell: box plots show each run, lines what their median is sure of. The improvement of the baseline over itself is 0,
        and nothing about it is unsure."""
        if self.figure.kind != BOXES and value.interval is not None:
            return value.interval
        if self.measure.name == 'improvement' and self.figure.kind != BOXES and value.count >= INTERVAL_LEAST:
            return value.median, value.median
        return value.quartiles.least, value.quartiles.most

    def _place(self, x: int, y: int) -> float:
        """Bars of a group stand beside each other."""
        return x + (y + 0.5) * 0.8 / self.lines - 0.4 if self.has_bars else self.numbers[x]

    def _style(self, y: int) -> Tuple[str, Any, str]:
        """Colour, dashes and marker. Lines of a group share a colour; bars and boxes, which have neither dashes nor markers, do not."""
        group, place = divmod(y, len(self.study.values[self.figure.y]) if self.figure.y else 1)
        colour = group if self.figure.group and not self.has_bars else y
        dash = place if self.figure.group else y
        return COLOURS[colour % len(COLOURS)], DASHES[dash % len(DASHES)], MARKERS[dash % len(MARKERS)]

    def _name_x(self, axis: Any) -> None:
        """The ticks along x, each with its word; numbers that stand close to each other have none."""
        places = self.numbers if not self.has_bars else list(range(self.columns))
        names = [_tick(self.figure.x, name) for name in self.names]
        if not self.has_bars:
            if self.is_doubling:
                axis.set_xscale('log', base=2)
                axis.set_xlim(places[0] / 1.12, places[-1] * 1.12)
            else:
                margin = 0.04 * ((places[-1] - places[0]) or 1)
                axis.set_xlim(places[0] - margin, places[-1] + margin)
            kept: List[int] = []
            for i, place in enumerate(places):
                far = not kept or ((math.log(place / places[kept[-1]]) if self.is_doubling else place - places[kept[-1]])
                                   >= (math.log(places[-1] / places[0]) if self.is_doubling else places[-1] - places[0]) / 20)
                if far:
                    kept.append(i)
            places, names = [places[i] for i in kept], [names[i] for i in kept]
        axis.set_xticks(places)
        axis.set_xticklabels(names, rotation=25 if self.is_turned else 0, ha='right' if self.is_turned else 'center')
        axis.minorticks_off()

    def _scale_y(self, axis: Any, columns: Sequence[int]) -> None:
        values = list(self._values(columns))
        if not values:
            return
        ends = [self._ends(value) for value in values]
        least, most = min(low for low, _ in ends), max(high for _, high in ends)
        if self.figure.kind == BOXES:  # they show how far the runs are apart, not how far from zero
            margin = max(0.06 * (most - least), max(abs(most), 1e-9) * 1e-3)
            is_logarithmic = least > 0 and most > least * DOUBLING_RATIO
            set_scale(axis, is_logarithmic, *((least / 1.1, most * 1.1) if is_logarithmic else (least - margin, most + margin)), 'y')
            return
        ratio = DOUBLING_RATIO if self.measure.name in ('time', 'speedup') and self.is_doubling else LOGARITHMIC_RATIO
        most, lowest = max(most, 0), min(least, 0)
        if not self.has_bars and least > 0 and most > least * ratio:
            set_scale(axis, True, least / 1.3, most * 1.3, 'y')
        elif self.measure.name.endswith('imbalance'):  # no less than 1
            set_scale(axis, False, 1, max(1 + (most - 1) * 1.08, 1.02), 'y')
        else:
            set_scale(axis, False, lowest * 1.08, most * 1.08 if most > 0 else -0.08 * lowest if lowest < 0 else 1, 'y')
        if lowest < 0:
            axis.axhline(0, color=INK, linewidth=1)

    # --- lines and bars ---

    def _draw_lines(self, axis: Any) -> None:
        self._scale_y(axis, range(self.columns))
        self._name_x(axis)
        self._draw_ideal(axis)
        for y in range(self.lines):
            colour, dash, marker = self._style(y)
            values = [self._value(x, y) for x in range(self.columns)]
            places = [self._place(x, y) for x in range(self.columns)]
            there = [(place, value) for place, value in zip(places, values) if value.count]
            name = letters(self.figures.line(self.figure, y)) or None
            medians = [value.median if value.count else math.nan for value in values]  # the line breaks there
            if there and self.has_bars:
                axis.bar(places, [value.median if value.count else 0 for value in values], 0.8 / self.lines, color=colour, alpha=0.75, label=name)
            elif there:
                axis.plot(places, medians, color=colour, linestyle=dash, marker=marker, fillstyle='none', linewidth=1.6, label=name)
            for place, value in there:
                low, high = self._ends(value)
                if high > low:
                    axis.errorbar([place], [low], yerr=[[0], [high - low]], fmt='none', ecolor=INK if self.has_bars else colour, elinewidth=1, capsize=3)
            self._draw_failures(axis, y, colour, name)
        self._draw_ideal_marks(axis)

    def _draw_failures(self, axis: Any, y: int, colour: str, name: Optional[str]) -> None:
        """Just above the lower end; those of each line a little higher than those of the one before."""
        failed = [x for x in range(self.columns) if self._cell(x, y).failed and not self._cell(x, y).done]
        if failed:
            transform = axis.get_xaxis_transform()
            axis.plot([self._place(x, y) for x in failed], len(failed) * [0.02 + 0.025 * y], 'x', color=colour, markersize=9, markeredgewidth=2.5,
                      transform=transform, label=f'{name}: failed' if name else 'failed')

    def _draw_ideal(self, axis: Any) -> None:
        """The line of loops that lose nothing: W/P, as many times as quick as there are workers, each of which computes all the time. Bars have marks
        instead."""
        figure = self.figure
        along = (figure.x, figure.y, figure.group)
        threads = 0 if 'threads' in along else max(real(self.figures.matrix.value(figure.panel, 'threads')) or 0, 1)
        if self.has_bars:
            return
        first, last = self.numbers[0], self.numbers[-1]
        places = [first + (last - first) * (i / 200)**2 for i in range(201)]
        ideal: Optional[List[float]] = None
        if figure.measure == 'efficiency':
            ideal = [1.0 for _ in places]
        elif figure.x == 'workers' and threads and figure.measure == 'speedup':
            ideal = [threads * place for place in places]
        elif figure.x == 'workers' and figure.measure == 'time' and 'kernel' not in along:
            least = [min((ideal for ideal in (self._cell(x, y).ideal_s for y in range(self.lines)) if ideal is not None), default=math.nan)
                     for x in range(self.columns)]
            places, ideal = self.numbers, least
        if ideal:
            axis.plot(places, ideal, color='#a0a0a0', linewidth=1.5, label='ideal: W/P' if figure.measure == 'time' else 'ideal')

    def _loop(self, x: int, y: int) -> Tuple[str, ...]:
        """What decides W and P of a cell."""
        group, place = divmod(y, len(self.study.values[self.figure.y]) if self.figure.y else 1)
        places = {self.figure.x: x, self.figure.y: place, self.figure.group: group}
        return tuple(self.study.values[axis][places[axis]] if axis in places else '' for axis in LOOP_AXES)

    def _draw_ideal_marks(self, axis: Any) -> None:
        """Bars of loop times: W/P. A loop has one W, of which a technique that leaves workers, or threads of them, behind the others says too much: so that the
        least counts, of all bars of the same work and the same workers."""
        if not self.has_bars or self.figure.measure != 'time':
            return
        label: Optional[str] = 'ideal: W/P'
        least: Dict[Tuple[str, ...], float] = {}
        for x, y in itertools.product(range(self.columns), range(self.lines)):
            time = self._cell(x, y).ideal_s
            if time is not None:
                least[self._loop(x, y)] = min(time, least.get(self._loop(x, y), math.inf))
        for y in range(self.lines):
            for x in range(self.columns):
                time, place = least.get(self._loop(x, y)), self._place(x, y)
                if time is not None and self._cell(x, y).done:
                    axis.plot([place - 0.4 / self.lines, place + 0.4 / self.lines], [time, time], color='#000000', linewidth=2, linestyle=(0, (1, 1)),
                              label=label)
                    label = None

    # --- box plots ---

    def _draw_boxes(self, axis: Any, columns: Sequence[int]) -> None:
        """All boxes at these values of x."""
        self._scale_y(axis, columns)
        for y in range(self.lines):
            colour = self._style(y)[0]
            boxes = []
            for x in columns:
                value = self._value(x, y)
                if value.count:
                    low, high = whiskers(value.values)
                    box = value.quartiles
                    boxes.append((self._place(x, y), {'med': value.median, 'q1': box.lower, 'q3': box.upper, 'whislo': low, 'whishi': high,
                                                      'fliers': [figure for figure in value.values if not low <= figure <= high]}))
            if any(self._value(x, y).count for x in range(self.columns)):
                axis.bar([math.nan], [0], color=colour, alpha=0.35, label=letters(self.figures.line(self.figure, y)) or None)
            if boxes:
                axis.bxp([box for _, box in boxes], positions=[place for place, _ in boxes], widths=0.64 / self.lines, patch_artist=True, manage_ticks=False,
                         boxprops={'facecolor': colour + '59', 'edgecolor': colour}, whiskerprops={'color': colour}, capprops={'color': colour},
                         medianprops={'color': '#202020', 'linewidth': 2}, flierprops={'markeredgecolor': colour, 'markersize': 5})
        axis.set_xlim(columns[0] - 0.5, columns[-1] + 0.5)
        axis.set_xticks(list(columns))
        axis.set_xticklabels([_tick(self.figure.x, self.names[x]) for x in columns])

    def _draw_box_panels(self, canvas: Any) -> None:
        """Boxes at each number along x have a panel and a scale of their own: what doubles from one to the next would leave nothing to be seen of how far the
        runs are apart."""
        left, right, gap = 0.075, 0.80, 0.052
        pitch = (right - left + gap) / self.columns
        for x in range(self.columns):
            axis = canvas.add_axes((left + x * pitch, 0.11, pitch - gap, 0.76))
            axis.grid(True, color='#e4e4e4')
            self._draw_boxes(axis, [x])
            if x == 0:
                axis.set_ylabel(self._label())
            if x == self.columns // 2:
                axis.set_xlabel(AXIS[self.figure.x].title)
            if x == self.columns - 1:
                _legend(axis)

    # --- heat maps ---

    def _draw_map(self, canvas: Any) -> None:
        """Colours from the least to the greatest; of improvements from the middle, so that gains and losses are equally strong."""
        colors: Any = importlib.import_module('matplotlib.colors')
        medians = [value.median for value in self._values(range(self.columns))]
        least, most, is_diverging = min(medians), max(medians), self.measure.name == 'improvement'
        if is_diverging:
            most = max(abs(least), abs(most), 1e-9)
            least = -most
        if most <= least:
            most = least + max(abs(least) * 1e-3, 1e-9)
        is_logarithmic = not is_diverging and least > 0 and most > LOGARITHMIC_COLOURS * least
        norm = colors.LogNorm(least, most) if is_logarithmic else colors.Normalize(least, most)
        palette = colors.LinearSegmentedColormap.from_list('hdss', DIVERGING if is_diverging else RISING)
        axis = canvas.add_axes((0.12, self._bottom(), 0.7, 0.88 - self._bottom()))
        grid = [[self._value(x, y).median if self._value(x, y).count else math.nan for x in range(self.columns)] for y in range(self.lines)]
        drawn = axis.pcolormesh([x - 0.5 for x in range(self.columns + 1)], [y - 0.5 for y in range(self.lines + 1)], grid, norm=norm, cmap=palette,
                                edgecolors='#ffffff', linewidth=1)
        bar = canvas.colorbar(drawn, cax=canvas.add_axes((0.86, 0.11, 0.02, 0.77)))
        bar.set_label(self._label())
        set_scale(bar.ax, is_logarithmic, least, most, 'y')
        for y in range(self.lines):
            for x in range(self.columns):
                self._draw_square(axis, x, y, norm, is_diverging)
        axis.set_xticks(range(self.columns))
        names = [_tick(self.figure.x, name) for name in self.names]
        axis.set_xticklabels(names, rotation=25 if self.is_turned else 0, ha='right' if self.is_turned else 'center')
        axis.set_xlim(-0.5, self.columns - 0.5)
        axis.set_yticks(range(self.lines))
        axis.set_yticklabels([_tick(self.figure.y, name) for name in self.study.values[self.figure.y]])
        axis.set_xlabel(AXIS[self.figure.x].title)
        axis.set_ylabel(AXIS[self.figure.y].title)

    def _draw_square(self, axis: Any, x: int, y: int, norm: Any, is_diverging: bool) -> None:
        """The number, on dark squares in white; or why there is none."""
        cell, value = self._cell(x, y), self._value(x, y)
        if not value.count:
            axis.text(x, y, '-' if not cell.failed else TIMEOUT if cell.status == TIMEOUT else 'failed', ha='center', va='center', color='#c00000')
            return
        place = norm(value.median)
        is_dark = (place < 0.15 or place > 0.85) if is_diverging else place > 0.6
        axis.text(x, y, figure_text(self.measure.name, value.median), ha='center', va='center', color='#ffffff' if is_dark else '#202020')


# --- time steps ---

def _draw_steps(steps: Steps, panel: int, canvas: Any) -> None:
    """The curves of a panel: one for each process-level and each thread-level technique where these vary. Where one technique pays only behind a few steps,
    as one that learns does, or only while the load is uneven, the loop time as a whole does not say so."""
    study, curves = steps.summary.study, steps.curves(panel)
    has_bands = study.repetitions >= INTERVAL_LEAST and len(curves) <= BANDS_MAX
    in_group = len(study.values[steps.axes[1]]) if len(steps.axes) > 1 else 1
    text = steps_panel(steps, panel)
    if study.repetitions > 1:
        text += f', median{" and quartiles" if has_bands else ""} of {"up to " if study.until > 0 else ""}{study.repetitions} runs'
    write_caption('Time of each time step', text, canvas)
    axis = canvas.add_axes((0.08, 0.11, 0.7, 0.77))
    axis.grid(True, color='#e4e4e4')
    least, most, longest = math.inf, 0.0, 1
    for k, cell in enumerate(curves):
        values = steps.cells[cell]
        if not values:
            continue
        colour = COLOURS[(k // in_group if in_group > 1 else k) % len(COLOURS)]
        style = k % in_group if in_group > 1 else k
        places = list(range(1, len(values) + 1))
        lows = [value.quartiles.lower if has_bands else value.median for value in values]
        highs = [value.quartiles.upper if has_bands else value.median for value in values]
        least, most, longest = min(least, *lows), max(most, *highs), max(longest, len(values))
        if len(values) < 2:
            continue
        if has_bands:
            axis.fill_between(places, lows, highs, color=colour, alpha=0.2, linewidth=0)
        axis.plot(places, [value.median for value in values], color=colour, linestyle=DASHES[style % len(DASHES)], marker=MARKERS[style % len(MARKERS)],
                  fillstyle='none', markevery=len(values) // 25 + 1,
                  label=letters(', '.join(value_text(of, steps.matrix.value(cell, of)) for of in steps.axes)))
    margin = 0.08 * (most - least) or 0.08 * most
    axis.set_xlim(1 - 0.02 * longest, 1.02 * longest)
    set_scale(axis, False, least - margin if least > most / 2 else 0, most + margin, 'y')
    axis.xaxis.set_major_locator(importlib.import_module('matplotlib.ticker').MaxNLocator(integer=True))
    axis.set_xlabel('time step')
    axis.set_ylabel('time of the step, s')
    _legend(axis)
