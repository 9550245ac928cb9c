# SPDX-License-Identifier: MIT
"""Runs that go on are listed, shown, waited for and cancelled, by their user alone, and nobody who asks holds them up."""
import json
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

from launch import HDSS, SUPERMASTER, TIMEOUT_S, finish, job, kill_tree, main, ranks_of, run, start, wait_until

NOBODY = 65534


# A run that goes on until it is cancelled.
SLEEPING = [HDSS, 'run', '--workers', '2', '--power', 'equal', '--technique', 'ss', 'synthetic', 'iterations=100000', 'mean=10000', 'distribution=constant',
            'mode=sleep']


def here():
    """Sockets in a folder of this test's own."""
    os.environ['HDSS_CONTROL_DIR'] = os.getcwd()
    os.chmod('.', 0o755)
    return os.path.join(os.getcwd(), f'hdss-{os.getuid()}')


def sockets(folder):
    return sorted(name for name in os.listdir(folder) if name.endswith('.sock')) if os.path.isdir(folder) else []


def jobs():
    return json.loads(run([HDSS, 'jobs', '--format', 'json']).out)


def begin():
    process = start(SLEEPING)
    wait_until(lambda: any(one.get('state') == 'running' and one['done'] > 0 for one in jobs()), 'a run that says how it goes')
    return process


def connect(path):
    client = socket.socket(socket.AF_UNIX)
    client.connect(path)  # waits for its turn; with a time limit it would not
    client.settimeout(30)
    return client


def ask(path, head=b'GET /v1/jobs/1 HTTP/1.1\r\nConnection: close\r\n\r\n'):
    with connect(path) as client:
        client.sendall(head)
        answer = b''
        while piece := client.recv(65536):
            answer += piece
    return answer


# Run as another user: what becomes of connecting and asking.
STRANGER = '''
import os, socket, sys
os.setgid(65534); os.setuid(65534)
client = socket.socket(socket.AF_UNIX)
try:
    client.connect(sys.argv[1])
    client.sendall(b"DELETE /v1/jobs/1 HTTP/1.1\\r\\nConnection: close\\r\\n\\r\\n")
    print(client.recv(100))
except OSError as error:
    print(type(error).__name__)
'''


def stranger(path):
    return subprocess.run([sys.executable, '-c', STRANGER, path], capture_output=True, text=True, check=False, timeout=TIMEOUT_S).stdout.strip()


def test_a_stranger_is_refused():
    if os.getuid() != 0:
        return 'only root can be another user'
    folder = here()
    process = begin()
    path = os.path.join(folder, sockets(folder)[0])
    assert stranger(path) == 'PermissionError'
    os.chmod(folder, 0o755)
    os.chmod(path, 0o666)  # nothing is left but who is at the other end
    assert stranger(path) in ("b''", 'ConnectionResetError', 'BrokenPipeError'), stranger(path)
    kill_tree(process.pid)
    finish(process)
    return None


def get_stuck(path):
    """A client that sends half a request, and one that reads no answer."""
    half, mute = connect(path), connect(path)
    half.sendall(b'GET /v1/jobs/1 HT')
    mute.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    mute.setblocking(False)
    try:
        while True:
            mute.send(b'GET /v1/jobs HTTP/1.1\r\n\r\n' * 100)
    except BlockingIOError:
        return half, mute


def be_stuck(path):
    """Beside clients that are stuck all others are answered, and the run goes on."""
    stuck = get_stuck(path)
    before = done_by(path)
    wait_until(lambda: done_by(path) > before, 'work beside stuck clients')
    return stuck


def done_by(path):
    head, _, body = ask(path).partition(b'\r\n\r\n')
    assert head.startswith(b'HTTP/1.1 200'), head
    return json.loads(body)['done']


def hand_on(client, path, asked):
    """Has the run answer what the client asks, and notes it once the run has it; one that only looks whether somebody listens asks nothing."""
    question = b''
    with client:
        while not question.endswith(b'\r\n\r\n'):
            piece = client.recv(65536)
            if not piece:
                return
            question += piece
        with connect(path) as run_itself:
            run_itself.sendall(question[:-2] + b'Connection: close\r\n\r\n')
            asked.append(question)
            while piece := run_itself.recv(65536):
                client.sendall(piece)


