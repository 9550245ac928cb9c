# SPDX-License-Identifier: MIT
"""The floor: what MPI and the file system can do here, to which the other benchmarks are held."""
import os
import tempfile
import time

from measure import bare, header, show, side_by_side, sized

ROUNDS = sized(300000, 300)
MIB = 1 << 20
PIECES = sized(500, 20)
OWN = ('--bind-to', 'core')
ONE_CORE = ('taskset', '-c', str(min(os.sched_getaffinity(0))))


def microseconds(what, ranks, **how):
    return lambda: bare(what, ranks, ROUNDS, **how)['seconds'] * 1e6


def thousands(ranks):
    return lambda: 1e-3 / bare('serve', ranks, ROUNDS)['seconds']


def stream_mb(what, *words):
    return lambda: PIECES * MIB / bare(what, 2, PIECES, MIB, *words, options=OWN)['seconds'] / 1e6


def write_mb():
    data = b'x' * MIB
    file = os.open('written', os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
    began = time.monotonic()
    for i in range(PIECES):
        os.pwrite(file, data, i * MIB)
    elapsed = time.monotonic() - began
    os.close(file)
    os.unlink('written')
    return PIECES * MIB / elapsed / 1e6


def main():
    os.chdir(tempfile.mkdtemp(prefix='hdss-bench-'))
    header('The floor')
    show('floor', 'One exchange', side_by_side({
        'ping-pong of 64 bytes, own cores': microseconds('ping', 2, options=OWN),
        'ping-pong of 64 bytes, one core for both': microseconds('ping', 2, before=ONE_CORE, options=('--mca', 'mpi_yield_when_idle', '1')),
        'MPI_Fetch_and_op, 1 rank': microseconds('fetch', 1),
        'MPI_Fetch_and_op, 2 ranks, own cores': microseconds('fetch', 2, options=OWN),
    }), 'us')
    show('floor', 'Requests of 64 bytes answered, one receiver', side_by_side({
        f'1 + {askers}': thousands(1 + askers) for askers in sized((1, 3, 7, 31), (1, 3))}), 'thousand/s', '{:.0f}')
    show('floor', 'Bandwidth, pieces of 1 MiB', side_by_side({
        'MPI messages': stream_mb('stream'),
        'pwrite': write_mb,
        'MPI messages into a file': stream_mb('file', 'streamed'),
    }), 'MB/s', '{:.0f}')


main()
