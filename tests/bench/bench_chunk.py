# SPDX-License-Identifier: MIT
"""A chunk served: ss, empty body, one worker on its own core, with and without asking ahead, beside a bare round trip.

Over MPI, and by shared memory, where the ranks are not bound to cores.

Targets: without asking ahead at most 1.3 round trips, with it less than one, by shared memory 0.4.
"""
import os
import tempfile

from measure import bare, header, led, show, side_by_side, sized

CHUNKS = sized(300000, 300)
OWN = ('--bind-to', 'core')
EMPTY = ['--technique', 'ss', '--power', 'equal', 'synthetic', f'iterations={CHUNKS}', 'mean=0']


def chunk_us(masters, ask_ahead, options=OWN):
    def once():
        figures = led(masters, 1, ['--ask-ahead', ask_ahead, *EMPTY], options)
        return figures['elapsed_s'] / figures['chunks'] * 1e6
    return once


def main():
    os.chdir(tempfile.mkdtemp(prefix='hdss-bench-'))
    header('A chunk served, ss, empty body, 1 worker')
    floor = 'bare ping-pong of 64 bytes'
    ours = {f'central, ask-ahead {ahead}': chunk_us(0, ahead) for ahead in ('off', 'auto', '1', '4')}
    ours['1 master, 3 ranks on all cores, ask-ahead auto'] = chunk_us(1, 'auto', ())
    ours.update({f'shared memory, ask-ahead {ahead}': chunk_us(0, ahead, None) for ahead in ('off', 'auto')})
    ours['shared memory, 1 master, ask-ahead auto'] = chunk_us(1, 'auto', None)
    figures = side_by_side({floor: lambda: bare('ping', 2, CHUNKS, options=OWN)['seconds'] * 1e6, **ours})
    show('chunk', 'Time of a chunk', figures, 'us', base=dict.fromkeys(ours, floor))


main()
