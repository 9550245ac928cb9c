#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The rules of the papers in exact arithmetic, against `hdss chunks`: whole numbers, fractions, and roots that are decided by comparing
squares, with no line in common with the library and none with reference.py.

    papers.py HDSS MANUAL [JOBS]    TAP: each sequence of LOOPS as HDSS prints it, and MANUAL (docs/techniques.md) names the differences

A rule is taken from its paper to the letter, so that a sequence may differ from that of the technique as it is used. Then the technique is
in DIFFERENCES, has a section of that name there, and its `variant=paper` must be equal. Whatever a rule gives, a chunk has at least
one iteration and at least --min-chunk, and at most what remains.

A power, a deviation and the like is the decimal number that is written: 0.4 is 2/5.
"""
import concurrent.futures
import itertools
import math
import random
import subprocess
import sys
from decimal import Decimal, getcontext
from fractions import Fraction

getcontext().prec = 80

PI = Decimal('3.14159265358979323846264338327950288419716939937510582097494459230781640628620899')
CHUNKS_MAX = 1500  # a longer sequence is no loop of this test
HUGE = 10**15
PRIMES = (1009, 104729, 2**31 - 1)

# The technique, and the section of docs/techniques.md that says in what it differs from its paper.
DIFFERENCES = {
    'wf': 'wf, awf, awf-b, awf-d: how a weighted chunk is rounded',
    'awf': 'wf, awf, awf-b, awf-d: how a weighted chunk is rounded',
    'awf-b': 'wf, awf, awf-b, awf-d: how a weighted chunk is rounded',
    'awf-d': 'wf, awf, awf-b, awf-d: how a weighted chunk is rounded',
    'tss': 'tss, tfss, dtss: the end of a weighted trapezoid',
    'tfss': 'tss, tfss, dtss: the end of a weighted trapezoid',
    'dtss': 'tss, tfss, dtss: the end of a weighted trapezoid',
    'pls': 'pls: the last static chunk',
}


class Loop:
    """N iterations, P workers who ask in turn or in an order, and their powers."""

    def __init__(self, n, powers, min_chunk=1, weighting=False, order=None):
        self.n, self.p, self.min_chunk, self.weighting = n, len(powers), min_chunk, weighting
        self.order = order or list(range(1, self.p + 1))
        self.words = powers
        self.powers = [Fraction(word) for word in powers]
        self.v = sum(self.powers)

    def options(self):
        powers = ['--power', ','.join(self.words)] if set(self.words) != {'1'} else ['--workers', str(self.p)]
        order = [] if self.order == list(range(1, self.p + 1)) else ['--order', ','.join(str(worker) for worker in self.order)]
        return ['--iterations', str(self.n), *powers, '--min-chunk', str(self.min_chunk), *(['--weighting', 'power'] if self.weighting else []), *order]


def ceil(value):
    return math.ceil(value)


def floor(value):
    return math.floor(value)


def not_above(n, x, y):
    """n <= x - sqrt(y)."""
    return x - n >= 0 and y <= (x - n)**2


def floor_less_root(x, y):
    """floor(x - sqrt(y)) of fractions, y >= 0: a guess of 80 digits, put right by comparing squares."""
    def decimal(value):
        return Decimal(value.numerator) / value.denominator
    x, y = Fraction(x), Fraction(y)
    n = math.floor(decimal(x) - decimal(y).sqrt())
    while not not_above(n, x, y):
        n -= 1
    while not_above(n + 1, x, y):
        n += 1
    return n


def ceil_less_root(x, y):
    n = floor_less_root(x, y)
    exact = x - n >= 0 and y == (x - n)**2
    return n if exact else n + 1


# Each rule gives K for chunk i to worker j with r iterations left, before it is clamped. A rule that keeps something is a class.

def static(loop):
    """RMA, table 2."""
    return lambda i, j, r: ceil(Fraction(loop.n, loop.p))


def ss(loop):
    """Tang and Yew."""
    return lambda i, j, r: 1


def css(loop, chunk=None):
    """SW, section 2; without a chunk N/(2P)."""
    size = int(chunk) if chunk else ceil(Fraction(loop.n, 2 * loop.p))
    return lambda i, j, r: size


def fsc(loop, h, sigma):
    """DCA, eq 3, with the exponent 2/3 of Kruskal and Weiss: the smallest K with K^3 sigma^2 P^2 ln P >= 2 N^2 h^2, at most N/P."""
    most = ceil(Fraction(loop.n, loop.p))
    h, sigma = Fraction(h), Fraction(sigma)
    if loop.p == 1 or sigma == 0:
        return lambda i, j, r: most
    square = 2 * loop.n**2 * h**2 / (sigma**2 * loop.p**2)
    cube = Decimal(square.numerator) / square.denominator / Decimal(loop.p).ln()
    size = next(k for k in itertools.count(max(0, math.floor(cube**(Decimal(1) / 3)) - 2)) if k**3 >= cube)
    return lambda i, j, r: min(size, most)


def mfsc(loop):
    """2L."""
    t = ceil(Fraction(loop.n, loop.p))
    size = min(t, math.floor(Decimal('0.55') + t * Decimal(2).ln() / Decimal(t).ln())) if t > 1 else 1
    return lambda i, j, r: size


def gss(loop, round='ceil'):
    """DCA, eq 4; SW rounds down."""
    return lambda i, j, r: {'ceil': ceil, 'floor': floor}[round](Fraction(r, loop.p))


def gss_closed(loop):
    """DCA, eq 14."""
    return lambda i, j, r: -(-(loop.p - 1)**i * loop.n // loop.p**(i + 1))


def trapezoid(loop, first, last, decrement):
    """F, L and D of DCA, eq 6."""
    low = int(last)
    high = int(first) if first else max(low, ceil(Fraction(loop.n, 2 * loop.p)))
    steps = max(2, ceil(Fraction(2 * loop.n, high + low)))
    fall = Fraction(high - low, steps - 1)
    return high, low, fall if decrement == 'real' else floor(fall)


def tss(loop, first=None, last='1', decrement='floor'):
    """DCA, eq 6 and 17: K falls by D down to L."""
    high, low, fall = trapezoid(loop, first, last, decrement)
    return lambda i, j, r: max(low, ceil(high - i * fall))


def tfss(loop, first=None, last='1', decrement='floor'):
    """DCA, eq 8 and 18: the mean of the batch's P steps, down to L."""
    high, low, fall = trapezoid(loop, first, last, decrement)

    def rule(i, j, r):
        begin, end = i // loop.p * loop.p, (i // loop.p + 1) * loop.p - 1
        return max(low, floor(high - Fraction(begin + end, 2) * fall))
    return rule


