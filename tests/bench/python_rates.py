# SPDX-License-Identifier: MIT
"""What a call costs by hdss.Executor, beside the executors and pools that Python programs have else, in the same minute, in turn.

usage: python_rates.py BUILD [--runs N] [--small] [--only NAME,...]

Each has two workers on this machine. Calls of a function that does nothing: how many a second by map(), as it cuts the items by itself,
and with chunksize=100; how long from submit() to the result, one after another. Then tasks of 10 ms by map(), one a batch: the efficiency
is the time that tasks take, as processor time or, where they sleep, as it was asked for, divided by two workers times the elapsed time.
Last hdss.loop() beside a kernel in C that does the same, in a set that is up, ss: the time of a chunk, as the slope between a short and
a long loop, times the workers. What is not installed is left out: mpi4py.futures (mpirun -n 3 python3 -m mpi4py.futures), Dask distributed.

Targets: map 50,000 calls/s and 7 times mpi4py.futures; submit 1.5 ms and half of Dask's; efficiency 0.97; a chunk of 1 ms of a loop 1.02
times as long as that of C.
"""
import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
WORKERS = 2
TASK_S = 0.01
SYSTEMS = {  # name: (modules that it needs, calls of a map as it is, calls of one with chunksize=100, calls of submit)
    'hdss': (['cloudpickle', 'numpy'], 400000, 400000, 1000),
    'mpi4py.futures': (['mpi4py.futures'], 20000, 200000, 1000),
    'multiprocessing.Pool': ([], 400000, 200000, 1000),
    'ProcessPoolExecutor': ([], 20000, 200000, 1000),
    'dask.distributed': (['distributed'], 3000, 0, 200),
}
LOOP = 'hdss.loop'
TASKS = 300
EMPTY, EMPTY_LONG = 20000, 420000
CHUNKS, CHUNKS_LONG = 1000, 13000


# --- what is run ---

def nothing(item):
    return item


def compute(seconds):
    """Takes processor time. Returns how much of it."""
    began = time.process_time()
    while time.process_time() - began < seconds:
        pass
    return time.process_time() - began


def sleep(seconds):
    time.sleep(seconds)
    return seconds


class Sleeper:
    """As the kernel synthetic sleeps: what a sleep lasts too long is taken off the next one."""

    def __init__(self, us):
        self._ns, self._late_ns = 1000 * us, 0

    def __call__(self, i):
        due = time.perf_counter_ns() + self._ns - self._late_ns
        time.sleep(max(0, due - time.perf_counter_ns()) / 1e9)
        self._late_ns = time.perf_counter_ns() - due
        return i


def uneven(count):
    """Times with the mean of TASK_S, exponentially distributed, none longer than 10 times that."""
    values = random.Random(1)
    return [min(values.expovariate(1 / TASK_S), 10 * TASK_S) for _ in range(count)]


# --- those who run it, each with map(function, items, chunksize) and call(function, item) ---

class Executor:
    """Those of concurrent.futures."""

    def __init__(self, executor):
        self._executor = executor

    def map(self, function, items, chunksize=None):
        return list(self._executor.map(function, items, **({'chunksize': chunksize} if chunksize else {})))

    def call(self, function, item):
        return self._executor.submit(function, item).result()


class Pool:
    """That of multiprocessing, which cuts the items in 4 parts for each worker."""

    def __init__(self, pool):
        self._pool = pool

    def map(self, function, items, chunksize=None):
        return self._pool.map(function, items, chunksize)

    def call(self, function, item):
        return self._pool.apply(function, (item,))


class Dask:
    """That of Dask, which has no chunks."""

    def __init__(self, client):
        self._client = client

    def map(self, function, items, chunksize=None):
        del chunksize
        return self._client.gather(self._client.map(function, items, pure=False))

    def call(self, function, item):
        return self._client.submit(function, item, pure=False).result()


