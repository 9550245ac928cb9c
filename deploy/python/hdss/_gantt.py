# SPDX-License-Identifier: MIT
"""The Gantt chart of a trace as SVG, for papers, at most some MB whatever the trace is. The page of `hdss report` draws its own, by the same classes.

All chunks of one look are one path, so that the file is small. The axis has CELLS cells; a chunk that is narrower than one is no rectangle of its own:
the cell then shows the busy share of its time by opacity, in the look of the class that has most of it. With more than ROWS_MAX workers a row is a
node, and shows the share of its busy workers by height instead."""
from __future__ import annotations

import html
import itertools
import math
import re
from typing import Iterator, List, Optional, Tuple

from hdss._trace import Chunk, Trace, Worker

ROWS_MAX = 200
CELLS, LEFT, RIGHT, TOP, BOTTOM, LEVELS, LEGEND_COLUMNS = 660, 92, 16, 74, 44, 8, 3
GAP = 0.4  # between chunks that are wide enough
# The classes of chunks: the colours of Okabe and Ito, and a hatching for each but the commonest, lines of a tile of 6 by 6, which tell the classes
# apart in print and to those who see colours differently.
LOOKS = (
    ('cut for this worker', '#0072b2', ''),
    ('cut for another worker', '#56b4e9', ''),
    ('requeued after a loss or failure', '#e69f00', 'M0 6L6 0M-1 1L1 -1M5 7L7 5'),
    ('recalled from another worker', '#009e73', 'M0 0L6 6M-1 5L1 7M5 -1L7 1'),
    ('speculative copy', '#cc79a7', 'M3 0V6'),
    ('verification', '#999999', 'M0 3H6'),
    ('in vain: lost, failed or not needed', '#d55e00', 'M0 0L6 6M6 0L0 6'),
)
CLASSES = range(len(LOOKS))
IN_VAIN = len(LOOKS) - 1
_OF_REASON = {'other': 1, 'requeued': 2, 'recalled': 3, 'copy': 4, 'verify': 5}
UNITS = ((3600, 'h'), (1, 's'), (1e-3, 'ms'), (1e-6, 'µs'))
STYLE = ('<style>text{font:11px sans-serif;fill:#000}.title{font-size:14px;font-weight:bold}.axis path,.between{fill:none;stroke:#000;stroke-width:.8}'
         '.between{stroke:#bbb;stroke-width:.5}.lost{stroke:#000;stroke-width:1.4;fill:none}</style>\n')


def class_of(chunk: Chunk) -> int:
    """What the chunk is drawn as. A verification that was dropped was wanted: its results were compared."""
    if chunk.fate in ('lost', 'failed') or (chunk.fate == 'dropped' and chunk.reason != 'verify'):
        return IN_VAIN
    return _OF_REASON.get(chunk.reason, 0)


def markup(text: str) -> str:
    """The text as it shows in markup; characters that XML does not have show as '?'."""
    return html.escape(re.sub('[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]', '?', text)).replace('&#x27;', '&#39;')


