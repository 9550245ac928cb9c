# SPDX-License-Identifier: MIT
"""A page as a screen shows it: lines of pieces of text, each with its look, none wider than the page; and tables on it. A character is a column."""
from __future__ import annotations

import enum
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from hdss import _text

GAP = 2
BAR_MAX = 30


class Look(enum.Enum):
    PLAIN, STRONG, DIM, GOOD, WARN, BAD, BAR = range(7)


def short(text: str, most: int) -> str:
    """The text in at most so many columns: one that is longer is cut, and ends in ".."."""
    return text if len(text) <= most else '..'[:most] if most <= 2 else text[:most - 2] + '..'


class Line:
    def __init__(self) -> None:
        self.pieces: List[Tuple[Look, str]] = []
        self.columns = 0
        self.is_selected = False

    @property
    def text(self) -> str:
        return ''.join(text for _, text in self.pieces)


class Page:
    def __init__(self, width: int, utf8: bool) -> None:
        self.width, self.utf8 = width, utf8
        self.lines: List[Line] = []

    def line(self) -> None:
        """Begins a line."""
        self.lines.append(Line())

    @property
    def left(self) -> int:
        """Columns that the line at hand has left."""
        return max(self.width - self.lines[-1].columns, 0)

    def add(self, text: str, look: Look = Look.PLAIN) -> None:
        """Adds to the line at hand, as far as there is room."""
        line, added = self.lines[-1], _text.shown(text[:self.left], self.utf8)
        if added:
            line.pieces.append((look, added))
            line.columns += len(added)

    def add_short(self, text: str, most: int, look: Look = Look.PLAIN) -> None:
        self.add(short(text, min(most, self.left)), look)

    def go_to(self, column: int) -> None:
        """Blanks up to that column, from 0."""
        self.add(' ' * (column - self.lines[-1].columns))

    def add_bar(self, share: float, columns: int) -> None:
        text = _text.bar(share, columns, self.utf8)[:self.left]
        self.lines[-1].pieces.append((Look.BAR, text))
        self.lines[-1].columns += len(text)

    def label(self, label: str) -> None:
        """Begins a line with a label."""
        self.line()
        self.add(f'  {label}', Look.DIM)
        self.go_to(LABEL_COLUMNS)

    def cut(self, most: int) -> None:
        """Leaves out the last lines where there are more."""
        del self.lines[max(most, 0):]

    def fill(self, lines: int) -> None:
        while len(self.lines) < lines:
            self.line()

    def text(self) -> str:
        """A line each, without blanks at the ends."""
        return ''.join(line.text.rstrip(' ') + '\n' for line in self.lines)


LABEL_COLUMNS = 13  # of a label with the blanks around it


class Column(NamedTuple):
    name: str
    heading: str = ''
    is_number: bool = False  # stands at the right of its column
    is_bar: bool = False     # its cells are shares
    keeps_end: bool = False  # of a text that is too long the end says most, as of a path
    least: int = 0           # columns that it has at least, where it is there
    most: int = 0            # columns that it has at most; 0: any number
    dispensable: int = 0     # the order in which columns are left out, from 1; 0: never


class Row:
    def __init__(self) -> None:
        self.cells: Dict[str, Tuple[str, Look]] = {}
        self.shares: Dict[str, float] = {}
        self.is_selected = False

    def set(self, column: str, text: str, look: Look = Look.PLAIN) -> None:
        self.cells[column] = text, look


def add_table(page: Page, columns: Sequence[Column], rows: Sequence[Row]) -> None:
    """A line of headings, and one for each row. Columns are as wide as what is in them; one where nothing is, is not there."""
    widths = {column.name: _wanted(column, rows) for column in columns}
    _fit(widths, columns, page.width)
    _add_row(page, columns, widths, None)
    for row in rows:
        _add_row(page, columns, widths, row)


def _wanted(column: Column, rows: Sequence[Row]) -> int:
    if column.is_bar:
        width = column.least if any(column.name in row.shares for row in rows) else 0
    else:
        width = max((len(row.cells[column.name][0]) for row in rows if column.name in row.cells), default=0)
    if width == 0:
        return 0
    width = max(width, len(column.heading), column.least)
    return min(width, column.most) if column.most > 0 else width


def _sum(widths: Dict[str, int]) -> int:
    there = [width for width in widths.values() if width > 0]
    return sum(there) + GAP * max(len(there) - 1, 0)


def _fit(widths: Dict[str, int], columns: Sequence[Column], width: int) -> None:
    """Has the columns fit: a text whose end is kept shrinks to its least first, then columns are left out until the others fit, and those that have
    room after all come back, the last one first. A bar takes what is left."""
    for column in columns:
        if column.keeps_end and widths[column.name] > column.least:
            widths[column.name] -= min(max(_sum(widths) - width, 0), widths[column.name] - column.least)
    left_out = []
    for column in sorted((column for column in columns if column.dispensable), key=lambda column: column.dispensable):
        if widths[column.name] > 0 and _sum(widths) > width:
            left_out.append((column.name, widths[column.name]))
            widths[column.name] = 0
    for name, was in reversed(left_out):
        widths[name] = was
        if _sum(widths) > width:
            widths[name] = 0
    for column in columns:
        if column.is_bar and widths[column.name] > 0 and _sum(widths) < width:
            widths[column.name] = min(widths[column.name] + width - _sum(widths), BAR_MAX)


def _add_row(page: Page, columns: Sequence[Column], widths: Dict[str, int], row: Optional[Row]) -> None:
    """Adds a row, or the headings if it is None."""
    at = 0
    page.line()
    for column in columns:
        width = widths[column.name]
        if width == 0:
            continue
        page.go_to(at)
        if row is None:
            _add_cell(page, column, at, width, column.heading, Look.DIM)
        elif column.name in row.shares:
            page.add_bar(row.shares[column.name], width)
        elif column.name in row.cells:
            _add_cell(page, column, at, width, *row.cells[column.name])
        at += width + GAP
    if row is not None and row.is_selected:
        page.go_to(page.width)
        page.lines[-1].is_selected = True


def _add_cell(page: Page, column: Column, at: int, width: int, text: str, look: Look) -> None:
    if column.is_number:
        page.go_to(at + width - len(text))
    if column.keeps_end and len(text) > width:
        page.add('..' + text[len(text) - width + 2:], look)
    else:
        page.add_short(text, width, look)
