#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/how-to.md: each section's lines are typed in a folder of their own, and print what the page says."""
import re
import sys

from launch import main
from typed import commands, follow, read

SECTION = re.compile(r'^## (.+)\n((?:(?!## ).*\n)*)', re.MULTILINE)
TYPED = re.compile(r'^```console\n(.*?)^```$', re.MULTILINE | re.DOTALL)
SECTIONS = [(title, [step for block in TYPED.findall(body) for step in commands(block)]) for title, body in SECTION.findall(read('docs/how-to.md'))]


def section(title, steps):
    def test():
        follow(steps)
    test.__name__ = 'test_' + title
    return test


if __name__ == '__main__':
    sys.exit(main([section(title, steps) for title, steps in SECTIONS if steps]))
