# SPDX-License-Identifier: MIT
"""The control socket of a set: HTTP over a Unix socket, with JSON. What is asked and answered is in docs/CONTROL.md."""
from __future__ import annotations

import http.client
import json
import os
import re
import socket
import stat
import time
from typing import Any, Dict, Iterator, List, Optional, Tuple

from hdss._errors import HdssError, SetLost

ENDING = '.sock'
OWN = 'own-'  # begins the names of sets that belong to a program, which are found by nobody who does not say their name
NAME = re.compile(r'(?!run-)\w[\w.-]{0,39}', re.ASCII)
IDLE_S = 45.0  # a connection that was quiet for so long may be closed by the other side, and is not used again


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float) -> None:
        super().__init__('hdss', timeout=timeout)
        self.path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Refused(HdssError):
    """A request was answered by a status of 400 or above."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class Control:
    """A connection to the control socket at `path`. For one thread at a time; a connection that is gone is made anew."""

    def __init__(self, path: str, timeout: float = 60.0) -> None:
        self.path = path
        self._connection = _UnixConnection(path, timeout)
        self._used = 0.0

    def close(self) -> None:
        self._connection.close()

    def _request(self, method: str, path: str, body: Optional[str]) -> Tuple[int, bytes]:
        if time.monotonic() - self._used > IDLE_S:
            self._connection.close()
        self._connection.request(method, path, body)
        answer = self._connection.getresponse()
        data = answer.read()
        self._used = time.monotonic()
        return answer.status, data

    def ask_bytes(self, method: str, path: str, body: Any = None) -> bytes:
        """The body of the answer. SetLost where nobody answers; Refused where the answer is an error."""
        text = None if body is None else json.dumps(body)
        try:
            status, data = self._request(method, path, text)
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            self._used = 0.0
            raise SetLost(f'the set at {self.path} does not answer: {error or type(error).__name__}') from error
        if status >= 400:
            try:
                said = json.loads(data)['error']
            except (ValueError, KeyError, TypeError):
                said = f'the set answers {status}'
            raise Refused(status, said)
        return data

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The answer, which is JSON. Raises as ask_bytes()."""
        return json.loads(self.ask_bytes(method, path, body))


def environment_words(values: Dict[str, str]) -> List[str]:
    """An environment as a job has it; what is no text in UTF-8 is left out, as JSON cannot have it."""
    words = [f'{name}={value}' for name, value in values.items()]
    return [word for word in words if _is_utf8(word)]


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


# --- finding sets ---

def folders() -> List[str]:
    """The folders in which control sockets of this user can be, as common/control/socket.c has them."""
    only, runtime, temporary = (os.environ.get(name) for name in ('HDSS_CONTROL_DIR', 'XDG_RUNTIME_DIR', 'TMPDIR'))
    own = f'hdss-{os.geteuid()}'
    if only is not None:
        return [os.path.join(only, own)] if only.startswith('/') else []
    found = []
    try:
        if runtime is not None and os.stat(runtime).st_uid == os.geteuid():
            found.append(os.path.join(runtime, 'hdss'))
    except OSError:
        pass
    found += [os.path.join(base, own) for base in (temporary, '/tmp') if base and base.startswith('/')]
    return list(dict.fromkeys(found))


def _is_own_folder(path: str) -> bool:
    """True for a folder that only this user can enter: somebody else's sockets are not used."""
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and status.st_mode & 0o077 == 0


def _sockets() -> Iterator[Tuple[str, str]]:
    """(name, path) of the sockets of sets."""
    for folder in folders():
        if not _is_own_folder(folder):
            continue
        for file in sorted(os.listdir(folder)):
            name = file[:-len(ENDING)]
            if file.endswith(ENDING) and NAME.fullmatch(name):
                yield name, os.path.join(folder, file)


def session_of(path: str) -> Optional[Dict[str, Any]]:
    """What the set at this socket says of itself; None where nobody answers."""
    control = Control(path, timeout=10)
    try:
        session: Dict[str, Any] = control.ask('GET', '/v1')
        return session
    except HdssError:
        return None
    finally:
        control.close()


def batch_name() -> Optional[str]:
    """The ID of the batch job in which this process runs, as a name; None outside of one."""
    for variable in ('SLURM_JOB_ID', 'PBS_JOBID', 'LSB_JOBID'):
        job = re.match(r'\w[\w.]{0,39}', os.environ.get(variable, ''), re.ASCII)
        if job is not None:
            return job.group()
    return None


def find(name: Optional[str] = None) -> Optional[str]:
    """The socket of the set of that name; else of HDSS_SET, of the batch job, or of the only one that is up. None where
    there is no set; HdssError where the name is of none, or where several are up."""
    wanted = name or os.environ.get('HDSS_SET')
    all_of_them = list(_sockets())
    named = dict(reversed(all_of_them))
    if wanted:
        if wanted not in named:
            raise HdssError(f"{'' if name else 'HDSS_SET: '}'{wanted}' is no set of yours on this machine; `hdss jobs` shows those that are up")
        return named[wanted]
    batch = batch_name()
    if batch in named:
        return named[batch]
    answering = [(name, path) for name, path in all_of_them if not name.startswith(OWN) and session_of(path) is not None]
    if len(answering) > 1:
        names = ', '.join(name for name, _ in answering)
        raise HdssError(f'{len(answering)} sets are up: {names}; say which by set= or HDSS_SET')
    return answering[0][1] if answering else None
