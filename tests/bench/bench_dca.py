# SPDX-License-Identifier: MIT
"""All topologies side by side: what one chunk costs, what a delay in the calculation or the assignment of chunks does to the loop time
(Eleliemy and Ciorba, DCA), and what a slow coordinator does (the same, RMA).

Targets: a chunk over RMA at most 1.3 times one bare MPI_Fetch_and_op, two-sided at most 2.3 bare round trips;
100 us in the calculation slow the central topology in proportion to its chunks and the flat ones hardly; in the assignment the order
turns round; a slow rank 0 harms ss over two-sided, not over RMA.

One chunk: an empty body still has the kernel's hash and the digest of its result, which the iteration costs however it is scheduled. The same loop in
one chunk tells how much that is, and it is taken off what a chunk costs one-sided. `bare_draw` is a program by hand that does the draw, hash and digest,
nothing else. The draw without MPI is in the benchmark `flat`.

Delays: the loop sleeps, and so do the delays where ranks share cores, so that 16 workers do not need 16 cores. An iteration is long against the
delay, so that workers who calculate hardly feel it; 1/16 of it is short against the delay, so that one who calculates for 16 does.

A slow coordinator: over two-sided and RMA rank 0 has --slowdown 4. A supermaster computes nothing that --slowdown could stretch: a slow one is an
ordinary one with three times the cost of a chunk, as measured first, added to each assignment.
"""
import json
import os
import statistics
import subprocess
import tempfile

from measure import bare, header, record, show, side_by_side, sized
from launch import MASTER, SUPERMASTER, WORKER, environment, mpirun_line, report, run

BARE_DRAW = os.environ['BARE_DRAW']
WORKERS = sized(16, 3)
COUNT = sized(1000000, 10000)
LOOP = ['synthetic', f'iterations={sized(3200, 30)}', 'mean=1000', 'distribution=constant', 'mode=sleep']
EMPTY = ['synthetic', f'iterations={COUNT}', 'mean=0']
OPTIONS = ['--power', 'equal', '--report', 'report.json']
DELAYS = ['calculation:0', 'calculation:10', 'calculation:100', 'assignment:10', 'assignment:100'][::sized(1, 4)]


def led(masters, workers):
    def line(words):
        contexts = [(1, [SUPERMASTER, *words])] + ([(masters, [MASTER])] if masters else []) + [(workers, [WORKER])]
        return mpirun_line(contexts)
    return line


def flat(mode, workers, *more):
    def line(words):
        return mpirun_line([(workers, [WORKER, '--dca', mode, *more, *words])])
    return line


def slow_rank_0(mode, workers):
    def line(words):
        job = [WORKER, '--dca', mode, *words]
        return mpirun_line([(1, [*job, '--slowdown', '4']), (workers - 1, job)])
    return line


TOPOLOGIES = {
    'central': led(0, WORKERS),
    'hierarchical, 2 masters': led(2, WORKERS),
    'dca two-sided': flat('two-sided', WORKERS),
    'dca rma': flat('rma', WORKERS),
    'dca rma, 2 atomics': flat('rma:atomics=2', WORKERS),
    'dca node': flat('node', WORKERS, '--node-technique', 'ss'),
}
# The chunks of one iteration are those that a worker draws: from its node's queue, which one big chunk fills.
TECHNIQUES = {name: 'static' if name == 'dca node' else 'ss' for name in TOPOLOGIES}


def figures_of(line, words):
    result = run(line([*OPTIONS, *words]))
    assert result.status == 0, result
    return report()


def loop_time(line, *words):
    return lambda: figures_of(line, words)['elapsed_s']


def chunk_us(line, *words):
    """Time that a chunk takes the run, in us: with several ranks they draw at once."""
    def once():
        figures = figures_of(line, words)
        return figures['elapsed_s'] / figures['iterations'] * 1e6
    return once


def chunk_of_rank_1_us():
    """Time that a chunk takes a rank which asks the coordinator. On a busy machine the coordinator may have drawn all before the rank comes."""
    chunks = 0
    while chunks == 0:
        figures = figures_of(flat('two-sided', 2), ['--technique', 'ss', *EMPTY])
        chunks = figures['worker_stats'][1]['chunks']
    return figures['elapsed_s'] / chunks * 1e6


def bare_us(what, ranks):
    return lambda: bare(what, ranks, COUNT)['seconds'] * 1e6


