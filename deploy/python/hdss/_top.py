# SPDX-License-Identifier: MIT
"""hdss top: runs and sets, their jobs and workers, as they go on; by their control sockets alone. A few questions to each session about once a second,
of which none makes a supermaster go through more jobs or ranks than fit on some screens, then a page is made of the answers, for a terminal or as text.
"""
from __future__ import annotations

import locale
import os
import select
import signal
import time
from typing import Any, Dict, List, Optional, Sequence, Tuple

from hdss._command import DONE, Command, Option, Refusal
from hdss._page import Look, Page
from hdss._sessions import WAITING_MAX, Gone, Line, Refused, Silent, find, only_word, sessions, sessions_and_jobs
from hdss._tasks import Tasks
from hdss._top_model import OVER, RANKS_MAX, Job, Model, Session
from hdss._top_pages import WIDTH_MAX, Act, Key, Ui, numbers_in, view

try:
    import curses
except ImportError:  # Python was built without it
    curses = None  # type: ignore[assignment]

RANKS_PAGE = 1000
RUNNING_MAX = 64    # jobs that run, of all sessions, whose ends are told
COLUMNS_MIN = 40
ESCAPE_MS = 25      # in which the bytes of a key come that begins with Esc


class Gather:
    """Asks the sessions of this user for what is shown."""

    def __init__(self, only: Optional[str]) -> None:
        self.only = only                # the one session that is asked; None: all
        self.lines: Dict[str, Line] = {}
        self.looked = ''                # the job whose ranks the model has
        self.place = 0                  # the next page of ranks
        self.tasks: Optional[Tasks] = None  # of the job that is looked into
        self.running: List[str] = []    # jobs that ran the last time

    def look(self, model: Model, ui: Ui, all_ranks: bool) -> None:
        model.clock = time.strftime('%H:%M:%S')
        there = {name: path for name, path in sessions().items() if self.only in (None, name)}
        self.lines.update({name: Line(name, path) for name, path in there.items() if name not in self.lines})
        model.clear_jobs()
        for name, line in sorted(self.lines.items(), key=lambda item: numbers_in(item[0])):
            if name in there and self._ask_session(line, model, ui.shows_over):
                line.has_answered = True
                continue
            if line.has_answered and line.is_set:  # else it was left over by one that was killed
                model.note = f'the set {name} has ended'
            self.lines.pop(name).close()
        self._look_into(model, ui, all_ranks)
        self._look_at_tasks(model)
        model.sum_up()
        self._tell_what_ended(model)

    def _ask_session(self, line: Line, model: Model, shows_over: bool) -> bool:
        """False where the session is gone."""
        session = Session(line.name, line.is_set)
        try:
            self._ask_for_jobs(line, model, session, shows_over)
        except Gone:
            return False
        except (Silent, Refused) as problem:
            session.is_silent, session.reason = isinstance(problem, Silent), str(problem)
            if not line.is_set:  # it has a row all the same
                model.jobs.append(Job(line.name))
        model.sessions.append(session)
        return True

    @staticmethod
    def _ask_for_jobs(line: Line, model: Model, session: Session, shows_over: bool) -> None:
        answer = line.ask('/v1/jobs?state=running' if line.is_set else '/v1/jobs')
        session.read(answer.get('session'))
        model.add_jobs(line.name, answer.get('jobs'))
        if not line.is_set:
            return
        if session.waiting > 0:
            model.add_jobs(line.name, line.ask(f'/v1/jobs?state=waiting&limit={WAITING_MAX}').get('jobs'))
        if shows_over:
            if line.over is None or line.over_count != session.over:  # there are others than the last time
                line.over, line.over_count = line.ask('/v1/jobs?state=over&limit=1000'), session.over
            model.add_jobs(line.name, line.over.get('jobs'))

    def line_of(self, job: str) -> Tuple[Optional[Line], str]:
        """The connection of the session of a job, None where it is not there, and what is asked of the job."""
        name, slash, number = job.rpartition('/')
        return self.lines.get(name if slash else job), f'/v1/jobs/{number if slash else 1}'

    def _look_into(self, model: Model, ui: Ui, all_ranks: bool) -> None:
        if not ui.is_inside or self.looked != ui.job:
            model.clear_looked()
            self.looked, self.place, self.tasks = '', 0, None
            all_ranks = True  # a job that is looked into now is shown as a whole
        if not ui.is_inside:
            return
        line, target = self.line_of(ui.job)
        model.looked_reason, model.looked_is_silent, model.looked_is_gone = '', False, line is None
        try:
            while line is not None:
                self.place = self._ask_for_ranks(line, target, model, self.place)
                self.looked = ui.job
                if not all_ranks or self.place == 0:
                    return
        except Refused as refusal:
            model.looked_reason = str(refusal)
        except Silent:
            model.looked_is_silent = True
        except Gone:
            model.looked_is_gone = True
        self.place = 0

    def _look_at_tasks(self, model: Model) -> None:
        job = model.looked
        if job is None or job.kernel != 'exec' or not job.output:
            return
        self.tasks = self.tasks or Tasks(os.path.join(job.folder, job.output))
        self.tasks.look()
        told = self.tasks.told()
        model.failures, model.failed_tasks = told['failures'], told['failed']

    @staticmethod
    def _ask_for_ranks(line: Line, target: str, model: Model, place: int) -> int:
        """Asks for a page of ranks. Returns the place of the next one, 0 where it was the last."""
        answer = line.ask(f'{target}/ranks?from={place}&limit={RANKS_PAGE}')
        after = answer.get('next')
        has_more = isinstance(after, int) and place < after < RANKS_MAX
        model.look(line.name, answer.get('job'))
        model.put_ranks(place, answer.get('ranks'), not has_more)
        return after if has_more and isinstance(after, int) else 0

    def _tell_what_ended(self, model: Model) -> None:
        """Notes how those jobs ended that ran the last time, and do not any more."""
        listed = {job.id for job in model.jobs}
        for job in self.running:
            if job in listed:
                continue
            line, target = self.line_of(job)
            if line is None:
                if '/' not in job:  # that a set has ended is said already
                    model.note = f'{job} has ended'
                continue
            try:
                state = line.ask(target).get('state')
            except (Gone, Silent, Refused):
                continue
            if isinstance(state, str) and state in OVER:
                model.note = f'{job} is over: {state}'
        self.running = [job.id for job in model.jobs if job.is_told and job.state != 'waiting' and not job.is_over][:RUNNING_MAX]

    def cancel(self, model: Model, job: str) -> None:
        line, target = self.line_of(job)
        is_run = '/' not in job
        if line is None:
            model.note = f'{job} is not there any more'
            return
        try:
            line.ask(target + ('?finish=1' if is_run else ''), 'DELETE')
            model.note = f'{job} drains' if is_run else f'{job} is cancelled'
        except (Gone, Silent, Refused) as problem:
            model.note = f'{job}: ' + (str(problem) or ('it has ended' if isinstance(problem, Gone) else 'it does not answer'))


