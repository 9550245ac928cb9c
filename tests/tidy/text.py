#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The looks of the tree's text that no compiler checks.

    text.py ROOT          checks the tree at ROOT, TAP on standard output
    text.py --self-test   shows on made-up trees that each check finds what it is for
"""
import os
import re
import sys

import source
import tap

LINE_MAX = 140
C_FILES = (".c", ".h")
CODE_FILES = C_FILES + (".py", ".sh", ".md", ".json", ".1", ".5", ".7", "meson.build", "meson_options.txt")
UNFINISHED = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "X" * 3]) + r")\b")
LICENCE = "SPDX-License-Identifier: " + "MIT"
LICENCE_LINES = {
    C_FILES + (".c.in",): f"/* {LICENCE} */",
    (".cpp",): f"// {LICENCE}",
    (".f90",): f"! {LICENCE}",
    (".1", ".3", ".5", ".7"): f'.\\" {LICENCE}',
    (".py", ".sh", ".bash", ".sbatch", ".pbs", ".lsf", ".map", ".cmake.in", "meson.build", "meson_options.txt", "Containerfile"): f"# {LICENCE}",
}
README, README_WORDS_MAX, README_LINE_MAX = "README.md", 900, 120
HEADER, DOCUMENT = "proto/message.h", "proto/PROTOCOL.md"
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)\s]*)?\)")
FIRST_LINES = ("#!", "#compdef")  # which must stand before all others
PRODUCT, ERRORS = ("common/", "deploy/", "supermaster/", "master/", "worker/", "proto/"), "common/util/error.c"
TAKES_ERROR = re.compile(r"^[A-Za-z_][^;{}=#]*?\([^;{}]*?(?<!const )struct error \*error\)\n\{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
SAID = ("common/", "deploy/cli/", "supermaster/", "master/", "worker/")
STRING = r'"(?:[^"\\]|\\.)*"'
WORDS = re.compile(rf'\bfprintf\((?:stderr|[\w>.-]*\b(?:err|log)),\s*((?:{STRING}|\w|\s)+)')
COLOURED = "deploy/cli/colour.c"  # has escapes of its own
GUARD = re.compile(r"^#pragma once$|^#ifndef (\w+_H)\n#define \1$", re.MULTILINE)


def c_files(root):
    return [(path, source.read(root, path)) for path in source.files(root, C_FILES)]


def without_licence(text):
    return text.removeprefix(f"/* {LICENCE} */\n")


def paragraphs(root):
    """A C file begins by saying what it is, right after its licence."""
    return [f"{path}:1: does not begin with a /* paragraph */" for path, text in c_files(root)
            if not without_licence(text).startswith("/*")]


def licence_line(path, head):
    """The line for such a file, whose text begins with `head`; none for what is no source. A script may have no ending."""
    for endings, line in LICENCE_LINES.items():
        if path.endswith(endings):
            return line
    return f"# {LICENCE}" if "." not in os.path.basename(path) and head.startswith(FIRST_LINES) else None


def licences(root):
    complaints = []
    for path in source.files(root, ""):
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
            head = [file.readline().rstrip("\n"), file.readline().rstrip("\n")]
        line, at = licence_line(path, head[0]), int(head[0].startswith(FIRST_LINES))
        if line is not None and head[at] != line:
            complaints.append(f"{path}:{at + 1}: is not the line {line}")
    return complaints


def line_complaints(path, text):
    for number, line in enumerate(text.split("\n"), 1):
        if "\t" in line:
            yield f"{path}:{number}: a tab"
        if line.endswith((" ", "\r")):
            yield f"{path}:{number}: white space at the end"
        if len(line) > LINE_MAX:
            yield f"{path}:{number}: {len(line)} characters, at most {LINE_MAX}"


def lines(root):
    return [what for path, text in c_files(root) for what in line_complaints(path, text)]


def final_newlines(root):
    return [f"{path}: no newline at the end, or more than one" for path in source.files(root, CODE_FILES)
            if not re.search(r"(\A|[^\n]\n)\Z", source.read(root, path))]


def guards(root):
    """A template, included several times, says in its paragraph that it has no include guard."""
    return [f"{path}: neither #pragma once nor #ifndef ..._H" for path, text in c_files(root)
            if path.endswith(".h") and not GUARD.search(text) and "no include guard" not in without_licence(text).split("*/")[0]]


def unfinished(root):
    complaints = []
    for path in source.files(root, CODE_FILES):
        for number, line in enumerate(source.read(root, path).split("\n"), 1):
            complaints += [f"{path}:{number}: {match.group(0)}" for match in UNFINISHED.finditer(line)]
    return complaints


def readme(root):
    text = source.read(root, README)
    complaints = [f"{README}:{number}: {len(line)} characters, at most {README_LINE_MAX}"
                  for number, line in enumerate(text.split("\n"), 1) if len(line) > README_LINE_MAX]
    words = len(text.split())
    return complaints + ([f"{README}: {words} words, at most {README_WORDS_MAX}"] if words > README_WORDS_MAX else [])


def links(root):
    """A link to another site has a colon in it."""
    return [f"{path}:{text.count(chr(10), 0, match.start()) + 1}: there is no {match.group(1)}"
            for path in source.files(root, ".md") for text in [source.read(root, path)] for match in LINK.finditer(text)
            if not os.path.exists(os.path.join(root, os.path.dirname(path), match.group(1)))]


def protocol(root):
    """The document of the protocol has the version of the program in its title and in the field of the hello."""
    try:
        defined = re.search(r"^#define PROTOCOL_VERSION (\d+)$", source.read(root, HEADER), re.MULTILINE).group(1)
        text = source.read(root, DOCUMENT)
    except (OSError, AttributeError):
        return [f"{HEADER} or {DOCUMENT} says no version"]
    said = re.findall(r"^# The HDSS protocol, version (\d+)$|^\| 4 \| 2 \| protocol \| (\d+) \|$", text, re.MULTILINE)
    numbers = [title or field for title, field in said]
    return [] if numbers == [defined, defined] else [f"{DOCUMENT}: version {', '.join(numbers) or 'none'}, {HEADER}: {defined}"]


def words(root):
    """Lines for people go through say(), which makes words from outside safe to print."""
    return [f"{path}:{text.count(chr(10), 0, match.start()) + 1}: a line with words in it, which say() prints"
            for path, text in c_files(root) if path.startswith(SAID) and path != COLOURED for match in WORDS.finditer(text)
            if re.search(r"%[-.*0-9]*s", match.group(1)) and match.group(1).rstrip().endswith(r'\n"')]


def unread_errors(root):
    """A caller may pass NULL as the error. A function that reads its error begins with error_or()."""
    return [f"{path}:{text.count(chr(10), 0, match.start()) + 1}: looks into an error that may be NULL, without error_or()"
            for path, text in c_files(root) if path.startswith(PRODUCT) and path != ERRORS for match in TAKES_ERROR.finditer(text)
            if re.search(r"\berror->|(?<![\w)] )\*error\b", COMMENT.sub("", match.group(1))) and "error = error_or(error, " not in match.group(1)]


CHECKS = [
    ("sources begin with their licence", licences),
    ("C files begin with a paragraph", paragraphs),
    (f"lines of C have no tab, no trailing white space and at most {LINE_MAX} characters", lines),
    ("files end in one newline", final_newlines),
    ("headers are read once", guards),
    ("nothing is left unfinished", unfinished),
    (f"{README} has at most {README_WORDS_MAX} words and lines of at most {README_LINE_MAX} characters", readme),
    ("links in documents lead to files that there are", links),
    ("the document of the protocol has the version of the program", protocol),
    ("lines for people are made fit to be shown", words),
    ("functions bear that nobody wants their error", unread_errors),
]

# The self-test: (check, file, text, number of complaints)
CASES = [
    (paragraphs, "a.c", "/* x */\n", 0),
    (paragraphs, "a.c", "int x;\n", 1),
    (paragraphs, "a.h", "\n/* x */\n", 1),
    (paragraphs, "a.c", f"/* {LICENCE} */\n/* x */\n", 0),
    (paragraphs, "a.c", f"/* {LICENCE} */\nint x;\n", 1),
    (licences, "a.c", f"/* {LICENCE} */\n/* x */\n", 0),
    (licences, "a.c", f"/* x */\n/* {LICENCE} */\n", 1),
    (licences, "a.h", f"// {LICENCE}\n", 1),
    (licences, "a.c.in", "", 1),
    (licences, "a.cpp", f"// {LICENCE}\n", 0),
    (licences, "a.f90", f"! {LICENCE}\n", 0),
    (licences, "a.7", f'.\\" {LICENCE}\n.Dd x\n', 0),
    (licences, "a.py", f"#!/usr/bin/env python3\n# {LICENCE}\n", 0),
    (licences, "a.py", "#!/usr/bin/env python3\n\n", 1),
    (licences, "meson.build", f"# {LICENCE}.0\n", 1),
    (licences, "_a", f"#compdef a\n# {LICENCE}\n", 0),
    (licences, "run", "#!/bin/sh\n", 1),
    (licences, "data", "a\n", 0),
    (licences, "a.md", "# A\n", 0),
    (lines, "a.c", "x" * 140 + "\n", 0),
    (lines, "a.c", "x" * 141 + "\n", 1),
    (lines, "a.c", "\tx\n", 1),
    (lines, "a.c", "x \n", 1),
    (lines, "a.h", "x\r\n", 1),
    (final_newlines, "a.c", "x\n", 0),
    (final_newlines, "a.c", "", 0),
    (final_newlines, "a.c", "x", 1),
    (final_newlines, "meson.build", "x\n\n", 1),
    (guards, "a.h", "/* x */\n#pragma once\n", 0),
    (guards, "a.h", "/* x */\n#ifndef A_H\n#define A_H\n#endif\n", 0),
    (guards, "a.h", "/* x */\n#ifndef A_H\n#define B_H\n#endif\n", 1),
    (guards, "a.h", "/* x */\nint f(void);\n", 1),
    (guards, "a.h", "/* A template: no include guard. */\nint f(void);\n", 0),
    (guards, "a.h", f"/* {LICENCE} */\n/* A template: no include guard. */\nint f(void);\n", 0),
    (guards, "a.h", "/* x */\nint f(void); /* no include guard */\n", 1),
    (unfinished, "a.c", "/* " + "TO" + "DO later */\n", 1),
    (unfinished, "a.py", "# FIX" + "ME\n", 1),
    (unfinished, "a.h", "/* X" + "XX */\n", 1),
    (readme, README, "x " * 900, 1),  # one line
    (readme, README, "x\n" * 900, 0),
    (readme, README, "x\n" * 901, 1),
    (links, "a.md", "[a](a.md) [b](a.md#b) [c](#c) [d](https://d.example/d)\n", 0),
    (links, "a.md", "![p](docs/p.svg)\n[q](q.md)\n", 2),
    (words, "master/a.c", 'fprintf(stderr, "%s: lost\\n", name);', 1),
    (words, "master/a.c", 'fprintf(root->err, "a %" PRIu64 " of %-8s: "\n    "lost\\n", n, name);', 1),
    (words, "master/a.c", 'fprintf(stderr, "%u: lost\\n", rank);', 0),
    (words, "master/a.c", 'say(stderr, "%s: lost", name);', 0),
    (unread_errors, "proto/a.c", "int f(int a,\n      struct error *error)\n{\n    error->text[0] = 0;\n}\n", 1),
    (unread_errors, "proto/a.c", "int f(struct error *error)\n{\n    a = *error;\n}\n", 1),
    (unread_errors, "proto/a.c", "int f(struct error *error)\n{\n    *error = a;\n}\n", 1),
    (unread_errors, "proto/a.c", "int f(struct error *error)\n{\n    error = error_or(error, &own);\n    *error = a;\n}\n", 0),
    (unread_errors, "proto/a.c", "int f(struct error *error)\n{\n    struct error *error_of = 0;\n    return error_set(error, 0);\n}\n", 0),
    (unread_errors, "proto/a.c", "int f(const struct error *error)\n{\n    puts(error->text);\n}\n", 0),
    (unfinished, "a.h", "/* mkstemp(\"aXX" + "XXXX\") */\n", 0),
]


def self_test_case(check, name, text, expected):
    return tap.self_test(check, {name: text}, expected)


def main(words):
    if words == ["--self-test"]:
        return tap.run([(f"{case[0].__name__}: {case[2]!r:.40}", lambda case=case: self_test_case(*case))
                        for case in CASES])
    if len(words) != 1:
        sys.exit(__doc__)
    return tap.run([(name, lambda check=check: check(words[0])) for name, check in CHECKS])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
