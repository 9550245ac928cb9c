#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The gate (tests/gate) counts every way in which a test can end, forgives what it may and nothing else, and every name in its table exists.

    gate.py ROOT BUILD
"""
import datetime
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

import tap

TODAY = datetime.date(2026, 11, 28)

# (what, the test's entry in Meson's log, (passed, failed, skipped))
LOGS = [
    ("a plain test that passes", {"result": "OK"}, (1, 0, 0)),
    ("a plain test that fails", {"result": "FAIL", "stdout": "no"}, (0, 1, 0)),
    ("a plain test that is skipped", {"result": "SKIP", "stdout": "hi\n"}, (0, 0, 1)),
    ("a test that should fail and does", {"result": "EXPECTEDFAIL"}, (1, 0, 0)),
    ("a test that should fail and does not", {"result": "UNEXPECTEDPASS"}, (0, 1, 0)),
    ("a test that takes too long", {"result": "TIMEOUT", "stdout": ""}, (0, 1, 0)),
    ("functions", {"result": "OK", "stdout": "1..2\nok 1 - a\nok 2 - b\n"}, (2, 0, 0)),
    ("functions with the plan at the end", {"result": "OK", "stdout": "ok 1 - a\nok 2 - b\n1..2\n"}, (2, 0, 0)),
    ("failed functions", {"result": "FAIL", "stdout": "1..3\nnot ok 1 - x\n# why\nok 2\nnot ok 3\n"}, (1, 2, 0)),
    ("skipped functions", {"result": "OK", "stdout": "1..2\nok 1 - x # SKIP no b\nok 2\n"}, (1, 0, 1)),
    ("all skipped", {"result": "SKIP", "stdout": "1..0 # SKIP no\n"}, (0, 0, 1)),
    ("known gaps", {"result": "OK", "stdout": "1..1\nnot ok 1 - x # TO" + "DO later\n"}, (1, 0, 0)),
    ("a crash after some functions", {"result": "ERROR", "stdout": "1..3\nok 1 - a\n", "stderr": "x"}, (1, 1, 0)),
    ("a bad exit after good functions", {"result": "ERROR", "stdout": "1..1\nok 1 - a\n"}, (1, 1, 0)),
]

# (the sign, or None, a line of a failure)
SIGNS = [
    ("a crash", "AssertionError: status -11 after 0.3 s"),
    ("a crash", "status 139 after 2.0 s"),
    ("a crash", "worker 3 was ended by SIGSEGV"),
    ("a crash", "[node:12345] Signal: Segmentation fault (11)"),
    ("a crash", "test: x.c:12: f: Assertion `a == b' failed."),
    ("a hang", "launch.py:92: AssertionError: hangs: ['hdss', 'run']"),
    ("a hang", "timeout"),
    ("a sanitizer's report", "==12==ERROR: AddressSanitizer: heap-use-after-free on address"),
    ("a sanitizer's report", "x.c:3:5: runtime error: signed integer overflow"),
    ("something left behind", "leftovers.py:70: AssertionError: left behind: 12 S (sleeping) 1 poll worker"),
    ("a wrong result", "    assert again.checksum() == first.checksum()"),
    ("an iteration done twice or lost", "AssertionError: iteration 7 was computed twice"),
    (None, "checksum    0123456789abcdef"),
    (None, "AssertionError: never came: the ranks are there"),
    (None, "AssertionError: status 1 after 0.3 s"),
    (None, "status 13 after 110.0 s"),
    (None, "    assert len(result.err) == 1, result"),
]


def check_log(results, test, expected):
    found = results.read_test("gcc", {"name": "hdss:unit / t", **test})
    counts = tuple(sum(one.verdict == verdict for one in found) for verdict in ("passed", "failed", "skipped"))
    return [] if counts == expected else [f"expected {expected}, got {found}"]


def check_signs(verdict):
    return [f"{line!r}: expected {sign}, got {verdict.hard_sign([line])}" for sign, line in SIGNS if verdict.hard_sign([line]) != sign]


def failure(results, name, line="never came: it", retried=True):
    return results.Result("gcc", "p", name, "failed", [line], 1.0, retried)


def check_judge(results, verdict):
    """Whether a failure is forgiven, by its kind, its second try, the ledger and the number of others."""
    old = f"{(TODAY - datetime.timedelta(days=31)).isoformat()}\tc\tp: a\tload 1.0\tx\n"
    new = f"{(TODAY - datetime.timedelta(days=30)).isoformat()}\tc\tp: a\tload 1.0\tx\n"
    one = failure(results, "a")
    passed = results.Result("gcc", "p", "z", "passed", [])
    cases = [
        ("it passes alone", [one], {"a"}, "", (1, 0)),
        ("it fails again", [one], set(), "", (0, 1)),
        ("it is deterministic", [failure(results, "a", retried=False)], {"a"}, "", (0, 1)),
        ("it hangs", [failure(results, "a", "x: hangs: y")], {"a"}, "", (0, 1)),
        ("the ledger has it, 31 days ago", [one], {"a"}, old, (1, 0)),
        ("the ledger has it, 30 days ago", [one], {"a"}, new, (0, 1)),
        ("three at once", [failure(results, name) for name in "abc"], set("abc"), "", (3, 0)),
        ("four at once", [failure(results, name) for name in "abcd"], set(), "", (0, 4)),
    ]
    wrong = []
    for what, found, second, ledger, expected in cases:
        judged = verdict.judge([*found, passed], {("gcc", f"p: {name}") for name in second}, ledger, TODAY)
        if (len(judged.flaky), len(judged.failed)) != expected:
            wrong.append(f"{what}: expected {expected} flaky and failed, got {judged}")
        if judged.last_line != f"{1 + expected[0]} passed, {expected[1]} failed, 0 skipped":
            wrong.append(f"{what}: {judged.last_line}")
    four = [failure(results, name) for name in "abcd"]
    if verdict.may_be_tried_again(four) or len(verdict.may_be_tried_again(four[:3])) != 3:
        wrong.append("a second try is for three failures at most")
    return wrong


def check_ledger(verdict):
    """A line that is printed for the ledger is found there again."""
    line = verdict.ledger_line(TODAY, "0123456789abcdef", "p: a b", 2.5, ["", "never\tcame"])
    good = line == "2026-11-28\t0123456789ab\tp: a b\tload 2.5\tnever came" and verdict.recent(line, "p: a b", TODAY) == [TODAY]
    return [] if good and verdict.recent(line, "p: a", TODAY) == [] else [line]


def check_quarantine(verdict):
    row = "p: a\tit waits\t2026-11-14\n"
    cases = [("", 0), ("# a remark\n", 0), (row, 0), (row.replace("14\n", "13\n"), 1), (row * 5, 0), (row * 6, 1), ("p: a, yesterday\n", 1)]
    return [f"{text!r}: {verdict.quarantine_complaints(text, TODAY)}" for text, count in cases
            if len(verdict.quarantine_complaints(text, TODAY)) != count]


def check_lists(root, verdict):
    """The ledger and the quarantine of this tree can be read."""
    wrong = []
    for name, columns in (("flaky.txt", 5), ("quarantine.txt", 3)):
        with open(os.path.join(root, "tests", name), encoding="utf-8") as file:
            wrong += [f"tests/{name}: {row}" for row in verdict.rows(file.read()) if len(row) != columns]
    return wrong


def functions_of(root):
    """{program: functions} of the system tests, read from their sources."""
    found = {}
    for path in glob.glob(os.path.join(root, "tests", "system", "test_*.py")):
        with open(path, encoding="utf-8") as file:
            names = re.findall(r"^def test_(\w+)\(", file.read(), re.MULTILINE)
        found[os.path.basename(path)[len("test_"):-len(".py")]] = {name.replace("_", " ") for name in names}
    return found


def check_table(root, build, tiers):
    """Each test, function and folder that the table names is there."""
    with open(os.path.join(build, "meson-info", "intro-tests.json"), encoding="utf-8") as file:
        names = {test["name"] for test in json.load(file)}
    functions = functions_of(root)
    wrong = [f"SMOKE names {program!r}: {sorted(set(listed) - functions.get(program, set()))}" for program, listed in tiers.SMOKE.items()
             if not listed or set(listed) - functions.get(program, set())]
    wrong += [f"AREAS names the folder {folder}" for folder in tiers.AREAS if not glob.glob(os.path.join(root, folder) + "*")]
    programs = {program for listed in tiers.AREAS.values() for program in listed} | set(tiers.SECONDS)
    wrong += [f"AREAS or SECONDS names {program!r}" for program in sorted(programs - set(functions) - names)]
    known = tiers.REAL_TIME | set(tiers.LEFT_TO_ALL) | tiers.BENCH
    optional = {name for name in known - names if name in tiers.OPTIONAL}
    return wrong + [f"the table names the test {name!r}" for name in sorted(known - names - optional)]


def check_seeds(seeds):
    """A gate has fewer of the fixed seeds, and fresh ones of each generator that are another commit's other ones."""
    tests = [{"name": "seeds", "cmd": ["s", "1", "10000"]}, {"name": "kept", "cmd": ["s", "kept", "f"]}, {"name": "each", "cmd": ["e"]},
             {"name": "streams", "cmd": ["s", "7", "1000000001", "300"]}]
    fixed = [seeds.fixed_line(test, 5) for test in tests]
    fresh = seeds.fresh_lines(tests, "00000010", 1030)
    first = str(seeds.first_fresh("00000010"))
    expected = [("seeds-fresh", ["s", first, "1000"]), ("streams-fresh", ["s", "7", str(int(first) + 1000000000), "30"])]
    wrong = [] if fixed == [["s", "1", "2000"], ["s", "kept", "f"], ["e"], ["s", "7", "1000000001", "60"]] else [f"{fixed}"]
    wrong += [] if fresh == expected and seeds.first_fresh("00000011") != int(first) else [f"{fresh}"]
    return wrong


