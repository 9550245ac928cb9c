# SPDX-License-Identifier: MIT
"""Sets in a folder of the test, asked by the commands that users type."""
import http.client
import json
import os
import socket

from launch import HDSS, run


def here():
    """Sockets and the folders of sets in a folder of this test's own."""
    os.environ['HDSS_CONTROL_DIR'] = os.environ['XDG_STATE_HOME'] = os.getcwd()
    for name in ('HDSS_SET', 'SLURM_JOB_ID', 'PBS_JOBID', 'LSB_JOBID'):
        os.environ.pop(name, None)


def well(words):
    result = run([HDSS, *words])
    assert result.status == 0, result
    return result.out


def job(number):
    return json.loads(well(['show', number, '--format', 'json']))


def down():
    assert run([HDSS, 'down']).status == 0


def wait_for(number, status=0):
    waited = run([HDSS, 'wait', number])
    assert waited.status == status, waited
    return waited


def refused(words, *texts):
    result = run([HDSS, *words])
    assert result.status == 2 and len(result.err) == 1 and all(text in result.err[0] for text in texts), (words, result)


def up(*words):
    """The process that stays: it is nobody's child, and has to be ended whatever comes."""
    assert well(['up', '--workers', '2', *words]) == 'main is up\n'


def submission(words):
    return {'words': words, 'folder': os.getcwd(), 'environment': [f'PATH={os.environ["PATH"]}']}


def post(jobs):
    """Hands jobs over by one request. Returns with the last byte of the answer."""
    client = http.client.HTTPConnection('localhost')
    client.sock = socket.socket(socket.AF_UNIX)
    client.sock.connect(os.path.join(os.getcwd(), f'hdss-{os.getuid()}', 'main.sock'))
    client.request('POST', '/v1/jobs', json.dumps(jobs))
    answer = client.getresponse()
    assert answer.status == 201, answer.read()
    told = json.loads(answer.read())
    client.close()
    return told
