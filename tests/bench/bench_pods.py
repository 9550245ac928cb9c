# SPDX-License-Identifier: MIT
"""Pods: launches that join a set over a stream.

First: from the start of `hdss join` until its first task runs, with its ranks started by mpirun and without MPI. Rates: empty chunks, of one iteration each, through a pod of either kind
and in one launch. Loop: a loop over two pods, and over two masters of one launch.
Presence: workers double and halve while a loop goes on; the time that they compute, over the time that they were there.
Results: rows of 256 KiB that a pod's workers yield, written by the pod (there) and by its set (here), beside as many bytes over a bare TCP socket, written by
who receives them, and not. A pod at a port has TLS, which the socket has not. What a stream alone takes is what bench-stream measures.
Hosts: `hdss run` over 2 to 16 pretended nodes (as root), by one launch and by a pod for each of them: the whole command and the loop alone, which sleeps for some 2 s.
"""
import json
import os
import socket
import subprocess
import sys
import tempfile
import time

from measure import header, record, side_by_side, sized, spread
from launch import HDSS, report, run, wait_until
from nodes import Nodes

SLEEPING = ['--technique', 'dfss', 'synthetic', 'distribution=constant', 'mode=sleep']


def hdss(*words):
    result = run([HDSS, *words])
    assert result.status == 0, result
    return result.out


def pods(name):
    return json.loads(hdss('pods', '--format', 'json', name))


