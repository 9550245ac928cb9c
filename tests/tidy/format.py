#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""C files are as clang-format lays them out by .clang-format, whose column limit is that of C.

    format.py ROOT          checks the tree at ROOT, TAP on standard output
    format.py --self-test   shows on made-up files that the check finds what it is for

Releases of clang-format lay out differently, so only the one that the project writes with is asked.
"""
import re
import shutil
import subprocess
import sys

import source
import tap

RELEASE = 14
FINDING = re.compile(r"^(.+?:\d+):\d+: (?:warning|error): code should be clang-formatted", re.MULTILINE)


def program():
    """The clang-format of that release, or None."""
    for name in (f"clang-format-{RELEASE}", "clang-format"):
        path = shutil.which(name)
        if path and f"version {RELEASE}." in subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout:
            return path
    return None


def layout(root):
    """The first line of each file that would be laid out otherwise."""
    path = program()
    if path is None:
        return f"no clang-format {RELEASE}"
    files = list(source.files(root, (".c", ".h")))
    done = subprocess.run([path, "--dry-run", "-style=file", *files], cwd=root, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return [done.stderr.strip()]
    first = {}
    for place in FINDING.findall(done.stderr):
        first.setdefault(place.rsplit(":", 1)[0], f"{place}: clang-format lays it out otherwise")
    return list(first.values())


# The self-test: (text of a.c, number of complaints)
CASES = [
    ("int f(void)\n{\n    return 0;\n}\n", 0),
    ("int f(void) { return 0; }\n", 1),
    ("int  a;\nint  b;\n", 1),
    (f"int f(int {'a' * 60},\n      int {'b' * 60});\n", 0),
    (f"int f(int {'a' * 60}, int {'b' * 60});\n", 1),
]


def self_test_case(text, count):
    return tap.self_test(layout, {".clang-format": source.read(source.ROOT, ".clang-format"), "a.c": text}, count)


def main(words):
    if words == ["--self-test"]:
        return tap.run([(f"case {number}", lambda case=case: self_test_case(*case)) for number, case in enumerate(CASES, 1)])
    if len(words) != 1:
        sys.exit(__doc__)
    return tap.run([("C files are laid out by .clang-format", lambda: layout(words[0]))])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
