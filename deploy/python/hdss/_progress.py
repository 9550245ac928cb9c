# SPDX-License-Identifier: MIT
"""A bar of what is done: on standard error where that is a terminal, as one line that is drawn anew in a notebook."""
from __future__ import annotations

import os
import sys
import threading
import time
from typing import Any, Dict, NamedTuple, Optional

DRAW_S = 0.1
BAR_MAX, BAR_MIN = 30, 5
NOTEBOOK_WIDTH = 100
PAUSE_S = 0.5


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f'{hours}:{minutes:02}:{rest:02}' if hours else f'{minutes}:{rest:02}'


def _rate(done: int, elapsed_s: float) -> str:
    rate = done / elapsed_s if elapsed_s > 0 else 0.0
    return f'{rate:.0f}' if rate >= 100 else f'{rate:.3g}'


def line(done: int, total: int, elapsed_s: float, failed: int = 0, *, width: int = NOTEBOOK_WIDTH, is_ascii: bool = False) -> str:
    """The text of a bar, in at most `width` columns: where there is too little room the bar becomes shorter, and then the text is cut.
    What has failed is settled, as what is done."""
    settled = min(done + failed, total)
    part = settled / total if total else 0.0
    left_s = elapsed_s * (total - settled) / settled if settled else 0.0
    left = f', {_duration(left_s)} left' if 0 < settled < total else ''
    lost = f', {failed} failed' if failed else ''
    head, text = f'{int(part * 100):3}% ', f'{done}/{total}{lost}  {_rate(done, elapsed_s)}/s, {_duration(elapsed_s)}{left}'
    room = min(BAR_MAX, width - len(head) - len(text) - 1)
    if room < BAR_MIN:
        return (head + text)[:max(0, width)]
    full, empty = ('#', '.') if is_ascii else ('█', '·')
    length = int(part * room)
    return f'{head}{full * length}{empty * (room - length)} {text}'


def _shell() -> Optional[Any]:
    """The shell of a notebook; None elsewhere."""
    if 'IPython' not in sys.modules:
        return None
    from IPython import get_ipython
    shell = get_ipython()
    return shell if shell is not None and type(shell).__name__ == 'ZMQInteractiveShell' else None


def _columns(file: Any) -> int:
    """Columns of the terminal, less the last one: a cursor behind it would begin another line."""
    try:
        columns = os.get_terminal_size(file.fileno()).columns
    except (AttributeError, OSError, ValueError):
        columns = 0
    return (columns or 80) - 1


def _is_ascii(file: Any) -> bool:
    """True where the stream cannot show the characters of the bar."""
    try:
        '█·'.encode(file.encoding or 'ascii')
    except (AttributeError, UnicodeEncodeError, LookupError):
        return True
    return False


def _is_terminal(file: Any) -> bool:
    """True for a stream that is a terminal; programs put other objects in the place of their streams, too."""
    try:
        return bool(file.isatty())
    except (AttributeError, OSError, ValueError):
        return False


class _Stream:
    """Standard output or error of the program while a bar stands on the terminal: what is printed has a line of its own."""

    def __init__(self, file: Any, streams: '_Streams') -> None:
        self.file, self._streams, self._pid = file, streams, os.getpid()

    def write(self, text: str) -> Any:
        if text and os.getpid() == self._pid:  # a process that was forked has no bar, and maybe a lock that nobody opens
            self._streams.begin(text)
        return self.file.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


class _Streams:
    """Both streams of the program, as far as they are terminals."""

    def __init__(self, bar: 'Bar') -> None:
        self._bar = bar
        self.file = sys.stderr.file if isinstance(sys.stderr, _Stream) else sys.stderr
        self._of: Dict[str, _Stream] = {}
        self.is_within_line = False  # the program has printed a part of a line

    def watch(self) -> None:
        """A bar is drawn: from now on it goes away before the program prints."""
        for name in ('stdout', 'stderr'):
            file = getattr(sys, name)
            if not isinstance(file, _Stream) and _is_terminal(file):
                self._of[name] = _Stream(file, self)
                setattr(sys, name, self._of[name])

    def leave(self) -> None:
        """No bar is there."""
        for name, stream in self._of.items():
            if getattr(sys, name) is stream:
                setattr(sys, name, stream.file)

    def begin(self, text: str) -> None:
        """The program prints this."""
        self._bar.clear()
        self.is_within_line = not text.endswith('\n')

    def write(self, text: str) -> None:
        """Draws. A terminal that is gone ends no work."""
        try:
            self.file.write(text)
            self.file.flush()
        except (OSError, ValueError):
            pass


