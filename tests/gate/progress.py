# SPDX-License-Identifier: MIT
"""What a run of the gate shows while it goes on: on a terminal one line that is rewritten, else a line every EVERY_S seconds in which something moved."""
import sys
import threading
import time

EVERY_S = 20
REDRAW_S = 0.3


class Progress:
    def __init__(self, name, out=sys.stdout, clock=time.monotonic):
        self.name, self.out, self.clock = name, out, clock
        self.lock = threading.Lock()
        self.began = self.shown_at = clock()
        self.work = {}  # label: (done, total)
        self.shown = ""

    def elapsed(self):
        seconds = int(self.clock() - self.began)
        return f"{seconds // 60}:{seconds % 60:02}"

    def say(self, text):
        """A line that stays."""
        with self.lock:
            self.clear()
            print(f"{self.name}: [{self.elapsed()}] {text}", file=self.out, flush=True)
            self.shown_at = self.clock()

    def print(self, text):
        """Text that stays, as it is."""
        with self.lock:
            self.clear()
            print(text, file=self.out, flush=True)

    def set(self, label, done, total):
        """`label` has come to `done` of `total`; it is over when they are equal."""
        with self.lock:
            if done >= total > 0:
                self.work.pop(label, None)
            else:
                self.work[label] = (done, total)
            self.draw()

    def end(self, label):
        with self.lock:
            self.work.pop(label, None)

    def clear(self):
        if self.shown and self.out.isatty():
            self.out.write("\r\033[K")
        self.shown = ""

    def draw(self):
        text = ", ".join(f"{label} {done} of {total}" if total else label for label, (done, total) in self.work.items())
        due = REDRAW_S if self.out.isatty() else EVERY_S
        if not text or self.clock() - self.shown_at < due:
            return
        self.shown_at = self.clock()
        if self.out.isatty():
            self.clear()
            self.shown = f"{self.name}: [{self.elapsed()}] {text}"[:119]
            self.out.write(self.shown)
            self.out.flush()
        else:
            print(f"{self.name}: [{self.elapsed()}] {text}", file=self.out, flush=True)
