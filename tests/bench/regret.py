# SPDX-License-Identifier: MIT
"""How far irregular loops end behind the best possible time: a corpus of loops drawn by seed, in virtual time and in real runs.

usage: regret.py BUILD [OPTION]...            the corpus by hdss simulate, a table with a line for each variant
       regret.py BUILD --real [OPTION]...     REAL_COUNT of its loops by hdss run, with sleeping iterations, beside their simulation
       regret.py --self-test                  the script's own arithmetic

A variant is a technique (--techniques) with a setting (--setting, options for hdss). A loop has a distribution of costs, a number of
iterations, workers, masters and a machine. W is its work in seconds of a worker of power 1, P the power of all workers, m the longest
iteration on its worker. No schedule takes less than max(W / P, m); one that lets nobody idle while an iteration waits takes at most
W / P + m (Graham 1966), and what its messages cost. Where powers differ and a report leaves open which worker had that iteration, the first
has the least that m can be, the second the most. The time is that from the first assignment to the last commit, without the start.

The table has time / max(W / P, m), time / (W / P + m), the ratio to the same technique with the setting --reference, and, of several
variants, the ratio to the best of them: median, 90th percentile, and the worst with the number of its loop, by which --only runs it alone.

Loop N is the same in every run with the same --seed, whatever --count and --only say. What is simulated is not influenced by load on the
machine. Exit status 1 when a run has failed or a bound is exceeded; bounds are for all variants but those of the reference, where there is
another one.
"""
import argparse
import concurrent.futures
import csv
import dataclasses
import json
import math
import os
import random
import re
import shlex
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from measure import machine as machine_facts  # noqa: E402
from validate_simulation import PLATFORM, error_of  # noqa: E402

COUNT = 300
SHORT_COUNT = 30
ITERATIONS_MAX = 200000
REAL_COUNT = 30
REAL_WORKERS_MAX = 16
# Seconds that max(W / P, m) of a real run has: an iteration should sleep for a millisecond at the mean, where that does not take too long.
REAL_LEAST_S, REAL_MOST_S = 1, 3

KINDS = ['constant', 'uniform', 'exponential', 'gamma', 'pareto', 'bimodal', 'increasing', 'decreasing', 'phases', 'first-free', 'first-huge']
# Slowdowns, dealt out in turn and shuffled.
PATTERNS = {'even': [1], '2:1': [1, 2], '1:2:4': [1, 2, 4]}
# Even until half of W / P; then one worker becomes so many times slower, for good. The largest factor of --slow-nodes is as good as a stop.
DISTURBED = {'slowed': 10, 'stopped': 1e6}
RATIOS = {'of_bound': 'time / max(W/P, m)', 'of_list': 'time / (W/P + m)', 'of_reference': 'of the reference', 'of_best': 'of the best'}


# A run that is quicker by more than clocks and rounding allow was not the run that it should have been.
POSSIBLE = 0.995


# --- the corpus ---

@dataclasses.dataclass
class Loop:
    number: int
    seed: int
    kind: str
    shape: str  # parameters of the distribution, for the reader
    iterations: int
    workers: int
    masters: int
    machine: str
    mean_us: float
    costs_us: list = dataclasses.field(default_factory=list, repr=False)
    slowdowns: list = dataclasses.field(default_factory=list, repr=False)
    disturbed: int = 0  # worker that is slowed or stopped, where the machine is such a one

    def __str__(self):
        return (f'{self.kind} {self.shape}'.strip() + f', {self.iterations} x {self.mean_us / 1000:.3g} ms, {self.workers} workers, '
                f'{self.masters} masters, {self.machine}')


def log_uniform(rng, least, most):
    return math.exp(rng.uniform(math.log(least), math.log(most)))


def phases(rng, count):
    """Costs of a loop whose parts have levels of their own, a tenth of noise about each."""
    ends = sorted(rng.randrange(count + 1) for _ in range(rng.randint(1, 9))) + [count]
    costs = []
    for end in ends:
        level = log_uniform(rng, 0.1, 10)
        costs += [level * rng.uniform(0.9, 1.1) for _ in range(end - len(costs))]
    return f'{len(ends)}', costs


