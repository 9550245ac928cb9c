# SPDX-License-Identifier: MIT
"""A bar of what is done: on standard error where that is a terminal, as one line that is drawn anew in a notebook."""
from __future__ import annotations

import sys
import time
from typing import Any, Optional

DRAW_S = 0.1
WIDTH = 30


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f'{hours}:{minutes:02}:{rest:02}' if hours else f'{minutes}:{rest:02}'


def line(done: int, total: int, elapsed_s: float, failed: int = 0) -> str:
    """The text of a bar."""
    part = done / total if total else 0.0
    bar = '█' * int(part * WIDTH) + '·' * (WIDTH - int(part * WIDTH))
    rate = done / elapsed_s if elapsed_s > 0 else 0.0
    left = f', {_duration((total - done) / rate)} left' if 0 < done < total and rate > 0 else ''
    lost = f', {failed} failed' if failed else ''
    return f'{part:4.0%} {bar} {done}/{total}  {rate:.3g}/s, {_duration(elapsed_s)}{left}{lost}'


def _notebook() -> Optional[Any]:
    """What displays in a notebook; None elsewhere."""
    if 'IPython' not in sys.modules:
        return None
    from IPython import get_ipython
    from IPython.display import display
    shell = get_ipython()
    return display if shell is not None and type(shell).__name__ == 'ZMQInteractiveShell' else None


class Bar:
    """Draws; silent where neither a terminal nor a notebook is there."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._drawn = 0.0
        self._display = _notebook()
        self._handle: Any = None
        self._is_terminal = self._display is None and sys.stderr is not None and sys.stderr.isatty()
        self._last = ''

    def draw(self, done: int, total: int, failed: int = 0, is_end: bool = False) -> None:
        """Draws anew, ten times a second at most, and at the end."""
        now = time.monotonic()
        if total == 0 or (now - self._drawn < DRAW_S and not is_end) or not (self._is_terminal or self._display):
            return
        self._drawn = now
        text = line(done, total, now - self._began, failed)
        if self._display is not None:
            shown = {'text/plain': text}
            if self._handle is None:
                self._handle = self._display(shown, raw=True, display_id=True)
            else:
                self._handle.update(shown, raw=True)
            return
        sys.stderr.write('\r' + text + ' ' * max(0, len(self._last) - len(text)) + ('\n' if is_end else ''))
        sys.stderr.flush()
        self._last = text

    def clear(self) -> None:
        """Makes room for a line of somebody else's."""
        if self._is_terminal and self._last:
            sys.stderr.write('\r' + ' ' * len(self._last) + '\r')
            sys.stderr.flush()
