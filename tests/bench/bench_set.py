# SPDX-License-Identifier: MIT
"""A set: the whole command `hdss submit --wait` of an empty job beside `hdss run` of it, and jobs a second over one connection: one a
request, each asked when the one before is answered; pipelined; and in arrays of 100."""
import json
import os
import socket
import tempfile
import time

from measure import RUNS, header, record, sized, spread
from launch import HDSS, run

SUBMITS = sized(50, 3)
JOBS = sized(2000, 20)
EMPTY = ['synthetic', 'iterations=0', 'mean=0']
BODY = {'words': ['--summary', 'none', *EMPTY], 'folder': '/tmp'}


def folder():
    os.environ['HDSS_CONTROL_DIR'] = os.environ['XDG_STATE_HOME'] = os.getcwd()
    return os.path.join(os.getcwd(), f'hdss-{os.getuid()}', 'bench.sock')


def seconds_of(words):
    began = time.monotonic()
    result = run([HDSS, *words])
    assert result.status == 0, result
    return time.monotonic() - began


def commands():
    waits, runs = [], []
    for _ in range(SUBMITS):
        waits.append(1000 * seconds_of(['submit', '--wait', *EMPTY]))
        if len(runs) < RUNS:
            runs.append(1000 * seconds_of(['run', '--workers', '2', *EMPTY]))
    print(f'  submit --wait {spread(waits)} ms   run {spread(runs)} ms', flush=True)
    record('set', 'submit --wait', waits)
    record('set', 'run', runs)


def request(body):
    text = json.dumps(body).encode()
    return b'POST /v1/jobs HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n' % len(text) + text


def take_answer(stream):
    line, length = stream.readline(), 0
    assert line.startswith(b'HTTP/1.1 201'), line
    while header_line := stream.readline().strip():
        if header_line.lower().startswith(b'content-length:'):
            length = int(header_line.split(b':')[1])
    return stream.read(length)


def rate_of(path, batches, ahead):
    """Jobs a second; `ahead` requests are out at a time."""
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(path)
        stream = client.makefile('rb')
        began, out = time.monotonic(), 0
        for batch in batches:
            client.sendall(request(batch))
            out += 1
            if out >= ahead:
                take_answer(stream)
                out -= 1
        for _ in range(out):
            take_answer(stream)
        took = time.monotonic() - began
    return sum(len(batch) if isinstance(batch, list) else 1 for batch in batches) / took


def all_over():
    while json.loads(run([HDSS, 'jobs', '--format', 'json']).out):
        time.sleep(0.1)


def rates(path):
    arrays = [[BODY] * 100] * max(1, JOBS // 100)
    for what, batches, ahead in (('one after another', [BODY] * JOBS, 1), ('pipelined', [BODY] * JOBS, 64), ('in arrays of 100', arrays, 1)):
        figures = []
        for _ in range(RUNS):
            figures.append(rate_of(path, batches, ahead))
            all_over()
        print(f'  submitted {what:20s} {spread(figures)} jobs/s', flush=True)
        record('set', f'submitted {what}', figures)


def main():
    os.chdir(tempfile.mkdtemp(prefix='hdss-bench-'))
    header('A set')
    path = folder()
    assert run([HDSS, 'up', '--name', 'bench', '--workers', '2']).status == 0
    try:
        commands()
        rates(path)
    finally:
        run([HDSS, 'down', 'bench'])


main()
