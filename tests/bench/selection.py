# SPDX-License-Identifier: MIT
"""How far the choice of a technique before a loop falls behind the best of all techniques, chosen afterwards: the corpus of regret.py on five
machines, in virtual time.

usage: selection.py BUILD [OPTION]...   a table of the first time step and one of selection over many steps
       selection.py --self-test         the script's own arithmetic

Each loop is simulated with every technique of `hdss techniques`, by default (no --technique), and with --technique auto. The best of a loop is
the technique with the least time. It has seen the loop, and also the luck of it: where workers differ, or one is slowed or stopped, some
technique hands the longest iteration to a fast worker by chance. The ratio to max(W / P, m), which no schedule beats (see regret.py), is
beside it, also that of the best itself. With --repetitions R a time is the median of R orders of messages that arrive at one moment.
--orders D takes the luck out: the best technique of a loop, auto and the default have D other orders of the same iterations each, where the
iterations are drawn independently, and of messages. The best one now has not seen what comes, as the other two.

Selection over steps: a program runs the same loop T times, and a rule chooses the technique of each step from the times and imbalances of the
steps before. The rules are those of LB4OMP (Müller Korndörfer et al. 2022, 2025), with its twelve techniques in its order and the settings of
its source:
  random      another technique by lot, with a probability of ten times the imbalance
  exhaustive  each technique once, then the best
  expert      fuzzy rules on the imbalance and the loop's time, then on their changes, move along the order of the techniques
  q-learning, sarsa  each pair of techniques in succession once, then greedy; the reward is that of a new least, a new most or another time
Their steps cost what the simulation of that technique took. `auto` and the default are taken with the time of their first step throughout.
Imbalance is that part of the loop's time, in %, which the mean worker does not compute.

--cache FILE keeps the simulated times: a loop that is in it is not simulated again. --again NAME,... simulates those anew.
Exit status 1 when a run has failed or a bound is exceeded.
"""
import argparse
import concurrent.futures
import csv
import dataclasses
import math
import os
import random
import statistics
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import regret  # noqa: E402

MACHINES = [*regret.PATTERNS, *regret.DISTURBED]
CHOOSERS = ['default', 'auto']
STEPS = [1, 20, 50, 500]
SHORT_COUNT = 11
ORDERED = ['constant', 'increasing', 'decreasing', 'phases']
COLUMNS = ['machine', 'loop', 'technique', 'failure', 'time_s', 'of_bound', 'of_list', 'imbalance', 'chosen', 'chunks']

# The portfolio of LB4OMP, by the names that its techniques have here. Its second form of guided self-scheduling is gss.
PORTFOLIO = ['static', 'ss', 'tss', 'gss', 'gss', 'fac2', 'static-steal', 'awf-b', 'awf-c', 'awf-d', 'awf-e', 'maf']


# --- times ---

def imbalance_of(figures):
    """In %: (longest - mean) / longest * P / (P - 1), of the time that workers are busy; the longest is the loop's."""
    busy, time = [stat['compute_s'] for stat in figures['worker_stats']], figures['elapsed_s']
    return 100 * max(0, 1 - statistics.fmean(busy) / time) * len(busy) / max(1, len(busy) - 1) if time > 0 else 0


def variant_of(technique, repetitions):
    words = [] if technique == 'default' else ['--technique', technique]
    return regret.Variant(technique, '', [*(['--repetitions', str(repetitions)] if repetitions > 1 else []), *words])


def reorder(loop, order):
    """The iterations in another order, but for a first one that is special, and kinds whose order is their nature."""
    if loop.kind in ORDERED:
        return
    fixed = int(loop.kind in ('first-free', 'first-huge'))
    rest = loop.costs_us[fixed:]
    random.Random(f'{loop.seed}/{loop.number}/order/{order}').shuffle(rest)
    loop.costs_us[fixed:] = rest


