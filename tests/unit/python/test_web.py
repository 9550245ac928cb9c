# SPDX-License-Identifier: MIT
"""What the server of hdss page answers by itself: heads of requests, and who is refused and why. And that a client which sends nothing, or more than a
head may have, keeps nobody from the page."""
import asyncio
import contextlib
import os
import socket
import sys

sys.path.insert(0, os.path.join(os.environ['SOURCE_ROOT'], 'deploy', 'python'))
# pylint: disable=wrong-import-position
from hdss import _web
from launch import main

TOKEN = 'a1' * 32
SHOWN = {'host': '127.0.0.1:8000', 'authorization': f'Bearer {TOKEN}'}


def test_heads_are_read():
    request = _web.read_head(b'GET /v1 HTTP/1.1\r\nHost: a\r\nX-Y:  b c \r\n\r\n')
    assert request == ('GET', '/v1', {'host': 'a', 'x-y': 'b c'}), request
    for data in (b'', b'\r\n\r\n', b'GET /v1\r\n\r\n', b'GET  /v1 HTTP/1.1\r\n\r\n', b'GET /v1 SPDY/1\r\n\r\n', b'GET /v1 HTTP/1.1\r\nHost\r\n\r\n',
                 b'GET /v1 HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n'):
        assert _web.read_head(data) is None, data


def status(method, target, **fields):
    refused = _web.refusal(_web.Request(method, target, {**SHOWN, **fields}), TOKEN)
    return refused[0] if refused is not None else None


def test_who_is_refused():
    for target in ('/', '/v1', '/v1/jobs', '/v1/jobs?state=over&limit=64', '/v1/jobs/7', '/v1/jobs/7/ranks?from=0&limit=1000', '/v1/events'):
        assert status('GET', target) is None, target
        assert status('POST', target) == 405 and status('GET', target, host='evil.example') == 403 and status('GET', target, host='') == 403, target
    assert status('GET', '/', authorization='') is None and status('GET', '/v1', authorization='') == 401 and status('POST', '/', authorization='') == 401
    assert status('GET', '/v1', authorization=f'Bearer {TOKEN}0') == 401 and status('GET', '/v1', authorization='Bearer \xe9') == 401
    for target in ('', '//v1', '/v2', '/v1/', '/v1?x=1', '/v1/jobs/0', '/v1/jobs/1/output', '/v1/jobs/1/ranks/', '/v1/jobs?state=over\n', '/v1/events?x=1', '/metrics',
                   'http://127.0.0.1/v1', '/v1/jobs/1%0d%0a', '/v1/jobs/\u0661'):
        assert status('GET', target) == 404, target
    for host in ('localhost', 'LOCALHOST:1', '[::1]:80', '127.0.0.1'):
        assert status('GET', '/v1', host=host) is None, host
    for host in ('127.0.0.1.evil.example', 'localhost:', 'localhost:x', '::1', 'localhost evil'):
        assert status('GET', '/v1', host=host) == 403, host


async def _ask(port, data):
    """All that comes for these bytes, to the end of the connection."""
    reader, writer = await asyncio.open_connection('127.0.0.1', port)
    with contextlib.suppress(ConnectionError):
        writer.write(data)
        await writer.drain()
        return await reader.read()
    return b''


async def _serve(check):
    over = asyncio.Event()
    with socket.create_server(('127.0.0.1', 0)) as listener:
        listener.setblocking(False)
        server = _web.Server(_web.Subject('night', '/nowhere.sock', 0), b'<p>page', listener)
        served = asyncio.ensure_future(server.run(over))
        try:
            await check(server)
        finally:
            over.set()
            await served


def test_places_are_given_back():
    """Clients who wait, and then go, take all places: the page is given after that, and what is no request is refused."""
    page = b'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'

    async def check(server):
        waiting = [await asyncio.open_connection('127.0.0.1', server.port) for _ in range(_web.CLIENTS_MAX)]
        asked = asyncio.ensure_future(_ask(server.port, page))
        done, _ = await asyncio.wait((asked,), timeout=0.5)
        assert not done, 'a place more than there are'
        for _, writer in waiting:
            writer.close()
        assert (await asked).endswith(b'<p>page')
        for data in (b'A' * (3 * _web.HEAD_MAX), b'\x16\x03\x01\r\n\r\n'):
            answer = await _ask(server.port, data)
            assert answer == b'' or answer.startswith(b'HTTP/1.1 400 '), answer
        answer = await _ask(server.port, b'POST /v1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n' + b'A' * 100000)
        assert answer.startswith(b'HTTP/1.1 401 '), answer
        answer = await _ask(server.port, page.replace(b'/ ', b'/v1 ').replace(b'\r\n\r\n', f'\r\nAuthorization: Bearer {server.token}\r\n\r\n'.encode()))
        assert answer.startswith(b'HTTP/1.1 410 ') and server.has_ended, answer

    with contextlib.redirect_stderr(open(os.devnull, 'w')):
        asyncio.run(_serve(check))


if __name__ == '__main__':
    main([test_heads_are_read, test_who_is_refused, test_places_are_given_back])