def bimodal(rng, count):
    share = log_uniform(rng, 0.02, 0.9)
    costs = [1 / share if rng.random() < share else 0 for _ in range(count)]
    if not any(costs):
        costs[rng.randrange(count)] = 1 / share
    return f'share={share:.3f}', costs


def draw_costs(rng, kind, count):
    """(shape, costs relative to the mean of the distribution)"""
    if kind == 'constant':
        return '', [1] * count
    if kind == 'uniform':
        spread = rng.uniform(0.1, 1)
        return f'spread={spread:.2f}', [rng.uniform(1 - spread, 1 + spread) for _ in range(count)]
    if kind == 'exponential':
        return '', [rng.expovariate(1) for _ in range(count)]
    if kind == 'gamma':
        cov = rng.uniform(0.5, 3)
        return f'cov={cov:.2f}', [rng.gammavariate(1 / cov**2, cov**2) for _ in range(count)]
    if kind == 'pareto':
        alpha = rng.uniform(1.2, 3)
        return f'alpha={alpha:.2f}', [rng.paretovariate(alpha) * (alpha - 1) / alpha for _ in range(count)]
    if kind == 'bimodal':
        return bimodal(rng, count)
    if kind == 'increasing':
        return '', [(2 * i + 1) / count for i in range(count)]
    if kind == 'decreasing':
        return '', [(2 * i + 1) / count for i in reversed(range(count))]
    if kind == 'phases':
        return phases(rng, count)
    base = rng.choice(['constant', 'exponential'])
    _, costs = draw_costs(rng, base, count)
    costs[0] = 0 if kind == 'first-free' else log_uniform(rng, 10, 1000)
    return base if kind == 'first-free' else f'{base}, {costs[0]:.0f} times', costs


