# SPDX-License-Identifier: MIT
"""Jobs that share the workers of a set: two workers, kernels in the rank and in helpers, in C and in Python, central and with a master.

Shares: jobs with weights, each with its whole loop in one chunk for each worker, compute for some seconds. Each call of the kernel is recorded. In
every window of a second, ten milliseconds apart, the time of each job is compared with what its weight is worth of the time of all, in
percentage points; and the iterations of all jobs a second with those of one job alone, in the same minute. Each iteration costs the same.

Priority: a job of high priority is submitted while one of low priority has all workers; what is shown is the time from the moment at which its
kernel is opened, on any worker, to its first call on half of them and on all.
"""
import glob
import os
import struct
import sys
import tempfile
import time

from measure import RUNS, header, record, sized, spread
from launch import HDSS, run, wait_until

TIMED = os.environ.get('TIMED', '')
WORKERS = 2
SECONDS = sized(6, 1)
WINDOW_NS, STEP_NS = int(sized(1e9, 3e8)), 10_000_000
WORK = 50000  # steps of an iteration, some 100 us
CASES = sized([[1, 1], [1, 2, 4], [1, 1, 1, 1, 2, 2, 4, 4]], [[1, 2]])

MODULE = """
import os, struct, time

def describe(folder='.', work=1500):
    return {'iterations': %d, 'dtype': 'float64'}

def one(work):
    x = 0.5
    for _ in range(work):
        x = 3.7 * x * (1 - x)
    return x

file = None

def run(first, count, folder='.', work=1500):
    global file
    if not file:
        file = open(folder + '/calls.%%d' %% os.getpid(), 'ab', buffering=0)
        file.write(struct.pack('QQQ', time.monotonic_ns(), time.monotonic_ns(), 0))
    began = time.monotonic_ns()
    values = [one(work) for _ in range(count)]
    file.write(struct.pack('QQQ', began, time.monotonic_ns(), count))
    return values
"""


def setting(kernel, masters, chunk_time):
    return f'{kernel}, {"central" if masters == 0 else "with a master"}' + (f', --max-chunk-time {chunk_time}' if chunk_time else '')


def words_of(kernel, folder):
    """The words of a job that nobody waits for the end of, and whose loop is one chunk for each worker."""
    if kernel == 'Python':
        return ['--technique', 'static', 'python:timed.run', f'folder={folder}']
    return ['--isolate', 'on' if kernel == 'helper' else 'off', '--technique', 'static', f'{TIMED}', 'iterations=1000000000', f'work={WORK}',
            f'folder={folder}']


def hdss(*words):
    result = run([HDSS, *words])
    assert result.status == 0, result
    return result


def submit(kernel, folder, *options):
    os.makedirs(folder)
    return hdss('submit', *options, '--summary', 'none', *words_of(kernel, folder)).out.split()[-1]


def end(jobs):
    """Cancels the jobs, and waits for all."""
    hdss('cancel', *jobs)
    for job in jobs:
        run([HDSS, 'wait', job])


def await_computing(*folders):
    """Waits until all workers compute for the jobs of these folders: each has opened its kernel and told of a call."""
    def compute_all():
        return all(sum(os.path.getsize(path) > 24 for path in glob.glob(folder + '/calls.*')) >= WORKERS for folder in folders)
    wait_until(compute_all, f'workers that compute for {folders}')