def batches(loop, size):
    """size(r, b), taken at the start of batch b of P chunks."""
    kept = {}

    def rule(i, j, r):
        if i % loop.p == 0:
            kept['size'] = size(r, i // loop.p)
        return kept['size']
    return rule


def half(loop):
    """DCA, eq 7."""
    return batches(loop, lambda r, b: ceil(Fraction(r, 2 * loop.p)))


def fac2(loop):
    return half(loop)


def fac2_closed(loop):
    """DCA, eq 15."""
    return lambda i, j, r: ceil(Fraction(loop.n, 2**(i // loop.p + 1) * loop.p))


def fac_chunk(loop, mu, sigma, r, batch):
    """Hummel, Schonberg and Flynn: R/(x P), x = c + b^2 + b sqrt(b^2 + 2c), b = P sigma/(2 sqrt(R) mu), c = 1, then 2. As
    1/x = (c + b^2 - sqrt(b^4 + 2 c b^2)) / c^2, one root is left."""
    ratio = Fraction(sigma) / Fraction(mu)
    c, square = (1 if batch == 0 else 2), (loop.p * ratio)**2 / (4 * r)
    share = Fraction(r, loop.p * c * c)
    return ceil_less_root(share * (c + square), share**2 * (square**2 + 2 * c * square))


def fac(loop, mu, sigma):
    return batches(loop, lambda r, batch: fac_chunk(loop, mu, sigma, r, batch))


def mfac(loop, mu, sigma):
    """LB4OMP, mFAC: fac, where each batch leaves R - P K, whatever was handed out."""
    kept = {'rest': loop.n, 'size': 0}

    def size(r, batch):
        kept['rest'] -= loop.p * kept['size']
        kept['size'] = fac_chunk(loop, mu, sigma, kept['rest'], batch) if kept['rest'] > 0 else 1
        return kept['size']
    return batches(loop, size)


def fiss(loop, stages=''):
    """DCA, eq 9 and 19; by default B is the number of batches of its FAC2, eq 15."""
    b, rest = int(stages or 0), loop.n
    while not stages and rest > 0:
        b += 1
        rest -= loop.p * -floor(-Fraction(loop.n, loop.p * 2**b))
    b = max(b, 2)
    first = floor(Fraction(loop.n, (2 + b) * loop.p))
    rise = floor(2 * loop.n * (1 - Fraction(b, 2 + b)) / (loop.p * b * (b - 1)))
    return lambda i, j, r: first + i // loop.p * rise


def viss(loop, x='4'):
    """DCA, eq 10 and 20."""
    first = floor(Fraction(loop.n, int(x) * loop.p))
    return lambda i, j, r: floor(first * (1 - Fraction(1, 2)**(i // loop.p + 1)) / Fraction(1, 2))


def taper(g, v):
    """DCA, eq 5: ceil(g + v^2/2 - v sqrt(2g + v^2/4))."""
    return ceil_less_root(g + v * v / 2, v * v * (2 * g + v * v / 4))


def tap(loop, mu, sigma, alpha='1.3'):
    v = Fraction(alpha) * Fraction(sigma) / Fraction(mu)
    return lambda i, j, r: taper(Fraction(r, loop.p), v)


def tap_closed(loop, mu, sigma, alpha='1.3'):
    """DCA, eq 16."""
    v = Fraction(alpha) * Fraction(sigma) / Fraction(mu)
    return lambda i, j, r: taper(Fraction((loop.p - 1)**i * loop.n, loop.p**(i + 1)), v)


def rnd(loop, lo='1', hi=None, seed='1', bounds='dca'):
    """DCA, eq 12, and 2L: uniform in [lo, hi], by SplitMix64 of Steele, Lea and Flood."""
    low = max(int(lo), -floor(-Fraction(loop.n, 100 * loop.p))) if bounds == '2l' else int(lo)
    span = (int(hi) if hi else max(low, floor(Fraction(loop.n, 2 * loop.p if bounds == '2l' else loop.p)))) - low + 1
    state = {'gamma': int(seed)}

    def rule(i, j, r):
        word = 2**64
        state['gamma'] = z = (state['gamma'] + 0x9e3779b97f4a7c15) % word
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9 % word
        z = (z ^ z >> 27) * 0x94d049bb133111eb % word
        return low + floor(Fraction((z ^ z >> 31) * span, word))
    return rule


def pls(loop, swr):
    """DCA, eq 13: static as long as R > N - N s."""
    rest = loop.n - loop.n * Fraction(swr)
    return lambda i, j, r: floor(loop.n * Fraction(swr) / loop.p) if r > rest else ceil(Fraction(r, loop.p))


def pls_closed(loop, swr):
    """DCA, eq 21."""
    s = Fraction(swr)

    def rule(i, j, r):
        return floor(loop.n * s / loop.p) if i < loop.p else ceil(Fraction(loop.p - 1, loop.p)**(i - loop.p) * loop.n * (1 - s) / loop.p)
    return rule


def weighted(loop, weight):
    """RMA, table 2: ceil(w_j K)."""
    size = half(loop)
    return lambda i, j, r: ceil(weight(j) * size(i, j, r))


def wf(loop):
    """RMA, table 2, with w_j = P V_j/V."""
    return weighted(loop, lambda j: loop.p * loop.powers[j] / loop.v)


def learned_weight(loop):
    """2L: a worker's weight is its speed over the mean speed. Worker j takes n/V_j seconds for n iterations and waits for nobody, so that
    every average of its chunks is 1/V_j; before its first chunk has ended it has the weight of its power, which is the same."""
    return lambda j: loop.p * loop.powers[j] / loop.v


def awf(loop):
    """Within one time step: wf."""
    return wf(loop)


def awf_b(loop):
    return weighted(loop, learned_weight(loop))


def awf_d(loop):
    return awf_b(loop)


def awf_c(loop):
    """2L: R is that of the moment."""
    weight = learned_weight(loop)
    return lambda i, j, r: ceil(weight(j) * Fraction(r, 2 * loop.p))


def awf_e(loop):
    return awf_c(loop)


def adaptive_factoring(loop, first, whole):
    """DCA, eq 11, where nothing deviates: D = 0, so that K = E R/mu_p, with E = 1/sum(1/mu). A worker that has ended no chunk gets
    `first` and counts as the mean of the others."""
    measured = set()

    def rule(i, j, r):
        if i >= loop.p:
            measured.add(j)
        if j not in measured:
            return int(first)
        all_speeds = Fraction(loop.p, len(measured)) * sum(loop.powers[worker] for worker in measured)
        return whole(r * loop.powers[j] / all_speeds)
    return rule


def af(loop, first):
    return adaptive_factoring(loop, first, floor)


def maf(loop, first):
    """LB4OMP, mAF, which rounds up; nobody waits."""
    return adaptive_factoring(loop, first, ceil)


def bold_size(r, p, left, unreported, a, h_over_mu):
    """LB4OMP, bold: the size for R = r > P, by the names of Hagerup; decimals of 80 digits."""
    b = 8 * a * (8 * a).ln()
    c1 = h_over_mu / Decimal(2).ln()
    c2 = (2 * PI).sqrt() * c1
    q = r / p
    v, most = q / (b + q), max(r, left)
    t, d = most / p, r / (1 + 1 / q.ln() - v)
    if d <= c2:
        return t
    s = a * (d.ln() - c2.ln()) * (1 + unreported / (most * p))
    w = (v * q.ln()).ln() + b.ln() if b > 0 else q.ln().ln()
    return min(t, t + s / 2 - (s * (t + s / 4)).sqrt() + max(Decimal(0), c1 * w))


def bold(loop, mu, sigma, h):
    """A worker's clock is the sum of its chunks' times, n/V_j each. `left` falls with the speeds K/(K mu + h) of the chunks that are being
    computed; when one ends, its n iterations take the place of what it was thought to have done."""
    mu, h, a = Decimal(mu), Decimal(h), 2 * (Decimal(sigma) / Decimal(mu))**2
    powers = [Decimal(word) for word in loop.words]
    clock, chunk, speed = ([Decimal(0)] * loop.p for _ in range(3))
    state = {'left': Decimal(loop.n), 'unreported': loop.n, 'latest': Decimal(0)}

    def report(j):
        time = chunk[j] / powers[j]
        clock[j] += time
        passed = max(clock[j] - state['latest'], Decimal(0))
        state['latest'] += passed
        state['left'] -= passed * sum(speed) + chunk[j] - time * speed[j]
        state['unreported'] -= chunk[j]

    def rule(i, j, r):
        if i >= loop.p:
            report(j)
        size = 1
        if r > loop.p:
            size = max(1, math.floor(bold_size(Decimal(r), Decimal(loop.p), state['left'], state['unreported'], a, h / mu)))
        chunk[j] = Decimal(min(size, r))
        speed[j] = chunk[j] / (chunk[j] * mu + h)
        return size
    return rule


def dtss(loop, first=None, last='1', decrement='floor', carry='level'):
    """H, algorithm 1: V_j steps of the trapezoid at once. carry=chunk: SW, table 2, from the previous chunk as it was truncated."""
    low = int(last)
    high = int(first) if first else max(low, floor(loop.n / (2 * loop.v)))
    fall = Fraction(high - low, max(2, ceil(Fraction(2 * loop.n, high + low))) - 1)
    fall = fall if decrement == 'real' else floor(fall)
    state = {'level': Fraction(high), 'previous': None}

    def by_level(i, j, r):
        v = loop.powers[j]
        chunk = floor(v * (state['level'] - fall * (v - 1) / 2))
        state['level'] -= fall * v
        return chunk

    def by_chunk(i, j, r):
        v, previous = loop.powers[j], state['previous']
        share = state['level'] - fall * (v - 1) / 2 if previous is None else Fraction(previous[0]) / previous[1] - fall * (previous[1] + v) / 2
        state['previous'] = floor(v * share), v
        return state['previous'][0]
    return by_level if carry == 'level' else by_chunk


def dfss(loop, alpha='2'):
    """H, algorithm 2: a stage ends when the powers that it served reach V."""
    state = {'served': loop.v}

    def rule(i, j, r):
        if state['served'] >= loop.v:
            state['served'], state['share'] = 0, ceil(r / (Fraction(alpha) * loop.v))
        state['served'] += loop.powers[j]
        return floor(state['share'] * loop.powers[j])
    return rule


def dgss(loop):
    """H, algorithm 3."""
    return lambda i, j, r: floor(ceil(r / loop.v) * loop.powers[j])


class StaticSteal:
    """LLVM, openmp/runtime/src/kmp_dispatch.cpp, kmp_sch_static_steal, as its threads do it one after the other; and LB4OMP, the same
    file. By worker: `count` and `ub`, chunk numbers; `flag`; `parm4`, from whom on it looks for a victim."""

    def __init__(self, loop, chunk=None, rule='llvm'):
        self.loop, self.llvm = loop, rule == 'llvm'
        self.chunk = max(int(chunk) if chunk else ceil(Fraction(loop.n, 64 * loop.p)), loop.min_chunk)
        self.chunks = ceil(Fraction(loop.n, self.chunk))
        self.steals = loop.p > 1 and self.chunks >= loop.p
        self.left = loop.n
        self.flag = ['unused'] * loop.p
        self.parm4 = [(j + 1) % loop.p for j in range(loop.p)]
        self.given = 0
        if not self.steals and not self.llvm:  # static_balanced: a part is one chunk
            self.chunk, self.chunks = 1, loop.n
        share = [floor(self.chunks * power / loop.v) if loop.weighting else self.chunks // loop.p for power in loop.powers]
        extras = self.chunks - sum(share)
        share = [part + (j < extras) for j, part in enumerate(share)]
        self.count = [sum(share[:j]) for j in range(loop.p)]
        self.ub = [begin + part for begin, part in zip(self.count, share)]

    def next(self, j):
        """First iteration and size of the next chunk of worker j."""
        first, end = self.numbers(j)
        first, end = first * self.chunk, min(end * self.chunk, self.loop.n)
        self.left -= end - first
        return first, end - first

    def numbers(self, j):
        if not self.steals and self.llvm:  # dynamic
            self.given += 1
            return self.given - 1, self.given
        if self.flag[j] == 'unused':
            self.flag[j] = 'ready'
        if not self.steals:
            return self.whole_part(j)
        if self.count[j] < self.ub[j]:
            self.count[j] += 1
            return self.count[j] - 1, self.count[j]
        self.flag[j] = 'thief'
        init = self.steal_llvm(j) if self.llvm else self.steal_lb4omp(j)
        if self.count[j] < self.ub[j]:
            self.flag[j] = 'ready'
        return init, init + 1

    def whole_part(self, j):
        """static_balanced; who has nothing leaves there, and here gets the part of the next one that has not asked."""
        victim = next((j + i) % self.loop.p for i in range(self.loop.p) if self.has((j + i) % self.loop.p))
        part = self.count[victim], self.ub[victim]
        self.count[victim] = self.ub[victim]
        return part

    def has(self, j):
        return self.count[j] < self.ub[j]

    def take(self, thief, victim, chunks):
        limit = self.ub[victim]
        self.ub[victim] -= chunks
        init = self.ub[victim]
        self.count[thief], self.ub[thief] = init + 1, limit
        return init

    def steal_llvm(self, j):
        p = self.loop.p
        for _ in range(p - 1):
            victim = self.parm4[j]
            old = victim - 1 if victim else p - 1
            while (victim == j or self.flag[victim] == 'thief' or not self.may_be_victim(victim)) and old != victim:
                victim = (victim + 1) % p
            if victim == j or self.flag[victim] == 'thief':
                continue
            if self.flag[victim] == 'unused':
                self.flag[victim] = 'thief'
                self.parm4[j] = (victim + 1) % p
                return self.take(j, victim, self.ub[victim] - self.count[victim])
            if not self.has(victim):
                self.parm4[j] = (victim + 1) % p
                continue
            left = self.ub[victim] - self.count[victim]
            self.parm4[j] = victim
            return self.take(j, victim, left >> 2 if left > 7 else 1)
        raise AssertionError('nobody has a chunk')

    def may_be_victim(self, j):
        """There no part is empty at first; by powers one may be."""
        return self.flag[j] != 'unused' or self.has(j)

    def steal_lb4omp(self, j):
        p, before = self.loop.p, self.parm4[j]
        for _ in range(p - 1):
            victim = self.parm4[j]
            old = victim - 1 if victim else p - 1
            while (victim == j or self.flag[victim] == 'unused') and old != victim:
                victim = (victim + 1) % p
            if victim == j or self.flag[victim] == 'unused':
                continue
            left = self.ub[victim] - self.count[victim]
            if left < 2:
                self.parm4[j] = (victim + 1) % p
                continue
            self.parm4[j] = victim
            return self.take(j, victim, left >> 2 if left > 3 else 1)
        self.parm4[j] = before  # there the thread leaves; here it gets one chunk of those that nobody steals
        return self.take(j, next((before + i) % p for i in range(p) if self.has((before + i) % p)), 1)


PLACED = {'static-steal': StaticSteal}

RECURSIVE = {function.__name__.replace('_', '-'): function for function in (
    static, ss, css, fsc, mfsc, gss, tss, fac, fac2, mfac, tfss, fiss, viss, tap, rnd, pls, wf, awf, awf_b, awf_c, awf_d, awf_e, af, maf,
    bold, dtss, dfss, dgss)}
CLOSED = {**{name: RECURSIVE[name] for name in ('static', 'ss', 'css', 'fsc', 'mfsc', 'tss', 'tfss', 'fiss', 'viss', 'rnd', 'mfac')},
          'gss': gss_closed, 'fac2': fac2_closed, 'tap': tap_closed, 'pls': pls_closed}


def sequence(spec, form, loop):
    """The chunks as the paper has them; None where they are too many."""
    name, _, given = spec.partition(':')
    if name in PLACED:
        return placed_sequence(PLACED[name](loop, **dict(word.split('=') for word in given.split(',') if word)), loop)
    rule = (CLOSED if form == 'closed' else RECURSIVE)[name](loop, **dict(word.split('=') for word in given.split(',') if word))
    chunks, rest = [], loop.n
    while rest > 0 and len(chunks) <= CHUNKS_MAX:
        i = len(chunks)
        chunk = rule(i, i % loop.p, rest)
        if loop.weighting:
            chunk = floor(chunk * loop.powers[i % loop.p])
        chunks.append(min(rest, max(chunk, loop.min_chunk, 1)))
        rest -= chunks[-1]
    return chunks if rest == 0 else None


def placed_sequence(rule, loop):
    """Worker, first iteration and size of each chunk."""
    chunks = []
    while rule.left > 0 and len(chunks) <= CHUNKS_MAX:
        worker = loop.order[len(chunks) % len(loop.order)]
        chunks.append((worker, *rule.next(worker - 1)))
    return chunks if rule.left == 0 else None


def equal(p):
    return ['1'] * p


def sizes(p):
    """The loops that round badly for P workers."""
    return [n for n in (1, p - 1, p, p + 1, 2 * p + 1, *PRIMES, HUGE, HUGE + 37) if n > 0]


POWERS = (
    ['1', '0.4', '1', '0.4'],
    ['0.29', '0.71', '1.13'],
    ['1', '2', '4', '0.7'],
    ['0.01', '0.000001', '100'],
    ['0.000000001', '1'],
    ['0.1'] * 7,
    ['3', '5', '7', '11', '13'],
    ['0.333333333333333', '0.666666666666667'],
    ['1000', '0.001', '12.5'],
)
LEARNED = (['1', '2', '4', '0.5'], ['0.25', '1', '3'])  # the times of 2^k iterations are doubles
LEARNED_MOST = 10**12  # beyond, means in doubles are off by more than the distance to the next integer at times

UNWEIGHTED = ('static', 'css', 'css:chunk=997', 'fsc:h=0.2,sigma=1.5', 'mfsc', 'gss', 'tss', 'tss:decrement=real', 'fac2', 'tfss', 'fiss',
              'fiss:stages=7', 'viss', 'viss:x=3', 'rnd', 'rnd:seed=20261126', 'rnd:bounds=2l', 'pls:swr=0.7', 'pls:swr=0.29', 'tap:mu=1,sigma=0.5', 'mfac:mu=1,sigma=0.5',
              'mfac:mu=0.3,sigma=1.7')
RECURSIVE_ONLY = ('gss:round=floor', 'fac:mu=1,sigma=0.5', 'fac:mu=0.3,sigma=0.1', 'tap:mu=0.3,sigma=2.1', 'tap:mu=1,sigma=0')
MECHANISM = ('gss', 'gss:round=floor', 'css', 'tss', 'tfss', 'fac2', 'fiss', 'viss', 'rnd', 'pls:swr=0.5', 'static', 'mfsc')
BY_NATURE = ('wf', 'dtss', 'dtss:decrement=real', 'dtss:carry=chunk', 'dfss', 'dfss:alpha=1.5', 'dgss')
LEARNING = ('awf', 'awf-b', 'awf-c', 'awf-d', 'awf-e', 'af:first=7', 'maf:first=7')
BOLD = ('bold:mu=1,sigma=0.5,h=0.1', 'bold:mu=0.3,sigma=0.7,h=2', 'bold:mu=1,sigma=0.1,h=0.01')
STEALING = ('static-steal', 'static-steal:chunk=1', 'static-steal:chunk=7', 'static-steal:rule=lb4omp', 'static-steal:chunk=3,rule=lb4omp')
SHUFFLED = random.Random(20261126)
WITH_MIN_CHUNK = ('gss', 'tss', 'fac2', 'dfss', 'dtss', 'wf')


def settings():
    """Spec, form, powers, weighting and the number of loops."""
    for spec, form, p in itertools.product(UNWEIGHTED, ('recursive', 'closed'), (1, 2, 3, 4, 7, 64)):
        yield spec, form, equal(p), False, 2 if p < 7 else 1
    for spec, p in itertools.product(RECURSIVE_ONLY, (1, 2, 5, 64)):
        yield spec, 'recursive', equal(p), False, 2
    for spec, powers in itertools.product(MECHANISM, POWERS):
        yield spec, 'recursive', powers, True, 1
    for spec, powers in itertools.product(BY_NATURE, (*POWERS, equal(4))):
        yield spec, 'recursive', powers, False, 3
    for spec, powers in itertools.product(LEARNING, LEARNED):
        yield spec, 'recursive', powers, False, 4


def loops():
    """Each loop with its spec and form: of the sizes those whose turn it is, so that each occurs with each technique."""
    turn = 0
    for spec, form, powers, weighting, count in settings():
        choice = [n for n in sizes(len(powers)) if spec not in LEARNING or n <= LEARNED_MOST]
        for _ in range(count):
            yield spec, form, Loop(choice[turn % len(choice)], powers, weighting=weighting)
            turn += 1
        turn += 1
    for spec, powers in itertools.product(BOLD, (equal(4), POWERS[2], POWERS[3])):
        yield from ((spec, 'recursive', Loop(n, powers)) for n in (1, 3, 5, 1009, 104729))
    yield from (('ss', form, Loop(n, equal(4))) for form in ('recursive', 'closed') for n in (1, 3, 4, 5, 1009))
    yield from ((spec, 'recursive', Loop(1009, POWERS[0], weighting=True)) for spec in ('tss', 'tfss'))
    yield from (('rnd:bounds=2l', form, Loop(n, equal(4))) for form in ('recursive', 'closed') for n in (1, 399, 1009, 104729))
    for spec, powers in itertools.product(WITH_MIN_CHUNK, POWERS[:2]):
        yield from ((spec, 'recursive', Loop(n, powers, min_chunk=80)) for n in (79, 104729, HUGE))
    yield from ((spec, 'recursive', loop) for spec in STEALING for loop in stealing_loops())


def stealing_loops():
    """Orders in which some workers ask often, and some late or never."""
    for p, n in itertools.product((1, 2, 5, 70), (1, 69, 71, 1009, 104729, HUGE)):
        yield Loop(n, equal(p))
    for p, n, length in ((2, 1009, 7), (3, 1009, 11), (4, 104729, 40), (7, 500, 97), (16, 1009, 300), (70, 1501, 800)):
        order = [1 + SHUFFLED.randrange(p)**2 // p for _ in range(length)]
        yield from (Loop(n, equal(p), order=order), Loop(n, equal(p), min_chunk=5, order=order[::-1]))
    yield from (Loop(n, powers, weighting=True, order=order) for n, powers in itertools.product((5, 1009, HUGE), POWERS)
                for order in (None, [len(powers)] * 9 + list(range(1, len(powers) + 1))))


def printed(hdss, spec, form, loop):
    """The chunks as hdss prints them, or its error."""
    words = [hdss, 'chunks', spec, '--form', form, '--format', 'csv', *loop.options()]
    result = subprocess.run(words, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        return result.stderr.strip()
    rows = [[int(word) for word in line.split(',')] for line in result.stdout.splitlines()[1:]]
    return [tuple(row[1:]) if spec.partition(':')[0] in PLACED else row[3] for row in rows]


def with_variant(spec):
    return spec + (',' if ':' in spec else ':') + 'variant=paper'


class Case:
    """One loop: EQUAL, DOCUMENTED, or the first chunk that is not the paper's."""

    def __init__(self, hdss, spec, form, loop, expected):
        self.name = spec.partition(':')[0]
        self.words = ' '.join(['hdss chunks', spec, '--form', form, *loop.options()])
        ours = printed(hdss, spec, form, loop)
        self.verdict = 'equal' if ours == expected else None
        if ours != expected and self.name in DIFFERENCES:
            ours = printed(hdss, with_variant(spec), form, loop)
            self.verdict = 'documented' if ours == expected else None
        self.why = '' if self.verdict else self.first_difference(ours, expected)

    @staticmethod
    def first_difference(ours, expected):
        if isinstance(ours, str):
            return ours
        for i, (a, b) in enumerate(zip(ours, expected)):
            if a != b:
                return f'chunk {i + 1} is {a}, by the paper {b}'
        return f'{len(ours)} chunks, by the paper {len(expected)}'


def compare(hdss, jobs):
    wanted = [(spec, form, loop, sequence(spec, form, loop)) for spec, form, loop in loops()]
    wanted = [case for case in wanted if case[3] is not None]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(lambda case: Case(hdss, *case), wanted))


def report(number, good, text, remarks):
    print(f"{'ok' if good else 'not ok'} {number} - {text}")
    for remark in remarks[:40]:
        print('# ' + remark)
    return good


def main(arguments):
    if len(arguments) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    cases = compare(arguments[0], int(arguments[2]) if arguments[2:] else 2)
    with open(arguments[1], encoding='utf-8') as file:
        manual = file.read()
    wrong = [case for case in cases if not case.verdict]
    documented = {case.name for case in cases if case.verdict == 'documented'}
    without_entry = sorted(entry for entry in set(DIFFERENCES.values()) if f'## {entry}\n' not in manual)
    never = sorted(set(DIFFERENCES) - documented)
    equal_ones = sum(case.verdict == 'equal' for case in cases)
    print('1..3')
    good = [
        report(1, len(cases) >= 600 and not wrong, f'{len(cases)} sequences: {equal_ones} are those of the papers, '
               f'{len(cases) - equal_ones - len(wrong)} differ as documented and are with variant=paper',
               [f'{case.words}: {case.why}' for case in wrong]),
        report(2, not without_entry, 'docs/techniques.md has a section for each difference', without_entry),
        report(3, not never, 'each difference that is documented is there', never),
    ]
    return 0 if all(good) else 1


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