def draw_size(seed, number, machine=None):
    """The loop with this number, without its costs. Every eleven loops in a row have all kinds of costs; `machine` replaces the drawn one."""
    rng = random.Random(f'{seed}/{number}')
    workers = round(log_uniform(rng, 2, 256))
    iterations = min(max(round(log_uniform(rng, 1, 2000) * workers), workers), ITERATIONS_MAX)
    masters = min(rng.choice([0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]), workers // 2)
    drawn = rng.choice(['even', 'even', '2:1', '1:2:4'])
    loop = Loop(number, seed, KINDS[number % len(KINDS)], '', iterations, workers, masters, machine or drawn, log_uniform(rng, 1e3, 1e5))
    pattern = PATTERNS.get(loop.machine, [1])
    loop.slowdowns = [pattern[w % len(pattern)] for w in range(workers)]
    rng.shuffle(loop.slowdowns)
    loop.disturbed = rng.randrange(workers)
    return loop


def fill(loop, factor=1):
    """Draws the costs, in microseconds, as the file of costs has them: to the nanosecond."""
    loop.shape, costs = draw_costs(random.Random(f'{loop.seed}/{loop.number}/costs'), loop.kind, loop.iterations)
    loop.mean_us *= factor
    loop.costs_us = [round(loop.mean_us * cost, 3) for cost in costs]
    return loop


# --- the bounds ---

def speeds_of(loop):
    return [1 / slowdown for slowdown in loop.slowdowns]


def work_s(loop):
    return math.fsum(loop.costs_us) / 1e6


def disturbed_at_s(loop):
    """When a worker is slowed or stopped, in seconds from the first assignment; None on other machines."""
    return work_s(loop) / sum(speeds_of(loop)) / 2 if loop.machine in DISTURBED else None


def least_time(work, speeds, change=None):
    """W / P in seconds. `change`: (seconds from the loop's start, worker, factor) of a worker that becomes slower in the middle."""
    time = work / sum(speeds)
    if change is None or time <= change[0]:
        return time
    at, worker, factor = change
    return at + (work - at * sum(speeds)) / (sum(speeds) - speeds[worker] * (1 - 1 / factor))


def longest_on_worker(longest, speeds, stats, disturbed=None, copied=False):
    """(least, most) seconds of the longest iteration on the worker that computed it.

    A report does not name that worker, but it has computed for at least as long as the iteration takes on it. The least is for that iteration
    alone; the most is of all, as a shorter one may take longer on a slower worker. Both are the same where all workers are alike. `disturbed`:
    a worker that is left out, as copies by others are to make good for it. `copied`: chunks were given again, and the time that the first
    worker spent on one is not in its computing time, so that it may have been the slowest."""
    own = [(longest / speed, stat['compute_s'], stat['iterations']) for w, (speed, stat) in enumerate(zip(speeds, stats)) if w != disturbed]
    possible = [time for time, computed, _ in own if computed >= time * (1 - 1e-6) - 1e-8] or [time for time, _, _ in own]
    most = max([time if copied else min(time, computed) for time, computed, iterations in own if copied or iterations > 0], default=0)
    return min(possible), max(most, min(possible))


def ratios(loop, figures):
    """{'of_bound': .., 'of_list': ..} of a run, and what they are made of."""
    speeds, at = speeds_of(loop), disturbed_at_s(loop)
    change = None if at is None else (at, loop.disturbed, DISTURBED[loop.machine])
    work, longest = work_s(loop), max(loop.costs_us) / 1e6
    share = least_time(work, speeds, change)
    least, most = longest_on_worker(longest, speeds, figures['worker_stats'], None if change is None else loop.disturbed,
                                    figures['faults']['reissued_chunks'] > 0)
    time = figures['elapsed_s']
    return {'work_s': work, 'power': sum(speeds), 'share_s': share, 'longest_least_s': least, 'longest_most_s': most, 'time_s': time,
            'startup_s': figures['startup_s'], 'chunks': figures['chunks'], 'messages': figures['messages'],
            'of_bound': time / max(share, least), 'of_list': time / (share + most)}


# --- runs ---

@dataclasses.dataclass
class Variant:
    technique: str  # 'default' for none
    setting: str
    words: list

    def __str__(self):
        return f'{self.technique}, {self.setting}'


def write_costs(loop, name):
    with open(name, 'w') as file:
        file.writelines(f'{cost:.3f}\n' for cost in loop.costs_us)


def node_of(loop, worker):
    """The node of a worker where each rank has its own: the supermaster's comes first, then that of each master and those of its workers."""
    masters_before = sum(m * loop.workers // loop.masters <= worker for m in range(loop.masters))
    return 1 + masters_before + worker


def line_of(hdss, what, loop, variant, costs, real_too=False, slow=None):
    """The words of a run. Loops that are also run for real have the kernel itself read the costs, others hdss simulate. `slow`: what
    --slow-nodes is given, where it is."""
    words = ['--workers', loop.workers, '--masters', loop.masters, *variant.words]
    if loop.machine in DISTURBED:
        words += ['--platform', f'cluster:nodes={1 + loop.masters + loop.workers},cores=1', *(['--slow-nodes', slow] if slow else [])]
    elif len(set(loop.slowdowns)) > 1:
        words += ['--slowdown', ','.join(map(str, loop.slowdowns))]
    if real_too:
        words += ['synthetic', 'distribution=file', f'file={costs}', 'mode=sleep', f'iterations={loop.iterations}']
    else:
        words += ['--costs', costs, 'synthetic', f'iterations={loop.iterations}']
    return [str(word) for word in [hdss, what, *words]]


def report(line, name, timeout):
    """The report of a run, or a line that says why there is none."""
    try:
        result = subprocess.run([*line[:2], '--report', name, *line[2:]], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                timeout=timeout)
    except subprocess.TimeoutExpired:
        return f'not done in {timeout} s'
    if result.returncode != 0:
        return f'exit status {result.returncode}: {result.stderr.strip()[:200]}'
    with open(name) as file:
        return json.load(file)


def row_of(loop, variant, figures):
    row = {'loop': loop.number, 'kind': loop.kind, 'shape': loop.shape, 'iterations': loop.iterations, 'workers': loop.workers,
           'masters': loop.masters, 'machine': loop.machine, 'mean_us': round(loop.mean_us, 3), 'technique': variant.technique,
           'setting': variant.setting}
    if isinstance(figures, str):
        return {**row, 'failure': figures}
    found = ratios(loop, figures)
    impossible = found['of_bound'] < POSSIBLE
    return {**row, 'failure': f'{found["of_bound"]:.4f} of the least possible time' if impossible else '', **found}


def simulate(hdss, loop, variant, costs, out):
    """The report of a simulated run. One in which a worker is slowed or stopped is run without that first, which shows when its loop starts."""
    figures, at = report(line_of(hdss, 'simulate', loop, variant, costs), out, 300), disturbed_at_s(loop)
    if isinstance(figures, str) or at is None:
        return figures
    slow = f'{node_of(loop, loop.disturbed)}:{DISTURBED[loop.machine]:.0f}@{figures["startup_s"] + at:.9f}'
    return report(line_of(hdss, 'simulate', loop, variant, costs, slow=slow), out, 300)


def measure(hdss, seed, number, machine, variants, folder):
    """The rows of one loop."""
    loop = fill(draw_size(seed, number, machine))
    name, out = (os.path.join(folder, f'{number}.{ending}') for ending in ('costs', 'json'))
    write_costs(loop, name)
    rows = [row_of(loop, variant, simulate(hdss, loop, variant, name, out)) for variant in variants]
    os.remove(name)
    return rows


def compare(rows, reference):
    """Adds the ratio to the same technique in the setting `reference`, and to the best of the loop's rows."""
    done = {(row['technique'], row['setting']): row['time_s'] for row in rows if not row['failure']}
    for row in rows:
        if not row['failure']:
            row['of_best'] = row['time_s'] / min(done.values())
            other = done.get((row['technique'], reference))
            row['of_reference'] = row['time_s'] / other if other else None


# --- tables ---

def percentile_90(values):
    return sorted(values)[math.ceil(0.9 * len(values)) - 1]


def summary(rows, ratio):
    """(median, 90th percentile, worst, loop of the worst) of a ratio; None where no row has it."""
    values = [(row[ratio], row['loop']) for row in rows if row.get(ratio) is not None]
    if not values:
        return None
    numbers = [value for value, _ in values]
    return (statistics.median(numbers), percentile_90(numbers), *max(values, key=lambda pair: (pair[0], -pair[1])))


def of_variant(rows, variant):
    return [row for row in rows if (row['technique'], row['setting']) == (variant.technique, variant.setting)]


def show(rows, variants, reference):
    columns = {key: title for key, title in RATIOS.items() if key != 'of_best' or len(variants) > 1}
    columns.pop('of_reference' if reference is None else None, None)
    print('| technique | setting | loops | ' + ' | '.join(f'{title}: median, 90 %, worst (loop)' for title in columns.values()) + ' |')
    print('|---' * (3 + len(columns)) + '|')
    for variant in variants:
        mine, cells = of_variant(rows, variant), []
        for key in columns:
            found = summary(mine, key)
            cells.append('' if found is None else '{:.3f}, {:.3f}, {:.3f} ({})'.format(*found))
        print(f'| {variant.technique} | {variant.setting} | {sum(not row["failure"] for row in mine)} | {" | ".join(cells)} |')
    print(flush=True)


def show_worst(rows, variants, count, seed, machine):
    for variant in variants:
        done = sorted((row for row in of_variant(rows, variant) if not row['failure']), key=lambda row: -row['of_list'])[:count]
        for row in done:
            print(f'{variant}: loop {row["loop"]}: {row["of_list"]:.3f} of W/P + m, {row["of_bound"]:.3f} of max(W/P, m): '
                  f'{row["time_s"]:.4g} s, W/P {row["share_s"]:.4g} s, m {row["longest_most_s"]:.4g} s, {row["chunks"]} chunks; '
                  f'{fill(draw_size(seed, row["loop"], machine))}')
    if count:
        print(flush=True)


def show_groups(rows, variants, key):
    """Median and worst of both bounds for each value of a column."""
    values = sorted({row[key] for row in rows}, key=lambda value: KINDS.index(value) if key == 'kind' else str(value).zfill(9))
    columns = [(variant, ratio) for variant in variants for ratio in ('of_bound', 'of_list')]
    print(f'| {key} | loops | {" | ".join(f"{variant}: {RATIOS[ratio]}: median, worst" for variant, ratio in columns)} |')
    print('|---' * (2 + len(columns)) + '|')
    for value in values:
        group = [row for row in rows if row[key] == value]
        found = [summary(of_variant(group, variant), ratio) for variant, ratio in columns]
        cells = ['' if one is None else f'{one[0]:.3f}, {one[2]:.3f}' for one in found]
        print(f'| {value} | {len({row["loop"] for row in group})} | {" | ".join(cells)} |')
    print(flush=True)


def judge(rows, variants, arguments):
    """Prints failed runs and exceeded bounds; True where there are none."""
    wrong = [f'{row["technique"]}, {row["setting"]}: loop {row["loop"]} failed: {row["failure"]}' for row in rows if row['failure']]
    bounded = [variant for variant in variants if variant.setting != arguments.reference] or variants
    for variant in bounded:
        for key, place, bound in (('of_bound', 0, arguments.bound_median), ('of_list', 2, arguments.bound_worst),
                                  ('of_reference', 2, arguments.bound_reference), ('error_size', 0, arguments.bound_error_median),
                                  ('error_size', 2, arguments.bound_error_worst)):
            found = summary(of_variant(rows, variant), key)
            if bound is not None and found is not None and found[place] > bound:
                where = f' (loop {found[3]})' if place == 2 else ''
                wrong.append(f'{variant}: {RATIOS.get(key, "error of the simulation in %")}, {"worst" if place == 2 else "median"}: '
                             f'{found[place]:.3f}{where} exceeds {bound}')
    print('\n'.join(wrong) + '\n' * bool(wrong), end='', flush=True)
    return not wrong


def write_csv(name, rows):
    with open(name, 'w', newline='') as file:
        names = list(dict.fromkeys(key for row in rows for key in row))
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)


# --- the two ways to run it ---

def simulated(hdss, numbers, variants, arguments):
    rows, jobs = [], arguments.jobs
    with tempfile.TemporaryDirectory(prefix='hdss-regret-') as folder, concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        waiting = [pool.submit(measure, hdss, arguments.seed, number, arguments.machine, variants, folder) for number in numbers]
        for one in waiting:
            of_loop = one.result()
            compare(of_loop, arguments.reference)
            rows += of_loop
    show(rows, variants, arguments.reference)
    show_worst(rows, variants, arguments.worst, arguments.seed, arguments.machine)
    if arguments.by:
        show_groups(rows, variants, arguments.by)
    return rows


def real_loops(seed, numbers, machine):
    """Loops of few workers, their costs such that each run takes some seconds."""
    few = [number for number in numbers if draw_size(seed, number).workers <= REAL_WORKERS_MAX][:REAL_COUNT]
    for number in few:
        loop = fill(draw_size(seed, number, machine))
        bound = max(work_s(loop) / sum(speeds_of(loop)), max(loop.costs_us) / 1e6)
        wanted = min(max(REAL_LEAST_S, loop.iterations / loop.workers / 1000), REAL_MOST_S)
        yield fill(draw_size(seed, number, machine), wanted / bound)


def real(hdss, numbers, variants, arguments):
    """Rows of the real runs, each with the error of its simulation."""
    runs, rows = int(os.environ.get('HDSS_BENCH_RUNS', '1')), []
    print(f'medians of {runs}; error: simulated over real; m of the real run\n')
    print('| loop | | technique | setting | real s | simulated s | error % | real: time / max(W/P, m), time / (W/P + m) | simulated | chunks |')
    print('|---' * 10 + '|')
    with tempfile.TemporaryDirectory(prefix='hdss-regret-') as folder:
        os.chdir(folder)
        with open('here.platform', 'w') as file:
            file.write(PLATFORM.format(nodes=1, cores=64))
        for loop in real_loops(arguments.seed, numbers, arguments.machine):
            write_costs(loop, 'costs')
            of_loop = []
            for variant in variants:
                line = line_of(hdss, 'run', loop, variant, 'costs', real_too=True)
                measured = [report([*line[:2], '--progress', 'never', *line[2:]], 'real.json', 300) for _ in range(runs)]
                virtual = report([hdss, 'simulate', '--platform', './here.platform',
                                  *line_of(hdss, 'simulate', loop, variant, 'costs', real_too=True)[2:]], 'simulated.json', 300)
                failure = next((one for one in [*measured, virtual] if isinstance(one, str)), None)
                if failure is not None:
                    of_loop.append(row_of(loop, variant, failure))
                    continue
                middle = sorted(measured, key=lambda one: one['elapsed_s'])[runs // 2]
                row, guess = row_of(loop, variant, middle), ratios(loop, virtual)
                error = error_of(guess['time_s'], row['time_s'])
                row.update(simulated_s=guess['time_s'], simulated_of_bound=guess['of_bound'], error_size=abs(error))
                of_loop.append(row)
                print(f'| {loop.number} | {loop} | {variant.technique} | {variant.setting} | {row["time_s"]:.4f} | {guess["time_s"]:.4f} | '
                      f'{error:+.1f} | {row["of_bound"]:.3f}, {row["of_list"]:.3f} | {guess["of_bound"]:.3f}, {guess["of_list"]:.3f} | '
                      f'{row["chunks"]}, {virtual["chunks"]} |', flush=True)
            compare(of_loop, arguments.reference)
            rows += of_loop
    print()
    show(rows, variants, arguments.reference)
    for variant in variants:
        errors = summary(of_variant(rows, variant), 'error_size')
        if errors:
            print('{}: simulated against real: error in %: median {:.1f}, 90 % {:.1f}, largest {:.1f} (loop {})'.format(variant, *errors))
    print(flush=True)
    return rows


# --- self-test ---

def self_test():
    """TAP on standard output; 0 when all is well."""
    def stats(*computed):
        return [{'compute_s': time, 'iterations': int(time > 0)} for time in computed]
    small = Loop(0, 1, 'constant', '', 4, 2, 1, '2:1', 1e6, [1e6, 1e6, 1e6, 3e6], [1, 2], 0)
    figures = {'elapsed_s': 6, 'startup_s': 0, 'chunks': 4, 'messages': 9, 'worker_stats': stats(6, 0), 'faults': {'reissued_chunks': 0}}
    corpus = [draw_size(1, number) for number in range(COUNT)]
    rows = [{'loop': loop, 'of_bound': ratio} for loop, ratio in enumerate([1, 3, 2, 3, 1, 1, 1, 1, 1, 1])]
    pair = [{'technique': 'x', 'setting': setting, 'time_s': time, 'failure': ''} for setting, time in (('a', 3), ('off', 2))]
    compare(pair, 'off')
    checks = {
        'W / P of even workers': least_time(8, [1, 1, 1, 1]) == 2,
        'a change after the end is none': least_time(8, [1, 1, 1, 1], (2, 0, 10)) == 2,
        'one of two stops half-way': math.isclose(least_time(8, [1, 1], (2, 1, 1e12)), 6),
        'one of two halves its speed at the start': math.isclose(least_time(9, [1, 1], (0, 1, 2)), 6),
        'm where all are alike': longest_on_worker(3, [1, 1], stats(3, 4)) == (3, 3),
        'm was on the fast worker': longest_on_worker(3, [1, 0.5], stats(3, 4)) == (3, 4),
        'm was on the slow worker': longest_on_worker(3, [1, 0.5], stats(2, 7)) == (6, 6),
        'm without the one that was stopped': longest_on_worker(3, [1, 0.1], stats(3, 40), 1) == (3, 3),
        'm where chunks were given again': longest_on_worker(3, [1, 0.5], stats(3, 0), None, True) == (3, 6),
        'ratios of a run': (lambda got: (got['of_bound'], got['of_list']) == (1.5, 6 / 7))(ratios(small, figures)),
        '90th percentile of ten is the ninth': percentile_90(range(10)) == 8,
        'summary: median, 90 %, worst, its first loop': summary(rows, 'of_bound') == (1, 3, 3, 1),
        'summary of nothing': summary(rows, 'of_best') is None,
        'nodes of workers behind their masters': [node_of(dataclasses.replace(small, workers=5, masters=2), w) for w in range(5)] ==
        [2, 3, 5, 6, 7],
        'nodes of workers without masters': node_of(dataclasses.replace(small, masters=0), 3) == 4,
        'a run that is too quick is a failure': row_of(small, Variant('x', 'a', []), {**figures, 'elapsed_s': 2})['failure'] != '',
        'ratio to the reference and to the best': [(row['of_reference'], row['of_best']) for row in pair] == [(1.5, 1.5), (1, 1)],
        'a loop is the same each time': fill(draw_size(7, 4)) == fill(draw_size(7, 4)) != fill(draw_size(8, 4)),
        'no loop depends on the machine': fill(draw_size(1, 5, 'slowed')).costs_us == fill(draw_size(1, 5)).costs_us,
        'commas between techniques and in them': split_techniques('ss,css:chunk=5,tss:first=9,last=1,gss') ==
        ['ss', 'css:chunk=5', 'tss:first=9,last=1', 'gss'],
        'all kinds, machines and numbers of masters': {loop.kind for loop in corpus} == set(KINDS) and {loop.machine for loop in corpus} ==
        set(PATTERNS) and {loop.masters for loop in corpus} == set(range(9)),
        'sizes are within their limits': all(2 <= loop.workers <= 256 and 1 <= loop.iterations / loop.workers <= 2001 and
                                             loop.iterations <= ITERATIONS_MAX and 2 * loop.masters <= loop.workers for loop in corpus),
        'every loop has work and no negative cost': all(sum(costs) > 0 and min(costs) >= 0 for kind in KINDS for count in (2, 3, 50)
                                                        for _, costs in [draw_costs(random.Random(count), kind, count)]),
        'each kind has as many costs as iterations': all(len(draw_costs(random.Random(1), kind, count)[1]) == count for kind in KINDS
                                                         for count in (1, 2, 50)),
    }
    print(f'1..{len(checks)}')
    for number, (name, right) in enumerate(checks.items(), 1):
        print(f'{"ok" if right else "not ok"} {number} - {name}')
    return 0 if all(checks.values()) else 1


# --- the command line ---

def numbers_of(text):
    return [int(word) for word in text.split(',')]


def setting_of(text):
    name, _, words = text.partition('=')
    return name, shlex.split(words)


def parse():
    parser = argparse.ArgumentParser(description='How far irregular loops end behind the best possible time.')
    parser.add_argument('build', metavar='BUILD', nargs='?', help='a build folder')
    parser.add_argument('--techniques', metavar='LIST', default='default',
                        help='names or specifications with commas between them; default: without --technique; all: those of hdss techniques '
                        '(default: default)')
    parser.add_argument('--setting', metavar='NAME=OPTIONS', type=setting_of, action='append',
                        help="options of hdss, with a name for the table; can be given again (default: auto= and 'off=--ask-ahead off')")
    parser.add_argument('--reference', metavar='NAME', default='off', help='the setting to which others are compared (default: off)')
    parser.add_argument('--seed', type=int, default=1, help='of the corpus (default: 1)')
    parser.add_argument('--count', type=int, default=COUNT, help=f'the first loops of the corpus (default: {COUNT})')
    parser.add_argument('--short', action='store_true', help=f'the same as --count {SHORT_COUNT}')
    parser.add_argument('--only', metavar='LOOP,...', type=numbers_of, help='loops with these numbers')
    parser.add_argument('--machine', choices=[*PATTERNS, *DISTURBED], help='for all loops, instead of the one that each has drawn')
    parser.add_argument('--real', action='store_true', help=f'real runs of {REAL_COUNT} loops with up to {REAL_WORKERS_MAX} workers, '
                        'HDSS_BENCH_RUNS times each (1)')
    parser.add_argument('--jobs', type=int, default=1, help='so many loops are simulated at a time (default: 1)')
    parser.add_argument('--worst', metavar='N', type=int, default=0, help='name the N worst loops of each variant as well')
    parser.add_argument('--by', choices=['kind', 'machine', 'masters'], help='a second table, by kind of costs, machine or number of masters')
    parser.add_argument('--csv', metavar='FILE', help='write all rows')
    parser.add_argument('--bound-median', metavar='X', type=float, help='for the median of time / max(W/P, m)')
    parser.add_argument('--bound-worst', metavar='X', type=float, help='for the worst of time / (W/P + m)')
    parser.add_argument('--bound-reference', metavar='X', type=float, help='for the worst ratio to the reference')
    parser.add_argument('--bound-error-median', metavar='X', type=float, help='--real: for the median error of the simulation, in %%')
    parser.add_argument('--bound-error-worst', metavar='X', type=float, help='--real: for the largest one, in %%')
    parser.add_argument('--self-test', action='store_true', help="the script's own arithmetic")
    arguments = parser.parse_args()
    if arguments.build is None and not arguments.self_test:
        parser.error('BUILD is missing')
    if arguments.real and arguments.machine in DISTURBED:
        parser.error(f'--machine {arguments.machine} is for simulated runs only')
    arguments.setting = arguments.setting or [('auto', []), ('off', ['--ask-ahead', 'off'])]
    if arguments.reference not in [name for name, _ in arguments.setting]:
        arguments.reference = None
    return arguments


def split_techniques(text):
    """At each comma but those before another parameter of a specification, as in css:chunk=5,min=2."""
    return re.split(r',(?![\w-]+=)', text)


def techniques_of(hdss, text):
    if text != 'all':
        return split_techniques(text)
    out = subprocess.run([hdss, 'techniques'], capture_output=True, text=True, check=True).stdout
    return [line.split()[0] for line in out.split('\n\n')[0].split('\n')[1:] if line]


def main():
    arguments = parse()
    if arguments.self_test:
        return self_test()
    hdss = os.path.join(os.path.abspath(arguments.build), 'deploy', 'hdss')
    csv_name = os.path.abspath(arguments.csv) if arguments.csv else None
    variants = [Variant(technique, name, [*([] if technique == 'default' else ['--technique', technique]), *words])
                for technique in techniques_of(hdss, arguments.techniques) for name, words in arguments.setting]
    numbers = arguments.only or range(SHORT_COUNT if arguments.short else arguments.count)
    facts = machine_facts()
    print(f'Time of irregular loops over the best possible\n  {facts["processor"]}, {facts["cores"]} cores, load {facts["load"]:.2f}; '
          f'seed {arguments.seed}')
    for name, words in arguments.setting:
        print(f'  {name}: {shlex.join(words) or "no option"}')
    print()
    rows = (real if arguments.real else simulated)(hdss, numbers, variants, arguments)
    if csv_name:
        write_csv(csv_name, rows)
    return 0 if judge(rows, variants, arguments) else 1


if __name__ == '__main__':
    sys.exit(main())
