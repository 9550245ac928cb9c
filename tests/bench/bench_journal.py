# SPDX-License-Identifier: MIT
"""What a journal costs: the loop time of one job with it and without, in turn. 1 + 2 and 1 + 1 + 2 ranks, ss, so that there are 10,000 chunks
per second, and as many as there can be (empty body).

Target: less than 2 % at 10,000 chunks per second with --durability process. With `node` each group waits for the disk.
"""
import os
import statistics
import tempfile

from measure import header, led, record, show, side_by_side, sized

OPTIONS = ['--technique', 'ss', '--power', 'equal']
KINDS = {'no journal': ['--journal', 'off'], 'process': ['--journal', 'j'], 'node': ['--journal', 'j', '--durability', 'node']}
# 200 us on each of two workers; asleep, so that what the journal costs is not taken from them
JOBS = {
    '10,000 chunks per second': (sized(20000, 300), ['mean=200', 'mode=sleep', 'distribution=constant']),
    'empty body': (sized(1000000, 1000), ['mean=0']),
}


def seconds(masters, kind, count, body):
    def once():
        return led(masters, 2, [*OPTIONS, *KINDS[kind], 'synthetic', f'iterations={count}', *body])['elapsed_s']
    return once


def main():
    os.chdir(tempfile.mkdtemp(prefix='hdss-bench-'))
    header('The journal: seconds of the loop')
    for name, (count, body) in JOBS.items():
        for masters in (0, 1):
            figures = side_by_side({kind: seconds(masters, kind, count, body) for kind in KINDS})
            title = f'{name}, {count:,} chunks, {masters} masters'
            show('journal', title, figures, 's', '{:.3f}', {'process': 'no journal', 'node': 'no journal'})
            ratio = statistics.median(figures['process']) / statistics.median(figures['no journal'])
            record('journal', f'{title} / process over none', [ratio])


main()
