# SPDX-License-Identifier: MIT
"""Sets in a folder of the test, asked by the commands that users type."""
import json
import os

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
