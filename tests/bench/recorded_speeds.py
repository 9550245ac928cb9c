# SPDX-License-Identifier: MIT
"""What costs that unequal workers have recorded predict of other runs on them: `hdss simulate --recorded-workers`, each way, beside real runs.

usage: recorded_speeds.py BUILD

Iterations sleep, so that the workers need no cores, each for a time drawn from a normal distribution. Workers are made slow by --slowdown, by which recorded
costs are divided: that is taken back, as nobody divides by the speed of a slow machine.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile

SLOW = [1, 1, 1.5, 2, 3, 4]
LOOP = ['synthetic', 'iterations=1500', 'mean=3000', 'distribution=gaussian', 'spread=0.5', 'mode=sleep']
WAYS = ['simulate', 'separate', 'ignore']
RECORDED_BY = 'css:chunk=3'
KEPT = ['--recall', 'off', '--copies', 'off']
CASES = [(6, 'static', KEPT), (6, 'fac2', KEPT), (6, 'wf', []), (3, 'static', []), (3, 'fac2', []), (4, 'ss', [])]
RUNS = 3


def elapsed_s(words):
    subprocess.run([HDSS, *map(str, words), '--summary', 'none', '--report', 'report.json', *LOOP], check=True, stdout=subprocess.DEVNULL)
    with open('report.json', encoding='utf-8') as file:
        report = json.load(file)
    return report['elapsed_s'], report.get('simulated', {}).get('recorded_workers')


def real(workers, technique, *words):
    return elapsed_s(['run', '--workers', workers, '--technique', technique, '--slowdown', ','.join(map(str, SLOW[:workers])), '--progress', 'never', *words])[0]


def record():
    real(6, RECORDED_BY, *KEPT, '--record-costs', 'divided')
    with open('divided', encoding='utf-8') as file:
        rows = [line.split() for line in file if not line.startswith('#')]
    first = min(int(row[3]) for row in rows)
    with open('costs', 'w', encoding='utf-8') as file:
        file.writelines(f'{row[0]} {row[1]} {float(row[2]) * SLOW[int(row[3]) - first]:.3f} {row[3]}\n' for row in rows)


def main():
    os.chdir(tempfile.mkdtemp(prefix='hdss-bench-'))
    record()
    print('| workers, technique | real, s |', ' | '.join(f'{way}, %' for way in WAYS), '|\n|---|---|' + '---|' * len(WAYS))
    for workers, technique, words in CASES:
        took_s = statistics.median(real(workers, technique, *words) for _ in range(RUNS))
        errors, speeds = [], {}
        for way in WAYS:
            told_s, found = elapsed_s(['simulate', '--workers', workers, '--technique', technique, '--costs', './costs', '--recorded-workers', way, *words])
            errors.append(f'{100 * (told_s / took_s - 1):+.1f}')
            speeds = found if way == 'simulate' else speeds
        print(f'| {workers}, {technique}{" without recalls" if words else ""} | {took_s:.2f} |', ' | '.join(errors), '|', flush=True)
    mean = len(SLOW) / sum(1 / slow for slow in SLOW)
    print(f'Speeds found: {speeds["slowest"]:.3f} to {speeds["quickest"]:.3f} of the mean; {mean / max(SLOW):.3f} to {mean:.3f} in truth.')


HDSS = os.path.join(os.path.abspath(sys.argv[1]), 'deploy/hdss') if len(sys.argv) == 2 else sys.exit(__doc__)
main()
