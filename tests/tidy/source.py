# SPDX-License-Identifier: MIT
"""The C files of a tree, as the tidy tests see them: which there are, and their text without comments and strings."""
import os
import re

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")  # the tree that these tests are of
SKIPPED_FOLDERS = {"subprojects"}


def files(root, endings=(".c", ".h")):
    """Paths from `root` of all files with these endings, sorted; hidden folders and build folders are left out."""
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not is_skipped(folder, name))
        found += [os.path.relpath(os.path.join(folder, name), root) for name in names if name.endswith(endings)]
    return sorted(found)


def is_skipped(folder, name):
    """A build folder is known by what Meson leaves in it, whatever it is called."""
    return (name.startswith(".") or name in SKIPPED_FOLDERS
            or os.path.isdir(os.path.join(folder, name, "meson-private")))


def read(*path):
    with open(os.path.join(*path), encoding="utf-8", newline="") as file:
        return file.read()


TOKEN = re.compile(r"""//[^\n]* | /\*.*?\*/ | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'""", re.VERBOSE | re.DOTALL)
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')


def code_lines(text):
    """The lines with comments and the contents of strings gone, so that line numbers stay."""
    def blank(match):
        token = match.group(0)
        return '""' if token[0] in "\"'" else "\n" * token.count("\n") or " "
    return TOKEN.sub(blank, text).split("\n")


def without_comments(text):
    """Like code_lines(), but strings stay: an include names its file in one."""
    def blank(match):
        token = match.group(0)
        return token if token[0] in "\"'" else "\n" * token.count("\n") or " "
    return TOKEN.sub(blank, text).split("\n")


def includes(text):
    """(line number, quoted name or None, bracketed name or None) of each #include."""
    for number, line in enumerate(without_comments(text), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1), match.group(2)
