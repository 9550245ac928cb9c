# SPDX-License-Identifier: MIT
"""The verdict on a run of the gate, from what the tests came to at the first and at the second try. Nothing is run here.

A function of a real-time test that failed is run again, alone. If it passes then, it is FLAKY: the run is green, and the ledger gets a line.
Not forgiven are: what a deterministic test says; a failure with a hard sign, which no busy machine explains; a function that the ledger has
already within LEDGER_DAYS; more than FLAKY_MOST in one run, which are the change's.
"""
import dataclasses
import datetime
import re

FLAKY_MOST = 3
LEDGER_DAYS = 30
QUARANTINE_MOST = 5
QUARANTINE_DAYS = 14

# What no load of the machine explains, by what is said of it: a pattern for each line of a failure.
HARD_SIGNS = {
    "a crash": r"\bSIG(SEGV|ABRT|BUS|ILL|FPE)\b|[Ss]egmentation fault|core dumped|\bsignal (4|6|7|8|11)\b"
               r"|(^|AssertionError: )status (-(4|6|7|8|11)|13[2456]|139)\b|Assertion .* failed",
    "a hang": r"(^|: )hangs: |^timeout$",
    "a sanitizer's report": r"ERROR: \w+Sanitizer|WARNING: ThreadSanitizer|runtime error: |SUMMARY: \w+Sanitizer",
    "something left behind": r"(^|: )left behind: ",
    "a wrong result": r"^\s*assert .*\b(checksum|filecmp|cmp|same_bytes|read_bytes)\b|\bMISMATCH\b|\bchecksums? (differ|is wrong)",
    "an iteration done twice or lost": r"\b(done|computed|counted|ran|written) twice\b|\biterations? (was|were|is|are)? ?(lost|missing)\b",
}


def hard_sign(lines):
    """What the failure shows that is never forgiven, or None."""
    for sign, pattern in HARD_SIGNS.items():
        if any(re.search(pattern, line) for line in lines):
            return sign
    return None


def rows(text):
    """The rows of a ledger or quarantine: words between tabs; lines that begin with # are remarks."""
    return [line.split("\t") for line in text.splitlines() if line.strip() and not line.startswith("#")]


def ledger_line(date, commit, name, load, lines):
    first = next((line for line in lines if line.strip()), "no word")
    return "\t".join([date.isoformat(), commit[:12], name, f"load {load:.1f}", first[:160].replace("\t", " ")])


def recent(ledger, name, today):
    """Dates within LEDGER_DAYS at which the ledger has the function."""
    dates = [datetime.date.fromisoformat(row[0]) for row in rows(ledger) if row[2] == name]
    return [date for date in dates if (today - date).days <= LEDGER_DAYS]


def quarantined(text):
    """The names in the quarantine."""
    return [row[0] for row in rows(text)]


def quarantine_complaints(text, today):
    """What is wrong with the list itself: each line is TEST, WHY and DATE between tabs."""
    found = []
    lines = rows(text)
    for row in lines:
        try:
            name, why, date = row
            age = (today - datetime.date.fromisoformat(date)).days
        except ValueError:
            found.append(f"tests/quarantine.txt: a line is TEST, WHY and YYYY-MM-DD between tabs, not: {' '.join(row)}")
            continue
        if age > QUARANTINE_DAYS:
            found.append(f"tests/quarantine.txt: {name} has been there for {age} days, at most {QUARANTINE_DAYS} are allowed: mend it ({why})")
    if len(lines) > QUARANTINE_MOST:
        found.append(f"tests/quarantine.txt: {len(lines)} tests, at most {QUARANTINE_MOST} are allowed: mend one")
    return found


@dataclasses.dataclass
class Verdict:
    passed: int
    skipped: int
    failed: list  # (result, why it counts)
    flaky: list   # results of the first try

    @property
    def last_line(self):
        return f"{self.passed} passed, {len(self.failed)} failed, {self.skipped} skipped"


def may_be_tried_again(results):
    """Those failures that a second try can excuse; none if more failed than could be forgiven."""
    failed = [one for one in results if one.verdict == "failed" and one.retried]
    return [one for one in failed if hard_sign(one.lines) is None] if len(failed) <= FLAKY_MOST else []


def judge(results, second, ledger, today):
    """`results`: all of the first try; `second`: the names that passed at their second try, alone."""
    failed, flaky = [], []
    for one in results:
        if one.verdict != "failed":
            continue
        sign = hard_sign(one.lines) if one.retried else None
        before = recent(ledger, one.name, today)
        if not one.retried:
            failed.append((one, "it is deterministic"))
        elif sign is not None:
            failed.append((one, f"{sign} is never forgiven"))
        elif (one.stage, one.name) not in second:
            failed.append((one, "it failed again" if may_be_tried_again(results) else "too many failed for a second try"))
        elif before:
            failed.append((one, f"it passed alone, and the ledger has it of {before[-1]}: mend it, or put it into tests/quarantine.txt"))
        else:
            flaky.append(one)
    passed = sum(one.verdict == "passed" for one in results) + len(flaky)
    return Verdict(passed, sum(one.verdict == "skipped" for one in results), failed, flaky)