# --- the screen ---

class Screen:
    """The terminal by curses. Signals that end the program are a key like `q`, so that the terminal is given back on one way; they come while a key is
    waited for, and break off no question to a session."""

    def __init__(self) -> None:
        if curses is None:
            raise Refusal('this Python has no ncurses, which the screen takes; accepted: --once, or a Python with its module curses')
        for descriptor, name in ((0, 'input'), (1, 'output')):
            if not os.isatty(descriptor):
                raise Refusal(f'standard {name} is no terminal; accepted: a terminal, or --once')
        try:
            curses.setupterm(fd=1)
            has_cursor = curses.tigetstr('cup') is not None
        except curses.error:
            has_cursor = False
        if not has_cursor:
            raise Refusal(f"the terminal '{os.environ.get('TERM', ''):.40}' (TERM) is not known to ncurses, or has no cursor to be moved; accepted: another "
                          'one, or --once')
        self.has_ended = self.has_another_size = False
        self._woken, self._wakes = os.pipe()
        for end in (self._woken, self._wakes):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(self._wakes)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGWINCH):
            signal.signal(number, self._note)
        self._poll = select.poll()
        self._poll.register(0, select.POLLIN)
        self._poll.register(self._woken, select.POLLIN)
        os.environ.setdefault('ESCDELAY', str(ESCAPE_MS))
        self._window = curses.initscr()
        curses.cbreak()
        curses.noecho()
        curses.nonl()
        self._window.keypad(True)
        self._window.nodelay(True)
        try:
            curses.curs_set(0)
        except curses.error:  # a terminal that cannot hide it
            pass
        self._looks = self._make_looks()
        self._keys = _keys()

    def _note(self, number: int, _: object) -> None:
        if number == signal.SIGWINCH:
            self.has_another_size = True
        else:
            self.has_ended = True

    @staticmethod
    def _make_looks() -> Dict[Look, int]:
        looks = {look: curses.A_NORMAL for look in Look}
        looks.update({Look.STRONG: curses.A_BOLD, Look.DIM: curses.A_DIM, Look.BAD: curses.A_BOLD})
        if os.environ.get('NO_COLOR'):
            return looks
        colours = {Look.GOOD: curses.COLOR_GREEN, Look.WARN: curses.COLOR_YELLOW, Look.BAD: curses.COLOR_RED, Look.BAR: curses.COLOR_CYAN}
        try:
            curses.start_color()
            curses.use_default_colors()
            for number, (look, colour) in enumerate(colours.items(), 1):
                curses.init_pair(number, colour, -1)
                looks[look] = (curses.A_BOLD if look == Look.BAD else 0) | curses.color_pair(number)
        except curses.error:  # a terminal without colours
            pass
        return looks

    def close(self) -> None:
        curses.endwin()
        signal.set_wakeup_fd(-1)

    @property
    def size(self) -> Tuple[int, int]:
        """Lines and columns of the terminal."""
        return self._window.getmaxyx()

    def show(self, page: Page) -> None:
        self._window.erase()
        for y, line in enumerate(page.lines[:self.size[0]]):
            try:
                self._window.move(y, 0)
                for look, text in line.pieces:
                    self._window.addstr(text, self._looks[look] | (curses.A_REVERSE if line.is_selected else 0))
            except curses.error:  # behind the last column of the last line the cursor has no place to go
                pass
        self._window.refresh()

    def key(self, timeout_s: float) -> Optional[Key]:
        """The next key, Key.NONE after that time; None where the terminal has another size."""
        code = self._window.getch()
        if code == -1 and not self.has_ended and not self.has_another_size:
            ready = dict(self._poll.poll(max(timeout_s, 0) * 1000))
            if self._woken in ready:
                os.read(self._woken, 512)
            code = self._window.getch() if 0 in ready else -1
            if code == -1 and ready.get(0, 0) & (select.POLLHUP | select.POLLERR | select.POLLNVAL):
                self.has_ended = True  # the terminal is gone
        if self.has_ended:
            return Key.END
        if self.has_another_size or code == curses.KEY_RESIZE:
            self._take_size()
            return None
        return Key.NONE if code == -1 else self._keys.get(code, Key.OTHER)

    def _take_size(self) -> None:
        self.has_another_size = False
        try:
            columns, lines = os.get_terminal_size(1)
        except OSError:
            return
        if columns > 0 and lines > 0 and curses.is_term_resized(lines, columns):
            curses.resizeterm(lines, columns)


