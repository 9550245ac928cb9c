# SPDX-License-Identifier: MIT
"""The control socket of a set: HTTP over a Unix socket, with JSON. What is asked and answered is in docs/CONTROL.md."""
from __future__ import annotations

import json
import os
import re
import socket
import stat
import time
from typing import Any, BinaryIO, Dict, Iterator, List, Optional, Tuple

from hdss._errors import HdssError, SetLost

ENDING = '.sock'
OWN = 'own-'  # begins the names of sets that belong to a program, which are found by nobody who does not say their name
NAME = re.compile(r'(?!run-)\w[\w.-]{0,39}', re.ASCII)
LINE_MAX, FIELDS_MAX = 1 << 16, 100  # of the head of an answer
NO_BODY = (204, 304)
TRY_S = 0.005  # between two attempts to connect
IDLE_S = 45.0  # a connection that was quiet for so long may be closed by the other side, and is not used again


class _Connection:
    """HTTP/1.1 over a Unix socket, as far as a set speaks it: an answer says its length, or ends with the connection. An
    executor asks once for each call that takes long; http.client would take longer than all else that it does for the call."""

    def __init__(self, path: str, timeout: float) -> None:
        self._path, self._timeout = path, timeout
        self._socket: Optional[socket.socket] = None
        self._file: Optional[BinaryIO] = None
        self._ended = False
        self.unanswered = 0  # of what tell() has sent

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
        if self._socket is not None:
            self._socket.close()
        self._socket = self._file = None
        self.unanswered = 0

    def end(self) -> None:
        """Called by any thread: the request that waits for its answer, or the next one, ends with OSError."""
        self._ended = True
        made = self._socket
        try:
            if made is not None:
                made.shutdown(socket.SHUT_RDWR)
        except OSError:  # it has gone by itself
            pass

    def _try_to_connect(self, made: socket.socket) -> bool:
        """False where more clients wait than the other end has room for."""
        try:
            made.connect(self._path)
        except BlockingIOError:
            return False
        return True

    def _connect(self) -> Tuple[socket.socket, BinaryIO]:
        made = socket.socket(socket.AF_UNIX)
        made.settimeout(self._timeout)
        until = time.monotonic() + self._timeout
        try:
            while not self._try_to_connect(made) and not self._ended:
                if time.monotonic() >= until:
                    raise TimeoutError('it accepts no connection')
                time.sleep(TRY_S)
        except OSError:
            made.close()
            raise
        self._socket, self._file = made, made.makefile('rb')
        if self._ended:  # end() sets it before it looks for the socket: where it has found none, this is seen here
            raise ConnectionError('nothing more is asked')
        return self._socket, self._file

    def send(self, method: str, path: str, body: Optional[str]) -> None:
        if self._socket is None:
            self._connect()
        assert self._socket is not None
        data = b'' if body is None else body.encode()
        length = f'Content-Length: {len(data)}\r\n' if body is not None or method == 'POST' else ''
        self._socket.sendall(f'{method} {path} HTTP/1.1\r\nHost: hdss\r\n{length}\r\n'.encode('ascii') + data)

    def is_in_order(self) -> bool:
        """Takes the answers that are there to what tell() has sent. False if one is an error, or the connection has ended."""
        if self._socket is None or self.unanswered == 0:
            return True
        try:
            answers = os.read(self._socket.fileno(), 1 << 16)
        except BlockingIOError:
            return True
        except OSError:
            return False
        self.unanswered -= answers.count(b'HTTP/1.1 ')
        return 0 < answers.count(b'HTTP/1.1 ') == answers.count(b'HTTP/1.1 200 ')

    def request(self, method: str, path: str, body: Optional[str]) -> Tuple[int, bytes]:
        """The status and the body of the answer. OSError where there is none; the connection cannot be used again then."""
        self.send(method, path, body)
        assert self._file is not None
        status, fields = _read_head(self._file)
        if b'transfer-encoding' in fields:
            raise ConnectionError('its answer is in pieces')
        if b'content-length' not in fields and status not in NO_BODY:
            answer = self._file.read()
            self.close()
            return status, answer
        wanted = int(fields.get(b'content-length', b'0'))
        answer = self._file.read(wanted)
        if len(answer) < wanted:
            raise ConnectionError('its answer is cut off')
        if fields.get(b'connection', b'').lower() == b'close':
            self.close()
        return status, answer


