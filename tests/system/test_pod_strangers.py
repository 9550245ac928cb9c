# SPDX-License-Identifier: MIT
"""Those who must not join a set as pods: other users, who has no key or another one, who says again what somebody else has said, or half of it,
or junk; and joining by munge, which lets the same user in, and nobody else.

HDSS_TEST_JUNK says for how many seconds there is junk besides (default 0); the memory of the set is printed each minute.
"""
import os
import random
import re
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time

from launch import HDSS, SUPERMASTER, TIMEOUT_S, finish, main, run, start, wait_until
from munged import PROGRAM, Munged
from pods import join, pods, ticket_lines, write_ticket
from sets import down, here, well

NOBODY = 65534
JUNK_S = int(os.environ.get('HDSS_TEST_JUNK', '0'))
REFUSED_TLS = 'it does not speak TLS 1.3 with a shared key'


def port():
    with open('hdss/main/pods', encoding='ascii') as file:
        return int(re.search(r'127\.0\.0\.1:(\d+)', file.read())[1])


def log():
    with open('hdss/main/log', encoding='utf-8', errors='replace') as file:
        return file.read()


def resident():
    """KiB of the supermaster; 0 where a sanitizer keeps what was freed."""
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            if os.readlink(f'/proc/{pid}/exe') == os.path.realpath(SUPERMASTER) and os.readlink(f'/proc/{pid}/cwd') == os.getcwd():
                with open(f'/proc/{pid}/maps', encoding='utf-8') as file:
                    if 'libasan' in file.read():
                        return 0
                with open(f'/proc/{pid}/status', encoding='ascii') as file:
                    return int(re.search(r'VmRSS:\s+(\d+)', file.read())[1])
        except OSError:
            continue
    raise AssertionError('no supermaster')


def say(data, number=None):
    """Says that to the set, and no more. All that it answers."""
    answer = b''
    with socket.create_connection(('127.0.0.1', number or port()), timeout=TIMEOUT_S) as stranger:
        try:
            stranger.sendall(data)
            stranger.shutdown(socket.SHUT_WR)
            while part := stranger.recv(65536):
                answer += part
        except OSError:  # it has been sent away already
            pass
    return answer


def says_in_log(make, line):
    """The set says so of what is made; it says no more than some lines a second, so that one may have to be made again."""
    def has_said():
        say(make())
        return line in log()
    wait_until(has_said, f'the line of the set, {line}')


class Recorder:
    """Stands between a pod and a port, and keeps what the pod says by its first connection."""

    def __init__(self, to):
        self.said, self.to = b'', to
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        is_first = True
        while True:
            near, _ = self.listener.accept()
            far = socket.create_connection(('127.0.0.1', self.to))
            threading.Thread(target=self._carry, args=(near, far, is_first), daemon=True).start()
            threading.Thread(target=self._carry, args=(far, near, False), daemon=True).start()
            is_first = False

    def _carry(self, one, other, keeps):
        try:
            while data := one.recv(65536):
                self.said += data if keeps else b''
                other.sendall(data)
        except OSError:
            pass


def ticket_of(number, key=None):
    """The file by which a pod joins at that port of this machine."""
    lines = [line for line in ticket_lines() if not line.startswith('address')]
    lines.insert(1, f'address 127.0.0.1:{number}')
    if key is not None:
        lines[-1] = f'key {key}'
    return write_ticket('other', lines)


def refused_once(words, told, logged):
    """A pod that is refused gets one line, and so does the set."""
    before = log().count(logged)
    result = run([HDSS, 'join', '--workers', '1', *words])
    assert result.status == 2 and len(result.err) == 1 and told in result.err[0], result
    wait_until(lambda: log().count(logged) == before + 1, f'the line of the set, {logged}')


def turn_a_bit(draw, data):
    turned = bytearray(data)
    turned[draw.randrange(len(turned))] ^= 1 << draw.randrange(8)
    return bytes(turned)


def throw_junk(draw, said, number):
    """For JUNK_S seconds, beside a pod that goes on. The memory of the set does not grow after the first minute."""
    began, sizes, count = time.monotonic(), [], 0
    kinds = [lambda: said, lambda: said[:draw.randrange(len(said))], lambda: turn_a_bit(draw, said), lambda: draw.randbytes(draw.randrange(1, 100000)),
             lambda: b'\x16\x03\x01' + draw.randbytes(draw.randrange(1, 3000)), lambda: greeting(draw.randbytes(draw.randrange(1, 500)))]
    while time.monotonic() - began < JUNK_S:
        say(draw.choice(kinds)(), number)
        count += 1
        if time.monotonic() - began > 60 * (len(sizes) + 1):
            sizes.append(resident())
            print(f'# {count} strangers in {len(sizes)} min: {sizes[-1]} KiB, {len(pods())} pod', flush=True)
    assert not sizes or max(sizes) - sizes[0] < 1024, sizes


