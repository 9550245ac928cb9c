# SPDX-License-Identifier: MIT
"""Sets of daemons: one that is up, or one of this process's own, which ends with it."""
from __future__ import annotations

import fcntl
import io
import itertools
import json
import operator
import os
import select
import sys
import threading
import time
from typing import Any, Dict, IO, List, Optional, TYPE_CHECKING, Union

from hdss import _control, _given, _interpreter
from hdss._errors import HdssError, SetLost
from hdss._program import program

if TYPE_CHECKING:
    import subprocess

PREFIX = 'hdss-python-'
LOCK = 'lock'
SHARED_MEMORY = '/dev/shm'
WARM = 'HDSS_PYTHON_WARM'  # variable by which the workers of a set start interpreters before there is a job: the folder of the package
PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Pause between two checks whether the launcher of a set has ended before the set was up, or has been stopped.
LOOK_MS = 500
# A launcher that has been stopped for so long is killed if this process waits for it, as other processes of a set are.
STOPPED_S = 10.0
_numbers = itertools.count(1)


# --- folders of a process ---

def _base(is_shared: bool) -> str:
    """Where folders for calls and results go: HDSS_PYTHON_FOLDER; else the current folder, where other machines have to
    see them; else that for temporary files."""
    given = os.environ.get('HDSS_PYTHON_FOLDER')
    return given if given else os.getcwd() if is_shared else _temporary()


def _temporary() -> str:
    """The folder for temporary files. The module tempfile takes its time to be imported, and is rarely needed."""
    named = os.environ.get('TMPDIR', '/tmp')
    if 'tempfile' not in sys.modules and os.path.isabs(named) and os.path.isdir(named) and os.access(named, os.W_OK | os.X_OK):
        return named
    import tempfile
    return tempfile.gettempdir()


def make_folder(base: str, prefix: str = '') -> str:
    """A new folder of this user alone."""
    path = os.path.join(base, prefix + os.urandom(8).hex())
    os.mkdir(path, 0o700)
    return path


def remove_folder(path: str) -> None:
    import shutil
    shutil.rmtree(path, ignore_errors=True)


class Folder:
    """A folder of this process, which is removed by remove(), or by a later process where this one was killed: it holds a
    lock while it lives."""

    def __init__(self, base: str, prefix: str = PREFIX) -> None:
        _sweep(base, prefix)
        self.path = make_folder(base, prefix)
        self.pid = os.getpid()
        lock = os.path.join(self.path, LOCK)
        self._lock: Optional[IO[str]] = open(lock + '-new', 'w', encoding='ascii')
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        os.rename(lock + '-new', lock)  # locked before it has this name: others remove a folder whose lock is free

    def remove(self) -> None:
        if self._lock is None or os.getpid() != self.pid:
            return
        lock, self._lock = self._lock, None
        remove_folder(self.path)
        lock.close()


def _sweep(base: str, prefix: str) -> None:
    """Removes folders of processes that were killed."""
    try:
        names = [name for name in os.listdir(base) if name.startswith(prefix)]
    except OSError:
        return
    for name in names:
        path = os.path.join(base, name)
        try:
            if os.lstat(path).st_uid != os.geteuid():
                continue
            with open(os.path.join(path, LOCK), 'r+', encoding='ascii') as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove_folder(path)
        except OSError:
            pass


def work_folder(in_set: 'Set') -> Folder:
    """A folder for what is sent to the workers of a set and comes back: where its other machines see it, if it may have
    some."""
    return shared_folder(in_set.may_have_nodes)


def shared_folder(is_shared: bool) -> Folder:
    """A folder for what is sent to workers, on this machine or also on others."""
    base = _base(is_shared)
    try:
        return Folder(base, '.' + PREFIX if is_shared else PREFIX)
    except OSError as error:
        raise HdssError(f'{base}: cannot make a folder for calls and results: {error.strerror}; name another one by HDSS_PYTHON_FOLDER') from None


def _memory() -> str:
    """Where the state of a set is that need not outlive this machine."""
    return SHARED_MEMORY if os.access(SHARED_MEMORY, os.W_OK | os.X_OK) else _temporary()


# --- sets ---

