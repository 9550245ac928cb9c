#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/coming-from.md: each line of ours is run, and gives what the other tool's gives, if that is installed."""
import os
import re
import shutil
import subprocess

from launch import HDSS, TIMEOUT_S, environment, main
from sets import here

PAGE = os.path.join(os.environ['SOURCE_ROOT'], 'docs', 'coming-from.md')
# What there is in the place of the tools that nobody has here.
ABSENT = ('disBatch', 'greasy', 'dsq', 'sbatch', 'hq')


def rows(title):
    """The lines of a section's table: theirs, ours."""
    with open(PAGE, encoding='utf-8') as file:
        section = file.read().partition(f'\n## {title}')[2].partition('\n## ')[0]
    found = [tuple(cell.replace('\\|', '|') for cell in row) for row in re.findall(r'^\| `(.*)` \| `(.*)` \|$', section, re.MULTILINE)]
    assert found, title
    return found


def make_files():
    shutil.rmtree('there', ignore_errors=True)
    os.mkdir('there')
    for name, text in (('a.txt', 'b\na\n'), ('b.txt', 'c\n'), ('names', 'x\ny\n'), ('commands', '# two tasks\necho one\n\necho two | rev\n'),
                       ('go.sh', '#!/bin/sh\necho go "$@"\n'), ('job.sh', 'echo $SLURM_ARRAY_TASK_ID\n')):
        with open(os.path.join('there', name), 'w', encoding='ascii') as file:
            file.write(text)
    os.chmod('there/go.sh', 0o755)


def typed(line):
    path = f'{os.path.dirname(HDSS)}:{os.environ["PATH"]}'
    return subprocess.run(['bash', '-c', line], cwd='there', env={**environment(), 'PATH': path, 'PARALLEL': '--will-cite'}, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=TIMEOUT_S, check=False)


def run_lines(title, checks=lambda ours, done: None):
    make_files()
    for theirs, ours in rows(title):
        tool = next(word for word in ('parallel', 'xargs', *ABSENT) if re.search(rf'\b{word}\b', theirs))
        right = typed(theirs) if tool not in ABSENT and shutil.which(tool) else None
        if right is not None:
            make_files()
        done = typed(ours)
        assert done.returncode == 0 and (right is None or sorted(done.stdout.split()) == sorted(right.stdout.split())), (theirs, right, ours, done)
        checks(ours, done)


def test_gnu_parallel():
    run_lines('GNU parallel')


def test_xargs():
    run_lines('xargs')


def test_files_of_commands():
    def has_both(ours, done):
        printed = done.stdout
        if 'tasks=' in ours:
            with open('there/done' if 'done' in ours else 'there/commands.out', encoding='ascii') as file:
                printed = file.read()
        assert sorted(printed.split()) == ['one', 'owt'], (ours, done)
    run_lines('disBatch', has_both)


def test_job_arrays():
    run_lines('Job arrays', lambda ours, done: sorted(map(int, done.stdout.split())) == list(range(1, 11)) or 1 / 0)


def test_sets():
    here()
    said = []
    try:
        run_lines('HyperQueue', lambda ours, done: said.append(done.stdout))
    finally:
        typed('hdss down')
    assert said[1].startswith('main/') and sorted(said[2].split('\n')) == ['', 'go x', 'go y'] and 'hello' in said[6], said


def test_python():
    for _, ours in rows('Dask'):
        done = subprocess.run(['python3', '-c', f'import sys\ntry:\n    import hdss, joblib\nexcept ImportError:\n    sys.exit(0)\n{ours}'],
                              env={**environment(), 'PYTHONPATH': os.path.join(os.path.dirname(HDSS), 'python')}, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (ours, done)


if __name__ == '__main__':
    main([test_gnu_parallel, test_xargs, test_files_of_commands, test_job_arrays, test_sets, test_python])
