#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""clang-tidy finds nothing in the C files of the product, by the checks of .clang-tidy.

    lint.py ROOT BUILD [FILE...]    checks the files of the tree at ROOT, or these, that are compiled in the folder BUILD, TAP on standard output
    lint.py --self-test             shows on made-up files that it finds what it is for

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

import source
import tap

RELEASE = 14
FINDING = re.compile(r"^(.+?:\d+):\d+: (?:warning|error): (.+)$", re.MULTILINE)
CONDITION = re.compile(r"^\s*#\s*(?:el)?if(?:n?def)?\b(.*)$", re.MULTILINE)
NOT_THE_PRODUCT = ("tests/", "deploy/examples/techniques/")
AT_A_TIME = 20  # files for one process: its start takes as long as a third of a file


def program():
    """The clang-tidy of that release, or None."""
    for name in (f"clang-tidy-{RELEASE}", "clang-tidy"):
        path = shutil.which(name)
        if path and f"version {RELEASE}." in subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout:
            return path
    return None


def asked_for(root):
    """The macros that an #if of the tree asks for."""
    conditions = [line for path in source.files(root) for line in CONDITION.findall(source.read(root, path))]
    return set(re.findall(r"\w+", " ".join(conditions)))


def compilations(root, build, files=()):
    """The entries of the build folder's compile_commands.json for the product's C files, or for these of them. A file that several targets compile is the same
    to clang-tidy in each, so it is there once, and once more for other macros that an #if asks for. What the build has generated is no file
    of the product."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        commands = json.load(file)
    inside = os.path.relpath(os.path.realpath(build), os.path.realpath(root)) + "/"
    asked, found = asked_for(root), {}
    for one in commands:
        path = os.path.relpath(os.path.realpath(os.path.join(one["directory"], one["file"])), os.path.realpath(root))
        if path.endswith(".c") and not path.startswith(("..", inside) + NOT_THE_PRODUCT) and (not files or path in files):
            macros = asked.intersection(re.findall(r"-D(\w+)", one["command"]))
            found.setdefault((path, frozenset(macros)), one)
    return list(found.values())


def findings(root, commands):
    """What clang-tidy says of the files that these compile, each finding once: one of a header comes with all who include it."""
    clang_tidy = program()
    if clang_tidy is None:
        return f"no clang-tidy {RELEASE}"

    def look(some):
        paths = sorted({os.path.join(one["directory"], one["file"]) for one in some})
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "compile_commands.json"), "w", encoding="utf-8") as file:
                json.dump(some, file)
            done = subprocess.run([clang_tidy, "--quiet", "-p", folder, *paths], capture_output=True, text=True, check=False)
        found = [f"{os.path.relpath(place, root)}: {what}" for place, what in FINDING.findall(done.stdout)]
        return found or ([done.stderr.strip()] if done.returncode != 0 else [])

    some = [commands[first:first + AT_A_TIME] for first in range(0, len(commands), AT_A_TIME)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
        return sorted({finding for found in threads.map(look, some) for finding in found})


# The self-test: (text of a.c, number of findings)
CASES = [
    ("int f(int a)\n{\n    return a;\n}\n", 0),
    ("int f(int a)\n{\n    if (a > 1);\n        return 2;\n    return a;\n}\n", 1),
    ("#define TWICE(a) a + a\nint f(int a)\n{\n    return 3 * TWICE(a);\n}\n", 1),
    ("int _f(int a)\n{\n    return a;\n}\n", 1),
    ("#define __F 1\n", 1),
    ("int f(int a)\n{\n#ifdef TWO\n    if (a > 1);\n        return 2;\n#endif\n    return a;\n}\n", 1),
]


def self_test_case(text, count):
    def check(root):
        commands = [{"directory": root, "file": "a.c", "command": f"cc {macros} -c a.c"} for macros in ("", "-DTWO", "-DTHREE")]
        tap.write(root, {"compile_commands.json": json.dumps(commands)})
        return findings(root, compilations(root, root))

    return tap.self_test(check, {".clang-tidy": source.read(source.ROOT, ".clang-tidy"), "a.c": text}, count)


def main(words):
    if words == ["--self-test"]:
        return tap.run([(f"case {number}", lambda case=case: self_test_case(*case)) for number, case in enumerate(CASES, 1)])
    if len(words) < 2:
        sys.exit(__doc__)
    root, build, *files = words
    return tap.run([("clang-tidy finds nothing in the product", lambda: findings(root, compilations(root, build, files)))])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
