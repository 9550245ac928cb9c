# SPDX-License-Identifier: MIT
"""Runs the benchmarks of a build and prints their tables, one after another.

usage: all.py [--quick] [--small] [--json FILE] BUILD [NAME...]

--quick takes one run of each figure instead of HDSS_BENCH_RUNS (5), --small the smallest size besides (the figures then mean nothing).
--json appends every figure as a JSON line, with the machine. NAME: floor chunk rates wire memory soak collect journal start pods waiting
topologies dca library kernels_loops exec ranks first kernels papers sched flat free stream; without any all of them, in this order.
"""
import argparse
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPTS = ['floor', 'chunk', 'rates', 'wire', 'memory', 'soak', 'collect', 'journal', 'start', 'run', 'set', 'shares', 'pods', 'waiting', 'topologies', 'dca', 'library', 'kernels_loops', 'exec', 'ranks', 'first', 'baselines']
PROGRAMS = {'kernels': 'tests/kernels/bench-kernels', 'papers': 'tests/kernels/bench-papers', 'sched': 'tests/bench/sched', 'flat': 'tests/bench/dca-draws', 'free': 'tests/bench/bench-free', 'stream': 'tests/bench/bench-stream'}
NEEDED = {'SUPERMASTER': 'deploy/supermaster', 'MASTER': 'deploy/master', 'WORKER': 'deploy/worker', 'HDSS': 'deploy/hdss',
          'SERIAL': 'tests/bench/serial', 'BARE_MPI': 'tests/bench/bare_mpi', 'SPAWN_FLOOR': 'tests/bench/spawn-floor', 'BARE_DRAW': 'tests/bench/bare_draw',
          'LIBRARY_DRAW': 'tests/bench/library-draw', 'LEDGER_MEMORY': 'tests/bench/ledger-memory',
          'TIMED': 'tests/bench/timed.so', 'COUNT_CALLS': 'tests/bench/count-calls.so', 'PATIENT_SLEEP': 'tests/bench/patient-sleep.so',
          'BASELINE_COUNTER': 'tests/bench/baseline-counter', 'BASELINE_STEALING': 'tests/bench/baseline-stealing',
          'BASELINE_LIBRARY': 'tests/bench/baseline-library', 'OPENMP_LOOP': 'tests/bench/openmp-loop'}


def parse():
    parser = argparse.ArgumentParser(description='Runs the benchmarks of a build and prints their tables.')
    parser.add_argument('--quick', action='store_true', help='one run of each figure')
    parser.add_argument('--small', action='store_true', help='the smallest size, once: the figures mean nothing')
    parser.add_argument('--json', metavar='FILE', help='append every figure as a JSON line')
    parser.add_argument('build', metavar='BUILD', help='a build folder')
    parser.add_argument('names', metavar='NAME', nargs='*', help=' '.join([*SCRIPTS, *PROGRAMS]))
    arguments = parser.parse_args()
    for name in arguments.names:
        if name not in SCRIPTS and name not in PROGRAMS:
            parser.error(f'{name}: accepted: {" ".join([*SCRIPTS, *PROGRAMS])}')
    return arguments


def environment(arguments):
    env = dict(os.environ, PYTHONDONTWRITEBYTECODE='1')
    for name, path in NEEDED.items():
        full = os.path.join(os.path.abspath(arguments.build), path)
        if os.path.exists(full):
            env[name] = full
        elif name != 'OPENMP_LOOP':
            sys.exit(f'all.py: {full} is not there: build first (ninja -C {arguments.build})')
    if arguments.quick:
        env['HDSS_BENCH_RUNS'] = '1'
    if arguments.small:
        env['HDSS_BENCH_SIZE'] = 'small'
    if arguments.json:
        env['HDSS_BENCH_JSON'] = os.path.abspath(arguments.json)
    return env


def main():
    arguments = parse()
    env, failed = environment(arguments), []
    for name in arguments.names or [*SCRIPTS, *PROGRAMS]:
        script = [sys.executable, os.path.join(HERE, f'bench_{name}.py')]
        line = script if name in SCRIPTS else [os.path.join(arguments.build, PROGRAMS[name])]
        print(f'=== {name}', flush=True)
        if not os.path.exists(line[-1]):
            print(f'{line[-1]} is not there: left out')
            continue
        if subprocess.run(line, env=env).returncode != 0:
            failed.append(name)
    if failed:
        sys.exit('all.py: failed: ' + ' '.join(failed))


main()