def check_history(history):
    with tempfile.TemporaryDirectory(prefix="hdss-gate-") as folder:
        for verdict, seconds in (("passed", 1.0), ("flaky", 9.0), ("passed", 3.0)):
            history.note(folder, {"date": "d", "commit": "c", "tier": "gate", "load": 1, "minutes": 2.5,
                                  "tests": {"gcc / p: a": [verdict, seconds], "gcc / q": ["passed", 0.5]}})
        counted = history.tally(history.runs(folder))
        good = counted == {"gcc / p: a": (3, 1, 3.0), "gcc / q": (3, 0, 0.5)} and history.last_minutes(folder, "gate") == 2.5
        text = history.text(folder)
        return [] if good and "1 of 3  gcc / p: a" in text and "  3.0 s  gcc / p: a" in text else [f"{counted}", text]


# A project with tests that fail now and then, as a function of whether a file is there.
MESON_BUILD = """project('planted', meson_version: '>=1.0')
python = import('python').find_installation('python3')
foreach name : ['flake', 'crash', 'leak', 'hang', 'good']
  test(name, python, args: files('test_' + name + '.py'), protocol: 'tap', suite: 'system', timeout: 60)
endforeach
"""
PLANTED = {
    "flake": "first = not os.path.exists(SEEN)\n    open(SEEN, 'w').close()\n    assert not first, 'never came: what it waits for'",
    "crash": "result = launch.run([sys.executable, '-c', 'import os; os.kill(os.getpid(), 11)'])\n    assert result.status == 0, result",
    "leak": "subprocess.Popen(['sleep', '600'], start_new_session=True)",
    "hang": "launch.finish(launch.start(['sleep', '600']), timeout=0.2)",
    "good": "assert True",
}


