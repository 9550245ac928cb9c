#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""deploy/lib/summary.py counts every way in which a test can end.

    summary.py ROOT
"""
import json
import os
import subprocess
import sys
import tempfile

import tap

# (what, the test's entry in Meson's log, the line it must give)
CASES = [
    ("a plain test that passes", {"result": "OK"}, "1 passed, 0 failed, 0 skipped"),
    ("a plain test that fails", {"result": "FAIL", "stdout": "no"}, "0 passed, 1 failed, 0 skipped"),
    ("a plain test that is skipped", {"result": "SKIP", "stdout": "hi\n"}, "0 passed, 0 failed, 1 skipped"),
    ("a test that should fail and does", {"result": "EXPECTEDFAIL"}, "1 passed, 0 failed, 0 skipped"),
    ("a test that should fail and does not", {"result": "UNEXPECTEDPASS"}, "0 passed, 1 failed, 0 skipped"),
    ("a test that takes too long", {"result": "TIMEOUT", "stdout": ""}, "0 passed, 1 failed, 0 skipped"),
    ("subtests", {"result": "OK", "stdout": "1..2\nok 1 - a\nok 2 - b\n"}, "2 passed, 0 failed, 0 skipped"),
    ("subtests with the plan at the end", {"result": "OK", "stdout": "ok 1 - a\nok 2 - b\n1..2\n"},
     "2 passed, 0 failed, 0 skipped"),
    ("failed subtests", {"result": "FAIL", "stdout": "1..3\nnot ok 1 - x\n# why\nok 2\nnot ok 3\n"},
     "1 passed, 2 failed, 0 skipped"),
    ("skipped subtests", {"result": "OK", "stdout": "1..2\nok 1 - x # SKIP no b\nok 2\n"}, "1 passed, 0 failed, 1 skipped"),
    ("all skipped", {"result": "SKIP", "stdout": "1..0 # SKIP no\n"}, "0 passed, 0 failed, 1 skipped"),
    ("known gaps", {"result": "OK", "stdout": "1..1\nnot ok 1 - x # TO" + "DO later\n"}, "1 passed, 0 failed, 0 skipped"),
    ("a crash after some subtests", {"result": "ERROR", "stdout": "1..3\nok 1 - a\n", "stderr": "x"},
     "1 passed, 1 failed, 0 skipped"),
    ("a bad exit after good subtests", {"result": "ERROR", "stdout": "1..1\nok 1 - a\n"}, "1 passed, 1 failed, 0 skipped"),
]


def summary(script, tests):
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as log:
        log.write("".join(json.dumps({"name": "t", **test}) + "\n" for test in tests))
        log.flush()
        done = subprocess.run([sys.executable, script, log.name], stdout=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stdout.splitlines()


def check(script, test, expected):
    status, lines = summary(script, [test])
    good = lines[-1] == expected and status == int(", 0 failed" not in expected)
    return [] if good else [f"expected '{expected}', got status {status} and {lines}"]


def check_sum(script):
    status, lines = summary(script, [test for _, test, _ in CASES])
    return [] if (status, lines[-1]) == (1, "11 passed, 7 failed, 3 skipped") else [f"got status {status} and {lines}"]


def check_text(script):
    wrong = []
    for count, shown in ((39, range(39)), (50, [*range(24), *range(35, 50)])):
        stdout = "1..1\nnot ok 1 - x\n" + "".join(f"# line {i}\n" for i in range(count))
        _, lines = summary(script, [{"result": "FAIL", "stdout": stdout}])
        if [line.strip() for line in lines if "# line" in line] != [f"# line {i}" for i in shown]:
            wrong.append(f"of {count} lines: {lines}")
    return wrong


def main(words):
    if len(words) != 1:
        sys.exit(__doc__)
    script = os.path.join(words[0], "deploy", "lib", "summary.py")
    return tap.run([(what, lambda case=case: check(script, *case)) for what, *case in CASES]
                   + [("all of them together", lambda: check_sum(script)), ("the text of a subtest that failed", lambda: check_text(script))])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
