# SPDX-License-Identifier: MIT
"""Start and end: from the process's start to the first assignment beside the end of a bare program's MPI_Init and first barrier; the whole
mpirun; and the time from the last commit to the last rank gone (that is in bench_waiting.py too, with masters).

From 100 ranks on both are started with patient_sleep.c, and over pretended nodes where root can make them: see bench_memory.py.
"""
import json
import os
import statistics
import subprocess
import tempfile
import time

from measure import RUNS, header, lines, record, sized, spread
from launch import SUPERMASTER, WORKER, environment, report, run

BARE_MPI = os.environ['BARE_MPI']
RANKS = sized((2, 64, 256, 512), (2,))
# Starting hundreds of ranks takes long: one run of those.
ONCE_FROM = 200


def bare_start(line, ranks):
    """(seconds to the end of MPI_Init and a barrier on the slowest rank, seconds of the whole mpirun)"""
    with open('done', 'w', encoding='ascii'):
        pass
    began = time.monotonic()
    words = [str(word) for word in line([(ranks, [BARE_MPI, 'hold', os.path.abspath('done')])])]
    out = subprocess.run(words, capture_output=True, text=True, check=True, env=environment(), timeout=900).stdout
    return json.loads(out)['seconds'], time.monotonic() - began


def own_start(line, ranks):
    words = ['--power', 'equal', '--technique', 'ss', '--progress', 'never', '--report', os.path.abspath('report.json'), 'synthetic',
             f'iterations={4 * ranks}', 'mean=0']
    result = run(line([(1, [SUPERMASTER, *words]), (ranks - 1, [WORKER])]))
    assert result.status == 0, result
    return report()['startup_s'], result.seconds


def compare(ranks):
    bare_figures, own_figures = [], []
    with lines(ranks) as line:
        for _ in range(1 if ranks >= ONCE_FROM else RUNS):
            bare_figures.append(bare_start(line, ranks))
            own_figures.append(own_start(line, ranks))
    for what, k in (('to the first assignment', 0), ('the whole mpirun', 1)):
        bare_s, own_s = [pair[k] for pair in bare_figures], [pair[k] for pair in own_figures]
        print(f'  {ranks:4d} ranks, {what:24s} bare {spread(bare_s):28s} HDSS {spread(own_s):28s} s   '
              f'{statistics.median(own_s) / statistics.median(bare_s):.2f}', flush=True)
        record('start', f'{ranks} ranks / {what} / bare', bare_s)
        record('start', f'{ranks} ranks / {what} / hdss', own_s)


def main():
    os.chdir(tempfile.mkdtemp(prefix='hdss-bench-'))
    header('Start and end')
    for ranks in RANKS:
        try:
            compare(ranks)
        except OSError as problem:
            print(f'  {ranks:4d} ranks: left out, {problem}', flush=True)


main()
