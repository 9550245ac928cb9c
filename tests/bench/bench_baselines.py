# SPDX-License-Identifier: MIT
"""HDSS beside what somebody writes by hand: a counter by MPI_Fetch_and_op, and work stealing over MPI windows (tests/bench/baselines).

usage: bench_baselines.py                         real ranks, whose iterations sleep, and lines of code
       bench_baselines.py simulated FILE.csv      up to 10^5 ranks in virtual time; what the file has is not run again
       bench_baselines.py plot FILE.csv PICTURE   that as a picture, for docs/papers.md

Efficiency is W / (P T), W the sum of the iterations' costs. In virtual time the counter is `--dca rma --technique ss`, and work stealing
the model below, with the latencies and the time of an atomic operation that hdss simulate has.
"""
import array
import bisect
import csv
import heapq
import json
import os
import random
import re
import subprocess
import sys
import tempfile

from measure import SMALL, header, led, record, show, side_by_side, sized

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = {'counter': 'baselines/counter.c', 'stealing': 'baselines/stealing.c', 'hdss, library': 'baselines/library.c'}
REAL_RANKS, REAL_ITERATIONS = sized((8, 64), (3,)), sized(50, 5)
REAL_GRAINS_US = sized((1000, 10000), (1000,))

RANKS = (64, 1024, 16384, 100000)
GRAINS_US = (10, 100, 1000)
LOOPS = {'exponential': 'exponential:mean={}', 'decreasing': 'decreasing:mean={},spread=1'}
ITERATIONS = 100  # for each rank
CORES = 64
SYSTEMS = ('counter', 'stealing', 'hdss, no masters', 'hdss, masters')
RANKS_OF_MASTER = 256

# Of the platform cluster of hdss simulate, in seconds.
NEAR_S, FAR_S, ATOMIC_S = 300e-9, 1.5e-6, 93e-9
WAIT_LEAST_S, WAIT_MOST_S = 2e-6, 1024e-6  # of stealing.c


def lines_of_code(path):
    """Lines that are neither empty nor comments, without those that all three programs share."""
    with open(os.path.join(HERE, path)) as file:
        text = re.sub(r'/\*.*?\*/', '', file.read(), flags=re.DOTALL)
    return sum(bool(line.strip()) for line in text.splitlines())


# --- work stealing in virtual time ---