def measure(hdss, seed, number, machine, techniques, repetitions, folder, order=0):
    """The rows of one loop on one machine. With an order, its iterations and its messages are in that order."""
    loop = regret.fill(regret.draw_size(seed, number, machine))
    name, out = (os.path.join(folder, f'{number}.{machine.replace(":", "-")}.{order}.{ending}') for ending in ('costs', 'json'))
    if order > 0:
        reorder(loop, order)
    regret.write_costs(loop, name)
    rows = []
    for technique in techniques:
        variant = variant_of(technique, repetitions)
        variant.words += ['--seed', str(order)] if order > 0 else []
        figures = regret.simulate(hdss, loop, variant, name, out)
        row = regret.row_of(loop, variant, figures)
        if not isinstance(figures, str):
            row.update(imbalance=imbalance_of(figures), chosen=figures['technique']['name'])
        rows.append({column: row.get(column, '') for column in COLUMNS})
    os.remove(name)
    return rows


def read_cache(name, header):
    """The rows of a cache, {(machine, loop): {technique: row}}. A cache of another corpus is an error."""
    found = {}
    if name is None or not os.path.exists(name):
        return found
    with open(name, newline='') as file:
        first = file.readline().rstrip('\n')
        if first != header:
            sys.exit(f'{name}: has {first!r}, not {header!r}')
        for row in csv.DictReader(file):
            for key in ('time_s', 'of_bound', 'of_list', 'imbalance'):
                row[key] = float(row[key] or 'nan')
            found.setdefault((row['machine'], int(row['loop'])), {})[row['technique']] = {**row, 'loop': int(row['loop'])}
    return found


def write_cache(name, header, times):
    with open(f'{name}.new', 'w', newline='') as file:
        file.write(header + '\n')
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(row for of_loop in times.values() for row in of_loop.values())
    os.replace(f'{name}.new', name)


def gather(hdss, arguments, techniques):
    """{(machine, loop): {technique: row}}; what the cache has is not simulated."""
    header = f'# seed {arguments.seed}, repetitions {arguments.repetitions}'
    times = read_cache(arguments.cache, header)
    wanted, numbers = [*techniques, *CHOOSERS], arguments.only or range(arguments.count)
    for of_loop in times.values():
        for technique in arguments.again:
            of_loop.pop(technique, None)
    with tempfile.TemporaryDirectory(prefix='hdss-selection-') as folder, concurrent.futures.ProcessPoolExecutor(arguments.jobs) as pool:
        waiting = {}
        for number in numbers:
            for machine in arguments.machines:
                missing = [technique for technique in wanted if technique not in times.setdefault((machine, number), {})]
                if missing:
                    future = pool.submit(measure, hdss, arguments.seed, number, machine, missing, arguments.repetitions, folder)
                    waiting[future] = machine, number
        for done, future in enumerate(concurrent.futures.as_completed(waiting), 1):
            times[waiting[future]].update({row['technique']: row for row in future.result()})
            if arguments.cache and (done % 100 == 0 or done == len(waiting)):
                write_cache(arguments.cache, header, times)
    return {(machine, number): {name: times[machine, number][name] for name in wanted} for machine in arguments.machines for number in numbers}


# --- selection over steps ---

@dataclasses.dataclass
class Outcome:
    """Of one technique on the loop."""
    time: float
    imbalance: float  # in %


class RandomRule:
    def __init__(self, rng, count):
        self.rng, self.count, self.action = rng, count, None

    def choose(self, last):
        if last is None or self.rng.random() < last.imbalance / 10:
            self.action = self.rng.randrange(self.count)
        return self.action


class ExhaustiveRule:
    def __init__(self, rng, count):
        self.count, self.times = count, []

    def choose(self, last):
        if last is not None and len(self.times) < self.count:
            self.times.append(last.time)
        return len(self.times) if len(self.times) < self.count else self.times.index(min(self.times))


def rising(value, least, most):
    """0 up to `least`, 1 from `most` on, linear between."""
    return min(max((value - least) / (most - least), 0), 1)


def within(value, begin, full, less, end):
    """A trapezium."""
    return min(rising(value, begin, full), 1 - rising(value, less, end))


