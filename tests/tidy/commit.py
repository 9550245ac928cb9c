#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""deploy/cli/commit.py knows the commit of a checkout and of what `git archive` made of one, and says so where it knows none.

    commit.py ROOT
"""
import os
import shutil
import subprocess
import sys
import tempfile

import tap

SCRIPT = os.path.join("deploy", "cli", "commit.py")
FILES = [".gitattributes", SCRIPT, os.path.join("deploy", "cli", "commit.txt")]
ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C",
               **{f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}}


def git(folder, *words):
    return subprocess.run(["git", "-C", folder, *words], env=ENVIRONMENT, stdout=subprocess.PIPE, check=True).stdout


def check_out(root, folder):
    """Makes a checkout with one commit of the files that matter here; its commit."""
    for name in FILES:
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        shutil.copy(os.path.join(root, name), os.path.join(folder, name))
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "x")
    return git(folder, "rev-parse", "HEAD").decode().strip()[:12]


def unpack(checkout, folder):
    os.makedirs(folder)
    subprocess.run(["tar", "-x", "-C", folder], input=git(checkout, "archive", "HEAD"), check=True)


def said(folder, **environment):
    return subprocess.run([sys.executable, os.path.join(folder, SCRIPT), folder], env={**ENVIRONMENT, **environment}, stdout=subprocess.PIPE,
                          text=True, check=True).stdout


def differs(got, expected):
    return [] if got == expected + "\n" else [f"expected {expected}, got {got!r}"]


def without_commit(folder):
    """The same, where commit.txt has neither a placeholder nor a commit, and where it is not there."""
    path = os.path.join(folder, FILES[-1])
    with open(path, "w", encoding="utf-8") as file:
        file.write("\u00e9" * 40)
    complaints = differs(said(folder), "unknown")
    os.remove(path)
    return complaints + differs(said(folder), "unknown")


def main(words):
    if len(words) != 1:
        sys.exit(__doc__)
    if not shutil.which("git") or not shutil.which("tar"):
        return tap.run([("the commit of a tree", lambda: "no git, or no tar")])
    with tempfile.TemporaryDirectory() as folder:
        checkout, archive, inside, copy = (os.path.join(folder, name) for name in ("checkout", "archive", "checkout/inside", "copy"))
        commit = check_out(words[0], checkout)
        unpack(checkout, archive)
        shutil.copytree(checkout, copy, ignore=shutil.ignore_patterns(".git"))
        unpack(checkout, inside)
        git(checkout, "commit", "-q", "--allow-empty", "-m", "y")
        later = git(checkout, "rev-parse", "HEAD").decode().strip()[:12]
        return tap.run([
            ("a checkout", lambda: differs(said(checkout), later)),
            ("a checkout without git", lambda: differs(said(checkout, PATH="/nonexistent"), "unknown")),
            ("an archive", lambda: differs(said(archive), commit)),
            ("an archive without git", lambda: differs(said(archive, PATH="/nonexistent"), commit)),
            ("an archive that was unpacked in a checkout", lambda: differs(said(inside), commit)),
            ("a copy without history", lambda: differs(said(copy), "unknown")),
            ("an archive whose commit is gone", lambda: without_commit(archive)),
        ])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
