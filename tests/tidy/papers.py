#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""CITATION.cff can be read and has what a citation needs. docs/REFERENCES.md has each paper that a comment names by its key ([DCA] Table 2) or
by author and year (Welford 1962), and the same keys and titles as CITATION.cff.

    papers.py ROOT          checks the tree at ROOT, TAP on standard output
    papers.py --self-test   shows on made-up trees that each check finds what it is for
"""
import re
import sys

import source
import tap

try:
    import yaml
except ImportError:
    yaml = None

CITATION, REFERENCES = "CITATION.cff", "docs/REFERENCES.md"
NEEDED = ("cff-version", "message", "title", "authors", "version", "date-released", "license", "references")
NEEDED_OF_PAPERS = ("abbreviation", "type", "authors", "title", "year")
DOI = re.compile(r"10\.\d{4,9}/[-._;()/:A-Za-z0-9]+")
KEY = re.compile(r"\[(\d?[A-Z][A-Z0-9]{0,4})\]")
WORK = re.compile(r"((?:[A-Z]\w+, )*(?:[A-Z]\w+ and )?[A-Z]\w+)(?: et al\.)?,? \(?((?:1[89]|20)\d\d)\b")
ENTRY = re.compile(r"^- (.*\n(?:  .*\n)*)", re.MULTILINE)
ENTRY_KEY = re.compile(r"\*\*\[(\w+)\]\*\* ")
ENTRY_TITLE = re.compile(r"\*([^*]+?)\.?\*")
CITED = re.compile(r"^  - abbreviation: (\w+)\n(?:    .*\n)*?    title: (.+)$", re.MULTILINE)


def paper_complaints(paper):
    name = paper.get("abbreviation", paper.get("title", "a paper"))
    complaints = [f"{CITATION}: {name} has no {field}" for field in NEEDED_OF_PAPERS if not paper.get(field)]
    if "doi" in paper and not DOI.fullmatch(str(paper["doi"])):
        complaints.append(f"{CITATION}: {name}: {paper['doi']} is no DOI (10.1109/..., without https://doi.org/)")
    if "journal" not in paper and "conference" not in paper:
        complaints.append(f"{CITATION}: {name} has neither journal nor conference")
    return complaints + [f"{CITATION}: {name}: an author without family-names and given-names" for author in paper.get("authors") or []
                         if not {"family-names", "given-names"} <= set(author)]


def citation(root):
    if yaml is None:
        return "no PyYAML"
    try:
        cited = yaml.safe_load(source.read(root, CITATION))
    except (OSError, yaml.YAMLError) as error:
        return [f"{CITATION}: {' '.join(str(error).split())}"]
    if not isinstance(cited, dict):
        return [f"{CITATION}: not a mapping"]
    return ([f"{CITATION}: no {field}" for field in NEEDED if not cited.get(field)]
            + [what for paper in cited.get("references") or [] for what in paper_complaints(paper)])


def comments(text):
    """(line, comment) of a C file."""
    for match in source.TOKEN.finditer(text):
        if match.group(0)[0] == "/":
            yield text.count("\n", 0, match.start()) + 1, match.group(0)


def one_line(text):
    return " ".join(re.sub(r"\n\s*\*? ?", " ", text).split())


def entries(root):
    return [one_line(entry) for entry in ENTRY.findall(source.read(root, REFERENCES))]


def keyed_titles(root):
    """{key: title} of the references."""
    found = [(ENTRY_KEY.match(entry), entry) for entry in entries(root)]
    return {key.group(1): ENTRY_TITLE.search(entry, key.end()).group(1) for key, entry in found if key}


def keys(root):
    defined = keyed_titles(root)
    return [f"{path}:{line}: [{key}] is no key of {REFERENCES} ({', '.join(sorted(defined))})" for path in source.files(root)
            for line, comment in comments(source.read(root, path)) for key in KEY.findall(comment) if key not in defined]


def works(root):
    """Surnames and year stand in one entry."""
    known = [set(re.findall(r"\w+", entry)) for entry in entries(root)]
    complaints = []
    for path in source.files(root):
        for line, comment in comments(source.read(root, path)):
            for names, year in WORK.findall(one_line(comment)):
                wanted = set(re.findall(r"[A-Z]\w+", names)) | {year}
                if not any(wanted <= words for words in known):
                    complaints.append(f"{path}:{line}: {names} {year} is no entry of {REFERENCES}")
    return complaints


def agreement(root):
    cited, defined = dict(CITED.findall(source.read(root, CITATION))), keyed_titles(root)
    return ([f"[{key}] is in one of {CITATION} and {REFERENCES}" for key in sorted(set(cited) ^ set(defined))]
            + [f"[{key}]: '{cited[key]}' in {CITATION}, '{defined[key]}' in {REFERENCES}"
               for key in sorted(set(cited) & set(defined)) if cited[key] != defined[key]])


CHECKS = [("CITATION.cff has what a citation needs", citation), ("comments name keys of REFERENCES.md", keys),
          ("works that comments name by author and year are in REFERENCES.md", works),
          ("REFERENCES.md and CITATION.cff have the same keys", agreement)]

HEAD = "cff-version: 1.2.0\nmessage: x\ntitle: x\nauthors: [{name: x}]\nversion: 1\ndate-released: 2000-01-01\nlicense: MIT\nreferences:\n"
PAPER = "  - abbreviation: AB\n    type: article\n    authors: [{family-names: A, given-names: B}]\n    title: x\n    year: 1\n    journal: x\n"
ENTRIES = "# R\n\n- **[AB]** B A. *x.*\n  Here: y.\n\n- A. Ay, B. Bee and C. LeCee 1999. *z.*\n- J. von Neumann 1941. *w.*\n"

# The self-test: (check, {file: text}, number of complaints)
CASES = [
    (citation, {CITATION: HEAD + PAPER}, 0),
    (citation, {CITATION: HEAD + PAPER + "    doi: 10.1109/X.2013.105\n"}, 0),
    (citation, {CITATION: HEAD + PAPER + "    doi: https://doi.org/10.1109/X.2013.105\n"}, 1),
    (citation, {CITATION: HEAD}, 1),
    (citation, {CITATION: HEAD + PAPER.replace("    year: 1\n", "")}, 1),
    (citation, {CITATION: HEAD + PAPER.replace("    journal: x\n", "")}, 1),
    (citation, {CITATION: HEAD + PAPER.replace("given-names", "names")}, 1),
    (citation, {CITATION: HEAD.replace("license: MIT\n", "") + PAPER}, 1),
    (citation, {CITATION: "a: [\n"}, 1),
    (citation, {CITATION: "- a\n"}, 1),
    (citation, {}, 1),
    (keys, {REFERENCES: ENTRIES, "a.c": "/* [AB] eq 2. */\nint x[AC];\nchar *s = \"/* [AD] */\";\n"}, 0),
    (keys, {REFERENCES: ENTRIES, "a.h": "/* [AC] */ // [2L]\n"}, 2),
    (works, {REFERENCES: ENTRIES, "a.c": "/* a (Ay, Bee and\n * LeCee 1999), Ay (1999). From von Neumann 1941. */\n"}, 0),
    (works, {REFERENCES: ENTRIES, "a.c": "/* Ay 2000, Dee 1999, Bee and Dee (1999) */\nint Ee = 1999;\n"}, 3),
    (agreement, {REFERENCES: ENTRIES, CITATION: HEAD + PAPER}, 0),
    (agreement, {REFERENCES: ENTRIES, CITATION: HEAD + PAPER.replace("title: x", "title: y")}, 1),
    (agreement, {REFERENCES: ENTRIES, CITATION: HEAD + PAPER.replace(": AB", ": AC")}, 2),
]


def self_test_case(check, texts, expected):
    if check is citation and yaml is None:
        return "no PyYAML"
    return tap.self_test(check, texts, expected)


def main(words):
    if words == ["--self-test"]:
        return tap.run([(f"{case[0].__name__}: {str(case[1])[-50:]}", lambda case=case: self_test_case(*case)) for case in CASES])
    if len(words) != 1:
        sys.exit(__doc__)
    return tap.run([(name, lambda check=check: check(words[0])) for name, check in CHECKS])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
