#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the tests in Meson's log and names those that failed.

    summary.py TESTLOG.json...

Prints a paragraph for each failed test, with the first lines of each failed subtest, where the cause stands, and the last ones, then "N passed, N failed, N skipped". A TAP test counts with
each of its subtests, any other as one. A test that ended badly without a failed subtest (a crash, a time-out) counts as one failed.
"""
import json
import re
import sys

TAP_LINE = re.compile(r"^(not )?ok\b(.*)((?:\n#.*)*)$", re.MULTILINE)  # with the remarks below it
TAP_PLAN = re.compile(r"^1\.\.\d+", re.MULTILINE)
HEAD = 25  # lines of a failed subtest, from its beginning
TAIL = 15  # and from its end; of a test that says nothing of subtests, these alone
GOOD = {"OK", "EXPECTEDFAIL"}


def shortened(lines):
    left_out = len(lines) - HEAD - TAIL
    return lines if left_out <= 0 else [*lines[:HEAD], f"# ({left_out} lines)", *lines[-TAIL:]]


def subtests(stdout):
    """(passed, failed, skipped) of TAP text, and the lines about those that failed."""
    passed, skipped, failures, failed = 0, 0, 0, []
    for match in TAP_LINE.finditer(stdout):
        directive = re.search(r"#\s*(skip|todo)", match.group(2), re.IGNORECASE)
        if directive and directive.group(1).lower() == "skip":
            skipped += 1
        elif match.group(1) and not directive:
            failed += shortened(match.group(0).splitlines())
            failures += 1
        else:
            passed += 1
    return passed, failures, skipped, failed


def count(test):
    """(passed, failed, skipped) of one test of the log, and the lines that say why."""
    stdout, result = test.get("stdout", ""), test["result"]
    if not TAP_PLAN.search(stdout):
        good, skip = result in GOOD, result == "SKIP"
        tail = (stdout + test.get("stderr", "")).splitlines()[-TAIL:]
        return int(good), int(not good and not skip), int(skip), [] if good or skip else tail
    passed, failed, skipped, lines = subtests(stdout)
    if result == "SKIP" and passed + failed + skipped == 0:
        skipped = 1
    if result not in GOOD | {"SKIP"} and failed == 0:
        return passed, 1, skipped, (stdout + test.get("stderr", "")).splitlines()[-TAIL:]
    return passed, failed, skipped, lines


def main(paths):
    totals = [0, 0, 0]
    for path in paths:
        with open(path, encoding="utf-8", errors="replace") as log:
            for line in log:
                test = json.loads(line)
                passed, failed, skipped, lines = count(test)
                totals = [totals[0] + passed, totals[1] + failed, totals[2] + skipped]
                if failed:
                    print(f"\nFAILED: {test['name']} ({test['result']})")
                    print("\n".join(f"    {text}" for text in lines))
    print(f"{totals[0]} passed, {totals[1]} failed, {totals[2]} skipped")
    return 1 if totals[1] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