def test_a_port_is_for_who_has_the_key():
    """A session is recorded, and said again: as it was, and with bits turned over. Then there is junk. `stream-time` cuts it after each byte."""
    here()
    well(['up', '--listen', '127.0.0.1:0', '--pods-only'])
    try:
        recorder = Recorder(port())
        pod = start([HDSS, 'join', '--workers', '1', ticket_of(recorder.port)])
        wait_until(pods, 'the pod')
        handshake = recorder.said[:recorder.said.rindex(b'\x17\x03\x03')]  # up to the last record so far
        refused_once([ticket_of(port(), 64 * '0')], ': it has another key', 'was sent away: it has another key')
        before = resident()
        number, draw = port(), random.Random(25)
        assert len(say(recorder.said, number)) < 4096  # the beginning of a handshake at most: OpenSSL 3.5 has keys of 1,120 bytes in it
        for _ in range(200):
            say(turn_a_bit(draw, handshake), number)
        for size in (1, 5, 100, 5000, 1000000):
            say(draw.randbytes(size), number)
            say(b'\x16\x03\x01' + draw.randbytes(size), number)
        assert resident() - before < 4096, (before, resident())
        throw_junk(draw, recorder.said, number)
        says_in_log(lambda: b'GET / HTTP/1.1', f'was sent away: {REFUSED_TLS}')
        assert len(pods()) == 1
        assert well(['submit', '--wait', 'mandelbrot', 'width=16', 'height=16']).startswith('mandelbrot: 16 iterations done')
    finally:
        down()
    assert finish(pod).status == 0


def knock_as_nobody(path):
    """What a process of another user gets who says a good HELLO: nothing, as its status says."""
    child = os.fork()
    if child == 0:
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
        hello = bytes.fromhex('016c000000000000') + b'HDSSjoin' + struct.pack('<HHII', 1, 18, 1, 1) + bytes(24) + b'node7'.ljust(64, b'\0')
        with socket.socket(socket.AF_UNIX) as stranger:
            try:
                stranger.connect(path)
                stranger.sendall(hello)
                os._exit(1 if stranger.recv(100) else 0)
            except ConnectionError:
                os._exit(0)
            except OSError:
                os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_folder_is_for_its_user():
    """Also where its permissions would let others in."""
    if os.geteuid() != 0:
        return 'takes root'
    here()
    well(['up', '--listen', 'local', '--pods-only'])
    folders = [os.getcwd()]
    while folders[-1] != '/':
        folders.append(os.path.dirname(folders[-1]))
    path = os.path.realpath('hdss/main/pods.socket')
    try:
        assert knock_as_nobody(path) == 2  # the folder keeps it out
        for folder in ('hdss/main', 'hdss', *folders[:-1]):
            os.chmod(folder, os.stat(folder).st_mode | 0o011)
        os.chmod(path, 0o666)
        assert knock_as_nobody(path) == 0
        wait_until(lambda: f'a stranger was sent away: it is of user {NOBODY}' in log(), 'the line of the set')
        pod = join(1)
    finally:
        down()
    assert finish(pod).status == 0
    return None


# --- munge ---


def greeting(credential):
    return b'HDSScred' + struct.pack('<I', len(credential)) + credential


def credential_of(user, munged, payload, reader):
    """What `munge` makes for that user, which a process of `reader` alone can open."""
    words = ['setpriv', f'--reuid={user}', '--clear-groups', 'munge', f'--socket={munged.socket}', f'--string={payload}', f'--restrict-uid={reader}']
    return subprocess.run(words, capture_output=True, check=True).stdout.strip()


def cannot_join(line):
    """There is nothing to say to whoever listens."""
    with socket.create_server(('127.0.0.1', 0)) as listener:
        address = f'127.0.0.1:{listener.getsockname()[1]}'
        refused = run([HDSS, 'join', '--workers', '1', address])
    assert refused.status == 2 and len(refused.err) == 1 and f'cannot join at {address}: {line}' in refused.err[0], refused


def test_munge_is_the_key():
    """Whoever is the same user joins by the address alone. Nobody joins by what somebody else has said before."""
    if not os.environ['HAS_MUNGE']:
        return 'this build has no munge'
    if PROGRAM is None or os.geteuid() != 0:
        return 'takes munge and root'
    here()
    with tempfile.TemporaryDirectory() as folder, Munged(folder) as munged:
        os.chmod(folder, 0o755)  # for other users, as that of the system is
        well(['up', '--listen', '127.0.0.1:0', '--pods-only'])
        try:
            recorder = Recorder(port())
            pod = start([HDSS, 'join', '--workers', '1', f'127.0.0.1:{recorder.port}'])
            wait_until(pods, 'the pod')
            assert recorder.said.startswith(b'HDSScred') and b'MUNGE:' in recorder.said
            says_in_log(lambda: recorder.said, 'was sent away: munge: Replayed credential')
            says_in_log(lambda: greeting(credential_of(0, munged, 'x', 0)), 'its credential of munge is for something else')
            says_in_log(lambda: greeting(credential_of(NOBODY, munged, 'x', 0)), f'its credential of munge is of user {NOBODY}')
            says_in_log(lambda: greeting(credential_of(0, munged, 'x', NOBODY)), 'munge: Unauthorized credential')
            says_in_log(lambda: greeting(b'MUNGE:junk:'), 'munge: Invalid credential')
            munged.process.send_signal(signal.SIGSTOP)  # nobody waits for it but who wants to join
            with socket.create_connection(('127.0.0.1', port())) as stranger:
                stranger.sendall(greeting(b'MUNGE:junk:'))
                assert well(['submit', '--wait', 'mandelbrot', 'width=16', 'height=16']).startswith('mandelbrot: 16 iterations done')
            munged.process.send_signal(signal.SIGCONT)
            assert len(pods()) == 1
        finally:
            down()
        assert finish(pod).status == 0
    os.environ['HDSS_MUNGE_SOCKET'] = f'{os.getcwd()}/none'
    cannot_join('munge: ')
    del os.environ['HDSS_MUNGE_SOCKET']
    return None


def test_without_munge():
    if os.environ['HAS_MUNGE']:
        return 'this build has munge'
    cannot_join('this build has no munge')
    return None


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
