# SPDX-License-Identifier: MIT
"""What a helper costs that runs the kernel for its worker (--isolate on) beside the worker that runs it itself (off).

Four things: the time of a chunk that is empty, with and without asking ahead; a loop of chunks of a millisecond, in C and in Python; both with two
threads; the memory of a worker and its helper. One worker, supermaster and worker each on a core of their own where there are two, so that the
helper is on the worker's; one with two threads has all cores. Targets: at most 5 us a chunk, 1.05 of the time without a helper, 2 MiB more for C.
"""
import os
import tempfile

from measure import RUNS, header, pss_kib, ranks_of, record, show, side_by_side, sized, spread

from launch import SUPERMASTER, WORKER, finish, mpirun_line, report, run, start, wait_until

HELPER = os.path.join(os.path.dirname(WORKER), 'hdss-helper')
CORES = sorted(os.sched_getaffinity(0))
PYTHON = os.path.exists(os.path.join(os.path.dirname(WORKER), 'hdss-python.so'))
EMPTY, LONG = sized(50000, 200), sized(1000, 20)

MODULE = """
def describe(work):
    return {'iterations': %d, 'dtype': 'float64'}

def one(work):
    x = 0.5
    for _ in range(work):
        x = 3.7 * x * (1 - x)
    return x

def run(first, count, work=12000):
    return [one(work) for _ in range(count)]
""" % LONG


def line(isolate, words):
    """Supermaster and worker on a core each; threads wherever they like."""
    cores = ','.join(map(str, CORES if '--threads' in words else CORES[-1:]))
    return mpirun_line([(1, ['taskset', '-c', CORES[0], SUPERMASTER, '--isolate', isolate, '--power', 'equal', '--report', 'report.json', *words]),
                        (1, ['taskset', '-c', cores, WORKER])])


def elapsed_s(isolate, words):
    result = run(line(isolate, words))
    assert result.status == 0, result
    return report()['elapsed_s']


def compare(title, words, scale, unit, form):
    figures = side_by_side({isolate: (lambda isolate=isolate: elapsed_s(isolate, words) * scale) for isolate in ('off', 'on')})
    show('isolation', title, figures, unit, form, {'on': 'off'})
    return figures


def compare_empty(title, iterations, words):
    figures = compare(f'An empty chunk{title}', [*words, 'synthetic', f'iterations={iterations}', 'mean=0'], 1e6 / EMPTY, 'us', '{:.2f}')
    more = [on - off for off, on in zip(figures['off'], figures['on'])]
    print(f'  more with a helper: {spread(more, "{:.2f}")} us a chunk\n', flush=True)
    record('isolation', f'more for an empty chunk{title}', more, unit='us')


def memory_kib(isolate, words):
    process = start(line(isolate, words))
    programs = [WORKER] + ([HELPER] if isolate == 'on' else [])
    wait_until(lambda: len(ranks_of(process, programs)) == len(programs) or process.poll() is not None, 'worker and helper')
    wait_until(lambda: os.path.exists('out.npy') or process.poll() is not None, 'the output')
    kib = sum(pss_kib(pid, ('Pss_Anon', 'Pss_Shmem')) for pid in ranks_of(process, programs))
    finish(process)
    os.remove('out.npy')
    return kib / 1024


def main():
    os.chdir(tempfile.mkdtemp(prefix='hdss-bench-'))
    header('A kernel in a helper, one worker')
    for ahead in ('off', 'auto'):
        compare_empty(f', asking ahead {ahead}', EMPTY, ['--technique', 'css:chunk=1', '--ask-ahead', ahead])
    compare('Chunks of about 1 ms, C', ['--technique', 'css:chunk=1', 'synthetic', f'iterations={LONG}', 'mean=1000', 'rate=30'], 1, 's', '{:.3f}')
    if PYTHON:
        with open('work.py', 'w') as file:
            file.write(MODULE)
        compare('Chunks of about 1 ms, Python', ['--technique', 'css:chunk=1', 'python:work.run'], 1, 's', '{:.3f}')
    threads = ['--technique', 'css:chunk=2', '--threads', '2', '--ask-ahead', 'off']
    compare_empty(' of two iterations, two threads', 2 * EMPTY, threads)
    compare('Chunks of two iterations of about 1 ms, two threads',
            [*threads, 'synthetic', f'iterations={2 * LONG}', 'mean=1000', 'rate=30'], 1, 's', '{:.3f}')
    words = ['--technique', 'css:chunk=1000', '--output', 'out.npy', '--overwrite', 'synthetic', 'iterations=100000', 'mean=20']
    figures = {isolate: [memory_kib(isolate, words) for _ in range(RUNS)] for isolate in ('off', 'on')}
    show('isolation', 'Private and shared memory of a worker and its helper', figures, 'MiB', '{:.2f}')


main()
