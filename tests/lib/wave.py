# SPDX-License-Identifier: MIT
"""A loop of many moments, which depend on one another: the wave of the examples, slow until hurry()."""
import os

from kernels import SOURCE, build

POINTS, MOMENTS = 300, 1500
WAVE = ['./wave.so', f'points={POINTS}', f'moments={MOMENTS}']
BY_FOURS = ['--power', 'equal', '--technique', 'css:chunk=4', '--report', 'report.json']


def build_wave():
    """A string whose moments take 40 ms each, until hurry()."""
    with open(os.path.join(SOURCE, 'deploy/examples/kernels/wave.c')) as file:
        text = file.read()
    slow = text.replace('    (void)error;\n    for (uint64_t row = 0;',
                        '    (void)error;\n    if (access("hurry", F_OK) != 0)\n'
                        '        usleep((unsigned)(40000UL * block->count * (block->to - block->from) / block->sync));\n'
                        '    for (uint64_t row = 0;')
    assert slow != text
    with open('slow.c', 'w') as file:
        file.write('#include <unistd.h>\n' + slow)
    build('wave.so', 'slow.c', ['-D_GNU_SOURCE', '-ffp-contract=off'])
