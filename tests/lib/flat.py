# SPDX-License-Identifier: MIT
"""Runs of workers alone (--dca): their lines, and what they must compute."""
import os

from launch import WORKER, job, mpirun_line, run

MODES = ['rma', 'two-sided', 'node']
ALL_MODES = MODES + ['rma:atomics=2', 'two-sided:exchanges=2']
# MPICH's ranks do not leave a core that they share to the others: no more of them than there are cores anywhere.
RANKS_MOST = 2 if 'MPIRUN' in os.environ else 8
reference = {}


def flat_line(ranks, mode, words, worker_words=()):
    return mpirun_line([(ranks, [WORKER, '--dca', mode, *worker_words, *words])])


def checksum_of(words):
    """That of the same job with a supermaster."""
    key = ' '.join(words)
    if key not in reference:
        result = run(job(1, 2, words) if RANKS_MOST > 2 else job(0, 1, words))
        assert result.status == 0, result
        reference[key] = result.checksum()
    return reference[key]


def synthetic(iterations):
    return ['synthetic', f'iterations={iterations}', 'mean=0']
