#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A second way to the techniques' series: written from the rules, in whole numbers, fractions and decimals of 60 digits, with no line in
common with the library.

    reference.py                prints golden/computed.json: what golden/published.json lacks
    reference.py --check DIR    TAP: computed.json in DIR is what this prints, and the published series come out as well

A technique is one function of the loop and of its parameters, named as the technique, that gives its forms: 'closed' is at(i), K of
scheduling step i; 'recursive' is next(r, i, j), K for worker j (from 0) when i chunks are cut and r iterations remain. Neither is clamped.
'feedback', where there is one, takes what worker j measured: n iterations in t seconds. In an entry with "feedback": "exact" every
chunk is fed back when its worker asks again: 1 second per iteration over the worker's power, no wait, no deviation, as many pieces as
iterations.
"""
import collections
import functools
import json
import math
import os
import sys
from decimal import Decimal, getcontext
from fractions import Fraction

getcontext().prec = 60

SOURCE = 'computed by tests/sched/reference.py'
MASK = 2**64 - 1
CHUNKS_MAX = 5000  # of a series worth keeping
GUARD = Decimal('1e-9')  # what lies this close below a whole number is that number


class Loop:
    """N iterations, P workers, their powers."""

    def __init__(self, entry):
        self.n, self.p, self.min_chunk = entry['iterations'], entry['workers'], entry['min_chunk']
        self.powers = [Fraction(str(power)) for power in entry.get('power', [1] * self.p)]
        self.weighted = entry.get('weighting') == 'power'
        self.order = entry.get('order')

    def worker(self, i):
        return self.order[i] - 1 if self.order else i % self.p


def ceil_div(a, b):
    return -(-a // b)


def by_step(at):
    """Both forms of a rule that knows only the step."""
    return {'closed': at, 'recursive': lambda r, i, j: at(i)}


def static(loop):
    return by_step(lambda i: ceil_div(loop.n, loop.p))


def static_steal(loop, chunk=None, rule='llvm'):
    """Each worker's chunks in a queue, of which it takes the first; thieves take from the back. `after` is whom each looks at first."""
    size = int(chunk) if chunk else max(1, ceil_div(loop.n, 64 * loop.p))
    sizes = [min(size, loop.n - first) for first in range(0, loop.n, size)]
    is_whole = rule == 'lb4omp' and (len(sizes) < loop.p or loop.p == 1)
    if is_whole:
        sizes = [part for part in (loop.n // loop.p + (j < loop.n % loop.p) for j in range(loop.p)) if part > 0]
    elif loop.p == 1 or len(sizes) < loop.p:
        return {'recursive': lambda r, i, j: sizes[i]}
    shares = [len(sizes) // loop.p + (j < len(sizes) % loop.p) for j in range(loop.p)]
    queues = [collections.deque(sizes[sum(shares[:j]):sum(shares[:j + 1])]) for j in range(loop.p)]
    after, begun = [(j + 1) % loop.p for j in range(loop.p)], set()

    def rob(j, victim, count):
        queues[j].extendleft(queues[victim].pop() for _ in range(count))

    def steal(j):
        circle = [k for k in (*range(after[j], loop.p), *range(after[j])) if queues[k]]
        if rule == 'llvm':
            victim = circle[0]
            left = len(queues[victim])
            after[j] = victim if victim in begun else (victim + 1) % loop.p
            rob(j, victim, left if victim not in begun else left // 4 if left > 7 else 1)
            return
        willing = [k for k in circle if k in begun and len(queues[k]) > 1]
        if not willing or is_whole:
            rob(j, circle[0], 1)
            return
        after[j] = willing[0]
        rob(j, willing[0], len(queues[willing[0]]) // 4 if len(queues[willing[0]]) > 3 else 1)

    def take(r, i, j):
        begun.add(j)
        if not queues[j]:
            steal(j)
        return queues[j].popleft()
    return {'recursive': take}


def ss(loop):
    return by_step(lambda i: 1)


def css(loop, chunk=None):
    return by_step(lambda i: int(chunk) if chunk else ceil_div(loop.n, 2 * loop.p))


def mfsc(loop):
    """floor(0.55 + t ln2 / ln t) with t = ceil(N/P), in [1, t]."""
    t = ceil_div(loop.n, loop.p)
    chunk = 1
    if t > 1:
        chunk = min(t, max(1, math.floor(Decimal('0.55') + t * Decimal(2).ln() / Decimal(t).ln())))
    return by_step(lambda i: chunk)


def geometric(n, p, i):
    """ceil(((P-1)/P)^i N/P); N may be a fraction."""
    return ceil_div(n * (p - 1)**i, p**(i + 1))


def gss(loop, round='ceil'):
    def after(r, i, j):
        return ceil_div(r, loop.p) if round == 'ceil' else r // loop.p
    return {'closed': lambda i: geometric(loop.n, loop.p, i), 'recursive': after}


def trapezoid(loop, first, last, decrement):
    """F, L, S and D of tss."""
    l = int(last)
    f = int(first) if first else max(l, ceil_div(loop.n, 2 * loop.p))
    s = max(2, ceil_div(2 * loop.n, f + l))
    d = Fraction(f - l, s - 1)
    return f, l, d if decrement == 'real' else Fraction(math.floor(d))


def trapezoid_step(r, f, l, d):
    """The step from which on the trapezoid covers r iterations: its level is K with (K^2 - L^2)/(2D) = R."""
    decrement = Decimal(d.numerator) / d.denominator
    level = min(Decimal(f), (Decimal(l)**2 + 2 * decrement * r).sqrt())
    return math.floor((f - level) / decrement + GUARD)


def tss(loop, first=None, last=1, decrement='floor', variant='hdss'):
    f, l, d = trapezoid(loop, first, last, decrement)
    state = {'step': 0}

    def at(i):
        return max(l, math.ceil(f - i * d))

    def after(r, i, j):
        if f - state['step'] * d < l and variant == 'hdss':  # the end: start again where the trapezoid covers the rest
            state['step'] = min(trapezoid_step(r, f, l, d), math.floor((f - l) / d))
        state['step'] += 1
        return at(state['step'] - 1)
    return {'closed': at, 'recursive': after}


def fac2(loop):
    batch = {}

    def after(r, i, j):
        if i % loop.p == 0:
            batch['chunk'] = ceil_div(r, 2 * loop.p)
        return batch['chunk']
    return {'closed': lambda i: ceil_div(loop.n, 2**(i // loop.p + 1) * loop.p), 'recursive': after}


def tfss(loop, first=None, last=1, decrement='floor', variant='hdss'):
    """The mean of the terms F - iD, i = bP .. bP+P-1, rounded down, and not below L."""
    f, l, d = trapezoid(loop, first, last, decrement)
    p = loop.p
    state = {'step': 0}

    def mean(b):
        return math.floor(f - (b * p + Fraction(p - 1, 2)) * d)

    def at(i):
        return max(l, mean(i // p))

    def last_batch():  # the last whose mean is not below L
        b = math.floor((f - l) / d / p)
        while b >= 0 and mean(b) < l:
            b -= 1
        return b

    def after(r, i, j):
        if mean(state['step'] // p) < l and last_batch() >= 0 and variant == 'hdss':
            state['step'] = p * min(trapezoid_step(r, f, l, d) // p, last_batch())
        state['step'] += 1
        return at(state['step'] - 1)
    return {'closed': at, 'recursive': after}


def batches_of_fac2(loop):
    count = cut = 0
    while cut < loop.n:
        count += 1
        cut += math.ceil(Fraction(loop.n, loop.p * 2**count)) * loop.p
    return count


def fiss(loop, stages=None):
    b = int(stages) if stages else max(2, batches_of_fac2(loop))
    first = math.floor(Fraction(loop.n, (2 + b) * loop.p))
    rise = math.floor(2 * loop.n * (1 - Fraction(b, 2 + b)) / (loop.p * b * (b - 1)))
    return by_step(lambda i: first + i // loop.p * rise)


def viss(loop, x=4):
    first = loop.n // (int(x) * loop.p)
    return by_step(lambda i: math.floor(first * (1 - Fraction(1, 2**(i // loop.p + 1))) * 2))


def splitmix64(seed, i):
    """Output number i, from 0."""
    z = (seed + (i + 1) * 0x9e3779b97f4a7c15) & MASK
    z = ((z ^ z >> 30) * 0xbf58476d1ce4e5b9) & MASK
    z = ((z ^ z >> 27) * 0x94d049bb133111eb) & MASK
    return z ^ z >> 31


def rnd(loop, lo=None, hi=None, seed=1, bounds='dca'):
    lo = int(lo) if lo else max(1, math.ceil(Fraction(loop.n, 100 * loop.p))) if bounds == '2l' else 1
    hi = int(hi) if hi else max(lo, loop.n // (2 * loop.p if bounds == '2l' else loop.p))
    return by_step(lambda i: lo + (splitmix64(int(seed), i) * (hi - lo + 1) >> 64))


def pls(loop, swr, variant='hdss'):
    """The rest is N(1-s), a fraction; to the letter of the paper it is what ends the static part of the recursive form."""
    chunk = math.floor(loop.n * Fraction(swr) / loop.p)
    rest = loop.n * (1 - Fraction(swr))

    def at(i):
        return chunk if i < loop.p else geometric(rest, loop.p, i - loop.p)

    def after(r, i, j):
        static_part = i < loop.p if variant == 'hdss' else r > rest
        return chunk if static_part else ceil_div(r, loop.p)
    return {'closed': at, 'recursive': after}


def number(text):
    """A parameter as written, or a Fraction."""
    return Decimal(text) if isinstance(text, str) else Decimal(text.numerator) / Decimal(text.denominator)


def ceil_real(value):
    return math.ceil(value - GUARD)


def floor_real(value):
    return math.floor(value + GUARD)


def moments(chunks):
    """Mean and variance of an iteration over (iterations, time) of chunks that do not vary within: the variance is that between them."""
    iterations = sum(n for n, t in chunks)
    mean = sum(t for n, t in chunks) / iterations
    return mean, sum(n * (t / n - mean)**2 for n, t in chunks) / iterations


class Measured:
    """mu and sigma as given, or of the first P chunks that are fed back."""

    def __init__(self, loop, mu=None, sigma=None):
        self.loop, self.chunks = loop, []
        self.mu, self.sigma = (value if value is None else number(value) for value in (mu, sigma))

    def feedback(self, j, n, t):
        self.chunks.append((n, t))
        if len(self.chunks) == self.loop.p:
            mean, variance = moments(self.chunks)
            self.mu = number(mean) if self.mu is None else self.mu
            self.sigma = number(variance).sqrt() if self.sigma is None else self.sigma

    def known(self):
        return self.mu is not None and self.sigma is not None


def batches(loop, size):
    """size(r, b) at the start of each batch b of P chunks, and the same within it."""
    state = {}

    def after(r, i, j):
        if i % loop.p == 0:
            state['chunk'] = size(r, i // loop.p)
        return state['chunk']
    return after


def half(loop):
    return batches(loop, lambda r, b: ceil_div(r, 2 * loop.p))


def fsc(loop, h=None, sigma=None):
    values = Measured(loop, '1', sigma)

    @functools.cache
    def chunk(known):
        if h is None or not known:
            return mfsc(loop)['closed'](0)
        if values.sigma == 0 or loop.p == 1:
            return ceil_div(loop.n, loop.p)
        base = Decimal(2).sqrt() * loop.n * number(h) / (values.sigma * loop.p * Decimal(loop.p).ln().sqrt())
        return min(ceil_div(loop.n, loop.p), max(1, ceil_real(base**(Decimal(2) / 3))))
    return {**by_step(lambda i: chunk(values.known())), 'feedback': values.feedback}


def fac(loop, mu=None, sigma=None):
    values = Measured(loop, mu, sigma)

    def size(r, batch):
        if not values.known():
            return ceil_div(r, 2 * loop.p)
        b = loop.p * values.sigma / (2 * Decimal(r).sqrt() * values.mu)
        x = 1 + b * b + b * (b * b + 2).sqrt() if batch == 0 else 2 + b * b + b * (b * b + 4).sqrt()
        return ceil_real(r / (x * loop.p))
    return {'recursive': batches(loop, size), 'feedback': values.feedback}


def mfac(loop, mu=None, sigma=None):
    """fac with the R that full batches leave."""
    values, state = Measured(loop, mu, sigma), {'rest': loop.n}

    def size(r, batch):
        rest = state['rest']
        if rest <= 0:
            return 1
        x = Decimal(2)
        if values.known():
            b = loop.p * values.sigma / (2 * Decimal(rest).sqrt() * values.mu)
            x = 1 + b * b + b * (b * b + 2).sqrt() if batch == 0 else 2 + b * b + b * (b * b + 4).sqrt()
        state['rest'] -= loop.p * ceil_real(rest / (x * loop.p))
        return ceil_real(rest / (x * loop.p))
    after = batches(loop, size)
    return {'closed': lambda i: after(None, i, None), 'recursive': after, 'feedback': values.feedback}


def tap(loop, mu=None, sigma=None, alpha='1.3'):
    values, unknown = Measured(loop, mu, sigma), half(loop)

    def taper(g):
        v = number(alpha) * values.sigma / values.mu
        return ceil_real(number(g) + v * v / 2 - v * (2 * number(g) + v * v / 4).sqrt())

    def after(r, i, j):
        before = unknown(r, i, j)
        return taper(Fraction(r, loop.p)) if values.known() else before
    return {'closed': lambda i: taper(Fraction(loop.n * (loop.p - 1)**i, loop.p**(i + 1))), 'recursive': after,
            'feedback': values.feedback}


def weighted(loop, weight):
    """Batches of half of what remains, each chunk times its worker's weight, with what rounding cuts off carried to the next."""
    chunk, state = half(loop), {'carry': Fraction(0)}

    def after(r, i, j):
        share = chunk(r, i, j) * weight(j) + state['carry']
        state['carry'] = share - math.floor(share) if share >= 1 else Fraction(0)
        return math.floor(share)
    return after


def power_weight(loop, j):
    return loop.p * loop.powers[j] / sum(loop.powers)


def wf(loop, variant='hdss'):
    chunk = half(loop)
    if variant == 'paper':
        return {'recursive': lambda r, i, j: math.ceil(power_weight(loop, j) * chunk(r, i, j))}
    return {'recursive': weighted(loop, lambda j: power_weight(loop, j))}


class Average:
    """The weights of awf-b and awf-c where every worker keeps its speed: pi_j over its measurements k, weighted by k."""

    def __init__(self, loop):
        self.loop, self.history = loop, [[] for _ in range(loop.p)]

    def feedback(self, j, n, t):
        self.history[j].append((n, t))

    def weight(self, j):
        def pace(history):
            return sum(k * t for k, (n, t) in enumerate(history, 1)) / sum(k * n for k, (n, t) in enumerate(history, 1))
        loop = self.loop
        measured = [w for w in range(loop.p) if self.history[w]]
        if j not in measured:
            return power_weight(loop, j)
        shared = sum(power_weight(loop, w) for w in measured)
        return shared / pace(self.history[j]) / sum(1 / pace(self.history[w]) for w in measured)


def awf_b(loop):
    """In round robin a worker has one chunk in each batch, and its weight is taken at its request."""
    average = Average(loop)
    return {'recursive': weighted(loop, average.weight), 'feedback': average.feedback}


def awf_c(loop):
    average = Average(loop)
    return {'recursive': lambda r, i, j: math.ceil(average.weight(j) * r / (2 * loop.p)), 'feedback': average.feedback}


def awf(loop):
    """Within one time step nothing learned is used."""
    return {**wf(loop), 'feedback': lambda j, n, t: None}


def awf_d(loop):
    """Nobody waits."""
    return awf_b(loop)


def awf_e(loop):
    return awf_c(loop)


def af(loop, first=None, whole=floor_real):
    chunks = [[] for _ in range(loop.p)]

    def after(r, i, j):
        if not chunks[j]:
            return int(first) if first else ceil_div(loop.n, 64 * loop.p)
        known = [moments(worker) for worker in chunks if worker]
        all_of_them = Fraction(loop.p, len(known))
        d = number(all_of_them * sum(variance / mean for mean, variance in known))
        e = number(1 / (all_of_them * sum(1 / mean for mean, variance in known)))
        mean = number(moments(chunks[j])[0])
        return whole((d + 2 * e * r - (d * d + 4 * d * e * r).sqrt()) / (2 * mean))
    return {'recursive': after, 'feedback': lambda j, n, t: chunks[j].append((n, t))}


def maf(loop, first=None):
    """Nobody waits."""
    return af(loop, first, ceil_real)


TECHNIQUES = {function.__name__.replace('_', '-'): function for function in [
    static, static_steal, ss, css, fsc, mfsc, gss, tss, fac, fac2, tfss, fiss, viss, tap, rnd, pls, wf, awf, awf_b, awf_c, awf_d, awf_e, af,
    mfac, maf]}


def technique_of(entry, loop):
    name, _, params = entry['spec'].partition(':')
    return TECHNIQUES[name](loop, **dict(param.split('=') for param in params.split(',') if param))


def series(entry):
    """The chunks, clamped: at least min_chunk and 1, at most what remains."""
    loop, chunks, held = Loop(entry), [], {}
    forms = technique_of(entry, loop)
    remaining = loop.n
    while remaining > 0:
        i = len(chunks)
        worker = loop.worker(i)
        if worker in held and entry.get('feedback') == 'exact':
            forms['feedback'](worker, held[worker], held[worker] / loop.powers[worker])
        chunk = forms['closed'](i) if entry['form'] == 'closed' else forms['recursive'](remaining, i, worker)
        if loop.weighted:
            chunk = math.floor(chunk * loop.powers[worker])
        chunks.append(min(remaining, max(chunk, loop.min_chunk, 1)))
        assert len(chunks) <= CHUNKS_MAX, entry['id'] + ' is too long'
        held[worker] = chunks[-1]
        remaining -= chunks[-1]
    return chunks


def entries_of(spec, form, sizes, **more):
    """An entry for each (N, P)."""
    for n, p in sizes:
        name = '.'.join([f'{spec}.N{n}P{p}', form] + [f'{key}{value}'.replace(', ', '-') for key, value in more.items()])
        entry = {'id': f'computed.{name}', 'spec': spec, 'form': form, 'iterations': n, 'workers': p, 'min_chunk': 1, **more}
        yield {**entry, 'source': SOURCE, 'sequence': series(entry)}


def both(spec, sizes, **more):
    return [entry for form in ('closed', 'recursive') for entry in entries_of(spec, form, sizes, **more)]


SMALL = [(1000, 4), (0, 3), (5, 8), (1001, 7)]
LARGE = [(10**12, 5), (2**63 - 1, 3)]
WEIGHTED = {'power': [1, 0.4, 1, 0.4], 'weighting': 'power'}


def not_adaptive():
    trapezoids = ['', ':decrement=real', ':last=3,decrement=real']
    return [
        *both('static', SMALL[1:]),
        *entries_of('static-steal', 'recursive', SMALL + LARGE),
        *entries_of('static-steal:chunk=10', 'recursive', SMALL),
        *entries_of('static-steal:chunk=3,rule=lb4omp', 'recursive', SMALL),
        *[entry for rule in ('llvm', 'lb4omp') for order in ([1] * 9 + [2] + [1] * 6, [2, 1] + [1] * 8 + [2] * 2 + [1] * 4)
          for entry in entries_of(f'static-steal:chunk=3,rule={rule}', 'recursive', [(46, 2)], order=order)],
        *both('css', SMALL),
        *both('mfsc', SMALL + [(262144, 256)]),
        *both('mfsc', [(1000, 4)], min_chunk=80),
        *both('gss', SMALL[1:] + [(125, 5), (10**12, 5)]),
        *[entry for kind in trapezoids for entry in both('tss' + kind, SMALL + LARGE[1:])],
        *both('tss', [(1000, 4)], min_chunk=50),
        *[entry for kind in ('', ':variant=paper', ':first=1250,last=80,variant=paper')
          for entry in entries_of('tss' + kind, 'recursive', [(10000, 4)], **WEIGHTED)],
        *both('fac2', SMALL[1:] + LARGE),
        *[entry for kind in trapezoids for entry in both('tfss' + kind, SMALL + LARGE)],
        *both('tfss', [(1000, 4)], min_chunk=50),
        *[entry for kind in ('', ':last=80,variant=paper') for entry in entries_of('tfss' + kind, 'recursive', [(10000, 4)], **WEIGHTED)],
        *both('tfss:first=900,last=100', [(1000, 4)]),
        *[entry for kind in ('', ':stages=2', ':stages=7') for entry in both('fiss' + kind, SMALL + LARGE)],
        *both('fiss', [(1000, 4)], min_chunk=60),
        *entries_of('fiss', 'recursive', [(10000, 4)], **WEIGHTED),
        *[entry for kind in ('', ':x=1', ':x=20') for entry in both('viss' + kind, SMALL + LARGE)],
        *both('viss', [(1000, 4)], min_chunk=70),
        *entries_of('viss', 'recursive', [(10000, 4)], **WEIGHTED),
        *[entry for kind in ('', ':seed=2', ':lo=20,hi=70,seed=1234567') for entry in both('rnd' + kind, SMALL)],
        *both('rnd', LARGE),
        *both('rnd:lo=3,hi=3', [(10, 2)]),
        *entries_of('rnd', 'recursive', [(10000, 4)], **WEIGHTED),
        *[entry for swr in ('0', '0.29', '0.5', '0.7', '1') for entry in both(f'pls:swr={swr}', [(100, 1), (1007, 4)] + SMALL)],
        *both('pls:swr=0.7', LARGE),
        *both('pls:swr=0.123456789012345', LARGE),
        *both('pls:swr=0.5', [(1000, 4)], min_chunk=20),
        *entries_of('pls:swr=0.4', 'recursive', [(10000, 4)], **WEIGHTED),
        *[entry for swr in ('0', '0.29', '0.7', '1')
          for entry in entries_of(f'pls:swr={swr},variant=paper', 'recursive', [(100, 1), (1007, 4)] + SMALL + LARGE)],
        *entries_of('pls:swr=0.4,variant=paper', 'recursive', [(10000, 4)], **WEIGHTED),
    ]


ADAPTIVE = ['awf', 'awf-b', 'awf-c', 'awf-d', 'awf-e', 'af', 'maf']
EXACT = {'feedback': 'exact'}
POWERS = {'power': [1, 2, 4, 0.7]}


def measured():
    more_powers = {'power': [1, 0.25, 3]}
    return [
        *both('fsc:h=0.2,sigma=1.5', SMALL + [(2621, 64)]),
        *both('fsc:h=0,sigma=1', [(1000, 4)]),
        *both('fsc:h=1,sigma=0', [(1000, 4)]),
        *entries_of('fsc', 'recursive', SMALL, feedback='none'),
        *entries_of('fsc:h=0.5', 'recursive', [(100000, 4)], **POWERS, **EXACT),
        *entries_of('fac:mu=1,sigma=0.5', 'recursive', SMALL + LARGE[:1]),
        *entries_of('fac:mu=0.2,sigma=9', 'recursive', SMALL),
        *entries_of('fac:mu=1,sigma=0', 'recursive', SMALL),
        *entries_of('fac', 'recursive', SMALL, feedback='none'),
        *entries_of('fac', 'recursive', [(10007, 3)], **EXACT),
        *entries_of('fac', 'recursive', [(100000, 4)], **POWERS, **EXACT),
        *entries_of('fac:sigma=3', 'recursive', [(100000, 4)], **POWERS, **EXACT),
        *both('mfac:mu=1,sigma=0.5', SMALL + LARGE[:1]),
        *both('mfac:mu=0.2,sigma=9', SMALL),
        *both('mfac:mu=1,sigma=0', SMALL),
        *entries_of('mfac', 'recursive', SMALL, feedback='none'),
        *both('tap:mu=1,sigma=0.5', SMALL),
        *entries_of('tap:mu=1,sigma=0.5', 'recursive', LARGE[:1]),  # the closed form ends in millions of ones
        *both('tap:mu=1,sigma=2,alpha=3', SMALL),
        *both('tap:mu=1,sigma=0', SMALL + LARGE),
        *entries_of('tap', 'recursive', SMALL, feedback='none'),
        *entries_of('tap', 'recursive', [(100000, 4)], **POWERS, **EXACT),
        *entries_of('wf', 'recursive', SMALL),
        *entries_of('wf', 'recursive', [(1000, 4), (1000003, 4)], **POWERS),
        *entries_of('wf', 'recursive', [(5000, 3)], **more_powers),
        *entries_of('wf:variant=paper', 'recursive', SMALL),
        *entries_of('wf:variant=paper', 'recursive', [(1000, 4), (1000003, 4)], **POWERS),
        *entries_of('wf:variant=paper', 'recursive', [(1, 2), (3, 2), (97, 2), (10**9 + 7, 2), (10**12, 2)], power=[1, 0.4]),
        *entries_of('wf:variant=paper', 'recursive', [(10007, 3)], power=[0.01, 1e-6, 100]),
        *entries_of('wf:variant=paper', 'recursive', [(5000, 3)], **more_powers),
        *entries_of('af:first=100', 'recursive', [(10000, 4)], **POWERS, **EXACT),
        *entries_of('wf', 'recursive', [(5003, 3)], power=[1, 0.25, 3], min_chunk=20),
        *[entry for name in ADAPTIVE for entry in entries_of(name, 'recursive', SMALL, **EXACT)],
        *[entry for name in ADAPTIVE for sizes, powers in (([(10000, 4), (1000003, 4)], POWERS), ([(5000, 3)], more_powers))
          for entry in entries_of(name, 'recursive', sizes, **powers, **EXACT)],
    ]


def without_copies(entries, published):
    """What is published is not computed again."""
    names = ('spec', 'form', 'iterations', 'workers', 'min_chunk', 'power', 'weighting', 'order', 'feedback')

    def key(entry):
        return json.dumps([entry.get(name) for name in names])
    known = {key(entry) for entry in published}
    return [entry for entry in entries if key(entry) not in known]


def table_2_fss():
    """The stages of FSS in table 2 of Ciorba et al. if the first chunk of each stage behind the first is not subtracted."""
    stages, r = [], 10000
    while len(stages) < 4:
        stages.append(r // 8)
        r -= (4 if len(stages) == 1 else 3) * stages[-1]
    return stages


def table_3_sw_gss(r, powers):
    """The end of SW-GSS in table 3 if R is reduced by K' before that is raised to the threshold, 80."""
    chunks, assigned, total = [], 0, r
    for power in powers:
        chunk = math.floor(r // 4 * Fraction(power))
        chunks.append(min(max(chunk, 80), total - assigned))
        r, assigned = r - chunk, assigned + chunks[-1]
    return chunks


def explained():
    """What docs/techniques.md says of tables that do not follow from the rules of their paper."""
    return table_2_fss() == [1250, 625, 390, 244] and table_3_sw_gss(534, ['0.4', '0.4', 1, 1, 1, 1, 1]) == [80, 80, 108, 81, 80, 80, 25]


def load(directory, name):
    with open(os.path.join(directory, name), encoding='utf-8') as file:
        return json.load(file)


def computed(published):
    entries = without_copies(not_adaptive() + measured(), published)
    ids = [entry['id'] for entry in entries]
    assert len(ids) == len(set(ids)), 'an id is there twice'
    return '[\n' + ',\n'.join(' ' + json.dumps(entry) for entry in entries) + '\n]\n'


def check(directory):
    published = load(directory, 'published.json')
    with open(os.path.join(directory, 'computed.json'), encoding='utf-8') as file:
        fresh = file.read() == computed(published)
    here = [entry for entry in published if entry['spec'].partition(':')[0] in TECHNIQUES]
    wrong = [entry['id'] for entry in here if series(entry) != entry['sequence']]
    print('1..3')
    print(f"{'ok' if fresh else 'not ok'} 1 - computed.json is what reference.py prints")
    print(f"{'ok' if here and not wrong else 'not ok'} 2 - {len(here)} published series come out {' '.join(wrong)}")
    print(f"{'ok' if explained() else 'not ok'} 3 - the slips in two printed tables are what the manual says")
    return 0 if fresh and here and not wrong and explained() else 1


def main(arguments):
    if arguments[:1] == ['--check'] and len(arguments) == 2:
        return check(arguments[1])
    if arguments:
        print(__doc__, file=sys.stderr)
        return 2
    sys.stdout.write(computed(load(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'golden'), 'published.json')))
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
