# SPDX-License-Identifier: MIT
"""hdss study: runs the matrix that a file describes, and makes of it a table of all runs, a report and pictures."""
from __future__ import annotations

import io
import os
import sys
from typing import Any, Dict, List, Optional, Sequence

from hdss import _study_plot, _text
from hdss._command import DONE, FAILED, Command, Option, Refusal, any_file
from hdss._program import program
from hdss._study_plan import AXIS_NAMES, MEASURE_NAMES, OTHER_KEYS
from hdss._study_report import Figures, Report
from hdss._study_runs import Failure, Runs, Session, quoted, write_file
from hdss._study_summary import Steps, Summary, json_text

SOME_FAILED, STOPPED = 3, 4


def _folder(path: str) -> str:
    if not os.path.isdir(path):
        raise ValueError
    return path


COMMAND = Command(
    'study', 'FILE',
    'Runs the matrix of jobs that FILE describes, and writes a table of all runs (NAME.csv), a report (NAME.md), its figures for programs (NAME-cells.csv, '
    'NAME-cells.json) and pictures (NAME-*.svg, NAME-*.png). NAME is FILE without its ending. Runs that are in the table are not run again: after Ctrl-C the '
    'same command continues the study.',
    (Option('folder', "keep the study's files in this folder (default: the current folder)", 'FOLDER', 'a folder that exists', _folder),
     Option('retry-failed', 'run again the runs that failed'),
     Option('report-only', 'run nothing: make the report and the pictures of the runs that exist'),
     Option('dry-run', 'print the commands of the runs to come, and run nothing')),
    ('FILE has lines KEY = VALUE ..., and comments after #. All combinations of values of these axes are run; each kernel has a line with its parameters:',
     '    ' + AXIS_NAMES,
     'These keys are no axes; topology is central, hierarchical, dca-rma, dca-two-sided or dca-node (default: by the number of masters):', '    ' + OTHER_KEYS,
     'These are the values of measure, each of which makes tables and pictures:', '    ' + MEASURE_NAMES, 'Example of a FILE:',
     '    kernel = mandelbrot width=1024 height=1024\n    technique = dtss dfss dgss\n    masters = 0 1 2\n    workers = 1 2 4\n    repetitions = 3',
     'Exit status: 0 done, 1 failed, 2 wrong use, 3 done but some runs failed, 4 stopped by a signal.'),
    any_file, '[OPTION]... FILE')


def make_report(session: Session, summary: Summary, say: Any) -> Report:
    """Writes the report, the figures of the cells and of the time steps, and the pictures. Without matplotlib there are none, and one line says so. Raises
    Failure."""
    figures = Figures(summary)
    steps = Steps(summary) if session.study.keeps_steps else None
    why = _study_plot.missing()
    if why:
        say(f'no pictures are drawn: {why}')
    report = Report(session.name, session.file, summary, session.table, figures, steps, not why)
    write_file(session.path('.md'), report.page())
    write_file(session.path('-cells.csv'), summary.cells_table().text())
    write_file(session.path('-cells.json'), json_text(summary.cells_data()))
    if steps is not None:
        write_file(session.path('-steps.csv'), steps.table().text())
    if not why:
        try:
            _study_plot.draw_all(figures, steps, session.path('-'), f'hdss study {os.path.basename(session.file)}')
        except OSError as error:
            raise Failure(f'{error.filename}: {error.strerror}') from None
    return report


def _finish(session: Session, is_asked: bool) -> int:
    summary = Summary(session.matrix, session.table)
    report = make_report(session, summary, COMMAND.say)
    text = report.maps() + _text.shown(f'{session.path(".md")}: {summary.done} of {summary.done + summary.failed + summary.to_come} runs are done, '
                                       f'{summary.failed} failed') + '\n'
    status = COMMAND.write(text + ('ended by a signal; the same command goes on\n' if is_asked else ''))
    return status or (STOPPED if is_asked else SOME_FAILED if summary.failed else DONE)


def _conduct(session: Session, values: Dict[str, Any]) -> int:
    if 'dry-run' in values:
        return COMMAND.write(''.join(f'hdss {quoted(session.line(run, session.path(".run.json")))}\n' for run in session.due()))
    if 'report-only' in values:
        return _finish(session, False)
    runs = Runs(session)
    try:
        runs.make()
    finally:
        runs.close()
    return _finish(session, runs.asked)


def run(values: Dict[str, Any], operands: List[str]) -> int:
    if not operands:
        raise Refusal('no study file is given: hdss study FILE')
    if len(operands) > 1:
        raise Refusal(f"'{operands[1]:.200}' is one argument too many: one study file is accepted")
    session = Session(operands[0], values.get('folder', '.'), program(), 'retry-failed' in values)
    try:
        return _conduct(session, values)
    except Failure as failure:
        COMMAND.say(str(failure))
        return FAILED
    finally:
        session.close()


def main(words: Sequence[str], version: Optional[str] = None) -> int:
    """Runs the command. Returns its exit status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding='utf-8', errors='surrogateescape')
    return COMMAND.main(words, version or '', run)
