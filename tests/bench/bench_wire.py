# SPDX-License-Identifier: MIT
"""Messages, bytes, calls of the system and allocations per chunk, ss, empty body.

The calls are counted inside the ranks (count_calls.c), in a run of n and in one of 10 n chunks: the difference is what chunks need, without
start and end. `wait` are the calls by which a rank with nothing to do sleeps and looks at its timers (once in 1 ms while it is busy),
`bell` those by which a sleeper is woken, `yield` gives the core to the others where they share; `call` and `allocation` are to be 0.
"""
import collections
import json
import os
import tempfile

from measure import header, led, record, sized

CHUNKS = sized(100000, 1000)
LINEUPS = [(0, 1, 'auto'), (0, 1, 'off'), (0, 3, 'auto'), (1, 1, 'auto'), (2, 6, 'auto')]


def counted(masters, workers, ask_ahead, chunks):
    """(report, {program: {kind: count}}, {program: Counter of the calls})"""
    path = os.path.abspath('calls.jsonl')
    if os.path.exists(path):
        os.unlink(path)
    figures = led(masters, workers, ['--technique', 'ss', '--power', 'equal', '--ask-ahead', ask_ahead, 'synthetic', f'iterations={chunks}',
                                     'mean=0'], before=['env', f'LD_PRELOAD={os.environ["COUNT_CALLS"]}', f'HDSS_COUNT_FILE={path}'])
    calls = collections.defaultdict(collections.Counter)
    with open(path) as file:
        for line in file:
            counts = json.loads(line)
            program = os.path.basename(counts.pop('program'))
            if program in ('supermaster', 'master', 'worker'):
                calls[program].update(counts)
    return figures, calls


def of_kind(calls, kind):
    return sum(count for name, count in calls.items() if name.startswith(kind + '/'))


def main():
    os.chdir(tempfile.mkdtemp(prefix='hdss-bench-'))
    header(f'Per chunk, ss, empty body, {CHUNKS} against {10 * CHUNKS} chunks')
    for masters, workers, ask_ahead in LINEUPS:
        few, few_calls = counted(masters, workers, ask_ahead, CHUNKS)
        many, many_calls = counted(masters, workers, ask_ahead, 10 * CHUNKS)
        chunks = many['chunks'] - few['chunks']
        name = f'1 + {masters} + {workers}, ask-ahead {ask_ahead}'
        messages = (many['messages'] - few['messages']) / chunks
        size = (many['bytes_on_wire'] - few['bytes_on_wire']) / chunks
        print(f'  {name}: {messages:.3f} messages, {size:.1f} bytes', flush=True)
        record('wire', f'{name} / messages', [messages])
        record('wire', f'{name} / bytes', [size])
        for program, calls in sorted(many_calls.items()):
            more = calls.copy()
            more.subtract(few_calls[program])
            kinds = {kind: of_kind(more, kind) / chunks for kind in ('call', 'allocation', 'wait', 'bell', 'yield')}
            most = ', '.join(f'{call.split("/")[1]} {count}' for call, count in more.most_common(4) if count > 0)
            print(f'    {program:12s}' + ''.join(f'{kind} {count:9.5f}  ' for kind, count in kinds.items()) + f'most: {most}', flush=True)
            for kind, count in kinds.items():
                record('wire', f'{name} / {program} / {kind}', [count])


main()
