# SPDX-License-Identifier: MIT
"""How well hdss simulate predicts: real runs with sleeping work beside their simulation, and the error of the loop time.

usage: validate_simulation.py BUILD [--quick] [--only smooth|irregular|stopped]

The machine is described by a platform of its own, with what RESULTS.md has of it: a chunk from an idle daemon comes 79 us after its
request, so a message takes half of that. Each case is run HDSS_BENCH_RUNS times (default 3) and its median is taken. Sleeping work lets 16
workers fit two cores. Each simulation is the median of ORDERS orders of what comes at one moment, with their range; irregular loops, on
which the order decides, are run HDSS_BENCH_RUNS + 2 times. A worker that stops is stopped by a signal; in the simulation, in which each rank
is on a node of its own, its node is STOPPED times slower for so long. Prints a table; the last lines have the medians of the errors without
their signs, which are to be at most 5 %. On a machine that others use as well the least of the runs is nearer to what is predicted: its
errors are told beside them.
"""
import argparse
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from measure import machine, ranks_of  # noqa: E402

PLATFORM = """title this machine, with sleeping workers
nodes {nodes} cores={cores}
node latency=38us bandwidth=4GB/s
network latency=38us bandwidth=4GB/s
service event=150ns message=40ns byte=0.6ns calculation=20ns
"""

LOOPS = {
    'constant': 'synthetic iterations={n} mean=1000 mode=sleep distribution=constant',
    'exponential': 'synthetic iterations={n} mean=1000 mode=sleep distribution=exponential',
    'increasing': 'synthetic iterations={n} mean=1000 mode=sleep distribution=increasing',
    'long': 'synthetic iterations={n} mean=10000 mode=sleep distribution=exponential',
}
ORDERS = 21
STOPPED = 1000000
# How long real ranks have lasted when one is stopped, and simulated ones, which start sooner.
STOP_AFTER_S, STOPPED_AT_S = 0.7, 0.5


def tail(n, draw):
    """n costs in us with a mean of 5 ms, none of them longer than a fifth of a second."""
    costs = [draw() for _ in range(n)]
    scale = 5000 * n / sum(costs)
    return [min(2e5, cost * scale) for cost in costs]