def bare_draw_us(ranks):
    def once():
        line = [str(word) for word in mpirun_line([(ranks, [BARE_DRAW, COUNT])])]
        return json.loads(subprocess.run(line, capture_output=True, text=True, check=True, env=environment()).stdout)['seconds'] * 1e6
    return once


def one_chunk():
    """Returns what one costs the central topology, in us."""
    central, ping = 'central, 1 worker, no ask-ahead', 'bare ping-pong of 64 bytes'
    cases = {}
    for ranks in (1, 2):
        cases[f'bare MPI_Fetch_and_op, ranks: {ranks}'] = bare_us('fetch', ranks)
        cases[f'the same, record and digest, ranks: {ranks}'] = bare_draw_us(ranks)
        for mode in ('rma', 'rma:atomics=2'):
            cases[f'{mode}, ranks: {ranks}'] = chunk_us(flat(mode, ranks), '--technique', 'ss', *EMPTY)
        cases[f'node, ranks: {ranks}'] = chunk_us(flat('node', ranks, '--node-technique', 'ss'), '--technique', 'static', *EMPTY)
    base = {name: f'bare MPI_Fetch_and_op, ranks: {name[-1]}' for name in cases if not name.startswith('bare')}
    iteration = 'one iteration, the loop in one chunk'
    cases[iteration] = chunk_us(flat('rma', 1), '--technique', 'static', 'synthetic', f'iterations={sized(20000000, 20000)}', 'mean=0')
    cases[ping] = bare_us('ping', 2)
    cases['two-sided, the asking rank'] = chunk_of_rank_1_us
    cases[central] = chunk_us(led(0, 1), '--technique', 'ss', '--ask-ahead', 'off', *EMPTY)
    figures = side_by_side(cases)
    once = statistics.median(figures[iteration])
    for name in list(base):
        figures[f'{name}, the draw'] = [value - once / int(name[-1]) for value in figures[name]]
        base[f'{name}, the draw'] = base.pop(name)
    show('dca', 'One chunk, ss, empty body', figures, 'us', '{:.4f}', {**base, 'two-sided, the asking rank': ping, central: ping})
    return statistics.median(figures[central])


def delays():
    figures = side_by_side({(name, delay): loop_time(line, '--technique', TECHNIQUES[name], '--inject-delay', delay, *LOOP)
                            for name, line in TOPOLOGIES.items() for delay in DELAYS})
    print(f'Loop time in s, {" ".join(LOOP)}, ss, {WORKERS} workers, with a delay in us: median (least .. most), times that without')
    print(f'  {"":24s}' + ''.join(f'{delay:>30s}' for delay in DELAYS))
    for name in TOPOLOGIES:
        base, cells = statistics.median(figures[name, DELAYS[0]]), []
        for delay in DELAYS:
            values = figures[name, delay]
            cells.append(f'{statistics.median(values):.3f} ({min(values):.3f} .. {max(values):.3f}) {statistics.median(values) / base:4.2f}')
            record('dca', f'{name} / {delay}', values, unit='s')
        print(f'  {name:24s}' + ''.join(f'{cell:>30s}' for cell in cells), flush=True)
    print(flush=True)


def slow_coordinator(central_chunk_us):
    loop = ['--technique', 'ss', 'synthetic', f'iterations={sized(4000, 40)}', 'mean=200', 'distribution=constant', 'mode=sleep']
    slow = ['--inject-delay', f'assignment:{3 * central_chunk_us:.3f}']
    cases = {f'{mode}, {how}': loop_time(line(mode, 8), *loop) for mode in ('two-sided', 'rma')
             for how, line in (('equal ranks', flat), ('rank 0 is 4 times slower', slow_rank_0))}
    cases['central, equal ranks'] = loop_time(led(0, 8), *loop)
    cases['central, supermaster 4 times slower'] = loop_time(led(0, 8), *slow, *loop)
    base = {name: name.split(',')[0] + ', equal ranks' for name in cases if 'slower' in name}
    show('dca', 'A slow coordinator: loop time, ss, 8 workers', side_by_side(cases), 's', base=base)


def main():
    os.chdir(tempfile.mkdtemp(prefix='hdss-bench-'))
    header('Flat scheduling beside the others')
    central_chunk_us = one_chunk()
    delays()
    slow_coordinator(central_chunk_us)


main()
