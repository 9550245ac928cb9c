# SPDX-License-Identifier: MIT
"""A chunk through the library, in each of its modes, beside what MPI needs for it and beside the workers' own chunk: ss, empty body, two ranks.

The figure is that of rank 1, which asks rank 0 for each chunk or reaches its counters: its time by its chunks. Where rank 0 computes as well it takes
chunks meanwhile, and looks at the messages between two of them. A worker's chunk has its kernel's record and digest in it, some nanoseconds.
No target: a program by hand would come near to the ping-pong or to the one-sided operation.
"""
import json
import os
import subprocess
import tempfile

from measure import bare, header, led, show, side_by_side, sized
from launch import WORKER, environment, mpirun_line, report, run

LIBRARY_DRAW = os.environ['LIBRARY_DRAW']
COUNT = sized(300000, 300)
OWN = ('--bind-to', 'core')
EMPTY = ['--technique', 'ss', '--power', 'equal', 'synthetic', f'iterations={COUNT}', 'mean=0']
MODES = {
    'central, rank 0 coordinates': ['mode', 'central', 'leader', 'coordinates', 'technique', 'ss'],
    'central': ['mode', 'central', 'technique', 'ss'],
    'hierarchical': ['mode', 'hierarchical', 'technique', 'ss'],
    'two-sided': ['mode', 'two-sided', 'technique', 'ss'],
    'rma': ['mode', 'rma', 'technique', 'ss'],
    'node': ['mode', 'node', 'technique', 'static', 'node-technique', 'ss'],
}
PING, FETCH = 'bare ping-pong of 64 bytes', 'bare MPI_Fetch_and_op, 2 ranks'
FLOORS = {'rma': FETCH, 'node': FETCH}
# What of the workers' own is like it.
WORKERS = {'central, rank 0 coordinates': 'worker, central, ask-ahead off', 'two-sided': 'worker, two-sided', 'rma': 'worker, rma', 'node': 'worker, node'}


def library_us(words):
    def once():
        line = [str(word) for word in mpirun_line([(2, [LIBRARY_DRAW, COUNT, *words])], OWN)]
        return json.loads(subprocess.run(line, capture_output=True, text=True, check=True, env=environment(), timeout=600).stdout)['seconds'] * 1e6
    return once


def central_us():
    figures = led(0, 1, ['--ask-ahead', 'off', *EMPTY], OWN)
    return figures['elapsed_s'] / figures['chunks'] * 1e6


def flat_us(mode):
    more = ['--node-technique', 'ss', '--technique', 'static', *EMPTY[2:]] if mode == 'node' else EMPTY

    def once():
        result = run(mpirun_line([(2, [WORKER, '--dca', mode, '--report', 'report.json', *more])], OWN))
        assert result.status == 0, result
        figures = report()
        own = figures['worker_stats'][1]
        return figures['elapsed_s'] / max(1, own['iterations'] if mode == 'node' else own['chunks']) * 1e6
    return once


def main():
    os.chdir(tempfile.mkdtemp(prefix='hdss-bench-'))
    header('A chunk through the library, ss, empty body, 2 ranks on their own cores')
    cases = {PING: lambda: bare('ping', 2, COUNT, options=OWN)['seconds'] * 1e6,
             FETCH: lambda: 2 * bare('fetch', 2, COUNT, options=OWN)['seconds'] * 1e6}
    for mode, words in MODES.items():
        cases['library, ' + mode] = library_us(words)
    cases['worker, central, ask-ahead off'] = central_us
    for mode in ('two-sided', 'rma', 'node'):
        cases['worker, ' + mode] = flat_us(mode)
    figures = side_by_side(cases)
    base = {'library, ' + mode: FLOORS.get(mode, PING) for mode in MODES}
    show('library', 'Time of a chunk, beside what MPI needs', figures, 'us', '{:.4f}', base)
    pairs = {'library, ' + mode: worker for mode, worker in WORKERS.items()}
    show('library', 'The same beside a worker', {name: figures[name] for name in [*pairs, *pairs.values()]}, 'us', '{:.4f}', pairs)


main()