def begin_between(path):
    """A folder in which the run at the path has a socket as well, behind which this process is, and what has been asked there."""
    folder = os.path.join(os.getcwd(), 'between')
    own = os.path.join(folder, f'hdss-{os.getuid()}')
    os.makedirs(own, mode=0o700)
    server, asked = socket.socket(socket.AF_UNIX), []
    server.bind(os.path.join(own, os.path.basename(path)))
    server.listen()

    def serve():
        while True:
            threading.Thread(target=hand_on, args=(server.accept()[0], path, asked), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    return folder, asked


def test_a_run_is_listed_shown_cancelled_and_waited_for():
    folder = here()
    assert run([HDSS, 'jobs']).out == 'no run of yours is there on this machine\n'
    process = begin()
    name = sockets(folder)[0].removesuffix('.sock')
    supermaster = ranks_of(process, SUPERMASTER)[0]
    assert name == f'run-{supermaster}', (name, supermaster)
    assert os.stat(folder).st_mode & 0o7777 == 0o700 and os.stat(f'{folder}/{name}.sock').st_mode & 0o7777 == 0o600
    lines = run([HDSS, 'jobs']).out.splitlines()
    assert len(lines) == 2 and lines[1].split()[:3] == [name, 'synthetic', 'running'] and lines[1].endswith(os.getcwd()), lines
    told = json.loads(run([HDSS, 'show', str(supermaster), '--format', 'json']).out)
    assert told['session'] == name and told['total'] == 100000 and told['workers'] == 2 and told['technique'] == 'ss', told
    assert told['command'][-4:] == ['iterations=100000', 'mean=10000', 'distribution=constant', 'mode=sleep'] and told['status'] is None, told
    assert f'{name}: synthetic, running\n' in run([HDSS, 'show']).out
    wrong = run([HDSS, 'show', 'x'])
    assert wrong.status == 2 and wrong.err == ["hdss show: 'x' is no run of yours on this machine; `hdss jobs` lists those that are there"], wrong
    assert run([HDSS, 'complete', 'hdss', 'wait', 'run-']).out.split() == [name]
    stuck = be_stuck(f'{folder}/{name}.sock')
    between, asked = begin_between(f'{folder}/{name}.sock')
    waits = start(['env', f'HDSS_CONTROL_DIR={between}', HDSS, 'wait'])
    wait_until(lambda: any(b'?wait=' in question for question in asked), 'hdss wait')
    cancelled = run([HDSS, 'cancel', name])
    assert cancelled.status == 0 and cancelled.out == f'{name} drains: what runs is finished and kept\n', cancelled
    result, waited = finish(process), finish(waits)
    assert result.status == 4 and 'stopped by a signal after a clean drain' in result.out, result
    assert waited.status == 4 and waited.out.startswith(f'{name}: cancelled, '), waited
    assert not os.path.exists(folder), os.listdir(folder)
    for client in stuck:
        client.close()


def test_what_a_killed_run_leaves_is_removed():
    folder = here()
    process = begin()
    os.kill(ranks_of(process, SUPERMASTER)[0], signal.SIGKILL)
    assert finish(process).status == 1 and not os.path.exists(folder)
    process = begin()
    supermaster = ranks_of(process, SUPERMASTER)[0]
    kill_tree(process.pid)
    assert finish(process).status == -signal.SIGKILL
    wait_until(lambda: not os.path.exists(f'/proc/{supermaster}'), 'the end of the supermaster')
    assert sockets(folder) == [f'run-{supermaster}.sock']
    assert run([HDSS, 'jobs', '--format', 'json']).out == '[]\n' and not os.path.exists(folder)


def ask_port(url, headers):
    """Status and headers of an answer, with its body."""
    try:
        with urllib.request.urlopen(urllib.request.Request(f'{url}/jobs/1', headers=headers), timeout=TIMEOUT_S) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.headers, refused.read()


def test_a_run_answers_at_a_port_whoever_has_its_token():
    folder = here()
    process = start([*SLEEPING[:2], '--http', '0', *SLEEPING[2:]])
    line = process.stderr.readline()
    url, path = re.fullmatch(r'supermaster: (http://127\.0\.0\.1:[0-9]+/v1) answers whoever has the token in (.*)\n', line).groups()
    assert path == os.path.join(folder, sockets(folder)[0].removesuffix('.sock') + '.token') and os.stat(path).st_mode & 0o7777 == 0o600, path
    with open(path, encoding='ascii') as file:
        token = file.read().strip()
    status, headers, body = ask_port(url, {'Authorization': f'Bearer {token}'})
    assert status == 200 and json.loads(body)['kernel'] == 'synthetic', body
    status, headers, body = ask_port(url, {})
    assert status == 401 and headers['WWW-Authenticate'] == 'Bearer' and b'synthetic' not in body, body
    assert ask_port(url, {'Authorization': f'Bearer {token[:-1]}'})[0] == 401
    assert ask_port(url, {'Authorization': f'Bearer {token}', 'Host': 'evil.example'})[0] == 403
    assert f'  http       {url}\n  token      {path}\n' in run([HDSS, 'show']).out
    taken = run([HDSS, 'run', '--workers', '1', '--http', url.split('/')[2], 'synthetic', 'iterations=1'])
    assert taken.status == 2 and taken.err == [f'supermaster: --http: cannot listen at {url.split("/")[2]}: Address already in use'], taken
    run([HDSS, 'cancel'])
    assert finish(process).status == 4 and not os.path.exists(folder)


def test_a_port_for_other_machines_is_warned_of():
    here()
    line = job(0, 1, ['--http', '0.0.0.0:0', 'synthetic', 'iterations=10', 'mean=0'])
    result = run(line)
    assert result.status == 0 and result.err[1].startswith('supermaster: --http: other machines can connect, and nothing is encrypted'), result
    for words, said in ((['--http', '65536'], "--http '65536': accepted: PORT, HOST:PORT or [IPV6]:PORT; a port is 0, for any that is free, to 65535"),
                        (['--http', '0', '--control', 'off'], '--http is a port of the control socket; accepted: without --control off'),
                        (['--http', '0', '--dca', 'rma'], '--http is for launches with a supermaster, not for --dca')):
        wrong = run([HDSS, 'run', '--workers', '1', *words, 'synthetic'])
        assert wrong.status == 2 and wrong.err == [f'hdss run: {said}'], wrong


def test_a_run_goes_on_without_a_socket():
    folder = here()
    line = job(0, 1, ['synthetic', 'iterations=10', 'mean=0'])
    with open(folder, 'w', encoding='utf-8'):  # there can be no folder of that name
        result = run(line)
    assert result.status == 0 and result.err == [], result
    assert os.path.getsize(folder) == 0


def test_metrics_are_what_prometheus_reads():
    if shutil.which('promtool') is None:
        return 'there is no promtool: Debian has prometheus'
    folder = here()
    process = begin()
    path = f'{folder}/{sockets(folder)[0]}'
    name = sockets(folder)[0].removesuffix('.sock').encode()
    text, opened = (ask(path, b'GET /metrics HTTP/1.1\r\nConnection: close\r\n' + accept + b'\r\n').partition(b'\r\n\r\n')[2]
                    for accept in (b'', b'Accept: application/openmetrics-text\r\n'))
    run([HDSS, 'cancel'])
    assert finish(process).status == 4
    told = subprocess.run(['promtool', 'check', 'metrics'], input=text, capture_output=True, check=False)
    assert told.returncode == 0 and told.stdout == told.stderr == b'', (told, text)
    assert b'\nhdss_job_iterations{session="' + name + b'",job_id="1"} 100000\n' in text, text
    # What is read into a database must have times.
    with open('metrics', 'wb') as file:
        file.write(b''.join(line if line.startswith(b'#') else line.rstrip() + b' 1700000000\n' for line in opened.splitlines(keepends=True)))
    told = subprocess.run(['promtool', 'tsdb', 'create-blocks-from', 'openmetrics', 'metrics', 'blocks'], capture_output=True, check=False)
    assert told.returncode == 0 and os.listdir('blocks'), (told, opened)
    return None


def test_a_thousand_idle_clients_are_served():
    folder = here()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 4096:
        return 'no room for so many descriptors'
    process = begin()
    path = os.path.join(folder, sockets(folder)[0])
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, hard))
    crowd = [connect(path) for _ in range(1000)]
    stuck = [client for _ in range(50) for client in get_stuck(path)]
    before = done_by(path)
    wait_until(lambda: done_by(path) > before, 'work beside clients of every kind')
    began = time.monotonic()
    for client in crowd:
        client.sendall(b'GET /v1/jobs/1 HTTP/1.1\r\n\r\n')
    for client in crowd:
        assert client.recv(100).startswith(b'HTTP/1.1 200')
    print(f'# 1,000 were answered in {time.monotonic() - began:.2f} s')
    assert b'"state":"running"' in ask(path)
    for client in crowd + stuck:
        client.close()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert run([HDSS, 'cancel']).status == 0
    assert finish(process).status == 4


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