def figures(name, small):
    if name == LOOP:
        return loop_figures(small)
    if name == 'hdss':
        import hdss
        with hdss.Executor(workers=WORKERS) as executor:
            return pool_figures(name, Executor(executor), small)
    if name == 'mpi4py.futures':
        from mpi4py.futures import MPIPoolExecutor
        with MPIPoolExecutor(WORKERS) as executor:
            return pool_figures(name, Executor(executor), small)
    if name == 'multiprocessing.Pool':
        import multiprocessing
        with multiprocessing.Pool(WORKERS) as pool:
            return pool_figures(name, Pool(pool), small)
    if name == 'ProcessPoolExecutor':
        import concurrent.futures
        with concurrent.futures.ProcessPoolExecutor(WORKERS) as executor:
            return pool_figures(name, Executor(executor), small)
    import distributed
    with distributed.LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None) as cluster, distributed.Client(cluster) as client:
        return pool_figures(name, Dask(client), small)


def seconds_of(function):
    began = time.perf_counter()
    result = function()
    return time.perf_counter() - began, result


def efficiency(pool, function, times):
    took, worked = seconds_of(lambda: pool.map(function, times, 1))
    return sum(worked) / (WORKERS * took)


def pool_figures(name, pool, small):
    _, calls, chunked, submits = SYSTEMS[name]
    calls, chunked, submits, tasks = (max(1, number // 100) if small and number else number for number in (calls, chunked, submits, TASKS))
    pool.map(sleep, [0.05] * 4 * WORKERS, 1)  # all workers are up, and have what they need
    pool.map(nothing, range(100), 1)
    found = {}
    took, results = seconds_of(lambda: pool.map(nothing, range(calls)))
    assert results == list(range(calls))
    found['map'] = calls / took
    if chunked:
        took, results = seconds_of(lambda: pool.map(nothing, range(chunked), 100))
        assert results == list(range(chunked))
        found['map by 100'] = chunked / took
    found['submit'] = 1000 * statistics.median(seconds_of(lambda: pool.call(nothing, 1))[0] for _ in range(submits))
    found['sleeping'] = efficiency(pool, sleep, [TASK_S] * tasks)
    found['computing'] = efficiency(pool, compute, [TASK_S] * tasks)
    found['uneven, sleeping'] = efficiency(pool, sleep, uneven(tasks))
    found['uneven, computing'] = efficiency(pool, compute, uneven(tasks))
    return found


def loop_figures(small):
    import hdss

    def us_of_chunk(function, short, long):
        if small:
            short, long = max(1, short // 100), long // 100
        function(short)
        seconds = [seconds_of(lambda count=count: function(count))[0] for count in (short, long)]
        return 1e6 * WORKERS * (seconds[1] - seconds[0]) / (long - short)

    with hdss.Set(WORKERS) as of:
        def kernel(mean):
            def run(count):
                with hdss.job('synthetic', set=of, technique='ss', iterations=count, mean=mean, mode='sleep') as job:
                    job.wait()
            return run

        def loop(function):
            return lambda count: hdss.loop(function, count, set=of, technique='ss', dtype='int64')

        return {'empty, C': us_of_chunk(kernel(0), EMPTY, EMPTY_LONG), 'empty, hdss.loop': us_of_chunk(loop(lambda i: i), EMPTY, EMPTY_LONG),
                '1 ms, C': us_of_chunk(kernel(1000), CHUNKS, CHUNKS_LONG),
                '1 ms, hdss.loop': us_of_chunk(loop(Sleeper(1000)), CHUNKS, CHUNKS_LONG)}


# --- the table ---

def python_for(modules, version):
    """A Python of that version that has the modules; None where there is none."""
    for program in dict.fromkeys([sys.executable, shutil.which('python' + version), '/usr/bin/python3']):
        test = f'import sys{"".join(", " + name for name in modules)}; sys.exit("{{}}.{{}}".format(*sys.version_info) != "{version}")'
        if program and os.path.exists(program) and subprocess.run([program, '-c', test], capture_output=True, check=False).returncode == 0:
            return program
    return None


def figures_of(name, python, build, small):
    """The figures of one, from a process of its own."""
    from launch import environment, mpirun_line
    env = dict(environment(), PYTHONPATH=os.path.join(build, 'deploy/python'), HDSS_CONTROL_DIR=os.getcwd(), PYTHONDONTWRITEBYTECODE='1')
    env.pop('HDSS_SET', None)
    line = [python, os.path.abspath(__file__)]
    if name == 'mpi4py.futures':
        line = mpirun_line([(1 + WORKERS, [python, '-m', 'mpi4py.futures', os.path.abspath(__file__)])])
    words = [str(word) for word in (*line, '--figures', name, *(['--small'] if small else []))]
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=1200, check=False)
    if done.returncode != 0:
        sys.exit(f'python_rates.py: {name}: {done.stderr.strip()[-2000:]}')
    return json.loads(done.stdout.strip().splitlines()[-1])


def version_of(build):
    """The version of Python that the workers of the build have."""
    names = [name for name in os.listdir(os.path.join(build, 'deploy')) if name == 'hdss-python.so']
    if not names:
        return None
    said = subprocess.run(['ldd', os.path.join(build, 'deploy', names[0])], capture_output=True, text=True, check=True).stdout
    return next(word for word in said.split() if word.startswith('libpython'))[len('libpython'):].split('.so')[0]


def print_tables(found):
    from measure import show
    pools = [name for name in found if name != LOOP]
    for key, title, unit, form in (
            ('map', 'map of a call that does nothing, cut by itself', 'calls/s', '{:,.0f}'), ('map by 100', 'The same with chunksize=100', 'calls/s', '{:,.0f}'),
            ('submit', 'From submit to the result, median', 'ms', '{:.3f}'), ('sleeping', 'Efficiency, 10 ms asleep', '', '{:.3f}'),
            ('computing', 'Efficiency, 10 ms of computing', '', '{:.3f}'), ('uneven, sleeping', 'Efficiency, uneven, asleep', '', '{:.3f}'),
            ('uneven, computing', 'Efficiency, uneven, computing', '', '{:.3f}')):
        values = {name: [run[key] for run in found[name]] for name in pools if key in found[name][0]}
        other = 'dask.distributed' if key == 'submit' else 'mpi4py.futures'
        show('python', title, values, unit, form, {'hdss': other} if other in values and 'hdss' in values else None)
    if LOOP in found:
        values = {key: [run[key] for run in found[LOOP]] for key in found[LOOP][0]}
        show('python', 'A chunk of a loop, ss', values, 'us', '{:.2f}', {f'{what}, {LOOP}': f'{what}, C' for what in ('empty', '1 ms')})


def parse():
    parser = argparse.ArgumentParser(description='What a call costs by hdss.Executor, beside the executors and pools that Python programs have else.')
    parser.add_argument('build', metavar='BUILD', help='a build folder')
    parser.add_argument('--runs', type=int, metavar='N', help='runs of each, in turn (default: HDSS_BENCH_RUNS, or 5)')
    parser.add_argument('--small', action='store_true', help='the smallest size, once: the figures mean nothing')
    parser.add_argument('--only', metavar='NAME,...', help='some of ' + ', '.join([*SYSTEMS, LOOP]))
    arguments = parser.parse_args()
    names = arguments.only.split(',') if arguments.only else [*SYSTEMS, LOOP]
    for name in names:
        if name not in SYSTEMS and name != LOOP:
            parser.error(f'{name}: accepted: {", ".join([*SYSTEMS, LOOP])}')
    return arguments, names


def main():
    sys.path[:0] = [HERE, os.path.join(HERE, '..', 'lib')]
    arguments, names = parse()
    if arguments.small:
        os.environ['HDSS_BENCH_SIZE'] = 'small'
    if arguments.runs or arguments.small:
        os.environ['HDSS_BENCH_RUNS'] = str(arguments.runs or 1)
    from measure import RUNS, header
    build = os.path.abspath(arguments.build)
    version = version_of(build)
    if version is None:
        print('python_rates.py: this build has no kernels in Python')
        return
    pythons = {name: python_for(SYSTEMS.get(name, SYSTEMS['hdss'])[0], version) for name in names}
    header('Calls by Python, two workers')
    for name in [name for name in names if pythons[name] is None]:
        print(f'  {name} is left out: no Python {version} has {", ".join(SYSTEMS.get(name, SYSTEMS["hdss"])[0])}\n')
        del pythons[name]
    os.chdir(tempfile.mkdtemp(prefix='hdss-bench-'))
    found = {name: [] for name in pythons}
    for _ in range(RUNS):
        for name, python in pythons.items():
            found[name].append(figures_of(name, python, build, arguments.small))
    print_tables(found)


if __name__ == '__main__':
    if sys.argv[1:2] == ['--figures']:
        print(json.dumps(figures(sys.argv[2], '--small' in sys.argv)), flush=True)
    else:
        main()
