#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws comments of the C sources and sentences of the manuals at random, for a reader who has seen nothing of the project: how many of 100 must be
read twice?

    draw.py ROOT [SEED [COUNT]]    prints COUNT (100) of each; the same SEED (1) draws the same from the same tree
    draw.py --self-test
"""
import argparse
import contextlib
import io
import os
import random
import re
import subprocess
import sys

import mdoc
import source
import tap

SEED, COUNT = 1, 100
PRODUCT = ("common/", "deploy/", "supermaster/", "master/", "worker/", "proto/")
DOCUMENTS = ("README.md", "SECURITY.md", *(f"docs/{name}.md" for name in (
    "ARCHITECTURE", "CONTROL", "INSTALL", "faults", "how-to", "launching", "library", "own-kernels", "python", "report", "scheduling", "sets", "simulate",
    "studies", "tasks", "tutorial")))
TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|(/\*.*?\*/)', re.DOTALL)
SENTENCE = re.compile(r"[^.!?]*(?:[.!?](?![\s)])[^.!?]*)*[.!?]+\)?(?=\s|$)")
WORDS_MIN = 4  # a shorter one is read at one glance


def comments(text):
    """[(line, comment on one line, the code that it stands at)] of a C source, but for its licence."""
    found = []
    for match in TOKEN.finditer(text):
        if match.group(1) is None or "SPDX" in match.group(1):
            continue
        words = re.sub(r"\s*\n\s*\*?\s*", " ", match.group(1)[2:-2]).strip()
        beside = text[text.rfind("\n", 0, match.start()) + 1:match.start()].strip()
        below = text[match.end():].lstrip().split("\n", 1)[0]
        found.append((text.count("\n", 0, match.start()) + 1, words, beside or below))
    return found


def sentences(text):
    return [" ".join(found.split()) for paragraph in re.split(r"\n\s*\n", text) for found in SENTENCE.findall(paragraph) if len(found.split()) >= WORDS_MIN]


def shown(path):
    """A man page as it is read, on lines without limit."""
    done = subprocess.run(["mandoc", "-T", "utf8", "-O", "width=1000", path], stdout=subprocess.PIPE, text=True, check=True)
    return re.sub(".\b", "", done.stdout)


def prose(markdown):
    """Without code, tables and headings."""
    text = re.sub(r"^(```|~~~).*?^\1", "", markdown, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"^(?: {4}|\||#).*$", "", text, flags=re.MULTILINE)


def drawn(items, seed, count):
    return random.Random(seed).sample(items, min(count, len(items)))


def draw(root, seed, count):
    of_code = [(f"{path}:{line}", words, code) for path in source.files(root, (".c", ".h")) if path.startswith(PRODUCT)
               for line, words, code in comments(source.read(root, path))]
    of_manuals = [(path, sentence) for path in source.files(root, mdoc.PAGES) for sentence in sentences(shown(f"{root}/{path}"))]
    of_manuals += [(path, sentence) for path in DOCUMENTS for sentence in sentences(prose(source.read(root, path)))]
    for number, (place, words, code) in enumerate(drawn(of_code, seed, count), 1):
        print(f"{number}. {words}\n        {code.strip()[:120]}    [{place}]")
    for number, (place, sentence) in enumerate(drawn(of_manuals, seed, count), 1):
        print(f"{number}. {sentence}    [{place}]")


def a_tree(text):
    if not os.path.isfile(os.path.join(text, "README.md")):
        raise argparse.ArgumentTypeError(f"'{text}' is no folder with a README.md")
    return text


def arguments(words):
    parser = argparse.ArgumentParser(prog="draw.py", description=__doc__.split("\n\n", 1)[0])
    parser.add_argument("root", type=a_tree, help="the tree")
    parser.add_argument("seed", type=int, nargs="?", default=SEED, help="the same seed draws the same from the same tree (default %(default)s)")
    parser.add_argument("count", type=int, nargs="?", default=COUNT, help="how many of each (default %(default)s)")
    return parser.parse_args(words)


def refused(*words):
    """The status with which the command line is refused, without what is printed."""
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            arguments(words)
    except SystemExit as end:
        return end.code
    return None


CASES = [
    ("comments, not strings", comments('/* SPDX-License-Identifier: MIT */\n/* a\n * b */\nint x; /* c */\nchar *s = "/* d */";\n'),
     [(2, "a b", "int x; /* c */"), (4, "c", "int x;")]),
    ("sentences", sentences("One two three four. Short one.\nThe file a.c has a line.\n\nA title without end\n"),
     ["One two three four.", "The file a.c has a line."]),
    ("prose", prose("# T\nText.\n```sh\na. b.\n```\n| a. |\n    code.\n"), "\nText.\n\n\n\n"),
    ("the same seed draws the same", drawn(range(50), 7, 5), drawn(range(50), 7, 5)),
    ("command lines without a tree, with another folder, and with a word for a number",
     [refused(), refused("/"), refused(".", "x")], [2, 2, 2]),
    ("fewer than asked", sorted(drawn([2, 1], 1, 100)), [1, 2]),
]


def main(words):
    if words == ["--self-test"]:
        return tap.run([(what, lambda got=got, expected=expected: [] if got == expected else [f"expected {expected}, got {got}"])
                        for what, got, expected in CASES])
    draw(**vars(arguments(words)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