class ExpertRule:
    """Fuzzy rules. The first choice is by time and imbalance of one step, each later one by their changes."""

    def __init__(self, rng, count):
        self.count, self.before, self.place = count, None, 0

    @staticmethod
    def first(time, imbalance):
        """A place in the order of techniques: simple, moderate or aggressive ones."""
        short, medium, long = 1 - rising(time, 0.01, 0.03), within(time, 0, 0.1, 1, 10), rising(time, 1, 10)
        low, moderate, high = 1 - rising(imbalance, 1, 2), within(imbalance, 1, 2, 4, 5), rising(imbalance, 4, 10)
        weights = [0.75 * max(short, low), 3.75 * max(min(medium, max(high, moderate)), min(long, moderate)), 8.5 * min(high, long)]
        whole = sum(weights)
        return 0 if whole == 0 else int((weights[2] * 14 + weights[1] * 3 + (whole - weights[0])) / whole)

    @staticmethod
    def move(last, before):
        """By how many places to move on: up to 4 to more or to less aggressive techniques."""
        slower, worse = (last.time - before.time) / last.time * 100, last.imbalance - before.imbalance
        short, long = 1 - rising(last.time, 0.01, 0.03), rising(last.time, 1, 10)
        low, high = 1 - rising(last.imbalance, 1, 2), rising(last.imbalance, 4, 10)
        degraded, improved, same = rising(slower, 0.5, 3), rising(-slower, 0.5, 3), within(slower, -1, -0.5, 0.5, 1)
        more_even, less_even, as_even = rising(-worse, 0, 3), rising(worse, 0, 3), within(worse, -3, -1.5, 1.5, 3)
        stay = 1.5 * max(min(same, as_even), low, improved)
        more = 2.75 * max(min(high, long), min(degraded, less_even), min(same, less_even))
        less = 2.75 * max(min(degraded, more_even), min(degraded, as_even), min(same, more_even), short, min(degraded, low))
        whole = stay + more + less
        return 0 if whole == 0 else round(4 * (more - less) / whole)

    def choose(self, last):
        if last is not None:
            to = self.place + self.move(last, self.before) if self.before else self.first(last.time, last.imbalance)
            self.place, self.before = min(max(to, 0), self.count - 1), last
        return self.place


class LearningRule:
    """Q-learning, or SARSA where `on_policy`. The state is the technique of the step before. It first goes from each technique to each once."""
    ALPHA, ALPHA_LEAST, DECAY, GAMMA = 0.85, 0.1, 0.01, 0.95
    REWARDS = {'least': 0, 'between': -2, 'most': -4}
    on_policy = False

    def __init__(self, rng, count):
        self.count, self.state, self.action, self.step = count, 0, None, 0
        self.values = [[0.0] * count for _ in range(count)]
        self.unseen = [list(range(count)) for _ in range(count)]
        self.least, self.most = math.inf, 0

    def reward(self, time):
        kind = 'least' if time < 1.05 * self.least else 'most' if time > 0.9 * self.most else 'between'
        self.least, self.most = min(self.least, time), max(self.most, time)
        return self.REWARDS[kind]

    def policy(self, state):
        """The next technique after `state`; in the exploration, one whose own successors are not all seen comes first."""
        if any(self.unseen):
            return max(self.unseen[state] or range(self.count), key=lambda action: (len(self.unseen[action]), -action))
        return max(range(self.count), key=self.values[state].__getitem__)

    def learn(self, reward, then):
        state, action = self.state, self.action
        follow = self.values[action][then] if self.on_policy else max(self.values[action])
        explored = self.step - self.count**2
        alpha = max(self.ALPHA_LEAST, self.ALPHA * math.exp(-self.DECAY * max(explored, 0)))
        self.values[state][action] += alpha * (reward + self.GAMMA * follow - self.values[state][action])

    def choose(self, last):
        if last is None:
            self.action = 0
        else:
            reward, then = self.reward(last.time), self.policy(self.action)
            self.learn(reward, then)
            self.state, self.action = self.action, then
        if self.action in self.unseen[self.state]:
            self.unseen[self.state].remove(self.action)
        self.step += 1
        return self.action


class SarsaRule(LearningRule):
    on_policy = True


RULES = {'random': RandomRule, 'exhaustive': ExhaustiveRule, 'expert': ExpertRule, 'q-learning': LearningRule, 'sarsa': SarsaRule}


def play(rule, outcomes, steps):
    """The times of so many steps. `outcomes`: of each technique of the portfolio."""
    times, last = [], None
    for _ in range(steps):
        last = outcomes[rule.choose(last)]
        times.append(last.time)
    return times


