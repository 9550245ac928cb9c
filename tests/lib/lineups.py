# SPDX-License-Identifier: MIT
"""Runs that must give one checksum, whatever the line-up."""
from launch import job, report, run

SYNTHETIC = ['synthetic', 'iterations=2000', 'mean=2', 'distribution=exponential']
reference = {}


def check(masters, workers, words, key, done=None, options=None):
    """A run that must be done; its checksum must be that of every other run with the same key. `options` of mpirun: it is over MPI."""
    result = run(job(masters, workers, ['--report', 'report.json', *words], options=options))
    assert result.status == 0, result
    assert not result.err, result
    figures = report()
    assert sum(row['iterations'] for row in figures['worker_stats']) == (figures['iterations'] if done is None else done)
    expected = reference.setdefault(key, figures['checksum'])
    assert figures['checksum'] == expected, f'{masters} masters, {workers} workers, {words}: {figures["checksum"]}, not {expected}'
    return figures
