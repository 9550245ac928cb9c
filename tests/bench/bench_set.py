# SPDX-License-Identifier: MIT
"""A set: the whole command `hdss submit --wait` of an empty job beside `hdss run` of it, and jobs a second over one connection: one a
request, each asked when the one before is answered; pipelined; and in arrays of 100. Then very many jobs, in arrays of 100, of which no
more than a thousand are not over at a time: what each rank has of memory and descriptors, and the set of files, as they go through."""
import json
import os
import socket
import tempfile
import time

from measure import RUNS, header, record, sized, spread
from launch import HDSS, descendants, run

SUBMITS = sized(50, 3)
JOBS = sized(2000, 20)
# Jobs after which memory is looked at.
MILESTONES = sized([1000, 10000, 100000], [100, 200])
LIVE_MAX = 1000
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


def take_answer(stream, status=b'201'):
    line, length = stream.readline(), 0
    assert line.startswith(b'HTTP/1.1 ' + status), line
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


def session(path):
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(path)
        client.sendall(b'GET /v1 HTTP/1.1\r\n\r\n')
        return json.loads(client.recv(65536).split(b'\r\n\r\n', 1)[1])


def ranks(supermaster):
    """Name and process id of each rank of a set on this machine."""
    with open(f'/proc/{supermaster}/stat', encoding='ascii') as file:
        launcher = int(file.read().rsplit(')', 1)[1].split()[1])
    for pid in descendants(launcher):
        name = os.path.basename(os.readlink(f'/proc/{pid}/exe'))
        if name in ('supermaster', 'master', 'worker'):
            yield name, pid


def memory(supermaster):
    """Of each kind of rank the most that one has: KiB that are resident, and descriptors."""
    found = {}
    for name, pid in ranks(supermaster):
        with open(f'/proc/{pid}/status', encoding='utf-8') as file:
            kib = next(int(line.split()[1]) for line in file if line.startswith('VmRSS'))
        figures = kib, len(os.listdir(f'/proc/{pid}/fd'))
        found[name] = max(found.get(name, figures), figures)
    return found


def hand_over(path, count):
    """Has so many jobs go through the set. What is live is not known of those that the set has forgotten, so each array waits for the last
    job of one before it."""
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(path)
        stream = client.makefile('rb')
        ids = []
        for _ in range(count // 100):
            if len(ids) >= LIVE_MAX // 100:
                wait_for(client, stream, ids[-LIVE_MAX // 100])
            client.sendall(request([BODY] * 100))
            ids.append(json.loads(take_answer(stream))[-1]['id'])
        wait_for(client, stream, ids[-1])


def wait_for(client, stream, number):
    while True:
        client.sendall(b'GET /v1/jobs/%d?wait=30 HTTP/1.1\r\n\r\n' % number)
        if json.loads(take_answer(stream, b'200'))['status'] is not None:
            return


def long_lived(path, state):
    supermaster, before = session(path)['pid'], 0
    for milestone in MILESTONES:
        began = time.monotonic()
        hand_over(path, milestone - before)
        took = time.monotonic() - began
        found, files = memory(supermaster), len(os.listdir(os.path.join(state, 'jobs')))
        told = '   '.join(f'{name} {kib} KiB {descriptors} fd' for name, (kib, descriptors) in sorted(found.items()))
        queue = os.path.getsize(os.path.join(state, 'queue'))
        print(f'  after {milestone:6d} jobs  {told}   {files} files, queue {queue >> 10} KiB   {(milestone - before) / took:.0f} jobs/s', flush=True)
        for name, (kib, _) in found.items():
            record('set', f'memory of the {name} after {milestone} jobs', [kib])
        before = milestone


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
    assert run([HDSS, 'up', '--name', 'bench', '--masters', '1', '--workers', '2']).status == 0
    try:
        long_lived(path, os.path.join(os.getcwd(), 'hdss', 'bench'))
    finally:
        run([HDSS, 'down', 'bench'])


main()
