# SPDX-License-Identifier: MIT
"""What has come of the tasks of a job: read from the parts of its output as they grow (common/results/parts.h, proto/block.h), which all who write results
of a job leave in one folder, and after the end of the job from its log and its errors."""
from __future__ import annotations

import contextlib
import itertools
import os
import struct
from typing import Any, BinaryIO, Dict, List, Tuple

HEAD, FIRST, ENTRY = struct.Struct('<4sIQQQQQ'), struct.Struct('<II'), struct.Struct('<IIII')
STREAMS = 3
ERRORS, LOG = 1, 2
FAILURES_MAX, ERRORS_MAX, LOOK_MAX, HISTORY_MAX = 100, 4096, 20000, 300
SEQ, START, RUNTIME, EXIT, SIGNAL, COMMAND, END, ERROR_BYTES = 0, 2, 3, 6, 7, 8, 14, 16


class Tasks:
    """`output`: the absolute path of the job's output."""

    def __init__(self, output: str) -> None:
        self.folder = output + '.parts'
        self.stem = output[:-4] if os.path.basename(output)[1:].endswith('.out') else output
        self.is_joined = False                # the log is read in place of the parts
        self._forget()

    def _forget(self) -> None:
        self.read: Dict[str, int] = {}        # bytes of each file
        self.ended: Dict[int, int] = {}       # tasks that ended in each second
        self.failures: Dict[int, Dict[str, Any]] = {}
        self.failed = 0

    def look(self) -> None:
        """Reads what has come, at most some thousands of tasks."""
        left = LOOK_MAX
        try:
            names = sorted(os.listdir(self.folder))
        except OSError:
            self._look_at_log()
            return
        self._turn_to(False)
        with contextlib.suppress(OSError):
            for name in names:
                with open(os.path.join(self.folder, name), 'rb') as file:
                    left = self._read(name, file, left)

    def _turn_to(self, is_joined: bool) -> None:
        if self.is_joined != is_joined:
            self.is_joined = is_joined
            self._forget()

    def _look_at_log(self) -> None:
        """Log and errors have the tasks in the same order."""
        with contextlib.suppress(OSError, ValueError, IndexError), open(f'{self.stem}.log', 'rb') as log, open(f'{self.stem}.err', 'rb') as errors:
            self._turn_to(True)
            log.seek(self.read.get('log', 0))
            for line in itertools.islice(log, LOOK_MAX):
                at, errors_at = self.read.get('log', 0), self.read.get('err', 0)
                if at > 0:  # the first line names the columns
                    length = int(line.split(b'\t')[ERROR_BYTES])
                    self._take_task(errors, line, errors_at, length)
                    self.read['err'] = errors_at + length
                self.read['log'] = at + len(line)

    def _read(self, name: str, file: BinaryIO, left: int) -> int:
        at, size = self.read.get(name, 0), os.fstat(file.fileno()).st_size
        while left > 0 and at + HEAD.size <= size:
            file.seek(at)
            magic, _, _, _, length, _, _ = HEAD.unpack(file.read(HEAD.size))
            if magic != b'HDSB' or at + HEAD.size + length > size:
                break
            left -= self._take_block(file, at + HEAD.size)
            at += HEAD.size + length
            self.read[name] = at
        return left

    def _take_block(self, file: BinaryIO, at: int) -> int:
        count: int
        count, streams = FIRST.unpack(file.read(FIRST.size))
        if streams != STREAMS:
            return 1
        entries = [entry[1:] for entry in ENTRY.iter_unpack(file.read(count * ENTRY.size))]
        place = at + FIRST.size + count * ENTRY.size
        places: List[int] = []
        for stream in range(STREAMS):
            places.append(place)
            place += sum(entry[stream] for entry in entries)
        for entry in entries:
            file.seek(places[LOG])
            self._take_task(file, file.read(entry[LOG]), places[ERRORS], entry[ERRORS])
            places[ERRORS] += entry[ERRORS]
            places[LOG] += entry[LOG]
        return count

    def _take_task(self, file: BinaryIO, line: bytes, errors_at: int, errors: int) -> None:
        row = line.decode('utf-8', 'replace').rstrip('\n').split('\t')
        with contextlib.suppress(ValueError, IndexError):
            number, end = int(row[SEQ]), int(float(row[START]) + float(row[RUNTIME]))
            self.ended[end] = self.ended.get(end, 0) + 1
            if row[END] == 'exit' and row[EXIT] == '0':
                self.failures.pop(number, None)
                return
            self.failed += 1
            file.seek(errors_at + max(errors - ERRORS_MAX, 0))
            lines = file.read(min(errors, ERRORS_MAX)).decode('utf-8', 'replace').split('\n')
            error = next((text for text in reversed(lines) if text.strip()), '')
            self.failures[number] = {'task': number, 'command': row[COMMAND], 'end': _end(row), 'error': error}
            if len(self.failures) > FAILURES_MAX:
                del self.failures[min(self.failures)]

    @property
    def history(self) -> List[Tuple[int, int]]:
        """Milliseconds since 1970, and how many tasks had ended by then."""
        done, points = 0, []
        for second in sorted(self.ended):
            done += self.ended[second]
            points.append((1000 * (second + 1), done))
        step = len(points) // HISTORY_MAX + 1
        return points[::-step][::-1]

    def told(self) -> Dict[str, Any]:
        return {'failed': self.failed, 'failures': [self.failures[number] for number in sorted(self.failures, reverse=True)], 'history': self.history}


def _end(row: List[str]) -> str:
    ends = {'exit': f'exit {row[EXIT]}', 'signal': f'signal {row[SIGNAL]}', 'timeout': 'time limit', 'not-started': 'not started',
            'not-kept': 'output lost'}
    return ends.get(row[END], row[END])
