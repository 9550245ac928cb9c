# SPDX-License-Identifier: MIT
"""A bar of what is done: on standard error where that is a terminal, as one line that is drawn anew in a notebook."""
from __future__ import annotations

import os
import sys
import threading
import time
from typing import Any, Optional

DRAW_S = 0.1
BAR_MAX, BAR_MIN = 30, 5
NOTEBOOK_WIDTH = 100


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


def _notebook() -> Optional[Any]:
    """What displays in a notebook; None elsewhere."""
    if 'IPython' not in sys.modules:
        return None
    from IPython import get_ipython
    from IPython.display import display
    shell = get_ipython()
    return display if shell is not None and type(shell).__name__ == 'ZMQInteractiveShell' else None


def _columns() -> int:
    """Columns of the terminal that standard error is, less the last one: a cursor behind it would begin another line."""
    try:
        columns = os.get_terminal_size(sys.stderr.fileno()).columns
    except (OSError, ValueError):
        columns = 0
    return (columns or 80) - 1


def _is_ascii() -> bool:
    """True where standard error cannot show the characters of the bar."""
    try:
        '█·'.encode(sys.stderr.encoding or 'ascii')
    except (UnicodeEncodeError, LookupError):
        return True
    return False


class Bar:
    """Draws; silent where neither a terminal nor a notebook is there. For several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._began = self._looked = time.monotonic()
        self._drawn = 0.0
        self._is_complete = True  # nothing was to be done when it was looked at last: such time does not count
        self._display = _notebook()
        self._handle: Any = None
        self._is_terminal = self._display is None and sys.stderr is not None and sys.stderr.isatty()
        self._last = ''

    def draw(self, done: int, total: int, failed: int = 0, is_end: bool = False) -> None:
        """Draws anew, ten times a second at most, when all is done, and at the end."""
        if total == 0 or not (self._is_terminal or self._display):
            return
        now, is_complete = time.monotonic(), done + failed >= total
        with self._lock:
            if self._is_complete:
                self._began += now - self._looked
            has_come_to_end = is_complete and not self._is_complete
            self._looked, self._is_complete = now, is_complete
            if now - self._drawn < DRAW_S and not has_come_to_end and not is_end:
                return
            self._drawn = now
            self._show(done, total, now - self._began, failed)
        if is_end:
            self.leave()

    def _show(self, done: int, total: int, elapsed_s: float, failed: int) -> None:
        if self._display is None:
            text = line(done, total, elapsed_s, failed, width=_columns(), is_ascii=_is_ascii())
            self._write('\r' + text + ' ' * (len(self._last) - len(text)))
            self._last = text
            return
        shown = {'text/plain': line(done, total, elapsed_s, failed)}
        if self._handle is None:
            self._handle = self._display(shown, raw=True, display_id=True)
        else:
            self._handle.update(shown, raw=True)

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()

    def clear(self) -> None:
        """Makes room for a line of somebody else's."""
        with self._lock:
            if self._last:
                self._write('\r' + ' ' * len(self._last) + '\r')
                self._last = ''

    def leave(self) -> None:
        """Leaves the bar as it stands, and goes to the next line."""
        with self._lock:
            if self._last:
                self._write('\n')
                self._last = ''
