#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the files that the tests of some suites need, for ninja: what only others need is not built.

    needed.py BUILD [--suite NAME]... [--no-suite NAME]...    the words as `meson test` takes them
"""
import argparse
import json
import os
import sys


def arguments(words):
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('build')
    parser.add_argument('--suite', action='append', default=[])
    parser.add_argument('--no-suite', action='append', default=[])
    return parser.parse_args(words)


def read(build, name):
    with open(os.path.join(build, 'meson-info', f'intro-{name}.json'), encoding='utf-8') as file:
        return json.load(file)


def main(words):
    chosen = arguments(words)
    needed = set()
    for test in read(chosen.build, 'tests'):
        suites = {suite.split(':')[-1] for suite in test['suite']}
        if suites & set(chosen.suite) and not suites & set(chosen.no_suite):
            needed.update(test['depends'])
    for target in read(chosen.build, 'targets'):
        if target['id'] in needed:
            for path in target['filename']:
                print(os.path.relpath(path, os.path.realpath(chosen.build)))


if __name__ == '__main__':
    main(sys.argv[1:])
