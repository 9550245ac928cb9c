#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the commit of a source tree, 12 digits: what git says of a checkout, else what `git archive` wrote into commit.txt, else "unknown".

    commit.py ROOT
"""
import os
import re
import subprocess
import sys

DIGITS = 12


def git(root, *words):
    """The first line that git says of the folder; nothing where it says none, or is not there."""
    try:
        done = subprocess.run(["git", "-C", root, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def checked_out(root):
    """A tree that was unpacked within the checkout of something else has a commit above it that is not its own."""
    top = git(root, "rev-parse", "--show-toplevel")
    return git(root, "rev-parse", f"--short={DIGITS}", "HEAD") if top and os.path.samefile(top, root) else ""


def archived(root):
    """In a checkout commit.txt holds a placeholder, for which `git archive` puts the commit (.gitattributes)."""
    try:
        with open(os.path.join(root, "deploy", "cli", "commit.txt"), encoding="ascii") as file:
            text = file.read().strip()
    except (OSError, UnicodeDecodeError):
        return ""
    return text[:DIGITS] if re.fullmatch(r"[0-9a-f]{40,64}", text) else ""


def main(words):
    if len(words) != 1:
        sys.exit(__doc__)
    print(checked_out(words[0]) or archived(words[0]) or "unknown")


if __name__ == "__main__":
    main(sys.argv[1:])
