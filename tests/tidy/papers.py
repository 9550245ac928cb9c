#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""CITATION.cff can be read and has what a citation needs, and each paper that a comment names by its key ([DCA] Table 2) is in it.

    papers.py ROOT          checks the tree at ROOT, TAP on standard output
    papers.py --self-test   shows on made-up trees that each check finds what it is for
"""
import os
import re
import sys
import tempfile

import source
import tap

try:
    import yaml
except ImportError:
    yaml = None

CITATION = "CITATION.cff"
NEEDED = ("cff-version", "message", "title", "authors", "version", "date-released", "license", "references")
NEEDED_OF_PAPERS = ("abbreviation", "type", "authors", "title", "year")
DOI = re.compile(r"10\.\d{4,9}/[-._;()/:A-Za-z0-9]+")
KEY = re.compile(r"\[(\d?[A-Z][A-Z0-9]{0,4})\]")
DEFINED = re.compile(r"^  - abbreviation: (\w+)$", re.MULTILINE)


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


def keys(root):
    defined = set(DEFINED.findall(source.read(root, CITATION)))
    return [f"{path}:{line}: [{key}] is no paper of {CITATION} ({', '.join(sorted(defined))})" for path in source.files(root)
            for line, comment in comments(source.read(root, path)) for key in KEY.findall(comment) if key not in defined]


CHECKS = [("CITATION.cff has what a citation needs", citation), ("comments name papers of CITATION.cff", keys)]

HEAD = "cff-version: 1.2.0\nmessage: x\ntitle: x\nauthors: [{name: x}]\nversion: 1\ndate-released: 2000-01-01\nlicense: MIT\nreferences:\n"
PAPER = "  - abbreviation: AB\n    type: article\n    authors: [{family-names: A, given-names: B}]\n    title: x\n    year: 1\n    journal: x\n"

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
    (keys, {CITATION: PAPER, "a.c": "/* [AB] eq 2. */\nint x[AC];\nchar *s = \"/* [AD] */\";\n"}, 0),
    (keys, {CITATION: PAPER, "a.h": "/* [AC] */ // [2L]\n"}, 2),
]


def self_test_case(check, texts, expected):
    if check is citation and yaml is None:
        return "no PyYAML"
    with tempfile.TemporaryDirectory() as root:
        for name, text in texts.items():
            with open(os.path.join(root, name), "w", encoding="utf-8") as file:
                file.write(text)
        complaints = check(root)
    return [] if len(complaints) == expected else [f"expected {expected} complaints, got {complaints}"]


def main(words):
    if words == ["--self-test"]:
        return tap.run([(f"{case[0].__name__}: {str(case[1])[-50:]}", lambda case=case: self_test_case(*case)) for case in CASES])
    if len(words) != 1:
        sys.exit(__doc__)
    return tap.run([(name, lambda check=check: check(words[0])) for name, check in CHECKS])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