def plant(folder, lib):
    head = f"import os, subprocess, sys\nsys.path.insert(0, {lib!r})\nimport launch\nSEEN = {os.path.join(folder, 'seen')!r}\n"
    tests = {f"test_{name}.py": f"{head}def test_{name}():\n    {body}\ndef test_other():\n    pass\nlaunch.main([test_{name}, test_other])\n"
             for name, body in PLANTED.items()}
    tap.write(folder, {"meson.build": MESON_BUILD, **tests})


def check_planted(root, library):
    """A planted flake is forgiven and noted; a planted crash, leak and hang are not; what explains them is kept."""
    with tempfile.TemporaryDirectory(prefix="hdss-gate-") as folder:
        plant(folder, library)
        done = subprocess.run([sys.executable, os.path.join(root, "tests", "tidy", "gate_planted.py"), root, folder], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        text = done.stdout
        wanted = ["FLAKY: flake: flake", "a crash is never forgiven", "something left behind is never forgiven", "a hang is never forgiven",
                  "7 passed, 3 failed, 0 skipped"]
        kept = glob.glob(os.path.join(folder, "build", "selftest", "kept", "*", "commands.txt"))
        wrong = [f"missing: {line}" for line in wanted if line not in text]
        if {os.path.basename(os.path.dirname(path)) for path in kept} != {"flake-flake", "crash-crash", "leak-leak", "hang-hang"}:
            wrong.append(f"kept: {kept}")
        return [*wrong, text] if wrong or done.returncode != 1 else []


def main(words):
    if len(words) != 2:
        sys.exit(__doc__)
    root, build = words
    sys.path[:0] = [os.path.join(root, "tests", "gate"), os.path.join(root, "tests")]
    import history
    import outcomes as results
    import seeds
    import tiers
    import verdict
    library = os.path.join(root, "tests", "lib")
    return tap.run([(what, lambda case=case: check_log(results, *case)) for what, *case in LOGS] + [
        ("hard signs", lambda: check_signs(verdict)),
        ("what is forgiven", lambda: check_judge(results, verdict)),
        ("the ledger", lambda: check_ledger(verdict)),
        ("the quarantine", lambda: check_quarantine(verdict)),
        ("the lists of this tree", lambda: check_lists(root, verdict)),
        ("seeds", lambda: check_seeds(seeds)),
        ("the history", lambda: check_history(history)),
        ("the table of tiers", lambda: check_table(root, build, tiers)),
        ("a planted flake, crash, leak and hang", lambda: check_planted(root, library)),
    ])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
