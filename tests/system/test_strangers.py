# SPDX-License-Identifier: MIT
"""Another user of the machine can do nothing with a set: not connect, not submit, not read what it keeps, and not be there before it. All
of it is tried by a process of that user, which only root can start."""
import json
import os
import socket
import sys

from launch import HDSS, main, run

STRANGER = 65534
NO_ROOT = 'only root can become another user'


def here():
    """A place like /tmp, that all users may enter and write, with this test's sockets; and the set's folder in it."""
    os.chmod('.', 0o1777)
    os.environ['HDSS_CONTROL_DIR'] = os.environ['XDG_STATE_HOME'] = os.getcwd()
    for name in ('HDSS_SET', 'SLURM_JOB_ID', 'PBS_JOBID', 'LSB_JOBID'):
        os.environ.pop(name, None)
    return os.path.join(os.getcwd(), f'hdss-{os.getuid()}')


def be_the_stranger():
    os.setgroups([])
    os.setgid(STRANGER)
    os.setuid(STRANGER)


def as_stranger(act, *arguments):
    """What the function comes to as the other user: its result, or the name of its error."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            be_the_stranger()
            result = repr(act(*arguments))
        except Exception as error:  # nothing may go on as the test itself here
            result = type(error).__name__
        os.write(writing, result.encode())
        os._exit(0)
    os.close(writing)
    with open(reading, encoding='utf-8') as pipe:
        result = pipe.read()
    os.waitpid(child, 0)
    return result


def well(words):
    result = run([HDSS, *words])
    assert result.status == 0, result
    return result.out


def ask(path, request):
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(30)
        client.connect(path)
        client.sendall(request)
        return client.recv(100)


def read(path):
    with open(path, 'rb') as file:
        return file.read(1)


def append(path):
    with open(path, 'ab') as file:
        return file.write(b'x')


def ask_port(port, request):
    with socket.socket() as client:
        client.settimeout(30)
        client.connect((b'127.0.0.1', port))
        client.sendall(request)
        return client.recv(100)


JOB = json.dumps({'words': ['exec', 'command=touch stolen'], 'folder': '/tmp'}).encode()
HEAD = b'/v1/jobs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer %s\r\n' % (b'0' * 64)
GET = b'GET ' + HEAD + b'\r\n'
POST = b'POST ' + HEAD + b'Content-Length: %d\r\n\r\n' % len(JOB) + JOB


def refuse_to_be_asked(folder, session):
    path = os.path.join(folder, 'main.sock')
    assert as_stranger(os.listdir, folder) == 'PermissionError'
    assert as_stranger(read, session['token_file']) == 'PermissionError'
    assert as_stranger(os.unlink, path) == 'PermissionError' and as_stranger(os.rename, folder, folder + '.old') == 'PermissionError'
    port = int(session['http'].split(':')[2].split('/')[0])
    for request in (GET, POST):
        assert as_stranger(ask, path, request) == 'PermissionError'
        assert (answer := as_stranger(ask_port, port, request)).startswith("b'HTTP/1.1 401"), answer
    os.chmod(folder, 0o755)
    os.chmod(path, 0o666)  # nothing is left but who is at the other end
    for request in (GET, POST):
        assert as_stranger(ask, path, request) in ("b''", 'ConnectionResetError', 'BrokenPipeError'), as_stranger(ask, path, request)
    assert as_stranger(read, session['token_file']) == 'PermissionError'
    os.chmod(folder, 0o700)


def refuse_to_be_read(state):
    for name in ('queue', 'log', 'jobs/1.out', 'jobs/1.err'):
        path = os.path.join(state, name)
        assert os.path.exists(path) and as_stranger(read, path) == 'PermissionError' and as_stranger(append, path) == 'PermissionError', path
    assert as_stranger(os.listdir, state) == 'PermissionError'
    os.chmod(state, 0o755)  # as a folder may be that was there before
    for name in ('queue', 'log', 'jobs/1.out'):
        assert as_stranger(read, os.path.join(state, name)) == 'PermissionError', name
    assert as_stranger(os.listdir, os.path.join(state, 'jobs')) == 'PermissionError'
    os.chmod(state, 0o700)


def test_nobody_else_connects_submits_or_reads():
    if os.getuid() != 0:
        return NO_ROOT
    folder = here()
    os.umask(0)  # which is to change nothing
    session = json.loads(well(['up', '--workers', '1', '--http', '0', '--format', 'json']))
    try:
        well(['submit', '--wait', 'synthetic', 'iterations=3'])
        refuse_to_be_asked(folder, session)
        refuse_to_be_read(os.path.join(os.getcwd(), 'hdss', 'main'))
        listed = json.loads(well(['jobs', '--all', '--format', 'json']))
        assert [job['id'] for job in listed] == [1], listed
    finally:
        well(['down'])
        os.umask(0o022)


def plant(make, *arguments):
    assert as_stranger(make, *arguments) == 'None'


def test_nobody_else_is_there_before():
    if os.getuid() != 0:
        return NO_ROOT
    folder = here()
    plant(os.mkdir, folder, 0o777)
    result = run([HDSS, 'up', '--workers', '1'])
    assert result.status == 2 and result.err == [f'supermaster: {folder} belongs to another user'], result
    os.rmdir(folder)
    plant(os.mkdir, 'trap', 0o777)
    plant(os.symlink, os.path.join(os.getcwd(), 'trap'), folder)
    result = run([HDSS, 'up', '--workers', '1'])
    assert result.status == 2 and result.err[0].startswith(f'supermaster: {folder}: '), result
    assert os.listdir('trap') == []
    os.unlink(folder)


def test_no_folder_of_somebody_else_keeps_the_jobs():
    if os.getuid() != 0:
        return NO_ROOT
    here()
    plant(os.mkdir, 'kept', 0o777)
    with open('precious', 'w', encoding='ascii') as file:
        file.write('as it was')
    plant(os.symlink, os.path.join(os.getcwd(), 'precious'), 'kept/log')
    result = run([HDSS, 'up', '--workers', '1', '--state', 'kept'])
    assert result.status == 2 and result.err == [f'hdss up: {os.getcwd()}/kept belongs to another user'], result
    with open('precious', encoding='ascii') as file:
        assert file.read() == 'as it was'
    os.mkdir('open')
    os.chmod('open', 0o777)
    result = run([HDSS, 'up', '--workers', '1', '--state', 'open'])
    said = f'others may write in {os.getcwd()}/open, which has the mode 0777; accepted: 0700'
    assert result.status == 2 and result.err == [f'hdss up: {said}'], result
    direct = run([HDSS, 'up', '--foreground', '--workers', '1', '--state', 'open'])
    assert direct.status == 2 and direct.err == [f'supermaster: {said}'], direct


if __name__ == '__main__':
    sys.exit(main([
        test_nobody_else_connects_submits_or_reads,
        test_nobody_else_is_there_before,
        test_no_folder_of_somebody_else_keeps_the_jobs,
    ]))
