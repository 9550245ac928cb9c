# SPDX-License-Identifier: MIT
"""Requests to a set beside jobs that run: eight jobs compute, clients poll over a connection each, and another client submits jobs one after
another over one connection. How long the answers take, by kind of request, and jobs submitted in a second."""
import json
import multiprocessing
import os
import random
import selectors
import socket
import tempfile
import time

from measure import header, record, sized
from launch import HDSS, run

CLIENTS = sized(200, 10)
SUBMISSIONS = sized(20000, 20)
RUNNING = 8
# Each client asks once in so many seconds.
PAUSE_S = sized(1.0, 0.1)
POLLS = ['/v1', '/v1/jobs?state=running', '/v1/jobs?limit=20', '/v1/jobs/1', '/metrics']
LONG = ['--summary', 'none', '--isolate', 'off', '--technique', 'ss', 'synthetic', 'iterations=1000000000', 'mean=2000', 'mode=sleep']
BODY = json.dumps({'words': ['--summary', 'none', 'synthetic', 'iterations=0', 'mean=0'], 'folder': '/tmp', 'after': [1]}).encode()


def connect():
    client = socket.socket(socket.AF_UNIX)
    client.connect(os.path.join(os.getcwd(), f'hdss-{os.getuid()}', 'bench.sock'))
    return client


def ask(client, head, body=b''):
    """The status and the seconds until the last byte of the answer."""
    began, got = time.monotonic(), b''
    client.sendall(head + body)
    while not is_whole(got):
        got += client.recv(1 << 20)
    return int(got.split()[1]), time.monotonic() - began


def is_whole(got):
    head, blank, body = got.partition(b'\r\n\r\n')
    if not blank:
        return False
    if b'chunked' in head:
        return body.endswith(b'0\r\n\r\n')
    length = next(int(line.split(b':')[1]) for line in head.split(b'\r\n') if line.lower().startswith(b'content-length:'))
    return len(body) >= length


def submit(answers):
    client, took = connect(), []
    head = b'POST /v1/jobs HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n' % len(BODY)
    for _ in range(SUBMISSIONS):
        status, seconds = ask(client, head, BODY)
        assert status == 201, status
        took.append(seconds)
    answers.put(took)


class Client:
    """Asks again and again, each time in so many seconds as it is told."""

    def __init__(self, took):
        self.socket, self.took, self.got, self.path = connect(), took, b'', None
        self.due = time.monotonic() + random.uniform(0, PAUSE_S)

    def ask(self):
        self.path, self.began, self.got = random.choice(POLLS), time.monotonic(), b''
        self.socket.sendall(f'GET {self.path} HTTP/1.1\r\n\r\n'.encode())

    def take(self):
        self.got += self.socket.recv(1 << 20)
        if is_whole(self.got):
            now = time.monotonic()
            self.took[self.path].append(now - self.began)
            self.path, self.due = None, max(now, self.began + PAUSE_S)


def poll(is_over):
    took, selector = {path: [] for path in POLLS}, selectors.DefaultSelector()
    clients = [Client(took) for _ in range(CLIENTS)]
    for client in clients:
        selector.register(client.socket, selectors.EVENT_READ, client)
    while not is_over():
        now = time.monotonic()
        for client in clients:
            if client.path is None and client.due <= now:
                client.ask()
        next_due = min((client.due for client in clients if client.path is None), default=now + PAUSE_S)
        for key, _ in selector.select(max(0, next_due - time.monotonic())):
            key.data.take()
    return took


def tell(name, took):
    """Of the answers in order: the middle one, that of 95 %, and the worst."""
    took = sorted(1000 * seconds for seconds in took)
    if took:
        print(f'  {name:24s} {len(took):6d} answers   50 % {took[len(took) // 2]:8.1f} ms   95 % {took[len(took) * 95 // 100]:8.1f} ms   '
              f'worst {took[-1]:8.1f} ms', flush=True)
        record('latency', name, took[-1:], half=took[len(took) // 2], most=took[len(took) * 95 // 100])


def main():
    os.chdir(tempfile.mkdtemp(prefix='hdss-bench-'))
    os.environ['HDSS_CONTROL_DIR'] = os.environ['XDG_STATE_HOME'] = os.getcwd()
    header(f'Requests to a set in which {RUNNING} jobs run: {CLIENTS} clients ask once in {PAUSE_S} s')
    assert run([HDSS, 'up', '--name', 'bench', '--workers', '2']).status == 0
    try:
        for _ in range(RUNNING):
            assert run([HDSS, 'submit', *LONG]).status == 0
        answers = multiprocessing.Queue()
        child = multiprocessing.Process(target=submit, args=(answers,))
        began = time.monotonic()
        child.start()
        took = poll(lambda: not child.is_alive() or not answers.empty())
        seconds = time.monotonic() - began
        tell('submission', answers.get())
        for path in POLLS:
            tell(path, took[path])
        print(f'  {SUBMISSIONS} submissions in {seconds:.1f} s, {SUBMISSIONS / seconds:.0f} a second', flush=True)
        child.join()
    finally:
        run([HDSS, 'cancel', *map(str, range(1, RUNNING + 1))])
        run([HDSS, 'down', 'bench'])


main()
