# SPDX-License-Identifier: MIT
"""Real ranks by the hundred, on few cores: the daemons of a supermaster, 1 to 16 masters and up to 512 ranks, with work that sleeps, over pretended
nodes. Printed are start-up, memory of each kind of rank, messages for each chunk, and how much of the time the workers' sleep filled; that every run
ends, computes everything and gives each worker to the master of its node is checked.

All are started with patient_sleep.c, without which hundreds of ranks on few cores starve the processes that start them, and over 16 pretended nodes
where root can make them, else on one. The memory is read while all of them work. HDSS_BENCH_RANKS and HDSS_BENCH_MASTERS name other numbers,
with commas.
"""
import collections
import contextlib
import os
import statistics
import sys
import tempfile

import measure
from measure import header, pss_kib, ranks_of, record, sized
from launch import MASTER, SUPERMASTER, WORKER, finish, mpirun_line, report, start, wait_until
from nodes import Nodes

RANKS = [int(word) for word in os.environ.get('HDSS_BENCH_RANKS', sized('64,128,256,512', '64')).split(',')]
MASTERS = [int(word) for word in os.environ.get('HDSS_BENCH_MASTERS', sized('1,2,4,8,16', '4')).split(',')]
NODES = sized(16, 4)
# 100 ms an iteration, so many for each worker.
EACH = sized(64, 10)
OPTIONS = ['--mca', 'mpi_yield_when_idle', '1', '--mca', 'if_base_do_not_resolve', '1']
TIMEOUT_S = 600
STATUS = 'status'


@contextlib.contextmanager
def pretended():
    """Nodes, or None where this machine cannot pretend them."""
    with contextlib.ExitStack() as stack:
        try:
            nodes = stack.enter_context(Nodes(NODES))
        except OSError as problem:
            print(f'  on one node: {problem}', flush=True)
            nodes = None
        yield nodes


def compose(nodes, contexts, ranks):
    line = nodes.line(contexts, slots=ranks // NODES + 2, options=OPTIONS) if nodes else mpirun_line(contexts)
    return ['env', f'LD_PRELOAD={os.environ["PATIENT_SLEEP"]}', f'HDSS_STATUS_FILE={os.path.abspath(STATUS)}', *line]


def memory(process):
    """{program: median PSS in MiB}, and that of all ranks together."""
    found = {}
    for pid in ranks_of(process, [SUPERMASTER, MASTER, WORKER]):
        with contextlib.suppress(OSError):
            used = pss_kib(pid) / 1024
            found.setdefault(os.path.basename(os.path.realpath(f'/proc/{pid}/exe')), []).append(used)
    return {name: statistics.median(values) for name, values in found.items()}, sum(map(sum, found.values()))


def has_begun():
    with open(STATUS, encoding='ascii') as file:
        return 'begun' in file.read()


def launched(nodes, ranks, masters):
    """The report of one run, its memory, and the seconds of the whole mpirun."""
    workers = ranks - 1 - masters
    words = ['--power', 'equal', '--progress', 'never', '--report', os.path.abspath('report.json'), 'synthetic', f'iterations={EACH * workers}',
             'mean=1e5', 'distribution=exponential', 'mode=sleep']
    with open(STATUS, 'w', encoding='ascii'):
        pass
    process = start(compose(nodes, [(1, [SUPERMASTER, *words]), (masters, [MASTER]), (workers, [WORKER])], ranks))
    began = os.times().elapsed
    wait_until(lambda: process.poll() is not None or has_begun(), f'the begin of {ranks} ranks', share=5)
    used = memory(process)
    result = finish(process, TIMEOUT_S)
    assert result.status == 0, result
    return report(), used, os.times().elapsed - began


def check(figures, masters, nodes):
    """Everything is computed, and workers are with the master of their node, dealt out evenly where there is none. Which ranks are masters is up to
    mpirun."""
    served = collections.Counter(row['master'] for row in figures['worker_stats'])
    assert figures['outcome'] == 'done' and figures['done'] == figures['iterations'], figures['outcome']
    assert figures['nodes'] == nodes and len(served) == masters and max(served.values()) - min(served.values()) <= 1, (figures['nodes'], served)
    if masters == nodes:
        assert len({(row['master'], row['node']) for row in figures['worker_stats']}) == nodes, figures['worker_stats']


def show(nodes, ranks, masters):
    figures, (parts, total), seconds = launched(nodes, ranks, masters)
    check(figures, masters, NODES if nodes else 1)
    each = [parts.get(os.path.basename(program), 0) for program in (SUPERMASTER, MASTER, WORKER)]
    busy = sum(row['compute_s'] for row in figures['worker_stats']) / len(figures['worker_stats'])
    per_chunk = figures['messages'] / figures['chunks']
    print(f'  {ranks:5d} {masters:7d} {figures["startup_s"]:10.2f} {seconds:10.2f} {figures["elapsed_s"]:8.2f} {100 * busy / figures["elapsed_s"]:6.1f} '
          f'{figures["chunks"]:7d} {figures["refills"]:7d} {per_chunk:9.2f}   {each[0]:5.2f} {each[1]:5.2f} {each[2]:5.2f} {total / ranks:6.2f}', flush=True)
    record('ranks', f'{ranks} ranks / {masters} masters / start-up', [figures['startup_s']], unit='s', nodes=figures['nodes'], mpirun_s=seconds,
           elapsed_s=figures['elapsed_s'], chunks=figures['chunks'], refills=figures['refills'], messages=figures['messages'],
           mib={'supermaster': each[0], 'master': each[1], 'worker': each[2], 'mean': total / ranks})


def main():
    os.chdir(tempfile.mkdtemp(prefix='hdss-bench-'))
    measure.RUNS = 1  # starting hundreds of ranks takes long
    header(f'Real ranks, {EACH} iterations of 100 ms asleep for each worker, exponential, dfss')
    print('                  start-up     mpirun     loop asleep                  messages   MiB a rank (PSS)\n'
          '  ranks masters          s          s        s      %  chunks refills a chunk   super master worker mean', flush=True)
    failed = 0
    for ranks in RANKS:
        for masters in MASTERS:
            try:
                with pretended() as nodes:
                    show(nodes, ranks, masters)
            except AssertionError as problem:
                failed += 1
                print(f'  {ranks:5d} {masters:7d}  failed: {problem}', flush=True)
    sys.exit(1 if failed else 0)


main()
