# SPDX-License-Identifier: MIT
"""Pods of sets: those that join, what they are, and a proxy that cuts their connections."""
import contextlib
import json
import os
import re
import socket
import threading

from launch import JOIN, finish, start, wait_until
from sets import down, here, well

SINGLY = ['--technique', 'ss', '--power', 'equal']


def pods():
    return json.loads(well(['pods', '--format', 'json']))


def join(workers=2):
    """A pod that has joined."""
    before = len(pods())
    process = start([*JOIN, '--workers', str(workers)])
    wait_until(lambda: len(pods()) > before, 'the pod')
    return process


@contextlib.contextmanager
def set_of_pods(*lines):
    """A set of pods alone, which have joined by these command lines, and leave it in order."""
    here()
    well(['up', '--listen', 'local', '--pods-only'])
    processes = []
    try:
        processes += map(start, lines)
        wait_until(lambda: len(pods()) == len(lines), 'the pods')
        yield processes
    finally:
        down()
    assert [finish(pod).status for pod in processes] == [0] * len(lines)


class Proxy(threading.Thread):
    """Stands between a pod and its set, and cuts what goes through."""

    def __init__(self, path, to):
        super().__init__(daemon=True)
        self.to = to
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(path)
        self.socket.listen()
        self.pairs = []
        self.start()

    def run(self):
        while True:
            near, _ = self.socket.accept()
            far = socket.socket(socket.AF_UNIX)
            try:
                far.connect(self.to)
            except OSError:  # the set has ended
                near.close()
                continue
            self.pairs.append((near, far))
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self.carry, args=(one, other), daemon=True).start()

    @staticmethod
    def carry(one, other):
        try:
            while data := one.recv(65536):
                other.sendall(data)
        except OSError:
            pass

    def cut(self):
        for pair in self.pairs:
            for end in pair:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
        self.pairs.clear()


def ticket_lines():
    """Those of the set's file, without the sum: whoever changes the others has it no more."""
    with open('hdss/main/pods', encoding='ascii') as file:
        return [line for line in file.read().splitlines() if not line.startswith('sum ')]


def write_ticket(name, lines):
    """Returns how the file is named to a program."""
    with open(name, 'w', encoding='ascii', opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        file.write('\n'.join(lines) + '\n')
    return f'./{name}'


def ticket_by(path):
    """The file by which a pod joins through the proxy at that path."""
    return write_ticket(f'{path}.pods', [re.sub('address .*', f'address {os.path.abspath(path)}', line) for line in ticket_lines()])
