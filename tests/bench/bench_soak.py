# SPDX-License-Identifier: MIT
"""Memory of all ranks over a long run: 10^8 chunks of an empty body (ss), 1 + 2 and 1 + 1 + 2 ranks.

Target: flat. What grows with chunks, however little, shows after 10^8 of them: one byte for each is 95 MiB. Pages of files are left out: a
library's are shared out among the processes that map it, and each MPI program that starts or ends beside these would look like growth.
"""
import contextlib
import os
import subprocess
import tempfile
import time

from measure import header, pss_kib, ranks_of, record, sized
from launch import MASTER, SUPERMASTER, WORKER, finish, job, start

CHUNKS = sized(10 ** 8, 10 ** 5)
EVERY_S = sized(1, 0.05)
WORDS = ['--power', 'equal', '--technique', 'ss', '--progress', 'never', 'synthetic', f'iterations={CHUNKS}', 'mean=0']


def look(process, seen):
    """One more figure for each rank: {(program, pid): [KiB]}."""
    for pid in ranks_of(process, [SUPERMASTER, MASTER, WORKER]):
        with contextlib.suppress(OSError):
            program = os.path.basename(os.path.realpath(f'/proc/{pid}/exe'))
            seen.setdefault((program, pid), []).append(pss_kib(pid, ('Pss_Anon', 'Pss_Shmem')))


def soak(masters, workers):
    process, seen, began = start(job(masters, workers, WORDS)), {}, time.monotonic()
    while process.poll() is None:
        look(process, seen)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(EVERY_S)
    result = finish(process)
    assert result.status == 0, result
    return seen, time.monotonic() - began


def tell(name, seen, seconds):
    print(f'  {name}, {CHUNKS:,} chunks in {seconds:.0f} s: KiB after a tenth of the time, half, nine tenths; most; growth', flush=True)
    for (program, _), values in sorted(seen.items()):
        if not values:  # it has ended before it could be looked at
            continue
        tenth, half, late = (values[int(len(values) * share)] for share in (0.1, 0.5, 0.9))
        print(f'    {program:12s} {tenth:8,} {half:8,} {late:8,} {max(values):8,} {late - tenth:+6,}', flush=True)
        record('soak', f'{name} / {program}', values, unit='KiB', growth=late - tenth, chunks=CHUNKS)


def main():
    os.chdir(tempfile.mkdtemp(prefix='hdss-bench-'))
    header('Memory over a long run')
    for masters in (0, 1):
        tell(f'1 + {"1 + " if masters else ""}2', *soak(masters, 2))


main()
