# SPDX-License-Identifier: MIT
"""hdss-plot: the picture of `hdss chunks --plot`, chunk size over scheduling step, one line for each technique. Reads what deploy/cli/plot.c writes from
standard input, and writes the picture to standard output; its one argument is the format."""
from __future__ import annotations

import io
import math
import sys
from typing import Any, List, NamedTuple, Sequence, TextIO, Tuple

from hdss import _study_plot
from hdss._command import DONE, FAILED
from hdss._study_plot import COLOURS, DASHES, MARKERS

MARKS_ACROSS = 12     # a line carries about as many markers as can be seen one by one
LEGEND_LETTERS = 26   # longer specs go below the picture: beside it they would leave too little of it
STEPS_RATIO = 25.0    # with a series more than so many times as long as another the shorter one is a stroke at the edge
SIZES_RATIO = 100.0   # the end of a series that begins so much larger lies on the axis
Point = Tuple[float, float]


class Series(NamedTuple):
    points: List[Point]
    marks: List[Point]  # steps, from 0, and sizes that a marker may stand on
    chunks: int
    least: int
    most: int
    spec: str


def read(file: TextIO) -> Tuple[str, List[str], List[Series]]:
    """The title, the lines below it, and the series."""
    title, caption = file.readline().strip(), [file.readline().strip()]
    series: List[Series] = []
    points: List[Point] = []
    marks: List[Point] = []
    target = points
    for line in file:
        words = line.split()
        if words[0] == 'marks':
            target = marks
        elif words[0] == 'end':
            series.append(Series(points, marks, int(words[1]), int(words[2]), int(words[3]), ' '.join(words[4:])))
            points, marks = [], []
            target = points
        elif words[0] == 'after':
            caption.append(line.strip())
        else:
            target.append((float(words[0]), float(words[1])))
    return title, caption, series


def chosen_marks(marks: Sequence[Point], shift: float, is_logarithmic: bool, low: float, high: float) -> List[Point]:
    """Markers at even distances along the axis, those of each line a little further than those of the one before, so that lines which coincide still show
    whose they are."""
    due, chosen = 0.0, []
    for step, size in marks:
        x = step + 0.5 + shift
        at = math.log(x / low) / math.log(high / low) if is_logarithmic else (x - low) / (high - low)
        if at >= due:
            chosen.append((x, size))
            due = (math.floor(at * MARKS_ACROSS - shift) + 1 + shift) / MARKS_ACROSS
    return chosen


def draw(title: str, caption: Sequence[str], series: Sequence[Series], canvas: Any) -> None:
    drawn = [one for one in series if one.chunks]
    longest, shortest = max((one.chunks for one in drawn), default=0), min((one.chunks for one in drawn), default=0)
    most, least = max((one.most for one in drawn), default=1), min((one.least for one in drawn), default=1)
    is_long, is_high = longest > shortest * STEPS_RATIO, most > least * SIZES_RATIO
    low, high = (0.5, longest * 1.05) if is_long else (0, longest + 1)
    is_below = max(len(one.spec) for one in series) > LEGEND_LETTERS
    axis = canvas.add_axes((0.09, 0.1 + (0.03 * len(series) if is_below else 0), 0.88 if is_below else 0.68, 0.76 - (0.03 * len(series) if is_below else 0)))
    _study_plot.write_caption(title, '; '.join(caption), canvas)
    axis.grid(True, color='#e4e4e4')
    _study_plot.set_scale(axis, is_long, low, high, 'x')
    _study_plot.set_scale(axis, is_high, *((least / 1.3, most * 1.3) if is_high else (0, most * 1.05)), 'y')
    for k, one in enumerate(series):
        colour, dash, marker = COLOURS[k % len(COLOURS)], DASHES[k % len(DASHES)], MARKERS[k % len(MARKERS)]
        axis.plot([x for x, _ in one.points], [y for _, y in one.points], color=colour, linestyle=dash, drawstyle='steps-post', linewidth=1.6)
        marks = chosen_marks(one.marks, (k + 0.5) / len(series), is_long, low, high)
        axis.plot([x for x, _ in marks], [y for _, y in marks], color=colour, linestyle='none', marker=marker, fillstyle='none')
        axis.plot([], [], color=colour, linestyle=dash, marker=marker, fillstyle='none', linewidth=1.6, label=_study_plot.letters(one.spec))
    axis.set_xlabel('scheduling step')
    axis.set_ylabel('chunk size, iterations')
    if is_below:
        axis.legend(loc='upper left', bbox_to_anchor=(0, -0.1), borderaxespad=0)
    else:
        axis.legend(loc='upper left', bbox_to_anchor=(1.01, 1), borderaxespad=0)


def main(words: Sequence[str], version: str) -> int:
    """Draws the picture. Returns the exit status."""
    del version
    why = _study_plot.missing()
    if why:
        print(why, file=sys.stderr)
        return FAILED
    title, caption, series = read(io.TextIOWrapper(sys.stdin.buffer, encoding='utf-8', errors='replace'))
    sys.stdout.buffer.write(_study_plot.pictures(lambda canvas: draw(title, caption, series, canvas), words[0])[0])
    return DONE
