# SPDX-License-Identifier: MIT
"""The runs of a study, one after the other by the ways of `hdss run` and `hdss simulate`, and a row of the table for each.

The table is the memory of the study: what is in it is not run again, so a study that was ended goes on. A run that was cut off by a signal does not get
into it. A simulation takes one core and disturbs no other, so that as many go on side by side as there are cores; what came of each is taken in the order
of the study."""
from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import signal
import sys
import threading
import time
from types import FrameType
from typing import BinaryIO, Dict, List, NoReturn, Optional, Tuple

from hdss import _text
from hdss._command import FAILED as FAILED_STATUS
from hdss._command import Refusal
from hdss._study_check import Checks, Engine
from hdss._study_matrix import DONE, FAILED, TIMEOUT, Matrix, Run, Table, flatten
from hdss._study_plan import Located, Reader, Study, is_dca, real
from hdss._study_summary import Value

AHEAD_MAX = 8               # simulations side by side
AHEAD_WORKERS_MAX = 65536   # so many workers take some 200 MiB to simulate
QUANTA = 500
REASON_MAX = 299
_PLAIN = re.compile('[A-Za-z0-9_@%+=:,./-]+')


class Failure(Exception):
    """The study cannot go on. The text says why in one line."""


def quoted(words: List[str]) -> str:
    """The words as a shell reads them."""
    return ' '.join(word if _PLAIN.fullmatch(word) else "'" + word.replace("'", "'\\''") + "'" for word in words)


def read_file(path: str) -> str:
    """Raises OSError. Bytes that are no UTF-8 stay what they are."""
    with open(path, encoding='utf-8', errors='surrogateescape', newline='') as file:
        return file.read()


def write_file(path: str, text: str) -> None:
    """Puts the text in the place of the file, or leaves that as it is. Raises Failure."""
    beside = f'{path}.{os.getpid()}'
    try:
        with open(beside, 'w', encoding='utf-8', errors='surrogateescape', newline='') as file:
            file.write(text)
        os.replace(beside, path)
    except OSError as error:
        remove(beside)
        raise Failure(f'{path}: {error.strerror}') from None


def remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass


# --- the machine ---

def machine_row(cores: int) -> Dict[str, str]:
    """On what runs are made, for every row of the table."""
    names, processor = os.uname(), 'unknown processor'
    try:
        with open('/proc/cpuinfo', encoding='utf-8', errors='replace') as file:
            processor = next((line.partition(':')[2].strip() for line in file if line.startswith('model name')), processor)
    except OSError:
        pass
    memory = os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / (1 << 30)
    return {'machine.host': names.nodename, 'machine.processor': processor, 'machine.cores': str(cores), 'machine.memory_gib': f'{memory:.1f}',
            'machine.system': f'{names.sysname} {names.release} {names.machine}'}


def noise_of(quanta_ns: List[int]) -> float:
    """The percentage of their time that quanta of work have lost: what they take beyond so many times the shortest of them. 0 where they took no time."""
    return 100 * (1 - len(quanta_ns) * min(quanta_ns) / sum(quanta_ns)) if sum(quanta_ns) > 0 else 0.0


def calm_row(is_of_machine: bool) -> Dict[str, str]:
    """How calm the machine is at this moment, before a run: its load average of a minute, the governor of its clock, and how much of its time a core
    loses, to other processes and to the system. That is measured by quanta of work, which are all the same (Sottile and Minnich 2004). Empty for a run
    that does not depend on it."""
    row = dict.fromkeys(('machine.load_1min', 'machine.governor', 'machine.noise_percent'), '')
    if not is_of_machine:
        return row
    import hashlib  # pylint: disable=import-outside-toplevel  # which takes its time, and is nothing for simulations
    block, quanta_ns = 2000 * b'q', []  # of some ten microseconds, within one call
    before_ns = time.monotonic_ns()
    for _ in range(QUANTA):
        hashlib.sha512(block).digest()
        now_ns = time.monotonic_ns()
        quanta_ns.append(now_ns - before_ns)
        before_ns = now_ns
    row['machine.noise_percent'] = f'{noise_of(quanta_ns):.2f}'
    try:
        row['machine.load_1min'] = f'{os.getloadavg()[0]:.2f}'
        row['machine.governor'] = read_file('/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor').strip()
    except OSError:
        pass
    return row


# --- a study and its files ---