def _read_head(file: BinaryIO) -> Tuple[int, Dict[bytes, bytes]]:
    """The status of an answer, and the fields of its head by their names in small letters."""
    words = file.readline(LINE_MAX).split(None, 2)
    if len(words) < 2 or not words[0].startswith(b'HTTP/1.') or not words[1].isdigit():
        raise ConnectionError('it has closed the connection' if not words else 'its answer is no HTTP')
    fields: Dict[bytes, bytes] = {}
    while True:
        line = file.readline(LINE_MAX)
        if line in (b'\r\n', b'\n'):
            return int(words[1]), fields
        name, colon, value = line.partition(b':')
        if not colon or not line.endswith(b'\n') or len(fields) >= FIELDS_MAX:
            raise ConnectionError('the head of its answer is cut off')
        fields[name.strip().lower()] = value.strip()


class Refused(HdssError):
    """A request was answered by a status of 400 or above."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class Control:
    """A connection to the control socket at `path`. For one thread at a time; a connection that is gone is made anew."""

    def __init__(self, path: str, timeout: float = 60.0) -> None:
        self.path = path
        self._connection = _Connection(path, timeout)
        self._used = 0.0

    def close(self) -> None:
        self._connection.close()

    def end(self) -> None:
        """Called by any thread: what another thread asks here, now or later, ends with SetLost at once."""
        self._connection.end()

    def _request(self, method: str, path: str, body: Optional[str]) -> Tuple[int, bytes]:
        if time.monotonic() - self._used > IDLE_S:
            self._connection.close()
        answer = self._connection.request(method, path, body)
        self._used = time.monotonic()
        return answer

    def tell(self, path: str, body: str) -> None:
        """Posts something without waiting for the answer, which is_in_order() looks at. It has to bear being told again."""
        if time.monotonic() - self._used > IDLE_S:
            self._connection.close()
        self._used = time.monotonic()
        self._connection.unanswered += 1
        self._connection.send('POST', path, body)

    def is_in_order(self) -> bool:
        """False if something that was told may not have been done."""
        return self._connection.is_in_order()

    def ask_bytes(self, method: str, path: str, body: Any = None) -> bytes:
        """The body of the answer. SetLost where nobody answers; Refused where the answer is an error."""
        text = None if body is None else json.dumps(body)
        try:
            status, data = self._request(method, path, text)
        except OSError as error:
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


def sockets() -> Iterator[Tuple[str, str]]:
    """(name, path) of the sockets of runs and sets, whether somebody listens or not."""
    for folder in folders():
        if not _is_own_folder(folder):
            continue
        try:
            files = sorted(os.listdir(folder))
        except OSError:  # the last one has gone, and the folder with it
            continue
        for file in files:
            path = os.path.join(folder, file)
            if file.endswith(ENDING) and not file.startswith('.') and _is_socket(path):
                yield file[:-len(ENDING)], path


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.lstat(path).st_mode)
    except OSError:
        return False


def is_set(name: str) -> bool:
    """True for the name of a set, False for that of a run."""
    return NAME.fullmatch(name) is not None


def _sets() -> List[Tuple[str, str]]:
    """(name, path) of the sockets of sets."""
    return [(name, path) for name, path in sockets() if is_set(name)]


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
    all_of_them = _sets()
    named = dict(reversed(all_of_them))
    if wanted:
        if wanted not in named:
            up = ', '.join(one for one in named if not one.startswith(OWN))
            raise HdssError(f"{'' if name else 'HDSS_SET: '}no set '{wanted}' of yours is up on this machine; "
                            f"up: {up or 'none'}; `hdss up --name {wanted}` starts it")
        return named[wanted]
    batch = batch_name()
    if batch in named:
        return named[batch]
    answering = [(name, path) for name, path in all_of_them if not name.startswith(OWN) and session_of(path) is not None]
    if len(answering) > 1:
        names = ', '.join(name for name, _ in answering)
        raise HdssError(f'{len(answering)} sets are up: {names}; say which by set= or HDSS_SET')
    return answering[0][1] if answering else None
