# SPDX-License-Identifier: MIT
"""How well hdss simulate predicts: real runs with sleeping work beside their simulation, and the error of the loop time.

usage: validate_simulation.py BUILD [--quick]

The machine is described by a platform of its own, with what RESULTS.md has of it: a chunk from an idle daemon comes 79 us after its
request, so a message takes half of that. Each case is run HDSS_BENCH_RUNS times (default 3) and its median is taken. Sleeping work lets 16
workers fit two cores. Prints a table; the last lines have the medians of the errors without their signs, which are to be at most 5 %. On a
machine that others use as well the least of the runs is nearer to what is predicted: its errors are told beside them.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from measure import machine  # noqa: E402

PLATFORM = """title this machine, with sleeping workers
nodes 1 cores=64
node latency=38us bandwidth=4GB/s
network latency=38us bandwidth=4GB/s
service event=150ns message=40ns byte=0.6ns calculation=20ns
"""

LOOPS = {
    'constant': 'synthetic iterations={n} mean=1000 mode=sleep distribution=constant',
    'exponential': 'synthetic iterations={n} mean=1000 mode=sleep distribution=exponential',
    'increasing': 'synthetic iterations={n} mean=1000 mode=sleep distribution=increasing',
}
# masters or how workers alone draw their chunks, workers, technique, loop, slowdowns; more words
CASES = [
    (0, 2, 'static', 'exponential', ''), (0, 2, 'gss', 'increasing', ''), (0, 2, 'ss', 'exponential', ''),
    (0, 4, 'static', 'increasing', ''), (0, 4, 'fac2', 'exponential', ''), (0, 4, 'tss', 'increasing', ''),
    (0, 4, 'awf-c', 'constant', '1,1,2,3'), (0, 4, 'dtss', 'exponential', '1,1,2,3'),
    (0, 8, 'ss', 'exponential', ''), (0, 8, 'gss', 'exponential', ''), (0, 8, 'dfss', 'increasing', ''),
    (0, 8, 'static', 'constant', '1,1,1,1,1,1,1,2'),
    (0, 16, 'fac2', 'increasing', ''), (0, 16, 'css:chunk=5', 'exponential', ''), (0, 16, 'tss', 'exponential', ''),
    (1, 4, 'dgss', 'exponential', ''), (2, 4, 'dfss', 'increasing', ''), (2, 4, 'dtss', 'exponential', ''),
    (2, 8, 'dfss', 'exponential', ''), (2, 8, 'gss', 'increasing', ''), (2, 8, 'ss', 'exponential', ''),
    (4, 8, 'dgss', 'increasing', ''), (2, 16, 'dfss', 'exponential', ''), (4, 16, 'dtss', 'increasing', ''),
    (4, 16, 'fac2', 'exponential', ''),
    ('rma', 4, 'fac2', 'exponential', ''), ('rma', 8, 'ss', 'exponential', ''), ('rma', 8, 'gss', 'increasing', ''), ('rma', 16, 'tss', 'exponential', ''),
    ('rma:atomics=2', 16, 'fac2', 'increasing', ''), ('rma', 8, 'dfss', 'exponential', '', '--power', 'equal'),
    ('two-sided', 4, 'fac2', 'increasing', ''), ('two-sided', 8, 'ss', 'exponential', ''), ('two-sided', 8, 'gss', 'exponential', ''),
    ('two-sided', 16, 'tss', 'increasing', ''), ('two-sided:exchanges=2', 16, 'fac2', 'exponential', ''),
    ('two-sided', 8, 'css:chunk=5', 'exponential', '', '--break-after', '1'),
    ('node', 4, 'fac2', 'exponential', ''), ('node', 8, 'gss', 'increasing', '', '--node-technique', 'ss'), ('node', 16, 'tss', 'exponential', ''),
    ('node', 16, 'static', 'increasing', '', '--node-technique', 'gss'),
    (0, 16, 'ss', 'constant', '', '--inject-delay', 'calculation:100'), ('rma', 16, 'ss', 'constant', '', '--inject-delay', 'calculation:100'),
    ('two-sided', 16, 'ss', 'constant', '', '--inject-delay', 'calculation:100'),
    ('two-sided', 16, 'ss', 'exponential', '', '--inject-delay', 'calculation:100'),
    ('two-sided', 16, 'ss', 'constant', '', '--inject-delay', 'assignment:100'),
    ('node', 16, 'static', 'constant', '', '--node-technique', 'ss', '--inject-delay', 'calculation:100'),
]
KINDS = {'central': lambda masters: masters == 0, 'hierarchical': lambda masters: masters in (1, 2, 4), 'workers alone': lambda masters: isinstance(masters, str)}


def report(line, name, timeout):
    subprocess.run([*line[:2], '--report', name, *line[2:]], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=timeout)
    with open(name) as file:
        return json.load(file)


def words(case, hdss, what, extra):
    masters, workers, technique, loop, slowdown, *more = case
    line = [hdss, what, '--dca' if isinstance(masters, str) else '--masters', masters, '--workers', workers, '--technique', technique, *more, *extra]
    if slowdown:
        line += ['--slowdown', slowdown]
    return [str(word) for word in [*line, *LOOPS[loop].format(n=250 * workers).split()]]


def error_of(simulated, time):
    return 100 * (simulated / time - 1)


def conclude(errors):
    """errors: [(masters, of the median, of the least run)]"""
    for kind, belongs in {'all': lambda masters: True, **KINDS}.items():
        of_medians, of_least = ([abs(pair[i]) for pair in errors if belongs(pair[0])] for i in (1, 2))
        if of_medians:
            print(f'{kind}: {len(of_medians)} cases, median error {statistics.median(of_medians):.2f} %, largest {max(of_medians):.2f} %; '
                  f'of the least run {statistics.median(of_least):.2f} %, largest {max(of_least):.2f} %')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('build')
    parser.add_argument('--quick', action='store_true', help='four cases, once')
    arguments = parser.parse_args()
    hdss = os.path.join(os.path.abspath(arguments.build), 'deploy', 'hdss')
    runs = 1 if arguments.quick else int(os.environ.get('HDSS_BENCH_RUNS', '3'))
    facts = machine()
    print(f'Loop time, real and simulated\n  {facts["processor"]}, {facts["cores"]} cores, load {facts["load"]:.2f}, medians of {runs}\n')
    print('| masters, or workers alone | workers | technique | loop | slowdown | real s (least .. most) | simulated s | error % | of the least run | '
          'chunks real, simulated |')
    print('|---|---|---|---|---|---|---|---|---|---|')
    errors = []
    with tempfile.TemporaryDirectory(prefix='hdss-validate-') as folder:
        os.chdir(folder)
        with open('here.platform', 'w') as file:
            file.write(PLATFORM)
        for case in CASES[::6] if arguments.quick else CASES:
            real = [report(words(case, hdss, 'run', ['--progress', 'never']), 'real.json', 300) for _ in range(runs)]
            simulated = report(words(case, hdss, 'simulate', ['--platform', './here.platform']), 'simulated.json', 60)
            times = [figures['elapsed_s'] for figures in real]
            time = statistics.median(times)
            of_median, of_least = (error_of(simulated['elapsed_s'], value) for value in (time, min(times)))
            masters, workers, technique, loop, slowdown, *more = case
            errors.append((masters, of_median, of_least))
            print(f'| {masters} | {workers} | {" ".join([technique, *more])} | {loop} | {slowdown} | {time:.4f} ({min(times):.4f} .. {max(times):.4f}) | '
                  f'{simulated["elapsed_s"]:.4f} | {of_median:+.1f} | {of_least:+.1f} | {statistics.median(f["chunks"] for f in real):.0f}, '
                  f'{simulated["chunks"]} |', flush=True)
    print()
    conclude(errors)


if __name__ == '__main__':
    main()