class Session:
    """A study, its files in a folder, and the runs that are due. close() is due. Raises Refusal where a file is wrong."""

    def __init__(self, file: str, folder: str, hdss: str, retries: bool = False) -> None:
        self.file, self.folder, self.hdss, self.retries = file, folder, hdss, retries
        base = os.path.basename(file)
        self.name = base[:base.rindex('.')] if '.' in base[1:] else base  # masters.study is called masters
        if not self.name:
            raise Refusal(f'{file:.200}: a file name is accepted')
        text = self._read(file)
        self.engine = Engine(hdss)
        try:
            self.study = self._parse(text)
            self.matrix = Matrix(self.study)
            path = self.path('.csv')
            self.table = Table.parse(path, self._read(path)) if os.path.exists(path) else Table()
            self.rows = self.matrix.rows(self.table)
        except BaseException:
            self.engine.close()
            raise

    def close(self) -> None:
        self.engine.close()

    @staticmethod
    def _read(path: str) -> str:
        try:
            return read_file(path)
        except OSError as error:
            other = f'{path}.study'
            raise Refusal(f'{path}: {error.strerror}' + (f'; did you mean {other}?' if os.path.exists(other) else '')) from None

    def _parse(self, text: str) -> Study:
        try:
            study = Reader(self.engine).read(text)
            Checks(study, self.engine).all()
        except Located as located:
            raise located.at(self.file) from None
        return study

    def path(self, ending: str) -> str:
        return f'{self.folder}/{self.name}{ending}'

    def line(self, run: Run, report: str) -> List[str]:
        """The words of the run's command, behind `hdss`."""
        words = self.matrix.compose(run.cell, report, self.engine)
        if self.study.has_seeds and self.matrix.simulates(run.cell):  # an order of events of its own; seeds of hdss simulate begin with 1
            words[1:1] = ['--seed', str((self.study.seed + run.repetition) % 0xffffffff + 1)]
        return words

    def due(self) -> List[Run]:
        """The runs that are due, in their order."""
        settled = {cell for cell in range(self.matrix.count) if self.is_settled(cell)} if self.study.until > 0 else set()
        return [run for run in self.matrix.order() if run.cell not in settled and self._is_due(self.rows.get(run))]

    def _is_due(self, row: Optional[Dict[str, str]]) -> bool:
        return row is None or (self.retries and row.get('status') != DONE)

    def is_settled(self, cell: int) -> bool:
        """True for a cell that has been run often enough."""
        rows = [self.rows.get(Run(cell, repetition)) for repetition in range(self.study.repetitions)]
        times = [real(row.get('elapsed_s', '')) for row in rows if row is not None and row.get('status') == DONE]
        return self.study.until > 0 and Value([elapsed for elapsed in times if elapsed is not None], not self.matrix.repeats(cell)).is_settled(self.study)

    def keep(self, run: Run, row: Dict[str, str]) -> None:
        """Puts the run's row into the table, and writes that."""
        old = self.rows.get(run)
        if old is not None:
            self.table.remove(old)
        self.rows[run] = self.table.add(row)
        write_file(self.path('.csv'), self.table.text())


