#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The site can be made, and read from disk: each link leads to a page and a place that there are, and no page loads anything from elsewhere.

    links.py BUILD ROOT HDSS PAGE...    makes it by BUILD (docs/site/build.py) of the tree at ROOT, the program HDSS and the man pages
    links.py --self-test                shows on made-up pages that the check finds what it is for
"""
import html.parser
import os
import re
import subprocess
import sys
import tempfile
import urllib.parse

import source
import tap

LOADED = {("link", "href"), ("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("object", "data")}
FROM_ELSEWHERE = re.compile(r"""(?:url\(|@import)\s*["']?(?:https?:)?//""")


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.places = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("id", "name"):
                self.places.add(value)
            elif name in ("href", "src", "data") and value:
                self.links.append((tag, name, value))


def files_of(folder, ending):
    return sorted(os.path.join(at, name) for at, _, names in os.walk(folder) for name in names if name.endswith(ending))


def complaints_of(folder):
    pages = {path: Page(source.read(path)) for path in files_of(folder, ".html")}
    found = [] if pages else ["there is no page"]
    for path, page in pages.items():
        shown = os.path.relpath(path, folder)
        for tag, name, value in page.links:
            link = urllib.parse.urlsplit(value)
            if link.scheme or link.netloc:
                if (tag, name) in LOADED and link.scheme != "data":
                    found.append(f"{shown}: loads {value}")
                continue
            target = os.path.normpath(os.path.join(os.path.dirname(path), urllib.parse.unquote(link.path))) if link.path else path
            if not os.path.isfile(target):
                found.append(f"{shown}: there is no {value}")
            elif link.fragment and target in pages and urllib.parse.unquote(link.fragment) not in pages[target].places:
                found.append(f"{shown}: there is no place {value}")
    return found + [f"{os.path.relpath(path, folder)}: loads from elsewhere" for path in files_of(folder, ".css") if FROM_ELSEWHERE.search(source.read(path))]


def check(build, root, program, pages):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, build, root, folder, program, *pages], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            return done.stdout.strip() if done.stdout.startswith("docs: there is no") else done.stdout.strip().split("\n")
        return complaints_of(os.path.join(folder, "html"))


CASES = [
    ("good links", {"a.html": '<p id="x"><a href="b/c.html#y">c</a> <a href="#x">x</a> <a href="https://there.example">t</a>',
                    "b/c.html": '<h1 id="y">y</h1> <a href="../a.html">a</a> <img src="../p.png">', "p.png": "", "s.css": "a { background: url(p.png) }"}, 0),
    ("a page, a place and a picture that there are not", {"a.html": '<a href="b.html">b</a> <a href="#x">x</a> <img src="p.png">'}, 3),
    ("what is loaded from elsewhere", {"a.html": '<script src="https://there.example/s.js"></script> <link href="//there.example/s.css">',
                                       "s.css": "@import 'https://there.example/t.css'"}, 3),
    ("no page", {"s.css": ""}, 1),
]


def main(words):
    if words == ["--self-test"]:
        return tap.run([(what, lambda case=case: tap.self_test(complaints_of, *case)) for what, *case in CASES])
    if len(words) < 4:
        sys.exit(__doc__)
    return tap.run([("the site has all that its pages lead to, and loads nothing from elsewhere", lambda: check(words[0], words[1], words[2], words[3:]))])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
