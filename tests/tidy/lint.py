#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""clang-tidy finds nothing in the C files of the product, by the checks of .clang-tidy.

    lint.py ROOT BUILD    checks the files of the tree at ROOT that are compiled in the folder BUILD, TAP on standard output
    lint.py --self-test   shows on made-up files that it finds what it is for

Other releases have other checks, so only the one that .clang-tidy is written for is asked.
"""
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import tap

RELEASE = 14
FINDING = re.compile(r"^(.+?:\d+):\d+: (?:warning|error): (.+)$", re.MULTILINE)
NOT_THE_PRODUCT = ("tests/", "deploy/examples/")


def program():
    """The clang-tidy of that release, or None."""
    for name in (f"clang-tidy-{RELEASE}", "clang-tidy"):
        path = shutil.which(name)
        if path and f"version {RELEASE}." in subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout:
            return path
    return None


def compiled(root, build):
    """The product's C files that the build folder compiles, from ROOT; what it has generated is none of them."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        commands = json.load(file)
    paths = {os.path.relpath(os.path.realpath(os.path.join(one["directory"], one["file"])), os.path.realpath(root)) for one in commands}
    inside = os.path.relpath(os.path.realpath(build), os.path.realpath(root)) + "/"
    return sorted(path for path in paths if path.endswith(".c") and not path.startswith(("..", inside) + NOT_THE_PRODUCT))


def findings(root, build, paths):
    """What clang-tidy says of them, each finding once: one of a header comes with all who include it."""
    clang_tidy = program()
    if clang_tidy is None:
        return f"no clang-tidy {RELEASE}"

    def look(path):
        done = subprocess.run([clang_tidy, "--quiet", "-p", build, os.path.join(root, path)], capture_output=True, text=True, check=False)
        found = [f"{os.path.relpath(place, root)}: {what}" for place, what in FINDING.findall(done.stdout)]
        return found or ([f"{path}: {done.stderr.strip()}"] if done.returncode != 0 else [])

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
        return sorted({finding for found in threads.map(look, paths) for finding in found})


# The self-test: (text of a.c, number of findings)
CASES = [
    ("int f(int a)\n{\n    return a;\n}\n", 0),
    ("int f(int a)\n{\n    if (a > 1);\n        return 2;\n    return a;\n}\n", 1),
    ("#define TWICE(a) a + a\nint f(int a)\n{\n    return 3 * TWICE(a);\n}\n", 1),
]


def self_test_case(text, count):
    checks = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".clang-tidy")
    with tempfile.TemporaryDirectory() as root:
        shutil.copy(checks, root)
        with open(os.path.join(root, "a.c"), "w", encoding="utf-8") as file:
            file.write(text)
        with open(os.path.join(root, "compile_commands.json"), "w", encoding="utf-8") as file:
            json.dump([{"directory": root, "file": "a.c", "arguments": ["cc", "-c", "a.c"]}], file)
        found = findings(root, root, ["a.c"])
    if isinstance(found, str):
        return found
    return [] if len(found) == count else [f"expected {count} findings, got {found}"]


def main(words):
    if words == ["--self-test"]:
        return tap.run([(f"case {number}", lambda case=case: self_test_case(*case)) for number, case in enumerate(CASES, 1)])
    if len(words) != 2:
        sys.exit(__doc__)
    return tap.run([("clang-tidy finds nothing in the product", lambda: findings(*words, compiled(*words)))])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