# --- tables ---

def best_of(of_loop, techniques):
    return min(of_loop[name]['time_s'] for name in techniques)


def three(values):
    """Median, 90 % and worst of [(value, loop)]."""
    numbers = [value for value, _ in values]
    worst = max(values, key=lambda pair: (pair[0], -pair[1]))
    return f'{statistics.median(numbers):.3f}, {regret.percentile_90(numbers):.3f}, {worst[0]:.3f} ({worst[1]})'


def first_step(times, techniques, names, machines):
    """{(machine, name): [(time / best, loop)]} of those that chose in advance, and {..: [(time / max(W/P, m), loop)]}, also of the best."""
    of_best, of_bound = {}, {}
    for (machine, loop), of_loop in times.items():
        best = min(techniques, key=lambda name: of_loop[name]['time_s'])
        for name in names:
            of_best.setdefault((machine, name), []).append((of_loop[name]['time_s'] / of_loop[best]['time_s'], loop))
            of_bound.setdefault((machine, name), []).append((of_loop[name]['of_bound'], loop))
        of_bound.setdefault((machine, 'best'), []).append((of_loop[best]['of_bound'], loop))
    for found in (of_best, of_bound):
        for name in {name for _, name in found}:
            found['all', name] = [pair for machine in machines for pair in found.get((machine, name), [])]
    return of_best, of_bound


def show_first(of_best, of_bound, names, machines):
    print('First time step: median, 90 %, worst (loop)\n')
    print('| machine | | loops | of the best | of max(W/P, m) | within 5 % | within 10 % |')
    print('|---' * 7 + '|')
    for machine in [*machines, 'all'] if len(machines) > 1 else machines:
        for name in [*names, 'best']:
            ratios, bounds = of_best.get((machine, name)), of_bound[machine, name]
            shares = [f'{sum(ratio <= limit for ratio, _ in ratios) / len(ratios):.1%}' if ratios else '' for limit in (1.05, 1.1)]
            print(f'| {machine} | {name} | {len(bounds)} | {three(ratios) if ratios else ""} | {three(bounds)} | {" | ".join(shares)} |')
    print(flush=True)


def wins(ratios):
    """On which part of the loops each is the best, or within 0.1 % of it. `ratios`: of each, by loop."""
    best = [min(of_loop) for of_loop in zip(*ratios.values())]
    return {name: sum(ratio <= 1.001 * least for ratio, least in zip(values, best)) / len(best) for name, values in ratios.items()}


def show_steps(times, techniques, steps, seed):
    """The mean time of the steps over that of the best technique in all of them."""
    found = {}
    for (machine, loop), of_loop in times.items():
        best = best_of(of_loop, techniques)
        outcomes = [Outcome(of_loop[name]['time_s'], of_loop[name]['imbalance']) for name in PORTFOLIO]
        for name, rule in RULES.items():
            played = play(rule(random.Random(f'{seed}/{machine}/{loop}/{name}'), len(outcomes)), outcomes, max(steps))
            for count in steps:
                found.setdefault((name, count), []).append((statistics.fmean(played[:count]) / best, loop))
        for name in CHOOSERS:
            for count in steps:
                found.setdefault((name, count), []).append((of_loop[name]['time_s'] / best, loop))
    print('Mean of T steps, of the best: median, 90 %, worst (loop)\n')
    names = [*RULES, *CHOOSERS]
    print(f'| | {" | ".join(f"T = {count}" for count in steps)} |')
    print('|---' * (1 + len(steps)) + '|')
    for name in names:
        print(f'| {name} | {" | ".join(three(found[name, count]) for count in steps)} |')
    print(f'\nWho is the best of these, or within 0.1 % of it, on how many of {len(times)} loops\n')
    print(f'| | {" | ".join(f"T = {count}" for count in steps)} |')
    print('|---' * (1 + len(steps)) + '|')
    shares = {count: wins({name: [ratio for ratio, _ in found[name, count]] for name in names}) for count in steps}
    for name in names:
        print(f'| {name} | {" | ".join(f"{shares[count][name]:.0%}" for count in steps)} |')
    print(flush=True)


