# SPDX-License-Identifier: MIT
"""The pages of `hdss top`, and where its user is in them: what is shown, in which order, what is selected, and what a key does. Pure: a key comes in,
the state changes, and what is to be done is returned. A page is a head, a table whose rows are shown as far as there is room, and a foot of two lines
with what has happened last and the keys."""
from __future__ import annotations

import enum
import math
import re
from typing import List, Optional, Sequence, Union

from hdss import _text
from hdss._page import LABEL_COLUMNS, Column, Look, Page, Row, add_table
from hdss._top_model import Group, Job, Model, Rank, Session

WIDTH_MAX = 200
WORDS_WIDTH = 80       # columns from which on there is room for words that can be guessed
OTHERS_COLUMNS = 18    # for ", and 1,234 others"
BAR_LEAST = 8
SETS_TOLD = 4
FAILURES_TOLD = 3
FOOT_LINES = 2
UNFOLDED_MAX = 32      # workers up to which all of them are shown, and not only their groups
OUT_OF_SIGHT = 'out of sight'

JOB_ORDERS = ('id', 'done', 'rate', 'end')
RANK_ORDERS = ('group', 'time of the chunk', 'least busy', 'done')

STATE_LOOKS = {'failed': Look.BAD, 'draining': Look.WARN, 'silent': Look.WARN, OUT_OF_SIGHT: Look.WARN, 'cancelled': Look.WARN, 'done': Look.GOOD}
RANK_STATES = {'serving': ('serves', Look.PLAIN), 'computing': ('computes', Look.PLAIN), 'waiting': ('waits', Look.WARN), 'aside': ('aside', Look.WARN),
               'orphan': ('orphan', Look.WARN), 'lost': ('lost', Look.BAD), 'left': ('has left', Look.DIM)}

JOB_COLUMNS = (
    Column('id', 'ID', most=32),
    Column('name', 'NAME', most=16, dispensable=5),
    Column('title', 'KERNEL', most=24, dispensable=6),
    Column('state', 'STATE', least=7, dispensable=11),
    Column('bar', is_bar=True, least=BAR_LEAST, dispensable=3),
    Column('done', 'DONE', is_number=True, least=5, dispensable=10),
    Column('rate', 'RATE', is_number=True, least=8, dispensable=7),
    Column('end', 'ETA', is_number=True, least=6, dispensable=9),
    Column('band', 'BETWEEN', dispensable=4),
    Column('busy', 'BUSY', is_number=True, dispensable=2),
    Column('lost', 'LOST', is_number=True, dispensable=8),
    Column('folder', 'FOLDER', keeps_end=True, least=12, dispensable=1),
)

RANK_COLUMNS = (
    Column('who', least=12, most=30),
    Column('state', 'COMPUTES', least=9),
    Column('bar', 'BUSY', is_bar=True, least=BAR_LEAST, dispensable=6),
    Column('busy', is_number=True, least=5, dispensable=7),
    Column('done', 'DONE', is_number=True, least=6, dispensable=5),
    Column('chunks', 'CHUNKS', is_number=True, dispensable=3),
    Column('time', 'FOR', is_number=True, least=7, dispensable=8),
    Column('chunk', 'CHUNK', least=8, dispensable=4),
    Column('load', 'LOAD', is_number=True, dispensable=2),
    Column('lost', 'LOST', is_number=True, dispensable=1),
)

KEYS = (
    ('arrows j k', 'select; Page Up and Down, Home, End'),
    ('Enter', 'look into a job; show workers of a node'),
    ('Esc', 'back to the list'),
    ('q', 'back; in the list: quit'),
    ('s', 'sort by something else'),
    ('a', 'jobs that are over, too; in a job all workers'),
    ('c', 'cancel: of a set what runs is ended, a run drains'),
    ('?', 'this page; any key leaves it'),
)


class Key(enum.Enum):
    NONE, UP, DOWN, PAGE_UP, PAGE_DOWN, FIRST, LAST, ENTER, BACK, QUIT, END, SORT, CANCEL, ALL, HELP, YES, OTHER = range(17)


class Act(enum.Enum):
    NOTHING, END, LOOK, CANCEL = range(4)  # LOOK: ask at once; CANCEL: the job `ui.asked`


Entry = Union[Job, Group, Rank]