def calls_of(folder):
    """[[(began, ended, iterations)...] for each process] of a job that is over."""
    processes = []
    for path in glob.glob(folder + '/calls.*'):
        with open(path, 'rb') as file:
            data = file.read()
        processes.append(list(struct.iter_unpack('QQQ', data[:len(data) // 24 * 24])))
    return [calls for calls in processes if len(calls) > 1]


def progress(calls):
    """Sums over time of all processes: [(ns, ns spent so far, iterations so far)] for each."""
    sums = []
    for process in calls:
        spent, iterations, points = 0, 0, [(process[0][0], 0, 0)]
        for began, ended, count in process:
            points.append((began, spent, iterations))
            spent, iterations = spent + ended - began, iterations + count
            points.append((ended, spent, iterations))
        sums.append(points)
    return sums


class Reader:
    """Reads sums at rising times."""

    def __init__(self, sums):
        self.sums, self.at = sums, [0] * len(sums)

    def read(self, ns):
        spent = iterations = 0.0
        for i, points in enumerate(self.sums):
            while self.at[i] + 1 < len(points) and points[self.at[i] + 1][0] <= ns:
                self.at[i] += 1
            ns0, spent0, iterations0 = points[self.at[i]]
            ns1, spent1, iterations1 = points[min(self.at[i] + 1, len(points) - 1)]
            part = min(1, max(0, (ns - ns0) / (ns1 - ns0))) if ns1 > ns0 else 0
            spent += spent0 + part * (spent1 - spent0)
            iterations += iterations0 + part * (iterations1 - iterations0)
        return spent, iterations


def span(all_calls):
    """The time in which all processes of all jobs compute, without its edges."""
    edge = WINDOW_NS // 5
    return (max(process[1][0] for calls in all_calls for process in calls) + edge,
            min(process[-1][1] for calls in all_calls for process in calls) - edge)


def rate(all_calls):
    """Iterations of all jobs a second."""
    first, last = span(all_calls)
    sums = [Reader(progress(calls)) for calls in all_calls]
    before = sum(reader.read(first)[1] for reader in sums)
    return (sum(reader.read(last)[1] for reader in sums) - before) * 1e9 / (last - first)


def worst_share(all_calls, weights):
    """The largest difference of a job's share from its due in any window, in percentage points."""
    first, last = span(all_calls)
    begins, ends = [Reader(progress(calls)) for calls in all_calls], [Reader(progress(calls)) for calls in all_calls]
    worst = 0
    for ns in range(first, last - WINDOW_NS, STEP_NS):
        spent = [end.read(ns + WINDOW_NS)[0] - begin.read(ns)[0] for begin, end in zip(begins, ends)]
        for own, weight in zip(spent, weights):
            worst = max(worst, abs(own / sum(spent) - weight / sum(weights)))
    return 100 * worst


def compute(kernel, weights, name):
    folders = [os.path.join(os.getcwd(), f'{name}-{i}') for i in range(len(weights))]
    jobs = [submit(kernel, folder, '--weight', str(weight)) for folder, weight in zip(folders, weights)]
    await_computing(*folders)
    time.sleep(SECONDS)
    end(jobs)
    return [calls_of(folder) for folder in folders]


def shares(kernel, title, weights, turn):
    worst, used = [], []
    for i in range(RUNS):
        alone = rate(compute(kernel, [1], f'alone-{turn}-{i}'))
        together = compute(kernel, weights, f'shared-{turn}-{i}')
        worst.append(worst_share(together, weights))
        used.append(rate(together) / alone)
    print(f'  {title}, weights {":".join(map(str, weights))}: off by {spread(worst, "{:.2f}")} points at most in a second, '
          f'utilisation {spread(used)}', flush=True)
    record('shares', f'{title}, weights {weights}: worst share', worst, unit='points')
    record('shares', f'{title}, weights {weights}: utilisation', used)


def priority(kernel, title):
    half, all_workers = [], []
    for i in range(RUNS):
        folders = [os.path.join(os.getcwd(), f'{name}-{title}-{i}'.replace(' ', '_')) for name in ('low', 'high')]
        low = submit(kernel, folders[0], '--priority', '-1')
        await_computing(folders[0])
        high = submit(kernel, folders[1], '--priority', '1')
        await_computing(folders[1])
        end([high])
        end([low])
        processes = calls_of(folders[1])
        opened, begun = min(process[0][0] for process in processes), sorted(process[1][0] for process in processes if len(process) > 1)
        half.append((begun[(WORKERS - 1) // 2] - opened) / 1e6)
        all_workers.append((begun[WORKERS - 1] - opened) / 1e6)
    print(f'  {title}: from the first opening of a kernel of high priority to its computing on half of the workers {spread(half, "{:.1f}")} ms, '
          f'on all {spread(all_workers, "{:.1f}")} ms', flush=True)
    for what, values in (('half of the workers', half), ('all workers', all_workers)):
        record('shares', f'{title}: priority, {what}', values, unit='ms')


def main():
    os.chdir(tempfile.mkdtemp(prefix='hdss-bench-'))
    header('Jobs that share the workers of a set')
    os.environ['HDSS_CONTROL_DIR'] = os.environ['XDG_STATE_HOME'] = os.getcwd()
    with open('timed.py', 'w') as file:
        file.write(MODULE % 1000000000)
    kernels = sys.argv[1].split(',') if len(sys.argv) > 1 else ['rank', 'helper', 'Python']
    chunk_time = sys.argv[2] if len(sys.argv) > 2 else None
    for masters in sized((0, 1), (1,)):
        options = ['--masters', str(masters), *(['--max-chunk-time', chunk_time] if chunk_time else [])]
        hdss('up', '--name', 'shares', '--workers', str(WORKERS), *options)
        try:
            for kernel in kernels:
                title = setting(kernel, masters, chunk_time)
                for i, weights in enumerate(CASES):
                    shares(kernel, title, weights, f'{kernel}-{masters}-{i}')
                priority(kernel, title)
        finally:
            run([HDSS, 'down', 'shares'])


main()
