# SPDX-License-Identifier: MIT
"""hdss report: a run as a page of HTML, or its Gantt chart as SVG, from its trace, the JSON of --report, or both.

The page is a template with the files put in as they are: its script computes the figures and draws the charts. deploy/cli/run_page.c puts them in
likewise for `hdss run --html`."""
from __future__ import annotations

import base64
import errno
import io
import json
import os
import stat
import zlib
from typing import Any, BinaryIO, Dict, Iterable, List, NamedTuple, Optional, Sequence

from hdss import _gantt
from hdss._command import DONE, FAILED, Command, Option, Refusal, any_file
from hdss._trace import ROW_MAX, Broken, Trace, open_trace

FILES_MAX = 3
ACCEPTED = 'a trace, a report, and a simulated report are accepted, one of each'
TEMPLATE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'report.html')
DEFLATED_FROM = 1 << 20  # bytes of a file; less is put in as it is


class Input(NamedTuple):
    """A file, and what it says."""
    name: str
    data: bytes
    value: Any


class Files:
    """All that the files tell; None: no such file."""

    def __init__(self, names: Sequence[str], wants_chunks: bool) -> None:
        self.trace: Optional[Input] = None
        self.report: Optional[Input] = None
        self.simulated: Optional[Input] = None
        for name in names:
            with open_trace(name) as file:
                self._take(name, file, wants_chunks)
        self._tell_apart()
        if self.report is not None:
            _check_report(self.report, self.trace)
        if self.simulated is not None:
            _check_report(self.simulated, None)

    def _take(self, name: str, file: BinaryIO, wants_chunks: bool) -> None:
        """A report begins with a brace; all else is taken for a trace, which says what is wrong with it."""
        data = file.read(1)
        if data != b'{':
            if self.trace is not None:
                raise Refusal(f'{name:.200}: a second trace; {ACCEPTED}')
            data += file.readline(ROW_MAX + 2)
            if data.startswith(b'kind,'):  # else it is refused, however much follows
                data += file.read()
            self.trace = Input(name, data, Trace(io.BytesIO(data), name, wants_chunks))
            return
        data += file.read()
        told = _read_json(name, data)
        place = 'simulated' if isinstance(told.get('simulated'), dict) else 'report'
        if getattr(self, place) is not None:
            raise Refusal(f'{name:.200}: a second {"simulated report" if place == "simulated" else "report"}; {ACCEPTED}')
        setattr(self, place, Input(name, data, told))

    def _tell_apart(self) -> None:
        """A simulated report is a prediction beside the trace or the report of a run; else it is the run that is to be shown. A trace is of a
        simulation if it has no time of day."""
        is_simulated_trace = self.trace is not None and 'origin' not in self.trace.value.facts
        if self.simulated is None:
            return
        if self.report is not None and self.trace is not None and is_simulated_trace:
            raise Refusal(f'{self.trace.name:.200}: the trace is of a simulation; beside a report and a simulated report the trace of the run is accepted')
        if self.report is None and (self.trace is None or is_simulated_trace):
            self.report, self.simulated = self.simulated, None

    def title(self) -> str:
        """As the page has it: "mandelbrot by gss, 4 workers"."""
        told = self.report.value if self.report is not None else {}
        facts = self.trace.value.facts if self.trace is not None else {}
        names = [_name_in(told.get(key)) or facts.get(key) for key in ('kernel', 'technique')]
        workers = len(self.trace.value.workers) if self.trace is not None else len(told['worker_stats'])
        return (names[0] or 'a loop') + (f' by {names[1]}' if names[1] is not None else '') + f', {workers:,} worker{"" if workers == 1 else "s"}'


def _name_in(value: Any) -> Optional[str]:
    name = value.get('name') if isinstance(value, dict) else None
    return name if isinstance(name, str) else None


