#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Man pages and --help agree. A page describes the options that --help of its program or commands shows, and no others. A synopsis without `option ...`
has them all. Each command has one page, in whose NAME it is, and hdss.1 refers to each page. An option that any page mentions is one of some program.
hdss-techniques.7 lists the techniques that `hdss techniques` lists, and the README says how many.

The list of options is made from the option table: an item with one option begins with its name, value and summary as --help shows them, up to a line with
a dot alone, after which the page says more. --record writes these parts anew; for a new option, add the line `.It Fl -NAME` first.

    manuals.py PROGRAM MANUAL [--record]              a daemon
    manuals.py --commands HDSS MANUAL... [--record]   the commands of hdss and their pages, the first of which is hdss.1
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
ROW = re.compile(r"^  (?:-(\w), )?--([a-z][a-z0-9-]*[a-z0-9])(\[=\S+|(?: \S+)?)(?:  +|\n {25})(\S.*(?:\n {25}.*)*)", re.MULTILINE)
ITEM = re.compile(r"^\.It Fl (?:\S , Fl )?-([a-z][a-z0-9-]*[a-z0-9])(?! .*(?:Fl |, )-[a-z])(?: .*)?$")
SENTENCE_END = re.compile(r"(?<=[^.][.!?]) (?=[A-Z`]|\./|\S+: )")
MARKED = re.compile(r"(`[^`]*`|(?<![\w-])--[a-z][a-z0-9-]*[a-z0-9])([,.;:)]*)")
OF_COMMANDS = re.compile(r"\bhdss ([a-z]+)")
WIDTH = 80
MDOC_OPTION = re.compile(r"\bFl (?:\S , )?(?:\( )?-([a-z][a-z0-9-]*[a-z0-9])")
FURTHER_OPTION = re.compile(r"(?<=, )(-[a-z][a-z0-9-]*[a-z0-9])")
TECHNIQUE = re.compile(r"([a-z][a-z0-9-]*(?: \([a-z0-9-]+\))?)  +(\S.*?)  +[x-] [x-] [x-]$", re.MULTILINE)
MDOC_ROW = re.compile(r'^\.It Cm "?([a-z][^"\n]*?)"? Ta "([^"\n]+)"$', re.MULTILINE)


def help_of(command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, timeout=60)
    if done.returncode != 0:
        raise RuntimeError(f"'{' '.join(command)}' exits with {done.returncode}: {done.stdout.strip()}")
    return done.stdout


def mdoc_options(line):
    """The options of one line of mdoc."""
    return MDOC_OPTION.findall(FURTHER_OPTION.sub(r"Fl \1", line)) if "Fl " in line else []


def described_options(text):
    """Options of the items of lists that begin with options."""
    return {name for line in re.findall(r"^\.It (Fl .*)$", text, re.MULTILINE) for name in mdoc_options(line)}


def mentioned_options(text):
    return {name for line in text.splitlines() if line.startswith(".") for name in mdoc_options(line)}


def rows(text):
    """{option: (letter, value, summary)} of --help."""
    return {name: (letter, value.strip(), " ".join(summary.split())) for letter, name, value, summary in ROW.findall(text)}


def item_line(name, letter, value):
    line = ".It " + (f"Fl {letter} , " if letter else "") + f"Fl -{name}"
    if value.startswith("[="):
        return f"{line} Ns Op = Ns Ar {value[2:-1]}"
    if value.startswith("["):
        return f"{line} Op Cm {value[1:-1]}"
    macro = "Cm" if re.fullmatch(r"[a-z|-]+|:", value) else "Ar"
    return line + (f" {macro} {value}" if value else "") + ("\\&" if value == ":" else "")


def filled(words):
    lines = [""]
    for word in words.split():
        if len(lines[-1]) + 1 + len(word) > WIDTH:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return [f"\\&{line}" if line.startswith(".") else line for line in lines] if words.strip() else []


def sentence_lines(sentence):
    """In mdoc: options and what stands between backquotes are marked, on lines of their own."""
    lines, at = [], 0
    sentence = sentence.replace("\\", "\\e")
    for found in MARKED.finditer(sentence):
        word, after = found.groups()
        before = sentence[at:found.start()]
        opening = before[len(before.rstrip("(")):]
        lines += filled(before[:len(before) - len(opening)])
        macro = f"Ic {word[1:-1]}" if word[0] == "`" else f"Fl {word[1:]}"
        macro = re.sub(r" (--?)(?=[a-z])", r" Fl \1", macro).replace(" Fl --", " Fl -") if word[0] == "`" else macro
        lines.append("." + (" ".join([macro.split(" ", 1)[0], *opening, macro.split(" ", 1)[1]]) if opening else macro) + "".join(f" {mark}" for mark in after))
        at = found.end()
    return lines + filled(sentence[at:])


def summary_lines(summary):
    first = (summary if re.match(r"\S+: ", summary) else summary[0].upper() + summary[1:]) + ("" if summary[-1] in ".!?" else ".")
    return [line for sentence in SENTENCE_END.split(first) for line in sentence_lines(sentence)]


