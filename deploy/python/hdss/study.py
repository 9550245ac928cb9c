# SPDX-License-Identifier: MIT
"""Studies in Python: the runs of a study file, and what came of them.

    from hdss import study

    masters = study.Study('masters.study')
    masters.run()                      # what `hdss study masters.study` does
    for cell in masters.cells():
        print(cell['axes']['technique'], cell['measures']['time']['median'])

hdss-study(1) describes study files and the tables. Errors are HdssError, whose text says in one line what is wrong.
"""
from __future__ import annotations

import contextlib
from typing import Any, Dict, Iterator, List

from hdss import _study
from hdss._command import Refusal
from hdss._errors import HdssError
from hdss._program import program
from hdss._study_runs import Failure, Runs, Session, quoted
from hdss._study_summary import Summary

__all__ = ['Study']


class Study:
    """The study of the file `file`, whose table, report and pictures are in the folder `folder`. Each method reads the file and the table anew."""

    def __init__(self, file: str, folder: str = '.') -> None:
        self.file, self.folder = file, folder
        with self._session():  # to say what is wrong with the file
            pass

    @contextlib.contextmanager
    def _session(self, retries: bool = False) -> Iterator[Session]:
        try:
            with contextlib.closing(Session(self.file, self.folder, program(), retries)) as session:
                yield session
        except (Refusal, Failure) as error:
            raise HdssError(str(error)) from None

    def due(self, retry_failed: bool = False) -> List[str]:
        """The lines of hdss that are due, in their order."""
        with self._session(retry_failed) as session:
            return [f'hdss {quoted(session.line(run, session.path(".run.json")))}' for run in session.due()]

    def run(self, retry_failed: bool = False) -> None:
        """Makes the runs that are due, also those that have failed before with `retry_failed`, then the report and the pictures. What is done stays done where
        Ctrl-C ends it with KeyboardInterrupt: another run() goes on."""
        with self._session(retry_failed) as session:
            with contextlib.closing(Runs(session)) as runs:
                runs.make()
            _study.make_report(session, Summary(session.matrix, session.table), _study.COMMAND.say)
            if runs.asked:
                raise KeyboardInterrupt

    def rows(self) -> List[Dict[str, str]]:
        """The table of runs: a row for each, texts by the names of their columns."""
        with self._session() as session:
            return [{column: row.get(column, '') for column in session.table.columns} for row in session.table.rows]

    def cells(self) -> List[Dict[str, Any]]:
        """The figures of each cell, as they are in NAME-cells.json: its values on the axes, its runs, each measure with its median, interval of confidence and
        quartiles, and how its loop time differs from another one's."""
        with self._session() as session:
            cells: List[Dict[str, Any]] = Summary(session.matrix, session.table).cells_data()['cells']
            return cells