class Set:
    """A set of that name, with its pods."""

    def __init__(self, name, *words):
        self.name, self.joined = name, []
        hdss('up', '--name', name, *words)

    def begin(self, workers, by=None, launcher='auto'):
        """`by`: a file other than the set's own by which it joins."""
        line = [HDSS, 'join', '--launcher', launcher, '--workers', str(workers), by or self.name]
        self.joined.append(subprocess.Popen(line, stdin=subprocess.DEVNULL))

    def join(self, workers, by=None, launcher='auto'):
        before = len(pods(self.name))
        self.begin(workers, by, launcher)
        wait_until(lambda: len(pods(self.name)) > before, 'a pod')

    def port_alone(self):
        """The file by which a pod joins at the port, and not by the socket in the folder, which a pod of this machine would take."""
        with open(f'hdss/{self.name}/pods', encoding='ascii') as file:
            lines = [line for line in file if not line.startswith(('address /', 'sum '))]
        with open(f'{self.name}.pods', 'w', encoding='ascii', opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.writelines(lines)
        return f'./{self.name}.pods'

    def leave(self):
        pod = self.joined.pop()
        pod.terminate()
        pod.wait()

    def elapsed(self, *words):
        """Seconds that a job takes, as its report says."""
        hdss('submit', '--wait', '--set', self.name, '--summary', 'none', '--report', 'report.json', *words)
        return report()['elapsed_s']

    def end(self):
        hdss('down', self.name)
        for pod in self.joined:
            pod.wait()


def measure_first(launcher):
    """Seconds from the start of a pod until its first task runs."""
    there = Set('first', '--listen', 'local', '--pods-only')
    try:
        hdss('submit', '--set', 'first', '--summary', 'none', '--output', 'first.txt', '--overwrite', 'exec', 'command=date +%s.%N', 'count=1')
        began = time.time()
        there.begin(2, launcher=launcher)
        hdss('wait', 'first/1')
        with open('first.txt', encoding='ascii') as file:
            return float(file.read()) - began
    finally:
        there.end()


def compare_rates():
    chunks = sized(100000, 2000)
    words = ['--technique', 'ss', '--power', 'equal', 'synthetic', 'distribution=constant', 'mean=0', f'iterations={chunks}']
    sets = {'through a pod': Set('stream', '--listen', 'local', '--pods-only'), 'without MPI': Set('forked', '--listen', 'local', '--pods-only'),
            'in one launch': Set('mpi', '--masters', '1', '--workers', '2')}
    try:
        sets['through a pod'].join(2, launcher='mpi')
        sets['without MPI'].join(2, launcher='none')
        found = side_by_side({name: lambda one=one: chunks / one.elapsed(*words) for name, one in sets.items()})
    finally:
        for one in sets.values():
            one.end()
    for name, values in found.items():
        print(f'  empty chunks/s {name:16} {spread(values, "{:,.0f}")}')
        record('pods', f'chunks {name}', values)
    for name, label in (('through a pod', 'chunks ratio'), ('without MPI', 'chunks ratio without MPI')):
        ratios = [pod / launch for pod, launch in zip(found[name], found['in one launch'])]
        print(f'  {name}, over one launch {spread(ratios)}', flush=True)
        record('pods', label, ratios)


def compare_loops():
    words = [*SLEEPING, f'iterations={sized(8000, 200)}', 'mean=1000']
    two, one = Set('two', '--listen', 'local', '--pods-only'), Set('one', '--masters', '2', '--workers', '4')
    try:
        two.join(2)
        two.join(2)
        found = side_by_side({'two pods': lambda: two.elapsed(*words), 'one launch': lambda: one.elapsed(*words)})
    finally:
        two.end()
        one.end()
    ratios = [pod / launch for pod, launch in zip(found['two pods'], found['one launch'])]
    print(f'  a loop over two pods, its time over that in one launch {spread(ratios)}', flush=True)
    record('pods', 'loop ratio', ratios)


def measure_presence():
    """The efficiency, of what was there, of a loop whose workers become 16, 8, 16, 8, .. of 16."""
    workers = sized(8, 1)
    there = Set('presence', '--listen', 'local', '--pods-only')
    try:
        there.join(workers)
        hdss('submit', '--set', 'presence', '--summary', 'none', '--report', 'report.json', *SLEEPING, f'iterations={sized(24000, 400)}', 'mean=5000')
        for _ in range(sized(3, 1)):
            time.sleep(sized(1, 0.2))
            there.join(workers)
            time.sleep(sized(1, 0.2))
            there.leave()
        hdss('wait', 'presence/1')
    finally:
        there.end()
    return report()['efficiency']


ROW_BYTES, ROWS = 1 << 18, sized(2000, 20)
ROWS_LOOP = ['--technique', 'css:chunk=4', '--overwrite', '--journal', 'off', '--output', 'rows.bin', 'mandelbrot', f'width={ROW_BYTES // 4}', f'height={ROWS}', 'max_iter=1']


def bare_rate(file):
    """Bytes/s over a bare TCP socket, into the file where there is one."""
    with socket.create_server(('127.0.0.1', 0)) as listener:
        if os.fork() == 0:
            with socket.create_connection(listener.getsockname()) as sender:
                row = bytes(ROW_BYTES)
                for _ in range(ROWS):
                    sender.sendall(row)
            os._exit(0)
        receiver, _ = listener.accept()
    began, row = time.monotonic(), bytearray(ROW_BYTES)
    with receiver:
        for number in range(ROWS):
            assert receiver.recv_into(row, ROW_BYTES, socket.MSG_WAITALL) == ROW_BYTES
            if file is not None:
                os.pwrite(file.fileno(), row, number * ROW_BYTES)
    elapsed = time.monotonic() - began
    os.wait()
    return ROWS * ROW_BYTES / elapsed


def bare_rate_into_file():
    with open('bare.bin', 'wb') as file:
        return bare_rate(file)


def compare_results():
    folder, port = Set('folder', '--listen', 'local', '--pods-only'), Set('port', '--listen', '127.0.0.1:0', '--pods-only')

    def rate(joined, where):
        return lambda: ROWS * ROW_BYTES / joined.elapsed('--results', where, *ROWS_LOOP)
    try:
        folder.join(1)
        port.join(1, by=port.port_alone())
        found = side_by_side({'bare TCP': lambda: bare_rate(None), 'bare TCP, written': bare_rate_into_file, 'there': rate(folder, 'there'),
                              'here': rate(folder, 'here'), 'here, with TLS': rate(port, 'here')})
    finally:
        folder.end()
        port.end()
    for name, values in found.items():
        print(f'  results, MB/s  {name:18} {spread([value / 1e6 for value in values], "{:,.0f}")}')
        record('pods', f'results {name}', values)
    for name in ('here', 'here, with TLS'):
        ratios = [value / bare for value, bare in zip(found[name], found['bare TCP, written'])]
        print(f'  results {name}, over bare TCP, written {spread(ratios)}', flush=True)
        record('pods', f'results {name} ratio', ratios)


def compare_hosts(count):
    """The whole command and its loop, over that many pretended nodes, with a pod for each and in one launch."""
    loop = [*SLEEPING, f'iterations={count * sized(1000, 20)}', 'mean=4000']

    def both(nodes, *words):
        began = time.monotonic()
        result = run(nodes.hdss([*words, '--summary', 'none', '--report', 'report.json', *loop], slots=2))
        assert result.status == 0, result
        return time.monotonic() - began, report()['elapsed_s']
    with Nodes(count) as nodes:
        found = side_by_side({'pods': lambda: both(nodes, '--pods'), 'one launch': lambda: both(nodes, '--one-launch')})
    for part, name in enumerate(('whole run', 'loop')):
        pods_s, launch_s = ([values[part] for values in found[way]] for way in ('pods', 'one launch'))
        ratios = [pod / launch for pod, launch in zip(pods_s, launch_s)]
        print(f'  {count} hosts, {name}, s: pods {spread(pods_s)}, one launch {spread(launch_s)}, ratio {spread(ratios)}', flush=True)
        record('pods', f'hosts {count} {name} ratio', ratios)


def main(parts):
    os.environ['HDSS_CONTROL_DIR'] = os.environ['XDG_STATE_HOME'] = os.getcwd()
    header('pods')
    if 'first' in parts:
        found = side_by_side({'first': lambda: measure_first('mpi'), 'first without MPI': lambda: measure_first('none')})
        for name, values in found.items():
            print(f'  from `hdss join` to its first task, s, {name:18} {spread(values)}', flush=True)
            record('pods', name, values)
    if 'rates' in parts:
        compare_rates()
    if 'loop' in parts:
        compare_loops()
    if 'results' in parts:
        compare_results()
    if 'presence' in parts:
        values = side_by_side({'presence': measure_presence})['presence']
        print(f'  efficiency while workers double and halve {spread(values)}', flush=True)
        record('pods', 'presence', values)
    if 'hosts' in parts:
        for count in sized((2, 4, 8, 16), (2,)):
            compare_hosts(count)


if __name__ == '__main__':
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main(sys.argv[1:] or ['first', 'rates', 'loop', 'results', 'presence', *(['hosts'] if os.getuid() == 0 else [])])
