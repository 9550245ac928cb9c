# SPDX-License-Identifier: MIT
"""Runs that are sent signals: their loop, what they have stored, and the launcher below them."""
import contextlib
import os

from launch import HDSS, unhurried, wait_until

ITERATIONS = 20000
FLAT = ['--technique', 'ss', '--output', 'out.npy', '--report', 'report.json', *unhurried(ITERATIONS, sleep_us=20000)]
LOOP = ['--isolate', 'off', '--power', 'equal', *FLAT]
HEAD = 128  # bytes of an npy file before the first record
DRAINING = 'nothing begins any more'


@contextlib.contextmanager
def mpirun_waits():
    """Open MPI's mpirun sends its ranks SIGTERM a second behind the signal, and kills them a second later, in which a busy machine may not have
    drained: here both are two seconds."""
    names = ('OMPI_MCA_odls_base_sigkill_timeout', 'PRTE_MCA_odls_base_sigkill_timeout')
    before = {name: os.environ[name] for name in names if name in os.environ}
    os.environ.update(dict.fromkeys(names, '2'))
    try:
        yield
    finally:
        for name in names:
            del os.environ[name]
        os.environ.update(before)


def hdss(*options, words=LOOP):
    return [HDSS, 'run', *options, *words]


def content():
    try:
        with open('out.npy', 'rb') as file:
            return file.read()
    except OSError:
        return b''


def wait_for_records():
    wait_until(lambda: any(content()[HEAD:]), 'the first result')


def clear():
    for name in os.listdir('.'):
        os.remove(name)


def program(name, text):
    """A launcher of our own, which says that it is Open MPI's."""
    with open(name, 'w') as file:
        file.write(f'#!/bin/sh\n[ "$1" != --version ] || exec mpirun --version\n{text}\n')
    os.chmod(name, 0o755)
    return f'./{name}'
