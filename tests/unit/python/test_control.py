# SPDX-License-Identifier: MIT
"""The package's client of a set, against answers byte by byte: which are taken, what is told of all others, and that the next request is asked anew."""
import os
import socket
import sys
import threading
import types

sys.path.insert(0, os.path.join(os.environ['SOURCE_ROOT'], 'deploy', 'python'))
# pylint: disable=wrong-import-position
from hdss import HdssError, SetLost, _control
from launch import main
from set_double import SetDouble

ANSWER = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 8\r\n\r\n{"a": 1}'


class Scripted:
    """A socket that gives one script after the other: each a list of answers, in order, over one connection, which it closes after them. It keeps
    what it was asked."""

    def __init__(self, *scripts):
        self.path = os.path.join(os.getcwd(), f'scripted-{len(os.listdir())}.sock')
        self.asked, self.connections = [], 0
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(8)
        self.thread = threading.Thread(target=self.serve, args=(scripts,), daemon=True)
        self.thread.start()

    def serve(self, scripts):
        for script in scripts:
            client, _ = self.listener.accept()
            self.connections += 1
            with client, client.makefile('rb') as stream:
                try:
                    for answer in script:
                        self.asked.append(self.request(stream))
                        client.sendall(answer)
                except BrokenPipeError:  # it has closed before it was told all
                    pass
        self.listener.close()

    @staticmethod
    def request(stream):
        head, length = [], 0
        while (line := stream.readline().strip()):
            head.append(line)
            if line.lower().startswith(b'content-length:'):
                length = int(line.split(b':')[1])
        return b'\n'.join(head), stream.read(length)


def raised(kind, call):
    try:
        made = call()
    except kind as error:
        return error
    raise AssertionError(f'{made!r} in the place of {kind.__name__}')


def test_one_connection_serves_many_requests():
    scripted = Scripted([ANSWER, b'HTTP/1.1 204 No Content\r\n\r\n', ANSWER])
    control = _control.Control(scripted.path)
    assert control.ask('GET', '/v1') == {'a': 1}
    assert control.ask_bytes('DELETE', '/v1/jobs/1') == b''
    assert control.ask('POST', '/v1/jobs', {'words': ['é']}) == {'a': 1}
    control.close()
    scripted.thread.join()
    assert scripted.connections == 1
    assert scripted.asked[0] == (b'GET /v1 HTTP/1.1\nHost: hdss', b'')
    assert scripted.asked[2] == (b'POST /v1/jobs HTTP/1.1\nHost: hdss\nContent-Length: 21', b'{"words": ["\\u00e9"]}'), scripted.asked[2]


def test_an_answer_without_a_length_ends_with_its_connection():
    scripted = Scripted([b'HTTP/1.1 200 OK\r\n\r\n' + b'x' * 100000], [b'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\ny'], [ANSWER])
    control = _control.Control(scripted.path)
    assert control.ask_bytes('GET', '/a') == b'x' * 100000
    assert control.ask_bytes('GET', '/b') == b'y'
    assert control.ask('GET', '/c') == {'a': 1}
    assert scripted.connections == 3
    control.close()


def test_an_answer_that_is_cut_off_is_told_and_asked_anew():
    cuts = range(len(ANSWER))
    scripted = Scripted(*(script for at in cuts for script in ([ANSWER[:at]], [ANSWER])))
    control = _control.Control(scripted.path)
    for at in cuts:
        error = raised(SetLost, lambda: control.ask('GET', '/v1'))
        assert scripted.path in str(error) and 'does not answer' in str(error), (at, error)
        assert control.ask('GET', '/v1') == {'a': 1}, at
        control.close()


def test_what_is_no_answer_is_told():
    heads = [b'SSH-2.0-x\r\n\r\n', b'HTTP/1.1 abc\r\n\r\n', b'\r\n', b'HTTP/1.1 200 OK\r\nno colon\r\n\r\n',
             b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
             b'HTTP/1.1 200 OK\r\n' + b''.join(b'a%d: b\r\n' % i for i in range(101)) + b'\r\n', b'HTTP/1.1 200 OK\r\na: ' + b'b' * (1 << 16) + b'\r\n\r\n']
    scripted = Scripted(*([head] for head in heads))
    control = _control.Control(scripted.path)
    for head in heads:
        raised(SetLost, lambda: control.ask_bytes('GET', '/v1'))
    assert scripted.connections == len(heads)


