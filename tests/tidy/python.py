#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Python package: mypy finds nothing by the settings in its pyproject.toml, which are strict, and flake8 nothing either. A program
that uses the package has its types.

    python.py ROOT          checks the package of the tree at ROOT, TAP on standard output
    python.py --self-test   shows on made-up packages that each check finds what it is for

Other releases find other things, so only those of each program are asked that the package is written for.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import source
import tap

RELEASES = {"mypy": "1.0", "flake8": "5.0"}
FOLDER = "deploy/python"
LINE_MAX = 160
FINDING = re.compile(r"^.+?:\d+:.*?(?:error:|[A-Z]+\d+) .+$", re.MULTILINE)

# What a program sees of the package. A name that mypy does not find, or that it takes for anything, is a finding.
USER = """import hdss
from typing import List


def double(i: int) -> int:
    return 2 * i


with hdss.Executor(workers=2) as executor:
    wrong: List[None] = executor
"""
USER_FINDING = 'Incompatible types in assignment (expression has type "Executor", variable has type "List[None]")'


def program(name):
    """The path of the program in its release, or None."""
    path = shutil.which(name)
    if path is None:
        return None
    said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
    return path if re.search(rf"(?:^|\s){re.escape(RELEASES[name])}\.", said) else None


def ask(name, words, folder, **variables):
    """The program's findings. A string where it is not there."""
    path = program(name)
    if path is None:
        return f"no {name} {RELEASES[name]}"
    done = subprocess.run([path, *words], cwd=folder, env={**os.environ, **variables}, capture_output=True, text=True, check=False)
    found = FINDING.findall(done.stdout)
    return found or ([f"{name}: {done.stdout.strip()}{done.stderr.strip()}"] if done.returncode != 0 else [])


def ask_mypy(root, name, **variables):
    with tempfile.TemporaryDirectory() as cache:
        settings = os.path.join(root, FOLDER, "pyproject.toml")
        return ask("mypy", ["--no-error-summary", "--config-file", settings, "--cache-dir", cache, name], os.path.join(root, FOLDER), **variables)


def types(root):
    return ask_mypy(root, "hdss")


def users_types(root):
    """Its own search path, as that of somebody who has installed the package."""
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "user.py")
        with open(name, "w", encoding="utf-8") as file:
            file.write(USER)
        found = ask_mypy(root, name, MYPYPATH=os.path.join(root, FOLDER))
    if isinstance(found, str):
        return found
    others = [finding for finding in found if USER_FINDING not in finding]
    return others if len(found) != len(others) else others + ["the types of hdss.Executor are not those that it has"]


def style(root):
    return ask("flake8", ["--isolated", f"--max-line-length={LINE_MAX}", "."], os.path.join(root, FOLDER))


CHECKS = [
    ("mypy finds nothing in the Python package", types),
    ("programs have the types of the Python package", users_types),
    ("flake8 finds nothing in the Python package", style),
]

# The self-test: (check, text of hdss/__init__.py, number of findings)
EXECUTOR = '''from typing import Any


class Executor:
    def __init__(self, workers: int) -> None:
        self.workers = workers

    def __enter__(self) -> "Executor":
        return self

    def __exit__(self, *_: Any) -> None:
        pass
'''
CASES = [
    (types, EXECUTOR, 0),
    (types, EXECUTOR + "\n\ndef half(i: int) -> int:\n    return i / 2\n", 1),
    (types, EXECUTOR + "\n\ndef half(i):\n    return i / 2\n", 1),
    (users_types, EXECUTOR, 0),
    (users_types, "from typing import Any\n\n\ndef __getattr__(name: str) -> Any:\n    return 1\n", 1),
    (style, EXECUTOR, 0),
    (style, "import os\n" + EXECUTOR, 1),
    (style, EXECUTOR + "\n\ndef f( ):\n    pass\n", 1),
    (style, EXECUTOR + f"\n\na = '{'x' * LINE_MAX}'\n", 1),
]


def self_test_case(check, text, count):
    settings = os.path.join(FOLDER, "pyproject.toml")
    package = os.path.join(FOLDER, "hdss")
    texts = {settings: source.read(source.ROOT, settings), os.path.join(package, "__init__.py"): text, os.path.join(package, "py.typed"): ""}
    return tap.self_test(check, texts, count)


def main(words):
    if words == ["--self-test"]:
        return tap.run([(f"{case[0].__name__}, case {number}", lambda case=case: self_test_case(*case)) for number, case in enumerate(CASES, 1)])
    if len(words) != 1:
        sys.exit(__doc__)
    root = os.path.abspath(words[0])
    return tap.run([(name, lambda check=check: check(root)) for name, check in CHECKS])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