def other_orders(hdss, times, techniques, arguments):
    """{(machine, name): [(mean time in other orders / that of the technique that was the best, loop)]}"""
    found = {}
    with tempfile.TemporaryDirectory(prefix='hdss-selection-') as folder, concurrent.futures.ProcessPoolExecutor(arguments.jobs) as pool:
        waiting = {}
        for (machine, loop), of_loop in times.items():
            best = min(techniques, key=lambda name: of_loop[name]['time_s'])
            waiting[machine, loop] = best, [pool.submit(measure, hdss, arguments.seed, loop, machine, [best, *CHOOSERS], arguments.repetitions,
                                                        folder, order) for order in range(1, arguments.orders + 1)]
        for (machine, loop), (best, futures) in waiting.items():
            rows = [row for future in futures for row in future.result() if not row['failure']]
            of = {name: [row['time_s'] for row in rows if row['technique'] == name] for name in [best, *CHOOSERS]}
            for name in CHOOSERS if all(of.values()) else []:
                ratio = statistics.fmean(of[name]) / statistics.fmean(of[best])
                found.setdefault((machine, name), []).append((ratio, loop))
                found.setdefault(('all', name), []).append((ratio, loop))
    return found


def show_orders(found, machines, orders):
    print(f'Mean of {orders} other orders, of the technique that was the best in the first one: median, 90 %, worst (loop); slower and quicker '
          'by more than 1 %\n')
    print('| machine | | loops | of the best before | slower than it | quicker than it |')
    print('|---' * 6 + '|')
    for machine in [*machines, 'all'] if len(machines) > 1 else machines:
        for name in CHOOSERS:
            ratios = found[machine, name]
            slower, quicker = (sum(1 for ratio, _ in ratios if way(ratio)) / len(ratios)
                               for way in (lambda ratio: ratio > 1.01, lambda ratio: ratio < 1 / 1.01))
            print(f'| {machine} | {name} | {len(ratios)} | {three(ratios)} | {slower:.0%} | {quicker:.0%} |')
    print(flush=True)


def show_worst(times, techniques, name, count, seed):
    """The loops on which the ratio of `name` to the best is largest."""
    def ratio(key):
        return times[key][name]['time_s'] / best_of(times[key], techniques)
    for machine, loop in sorted(times, key=ratio, reverse=True)[:count]:
        of_loop = times[machine, loop]
        best, mine = min(techniques, key=lambda one: of_loop[one]['time_s']), of_loop[name]
        print(f'{name}: {ratio((machine, loop)):.3f}: {mine["time_s"]:.4g} s ({mine["chosen"]}, {mine["of_bound"]:.3f}), default '
              f'{of_loop["default"]["time_s"]:.4g} s, {best} {of_loop[best]["time_s"]:.4g} s ({of_loop[best]["of_bound"]:.3f}); loop {loop}: '
              f'{regret.fill(regret.draw_size(seed, loop, machine))}')
    if count:
        print(flush=True)


def complaints(of_best, arguments):
    """Exceeded bounds of auto."""
    found = []
    for machine in arguments.machines:
        values = [value for value, _ in of_best[machine, 'auto']]
        for what, ratio, bound in (('median', statistics.median(values), arguments.bound_median), ('worst', max(values), arguments.bound_worst)):
            if bound is not None and ratio > bound:
                found.append(f'auto, {machine}: {what} of the best: {ratio:.3f} exceeds {bound}')
    return found


# --- self-test ---

