# SPDX-License-Identifier: MIT
"""The first call of the kernel in a run, as the worker's clock sees it: one iteration that costs nothing, or that has nothing to sleep.

By --record-costs: the first chunk of a loop, in many runs. These figures are the default of cold= of a simulated platform.
"""
import os
import statistics
import tempfile

from measure import header, led, record, sized

WORKERS = 8
LAUNCHES = sized(20, 4)
LOOPS = {
    'iterations that cost nothing': ['mean=0'],
    'iterations of no sleep': ['mode=sleep', 'mean=1000', 'distribution=file', 'file=sleeps'],
}


def first_call_ns(words):
    led(0, WORKERS, ['--technique', 'ss', '--power', 'equal', '--record-costs', 'costs', 'synthetic', 'iterations=100', *words])
    with open('costs') as file:
        return next(1000 * float(line.split()[2]) for line in file if line.startswith('0 1 '))


def main():
    os.chdir(tempfile.mkdtemp(prefix='hdss-bench-'))
    header(f'The first call of the kernel, {WORKERS} workers, {LAUNCHES} runs: median and quarters')
    with open('sleeps', 'w') as file:
        file.write('0\n' + '100\n' * 99)
    for name, words in LOOPS.items():
        times = [first_call_ns(words) for _ in range(LAUNCHES)]
        low, median, high = statistics.quantiles(times, n=4)
        print(f'  {name:44s} {median:.0f} ({low:.0f} .. {high:.0f}) ns', flush=True)
        record('first', name, times, unit='ns')


main()
