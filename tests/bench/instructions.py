# SPDX-License-Identifier: MIT
"""Instructions per chunk of the three machines, counted by valgrind: a measure of the chunk's way that no noise reaches.

usage: instructions.py PROGRAM FIGURES

The virtual cluster runs twice, with COUNTS[0] and COUNTS[1] iterations; what a machine's step function and all that it calls need
more for the longer run, divided by the chunks more, is its cost of one chunk, without start and end. FIGURES (instructions.txt) holds the
present ones, and for which compiler and level of optimisation they are: a figure that has grown by more than LIMIT fails. With
HDSS_UPDATE_INSTRUCTIONS=1 they are measured anew and written down. TAP on standard output.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

COUNTS = (2000, 6000)
LIMIT = 1.10
# A few instructions of a short step are not worth an alarm.
SLACK = 10
CASES = [
    # name, technique, masters, workers, and whether chunks are traced
    ('central, 4 workers', 'ss', 0, 4, False),
    ('central, 128 workers', 'ss', 0, 128, False),
    ('hierarchical, 2 masters, 16 workers', 'ss', 2, 16, False),
    ('hierarchical, 8 masters, 128 workers', 'ss', 8, 128, False),
    ('central, 4 workers, traced', 'ss', 0, 4, True),
    ('hierarchical, 2 masters, 16 workers, traced', 'ss', 2, 16, True),
]
MACHINES = ['supermaster', 'master', 'worker']


def count(program, words):
    """Runs it under callgrind: (chunks, {machine: instructions in its steps})."""
    with tempfile.TemporaryDirectory(prefix='hdss-instructions-') as folder:
        out = os.path.join(folder, 'callgrind.out')
        line = ['valgrind', '--tool=callgrind', f'--callgrind-out-file={out}', '--compress-strings=no', '--compress-pos=no', program,
                *map(str, words)]
        result = subprocess.run(line, capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
        with open(out) as file:
            return int(result.stdout), inclusive(file)


def inclusive(lines):
    """Instructions of each machine's steps: what is spent in MACHINE_step_any() of its core.c, and in the calls that it makes."""
    found = dict.fromkeys(MACHINES, 0)
    file = machine = None
    for line in lines:
        if line.startswith(('fl=', 'fi=', 'fe=')):
            if line.startswith('fl='):
                file = line[3:].strip()
        elif line.startswith('fn='):
            name = line[3:].strip()
            match = re.search(r'(\w+)/core\.c$', file or '')
            machine = match.group(1) if match and match.group(1) in found else None
            machine = machine if machine and re.match(machine + r'_step_any\b', name) else None
        elif machine and re.match(r'\+?-?\d|\*', line):
            found[machine] += int(line.split()[1])
    return found


def per_chunk(program, case):
    _, technique, masters, workers, traced = case
    words = ['traced'] if traced else []
    (few, least), (many, most) = (count(program, [technique, masters, workers, iterations, *words]) for iterations in COUNTS)
    return {machine: round((most[machine] - least[machine]) / (many - few), 1)
            for machine in MACHINES if masters > 0 or machine != 'master'}


def read(path):
    """(what they are for, {(case, machine): instructions})"""
    build, figures = None, {}
    with open(path) as file:
        for line in file:
            if line.startswith('build: '):
                build = line[7:].strip()
            elif not line.startswith('#') and line.strip():
                case, machine, figure = re.fullmatch(r'(.+?)  +(\w+) +([\d.]+)\n', line).groups()
                figures[case, machine] = float(figure)
    return build, figures


def write(path, build, figures):
    with open(path) as file:
        head = [line for line in file if line.startswith('#')]
    with open(path, 'w') as file:
        file.writelines(head)
        file.write(f'build: {build}\n')
        for (case, machine), figure in figures.items():
            file.write(f'{case:46s}{machine:14s}{figure:8.1f}\n')


def why_not(build, recorded):
    if not shutil.which('valgrind'):
        return 'there is no valgrind'
    if recorded != build:
        return f'the figures are for {recorded}, this is {build}'
    return None


def check(figures, measured):
    print(f'1..{len(measured)}')
    failed = 0
    for number, ((case, machine), value) in enumerate(measured.items(), 1):
        name, before = f'{case}: {machine}', figures.get((case, machine))
        if before is None:
            verdict, failed = f'not ok {number} - {name} has no figure: HDSS_UPDATE_INSTRUCTIONS=1 writes it', failed + 1
        elif value <= 0:
            verdict, failed = f'not ok {number} - {name}: its step function was not found in what valgrind has counted', failed + 1
        elif value > before * LIMIT + SLACK:
            verdict = f'not ok {number} - {name}: {value:.1f} instructions per chunk, it was {before:.1f}'
            failed += 1
        else:
            verdict = f'ok {number} - {name}: {value:.1f} instructions per chunk, the figure is {before:.1f}'
        print(verdict, flush=True)
    return failed


def main():
    program, path = sys.argv[1:]
    update = os.environ.get('HDSS_UPDATE_INSTRUCTIONS') == '1'
    build = subprocess.run([program, 'build'], capture_output=True, text=True, check=True).stdout.strip()
    recorded, figures = read(path)
    reason = why_not(build, build if update else recorded)
    if reason:
        print(f'1..0 # SKIP {reason}')
        return 0
    measured = {(case[0], machine): figure for case in CASES for machine, figure in per_chunk(program, case).items()}
    if update:
        write(path, build, measured)
        figures = measured
    return 1 if check(figures, measured) else 0


sys.exit(main())