def self_test():
    """TAP on standard output; 0 when all is well."""
    slow, fast, even = Outcome(20, 30), Outcome(10, 5), Outcome(5, 0.5)
    outcomes = [slow, fast, slow, slow]
    three_rows = {('even', loop): {name: {'time_s': time, 'of_bound': time / 2} for name, time in (('a', 2), ('b', 4), ('auto', 2 + loop))}
                  for loop in range(2)}
    of_best, of_bound = first_step(three_rows, ['a', 'b'], ['auto'], ['even'])
    limits = argparse.Namespace(machines=['even'], bound_median=1.2, bound_worst=1.4)
    checks = {
        'imbalance of a worker that idles half of the time':
        imbalance_of({'worker_stats': [{'compute_s': 2}, {'compute_s': 1}], 'elapsed_s': 2}) == 50,
        'no imbalance': imbalance_of({'worker_stats': [{'compute_s': 2}] * 3, 'elapsed_s': 2}) == 0,
        'a rule that rises': [rising(value, 1, 3) for value in (0, 1, 2, 3, 4)] == [0, 0, 0.5, 1, 1],
        'a rule that falls again': [within(value, 0, 1, 2, 4) for value in (-1, 0.5, 1.5, 3, 5)] == [0, 0.5, 1, 0.5, 0],
        'exhaustive tries each once, then keeps the best': play(ExhaustiveRule(None, 4), outcomes, 7) == [20, 10, 20, 20, 10, 10, 10],
        'random stays where the imbalance is none': len(set(play(RandomRule(random.Random(1), 4), [even] * 3 + [fast], 50))) == 1,
        'random leaves what is unbalanced': len(set(play(RandomRule(random.Random(1), 4), outcomes, 50))) == 2,
        'expert begins with the first': play(ExpertRule(None, 4), outcomes, 1) == [20],
        'expert: short and even is simple': ExpertRule.first(0.001, 0) == 0,
        'expert: of medium length and uneven is moderate': ExpertRule.first(0.5, 20) in (3, 4),
        'expert: long and uneven is aggressive': ExpertRule.first(100, 20) >= 11,
        'expert: quicker than before stays': ExpertRule.move(Outcome(0.5, 8), Outcome(0.6, 8)) == 0,
        'expert: slower and less even is more aggressive': ExpertRule.move(Outcome(0.6, 9), Outcome(0.5, 3)) == 4,
        'expert: slower and more even is less aggressive': ExpertRule.move(Outcome(0.6, 3), Outcome(0.5, 9)) == -4,
        'expert stays within the order': all(0 <= ExpertRule.first(time, part) for time in (0, 0.02, 2, 20) for part in (0, 1.5, 3, 4.5, 50)),
        'learning goes from each to each once': len(set(zip(*(lambda seen: (seen, seen[1:]))(
            [0, *(lambda rule: [rule.choose(None if step == 0 else fast) for step in range(16)])(LearningRule(None, 4))])))) == 16,
        'Q-learning ends with the best': play(LearningRule(None, 4), outcomes, 100)[-20:] == [10] * 20,
        'SARSA ends with the best': play(SarsaRule(None, 4), outcomes, 100)[-20:] == [10] * 20,
        'ratio to the best, and to the bound': of_best['even', 'auto'] == [(1, 0), (1.5, 1)] and of_bound['even', 'best'] == [(1, 0), (1, 1)],
        'all machines together': of_best['all', 'auto'] == [(1, 0), (1.5, 1)],
        'a bound that is exceeded is found': len(complaints(of_best, limits)) == 2,
        'a bound that is kept is kept': complaints(of_best, argparse.Namespace(machines=['even'], bound_median=1.3, bound_worst=1.6)) == [],
        'five machines': len(MACHINES) == 5,
        'twelve techniques of LB4OMP': len(PORTFOLIO) == 12,
        'the best of each loop, and who is as good': wins({'a': [1, 2, 1], 'b': [1.0005, 1, 3]}) == {'a': 2 / 3, 'b': 2 / 3},
        'a cache is read as it was written': cache_is_kept(),
        'another order has the same iterations': orders_are_others('gamma', 0) and orders_are_others('first-free', 1),
        'a loop whose order is its nature keeps it': not orders_are_others('increasing', 0),
    }
    print(f'1..{len(checks)}')
    for number, (name, right) in enumerate(checks.items(), 1):
        print(f'{"ok" if right else "not ok"} {number} - {name}')
    return 0 if all(checks.values()) else 1


def orders_are_others(kind, fixed):
    number = regret.KINDS.index(kind)
    loop, other = (regret.fill(regret.draw_size(1, number)) for _ in range(2))
    reorder(other, 1)
    return (loop.kind == kind and sorted(loop.costs_us) == sorted(other.costs_us) and loop.costs_us != other.costs_us and
            loop.costs_us[:fixed] == other.costs_us[:fixed])


