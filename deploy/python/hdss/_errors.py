# SPDX-License-Identifier: MIT
"""The exceptions of the package, and how an exception of a worker comes back."""
from __future__ import annotations

import concurrent.futures
import traceback
from typing import Optional


class HdssError(Exception):
    """What HDSS refuses or cannot do, in one line."""

    __module__ = 'hdss'


class SetLost(HdssError, concurrent.futures.BrokenExecutor):
    """The set of daemons has ended, or cannot be reached, before what it was given was done."""

    __module__ = 'hdss'


class CallDied(HdssError):
    """A call was given up: the process that ran it died, or was ended as it took too long, each time that it was tried."""

    __module__ = 'hdss'


class JobFailed(HdssError):
    """A job has ended with iterations that failed, was cancelled, or was refused."""

    __module__ = 'hdss'


class NotPicklable(HdssError):
    """An exception or a result of a worker could not be pickled; the text says what it was."""

    __module__ = 'hdss'


class RemoteTraceback(Exception):
    """The cause of an exception that a call has raised: the traceback in the worker, as text in `tb`, as that of a pool of
    processes has it."""

    def __init__(self, tb: str) -> None:
        super().__init__(tb)
        self.tb = tb

    def __str__(self) -> str:
        return f'\n"""\n{self.tb}"""'


def remote_text(error: BaseException) -> str:
    """The traceback of an exception, as text."""
    return ''.join(traceback.format_exception(type(error), error, error.__traceback__))


def with_cause(error: BaseException, text: Optional[str]) -> BaseException:
    """The exception, with the traceback of the worker as its cause."""
    if text is not None:
        error.__cause__ = RemoteTraceback(text)
    return error