def made(name, shown):
    """The lines of an item; `shown` is {command: {option: row}} of the commands that it may be about."""
    found = {}
    for command, options in shown.items():
        if name in options:
            found.setdefault(options[name], []).append(command)
    if not found:
        return None
    letter, value, _ = next(iter(found))
    lines = [item_line(name, letter, value)]
    if len(found) == 1:
        return lines + summary_lines(next(iter(found))[2])
    for (_, _, summary), commands in found.items():
        lines += [".Cm " + " , ".join(commands) + " :", *summary_lines(summary)]
    return lines


def recorded(text, shown):
    """The page with the parts that are made from --help; `shown` is {command: {option: row}}."""
    lines, out, commands, depth = text.split("\n"), [], shown, 0
    while lines:
        line = lines.pop(0)
        depth += line.startswith(".Bl") - line.startswith(".El")
        if line.startswith((".Sh ", ".Ss ")):
            named = OF_COMMANDS.findall(line)
            commands = {name: options for name, options in shown.items() if name in named} if named else shown
        found = ITEM.match(line) if depth == 1 else None
        new = made(found.group(1), commands) if found else None
        out += new or [line]
        if new:
            while not lines[0].startswith((".It ", ".El", ".S")) and lines[0] != ".":
                lines.pop(0)
    return "\n".join(out)


def compare_items(page, text, shown):
    new = recorded(text, shown).split("\n")
    differing = [line for line in new if line not in text.split("\n")]
    return [f"{page} differs from --help at '{differing[0]}'; --record writes it"] if differing else []


def compare(shown, written):
    """Complaints about the options of --help and those that the page describes."""
    complaints = [f"--{option} is in --help, not in the manual" for option in sorted(set(shown) - written)]
    return complaints + [f"--{option} is in the manual, not in --help" for option in sorted(written - set(shown))]


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
    """Complaints about a page of commands; `shown` is {command: its options}, `others` the names in other sections, which man finds as well."""
    complaints = []
    every = set()
    for command, options in synopses(text):
        of_it = set(shown.get(command, {})) - COMMON
        every |= of_it
        if options is not None:
            complaints += [f"the synopsis of {command} lacks --{name}" for name in sorted(of_it - options)]
            complaints += [f"the synopsis of {command} has --{name}, --help has not" for name in sorted(options - of_it)]
        if f"hdss-{command}" not in mdoc.names(text) and f"hdss-{command}" not in others:
            complaints.append(f"hdss-{command} is not in its NAME")
    return [f"{page}: {complaint}" for complaint in complaints + compare(every, described_options(text))]


def record(path, shown):
    text = source.read(path)
    with open(path, "w", encoding="utf-8") as file:
        file.write(recorded(text, shown))


def check(program, manual, records):
    text = help_of([program, "--help"])
    shown = {os.path.basename(program): rows(text)}
    if records:
        record(manual, shown)
    page = source.read(manual)
    return compare(rows(text), described_options(page)) + compare_items(os.path.basename(manual), page, shown)


def rows_of_page(program, text):
    return {command: rows(help_of([program, command, "--help"])) for command, _ in synopses(text)} or {"": rows(help_of([program, "--help"]))}


def check_commands(program, manuals, records):
    tables = {path: rows_of_page(program, source.read(path)) for path in manuals}
    if records:
        for path, shown in tables.items():
            record(path, shown)
    pages = {os.path.basename(path): source.read(path) for path in manuals}
    overview, *of_commands = pages
    listed = listed_commands(help_of([program, "--help"]))
    shown = {command: rows(help_of([program, command, "--help"])) for command in listed}
    complaints = compare_commands(listed, {page: pages[page] for page in of_commands})
    complaints += [f"{overview}: {complaint}" for complaint in compare(rows(help_of([program, "--help"])), described_options(pages[overview]))]
    referred = {f"{name}.{number}" for name, number in mdoc.REFERENCE.findall(pages[overview])}
    complaints += [f"{overview} does not refer to {page}" for page in of_commands if page not in referred]
    others = {name.rsplit(".", 1)[0] for name in referred if not name.endswith(".1")}
    for page in of_commands:
        complaints += compare_page(page, pages[page], shown, others)
    for path, of_page in tables.items():
        complaints += compare_items(os.path.basename(path), source.read(path), of_page)
    return complaints if shown else ["--help lists no command"]


def check_mentions(root, programs):
    known = COMMON | FIRST_WORDS
    for program in programs:
        text = help_of([program, "--help"])
        for words in [[]] + [[command] for command in listed_commands(text)]:
            known |= set(rows(help_of([program] + words + ["--help"])))
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
HELP = ("Options:\n  -j, --workers W        in all, see --no-such\n  --carrier auto|local\n                         send by `hdss x --y`, or\n"
        "                         more. local: by 'x\\ty' (default auto)\n  --resume [failed]      go on\n  --shell[=PROGRAM]      a\n")
