#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each option that a program's --help shows is in its man page, and each option of the man page in its --help; so are its
commands and those of the SYNOPSIS. Each technique that `hdss techniques` lists has its section in hdss-techniques.7, with its parameters, and no others are there.

    manuals.py PROGRAM MANUAL [COMMAND...]    COMMAND: those of the program that have a --help of their own
    manuals.py --techniques HDSS MANUAL
    manuals.py --self-test
"""
import os
import re
import subprocess
import sys

import tap

COMMANDS = re.compile(r"^Commands:\n((?:  \S.*\n)+)", re.MULTILINE)
SYNOPSIS = re.compile(r"^\.Sh SYNOPSIS\n(.*?)^\.Sh ", re.MULTILINE | re.DOTALL)
OPTION = re.compile(r"(?<![\w-])--([a-z][a-z0-9-]*[a-z0-9])")
MDOC_OPTION = re.compile(r"\bFl +-([a-z][a-z0-9-]*[a-z0-9])")
TECHNIQUE = re.compile(r"([a-z][a-z0-9-]*(?: \([a-z0-9-]+\))?)  +(\S.*?)  +[x-] [x-] [x-]$", re.MULTILINE)
PARAMETER = re.compile(r"^  ([a-z]+)=$", re.MULTILINE)
MDOC_SECTION = re.compile(r"^\.Ss ([^:\n]+): (.+)\n((?:(?!\.S[sh] ).*\n)*)", re.MULTILINE)
MDOC_PARAMETER = re.compile(r"^\.It Cm ([a-z]+) Ns = ", re.MULTILINE)


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


def listed_commands(text):
    found = COMMANDS.search(text)
    return [line.split()[0] for line in found.group(1).splitlines()] if found else []


def synopsis_commands(text):
    found = SYNOPSIS.search(text)
    return re.findall(r"^\.Nm .*\n\.Cm (\S+)$", found.group(1), re.MULTILINE) if found else []


def compare_commands(shown, written):
    return ([f"{command} is in --help, not in the SYNOPSIS" for command in shown if command not in written]
            + [f"{command} is in the SYNOPSIS, not in --help" for command in written if command not in shown])


def check(program, manual, commands):
    for path in (program, manual):
        if not os.path.exists(path):
            return f"{os.path.basename(path)} does not exist"
    shown = set()
    try:
        listed = listed_commands(help_of([program, "--help"]))
        for command in [[]] + [[word] for word in commands]:
            shown |= options(help_of([program] + command + ["--help"]))
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
        return [str(error)]
    with open(manual, encoding="utf-8") as file:
        text = file.read()
    return compare(shown, manual_options(text)) + compare_commands(listed, synopsis_commands(text)) if shown else ["--help shows no option"]


def listed_techniques(text):
    """[(name, title)] as `hdss techniques` lists them; the name with its alias."""
    return TECHNIQUE.findall(text)


def manual_techniques(text):
    """{name: (title, parameters)} of the sections `.Ss name: title`, in their order."""
    return {name: (title, MDOC_PARAMETER.findall(body)) for name, title, body in MDOC_SECTION.findall(text)}


def compare_techniques(shown, written):
    """Complaints; both are {name: (title, parameters)}."""
    complaints = [f"{name} is listed, and has no section" for name in shown if name not in written]
    complaints += [f"{name} has a section, and is not listed" for name in written if name not in shown]
    if not complaints and list(shown) != list(written):
        complaints.append(f"the sections are in another order: {' '.join(written)}; listed: {' '.join(shown)}")
    for name in set(shown) & set(written):
        for what, in_list, in_manual in zip(("title", "parameters"), shown[name], written[name]):
            if in_list != in_manual:
                complaints.append(f"{name}: {what} {in_manual} in the manual, listed {in_list}")
    return complaints


def check_techniques(program, manual):
    shown = {name: (title, PARAMETER.findall(help_of([program, "techniques", name.split()[0]])))
             for name, title in listed_techniques(help_of([program, "techniques"]))}
    with open(manual, encoding="utf-8") as file:
        return compare_techniques(shown, manual_techniques(file.read())) if shown else ["no technique is listed"]


LIST = "name        title        C W L\nss          self         x - -\nfac2 (fss)  by two, too  - x x\n\nC: some  x - - words.\n"
SECTIONS = (".Ss Words\nx\n.Ss ss: self\n.It Cm chunk Ns = Ns Ar K\n.El\n.Ss fac2 (fss): by two, too\ntext\n.It Cm x Ns = Ns Cm a\n"
            ".It Cm yy Ns = Ns Ar b\n.Sh END\n.It Cm z Ns = Ns Ar c\n")
BOTH = {"a": ("A", ["p"]), "b": ("B", [])}

CASES = [
    ("the list of techniques", listed_techniques(LIST), [("ss", "self"), ("fac2 (fss)", "by two, too")]),
    ("the sections of techniques", manual_techniques(SECTIONS), {"ss": ("self", ["chunk"]), "fac2 (fss)": ("by two, too", ["x", "yy"])}),
    ("parameters of a technique", PARAMETER.findall("rule  K=\n  a=\n     b=\n  lo=\n"), ["a", "lo"]),
    ("equal techniques", compare_techniques(BOTH, dict(BOTH)), []),
    ("a technique too few and one too many", len(compare_techniques(BOTH, {"a": BOTH["a"], "c": ("C", [])})), 2),
    ("another order", len(compare_techniques(BOTH, dict(reversed(BOTH.items())))), 1),
    ("another title and a parameter too many", len(compare_techniques(BOTH, {"a": ("X", ["p", "q"]), "b": ("B", [])})), 2),
    ("commands", listed_commands("Usage: x\n\nCommands:\n  run   K ...  run\n  up  a set\n\n  -h\n"), ["run", "up"]),
    ("commands of the SYNOPSIS", synopsis_commands(".Sh SYNOPSIS\n.Nm x\n.Cm run\n.Op Cm a\n.Nm x\n.Cm down\n.Sh DESCRIPTION\n.Nm x\n.Cm c\n"),
     ["run", "down"]),
    ("a command too few and one too many", len(compare_commands(["run", "up"], ["run", "down"])), 2),
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
    if len(words) == 3 and words[0] == "--techniques":
        return tap.run([(os.path.basename(words[2]), lambda: check_techniques(words[1], words[2]))])
    if len(words) < 2:
        sys.exit(__doc__)
    name = " ".join(os.path.basename(word) for word in words[:2])
    return tap.run([(name, lambda: check(words[0], words[1], words[2:]))])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