class Runs:
    """Makes the runs that are due. `asked`: a signal has ended it."""

    def __init__(self, session: Session) -> None:
        self.session, self.study, self.matrix = session, session.study, session.matrix
        self.due = session.due()
        self.machine = machine_row(session.engine.cores)
        self.width = self._width()
        self.begun = 0  # runs that were begun so far, of those that are due
        self.going: Dict[int, int] = {}  # processes of those that go on
        self.asked = False
        self.log = self._open_log()

    def _open_log(self) -> BinaryIO:
        """The output of the runs goes there; who has it locked is the only one who writes the table. Raises Failure."""
        path = self.session.path('.log')
        try:
            log = open(path, 'ab+')  # pylint: disable=consider-using-with
            fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            log.close()
            raise Failure(f'{path}: another hdss study runs with it') from None
        except OSError as error:
            raise Failure(f'{path}: {error.strerror}') from None
        return log

    def _width(self) -> int:
        """Runs that are made side by side. Beside a real run no simulation may go on; traces are numbered in the order of the runs, and whether a cell whose
        interval is to be narrow needs another run, those before have to say."""
        is_alone = self.study.keeps_traces or self.study.until > 0 or self.study.is_real
        if is_alone or any(int(workers) > AHEAD_WORKERS_MAX for workers in self.study.values['workers']):
            return 1
        return min(len(os.sched_getaffinity(0)), AHEAD_MAX)

    # --- signals ---

    def _take_signal(self, number: int, frame: Optional[FrameType]) -> None:
        del number, frame
        self.asked = True
        self._send(signal.SIGTERM)

    def _send(self, number: int) -> None:
        for process in self.going.values():
            with contextlib.suppress(ProcessLookupError):  # it has just been waited for
                os.kill(process, number)

    def _stop(self, number: int, frame: Optional[FrameType]) -> None:
        """Ctrl-Z, which reaches no run by itself: each is a session of its own."""
        del frame
        for i, process in self.going.items():
            os.kill(process, signal.SIGSTOP if self.matrix.simulates(self.due[i].cell) else number)
        os.kill(os.getpid(), signal.SIGSTOP)
        self._send(signal.SIGCONT)

    def make(self) -> None:
        """Makes all of them. Raises Failure."""
        before = {}
        if threading.current_thread() is threading.main_thread():  # no other may take signals
            numbers = [number for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) != signal.SIG_IGN]
            before = {number: signal.signal(number, self._take_signal) for number in numbers}
            before[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, self._stop)
        try:
            self._make_all()
        finally:
            self._end_all()
            for number, handler in before.items():
                signal.signal(number, handler)
            if sys.stderr.isatty():
                print('\r\033[K', end='', file=sys.stderr, flush=True)

    def _make_all(self) -> None:
        began, failed = time.monotonic(), 0
        for i, run in enumerate(self.due):
            if self.asked:
                return
            if self.session.is_settled(run.cell):
                continue
            self._show_progress(i, failed, began)
            row = self._make(i)
            failed += row is not None and row['status'] != DONE

    # --- one of them ---

    def _paths(self, i: int) -> Tuple[str, str]:
        """The files of its place for what it prints, and for its report."""
        place = f'.run.{i % self.width}' if self.width > 1 else '.run'
        return self.session.path(place + '.log') if self.width > 1 else self.session.path('.log'), self.session.path(place + '.json')

    def _begin(self, i: int, words: List[str]) -> None:
        """Has it go on, in a process that tells by its end whether the time was over (deploy/cli/for_study.c)."""
        log_path, report = self._paths(i)
        remove(report)
        is_simulated = self.matrix.simulates(self.due[i].cell)
        with open(log_path, 'ab' if self.width == 1 else 'wb') as log:
            process = os.fork()  # subprocess would wait until the program is there
            if process == 0:
                self._become([self.session.hdss, 'for-study', str(self.study.timeout_s), *words], log, is_simulated)
        self.going[i] = process
        if self.asked:  # a signal came before it was there
            self._send(signal.SIGTERM)

    @staticmethod
    def _become(words: List[str], log: BinaryIO, is_simulated: bool) -> NoReturn:
        try:
            os.setsid()
            os.dup2(os.open('/dev/null', os.O_RDONLY), 0)
            os.dup2(log.fileno(), 1)
            if is_simulated:
                os.dup2(log.fileno(), 2)
            os.execv(words[0], words)
        finally:
            os._exit(FAILED_STATUS)

    def _begin_ahead(self, i: int) -> None:
        while self.begun < len(self.due) and self.begun < i + self.width:
            self._begin(self.begun, self.session.line(self.due[self.begun], self._paths(self.begun)[1]))
            self.begun += 1

    def _make(self, i: int) -> Optional[Dict[str, str]]:
        """Its row; None where it was cut off."""
        run, report = self.due[i], self.session.path('.run.json')
        try:
            if self.width > 1:
                self._begin_ahead(i)
            words = self.session.line(run, report)
            calm = calm_row(not self.matrix.simulates(run.cell))  # time there is none of this machine
            trace = self._add_trace(run, words)
            begin = self.log.seek(0, os.SEEK_END)
            self.log.write(f'# hdss {quoted(words)}\n'.encode(errors='surrogateescape'))
            self.log.flush()
            if self.width == 1:
                self._begin(i, words)
            status = self._take(i)
        except OSError as error:
            raise Failure(f'a run cannot be made: {error.filename or self.session.hdss}: {error.strerror}') from None
        is_late, is_cut = status == -signal.SIGALRM, status == -signal.SIGTERM
        self.asked = self.asked or (is_cut and not self.matrix.simulates(run.cell))
        if is_cut and self.asked:
            remove(self._paths(i)[1])
            return None
        row = {'status': TIMEOUT if is_late else DONE if status == 0 else FAILED, 'reason': '' if status == 0 else self._reason(begin)}
        if is_late:
            row['reason'] = f'not done after {self.study.timeout_s} s'
        row.update(self.matrix.write(run), seed=str(self.study.seed), version=self.session.engine.version, commit=self.session.engine.commit)
        row.update(self.machine, **calm)
        self._take_report(self._paths(i)[1], report, row)
        if trace:
            row['trace'] = trace
        self.session.keep(run, row)
        return row

    def _add_trace(self, run: Run, words: List[str]) -> str:
        """Has the run leave a trace, under a name that no run has, in the folder of the study's traces: "masters-traces/7.csv", for the table. Workers alone
        leave none."""
        if not self.study.keeps_traces or is_dca(self.matrix.value(run.cell, 'masters')):
            return ''
        os.makedirs(self.session.path('-traces'), exist_ok=True)
        number = 1
        while os.path.exists(self.session.path(f'-traces/{number}.csv')):
            number += 1
        words[1:1] = ['--trace', self.session.path(f'-traces/{number}.csv')]
        return f'{self.session.name}-traces/{number}.csv'

    def _take(self, i: int) -> int:
        """Waits for its end. What it has printed goes into the study's log. Returns its status; below 0: the signal by which it has ended."""
        status = os.waitstatus_to_exitcode(os.waitpid(self.going[i], 0)[1])
        del self.going[i]
        if status < 0 and status not in (-signal.SIGALRM, -signal.SIGTERM):
            self._log(f'hdss: a process of the run was ended by {signal.Signals(-status).name}\n')
        elif status == -signal.SIGTERM and not self.asked and self.matrix.simulates(self.due[i].cell):
            self._log('hdss: a process of the run was ended by SIGTERM\n')
        if self.width > 1:
            log_path, _ = self._paths(i)
            with open(log_path, 'rb') as log:
                self.log.write(log.read())
            self.log.flush()
            remove(log_path)
        return status

    def _log(self, text: str) -> None:
        self.log.write(text.encode())
        self.log.flush()

    def _reason(self, begin: int) -> str:
        """The line that says last what is wrong; what was printed before the run began is not looked at."""
        self.log.seek(begin)
        reason, is_found = '', False
        for line in self.log.read().decode(errors='surrogateescape').split('\n'):
            is_ours = line.startswith(('hdss', 'supermaster', 'master', 'worker')) or ': failed: ' in line  # the last is that of a simulation
            if line and (is_ours or not is_found):
                is_found, reason = is_found or is_ours, line[:REASON_MAX]
        return reason

    def _take_report(self, path: str, name: str, row: Dict[str, str]) -> None:
        """Adds the report's scalars; the run has failed where there is none."""
        try:
            flatten(row, json.loads(read_file(path)), self.study.keeps_steps)
        except (OSError, ValueError, Refusal) as error:
            if row['status'] == DONE:
                why = f'{name}: {error.strerror}' if isinstance(error, OSError) else f'the report is no JSON: {error}'
                why = str(error) if isinstance(error, Refusal) else why
                row.update(status=FAILED, reason=why[:REASON_MAX])
        remove(path)

    def _end_all(self) -> None:
        """Ends what goes on ahead, and removes its files."""
        self._send(signal.SIGTERM)
        self._send(signal.SIGCONT)
        for process in self.going.values():
            os.waitpid(process, 0)
        self.going.clear()
        for i in range(self.width if self.width > 1 else 0):
            for path in self._paths(i):
                remove(path)

    def close(self) -> None:
        self.log.close()

    # --- how far it is ---

    def _show_progress(self, i: int, failed: int, began: float) -> None:
        """On a terminal one line that changes, elsewhere a line for each run."""
        left = _left((time.monotonic() - began) / i * (len(self.due) - i)) + ': ' if i > 0 else ''
        failures = f'{failed} failed, ' if failed else ''
        line = _text.plain(f'[{i + 1}/{len(self.due)}] {failures}{left}{self.matrix.describe(self.due[i].cell)}')
        if sys.stderr.isatty():
            try:
                columns = os.get_terminal_size(sys.stderr.fileno()).columns
            except OSError:
                columns = 0
            print(f'\r\033[K{line[:(columns if columns > 20 else 80) - 1]}', end='', file=sys.stderr, flush=True)
        else:
            print(line, file=sys.stderr, flush=True)


def _left(seconds: float) -> str:
    if seconds < 90:
        return f'about {seconds + 0.5:.0f} s left'
    return f'about {seconds / 60:.0f} min left' if seconds < 5400 else f'about {seconds / 3600:.1f} h left'
