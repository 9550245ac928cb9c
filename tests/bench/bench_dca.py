"""All topologies side by side: what one chunk costs, what a delay in the calculation or the assignment of chunks does to the loop time
(Eleliemy and Ciorba, DCA), and what a slow coordinator does (the same, RMA).

Targets (DESIGN, section 10, and issue 4): a chunk over RMA at most 1.3 times one bare MPI_Fetch_and_op, two-sided at most 2.3 bare round trips;
100 us in the calculation slow the central topology in proportion to its chunks and the flat ones hardly; in the assignment the order
turns round for two-sided; a slow rank 0 harms ss over two-sided, not over RMA.

The loop sleeps, so that 16 workers do not need 16 cores; delays are spent computing, so on 2 cores 100 us for each of these chunks keep both busy
for most of the time, in any topology. What is said of one chunk with an empty body holds two readings of the clock, the digest of its result and the
kernel's hash, some 70 ns; the draw without them is in the benchmark `flat`.
"""
import json
import os
import statistics
import subprocess
import tempfile

from measure import header, record, side_by_side, spread
from launch import MASTER, SUPERMASTER, WORKER, environment, mpirun_line, report, run

BARE_MPI = os.environ['BARE_MPI']
WORKERS = 16
LOOP = ['synthetic', 'iterations=3200', 'mean=1000', 'distribution=constant', 'mode=sleep']
EMPTY = ['synthetic', 'iterations=300000', 'mean=0']
OPTIONS = ['--power', 'equal', '--report', 'report.json']
DELAYS = ['calculation:0', 'calculation:10', 'calculation:100', 'assignment:10', 'assignment:100']


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
    """Time that a chunk takes a rank which asks the coordinator."""
    figures = figures_of(flat('two-sided', 2), ['--technique', 'ss', *EMPTY])
    return figures['elapsed_s'] / figures['worker_stats'][1]['chunks'] * 1e6


def bare_us(what, ranks):
    def once():
        line = [str(word) for word in mpirun_line([(ranks, [BARE_MPI, what, '300000'])])]
        out = subprocess.run(line, capture_output=True, text=True, check=True, env=environment()).stdout
        return json.loads(out)['seconds'] * 1e6
    return once


def show(title, figures, form, unit, base=None):
    print(title)
    for name, values in figures.items():
        ratio = ''
        if base and base.get(name):
            ratio = f'  {statistics.median(values) / statistics.median(figures[base[name]]):.2f} of {base[name]}'
        print(f'  {name:34s} {spread(values, form)} {unit}{ratio}', flush=True)
        record('dca', f'{title} / {name}', values)
    print()


def one_chunk():
    figures = side_by_side({
        'bare MPI_Fetch_and_op, 1 rank': bare_us('fetch', 1),
        'rma, 1 rank': chunk_us(flat('rma', 1), '--technique', 'ss', *EMPTY),
        'node, 1 rank': chunk_us(flat('node', 1, '--node-technique', 'ss'), '--technique', 'static', *EMPTY),
        'bare MPI_Fetch_and_op, 2 ranks': bare_us('fetch', 2),
        'rma, 2 ranks': chunk_us(flat('rma', 2), '--technique', 'ss', *EMPTY),
        'rma:atomics=2, 2 ranks': chunk_us(flat('rma:atomics=2', 2), '--technique', 'ss', *EMPTY),
        'node, 2 ranks': chunk_us(flat('node', 2, '--node-technique', 'ss'), '--technique', 'static', *EMPTY),
        'bare ping-pong of 64 bytes': bare_us('ping', 2),
        'two-sided, the asking rank': chunk_of_rank_1_us,
        'central, 1 worker, no ask-ahead': chunk_us(led(0, 1), '--technique', 'ss', '--ask-ahead', 'off', *EMPTY),
    })
    show('One chunk, ss, empty body', figures, '{:.3f}', 'us',
         {'rma, 1 rank': 'bare MPI_Fetch_and_op, 1 rank', 'rma, 2 ranks': 'bare MPI_Fetch_and_op, 2 ranks',
          'two-sided, the asking rank': 'bare ping-pong of 64 bytes', 'central, 1 worker, no ask-ahead': 'bare ping-pong of 64 bytes'})


def delays():
    cases = {(name, delay): loop_time(line, '--technique', 'ss', '--inject-delay', delay, *LOOP)
             for name, line in TOPOLOGIES.items() for delay in DELAYS}
    figures = side_by_side(cases)
    print(f'Loop time in s, {" ".join(LOOP)}, ss, {WORKERS} workers, with a delay in us')
    print(f'  {"":24s}' + ''.join(f'{delay:>18s}' for delay in DELAYS))
    for name in TOPOLOGIES:
        medians = [statistics.median(figures[name, delay]) for delay in DELAYS]
        print(f'  {name:24s}' + ''.join(f'{value:10.3f} ({value / medians[0]:4.2f})' for value in medians), flush=True)
        for delay in DELAYS:
            record('dca', f'{name} / {delay}', figures[name, delay])
    print()


def slow_coordinator():
    loop = ['--technique', 'ss', 'synthetic', 'iterations=4000', 'mean=200', 'distribution=constant', 'mode=sleep']
    figures = side_by_side({f'{mode}, {how}': loop_time(line(mode, 8), *loop) for mode in ('two-sided', 'rma')
                            for how, line in (('equal ranks', flat), ('rank 0 is 4 times slower', slow_rank_0))})
    show('A slow rank 0: loop time, ss, 8 workers', figures, '{:.3f}', 's',
         {f'{mode}, rank 0 is 4 times slower': f'{mode}, equal ranks' for mode in ('two-sided', 'rma')})


def main():
    os.chdir(tempfile.mkdtemp(prefix='hdss-bench-'))
    header('Flat scheduling beside the others')
    one_chunk()
    delays()
    slow_coordinator()


main()
