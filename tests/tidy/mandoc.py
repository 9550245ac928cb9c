#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Man pages are as mandoc wants them, and refer to pages that there are.

    mandoc.py ROOT          checks the tree at ROOT, TAP on standard output
    mandoc.py --self-test   shows on made-up trees that each check finds what it is for

Left out are the conventions of base systems (-W style: the name after .Os is this project's, not a system's), and what mandoc says of references: the pages
of the tree need not be installed.
"""
import os
import shutil
import subprocess
import sys

import mdoc
import source
import tap

OUTSIDE = {("mpirun", "1"), ("squeue", "1")}


def pages(root):
    return [(path, source.read(root, path)) for path in source.files(root, mdoc.PAGES)]


def lint(root):
    if not shutil.which("mandoc"):
        return "no mandoc"
    done = subprocess.run(["mandoc", "-T", "lint", "-W", "style"] + [path for path, _ in pages(root)], cwd=root, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=False)
    return [line.replace("mandoc: ", "", 1) for line in done.stdout.splitlines() if "referenced manual not found" not in line]


def references(root):
    """A page has the name of its file, and those that it gives at its beginning."""
    known = set(OUTSIDE)
    for path, text in pages(root):
        base, section = os.path.basename(path).rsplit(".", 1)
        known.update((name, section) for name in [base] + mdoc.names(text))
    return [f"{path}:{text.count(chr(10), 0, match.start()) + 1}: there is no {match.group(1)}({match.group(2)})"
            for path, text in pages(root) for match in mdoc.REFERENCE.finditer(text) if match.groups() not in known]


CHECKS = [("mandoc has nothing to say of the man pages", lint), ("man pages refer to pages that there are", references)]

PAGE = ".Dd November 21, 2026\n.Dt A 3\n.Os X\n.Sh NAME\n.Nm a ,\n.Nm b\n.Nd x\n.Sh DESCRIPTION\nText.\n"

# The self-test: (check, text of a.3, number of complaints)
CASES = [
    (lint, PAGE, 0),
    (lint, PAGE + "x" * 40 + " " + "x" * 40 + "\n", 1),
    (lint, PAGE + ".Ar a Ns : Ns Ar b\n", 1),
    (lint, PAGE + ".Xr nothing 3\n", 0),
    (references, PAGE + ".Xr a 3 ,\n.Xr b 3 ,\n.Pq see Xr mpirun 1\n", 0),
    (references, PAGE + ".Xr a 1\n.Pq see Xr c 3\n", 2),
]


def main(words):
    if words == ["--self-test"]:
        return tap.run([(f"{check.__name__}: {text[len(PAGE):]!r}", lambda check=check, text=text, count=count: tap.self_test(check, {"a.3": text}, count))
                        for check, text, count in CASES])
    if len(words) != 1:
        sys.exit(__doc__)
    return tap.run([(name, lambda check=check: check(words[0])) for name, check in CHECKS])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
