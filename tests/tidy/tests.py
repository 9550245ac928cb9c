#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The order of the tests themselves: what several programs use is in tests/lib, and a name means one test.

    tests.py ROOT BUILD    checks the tree at ROOT and the tests of the build folder, TAP on standard output
    tests.py --self-test   shows on made-up trees that each check finds what it is for
"""
import ast
import collections
import json
import os
import sys

import source
import tap

FOLDER = "tests"
LISTED = "meson-info/intro-tests.json"


def imported(node):
    """The modules that an import names."""
    if isinstance(node, ast.Import):
        return [name.name for name in node.names]
    if isinstance(node, ast.ImportFrom):
        return [node.module or "", *(name.name for name in node.names if node.level)]
    return []


def imports(root, _):
    return [f"{path}:{node.lineno}: imports {name}; what several tests use is in tests/lib"
            for path in source.files(root, ".py") if path.startswith(FOLDER + "/")
            for node in ast.walk(ast.parse(source.read(root, path)))
            for name in imported(node) if name.split(".")[-1].startswith("test_")]


def unlisted(root, _):
    """A program that names its tests by globals() names all of them."""
    complaints = []
    for path in source.files(root, ".py"):
        if not os.path.basename(path).startswith("test_"):
            continue
        tree = ast.parse(source.read(root, path))
        named = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        complaints += [f"{path}:{node.lineno}: {node.name} is never run; main() does not name it" for node in tree.body
                       if isinstance(node, ast.FunctionDef) and node.name.startswith("test_") and not named & {node.name, "globals"}]
    return complaints


def names(_, build):
    with open(os.path.join(build, LISTED), encoding="utf-8") as file:
        tests = json.load(file)
    suites = collections.defaultdict(list)
    for test in tests:
        suites[test["name"]].append("+".join(suite.split(":")[-1] for suite in test["suite"]))
    return [f"{name}: the name of tests in {' and '.join(found)}" for name, found in sorted(suites.items()) if len(found) > 1]


CHECKS = [("no test imports another test", imports), ("each test function is run", unlisted), ("each test has a name of its own", names)]


def listed(*tests):
    return json.dumps([{"name": name, "suite": [f"hdss:{suite}"]} for name, suite in tests])


# The self-test: (check, {file: text}, number of complaints); the tree is its own build folder
CASES = [
    (imports, {"tests/system/test_a.py": "import os\nfrom launch import run\nfrom tests_of import x\n"}, 0),
    (imports, {"tests/system/test_a.py": "from test_b import x\n"}, 1),
    (imports, {"tests/system/test_a.py": "import os, test_b\n"}, 1),
    (imports, {"tests/system/test_a.py": "from . import test_b\n"}, 1),
    (imports, {"tests/system/test_a.py": "from system.test_b import x\n"}, 1),
    (imports, {"tests/lib/a.py": "def f():\n    import test_b\n"}, 1),
    (imports, {"deploy/a.py": "import test_b\n"}, 0),
    (unlisted, {"tests/test_a.py": "def test_b():\n    pass\n\nmain([test_b])\n"}, 0),
    (unlisted, {"tests/test_a.py": "def test_b():\n    pass\n\nmain(globals())\n"}, 0),
    (unlisted, {"tests/test_a.py": "def test_b():\n    pass\n\ndef helper():\n    pass\n\nmain([])\n"}, 1),
    (names, {LISTED: listed(("a", "unit"), ("b", "unit"))}, 0),
    (names, {LISTED: listed(("a", "unit"), ("a", "system"), ("b", "unit"))}, 1),
]


def self_test_case(check, texts, expected):
    return tap.self_test(lambda root: check(root, root), texts, expected)


def main(words):
    if words == ["--self-test"]:
        return tap.run([(f"{case[0].__name__}: {str(case[1])[-50:]}", lambda case=case: self_test_case(*case)) for case in CASES])
    if len(words) != 2:
        sys.exit(__doc__)
    return tap.run([(name, lambda check=check: check(*words)) for name, check in CHECKS])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
