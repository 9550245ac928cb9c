# SPDX-License-Identifier: MIT
"""Runs and sets of this user on this machine, as commands ask them: a connection to each, and the one that a word names."""
from __future__ import annotations

import os
import socket
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

from hdss import _control
from hdss._command import Refusal
from hdss._errors import HdssError, SetLost

ANSWER_S, SILENT_S, FIND_S = 1.0, 0.1, 10.0
WAITING_MAX = 100   # jobs that wait and are listed, of each set


class Gone(Exception):
    """Nobody listens, or the run or set has ended meanwhile."""


class Silent(Exception):
    """Somebody listens, and has not answered in time."""


class Refused(Exception):
    """It has answered with an error, or with what is none of ours."""


def sessions() -> Dict[str, str]:
    """The socket of each session by its name; if two folders have one of a name, the first."""
    return dict(reversed(list(_control.sockets())))


class Line:
    """A session, and the connection to it. One that has not answered is waited for only shortly the next time, so that it does not hold up the others."""

    def __init__(self, name: str, path: str, timeout: float = ANSWER_S) -> None:
        self.name, self.path, self.is_set = name, path, _control.is_set(name)
        self.timeout = timeout
        self.control = _control.Control(path, timeout)
        self.has_answered = False
        self.over: Any = None  # the answer about the jobs that are over
        self.over_count = 0.0  # jobs that were over then

    def close(self) -> None:
        self.control.close()

    def _wait(self, timeout: float) -> None:
        """Sets how long the next answer is waited for."""
        if timeout != self.timeout:
            self.control.close()
            self.control, self.timeout = _control.Control(self.path, timeout), timeout

    def ask(self, target: str, method: str = 'GET') -> Dict[str, Any]:
        """Raises Gone, Silent or Refused. A connection that has ended since the last question is made anew."""
        for is_last in (False, True):
            try:
                answer = self.control.ask(method, target)
            except SetLost as lost:
                if isinstance(lost.__cause__, (ConnectionRefusedError, FileNotFoundError)) or (is_last and isinstance(lost.__cause__, ConnectionError)):
                    raise Gone from None
                if not isinstance(lost.__cause__, ConnectionError):
                    self._wait(SILENT_S)
                    raise Silent from None
            except _control.Refused as refusal:
                raise Refused(str(refusal)) from None
            except (ValueError, RecursionError):
                self.control.close()
                break
            else:
                self._wait(ANSWER_S)
                if isinstance(answer, dict):
                    return answer
                break
        raise Refused('its answer is no JSON')


# --- what the user has named ---

def only_word(operands: Sequence[str]) -> Optional[str]:
    """The word with which a set or a job is named, if there is one. Refusal if there are more."""
    if len(operands) > 1:
        raise Refusal(f"'{operands[1]:.60}' is one word too many; accepted: one set or one ID")
    return operands[0] if operands else None


def find(word: str) -> Tuple[str, str]:
    """(session, ID) of the set or the job; the ID is empty for a set. Refusal where there is none."""
    there = sessions()
    if _control.is_set(word) and word in there:
        return word, ''
    name, slash, number = word.rpartition('/')
    if slash:
        if not _control.is_set(name) or name not in there:
            raise Refusal(f"'{name:.60}' is no set of yours on this machine; `hdss jobs` shows those that are up")
        return _job_of_set(name, there[name], number)
    runs = [one for one in there if one.startswith('run-') and is_served(there[one])]
    path = _set_that_is_meant()
    if path is not None and not word.startswith('run-'):
        try:
            return _job_of_set(os.path.basename(path)[:-len(_control.ENDING)], path, word)
        except Refusal:
            if not any(one.startswith((word, f'run-{word}')) for one in runs):
                raise
    found = [one for one in runs if word in (one, one[4:])] or [one for one in runs if word and one.startswith((word, f'run-{word}'))]
    if len(found) == 1:
        return found[0], found[0]
    if found:
        raise Refusal(f"'{word:.60}' is how {len(found)} of them begin; `hdss jobs` lists them")
    raise Refusal(f"'{word:.60}' is no run of yours on this machine; `hdss jobs` lists those that are there")


def find_only() -> Tuple[str, str]:
    """As find() if no word is given: the set that is meant, or else the only job that goes on."""
    path = _set_that_is_meant()
    if path is not None:
        return os.path.basename(path)[:-len(_control.ENDING)], ''
    alive = list(jobs())
    if not alive:
        raise Refusal('no run or job of yours goes on on this machine')
    if len(alive) > 1:
        raise Refusal(f'{len(alive)} {"jobs" if any("/" in job for job in alive) else "runs"} are there: say which; `hdss jobs` lists them')
    return alive[0].rpartition('/')[0] or alive[0], alive[0]


def _set_that_is_meant() -> Optional[str]:
    try:
        return _control.find()
    except HdssError:
        return None


def is_served(path: str) -> bool:
    """True where somebody listens, or could: a full queue of clients is an answer, too."""
    with socket.socket(socket.AF_UNIX) as client:
        client.setblocking(False)
        try:
            client.connect(path)
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError:
            pass
        return True


def _job_of_set(name: str, path: str, word: str) -> Tuple[str, str]:
    """The job of this number, or of this name: that which is not over, or else the latest."""
    if word.isascii() and word.isdigit() and int(word) > 0:
        return _ask_for_job(name, path, int(word))
    line = Line(name, path, FIND_S)
    named: List[Dict[str, Any]] = []
    try:
        start: Optional[int] = 0
        while start is not None:
            answer = line.ask(f'/v1/jobs?from={start}')
            named += [job for job in answer['jobs'] if job['name'] == word]
            start = answer['next']
    except (Gone, Silent, Refused, KeyError) as problem:
        raise Refusal(f'the set {name} does not say which jobs it has: {problem}') from None
    finally:
        line.close()
    alive = [job for job in named if job['status'] is None]
    if len(alive) > 1:
        raise Refusal(f"{len(alive)} jobs of the set {name} that are not over have the name '{word:.60}'; `hdss jobs` has their IDs")
    if not named:
        raise Refusal(f"'{word:.60}' is neither the ID nor the name of a job of the set {name}; `hdss jobs --all` lists them")
    return name, f'{name}/{(alive or named)[-1]["id"]}'


def _ask_for_job(name: str, path: str, number: int) -> Tuple[str, str]:
    line = Line(name, path, FIND_S)
    try:
        line.ask(f'/v1/jobs/{number}')
    except Gone:
        raise Refusal(f'the set {name} was lost; `hdss up --resume` goes on with its jobs') from None
    except Silent:
        raise Refusal(f'{name}/{number}: it does not answer') from None
    except Refused as refusal:
        raise Refusal(f'{name}/{number}: {refusal}') from None
    finally:
        line.close()
    return name, f'{name}/{number}'


def jobs() -> Iterator[str]:
    """The IDs of runs, and of the jobs of sets that are not over. A set that does not answer has none."""
    for name, path in sorted(sessions().items()):
        if name.startswith(_control.OWN) or not is_served(path):
            continue
        if not _control.is_set(name):
            yield name
            continue
        line = Line(name, path)
        try:
            for state in ('running', f'waiting&limit={WAITING_MAX}'):
                yield from (f'{name}/{job["id"]}' for job in line.ask(f'/v1/jobs?state={state}').get('jobs', ()))
        except (Gone, Silent, Refused):
            pass
        finally:
            line.close()


def sessions_and_jobs() -> Iterator[str]:
    """What find() takes."""
    yield from (name for name, path in _control.sockets() if _control.is_set(name) and is_served(path))
    yield from jobs()