class Ui:
    def __init__(self, job: str = '', shows_all: bool = False) -> None:
        self.job = job                    # the ID of the job that is looked into
        self.is_inside = bool(job)
        self.is_alone = bool(job)         # the user has named the job: there is no list to go back to
        self.job_order = self.rank_order = 0
        self.selected_id = ''             # of the list; empty: the first one
        self.selected = 0                 # among the rows
        self.open: Optional[int] = None   # the number of the group whose workers are shown
        self.opens_all = shows_all
        self.shows_over = shows_all       # jobs that are over are listed, too
        self.asks, self.asked = False, ''  # whether to cancel that job
        self.helps = False                # the page about the keys is shown
        self.rows: List[Entry] = []       # as they are shown

    @property
    def order_name(self) -> str:
        return RANK_ORDERS[self.rank_order] if self.is_inside else JOB_ORDERS[self.job_order]

    # --- rows ---

    def arrange(self, model: Model) -> None:
        """Lists the rows. The job that was selected stays so, wherever it is now."""
        self.rows = self._ranks(model) if self.is_inside else self._jobs(model)
        if not self.is_inside and self.selected_id:
            for row, job in enumerate(self.rows):
                if isinstance(job, Job) and job.id == self.selected_id:
                    self.selected = row
                    return
        self._select(self.selected)

    def _jobs(self, model: Model) -> List[Entry]:
        jobs = sorted(model.jobs, key=lambda job: numbers_in(job.id))
        if JOB_ORDERS[self.job_order] == 'done':  # of one whose end is not known nothing can be said
            jobs.sort(key=lambda job: -job.percent if job.total > 0 else 1)
        elif JOB_ORDERS[self.job_order] == 'rate':
            jobs.sort(key=lambda job: -job.rate)
        elif JOB_ORDERS[self.job_order] == 'end':
            jobs.sort(key=lambda job: _known_first(job.left_s))
        return list(jobs)

    def _ranks(self, model: Model) -> List[Entry]:
        ranks = sorted((rank for rank in model.ranks if not rank.is_master), key=lambda rank: rank.rank)
        order = RANK_ORDERS[self.rank_order]
        if order == 'group':
            return self._folded(model, ranks)
        if order == 'time of the chunk':
            ranks.sort(key=lambda rank: -rank.since_s if rank.has_chunk else 1)
        elif order == 'least busy':  # that is what one looks for
            ranks.sort(key=lambda rank: _known_first(rank.busy_share(model.looked)))
        else:
            ranks.sort(key=lambda rank: -rank.done)
        return list(ranks)

    def _folded(self, model: Model, ranks: Sequence[Rank]) -> List[Entry]:
        """Lists each group, and behind it its workers if it is open."""
        workers: dict[int, List[Rank]] = {number: [] for number in model.sums.groups}
        for rank in ranks:
            workers[rank.group].append(rank)
        rows: List[Entry] = []
        for number, group in model.sums.groups.items():
            rows.append(group)
            if self.opens_all or model.sums.workers <= UNFOLDED_MAX or self.open == number:
                rows += workers[number]
        return rows

    def _select(self, row: int) -> None:
        """Selects that row, or the last one if there are fewer."""
        self.selected = max(min(row, len(self.rows) - 1), 0)
        if not self.is_inside:
            job = self._entry()
            self.selected_id = job.id if isinstance(job, Job) else ''

    def _entry(self) -> Optional[Entry]:
        return self.rows[self.selected] if self.selected < len(self.rows) else None

    # --- keys ---

    def press(self, key: Key, model: Model, shown: int) -> Act:
        """Takes a key; so many rows are shown at once."""
        if key in (Key.NONE, Key.END):
            return Act.END if key == Key.END else Act.NOTHING
        if self.asks:
            self.asks = False
            return Act.CANCEL if key == Key.YES else Act.NOTHING
        if self.helps:
            self.helps = False
        elif key == Key.ENTER:
            return self._go_in()
        elif key in (Key.BACK, Key.QUIT):
            return Act.NOTHING if key == Key.BACK and not self.is_inside else self._go_back()
        elif key == Key.CANCEL:
            self._ask(model)
        elif key == Key.ALL:
            return self._show_all()
        elif key == Key.HELP:
            self.helps = True
        elif key == Key.SORT and self.is_inside:
            self.rank_order = (self.rank_order + 1) % len(RANK_ORDERS)
        elif key == Key.SORT:
            self.job_order = (self.job_order + 1) % len(JOB_ORDERS)
        else:
            far = max(shown - 1, 1)
            moves = {Key.UP: -1, Key.DOWN: 1, Key.PAGE_UP: -far, Key.PAGE_DOWN: far, Key.FIRST: -self.selected, Key.LAST: len(self.rows)}
            if key in moves:
                self._select(self.selected + moves[key])
        return Act.NOTHING

    def _go_in(self) -> Act:
        """Looks into the job that is selected, or opens the group that is, or closes it."""
        entry = self._entry()
        if isinstance(entry, Job):
            self.job, self.is_inside, self.selected, self.open, self.opens_all = entry.id, True, 0, None, False
            return Act.LOOK
        if isinstance(entry, Group):
            self.open = None if self.open == entry.number else entry.number
        return Act.NOTHING

    def _go_back(self) -> Act:
        if not self.is_inside or self.is_alone:
            return Act.END
        self.is_inside = False
        return Act.LOOK

    def _ask(self, model: Model) -> None:
        """Asks whether to cancel the job that is selected, or looked into."""
        entry = model.looked if self.is_inside else self._entry()
        job = entry if isinstance(entry, Job) else None
        self.asks = job is not None and not job.is_over and not (self.is_inside and model.looked_is_gone)
        self.asked = job.id if job is not None else ''

    def _show_all(self) -> Act:
        if self.is_inside:
            self.opens_all = not self.opens_all
            return Act.NOTHING
        self.shows_over = not self.shows_over
        return Act.LOOK


