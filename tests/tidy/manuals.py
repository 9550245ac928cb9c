#!/usr/bin/env python3
"""Each option that a program's --help shows is in its man page, and each option of the man page in its --help.

    manuals.py PROGRAM MANUAL [COMMAND...]    COMMAND: those of the program that have a --help of their own
    manuals.py --self-test
"""
import os
import re
import subprocess
import sys

import tap

OPTION = re.compile(r"(?<![\w-])--([a-z][a-z0-9-]*[a-z0-9])")
MDOC_OPTION = re.compile(r"\bFl +-([a-z][a-z0-9-]*[a-z0-9])")


def options(text):
    return set(OPTION.findall(text))


def manual_options(text):
    r"""Options of roff text, where a dash may be \- and a font change (\fB) may stand before it."""
    plain = re.sub(r"\\f(\[\w*\]|.)|\\&", " ", text.replace("\\-", "-"))
    plain = re.sub(r'^[.\']\s*\\".*$', "", plain, flags=re.MULTILINE)
    return options(plain) | set(MDOC_OPTION.findall(plain))


def help_of(command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, timeout=60)
    if done.returncode != 0:
        raise RuntimeError(f"'{' '.join(command)}' exits with {done.returncode}: {done.stdout.strip()}")
    return done.stdout


def compare(shown, written):
    """Complaints about the two sets of options."""
    return ([f"--{option} is in --help, not in the manual" for option in sorted(shown - written)]
            + [f"--{option} is in the manual, not in --help" for option in sorted(written - shown)])


def check(program, manual, commands):
    for path in (program, manual):
        if not os.path.exists(path):
            return f"{os.path.basename(path)} does not exist"
    shown = set()
    try:
        for command in [[]] + [[word] for word in commands]:
            shown |= options(help_of([program] + command + ["--help"]))
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
        return [str(error)]
    with open(manual, encoding="utf-8") as file:
        return compare(shown, manual_options(file.read())) if shown else ["--help shows no option"]


CASES = [
    ("plain words", options("  --output FILE   (--resume), [--min-chunk K]\n--x"), {"output", "resume", "min-chunk"}),
    ("no words with dashes inside", options("a--b ---c foo-bar"), set()),
    ("roff dashes", manual_options(r"\fB\-\-min\-chunk\fR \fIK\fR"), {"min-chunk"}),
    ("roff macros", manual_options('.B \\-\\-help\n.TP\n.BR --output " FILE"\n'), {"help", "output"}),
    ("roff comments", manual_options('.\\" --not-this\n.B --this'), {"this"}),
    ("mdoc", manual_options(".It Fl -report Ar file\n.Op Fl -min-chunk Ar k"), {"report", "min-chunk"}),
]


def self_test():
    def differs(got, expected):
        return [] if got == expected else [f"expected {expected}, got {got}"]
    return tap.run([(what, lambda got=got, expected=expected: differs(got, expected)) for what, got, expected in CASES]
                   + [("both ways", lambda: differs(len(compare({"a1", "b1"}, {"b1", "c1"})), 2))])


def main(words):
    if words == ["--self-test"]:
        return self_test()
    if len(words) < 2:
        sys.exit(__doc__)
    name = " ".join(os.path.basename(word) for word in words[:2])
    return tap.run([(name, lambda: check(words[0], words[1], words[2:]))])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
