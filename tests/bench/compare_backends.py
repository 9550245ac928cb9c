# SPDX-License-Identifier: MIT
"""How far the two backends of hdss simulate are apart: a study as large as that of Han and Chronopoulos, some points of every sweep.

usage: compare_backends.py BUILD [--workers W,W,...] [--masters M,M,...] [--json FILE] [--quick]

A sweep is a technique (dtss, dfss, dgss), a kernel (adjoint 800 x 800, Mandelbrot 200,000 x 200,000 by columns) and a number of masters
(0, 1, 2, 4, 8, 16), threshold 5, platform ranger. At each of the points (256, 1,024 and 4,096 workers unless --workers says others) both
backends simulate the same line; the table has the loop time of each and how much that of `virtual` differs from that of `simgrid`. What both compute is not influenced by load on the machine; how long it takes and how much memory is below.
--json appends a JSON line for each pair; --quick is one sweep with 256 workers.
"""
import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from measure import machine  # noqa: E402

KERNELS = {'adjoint': 'adjoint n=800', 'mandelbrot': 'mandelbrot width=200000 height=200000 unit=column'}
TECHNIQUES = ['dtss', 'dfss', 'dgss']
TARGET = 0.5


def simulate(hdss, backend, kernel, technique, masters, workers):
    """Loop time in s, chunks, and the seconds of a processor and the MiB that this took; None where it did not go well."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    words = ['--backend', backend, '--platform', 'ranger', '--technique', technique, '--min-chunk', 5, '--masters', masters, '--workers', workers]
    line = [hdss, 'simulate', '--report', 'report.json', *words, *KERNELS[kernel].split()]
    process = subprocess.Popen([str(word) for word in line], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    if status != 0:
        print(f'{" ".join(str(word) for word in line)}: status {status}', file=sys.stderr, flush=True)
        return None
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open('report.json') as file:
        figures = json.load(file)
    return {'elapsed_s': figures['elapsed_s'], 'chunks': figures['chunks'], 'took_s': time.monotonic() - began,
            'processor_s': after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 'mib': usage.ru_maxrss / 1024}


def compare(hdss, point):
    ours, theirs = (simulate(hdss, backend, *point) for backend in ('virtual', 'simgrid'))
    return {'kernel': point[0], 'technique': point[1], 'masters': point[2], 'workers': point[3], 'virtual': ours, 'simgrid': theirs,
            'apart': 100 * (ours['elapsed_s'] / theirs['elapsed_s'] - 1) if ours and theirs else None}


def cell(pair):
    if pair['apart'] is None:
        return 'failed'
    mark = ' **' if abs(pair['apart']) > TARGET else ' '
    return f'{pair["virtual"]["elapsed_s"]:.5g}, {pair["simgrid"]["elapsed_s"]:.5g},{mark}{pair["apart"]:+.3f} %{mark.strip()}'


def conclude(all_pairs):
    pairs = [pair for pair in all_pairs if pair['apart'] is not None]
    if len(pairs) < len(all_pairs):
        print(f'\n{len(all_pairs) - len(pairs)} points have failed')
    apart = [abs(pair['apart']) for pair in pairs]
    within = sum(value <= TARGET for value in apart)
    cost = [pair['simgrid'] for pair in pairs]
    print(f'\n{len(pairs)} points, {within} within {TARGET} %; median {statistics.median(apart):.3f} %, largest {max(apart):.3f} %')
    print(f'simgrid: {sum(one["processor_s"] for one in cost):.0f} s of a processor in all, at most {max(one["processor_s"] for one in cost):.1f} s and '
          f'{max(one["mib"] for one in cost):.0f} MiB; chunks differ at {sum(p["virtual"]["chunks"] != p["simgrid"]["chunks"] for p in pairs)} points')


def numbers(text):
    return [int(word) for word in text.split(',')]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('build')
    parser.add_argument('--workers', type=numbers, default=[256, 1024, 4096])
    parser.add_argument('--masters', type=numbers, default=[0, 1, 2, 4, 8, 16])
    parser.add_argument('--json')
    parser.add_argument('--quick', action='store_true', help='one sweep, 256 workers')
    arguments = parser.parse_args()
    hdss = os.path.join(os.path.abspath(arguments.build), 'deploy', 'hdss')
    log = open(arguments.json, 'a') if arguments.json else None  # pylint: disable=consider-using-with
    facts, pairs = machine(), []
    workers = [256] if arguments.quick else arguments.workers
    sweeps = [(kernel, technique, masters) for kernel in KERNELS for technique in TECHNIQUES for masters in arguments.masters]
    print(f'Loop time in s: virtual, simgrid, apart\n  {facts["processor"]}, {facts["cores"]} cores, load {facts["load"]:.2f}\n')
    print(f'| kernel | technique | masters | {" | ".join(f"{count} workers" for count in workers)} |\n|---|---|---|{"---|" * len(workers)}')
    with tempfile.TemporaryDirectory(prefix='hdss-compare-') as folder:
        os.chdir(folder)
        for sweep in sweeps[:1] if arguments.quick else sweeps:
            row = [compare(hdss, (*sweep, count)) for count in workers]
            pairs += row
            print(f'| {" | ".join(str(word) for word in sweep)} | {" | ".join(cell(pair) for pair in row)} |', flush=True)
            if log is not None:
                log.writelines(json.dumps(pair) + '\n' for pair in row)
                log.flush()
    conclude(pairs)


main()