def _keys() -> Dict[int, Key]:
    keys = {curses.KEY_UP: Key.UP, curses.KEY_DOWN: Key.DOWN, curses.KEY_PPAGE: Key.PAGE_UP, curses.KEY_NPAGE: Key.PAGE_DOWN, curses.KEY_HOME: Key.FIRST,
            curses.KEY_END: Key.LAST, curses.KEY_ENTER: Key.ENTER}
    letters = {'k': Key.UP, 'j': Key.DOWN, 'g': Key.FIRST, 'G': Key.LAST, '\r': Key.ENTER, '\n': Key.ENTER, '\x1b': Key.BACK, 'q': Key.QUIT, 's': Key.SORT,
               'c': Key.CANCEL, 'a': Key.ALL, '?': Key.HELP, 'h': Key.HELP, 'y': Key.YES, 'Y': Key.YES}
    return {**keys, **{ord(letter): key for letter, key in letters.items()}}


# --- the command ---

class Top:
    def __init__(self, session: Optional[str], ui: Ui) -> None:
        self.gather, self.model, self.ui = Gather(session), Model(), ui
        self.utf8 = locale.nl_langinfo(locale.CODESET) == 'UTF-8'

    def look(self, all_ranks: bool = False) -> None:
        self.gather.look(self.model, self.ui, all_ranks)
        self.ui.arrange(self.model)

    def once(self) -> str:
        columns = WIDTH_MAX
        if os.isatty(1):
            try:
                columns = max(os.get_terminal_size(1).columns or 80, COLUMNS_MIN)
            except OSError:
                columns = 80
        self.look(all_ranks=True)
        page = Page(min(columns, WIDTH_MAX), self.utf8)
        view(page, self.model, self.ui, None)
        return page.text()

    def run(self, screen: Screen, interval_s: float) -> None:
        due = 0.0
        while True:
            now = time.monotonic()
            if now >= due:
                due = now + interval_s
                self.look()
                shown = self._show(screen)
            key = screen.key(due - time.monotonic())
            if key == Key.NONE:
                continue
            if key is not None and self._press(key, shown):
                return
            shown = self._show(screen)

    def _show(self, screen: Screen) -> int:
        lines, columns = screen.size
        page = Page(min(columns, WIDTH_MAX), self.utf8)
        shown = view(page, self.model, self.ui, lines)
        screen.show(page)
        return shown

    def _press(self, key: Key, shown: int) -> bool:
        """Does what a key asks for. True: the program ends."""
        self.model.note = ''
        act = self.ui.press(key, self.model, shown)
        if act == Act.CANCEL:
            self.gather.cancel(self.model, self.ui.asked)
        if act in (Act.CANCEL, Act.LOOK):
            self.look()
        else:
            self.ui.arrange(self.model)
        return act == Act.END