PAGE = (".Sh NAME\n.Nm hdss-run ,\n.Nm hdss-down\n.Nd x\n.Sh SYNOPSIS\n.Nm hdss\n.Cm run\n.Op Fl -all\n.Ar k\n.Nm hdss\n.Cm down\n.Op Ar option ...\n"
        ".Sh DESCRIPTION\n.Nm x\n.Cm c\n.It Fl a , Fl -all\n.It Fl -format Cm text | json\nsee\n.Fl -far .\n")
OF_PAGE = {"run": {"all": ("", "", "a"), "help": ("h", "", "h")}, "down": {"format": ("", "text|json", "f")}}
LIST_PAGE = (".Ss hdss run\n.Bl -tag\n.It Fl -all\nOld.\n.\nMore.\n.It Fl -all , -format\nx\n.It Fl -gone\nold\n.El\n"
             ".Ss both\n.Bl -tag\n.It Fl -all Ar old\nold\n.El\n")
BOTH_ROWS = {"run": {"all": ("a", "", "do all")}, "down": {"all": ("a", "", "drop all")}}

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
    ("options of --help", rows(HELP), {"workers": ("j", "W", "in all, see --no-such"), "resume": ("", "[failed]", "go on"), "shell": ("", "[=PROGRAM]", "a"),
                                       "carrier": ("", "auto|local", "send by `hdss x --y`, or more. local: by 'x\\ty' (default auto)")}),
    ("an item", made("carrier", {"run": rows(HELP)}),
     [".It Fl -carrier Cm auto|local", "Send by", ".Ic hdss x Fl -y ,", "or more.", "local: by 'x\\ety' (default auto)."]),
    ("items with a letter and with values that may be left out", [made(name, {"run": rows(HELP)})[0] for name in ("workers", "resume", "shell")],
     [".It Fl j , Fl -workers Ar W", ".It Fl -resume Op Cm failed", ".It Fl -shell Ns Op = Ns Ar PROGRAM"]),
    ("a list written anew", recorded(LIST_PAGE, BOTH_ROWS), LIST_PAGE.replace(".It Fl -all\nOld.", ".It Fl a , Fl -all\nDo all.").replace(
        ".It Fl -all Ar old\nold", ".It Fl a , Fl -all\n.Cm run :\nDo all.\n.Cm down :\nDrop all.")),
    ("a list as it was written", compare_items("x.1", recorded(LIST_PAGE, BOTH_ROWS), BOTH_ROWS), []),
    ("a list that differs", len(compare_items("x.1", LIST_PAGE, BOTH_ROWS)), 1),
    ("options that are described", described_options(PAGE), {"all", "format"}),
    ("options that are mentioned", mentioned_options(PAGE + ".Op Fl -max Ar k\n.Pq Fl -par Ar k\n.Ev ( X , Fl -late )\n--text\n"),
     {"all", "format", "far", "max", "par", "late"}),
    ("two in one item", described_options(".It Fl N , -nodes Ar N\n.It Fl -a1 Ar x , Fl -b1\n"), {"nodes", "a1", "b1"}),
    ("a good page", compare_page("x.1", PAGE, OF_PAGE, set()), []),
    ("an option too few in the synopsis and in the page", len(compare_page("x.1", PAGE.replace("-all", "-al"), OF_PAGE, set())), 4),
    ("a name too few", len(compare_page("x.1", PAGE.replace(".Nm hdss-run ,\n", ""), OF_PAGE, set())), 1),
    ("a name of another section", compare_page("x.1", PAGE.replace(".Nm hdss-run ,\n", ""), OF_PAGE, {"hdss-run"}), []),
    ("pages of all commands", compare_commands(["run", "down"], {"x.1": PAGE}), []),
    ("a command without a page, and one too many", len(compare_commands(["run", "up"], {"x.1": PAGE})), 2),
    ("a command in two pages", len(compare_commands(["run", "down"], {"x.1": PAGE, "y.1": PAGE.replace(".Cm down", ".Cm run")})), 1),
    ("both ways", len(compare({"a1", "b1"}, {"b1", "c1"})), 2),
]


def self_test():
    def differs(got, expected):
        return [] if got == expected else [f"expected {expected}, got {got}"]
    return tap.run([(what, lambda got=got, expected=expected: differs(got, expected)) for what, got, expected in CASES])


def main(words):
    if words == ["--self-test"]:
        return self_test()
    checks = {"--mentions": check_mentions, "--commands": lambda program, pages: check_commands(program, pages, records)}
    records, words = "--record" in words, [word for word in words if word != "--record"]
    if not words or len(words) < {"--techniques": 4}.get(words[0], 3 if words[0] in checks else 2):
        sys.exit(__doc__)
    if words[0] == "--techniques":
        return tap.run([(os.path.basename(words[2]), lambda: check_techniques(*words[1:]))])
    if words[0] in checks:
        return tap.run([(words[0].strip("-"), lambda: checks[words[0]](words[1], words[2:]))])
    return tap.run([(" ".join(os.path.basename(word) for word in words), lambda: check(words[0], words[1], records))])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
