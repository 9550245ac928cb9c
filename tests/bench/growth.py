# SPDX-License-Identifier: MIT
"""Work that is doubled takes twice the instructions, not four times: valgrind counts those of each subject of growth.c.

usage: growth.py PROGRAM

With twice as many of something a step may take a little longer (a heap, a tree), and no more: what needs more than LIMIT times the
instructions looks through all of them in each step. TAP on standard output.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

LIMIT = 2.3
SUBJECTS = {'workers': 256, 'copies': 2048, 'losses': 64, 'put-back': 500, 'chain': 500, 'rows-chain': 250, 'rows-fan': 500, 'pods': 1024, 'others': 1024}


def count(program, subject, size):
    with tempfile.TemporaryDirectory(prefix='hdss-growth-') as folder:
        out = os.path.join(folder, 'out')
        result = subprocess.run(['valgrind', '--tool=callgrind', f'--callgrind-out-file={out}', program, subject, str(size)],
                                capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
        with open(out) as file:
            return int(re.search(r'^(?:summary|totals): (\d+)', file.read(), re.MULTILINE).group(1))


def main():
    program, = sys.argv[1:]
    if not shutil.which('valgrind'):
        print('1..0 # SKIP there is no valgrind')
        return 0
    print(f'1..{len(SUBJECTS)}')
    failed = 0
    for number, (subject, size) in enumerate(SUBJECTS.items(), 1):
        ratio = count(program, subject, 2 * size) / count(program, subject, size)
        failed += ratio > LIMIT
        print(f'{"not ok" if ratio > LIMIT else "ok"} {number} - {subject}: {2 * size} take {ratio:.2f} times the instructions of {size}', flush=True)
    return 1 if failed else 0


sys.exit(main())