def test_refusals_are_told_with_the_words_of_the_set():
    def refusal(status, body):
        return b'HTTP/1.1 %d x\r\nContent-Length: %d\r\n\r\n' % (status, len(body)) + body

    cases = [(status, b'{"error": "no such job"}', 'no such job') for status in (400, 401, 404, 409, 413, 499, 500, 503)]
    cases += [(400, body, 'the set answers 400') for body in (b'', b'[1]', b'{}', b'\xff', b'{"error"')]
    scripted = Scripted([refusal(status, body) for status, body, _ in cases] + [refusal(399, b'7')])
    control = _control.Control(scripted.path)
    for status, _, text in cases:
        error = raised(_control.Refused, lambda: control.ask('GET', '/v1'))
        assert error.status == status and str(error) == text, (status, error)
    assert control.ask('GET', '/v1') == 7
    assert scripted.connections == 1, 'a refusal is an answer'
    control.close()


def test_a_request_is_ended_by_another_thread():
    scripted = Scripted([b''])
    control = _control.Control(scripted.path)
    asked = threading.Event()
    scripted.request = lambda stream: (Scripted.request(stream), asked.set(), stream.read(1))  # it answers when the other end has closed
    errors = []
    thread = threading.Thread(target=lambda: errors.append(raised(SetLost, lambda: control.ask('GET', '/v1'))))
    thread.start()
    asked.wait()
    control.end()
    thread.join()
    assert len(errors) == 1, errors
    raised(SetLost, lambda: control.ask('GET', '/v1'))
    absent = _control.Control(os.path.join(os.getcwd(), 'absent.sock'))
    raised(SetLost, lambda: absent.ask('GET', '/v1'))


def test_a_full_queue_of_clients_is_waited_for():
    path, others, waits = os.path.join(os.getcwd(), 'full.sock'), [], []
    clock = _control.time
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(0)
        while not others or others[-1].connect_ex(path) == 0:
            others.append(socket.socket(socket.AF_UNIX))
            others[-1].setblocking(False)

        def sleep(seconds):
            waits.append(seconds)
            others.append(listener.accept()[0])

        raised(SetLost, lambda: _control.Control(path, 0.02).ask('GET', '/v1'))
        _control.time = types.SimpleNamespace(monotonic=clock.monotonic, sleep=sleep)
        try:
            raised(SetLost, lambda: _control.Control(path, 0.5).ask('GET', '/v1'))  # it is accepted, and not answered
        finally:
            _control.time = clock
    assert len(waits) == 1
    for other in others:
        other.close()


def test_the_set_that_is_meant_is_found():
    for name in ('HDSS_SET', 'SLURM_JOB_ID', 'PBS_JOBID', 'LSB_JOBID'):
        os.environ.pop(name, None)
    os.environ['HDSS_CONTROL_DIR'] = os.getcwd()
    folder = os.path.join(os.getcwd(), f'hdss-{os.geteuid()}')
    assert _control.find() is None
    with SetDouble(folder, 'night') as night, SetDouble(folder, '4711') as batch:
        text = str(raised(HdssError, _control.find))
        assert '2 sets are up' in text and 'night' in text and '4711' in text, text
        assert _control.find('night') == night.path
        os.environ['PBS_JOBID'] = '4711'
        assert _control.find() == batch.path
        os.environ['HDSS_SET'] = 'night'
        assert _control.find() == night.path
        text = str(raised(HdssError, lambda: _control.find('day')))
        assert "'day'" in text and 'night' in text and 'hdss up --name day' in text, text
        os.chmod(folder, 0o755)  # others could have put a socket there
        raised(HdssError, _control.find)
        os.chmod(folder, 0o700)
        del os.environ['HDSS_SET'], os.environ['PBS_JOBID']
        night.go()
        assert _control.find() == batch.path, 'the only one that answers'
    with SetDouble(folder, 'own-1'):
        assert _control.find() is None, 'it belongs to a program'


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
