# SPDX-License-Identifier: MIT
"""What samples of a few runs tell: quartiles, intervals of confidence of the median, and whether two of them differ.

Nothing here assumes how the figures of runs are distributed: times of computers have long tails (Hoefler and Belli 2015). Nothing is drawn at random
either: how probable it is that a resample has this or that median is known, and so is the same of the quotient of two.

The test compares ranks rather than means, as runs of one setting are few, not normal, and now and then one of them is disturbed: its rank is the last
one, however long it took. It is exact up to EXACT_MOST values: there are so many ways to deal the ranks of both samples out, each as probable as any
other if the samples do not differ, and the probability is the part of them with a difference as large as that seen."""
from __future__ import annotations

import functools
import math
import struct
from typing import List, NamedTuple, Optional, Sequence, Tuple

from hdss._study_plan import INTERVAL_LEAST

CONFIDENCE = 0.95
EXACT_MOST = 40       # of both samples together, up to which the test is exact
NEGLIGIBLE = 1e-18    # medians that are less probable are left out: even all of them together have no effect on a figure
OUTSIDE = (1 - CONFIDENCE) / 2
Interval = Tuple[float, float]


class Quartiles(NamedTuple):
    least: float
    lower: float
    median: float
    upper: float
    most: float


def quartiles(values: Sequence[float]) -> Quartiles:
    """Of a sample of at least one value, in ascending order: type 7 of Hyndman and Fan 1996, as R and NumPy have them."""
    last = len(values) - 1

    def quantile(part: float) -> float:
        below = int(part * last)
        return values[last] if below >= last else values[below] + (part * last - below) * (values[below + 1] - values[below])
    return Quartiles(values[0], quantile(0.25), (values[last // 2] + values[(last + 1) // 2]) / 2, quantile(0.75), values[last])


def whiskers(values: Sequence[float]) -> Interval:
    """The ends of a box plot's whiskers: the values furthest from the box that are within 1.5 times its height (Tukey 1977)."""
    box = quartiles(values)
    reach = 1.5 * (box.upper - box.lower)
    inside = [value for value in values if box.lower - reach <= value <= box.upper + reach]
    return min([*inside[:1], box.lower]), max([*inside[-1:], box.upper])


# --- the bootstrap ---

class Atom(NamedTuple):
    """A value that the median of a resample can have, and how probable it is."""

    value: float
    probability: float


@functools.lru_cache(maxsize=64)
def _log_choose(n: int, k: int) -> float:
    return math.log(math.comb(n, k))


def _binomial_tail(n: int, least: int, p: float) -> float:
    """The probability of `least` successes or more of `n`, from the summand next to the mean to where they vanish."""
    if p <= 0 or p >= 1:
        return float(p >= 1)
    is_above = least > n * p
    k, total = least if is_above else least - 1, 0.0
    term = math.exp(_log_choose(n, k) + k * math.log(p) + (n - k) * math.log1p(-p))
    while 0 <= k <= n and term > 0 and term > NEGLIGIBLE * total:
        total += term
        term *= (n - k) / (k + 1) * p / (1 - p) if is_above else k / (n - k + 1) * (1 - p) / p
        k += 1 if is_above else -1
    return total if is_above else 1 - total


def _log_greatest_is(k: int, n: int, m: int) -> float:
    """The logarithm of (k / n)^m - ((k - 1) / n)^m: so probable is it that the greatest of m draws from n values is the k-th, or, seen from the other end,
    the least."""
    return m * math.log(k / n) + (math.log(-math.expm1(m * math.log1p(-1.0 / k))) if k > 1 else 0.0)


def _pairs(values: Sequence[float], i: int, probability: float) -> List[Atom]:
    """The medians whose lower middle value is the i-th, which has that probability, and whose upper one is the j-th: half of the draws have the i-th as
    their greatest, the others the j-th as their least. Where both are the i-th is what is left."""
    count, half = len(values), len(values) // 2
    lower = _log_choose(count, half) + _log_greatest_is(i, count, half)
    atoms = []
    for j in range(i + 1, count + 1):
        pair = math.exp(lower + _log_greatest_is(count - j + 1, count, half))
        if pair < NEGLIGIBLE:
            break
        atoms.append(Atom((values[i - 1] + values[j - 1]) / 2, pair))
        probability -= pair
    return [*atoms, Atom(values[i - 1], max(probability, 0.0))]


def _medians(values: Sequence[float]) -> List[Atom]:
    """The distribution of the median of as many values drawn from the sample, with replacement. Its lower middle value is the i-th or less where so many
    draws are: a binomial probability."""
    count, below, atoms = len(values), 0.0, []
    for i in range(1, count + 1):
        up_to = _binomial_tail(count, (count + 1) // 2, i / count)
        if up_to - below >= NEGLIGIBLE:
            atoms += [Atom(values[i - 1], up_to - below)] if count % 2 == 1 else _pairs(values, i, up_to - below)
        below = up_to
    return sorted(atoms, key=lambda atom: atom.value)


def _least_with(atoms: Sequence[Atom]) -> float:
    """The first value up to which there is as much as lies outside at least."""
    total = 0.0
    for atom in atoms:
        total += atom.probability
        if total >= OUTSIDE:
            return atom.value
    return atoms[-1].value


def median_interval(values: Sequence[float]) -> Optional[Interval]:
    """The 95 % interval of confidence of the median by the bootstrap's percentile method: of the medians of all samples that can be drawn from this one, as
    probable as they are, those without the outermost 2.5 % on either side (Efron and Tibshirani 1993, equation 13.4). None for too few values."""
    if len(values) < INTERVAL_LEAST:
        return None
    atoms = _medians(values)
    return _least_with(atoms), _least_with(atoms[::-1])


def _quotient_at_most(dividend: Sequence[Atom], divisor: Sequence[Atom], most: float) -> float:
    """How probable it is that the quotient of two medians is so large at most: of each dividend, which rise, the part of the divisors that are large
    enough."""
    total, large, k = 0.0, 1.0, 0
    for value, probability in dividend:
        while k < len(divisor) and value / divisor[k].value > most:
            large -= divisor[k].probability
            k += 1
        total += probability * (large if k < len(divisor) else 0)
    return total


def _quotient_quantile(dividend: Sequence[Atom], divisor: Sequence[Atom], part: float) -> float:
    """The least quotient up to which there is such a part of all: halves the range until no number lies between."""
    low, high = dividend[0].value / divisor[-1].value, dividend[-1].value / divisor[0].value
    if _quotient_at_most(dividend, divisor, low) >= part:
        return low
    while low < (low + high) / 2 < high:
        middle = (low + high) / 2
        if _quotient_at_most(dividend, divisor, middle) >= part:
            high = middle
        else:
            low = middle
    return high


def saving_interval(values: Sequence[float], baseline: Sequence[float]) -> Optional[Interval]:
    """The same of 100 (1 - median of the sample / median of the baseline), of all pairs of what can be drawn from both. No value is negative. None where
    one of them has too few values, or the baseline one of 0."""
    if min(len(values), len(baseline)) < INTERVAL_LEAST or baseline[0] <= 0:
        return None
    own, before = _medians(values), _medians(baseline)
    return 100 * (1 - _quotient_quantile(own, before, 1 - OUTSIDE)), 100 * (1 - _quotient_quantile(own, before, OUTSIDE))


def confidence_at_most(count: int) -> float:
    """The highest confidence with which an interval between values of so many runs can hold the median. Below 95 % for fewer than six runs, whatever the
    method says."""
    return 1 - 2.0**(1 - count) if count > 0 else 0.0


# --- two samples ---

def _choices(twice_ranks: Sequence[int], chosen: int, limit: int) -> Tuple[float, float]:
    """Of all ways to choose `chosen` of the ranks, the part whose sum is at most `limit`, and the part whose sum is at least that. ways[k] is a number with
    64 bits for each sum: so many ways there are to choose k of the ranks so far."""
    ways = [1] + chosen * [0]
    for rank in twice_ranks:
        for k in range(chosen, 0, -1):
            ways[k] += ways[k - 1] << 64 * rank
    sums = sum(twice_ranks) + 1
    counts = struct.unpack(f'<{sums}Q', ways[chosen].to_bytes(8 * sums, 'little'))
    return sum(counts[:limit + 1]) / sum(counts), sum(counts[limit:]) / sum(counts)


def _approximate(a: int, b: int, rank_sum: float, ties: float) -> float:
    """The normal approximation with corrections for continuity and for equal values (Lehmann 1975). All values are equal where nothing varies."""
    count = float(a + b)
    distance = abs(rank_sum - a * (count + 1) / 2)
    variance = a * b / 12 * (count + 1 - ties / (count * (count - 1)))
    return math.erfc(max(distance - 0.5, 0) / math.sqrt(variance) / math.sqrt(2)) if variance > 0 else 1.0


def mann_whitney(a: Sequence[float], b: Sequence[float]) -> float:
    """The probability, with two equal distributions, of a difference in ranks as large as that of these samples: the test of Mann and Whitney 1947,
    two-sided. Exact for small samples, also where values are equal: of all ways to deal the ranks out, equal values with the mean of theirs. 1 where a
    sample is empty."""
    if not a or not b:
        return 1.0
    values = sorted([(value, True) for value in a] + [(value, False) for value in b], key=lambda pair: pair[0])
    twice_ranks: List[int] = []
    ties = 0.0
    while len(twice_ranks) < len(values):
        first = len(twice_ranks)
        equal = sum(1 for value, _ in values[first:] if value == values[first][0])
        twice_ranks += equal * [2 * first + 1 + equal]
        ties += float(equal)**3 - equal
    rank_sum = sum(rank for rank, (_, is_first) in zip(twice_ranks, values) if is_first)
    if len(values) > EXACT_MOST:
        return _approximate(len(a), len(b), rank_sum / 2, ties)
    return min(1.0, 2 * min(_choices(twice_ranks, len(a), rank_sum)))


def mann_whitney_least(a: int, b: int) -> float:
    """The least such probability that samples of these sizes can have: no difference is significant where it is not below the level."""
    if a == 0 or b == 0:
        return 1.0
    return _approximate(a, b, a * (a + 1) / 2, 0) if a + b > EXACT_MOST else min(1.0, 2 / math.comb(a + b, a))


def correct_holm(p: Sequence[float]) -> List[float]:
    """The probabilities of several comparisons, so that the chance of one false finding among all of them stays below the level: the step-down method of
    Holm 1979."""
    corrected, before = list(p), 0.0
    for done, i in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
        before = corrected[i] = max(before, min(1.0, (len(p) - done) * p[i]))
    return corrected