def _known_first(number: float) -> float:
    return number if number >= 0 else math.inf


def numbers_in(name: str) -> List[Union[str, int]]:
    """Sorts "night/9" before "night/10"."""
    return [int(part) if i % 2 == 1 else part for i, part in enumerate(re.split('([0-9]+)', name))]


# --- pages ---

def view(page: Page, model: Model, ui: Ui, height: Optional[int]) -> int:
    """Adds the page, of `height` lines: rows are left out that are far from the selected one, then others from below. Without a height nothing is left
    out, nothing is selected, and keys are not told of. Returns the number of rows for which there was room."""
    if ui.helps and height is not None:
        _add_help(page)
        page.cut(height)
        page.fill(height)
        return 0
    is_screen = height is not None
    if ui.is_inside:
        _add_job_head(page, model, ui, is_screen)
    else:
        _add_title(page, model, is_screen, '', 'hdss top')
        _add_sets(page, model)
    if height is None:
        shown = len(ui.rows)
        _add_body(page, model, ui, shown, None)
        return shown
    body = max(height - FOOT_LINES, 0)
    page.cut(body - 2)  # a line for a row, and one for the headings
    used = len(page.lines) + 2
    shown = max(body - used, 1)
    _add_body(page, model, ui, shown, body)
    page.cut(body)
    page.fill(body)
    _add_foot(page, model, ui)
    page.cut(height)
    return shown