def _read_json(name: str, data: bytes) -> Dict[str, Any]:
    try:
        told = json.loads(data.decode('utf-8'), parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise Refusal(f'{name:.200}:{error.lineno}: {error.msg}') from None
    except (ValueError, RecursionError) as error:  # bytes that are no UTF-8, a number of more digits than Python takes
        raise Refusal(f'{name:.200}: it is no JSON: {error}') from None
    return told if isinstance(told, dict) else {}


def _refuse_constant(name: str) -> None:
    raise ValueError(f'{name} is no number')  # of which the script of the page could make nothing


def _check_report(report: Input, trace: Optional[Input]) -> None:
    """Refuses what is no report, and one of another run than the trace."""
    stats = report.value.get('worker_stats')
    if not isinstance(report.value.get('hdss'), str) or not isinstance(stats, list):
        raise Refusal(f'{report.name:.150}: it is no report of a run: it has no "hdss" and no "worker_stats"')
    ranks = [told.get('rank') if isinstance(told, dict) else None for told in stats]
    known = None if trace is None else {worker.rank for worker in trace.value.workers}
    if known is not None and len(known) != len(ranks):
        raise Refusal(f'{report.name:.150}: it tells of {len(ranks)} workers, and the trace of {len(known)}: they are of different runs')
    for rank in ranks:
        if not isinstance(rank, int) or isinstance(rank, bool) or rank < 0:
            raise Refusal(f'{report.name:.150}: an entry of "worker_stats" has no rank')
        if known is not None and rank not in known:
            raise Refusal(f'{report.name:.150}: it tells of worker {rank}, which the trace does not know: they are of different runs')


# --- output ---

def _check_written(option: str, path: str, names: Sequence[str]) -> None:
    """Refuses a file that cannot be written, or is one of those to be read."""
    for name in names:
        if os.path.exists(path) and os.path.exists(name) and os.path.samefile(path, name):
            raise Refusal(f'{option} {path:.200} is the file to be read; another name is accepted')
    if os.path.isdir(path):
        raise Refusal(f'{path:.180}: it is a folder; accepted: the name of a file, such as {os.path.join(path, "NAME"):.180}')
    if _is_written_in_place(path):
        if not os.access(path, os.W_OK) and os.path.exists(path):
            raise Refusal(f'{path:.200}: Permission denied')
        return
    try:
        os.lstat(f'{path}.tmp')
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise Refusal(f'{path:.200}: {error.strerror}') from None
    folder = os.path.dirname(path) or '.'
    if not os.path.exists(folder):
        raise Refusal(f'{path:.130}: there is no folder {folder:.130}; `mkdir -p {folder:.130}` makes it')
    if not os.path.isdir(folder):
        raise Refusal(f'{path:.180}: {folder:.180} is not a folder')
    if not os.access(folder, os.W_OK | os.X_OK):
        raise Refusal(f'{path:.150}: cannot be made in the folder {folder:.150}: Permission denied')


def _is_written_in_place(path: str) -> bool:
    """True for a device, a pipe or a link; a file is written under another name first."""
    try:
        return not stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def _write(path: str, pieces: Iterable[bytes]) -> None:
    in_place = _is_written_in_place(path)
    name = path if in_place else f'{path}.tmp'
    try:
        if not in_place and os.path.lexists(name):
            os.unlink(name)
        with open(name, 'wb' if in_place else 'xb') as file:
            file.writelines(pieces)
        if not in_place:
            os.rename(name, path)
    except OSError as error:
        if not in_place and os.path.isfile(name):
            os.unlink(name)
        raise OSError(error.errno, error.strerror, path) from None


def _put_in(found: Optional[Input]) -> bytes:
    if found is None:
        return b''
    return base64.b64encode(found.data if len(found.data) < DEFLATED_FROM else zlib.compress(found.data, 1))


def page(files: Files, name: str) -> List[bytes]:
    """The page in pieces; `name` is what it says that it is made from."""
    with open(TEMPLATE, encoding='utf-8') as file:
        template = file.read()
    inside = {'name': _gantt.markup(name).encode('utf-8', 'replace'), 'trace': _put_in(files.trace), 'report': _put_in(files.report),
              'simulated': _put_in(files.simulated)}
    pieces = [piece.partition('}}') for piece in template.split('{{')]
    return [pieces[0][0].encode('utf-8')] + [data for key, _, text in pieces[1:] for data in (inside[key], text.encode('utf-8'))]


# --- the command ---

COMMAND = Command(
    'report', 'FILE...',
    'Shows a run: which worker computed what and when, the chunk sizes, the finishing times, events such as losses, and the figures. FILE is the trace of '
    'the run, its --report, or both of the same run; a --report of hdss simulate beside these shows what was predicted. The page is one file, and needs only '
    'a browser.',
    (Option('html', 'write a page with charts, figures and tables', 'FILE.html', 'the name of a file'),
     Option('svg', 'write only the Gantt chart, for a paper', 'FILE.svg', 'the name of a file')),
    ('Example:', '    hdss report trace.csv run.json --html run.html\n    hdss report run.json simulated.json --html run.html\n'
     '    hdss report trace.csv --svg gantt.svg'),
    any_file, 'FILE... --html FILE.html | --svg FILE.svg')


def _run(values: Dict[str, Any], operands: List[str]) -> int:
    if len(operands) > FILES_MAX:
        raise Refusal(f"'{operands[FILES_MAX]:.100}' is one argument too many: {ACCEPTED}")
    if not operands:
        raise Refusal('no file is given: hdss report TRACE.csv --html RUN.html')
    if not values:
        raise Refusal(f'nothing is to be written; type: hdss report {" ".join(operands):.200} --html FILE.html, or --svg FILE.svg')
    for option in ('html', 'svg'):
        if values.get(option) == '':
            raise Refusal(f'--{option}: the file name is empty')
        if option in values:
            _check_written(f'--{option}', values[option], operands)
    try:
        files = Files(operands, 'svg' in values)
    except Broken as broken:
        raise Refusal(str(broken)) from None
    except OSError as error:
        raise Refusal(f'{error.filename or operands[0]}: {error.strerror}') from None
    if 'svg' in values and files.trace is None:
        raise Refusal(f'--svg needs a trace: {operands[0]:.200} is a report, which does not tell of single chunks')
    try:
        if 'html' in values:
            _write(values['html'], page(files, operands[0]))
        if files.trace is not None and 'svg' in values:
            _write(values['svg'], [_gantt.svg(files.trace.value, files.title()).encode('utf-8', 'replace')])
    except BrokenPipeError:  # who reads the page has had enough
        return FAILED
    except OSError as error:
        COMMAND.say(f'{error.filename or values.get("html") or values.get("svg")}: {error.strerror}')
        return FAILED
    return DONE


def main(words: Sequence[str], version: str) -> int:
    return COMMAND.main(words, version, _run)