def _interval(text: str) -> float:
    seconds = float(text)
    if not 0.1 <= seconds <= 3600:
        raise ValueError
    return seconds


COMMAND = Command(
    'top', '[SET|ID]',
    'Shows your runs and sets on this machine as they go on: jobs with rate and expected end, and for one job its workers by node, its imbalance, what '
    'takes longest, and what was lost.',
    (Option('once', 'print one page as plain text and end'),
     Option('interval', 'look again after SECONDS (0.1 to 3600; default 1)', 'SECONDS', '0.1 to 3600', _interval),
     Option('all', 'also list jobs that are over and, in a job, all workers')),
    ('SET is a set that `hdss jobs` lists; the screen shows its jobs. ID is one job to look into: NAME/3 or 3 of a set, run-PID of a run.',
     'Keys: arrows, j and k select, Enter looks into a job, q and Esc go back, s sorts, a shows all, c cancels, ? lists the keys; q in the list quits.'),
    sessions_and_jobs)


def _run(values: Dict[str, Any], operands: List[str]) -> int:
    word = only_word(operands)
    session, job = find(word) if word is not None else (None, '')
    top = Top(session, Ui(job, values.get('all', False)))
    if values.get('once'):
        return COMMAND.write(top.once())
    screen = Screen()
    try:
        top.run(screen, values.get('interval', 1.0))
    finally:
        screen.close()
    return DONE


def main(words: Sequence[str], version: str) -> int:
    return COMMAND.main(words, version, _run)