class _Counts(NamedTuple):
    done: int
    failed: int
    worked_s: float


class Bar:
    """Draws what is done of what there is to do; silent where neither a terminal nor a notebook is there. For several threads.

    There may be nothing to do for some time, and then more, as from an executor at a prompt. Such time does not count, and behind
    a pause, or in another cell of a notebook, the counts begin anew. In a terminal the bar goes away when all is done, so that
    what comes next has a line of its own, and stands there at the end, for all that was done."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a handler of a signal may print
        self._shell = _shell()
        self._handle: Any = None
        self._cell: Any = None
        self._is_terminal = self._shell is None and _is_terminal(sys.stderr)
        self._streams = _Streams(self)
        self._last = ''
        self._drawn = 0.0
        self._looked = time.monotonic()
        self._worked_s = 0.0  # for which there was something to do
        self._total = 0
        self._is_complete = True
        self._is_hidden = False
        self._settled = _Counts(0, 0, 0.0)  # when all was done last
        self._base = self._settled          # with which the counts have begun

    def draw(self, done: int, total: int, failed: int = 0, is_end: bool = False) -> None:
        """Draws anew, ten times a second at most, and when all is done. At the end it goes to the next line."""
        if total == 0 or not (self._is_terminal or self._shell):
            return
        with self._lock:
            was_complete = self._note(done, total, failed)
            if self._is_hidden or (self._streams.is_within_line and not is_end):
                return
            if is_end and self._is_terminal:
                self._show(self._line(done, total, self._worked_s, failed))
                self._leave()
            elif self._is_complete and self._is_terminal:
                self._clear()
            elif self._is_complete != was_complete or self._looked - self._drawn >= DRAW_S or is_end:
                self._drawn = self._looked
                base = self._base
                counts = done - base.done, total - base.done - base.failed, self._worked_s - base.worked_s, failed - base.failed
                self._show(self._line(*counts))

    def _line(self, done: int, total: int, worked_s: float, failed: int) -> str:
        if not self._is_terminal:
            return line(done, total, worked_s, failed)
        file = self._streams.file
        return line(done, total, worked_s, failed, width=_columns(file), is_ascii=_is_ascii(file))

    def _note(self, done: int, total: int, failed: int) -> bool:
        """Takes the counts. Returns whether all was done before."""
        now, was_complete = time.monotonic(), self._is_complete
        if was_complete and total > self._total:
            was_complete = False
            if now - self._looked >= PAUSE_S or self._current_cell() != self._cell:
                self._begin_anew(self._settled)
        elif not was_complete:
            self._worked_s += now - self._looked
        self._looked, self._total, self._is_complete = now, total, done + failed >= total
        if self._is_complete:
            self._settled = _Counts(done, failed, self._worked_s)
        return was_complete

    def _current_cell(self) -> Any:
        return None if self._shell is None else self._shell.execution_count

    def _begin_anew(self, base: _Counts) -> None:
        """The counts begin behind these; in a notebook there is another line."""
        self._base, self._cell, self._handle = base, self._current_cell(), None

    def _show(self, text: str) -> None:
        if self._is_terminal:
            self._streams.watch()
            self._streams.write('\r' + text + ' ' * (len(self._last) - len(text)))
            self._last = text
        elif self._handle is None:
            from IPython.display import display
            self._handle = display({'text/plain': text}, raw=True, display_id=True)
        else:
            self._handle.update({'text/plain': text}, raw=True)

    def _clear(self) -> None:
        self._end('\r' + ' ' * len(self._last) + '\r')

    def _leave(self) -> None:
        self._end('\n')

    def _end(self, text: str) -> None:
        if self._last:
            self._streams.write(text)
            self._streams.leave()
            self._last = ''

    def clear(self) -> None:
        """Makes room for a line of somebody else's."""
        with self._lock:
            self._clear()

    def hide(self) -> None:
        """Leaves the bar as it stands, and draws no other one before go_on(): whoever has waited does so no more."""
        with self._lock:
            self._leave()
            self._is_hidden = True

    def go_on(self, done: int, failed: int) -> None:
        """There is more to do than so far. A bar that was hidden is drawn again, with what is done from now on."""
        with self._lock:
            if self._is_hidden:
                self._is_hidden = False
                self._begin_anew(_Counts(done, failed, self._worked_s))

    def leave(self) -> None:
        """Leaves the bar as it stands, and goes to the next line."""
        with self._lock:
            self._leave()
