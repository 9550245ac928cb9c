# SPDX-License-Identifier: MIT
"""hdss page: a run or set as it goes on, in a browser. The page is served at a port of this machine as long as the command runs.

The page itself has no secret in it, and is given to anybody who names this machine: a browser sends no token with the address that it opens. The page
finds the token after the '#' there, which no browser sends to anybody, and shows it with what it asks for. Only the questions of the page are passed on to
the control socket, and that a job is to be cancelled. What has come of tasks is read from the output of the job."""
from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import errno
import hmac
import json
import os
import re
import secrets
import signal
import socket
import subprocess
import threading
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple

from hdss import _control
from hdss._command import DONE, FAILED, Command, Option, Refusal
from hdss._errors import SetLost
from hdss._sessions import find, find_only, only_word, sessions, sessions_and_jobs
from hdss._tasks import Tasks

HOST = '127.0.0.1'
ANSWER_S = 5.0
LOOK_S = 1.0          # between two looks whether the session is there
HEAD_MAX = 8192       # bytes of the head of a request, or of an answer
IDLE_S = 60.0         # in which a request has to come, or the next piece of a short answer
STUCK_S = 10.0        # a client that takes nothing of its answer for so long is let go
UNTAKEN_MAX = 262144  # bytes of an answer that its client has not taken, from which on no more is read
CLIENTS_MAX = 64      # at a time; nobody else is accepted meanwhile
PIECE = 65536

QUESTION = re.compile(r'/v1(?:/events|/jobs(?:/[1-9][0-9]*(?:/ranks)?)?(?:\?[\w=&-]*)?)?', re.ASCII)
JOB, TASKS = re.compile(r'/v1/jobs/[1-9][0-9]*', re.ASCII), re.compile(r'/v1/jobs/([1-9][0-9]{0,17})/tasks', re.ASCII)
NAMED = re.compile(r'(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?', re.ASCII | re.IGNORECASE)
REASONS = {200: 'OK', 400: 'Bad Request', 401: 'Unauthorized', 403: 'Forbidden', 404: 'Not Found', 405: 'Method Not Allowed', 410: 'Gone',
           502: 'Bad Gateway', 503: 'Service Unavailable'}
FIELDS = {401: 'WWW-Authenticate: Bearer\r\n', 405: 'Allow: GET\r\n'}
JSON, EVENTS, HTML = 'application/json', 'text/event-stream', 'text/html; charset=utf-8'


class Request(NamedTuple):
    method: str
    target: str
    fields: Dict[str, str]  # of the head, by their names in small letters


class Subject(NamedTuple):
    """What is shown."""
    name: str  # of the session
    path: str  # of its socket
    job: int   # the one that is selected; 0: none


def head_of(status: int, kind: str, length: Optional[int] = None) -> bytes:
    """The head of an answer. One without a length ends with the connection."""
    body = '' if length is None else f'Content-Length: {length}\r\n'
    return (f'HTTP/1.1 {status} {REASONS.get(status, "Answer")}\r\nContent-Type: {kind}\r\n{body}Connection: close\r\nCache-Control: no-store\r\n'
            f'X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n{FIELDS.get(status, "")}\r\n').encode('ascii')


def read_head(data: bytes) -> Optional[Request]:
    """None for what is no request of HTTP."""
    first, *lines = data.decode('latin-1').split('\r\n')
    words = first.split(' ')
    if len(words) != 3 or not words[2].startswith('HTTP/1.'):
        return None
    fields: Dict[str, str] = {}
    for line in filter(None, lines):
        name, colon, value = line.partition(':')
        if not colon or name.strip().lower() in fields:
            return None
        fields[name.strip().lower()] = value.strip()
    return Request(words[0], words[1], fields)