def checked_workers(given: Any) -> Optional[int]:
    """A number of workers, or None. TypeError or ValueError for all else."""
    try:
        workers = None if given is None else operator.index(given)  # ints of numpy, too
    except TypeError:
        raise _given.refusal(TypeError, 'workers', given, 'a whole number of at least 1, or None for one for each core') from None
    if workers is not None and workers <= 0:
        raise ValueError(f'workers, max_workers must be greater than 0: {workers}; None is one for each core')
    return workers


def _is_stopped(pid: int) -> bool:
    try:
        with open(f'/proc/{pid}/stat', 'rb') as file:
            return file.read().rpartition(b')')[2].split()[:1] == [b'T']
    except OSError:
        return False


class _Patience:
    """Waiting for a launcher. A signal or a task may stop it, and nobody else would let it go on."""

    def __init__(self, process: 'subprocess.Popen[str]') -> None:
        self._process, self._since, self.is_over = process, 0.0, False

    def look(self) -> None:
        """Kills the process if it has been stopped for STOPPED_S; to be called every LOOK_MS."""
        now = time.monotonic()
        if self._since == 0.0 or not _is_stopped(self._process.pid):
            self._since = now
        elif now - self._since > STOPPED_S:
            self.is_over = True
            self._process.kill()

    def wait(self) -> None:
        """Until the process has ended."""
        import subprocess
        while True:
            try:
                self._process.wait(LOOK_MS / 1000)
                return
            except subprocess.TimeoutExpired:
                self.look()


