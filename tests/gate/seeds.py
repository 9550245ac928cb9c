# SPDX-License-Identifier: MIT
"""The random runs of tests/seeds: the fixed numbers, and fresh ones drawn from the commit's hash."""

# Numbers of seeds-set from here on are sets that work is streamed to. Fresh ones stay between FRESH_FROM and this.
STREAMS_FROM = 1000000000
FRESH_FROM = 100000


def fixed_line(test, share):
    """The words of the test with one in `share` of its seeds; those without a count as they are."""
    words = list(test["cmd"])
    if len(words) >= 3 and words[-1].isdigit() and words[-2].isdigit():
        words[-1] = str(max(1, int(words[-1]) // share))
    return words


def first_fresh(commit):
    """The first of the fresh numbers of a commit."""
    drawn = int(commit[:8], 16) if all(c in "0123456789abcdef" for c in commit[:8]) and commit[:8] else 0
    return FRESH_FROM + drawn % (STREAMS_FROM - 2 * FRESH_FROM)


def fresh_lines(tests, commit, count):
    """(name, words) for fresh seeds of each generator, `count` in all, dealt out as the fixed ones are."""
    ranged = [test for test in tests if test["cmd"][-1].isdigit() and test["cmd"][-2].isdigit()]
    total = sum(int(test["cmd"][-1]) for test in ranged) or 1
    lines = []
    for test in ranged:
        words = list(test["cmd"])
        first = first_fresh(commit) + (STREAMS_FROM if int(words[-2]) >= STREAMS_FROM else 0)
        words[-2:] = [str(first), str(max(1, int(words[-1]) * count // total))]
        lines.append((test["name"] + "-fresh", words))
    return lines