class _Chart:
    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.end = trace.end() or 1.0
        self.out: List[str] = []
        self.marks: List[str] = []  # what stands before all rows
        self.paths: List[List[List[str]]] = [[[] for _ in range(LEVELS + 1)] for _ in CLASSES]  # by class and level of opacity
        self.y, self.row_height = float(TOP), 0.0

    def place(self, time: float) -> float:
        return time / self.end * CELLS

    def rectangle(self, look: int, level: int, x: float, width: float, y: float, height: float) -> None:  # x in cells
        self.paths[look][level].append(f'M{LEFT + x:.4g} {y:.5g}h{width:.3g}v{height:.3g}h-{width:.3g}z')

    def spans(self, worker: Worker) -> Iterator[Tuple[int, float, float]]:
        for chunk in worker.chunks:
            span = self.trace.span(worker, chunk, self.end)
            if span is not None:
                yield class_of(chunk), self.place(span[0]), self.place(span[1])

    # --- rows ---

    def draw_worker(self, worker: Worker) -> None:
        height = self.row_height - (1 if self.row_height >= 5 else 0.5)
        cells = [[0.0] * CELLS for _ in CLASSES]
        for look, begin, end in self.spans(worker):
            end = min(end, CELLS)
            if end - begin >= 1:
                self.rectangle(look, LEVELS, begin, end - begin - (GAP if end - begin > 2 else 0), self.y, height)
            else:
                _fill(cells[look], begin, end, 1)
        self._draw_shares(cells, height)

    def _draw_shares(self, cells: List[List[float]], height: float) -> None:
        """Draws the cells in which chunks were too narrow: neighbours that look alike at once."""
        begun, last = 0, (0, 0)
        for i in range(CELLS + 1):
            shares = [column[i] for column in cells] if i < CELLS else [0.0]
            now = shares.index(max(shares)), math.ceil(min(sum(shares), 1) * LEVELS - 1e-3)
            if 0 < i < CELLS and now == last:
                continue
            if last[1] > 0:
                self.rectangle(*last, begun, i - begun, self.y, height)
            begun, last = i, now

    def draw_node(self, workers: List[Worker]) -> None:
        """Draws the busy share of a node's workers, the classes on one another."""
        height = self.row_height - 1
        cells = [[0.0] * CELLS for _ in CLASSES]
        for worker in workers:
            for look, begin, end in self.spans(worker):
                _fill(cells[look], begin, end, 1.0 / len(workers))
        for i in range(CELLS):
            below = 0.0
            for look in CLASSES:
                share = min(cells[look][i], 1 - below)
                if share * height >= 0.05:
                    self.rectangle(look, LEVELS, i, 1, self.y + height * (1 - below - share), share * height)
                below += share

    def _label(self, worker: Worker, begins_node: bool, is_node: bool) -> None:
        """"node 3" at the first row of each node, and the worker's rank if there is room for it."""
        y = self.y + min(self.row_height, 9)
        if begins_node:
            self.out.append(f'<path class="between" d="M4 {self.y - 0.7:.1f}H{LEFT + CELLS}"/><text x="4" y="{y:.1f}">node {worker.node}</text>\n')
        if not is_node and self.row_height >= 10:
            self.out.append(f'<text x="{LEFT - 6}" y="{y:.1f}" text-anchor="end">{worker.rank}</text>\n')

    def _mark_loss(self, worker: Worker) -> None:
        if worker.lost is not None:
            x, y = LEFT + min(self.place(worker.lost), CELLS), self.y + self.row_height / 2
            self.marks.append(f'<path class="lost" d="M{x - 3:.1f} {y - 3:.1f}l6 6m0 -6l-6 6"><title>worker {worker.rank} was lost</title></path>\n')

    def draw_rows(self, rows: List[List[Worker]], by_node: bool) -> None:
        node: Optional[int] = None
        for workers in rows:
            self._label(workers[0], workers[0].node != node, by_node)
            node = workers[0].node
            if by_node:
                self.draw_node(workers)
            else:
                self.draw_worker(workers[0])
            for worker in workers:
                self._mark_loss(worker)
            self.y += self.row_height

    # --- around the rows ---

    def axis(self, bottom: float) -> str:
        seconds, unit = UNITS[0] if self.end >= 7200 else UNITS[1] if self.end >= 0.5 else UNITS[2] if self.end >= 5e-4 else UNITS[3]
        end = self.end / seconds
        power = 10 ** math.floor(math.log10(end / 6))
        step = next((digit * power for digit in (2, 5) if end / 6 <= digit * power), 10 * power)
        digits = int(max(0, -math.floor(math.log10(step) + 1e-9)))
        ticks: List[float] = []
        while len(ticks) * step <= end * (1 + 1e-9):
            ticks.append(len(ticks) * step)
        places = [(tick, LEFT + tick / end * CELLS) for tick in ticks]
        return (f'<g class="axis"><path d="M{LEFT} {bottom:.1f}H{LEFT + CELLS}' + ''.join(f'M{x:.1f} {bottom:.1f}v4' for _, x in places) + '"/>'
                + ''.join(f'<text x="{x:.1f}" y="{bottom + 16:.1f}" text-anchor="middle">{tick:.{digits}f}</text>' for tick, x in places)
                + f'<text x="{LEFT + CELLS // 2}" y="{bottom + 34:.1f}" text-anchor="middle">time since the beginning of the trace ({unit})</text></g>\n')

    def legend(self) -> str:
        """The classes that there are."""
        present = sorted({class_of(chunk) for chunk in self.trace.chunks()})
        parts = []
        for i, look in enumerate(present):
            x, y = LEFT + i % LEGEND_COLUMNS * (CELLS // LEGEND_COLUMNS), 32 + i // LEGEND_COLUMNS * 15
            parts.append(f'<rect x="{x}" y="{y}" width="16" height="9" {_fill_of(look)}/><text x="{x + 21}" y="{y + 8}">{LOOKS[look][0]}</text>\n')
        return ''.join(parts)

    def shapes(self) -> str:
        parts = []
        for look in CLASSES:
            for level in range(1, LEVELS + 1):
                if self.paths[look][level]:
                    opacity = f' fill-opacity="{level / LEVELS:.3g}"' if level < LEVELS else ''
                    parts.append(f'<path {_fill_of(look)}{opacity} d="{"".join(self.paths[look][level])}"/>\n')
        return ''.join(parts) + ''.join(self.marks)


def _fill(cells: List[float], begin: float, end: float, weight: float) -> None:
    """Adds the time from `begin` to `end`, in cells, to the busy share of its class; `weight` is that of one worker."""
    for i in range(int(begin), min(CELLS, math.ceil(end))):
        cells[i] += weight * (min(end, i + 1.0) - max(begin, i))


def _fill_of(look: int) -> str:
    return f'fill="url(#hatching{look})"' if LOOKS[look][2] else f'fill="{LOOKS[look][1]}"'


def _hatchings() -> str:
    return '<defs>' + ''.join(
        f'<pattern id="hatching{i}" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6" fill="{colour}"/>'
        f'<path d="{lines}" stroke="#fff" stroke-width="1.1"/></pattern>' for i, (_, colour, lines) in enumerate(LOOKS) if lines) + '</defs>\n'


def svg(trace: Trace, title: str) -> str:
    """The chart as a document of its own. `title` is plain text."""
    chart, workers = _Chart(trace), trace.workers
    by_node = len(workers) > ROWS_MAX
    groups = itertools.groupby(workers, (lambda worker: worker.node) if by_node else (lambda worker: worker.rank))
    rows = [list(group) for _, group in groups]
    chart.row_height = 16 if len(rows) <= 16 else 11 if len(rows) <= 50 else 7 if len(rows) <= 100 else 4
    bottom = TOP + len(rows) * chart.row_height + 2
    size = f'{LEFT + CELLS + RIGHT} {bottom + BOTTOM:.0f}'
    width, height = size.split()
    chart.draw_rows(rows, by_node)
    what = 'node' if by_node else 'worker'
    share = " The height is the share of the node's workers that are busy." if by_node else ''
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" width="{width}" height="{height}" '
            'role="img" aria-labelledby="title description">\n'
            f'<title id="title">{markup(title)}</title>\n<desc id="description">A row for each {what}, time from left to right. '
            f'Chunks: {sum(len(worker.chunks) for worker in workers)}. Workers: {len(workers)}.{share}</desc>\n<rect width="100%" height="100%" fill="#fff"/>\n'
            f'{STYLE}{_hatchings()}<text class="title" x="4" y="18">{markup(title)}</text>\n'
            f'{chart.legend()}{"".join(chart.out)}{chart.shapes()}{chart.axis(bottom)}</svg>\n')
