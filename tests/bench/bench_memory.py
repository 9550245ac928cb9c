# SPDX-License-Identifier: MIT
"""Memory of a rank that waits (PSS) beside that of a bare MPI rank in the same number; of the supermaster after many chunks; of the
ledger after losses all over the loop.

Targets: over MPI a bare MPI rank's plus at most 4 MiB, by shared memory 3 MiB, and nothing that grows with the iterations. From 100 ranks on both are
started with patient_sleep.c, and over pretended nodes where root can make them: several hundred ranks of one node on 2 cores take minutes.
"""
import contextlib
import json
import os
import statistics
import subprocess
import tempfile
import time

from measure import header, lines, pss_kib, ranks_of, record, sized
from launch import MASTER, SUPERMASTER, WORKER, finish, fork_line, job, start, wait_until

BARE_MPI = os.environ['BARE_MPI']
RANKS = sized((2, 64, 256), (2,))
CHUNKS = sized(10 ** 7, 10 ** 3)
LOSSES = sized(10 ** 6, 10 ** 4)
WAITING = ['--power', 'equal', '--technique', 'ss', '--progress', 'never', 'synthetic', 'iterations=1', 'mean=1e9', 'mode=sleep']


def memory(line, programs, count):
    """PSS of the ranks in KiB, once all are there and at rest."""
    process = start(line)
    try:
        wait_until(lambda: len(ranks_of(process, programs)) == count and at_rest(ranks_of(process, programs)), 'all ranks at rest', 300)
        found = {}
        for pid in ranks_of(process, programs):
            found.setdefault(os.path.basename(os.path.realpath(f'/proc/{pid}/exe')), []).append(pss_kib(pid))
        return found
    finally:
        process.terminate()  # mpirun ends its ranks, also those of other nodes
        finish(process)


def at_rest(pids):
    """Ranks that use hardly any processor time have come to where they wait."""
    before, began = sum(map(used, pids)), time.monotonic()
    time.sleep(0.5)
    share = (sum(map(used, pids)) - before) / os.sysconf('SC_CLK_TCK') / (time.monotonic() - began)
    return before > 0 and share < 0.02 * len(pids)


def used(pid):
    with open(f'/proc/{pid}/stat') as stat:
        return sum(map(int, stat.read().rsplit(')', 1)[1].split()[11:13]))


def tell(name, figures):
    text = ', '.join(f'{program} {statistics.median(values) / 1024:.2f} ({min(values) / 1024:.2f} .. {max(values) / 1024:.2f})'
                     for program, values in sorted(figures.items()))
    print(f'  {name:32s} MiB: {text}', flush=True)
    for program, values in figures.items():
        record('memory', f'{name} / {program}', values, unit='KiB')


def beside_bare(ranks):
    with lines(ranks) as line:
        tell(f'{ranks} ranks, bare', memory(line([(ranks, [BARE_MPI, 'hold', '/nonexistent'])]), [BARE_MPI], ranks))
        programs = [SUPERMASTER, MASTER, WORKER]
        tell(f'{ranks} ranks, central', memory(line([(1, [SUPERMASTER, *WAITING]), (ranks - 1, [WORKER])]), programs, ranks))
        tell(f'{ranks} ranks, shared memory', memory(fork_line([(1, [SUPERMASTER, *WAITING]), (ranks - 1, [WORKER])]), programs, ranks))
        if ranks > 16:
            masters = 4
            tell(f'{ranks} ranks, {masters} masters', memory(
                line([(1, [SUPERMASTER, *WAITING]), (masters, [MASTER]), (ranks - 1 - masters, [WORKER])]), programs, ranks))


def after_chunks():
    """Memory of a supermaster that serves 1 worker, early and late in a run, without the pages of files: a library's are shared out among
    the processes that map it, and each MPI program that starts or ends beside this one would look like growth of ours."""
    process = start(job(0, 1, ['--power', 'equal', '--technique', 'ss', '--progress', 'never', 'synthetic', f'iterations={CHUNKS}',
                               'mean=0']))
    seen = []
    while process.poll() is None:
        with contextlib.suppress(OSError):
            seen += [pss_kib(pid, ('Pss_Anon', 'Pss_Shmem')) for pid in ranks_of(process, [SUPERMASTER])]
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.1)
    finish(process)
    print(f'  supermaster through {CHUNKS:,} chunks, pages of files left out: {seen[len(seen) // 4] / 1024:.2f} MiB after a quarter of the '
          f'time, at most {max(seen) / 1024:.2f} MiB', flush=True)
    record('memory', 'supermaster over chunks', seen, unit='KiB')


def ledger():
    out = subprocess.run([os.environ['LEDGER_MEMORY'], str(LOSSES)], capture_output=True, text=True, check=True).stdout
    figures = json.loads(out)
    print(f'  ledger after {LOSSES:,} scattered losses: {figures["bytes"] / LOSSES:.1f} bytes for each; a chunk granted and '
          f'committed takes {figures["scatter_ns"]:.0f} ns before and {figures["serve_ns"]:.0f} ns after', flush=True)
    record('memory', 'ledger', [figures['bytes'] / LOSSES], **figures)


def main():
    os.chdir(tempfile.mkdtemp(prefix='hdss-bench-'))
    header('Memory')
    for ranks in RANKS:
        try:
            beside_bare(ranks)
        except OSError as problem:
            print(f'  {ranks} ranks: left out, {problem}', flush=True)
    after_chunks()
    ledger()


main()