# Costs in us of n iterations, by a generator of random numbers
IRREGULAR = {
    'free or 20 ms': lambda n, rng: [rng.choice((0, 20000)) for _ in range(n)],
    '9 of 10 free': lambda n, rng: [50000 if rng.random() < 0.1 else 0 for _ in range(n)],
    'first tenth free': lambda n, rng: [0 if i < n // 10 else 1000 * rng.expovariate(0.2) for i in range(n)],
    'Pareto 1.5': lambda n, rng: tail(n, lambda: rng.paretovariate(1.5)),
    'log-normal, cov 2': lambda n, rng: tail(n, lambda: rng.lognormvariate(0, 1.2686)),
    '4 phases': lambda n, rng: [9000 if 4 * i // n % 2 else 1000 for i in range(n)],
}
# masters or how workers alone draw their chunks, workers, technique, loop, slowdowns; more words
CASES = [
    (0, 2, 'static', 'exponential', ''), (0, 2, 'gss', 'increasing', ''), (0, 2, 'ss', 'exponential', ''),
    (0, 4, 'static', 'increasing', ''), (0, 4, 'fac2', 'exponential', ''), (0, 4, 'tss', 'increasing', ''),
    (0, 4, 'awf-c', 'constant', '1,1,2,3'), (0, 4, 'dtss', 'exponential', '1,1,2,3'),
    (0, 8, 'ss', 'exponential', ''), (0, 8, 'gss', 'exponential', ''), (0, 8, 'dfss', 'increasing', ''),
    (0, 8, 'static', 'constant', '1,1,1,1,1,1,1,2'),
    (0, 16, 'fac2', 'increasing', ''), (0, 16, 'css:chunk=5', 'exponential', ''), (0, 16, 'tss', 'exponential', ''),
    (1, 4, 'dgss', 'exponential', ''), (2, 4, 'dfss', 'increasing', ''), (2, 4, 'dtss', 'exponential', ''),
    (2, 8, 'dfss', 'exponential', ''), (2, 8, 'gss', 'increasing', ''), (2, 8, 'ss', 'exponential', ''),
    (4, 8, 'dgss', 'increasing', ''), (2, 16, 'dfss', 'exponential', ''), (4, 16, 'dtss', 'increasing', ''),
    (4, 16, 'fac2', 'exponential', ''),
    ('rma', 4, 'fac2', 'exponential', ''), ('rma', 8, 'ss', 'exponential', ''), ('rma', 8, 'gss', 'increasing', ''), ('rma', 16, 'tss', 'exponential', ''),
    ('rma:atomics=2', 16, 'fac2', 'increasing', ''), ('rma', 8, 'dfss', 'exponential', '', '--power', 'equal'),
    ('two-sided', 4, 'fac2', 'increasing', ''), ('two-sided', 8, 'ss', 'exponential', ''), ('two-sided', 8, 'gss', 'exponential', ''),
    ('two-sided', 16, 'tss', 'increasing', ''), ('two-sided:exchanges=2', 16, 'fac2', 'exponential', ''),
    ('two-sided', 8, 'css:chunk=5', 'exponential', '', '--break-after', '1'),
    ('node', 4, 'fac2', 'exponential', ''), ('node', 8, 'gss', 'increasing', '', '--node-technique', 'ss'), ('node', 16, 'tss', 'exponential', ''),
    ('node', 16, 'static', 'increasing', '', '--node-technique', 'gss'),
    (0, 16, 'ss', 'constant', '', '--inject-delay', 'calculation:100'), ('rma', 16, 'ss', 'constant', '', '--inject-delay', 'calculation:100'),
    ('two-sided', 16, 'ss', 'constant', '', '--inject-delay', 'calculation:100'),
    ('two-sided', 16, 'ss', 'exponential', '', '--inject-delay', 'calculation:100'),
    ('two-sided', 16, 'ss', 'constant', '', '--inject-delay', 'assignment:100'),
    ('node', 16, 'static', 'constant', '', '--node-technique', 'ss', '--inject-delay', 'calculation:100'),
]
for irregular in IRREGULAR:
    CASES += [(0, 8, 'fac2', irregular, ''), (0, 8, 'gss', irregular, '', '--power', 'equal'), (2, 8, 'dfss', irregular, ''), (0, 16, 'ss', irregular, ''),
              ('rma', 8, 'fac2', irregular, '')]
CASES += [(0, 8, 'fac2', 'free or 20 ms', '', '--ask-ahead', 'off'), (0, 8, 'fac2', 'Pareto 1.5', '1,1,1,1,1,1,1,3'),
          (0, 8, 'awf-c', 'log-normal, cov 2', '1,1,1,1,2,2,2,4'), (0, 8, 'awf-b', '4 phases', '1,1,1,1,1,1,1,10')]
# The same, and behind `stop` how many seconds a worker is stopped
STOPS = [(0, 8, 'ss', 'long', '', 'stop', 0.7), (0, 8, 'fac2', 'long', '', 'stop', 0.7), (0, 8, 'gss', 'long', '', 'stop', 0.7),
         (2, 8, 'dfss', 'long', '', 'stop', 0.7), (0, 8, 'fac2', 'long', '', 'stop', 2.5)]
KINDS = {
    'all': lambda case: True,
    'central': lambda case: case.masters == 0,
    'hierarchical': lambda case: case.masters in (1, 2, 4),
    'workers alone': lambda case: isinstance(case.masters, str),
    'smooth': lambda case: case.kind == 'smooth',
    'irregular': lambda case: case.kind == 'irregular',
    'with a stopped worker': lambda case: case.kind == 'stopped',
}


class Case:
    def __init__(self, masters, workers, technique, loop, slowdown, *more):
        self.masters, self.workers, self.technique, self.loop, self.slowdown = masters, workers, technique, loop, slowdown
        self.more, self.stop_s = (more[:-2], more[-1]) if 'stop' in more else (more, 0)
        self.kind = 'stopped' if self.stop_s else 'irregular' if loop in IRREGULAR else 'smooth'

    def kernel(self):
        """The words of the loop; the costs of an irregular one are in a file."""
        if self.loop not in IRREGULAR:
            return LOOPS[self.loop].format(n=250 * self.workers).split()
        n = 100 * self.workers
        costs = IRREGULAR[self.loop](n, random.Random(f'{self.loop} {n}'))
        with open('costs', 'w') as file:
            file.writelines(f'{cost:.3f}\n' for cost in costs)
        return f'synthetic iterations={n} mode=sleep distribution=file file=costs'.split()

    def line(self, hdss, what, *extra):
        line = [hdss, what, '--report', f'{what}.json', '--dca' if isinstance(self.masters, str) else '--masters', self.masters, '--workers', self.workers,
                '--technique', self.technique, *self.more, *extra]
        if self.slowdown:
            line += ['--slowdown', self.slowdown]
        return [str(word) for word in [*line, *self.kernel()]]

    def real(self, hdss):
        process = subprocess.Popen(self.line(hdss, 'run', '--progress', 'never'), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if self.stop_s:
            stop_worker(process, os.path.join(os.path.dirname(hdss), 'worker'), self.workers, self.stop_s)
        assert process.wait(timeout=300) == 0, self.line(hdss, 'run')
        return read_report('run.json')

    def simulated(self, hdss):
        ranks = self.workers + 1 + (self.masters if isinstance(self.masters, int) else 0)
        with open('here.platform', 'w') as file:
            file.write(PLATFORM.format(nodes=ranks if self.stop_s else 1, cores=1 if self.stop_s else 64))
        options = ['--platform', './here.platform', '--repetitions', ORDERS]
        if self.stop_s:
            simulate(self.line(hdss, 'simulate', '--platform', './here.platform'))
            node = read_report('simulate.json')['worker_stats'][-1]['node']
            options += ['--slow-nodes', f'{node}:{STOPPED}@{STOPPED_AT_S}-{STOPPED_AT_S + self.stop_s}']
        simulate(self.line(hdss, 'simulate', *options))
        return read_report('simulate.json')


def read_report(name):
    with open(name) as file:
        return json.load(file)


def simulate(line):
    subprocess.run(line, check=True, stdout=subprocess.DEVNULL, timeout=60)


def stop_worker(process, worker, workers, seconds):
    pids = []
    while len(pids) < workers and process.poll() is None:
        time.sleep(0.01)
        pids = ranks_of(process, [worker])
    time.sleep(STOP_AFTER_S)
    os.kill(pids[-1], signal.SIGSTOP)
    time.sleep(seconds)
    os.kill(pids[-1], signal.SIGCONT)


def error_of(simulated, elapsed):
    return 100 * (simulated / elapsed - 1)


def conclude(errors):
    """errors: [(case, of the median, of the least run, whether the median is among the orders)]"""
    for kind, belongs in KINDS.items():
        some = [each for each in errors if belongs(each[0])]
        of_medians, of_least = ([abs(each[i]) for each in some] for i in (1, 2))
        if some:
            print(f'{kind}: {len(some)} cases, median error {statistics.median(of_medians):.2f} %, largest {max(of_medians):.2f} %; '
                  f'of the least run {statistics.median(of_least):.2f} %, largest {max(of_least):.2f} %; '
                  f'{sum(each[3] for each in some)} within 5 % of the range of the orders')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('build')
    parser.add_argument('--quick', action='store_true', help='every twelfth case, once')
    parser.add_argument('--only', choices=('smooth', 'irregular', 'stopped'), help='the cases of one kind')
    arguments = parser.parse_args()
    hdss = os.path.join(os.path.abspath(arguments.build), 'deploy', 'hdss')
    cases = [case for case in (Case(*each) for each in [*CASES, *STOPS]) if arguments.only in (None, case.kind)]
    runs = int(os.environ.get('HDSS_BENCH_RUNS', '3'))
    facts = machine()
    print(f'Loop time, real and simulated\n  {facts["processor"]}, {facts["cores"]} cores, load {facts["load"]:.2f}, medians of {runs}, '
          f'{runs + 2} where it is irregular, and of {ORDERS} simulated orders\n')
    print('| masters, or workers alone | workers | technique | loop | slowdown | real s (least .. most) | simulated s (least .. most) | error % | of the least run | '
          'chunks real, simulated |')
    print('|---|---|---|---|---|---|---|---|---|---|')
    errors = []
    with tempfile.TemporaryDirectory(prefix='hdss-validate-') as folder:
        os.chdir(folder)
        for case in cases[::12] if arguments.quick else cases:
            real = [case.real(hdss) for _ in range(1 if arguments.quick else runs if case.kind == 'smooth' else runs + 2)]
            simulated = case.simulated(hdss)
            times, orders = [figures['elapsed_s'] for figures in real], simulated['simulated']['elapsed_s']
            median, least = statistics.median(times), min(times)
            of_median, of_least = (error_of(orders['median'], value) for value in (median, least))
            errors.append((case, of_median, of_least, 0.95 * orders['least'] <= median <= 1.05 * orders['most']))
            stop = [f'stopped for {case.stop_s} s'] if case.stop_s else []
            print(f'| {case.masters} | {case.workers} | {" ".join([case.technique, *case.more, *stop])} | {case.loop} | {case.slowdown} | '
                  f'{median:.4f} ({least:.4f} .. {max(times):.4f}) | {orders["median"]:.4f} ({orders["least"]:.4f} .. {orders["most"]:.4f}) | '
                  f'{of_median:+.1f} | {of_least:+.1f} | {statistics.median(f["chunks"] for f in real):.0f}, {simulated["chunks"]} |', flush=True)
    print()
    conclude(errors)


if __name__ == '__main__':
    main()
