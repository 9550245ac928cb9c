#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/how-to.md: each section's lines are typed in a folder of their own, and print what the page says."""
import sys

from launch import main
from typed import follow, sections_of, steps_of

SECTIONS = [(title, steps_of(body)) for title, body in sections_of('docs/how-to.md')]


def section(title, steps):
    def test():
        follow(steps)
    test.__name__ = 'test_' + title
    return test


if __name__ == '__main__':
    sys.exit(main([section(title, steps) for title, steps in SECTIONS if steps]))
