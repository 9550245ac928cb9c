#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Man pages and --help agree. A page describes the options that --help of its program or commands shows, and no others; where --help lists words for a
value, so does the page. A synopsis without `option ...` has them all. Each command has one page, in whose NAME it is, and hdss.1 refers to each page. An
option that any page mentions is one of some program. hdss-techniques.7 lists the techniques that `hdss techniques` lists, and the README says how many.

    manuals.py PROGRAM MANUAL                 a daemon
    manuals.py --commands HDSS MANUAL...      the commands of hdss and their pages, the first of which is hdss.1
    manuals.py --mentions ROOT PROGRAM...     all pages
    manuals.py --techniques HDSS MANUAL README
    manuals.py --self-test
"""
import os
import re
import subprocess
import sys

import mdoc
import source
import tap

COMMON = {"help", "version"}
FIRST_WORDS = {"serve"}  # of the supermaster of a set, which is no option
COMMANDS = re.compile(r"^Commands:\n((?:  \S.*\n)+)", re.MULTILINE)
OPTION = re.compile(r"^  (?:-\w, )?--([a-z][a-z0-9-]*[a-z0-9])(?:[ =[]*(\S+))?", re.MULTILINE)
MDOC_OPTION = re.compile(r"\bFl (?:\S , )?(?:\( )?-([a-z][a-z0-9-]*[a-z0-9])(?:( [^,]*)?)")
FURTHER_OPTION = re.compile(r"(?<=, )(-[a-z][a-z0-9-]*[a-z0-9])")
TECHNIQUE = re.compile(r"([a-z][a-z0-9-]*(?: \([a-z0-9-]+\))?)  +(\S.*?)  +[x-] [x-] [x-]$", re.MULTILINE)
MDOC_ROW = re.compile(r'^\.It Cm "?([a-z][^"\n]*?)"? Ta "([^"\n]+)"$', re.MULTILINE)


def help_of(command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, timeout=60)
    if done.returncode != 0:
        raise RuntimeError(f"'{' '.join(command)}' exits with {done.returncode}: {done.stdout.strip()}")
    return done.stdout


def shown_options(text):
    """{option: the words that its value may be} of --help; a value such as "auto|TIME" has the word auto."""
    return {name: {word for word in value.strip("[],").split("|") if "|" in value and re.fullmatch(r"[a-z][a-z-]*", word)}
            for name, value in OPTION.findall(text)}


def mdoc_options(line):
    """[(option, what follows it)] of one line of mdoc."""
    return MDOC_OPTION.findall(FURTHER_OPTION.sub(r"Fl \1", line)) if "Fl " in line else []


def described_options(text):
    """{option: its items}, of the items of lists that begin with options."""
    found = {}
    for line in re.findall(r"^\.It (Fl .*)$", text, re.MULTILINE):
        for name, rest in mdoc_options(line):
            found[name] = found.get(name, "") + rest + " "
    return found


def mentioned_options(text):
    return {name for line in text.splitlines() if line.startswith(".") for name, _ in mdoc_options(line)}


def compare(shown, written):
    """Complaints about the options of --help and those that the page describes."""
    complaints = [f"--{option} is in --help, not in the manual" for option in sorted(set(shown) - set(written))]
    complaints += [f"--{option} is in the manual, not in --help" for option in sorted(set(written) - set(shown))]
    for option in sorted(set(shown) & set(written)):
        lacking = shown[option] - set(written[option].split())
        if lacking:
            complaints.append(f"--{option} lacks {' '.join(sorted(lacking))} in the manual")
    return complaints


def listed_commands(text):
    found = COMMANDS.search(text)
    return [line.split()[0] for line in found.group(1).splitlines()] if found else []


def synopses(text):
    """[(command, its options or None where all are meant)] of the SYNOPSIS."""
    parts = re.findall(r"^\.Nm [^\n]*\n\.Cm (\S+)\n(.*?)(?=^\.Nm |\Z)", mdoc.section(text, "SYNOPSIS"), re.MULTILINE | re.DOTALL)
    return [(command, None if "Ar option ..." in words else mentioned_options(words)) for command, words in parts]


def compare_commands(listed, pages):
    """Complaints; `pages` is {name of the page: its text}."""
    homes = {}
    for page, text in pages.items():
        for command in dict(synopses(text)):
            homes.setdefault(command, []).append(page)
    complaints = [f"{command} has no page" for command in listed if command not in homes]
    complaints += [f"{command} is in {' and '.join(found)}" for command, found in homes.items() if len(found) > 1]
    return complaints + [f"{command} is in {found[0]}, not in --help" for command, found in homes.items() if command not in listed]


def compare_page(page, text, shown, others):
    """Complaints about a page of commands; `shown` is {command: its options}, `others` the names in other sections, which man finds first or as well."""
    complaints = []
    every = {}
    for command, options in synopses(text):
        of_it = {name: words for name, words in shown.get(command, {}).items() if name not in COMMON}
        every.update({name: every.get(name, set()) | words for name, words in of_it.items()})
        if options is not None:
            complaints += [f"the synopsis of {command} lacks --{name}" for name in sorted(set(of_it) - options)]
            complaints += [f"the synopsis of {command} has --{name}, --help has not" for name in sorted(options - set(of_it))]
        if f"hdss-{command}" not in mdoc.names(text) and f"hdss-{command}" not in others:
            complaints.append(f"hdss-{command} is not in its NAME")
    return [f"{page}: {complaint}" for complaint in complaints + compare(every, described_options(text))]


def check(program, manual):
    return compare(shown_options(help_of([program, "--help"])), described_options(source.read(manual)))


def check_commands(program, manuals):
    pages = {os.path.basename(path): source.read(path) for path in manuals}
    overview, *of_commands = pages
    listed = listed_commands(help_of([program, "--help"]))
    shown = {command: shown_options(help_of([program, command, "--help"])) for command in listed}
    complaints = compare_commands(listed, {page: pages[page] for page in of_commands})
    complaints += [f"{overview}: {complaint}" for complaint in compare(shown_options(help_of([program, "--help"])), described_options(pages[overview]))]
    referred = {f"{name}.{number}" for name, number in mdoc.REFERENCE.findall(pages[overview])}
    complaints += [f"{overview} does not refer to {page}" for page in of_commands if page not in referred]
    others = {name.rsplit(".", 1)[0] for name in referred if not name.endswith(".1")}
    for page in of_commands:
        complaints += compare_page(page, pages[page], shown, others)
    return complaints if shown else ["--help lists no command"]


def check_mentions(root, programs):
    known = COMMON | FIRST_WORDS
    for program in programs:
        text = help_of([program, "--help"])
        for words in [[]] + [[command] for command in listed_commands(text)]:
            known |= set(shown_options(help_of([program] + words + ["--help"])))
    return [f"{path}: --{name} is no option" for path in source.files(root, mdoc.PAGES) for name in sorted(mentioned_options(source.read(root, path)) - known)]


def listed_techniques(text):
    """[(name, title)] as `hdss techniques` lists them; the name with its alias."""
    return TECHNIQUE.findall(text)


def compare_techniques(shown, written):
    """Complaints; both are [(name, title)], in their order."""
    complaints = [f"{name}: {title} is listed, and is not in the manual" for name, title in shown if (name, title) not in written]
    complaints += [f"{name}: {title} is in the manual, and is not listed" for name, title in written if (name, title) not in shown]
    return complaints or ([] if shown == written else [f"the manual has another order: {' '.join(name for name, _ in written)}"])


def compare_count(count, text):
    """Complaints unless the text says once how many techniques there are."""
    said = re.findall(r"\b(\d+) scheduling techniques\b", text)
    return [] if said == [str(count)] else [f"{count} are listed; the README says: {', '.join(said) or 'nothing'}"]


def check_techniques(program, manual, readme):
    shown = listed_techniques(help_of([program, "techniques"]))
    if not shown:
        return ["no technique is listed"]
    return compare_techniques(shown, MDOC_ROW.findall(source.read(manual))) + compare_count(len(shown), source.read(readme))


LIST = "name        title        C W L\nss          self         x - -\nfac2 (fss)  by two, too  - x x\n\nC: some  x - - words.\n"
ROWS = '.It Cm ss Ta "self"\n.It Cm "fac2 (fss)" Ta "by two, too"\n.It Cm {} Ta "all"\n'
BOTH = [("ss", "self"), ("fac2 (fss)", "by two, too")]
HELP = "Options:\n  -j, --workers W        in all, see --no-such\n  --carrier auto|local\n                         what --x does\n  --resume [failed]      go on\n  --shell[=PROGRAM]  a\n"
PAGE = (".Sh NAME\n.Nm hdss-run ,\n.Nm hdss-down\n.Nd x\n.Sh SYNOPSIS\n.Nm hdss\n.Cm run\n.Op Fl -all\n.Ar k\n.Nm hdss\n.Cm down\n.Op Ar option ...\n"
        ".Sh DESCRIPTION\n.Nm x\n.Cm c\n.It Fl a , Fl -all\n.It Fl -format Cm text | json\nsee\n.Fl -far .\n")
OF_PAGE = {"run": {"all": set(), "help": set()}, "down": {"format": {"text", "json"}}}

CASES = [
    ("the list of techniques", listed_techniques(LIST), [("ss", "self"), ("fac2 (fss)", "by two, too")]),
    ("the techniques of the manual", MDOC_ROW.findall(ROWS), BOTH),
    ("equal techniques", compare_techniques(BOTH, list(BOTH)), []),
    ("a technique too few and one too many", len(compare_techniques(BOTH, [BOTH[0], ("c", "C")])), 2),
    ("another title", len(compare_techniques(BOTH, [BOTH[0], ("fac2 (fss)", "by two")])), 2),
    ("another order", len(compare_techniques(BOTH, BOTH[::-1])), 1),
    ("their number", compare_count(2, "There are 2 scheduling techniques."), []),
    ("another number, and none", len(compare_count(2, "There are 25 scheduling techniques.") + compare_count(2, "techniques")), 2),
    ("commands", listed_commands("Usage: x\n\nCommands:\n  run   K ...  run\n  up  a set\n\n  -h\n"), ["run", "up"]),
    ("commands of the SYNOPSIS", synopses(PAGE), [("run", {"all"}), ("down", None)]),
    ("options of --help", shown_options(HELP), {"workers": set(), "carrier": {"auto", "local"}, "resume": set(), "shell": set()}),
    ("options that are described", set(described_options(PAGE)), {"all", "format"}),
    ("options that are mentioned", mentioned_options(PAGE + ".Op Fl -max Ar k\n.Pq Fl -par Ar k\n.Ev ( X , Fl -late )\n--text\n"), {"all", "format", "far", "max", "par", "late"}),
    ("two in one item", set(described_options(".It Fl N , -nodes Ar N\n.It Fl -a1 Ar x , Fl -b1\n")), {"nodes", "a1", "b1"}),
    ("a good page", compare_page("x.1", PAGE, OF_PAGE, set()), []),
    ("an option too few in the synopsis and in the page", len(compare_page("x.1", PAGE.replace("-all", "-al"), OF_PAGE, set())), 4),
    ("a word too few", len(compare_page("x.1", PAGE.replace("text | json", "text"), OF_PAGE, set())), 1),
    ("a name too few", len(compare_page("x.1", PAGE.replace(".Nm hdss-run ,\n", ""), OF_PAGE, set())), 1),
    ("a name of another section", compare_page("x.1", PAGE.replace(".Nm hdss-run ,\n", ""), OF_PAGE, {"hdss-run"}), []),
    ("pages of all commands", compare_commands(["run", "down"], {"x.1": PAGE}), []),
    ("a command without a page, and one too many", len(compare_commands(["run", "up"], {"x.1": PAGE})), 2),
    ("a command in two pages", len(compare_commands(["run", "down"], {"x.1": PAGE, "y.1": PAGE.replace(".Cm down", ".Cm run")})), 1),
    ("both ways", len(compare({"a1": set(), "b1": set()}, {"b1": "", "c1": ""})), 2),
]


def self_test():
    def differs(got, expected):
        return [] if got == expected else [f"expected {expected}, got {got}"]
    return tap.run([(what, lambda got=got, expected=expected: differs(got, expected)) for what, got, expected in CASES])


def main(words):
    if words == ["--self-test"]:
        return self_test()
    checks = {"--mentions": check_mentions, "--commands": check_commands}
    if not words or len(words) < {"--techniques": 4}.get(words[0], 3 if words[0] in checks else 2):
        sys.exit(__doc__)
    if words[0] == "--techniques":
        return tap.run([(os.path.basename(words[2]), lambda: check_techniques(*words[1:]))])
    if words[0] in checks:
        return tap.run([(words[0].strip("-"), lambda: checks[words[0]](words[1], words[2:]))])
    return tap.run([(" ".join(os.path.basename(word) for word in words), lambda: check(words[0], words[1]))])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
