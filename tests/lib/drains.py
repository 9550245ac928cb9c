# SPDX-License-Identifier: MIT
"""A run that is drained in its middle, and what is then left of it."""
import struct

from launch import report

# 40 ms an iteration: the run is in its middle whenever the signal comes.
ITERATIONS = 20000
ENDLESS = ['--overwrite', '--power', 'equal', '--technique', 'ss', '--output', 'out.bin', '--report', 'report.json',
           'synthetic', f'iterations={ITERATIONS}', 'mean=40000', 'distribution=constant', 'mode=sleep']


def results_have_come():
    try:
        with open('out.bin', 'rb') as file:
            return any(file.read())
    except OSError:
        return False


def stored_records():
    with open('out.bin', 'rb') as file:
        data = file.read()
    return sum(1 for (value,) in struct.iter_unpack('<Q', data) if value)


def check_drained(result):
    assert result.status == 4, result
    figures = report()
    done = sum(row['iterations'] for row in figures['worker_stats'])
    assert 0 < done < ITERATIONS, figures
    assert figures['outcome'] == 'drained' and figures['done'] == done and figures['iterations'] == ITERATIONS, figures
    assert f'{ITERATIONS - done:,} of its records not computed' in result.out, result
    assert stored_records() == done, (stored_records(), done)
    assert 'checksum' in result.out, result