def cache_is_kept():
    row = {'machine': 'even', 'loop': 3, 'technique': 'ss', 'failure': '', 'time_s': 1.5, 'of_bound': 1.25, 'of_list': 1.0, 'imbalance': 0.5,
           'chosen': 'ss', 'chunks': '7'}
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, 'cache')
        write_cache(name, '# x', {('even', 3): {'ss': row}})
        return read_cache(name, '# x') == {('even', 3): {'ss': row}} and read_cache(None, '# x') == {}


# --- the command line ---

def parse():
    parser = argparse.ArgumentParser(description='How far a technique chosen in advance falls behind the best one, chosen afterwards.')
    parser.add_argument('build', metavar='BUILD', nargs='?', help='a build folder')
    parser.add_argument('--machines', type=lambda text: text.split(','), default=MACHINES,
                        help=f'with commas between them (default: {",".join(MACHINES)})')
    parser.add_argument('--seed', type=int, default=1, help='of the corpus (default: 1)')
    parser.add_argument('--count', type=int, default=regret.COUNT, help=f'the first loops of the corpus (default: {regret.COUNT})')
    parser.add_argument('--only', metavar='LOOP,...', type=regret.numbers_of, help='loops with these numbers')
    parser.add_argument('--short', action='store_true', help=f'the same as --count {SHORT_COUNT} --machines even,1:2:4')
    parser.add_argument('--repetitions', metavar='R', type=int, default=1, help='orders of messages, of which the median time is taken (default: 1)')
    parser.add_argument('--orders', metavar='D', type=int, default=0, help='other orders of iterations and messages (default: 0)')
    parser.add_argument('--steps', metavar='T,...', type=regret.numbers_of, default=STEPS, help=f'(default: {",".join(map(str, STEPS))})')
    parser.add_argument('--cache', metavar='FILE', help='simulated times, read and written')
    parser.add_argument('--again', metavar='NAME,...', type=lambda text: text.split(','), default=[], help='techniques to simulate anew')
    parser.add_argument('--jobs', type=int, default=1, help='so many loops are simulated at a time (default: 1)')
    parser.add_argument('--worst', metavar='N', type=int, default=0, help='name the N worst loops of auto as well')
    parser.add_argument('--bound-median', metavar='X', type=float, help='for the median of auto over the best, on each machine')
    parser.add_argument('--bound-worst', metavar='X', type=float, help='for the worst')
    parser.add_argument('--self-test', action='store_true', help="the script's own arithmetic")
    arguments = parser.parse_args()
    if arguments.build is None and not arguments.self_test:
        parser.error('BUILD is missing')
    if set(arguments.machines) - set(MACHINES):
        parser.error(f'--machines: accepted: {", ".join(MACHINES)}')
    if arguments.short:
        arguments.count, arguments.machines = SHORT_COUNT, ['even', '1:2:4']
    return arguments


def main():
    arguments = parse()
    if arguments.self_test:
        return self_test()
    hdss = os.path.join(os.path.abspath(arguments.build), 'deploy', 'hdss')
    techniques = regret.techniques_of(hdss, 'all')
    times = gather(hdss, arguments, techniques)
    failed = [f'{name}: loop {loop}, {machine}: {row["failure"]}' for (machine, loop), of_loop in times.items()
              for name, row in of_loop.items() if row['failure']]
    if failed:
        print('\n'.join(failed))
        return 1
    print(f'The choice of a technique against the best of {len(techniques)}; seed {arguments.seed}, {arguments.repetitions} orders of messages\n')
    of_best, of_bound = first_step(times, techniques, CHOOSERS, arguments.machines)
    show_first(of_best, of_bound, CHOOSERS, arguments.machines)
    show_steps(times, techniques, arguments.steps, arguments.seed)
    if arguments.orders > 0:
        show_orders(other_orders(hdss, times, techniques, arguments), arguments.machines, arguments.orders)
    show_worst(times, techniques, 'auto', arguments.worst, arguments.seed)
    exceeded = complaints(of_best, arguments)
    print('\n'.join(exceeded) + '\n' * bool(exceeded), end='', flush=True)
    return 1 if exceeded else 0


if __name__ == '__main__':
    sys.exit(main())