class Stealing:
    """baselines/stealing.c: what each rank does with its interval, and when. `ends[i]` is the time that iterations 0 to i take one after the other, each with
    the compare and swap that takes it."""

    def __init__(self, costs_s, ranks, seed=1):
        self.random = random.Random(seed)
        self.ends = array.array('d', [0.0])
        for cost in costs_s:
            self.ends.append(self.ends[-1] + cost + ATOMIC_S)
        count = len(costs_s)
        self.ranks, self.are_left, self.looked_up = ranks, True, 0.0
        self.end = [(r + 1) * count // ranks for r in range(ranks)]
        self.first = [r * count // ranks for r in range(ranks)]  # the one that began at began[r]
        self.began = [0.0] * ranks
        self.events, self.plan = [], [0] * ranks

    def next_of(self, rank, now):
        """The iteration that the rank takes next."""
        if now < self.began[rank]:
            return self.first[rank]
        return min(bisect.bisect_right(self.ends, self.ends[self.first[rank]] + now - self.began[rank], self.first[rank]), self.end[rank])

    def run(self, rank, first, end, now):
        self.first[rank], self.end[rank], self.began[rank] = first, end, now
        self._plan_end(rank)

    def _plan_end(self, rank):
        time = self.began[rank] + self.ends[self.end[rank]] - self.ends[self.first[rank]]
        self.plan[rank] += 1
        heapq.heappush(self.events, (time, rank, 'empty', self.plan[rank], None))

    def _look(self, rank, now, wait):
        victim = (rank + 1 + self.random.randrange(self.ranks - 1)) % self.ranks
        way = NEAR_S if victim // CORES == rank // CORES else FAR_S
        heapq.heappush(self.events, (now + way + ATOMIC_S, rank, 'look', victim, (way, wait)))

    def makespan(self):
        """When the last iteration is done."""
        for rank in range(self.ranks):
            self._plan_end(rank)
        last = 0.0
        while self.events:
            now, rank, what, subject, more = heapq.heappop(self.events)
            if what == 'empty':
                if subject != self.plan[rank]:  # some of it was stolen
                    continue
                last = max(last, now)
                self.first[rank], self.began[rank] = self.end[rank], now
                self._look(rank, now, WAIT_LEAST_S)
            elif what == 'look':
                way, wait = more
                seen = (self.next_of(subject, now), self.end[subject])
                if seen[0] < seen[1]:
                    heapq.heappush(self.events, (now + 2 * way + ATOMIC_S, rank, 'swap', subject, (way, wait, seen)))
                else:
                    self._wait(rank, now + way, wait)
            elif what == 'again':
                self._look(rank, now, subject)
            else:
                way, wait, seen = more
                if (self.next_of(subject, now), self.end[subject]) != seen:
                    self._wait(rank, now + way, wait)
                    continue
                middle = seen[1] - (seen[1] - seen[0] + 1) // 2
                self.end[subject] = middle
                self._plan_end(subject)
                self.run(rank, middle, seen[1], now + way)
        return last

    def _wait(self, rank, now, wait):
        if self._are_some_left(now):
            heapq.heappush(self.events, (now + wait, rank, 'again', min(2 * wait, WAIT_MOST_S), None))

    def _are_some_left(self, now):
        """Whether some rank has an iteration that it has not taken; looked up rarely."""
        if now >= self.looked_up:
            self.looked_up = now + WAIT_MOST_S / 10
            self.are_left = any(self.next_of(rank, now) < self.end[rank] for rank in range(self.ranks))
        return self.are_left


def stolen_efficiency(loop, grain_us, ranks):
    draw, count = random.Random(1), ITERATIONS * ranks
    if loop == 'exponential':
        costs = [draw.expovariate(1) * grain_us * 1e-6 for _ in range(count)]
    else:
        costs = [2 * grain_us * 1e-6 * (1 - i / count) for i in range(count)]
    return sum(costs) / ranks / Stealing(costs, ranks).makespan()


def simulated_efficiency(system, loop, grain_us, ranks):
    if system == 'stealing':
        return stolen_efficiency(loop, grain_us, ranks)
    options = {'counter': ['--dca', 'rma', '--technique', 'ss'], 'hdss, no masters': [], 'hdss, masters': ['--masters', str(max(2, ranks // RANKS_OF_MASTER))]}
    with tempfile.TemporaryDirectory(prefix='hdss-bench-') as folder:
        report = os.path.join(folder, 'report.json')
        subprocess.run([os.environ['HDSS'], 'simulate', '--platform', f'cluster:nodes={ranks // CORES + 64},cores={CORES}', '--workers', str(ranks),
                        '--costs', LOOPS[loop].format(grain_us), *options[system], '--report', report, 'synthetic', f'iterations={ITERATIONS * ranks}'],
                       check=True, stdout=subprocess.DEVNULL)
        with open(report) as file:
            return json.load(file)['efficiency']


def simulate(path):
    there = {}
    if os.path.exists(path):
        with open(path) as file:
            there = {(row['system'], row['loop'], row['grain_us'], row['ranks']): row for row in csv.DictReader(file)}
    with open(path, 'a', newline='') as file:
        writer = csv.writer(file)
        if not there:
            writer.writerow(['system', 'loop', 'grain_us', 'ranks', 'efficiency'])
        for ranks in RANKS:
            for loop in LOOPS:
                for grain in GRAINS_US:
                    for system in SYSTEMS:
                        if (system, loop, str(grain), str(ranks)) not in there:
                            writer.writerow([system, loop, grain, ranks, f'{simulated_efficiency(system, loop, grain, ranks):.4f}'])
                            file.flush()


def plot(path, picture):
    from hdss import _study_plot as style
    with open(path) as file:
        rows = list(csv.DictReader(file))

    def draw(canvas):
        style.write_caption('HDSS beside a counter and work stealing: efficiency of 100 iterations a rank',
                            f'in virtual time, {CORES} cores a node, a master for {RANKS_OF_MASTER} ranks; by tests/bench/bench_baselines.py simulated, plot', canvas)
        for line, loop in enumerate(LOOPS):
            for column, grain in enumerate(GRAINS_US):
                axis = canvas.add_axes((0.07 + 0.28 * column, 0.51 - 0.42 * line, 0.23, 0.34))
                for i, system in enumerate(SYSTEMS):
                    found = [(int(row['ranks']), float(row['efficiency'])) for row in rows
                             if (row['system'], row['loop'], row['grain_us']) == (system, loop, str(grain))]
                    axis.plot(*zip(*found), color=style.COLOURS[i], linestyle=style.DASHES[i], marker=style.MARKERS[i], fillstyle='none', label=system)
                axis.axhline(1, color='#a0a0a0', linewidth=1.5, label='ideal, W/P')
                axis.set_title(f'{loop}, mean {grain} us', fontsize=11, pad=4)
                style.set_scale(axis, True, 50, 130000, 'x')
                axis.set_ylim(0, 1.08)
                axis.grid(True, color='#e4e4e4')
                if line == 1:
                    axis.set_xlabel('ranks')
                if column == 0:
                    axis.set_ylabel('efficiency, W/(P T)')
        axis.legend(loc='upper left', bbox_to_anchor=(0.97, 1.8), fontsize=8)

    with open(picture, 'wb') as file:
        file.write(style.pictures(draw, picture.rsplit('.', 1)[1])[0])


# --- real ranks ---

def program(name, ranks, count, grain_us):
    # Open MPI 4's osc/rdma crashes in a compare and swap at the own rank over shared memory.
    line = ['mpirun', '--oversubscribe', '--allow-run-as-root', '--mca', 'mpi_yield_when_idle', '1', '--mca', 'osc', '^rdma', '-n', str(ranks),
            os.environ[f'BASELINE_{name}'], str(count), str(grain_us)]
    return json.loads(subprocess.run(line, check=True, capture_output=True, text=True).stdout)['efficiency']


def hdss(masters, ranks, count, grain_us):
    return led(masters, ranks, ['synthetic', f'iterations={count}', 'mode=sleep', 'distribution=exponential', f'mean={grain_us}'])['efficiency']


def main():
    os.chdir(tempfile.mkdtemp(prefix='hdss-bench-'))
    header('HDSS beside a counter by MPI_Fetch_and_op and work stealing over MPI windows: W / (P T), iterations that sleep')
    for name, path in SOURCES.items():
        print(f'  {name:44s} {lines_of_code(path)} lines of C', flush=True)
        record('baselines', f'lines / {name}', [lines_of_code(path)], unit='lines')
    print()
    for grain in REAL_GRAINS_US:
        for ranks in REAL_RANKS:
            count = ranks * REAL_ITERATIONS
            figures = side_by_side({
                'counter': lambda: program('COUNTER', ranks, count, grain),
                'stealing': lambda: program('STEALING', ranks, count, grain),
                'hdss, library': lambda: program('LIBRARY', ranks, count, grain),
                'hdss, no masters': lambda: hdss(0, ranks, count, grain),
                'hdss, 2 masters': lambda: hdss(2, ranks, count, grain)})
            show('baselines', f'{ranks} ranks, {REAL_ITERATIONS} iterations of {grain} us each', figures, '', base={name: 'counter' for name in figures if name != 'counter'})


if sys.argv[1:2] == ['simulated']:
    simulate(sys.argv[2])
elif sys.argv[1:2] == ['plot']:
    plot(*sys.argv[2:4])
else:
    main()