def refusal(request: Request, token: str) -> Optional[Tuple[int, str]]:
    """The status and the text of the answer to what is not to be answered otherwise."""
    is_page = request.method == 'GET' and request.target == '/'
    if not NAMED.fullmatch(request.fields.get('host', '')):
        return 403, 'the Host is not what this machine is called here'
    if not is_page and not hmac.compare_digest(request.fields.get('authorization', '').encode('latin-1'), f'Bearer {token}'.encode()):
        return 401, 'accepted: Authorization: Bearer TOKEN'
    if request.method == 'DELETE' and JOB.fullmatch(request.target):
        return None
    if request.method != 'GET':
        return 405, 'accepted: GET, and DELETE of /v1/jobs/ID'
    if not is_page and not QUESTION.fullmatch(request.target) and not TASKS.fullmatch(request.target):
        return 404, 'this is not here; accepted: /, /v1, /v1/jobs, /v1/jobs/ID, /v1/jobs/ID/ranks, /v1/jobs/ID/tasks, /v1/events'
    return None


class Client:
    """A connection. One that takes nothing for STUCK_S is let go."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        writer.transport.set_write_buffer_limits(high=UNTAKEN_MAX)

    async def request(self) -> Optional[Request]:
        """None where there is none, or none of HTTP."""
        try:
            return read_head(await asyncio.wait_for(self.reader.readuntil(b'\r\n\r\n'), IDLE_S))
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.TimeoutError, OSError):
            return None

    async def send(self, data: bytes) -> None:
        """Raises ConnectionError where the client has gone, or is let go."""
        self.writer.write(data)
        await self._until(UNTAKEN_MAX)

    async def _until(self, most: int) -> None:
        """Waits until at most so many bytes are not taken."""
        transport = self.writer.transport
        untaken = transport.get_write_buffer_size()
        loop = asyncio.get_running_loop()
        since = loop.time()
        while untaken > most:
            if transport.is_closing():
                raise ConnectionError('the client has gone')
            await asyncio.sleep(0.05)
            left = transport.get_write_buffer_size()
            if left != untaken:
                untaken, since = left, loop.time()
            elif loop.time() - since >= STUCK_S:
                raise ConnectionError('the client takes nothing')

    async def answer(self, status: int, kind: str, body: bytes) -> None:
        await self.send(head_of(status, kind, len(body)) + body)

    async def tell(self, status: int, text: str) -> None:
        await self.answer(status, JSON, (json.dumps({'error': text}, separators=(',', ':')) + '\n').encode())

    async def end(self) -> None:
        """What was sent goes out, unless the client is stuck. A body that nobody has read would have the system drop the answer at the end: so the client is
        given some time to close the connection."""
        await self._until(0)
        self.writer.write_eof()
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self.has_gone(), LOOK_S)

    def drop(self) -> None:
        self.writer.transport.abort()

    async def has_gone(self) -> None:
        """Returns when the client has closed the connection. What it sends meanwhile is dropped."""
        with contextlib.suppress(OSError):
            while await self.reader.read(PIECE):
                pass


class Server:
    def __init__(self, subject: Subject, page: bytes, listener: socket.socket) -> None:
        self.subject, self.page, self.listener = subject, page, listener
        self.token = secrets.token_hex(32)
        self.has_ended = False
        self.tasks: Set[asyncio.Task[None]] = set()
        self.of_jobs: Dict[int, Optional[Tasks]] = {}  # what has come of the tasks of each job; None: it has none
        self.reader = concurrent.futures.ThreadPoolExecutor(1)  # of what is in files

    @property
    def port(self) -> int:
        port: int = self.listener.getsockname()[1]
        return port

    async def run(self, over: asyncio.Event) -> None:
        """Serves until `over` is set."""
        for work in (self._accept(), self._look()):
            self._begin(work)
        await over.wait()
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    def _begin(self, work: Any) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    async def _accept(self) -> None:
        places = asyncio.Semaphore(CLIENTS_MAX)
        loop = asyncio.get_running_loop()
        while True:
            await places.acquire()
            try:
                client, _ = await loop.sock_accept(self.listener)
            except OSError:  # no descriptor is left, or the client has gone meanwhile
                places.release()
                await asyncio.sleep(LOOK_S)
                continue
            self._begin(self._serve(client)).add_done_callback(lambda _: places.release())

    async def _serve(self, connected: socket.socket) -> None:
        client = Client(*await asyncio.open_connection(sock=connected, limit=HEAD_MAX))
        try:
            request = await client.request()
            if request is None:
                await client.tell(400, 'this is no request of HTTP')
            else:
                await self._answer(client, request)
            await client.end()
        except OSError:  # it has gone, or is let go
            pass
        finally:
            client.drop()

    async def _answer(self, client: Client, request: Request) -> None:
        refused = refusal(request, self.token)
        if refused is not None:
            await client.tell(*refused)
        elif request.target == '/':
            await client.answer(200, HTML, self.page)
        elif (asked := TASKS.fullmatch(request.target)) is not None:
            told = await asyncio.get_running_loop().run_in_executor(self.reader, self._look_at_tasks, int(asked.group(1)))
            await client.answer(200, JSON, json.dumps(told).encode())
        else:
            await self._pass_on(client, request.method, request.target)

    def _look_at_tasks(self, number: int) -> Dict[str, Any]:
        """For the thread that reads."""
        if number not in self.of_jobs:
            control = _control.Control(self.subject.path, ANSWER_S)
            with contextlib.suppress(SetLost, _control.Refused, ValueError):
                job = control.ask('GET', f'/v1/jobs/{number}')
                if job['output'] is not None or job['kernel'] != 'exec':  # else it has not begun
                    self.of_jobs[number] = Tasks(os.path.join(job['folder'], job['output'])) if job['kernel'] == 'exec' else None
            control.close()
        tasks = self.of_jobs.get(number)
        if tasks is None:
            return {'failed': 0, 'failures': [], 'history': []}
        tasks.look()
        return tasks.told()

    async def _pass_on(self, client: Client, method: str, target: str) -> None:
        try:
            reader, writer = await asyncio.open_unix_connection(self.subject.path, limit=HEAD_MAX)
        except (FileNotFoundError, ConnectionRefusedError):
            self._note_session(True)
            await client.tell(410, 'the run or set has ended')
            return
        except OSError:
            await client.tell(503, 'the run or set cannot be asked now')
            return
        self._note_session(False)
        relay = self._begin(self._relay(client, f'{method} {target}', reader, writer))
        gone = self._begin(client.has_gone())
        try:
            await asyncio.wait((relay, gone), return_when=asyncio.FIRST_COMPLETED)
            if relay.done():
                relay.result()
        finally:
            for task in (relay, gone):
                task.cancel()
            await asyncio.wait((relay, gone))  # nobody reads from the client any more
            writer.transport.abort()

    @staticmethod
    async def _relay(client: Client, request: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """The answer comes as HTTP/1.0 has it: as it is, without pieces that have to be put together, and it ends with the connection."""
        writer.write(f'{request} HTTP/1.0\r\nHost: hdss\r\n\r\n'.encode('ascii'))
        try:
            head = await asyncio.wait_for(reader.readuntil(b'\r\n\r\n'), IDLE_S)
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.TimeoutError, OSError):
            head = b''
        told = re.match(rb'HTTP/1\.\d ([2-5]\d\d)', head)
        status = int(told.group(1)) if told is not None else 502
        is_stream = request == 'GET /v1/events' and status == 200
        await client.send(head_of(status, EVENTS if is_stream else JSON))
        with contextlib.suppress(asyncio.TimeoutError, ConnectionResetError):
            while piece := await asyncio.wait_for(reader.read(PIECE), None if is_stream else IDLE_S):
                await client.send(piece)

    def _note_session(self, has_ended: bool) -> None:
        if self.has_ended == has_ended:
            return
        self.has_ended = has_ended
        COMMAND.say(f'{self.subject.name} ' + ('has ended; the page keeps its last state until Ctrl-C' if has_ended else 'is there again'))

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(LOOK_S)
            try:
                _, writer = await asyncio.open_unix_connection(self.subject.path)
            except (FileNotFoundError, ConnectionRefusedError):
                self._note_session(True)
            except OSError:  # it has no time, or this program no descriptor
                pass
            else:
                self._note_session(False)
                writer.transport.abort()


# --- beginning ---

def _subject(word: Optional[str]) -> Subject:
    """What the user has named. Refusal where it is not there, or does not answer."""
    name, job = find(word) if word is not None else find_only()
    path = sessions().get(name)
    control = _control.Control(path or '', ANSWER_S)
    try:
        control.ask('GET', '/v1')
    except SetLost as lost:
        raise Refusal(f'{name}: ' + ('it has ended' if isinstance(lost.__cause__, OSError) and lost.__cause__.errno in (errno.ENOENT, errno.ECONNREFUSED)
                                     else 'it does not answer')) from None
    except (_control.Refused, ValueError) as problem:
        raise Refusal(f'{name}: {problem}') from None
    finally:
        control.close()
    return Subject(name, path or '', int(job.rpartition('/')[2]) if '/' in job else 0)


def _page() -> bytes:
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'page.html'), 'rb') as file:
        return file.read()


def _listen(port: int) -> socket.socket:
    try:
        listener = socket.create_server((HOST, port), backlog=16)
    except OSError as error:
        raise Refusal(f'cannot listen at {HOST}:{port}: {os.strerror(error.errno or 0)}') from None
    listener.setblocking(False)
    return listener


# --- opening it ---

def _may_open(way: str) -> bool:
    return way == 'auto' and os.isatty(1) and bool(os.environ.get('DISPLAY') or os.environ.get('WAYLAND_DISPLAY'))


@contextlib.contextmanager
def _opened(subject: Subject, url: str) -> Iterator[None]:
    """Has the desktop open the page. It gets a file that leads to the address, beside the socket, where only this user can read it: all users of the
    machine can see the words of a command line, and the address has the token in it."""
    folder = os.path.dirname(subject.path)
    leader = os.path.join(folder, f'page-{os.getpid()}.html')
    try:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(leader)
        file = os.open(leader, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except OSError:
        yield
        return
    with open(file, 'w', encoding='ascii') as opened:
        opened.write(f'<!DOCTYPE html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={url}"><title>HDSS</title>'
                     f'<a href="{url}">the page of hdss</a>\n')
    try:
        # In a session of its own: Ctrl-C must not end a browser that this has started.
        opener = subprocess.Popen(['xdg-open', leader], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        threading.Thread(target=opener.wait, daemon=True).start()
    except OSError:
        COMMAND.say('xdg-open is not there; open the address in a browser')
    try:
        yield
    finally:
        os.unlink(leader)
        with contextlib.suppress(OSError):  # where the session has ended, and it was the last
            os.rmdir(folder)


# --- the command ---

def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > 65535:
        raise ValueError
    return int(text)


def _way(text: str) -> str:
    if text not in ('auto', 'no'):
        raise ValueError
    return text


COMMAND = Command(
    'page', '[SET|ID]',
    'Shows a run or set in a browser as it goes on: its jobs with rate and expected end, and for one job its workers by node, its rate, '
    'and what was lost. The page is served until Ctrl-C.',
    (Option('port', 'serve the page at this port of 127.0.0.1 (0 to 65535; default 0, any free one)', 'PORT', '0 to 65535', _port),
     Option('open', 'auto: open the page by xdg-open if there is a display and standard output is a terminal. no: only print the address (default auto)',
            'auto|no', 'auto or no', _way)),
    ('SET is a set that `hdss jobs` lists. ID is the job that the page begins with: NAME/3 or 3 of a set, run-PID of a run. Without either the page shows the '
     'only set, or else the only run.',
     "The address has a token after its '#': with the token, one can look at the session from this machine, and change nothing. On another machine, let ssh "
     'carry the port, as the second line of output says, and open the same address there.'),
    sessions_and_jobs)


async def _serve(server: Server, way: str) -> int:
    over = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # whoever is told the address may end the server at once
        asyncio.get_running_loop().add_signal_handler(number, over.set)
    subject = server.subject
    url = f'http://{HOST}:{server.port}/#token={server.token}' + (f'&job={subject.job}' if subject.job > 0 else '')
    told = COMMAND.write(f'hdss page shows {subject.name}: {url}\n'
                         f'to reach it from elsewhere: ssh -L {server.port}:{HOST}:{server.port} {socket.gethostname()}\n')
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    if told != DONE:
        return FAILED
    with _opened(subject, url) if _may_open(way) else contextlib.nullcontext():
        await server.run(over)
    return DONE


def _run(values: Dict[str, Any], operands: List[str]) -> int:
    subject = _subject(only_word(operands))
    with _listen(values.get('port', 0)) as listener:
        return asyncio.run(_serve(Server(subject, _page(), listener), values.get('open', 'auto')))


def main(words: Sequence[str], version: str) -> int:
    return COMMAND.main(words, version, _run)