def _add_body(page: Page, model: Model, ui: Ui, shown: int, lines: Optional[int]) -> None:
    """The table, on a screen in what is left of so many lines."""
    if (ui.rows or not ui.is_inside) and (lines is None or lines > len(page.lines) + 2):
        page.line()
    if ui.rows:
        first = max(min(ui.selected - min(shown // 2, ui.selected), len(ui.rows) - shown), 0)
        rows = [_row_of(entry, model, ui) for entry in ui.rows[first:first + shown]]
        if lines is not None and 0 <= ui.selected - first < len(rows):
            rows[ui.selected - first].is_selected = True
        add_table(page, RANK_COLUMNS if ui.is_inside else JOB_COLUMNS, rows)
    elif not ui.is_inside:
        page.line()
        page.add('no job runs or waits' if model.sessions else
                 'no run or set of yours is there on this machine' + ('; one is waited for' if lines is not None else ''))
    waiting = 0.0 if ui.is_inside else model.waiting_unlisted
    if waiting > 0 and (lines is None or len(page.lines) < lines):
        page.line()
        page.add(f'and {_text.plural(waiting, "job that waits", "others that wait")}', Look.DIM)


def _add_title(page: Page, model: Model, is_screen: bool, state: str, title: str) -> None:
    """The title, the state, and the time: on a screen at the right, where there is room for it."""
    page.line()
    page.add_short(title, page.width - len(state) - 2 * bool(state), Look.STRONG)
    if state:
        page.add(f', {state}', STATE_LOOKS.get(state, Look.PLAIN))
    if not model.clock or page.left < len(model.clock) + 2:
        return
    if is_screen:
        page.go_to(page.width - len(model.clock))
        page.add(model.clock, Look.DIM)
    else:
        page.add(f', {model.clock}')


def _add_sets(page: Page, model: Model) -> None:
    sets = [session for session in model.sessions if session.is_set]
    for session in sets[:SETS_TOLD]:
        _add_set(page, session)
    if len(sets) > SETS_TOLD:
        page.line()
        page.add(f'and {_text.plural(len(sets) - SETS_TOLD, "other set", "other sets")}')


def _add_set(page: Page, session: Session) -> None:
    page.line()
    page.add('set ')
    page.add_short(session.name, page.width // 2, Look.STRONG)
    page.add(': ')
    if session.reason or session.is_silent:
        page.add_short(session.reason or 'silent', page.width, Look.WARN)
        return
    if session.workers > 0:
        page.add(_text.plural(session.workers, 'worker', 'workers') + ', ')
    page.add(f'{_text.count(session.running)} running, {_text.count(session.waiting)} waiting, {_text.count(session.over)} over')


def _row_of(entry: Entry, model: Model, ui: Ui) -> Row:
    if isinstance(entry, Job):
        return _job_row(entry)
    return _group_row(entry) if isinstance(entry, Group) else _rank_row(entry, model.looked, RANK_ORDERS[ui.rank_order] == 'group')


def _job_row(job: Job) -> Row:
    row = Row()
    for name in ('id', 'name', 'title', 'folder'):
        row.set(name, getattr(job, name))
    row.set('state', f'waits: {job.waits_for}' if job.waits_for else job.state, STATE_LOOKS.get(job.state, Look.PLAIN))
    if not job.is_told or job.has_not_begun:
        return row
    if job.total > 0:
        row.shares['bar'] = job.percent / 100
        row.set('done', f'{math.floor(job.percent)} %')
    elif job.total < 0:
        row.set('done', _text.si(job.done))
    rate = job.rate_now if job.rate_now >= 0 else job.rate
    if rate > 0 and job.status < 0:
        row.set('rate', _text.rate(rate))
    if job.left_s >= 0:
        row.set('end', _text.duration(job.left_s))
    row.set('band', _band(job), Look.DIM)
    if job.workers > 0 and job.status < 0:
        row.set('busy', f'{_text.count(job.busy)}/{_text.count(job.workers)}')
    if job.lost > 0:
        row.set('lost', _text.count(job.lost), Look.BAD)
    return row


def _band(job: Job) -> str:
    """When the end is expected, "3:16 to 3:19", of short times "4.5 to 19 s"; empty where nobody knows."""
    if job.soonest_s < 0:
        return ''
    if job.latest_s < 0:
        return f'{_text.clock(job.soonest_s)} or later'
    if job.latest_s < 99.5:
        return f'{job.soonest_s:.{int(job.soonest_s < 9.95)}f} to {job.latest_s:.{int(job.latest_s < 9.95)}f} s'
    return f'{_text.clock(job.soonest_s)} to {_text.clock(job.latest_s)}'


# --- the page of a job ---

def _add_job_head(page: Page, model: Model, ui: Ui, is_screen: bool) -> None:
    job = model.looked
    if job is None:
        _add_title(page, model, is_screen, '', ui.job)
        page.line()
        page.add_short(model.looked_reason or ('it is not there any more' if model.looked_is_gone else 'it does not answer'), page.width, Look.WARN)
        return
    title = job.id + (f', {job.name:.80}' if job.name else '') + (f': {job.title:.80}' if job.title else '')
    _add_title(page, model, is_screen, OUT_OF_SIGHT if model.looked_is_gone else 'silent' if model.looked_is_silent else job.state, title)
    if model.looked_reason:
        page.line()
        page.add_short(model.looked_reason, page.width, Look.WARN)
    if job.command:
        page.label('command')
        page.add_short(' '.join(job.command), page.width)
    _add_failures(page, model)
    _add_done(page, job)
    if job.rate > 0:
        page.label('rate')
        page.add((f'{_text.rate(job.rate_now)} now, ' if job.rate_now >= 0 else '') + f'{_text.rate(job.rate)} in the mean')
    _add_end(page, job)
    if job.status >= 0:
        page.label('status')
        page.add(str(job.status))
        if '/' in job.id:
            page.add(f'; hdss output {job.id} has what it printed', Look.DIM)
    if job.technique:
        page.label('technique')
        page.add(f'{job.technique}, {job.topology}')
    _add_workers(page, job, model)
    _add_lost(page, model.ranks)
    _add_slowest(page, job, model)


def _add_failures(page: Page, model: Model) -> None:
    """The tasks that failed last, each with the last line of its errors."""
    for i, failure in enumerate(model.failures[:FAILURES_TOLD]):
        page.label('failed' if i == 0 else '')
        page.add(f'task {failure["task"]:,}, {failure["end"]}: ', Look.BAD)
        page.add_short(failure['error'] or failure['command'], page.width)
    if model.failed_tasks > FAILURES_TOLD:
        page.label('')
        page.add(f'{_text.count(model.failed_tasks)} failed in all', Look.BAD)


def _add_done(page: Page, job: Job) -> None:
    page.label('done')
    if job.has_not_begun:
        page.add('nothing was begun')
        return
    if job.total > 0:
        page.add_bar(job.percent / 100, BAR_LEAST if page.width < WORDS_WIDTH else page.width // 4)
        page.add(f'  {job.percent:.1f} %, {_text.count(job.done)} of {_text.count(job.total)}')
    else:
        page.add(_text.count(job.done) + (', more may come' if job.total < 0 else ''))
    if job.failed > 0:
        page.add(f', {_text.count(job.failed)} given up', Look.BAD)


def _add_end(page: Page, job: Job) -> None:
    if job.elapsed_s <= 0:
        return
    elapsed, band = _text.duration(job.elapsed_s), _band(job)
    page.label('took' if job.status >= 0 else 'end')
    if job.status >= 0:
        page.add(elapsed)
    elif job.left_s >= 0:
        page.add(f'in {_text.duration(job.left_s)}' + (f' ({band})' if band else ''))
        page.add(f', after {elapsed}', Look.DIM)
    else:
        page.add(f'not known, after {elapsed}')


def _add_workers(page: Page, job: Job, model: Model) -> None:
    sums = model.sums
    workers = sums.workers or job.workers
    if workers > 0 and job.status < 0:
        page.label('workers')
        page.add(f'{_text.count(sums.computing if sums.workers > 0 else job.busy)} of {_text.count(workers)} compute')
        if sums.waiting > 0:
            page.add(f', {sums.waiting} wait{"s" if sums.waiting == 1 else ""}')
        if sums.aside > 0:
            page.add(f', {sums.aside} put aside', Look.WARN)
        if sums.lost > 0:
            page.add(f', {sums.lost} lost', Look.BAD)
        if sums.imbalance >= 0:
            page.label('imbalance')
            page.add(f'{sums.imbalance:.2f}', Look.WARN if sums.imbalance >= 1.5 else Look.PLAIN)
            page.add(' max/mean of the times that workers compute', Look.DIM)
    if sums.computing > 0 and sums.imbalance < 0 and job.topology == 'hierarchical':
        page.label('imbalance')
        page.add('not known: masters have told no times', Look.DIM)


def _add_lost(page: Page, ranks: Sequence[Rank]) -> None:
    """The ranks that were lost, in ranges: as many as there is room for, and the number of the others."""
    lost = [rank for rank in ranks if rank.state == 'lost']
    if not lost:
        return
    page.label('lost')
    told = 0
    while told < len(lost):
        end = told + 1
        while end < len(lost) and lost[end].rank == lost[told].rank + (end - told):
            end += 1
        first, last = lost[told].rank, lost[end - 1].rank
        text = (', ' if told > 0 else 'ranks ' if len(lost) > 1 else 'rank ') + (f'{first}' if first == last else f'{first} to {last}')
        if page.left < len(text) + (OTHERS_COLUMNS if end < len(lost) else 0):
            page.add(f'{" and " if told > 0 else ""}{len(lost) - told:,} others', Look.BAD)
            return
        page.add(text, Look.BAD)
        told = end
    if len(lost) == 1 and lost[0].host:
        page.add(f' on {lost[0].host}')


def _chunk(job: Job, rank: Rank, has_word: bool) -> str:
    """The command of a task; or "300 to 399": what is left of a chunk, with a word for it or without. Tasks are counted from 1."""
    if rank.command:
        return rank.command
    are_tasks = job.kernel == 'exec'
    left = rank.left if 0 < rank.left < rank.count else rank.count
    first = rank.first + rank.count - left + are_tasks
    word = f'{"task" if are_tasks else "iteration"}{"s" if left > 1 else ""} ' if has_word else ''
    return f'{word}{first:,}' + (f' to {first + left - 1:,}' if left > 1 else '')


def _add_slowest(page: Page, job: Job, model: Model) -> None:
    for i, (rank, factor) in enumerate(model.sums.slow):
        page.label('slowest' if i == 0 else '')
        page.add_short(_chunk(job, rank, page.width >= WORDS_WIDTH), page.width // 2)
        page.add(f': {_text.duration(rank.since_s)}')
        if factor >= 0:
            page.add(f', {factor:.1f} x the mean', Look.WARN if factor >= 10 else Look.PLAIN)
        page.add(f', rank {rank.rank}')
        on = f' on {rank.host}'
        if rank.host and page.left >= len(on):
            page.add(on)


def _set_share(row: Row, share: float) -> None:
    if share >= 0:
        row.shares['bar'] = share
        row.set('busy', f'{math.floor(100 * share)} %')


def _set_counts(row: Row, is_known: bool, done: int, chunks: int) -> None:
    if is_known:
        row.set('done', _text.count(done))
        if chunks > 0:
            row.set('chunks', _text.count(chunks))


def _group_row(group: Group) -> Row:
    row = Row()
    row.set('who', f'{"master" if group.is_master else "node"} {group.number}' + (f', {group.host}' if group.host else ''), Look.STRONG)
    if group.is_lost:
        row.set('state', 'gone', Look.BAD)
    elif group.knows_computing:
        row.set('state', f'{group.computing} of {group.workers}', Look.STRONG)
    if group.busy_share >= 0:
        _set_share(row, group.busy_share)
    elif group.knows_computing and group.workers > 0:
        row.shares['bar'] = group.computing / group.workers
    _set_counts(row, group.has_counts, group.done, group.chunks)
    if group.longest_s >= 0:
        row.set('time', _text.duration(group.longest_s))
    if group.lost > 0:
        row.set('lost', _text.count(group.lost), Look.BAD)
    return row


def _rank_row(rank: Rank, job: Optional[Job], is_folded: bool) -> Row:
    row = Row()
    row.set('who', f'{"  " if is_folded else ""}rank {rank.rank}' + (f', {rank.host}' if rank.host and not is_folded else ''))
    row.set('state', *RANK_STATES.get(rank.state, ('', Look.PLAIN)))
    if rank.state != 'lost':
        _set_share(row, rank.busy_share(job))
    _set_counts(row, rank.has_counts, rank.done, rank.chunks)
    if rank.load > 0:
        row.set('load', f'{rank.load:.2f}')
    if rank.has_chunk and job is not None:
        row.set('time', _text.duration(rank.since_s))
        row.set('chunk', _chunk(job, rank, False))
    return row


# --- the foot ---

def _add_foot(page: Page, model: Model, ui: Ui) -> None:
    page.line()
    page.add_short(model.note, page.width, Look.WARN)
    page.line()
    if ui.asks:
        page.add('cancel ', Look.WARN)
        page.add_short(ui.asked, page.width // 2, Look.WARN)
        page.add(f'? what runs is {"ended" if "/" in ui.asked else "finished"} (y/n)', Look.WARN)
        return
    entry = ui.rows[ui.selected] if ui.selected < len(ui.rows) else None
    can_open = isinstance(entry, Group) and not ui.opens_all and model.sums.workers > UNFOLDED_MAX
    enter = 'Enter look into  ' if not ui.is_inside else 'Enter workers  ' if can_open else ''
    page.add(f'q {"back" if ui.is_inside and not ui.is_alone else "quit"}  {enter}s sort: {ui.order_name}  c cancel  ? help', Look.DIM)


def _add_help(page: Page) -> None:
    page.line()
    page.add('hdss top: keys', Look.STRONG)
    page.line()
    for key, text in KEYS:
        page.line()
        page.add(f'  {key}', Look.STRONG)
        page.go_to(LABEL_COLUMNS)
        page.add(text)