class Set:
    """A set of daemons that takes jobs.

    With `name` it is one that is up, which stays. Else, where `workers` is not given, the one that `hdss submit` would
    find: of HDSS_SET, of the batch job, the only one that is up. Else one of this process's own is started, with so many
    workers, by default one for each core (in a batch job: of all its nodes), which ends with close(), at the end of a
    `with`, or with the process, however that ends. Within a call of an executor it has one worker. `options` are those of
    `hdss up`, as words.
    """

    def __init__(self, workers: Optional[int] = None, *, name: Optional[str] = None, options: Optional[List[str]] = None) -> None:
        workers = checked_workers(workers)
        self._process: Optional[subprocess.Popen[str]] = None
        self._folder: Optional[Folder] = None
        self._ready = threading.Lock()
        self._session: Optional[Dict[str, Any]] = None
        self._path: Optional[str] = None
        self._pid = os.getpid()
        if workers is None and options is None and name is None and _interpreter.is_of_worker:
            workers = 1  # the set that is found may be the one whose worker waits here
        elif workers is None and options is None:
            self._path = _control.find(name)
        if self._path is None:
            self._start(workers, options or [])

    def __repr__(self) -> str:
        return f'<hdss.Set: {self.description()}>'

    def description(self) -> str:
        """Workers, state and page, as far as they are known without a wait."""
        if self._process is not None and (self not in _live or self._process.poll() is not None):
            return 'closed'
        session = self._session
        if session is None:
            return 'starting' if self._path is None else 'up'
        page = session.get('http') or f'hdss page {session["name"]}'
        workers = session['ranks']['workers']
        return f'{workers} worker{"s" if workers != 1 else ""}, up; {page}'

    def __reduce__(self) -> Any:
        raise TypeError('a hdss.Set cannot be sent to a worker')

    @property
    def is_own(self) -> bool:
        """True where the set was started here, and ends here."""
        return self._process is not None

    @property
    def may_have_nodes(self) -> bool:
        """True where some of its workers may be on other machines."""
        return not self.is_own or _control.batch_name() is not None

    def memory(self) -> List[str]:
        """A new folder in shared memory that all workers see; none if there is no such memory."""
        if self._folder is None or self.may_have_nodes or not self._folder.path.startswith(SHARED_MEMORY + '/'):
            return []
        return [make_folder(self._folder.path)]

    def _start(self, workers: Optional[int], options: List[str]) -> None:
        import subprocess
        self._folder = Folder(_base(True) if _control.batch_name() is not None else _memory())
        self.name = f'{_control.OWN}{os.getpid()}-{next(_numbers)}'
        self._program = program()
        words = [self._program, 'up', '--foreground', '--until-eof', '--format', 'json', '--name', self.name, '--state', os.path.join(self._folder.path, 'set')]
        words += ['--workers', str(workers)] if workers is not None else []
        errors = open(os.path.join(self._folder.path, 'errors'), 'w+', encoding='utf-8', errors='replace')
        try:
            self._process = subprocess.Popen(words + options, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True,
                                             start_new_session=True, env={**os.environ, WARM: PACKAGE})
        except OSError as error:
            self._folder.remove()
            raise HdssError(f'cannot start {words[0]}: {error.strerror}; HDSS or PATH has to name the command hdss') from None
        finally:
            errors.close()
        _live.add(self)

    def _await(self) -> Dict[str, Any]:
        """Waits until a set of one's own answers."""
        process = self._process
        if process is None or process.stdout is None or process.stdout.closed or self._folder is None:
            raise SetLost('the set was closed')
        output = select.poll()  # select() knows no descriptors above 1023
        output.register(process.stdout, select.POLLIN)
        ready: List[Any] = []
        patience = _Patience(process)
        while not ready and process.poll() is None:  # its end counts: ranks of a launcher that was killed may keep the output open
            ready = output.poll(LOOK_MS)
            patience.look()
        if patience.is_over:
            raise SetLost(f'no set could be started: {self._program} up had been stopped for {STOPPED_S:g} seconds, and was ended')
        try:
            session: Dict[str, Any] = json.loads(process.stdout.readline() if ready else '')
        except ValueError:
            process.wait()
            with open(os.path.join(self._folder.path, 'errors'), encoding='utf-8', errors='replace') as errors:
                said = errors.read().strip()
            silent = f'{self._program} has ended with status {process.returncode} and said nothing; HDSS or PATH has to name the command hdss'
            raise SetLost(f'no set could be started: {said or silent}') from None
        self._path = next((os.path.join(folder, self.name + _control.ENDING) for folder in _control.folders()
                           if os.path.exists(os.path.join(folder, self.name + _control.ENDING))), None)
        if self._path is None:
            raise SetLost('the set has no control socket')
        return session

    def session(self) -> Dict[str, Any]:
        """What the set says of itself (docs/CONTROL.md). Waits until it is up; SetLost where it is not."""
        with self._ready:
            if self._session is None:
                if self._path is None:
                    self._session = self._await()
                else:
                    self._session = _control.session_of(self._path)
                    if self._session is None:
                        raise SetLost(f'the set at {self._path} does not answer')
            return self._session

    def is_up(self) -> bool:
        """True where it can take jobs, or will when it has started."""
        if self._pid != os.getpid():
            return False
        if self._process is not None:
            return self._process.poll() is None and self in _live
        return self._path is not None and _control.session_of(self._path) is not None

    @property
    def workers(self) -> int:
        """Workers of the set at its start."""
        return int(self.session()['ranks']['workers'])

    def control(self) -> _control.Control:
        """A new connection to the set."""
        self.session()
        assert self._path is not None
        return _control.Control(self._path)

    def close(self) -> None:
        """Ends a set of one's own, with what runs in it; a set that was up before stays."""
        process = self._process
        _live.discard(self)
        if process is None or os.getpid() != self._pid or self._folder is None:
            return
        for file in (process.stdin, process.stdout):
            if file is not None:
                file.close()
        _Patience(process).wait()
        self._folder.remove()

    def __enter__(self) -> 'Set':
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_live: 'set[Set]' = set()


def _forget_in_child() -> None:
    """A child that was forked has nothing of its parent's sets, and keeps none of them alive. Another thread of the parent may be
    reading what the set says, and then a buffer is locked for ever: what is below it is closed."""
    for one in list(_live):
        process = one._process
        for file in (process.stdin, process.stdout) if process is not None else ():
            buffer = file.buffer if isinstance(file, io.TextIOWrapper) else None
            if isinstance(buffer, (io.BufferedReader, io.BufferedWriter)):
                buffer.raw.close()
    _live.clear()


os.register_at_fork(after_in_child=_forget_in_child)


def as_set(given: Union[Set, str, None], workers: Optional[int] = None) -> Set:
    """The set that is given, or named, else as Set() finds or starts it."""
    if isinstance(given, Set):
        if workers is not None:
            raise ValueError(f'workers={workers} and set: accepted: one of them; a set has its own workers')
        return given
    if given is not None and workers is not None:
        raise ValueError(f'workers={workers} and set: accepted: one of them; a set has its own workers')
    if given is not None and not isinstance(given, str):
        raise _given.refusal(TypeError, 'set', given, 'a hdss.Set, or the name of one that is up')
    return Set(workers, name=given)
