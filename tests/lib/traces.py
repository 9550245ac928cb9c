# SPDX-License-Identifier: MIT
"""Made-up traces of runs, consistent in themselves, for the tests of what reads them: a loop that is cut by a trapezoid, with workers of
different power, some of which are lost, recalls and speculative copies."""
import heapq
import random

HEADER = 'kind,time_s,worker,node,master,chunk,first,count,reason,asked_s,begun_s,ended_s,stored_s,compute_s,fate,formula,text'
# Two workers of node 1 and one of node 0. Worker 3 is lost in its second chunk, which worker 2 computes again; the copy of it is dropped.
SAMPLE = HEADER + '''
run,,,,,,,,,,,,,,,,version=1.2.3
run,,,,,,,,,,,,,,,,kernel=adjoint
run,,,,,,,,,,,,,,,,technique=gss
run,,,,,,,,,,,,,,,,iterations=100
run,,,,,,,,,,,,,,,,masters=2
run,,,,,,,,,,,,,,,,colour=blue
worker,,4,0,1,,,,,,,,,,,,
worker,,3,1,2,,,,,,,,,,,,host=here power=2.5
worker,,2,1,2,,,,,,,,,,,,power=1 host=there
chunk,1,2,1,2,1,0,30,own,0.5,1.5,4.5,5,3,done,,
chunk,1,3,1,2,1,30,30,own,0.5,1.5,3.5,4,2,done,,
chunk,4,3,1,2,2,60,20,other,3.4,4.25,,,,lost,,
chunk,6,2,1,2,2,60,20,requeued,4.5,6,8,9,2,done,,
chunk,1,4,0,1,1,80,20,cut,,2,6,6.5,,done,,
chunk,7,4,0,1,2,60,20,copy,6.5,7,8,,1,dropped,,
cut,1,2,,,,0,30,,,,,,,,34,
cut,1,3,,,,30,30,,,,,,,,,
event,5,3,,,,,,,,,,,,,,worker lost
event,9,,,,,80,20,,,,,,,,,"a ""b"",
<c>"
chart,,,,,,,,,,,,,,,,of a later version
'''


class Trace:
    """`lines` of the file; `chunks` as dicts; `lost` as {worker: time}."""

    def __init__(self, workers, nodes, iterations, technique='dtss', kernel='mandelbrot', host='node'):
        self.workers, self.nodes = workers, nodes
        self.place = {rank: (rank - nodes - 1) * nodes // workers for rank in self.ranks()}
        self.chunks, self.cuts, self.events, self.lost = [], [], [], {}
        self.head = [row('run', text=f'{key}={value}') for key, value in (
            ('version', '0.2.0'), ('kernel', kernel), ('technique', technique), ('iterations', iterations), ('workers', workers),
            ('masters', nodes), ('origin', '2026-11-20T10:00:00Z'), ('later', 'unknown'))]
        self.powers = {rank: 1 + self.place[rank] % 2 for rank in self.ranks()}
        self.head += [row('worker', worker=rank, node=self.place[rank], master=1 + self.place[rank], text=f'host={host}{self.place[rank]} power={self.powers[rank]}')
                      for rank in self.ranks()]

    def ranks(self):
        return range(self.nodes + 1, self.nodes + 1 + self.workers)

    def lines(self):
        rows = self.head + [row('chunk', **chunk) for chunk in sorted(self.chunks, key=lambda chunk: (chunk['master'], chunk['time_s']))]
        return [HEADER] + rows + [row('cut', **cut) for cut in self.cuts] + [row('event', **event) for event in self.events]

    def write(self, path):
        with open(path, 'w', encoding='utf-8', newline='') as file:
            file.write('\n'.join(self.lines()) + '\n')


def row(kind, **fields):
    names = HEADER.split(',')
    return ','.join([kind] + [field_text(fields.get(name)) for name in names[1:]])


def field_text(value):
    if value is None:
        return ''
    text = f'{value:.9f}' if isinstance(value, float) else str(value)
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ',"\n\r') else text


def make_trace(workers=12, nodes=3, iterations=20000, lost=1, seed=1, cost=1e-3, **names):
    """A whole run, simulated with a queue of events."""
    rng = random.Random(seed)
    trace = Trace(workers, nodes, iterations, **names)
    dying = {rank: rng.uniform(.3, .6) for rank in rng.sample(list(trace.ranks()), lost)}  # shares of the time it takes
    expected = iterations * cost / sum(trace.powers.values())
    waiting = [(rng.uniform(1e-3, 5e-3), rank) for rank in trace.ranks()]
    heapq.heapify(waiting)
    first = max(1, iterations // (2 * workers))
    steps = 2 * iterations // (first + 1) + 1
    state = {'next': 0, 'requeued': [], 'numbers': dict.fromkeys(trace.ranks(), 0), 'formula': float(first), 'less': (first - 1) / max(1, steps - 1)}
    running = {}
    while waiting:
        asked, rank = heapq.heappop(waiting)
        if rank in trace.lost:
            continue
        chunk = next_chunk(trace, state, rank, asked, running, rng)
        if chunk is None:
            continue
        compute = cost * chunk['count'] / trace.powers[rank] * rng.uniform(.6, 1.6)
        chunk['begun_s'] = chunk['time_s'] + rng.uniform(5e-5, 5e-4)
        ended = chunk['begun_s'] + compute + 2e-5
        trace.chunks.append(chunk)
        if rank in dying and ended > dying[rank] * expected:
            trace.lost[rank] = max(dying[rank] * expected, chunk['begun_s'] + compute / 2)
            chunk['fate'] = 'lost'
            trace.events.append({'time_s': trace.lost[rank], 'worker': rank, 'text': 'worker lost'})
            state['requeued'].append((trace.lost[rank], chunk['first'], chunk['count']))
            for other in trace.ranks():  # those who found nothing ask again
                if other not in trace.lost and not any(entry[1] == other for entry in waiting):
                    heapq.heappush(waiting, (trace.lost[rank] + 1e-3, other))
            continue
        original = chunk.pop('copies', None)
        chunk.update(ended_s=ended, compute_s=compute, stored_s=ended + rng.uniform(1e-4, 2e-3), fate='done')
        if original is not None:
            winner, loser = (chunk, original) if ended < original['ended_s'] else (original, chunk)
            ended = winner['ended_s'] + 1e-3 if loser is chunk else ended  # the loser is told to stop
            loser.update(ended_s=winner['ended_s'] + 1e-3, compute_s=winner['ended_s'] - loser['begun_s'], stored_s=None, fate='dropped')
        else:
            running[rank] = chunk
        heapq.heappush(waiting, (ended + rng.uniform(1e-5, 1e-4), rank))
    trace.events.sort(key=lambda event: event['time_s'])
    return trace


def next_chunk(trace, state, rank, asked, running, rng):
    given = asked + rng.uniform(5e-5, 3e-4)
    state['numbers'][rank] += 1
    chunk = {'worker': rank, 'node': trace.place[rank], 'master': 1 + trace.place[rank], 'chunk': state['numbers'][rank], 'time_s': given, 'asked_s': asked}
    total = int(trace.head[3].rsplit('=', 1)[1])
    if state['requeued'] and state['requeued'][0][0] <= asked:
        _, first, count = state['requeued'].pop(0)
        return dict(chunk, first=first, count=count, reason='requeued')
    if state['next'] < total:
        formula, first = max(1, int(state['formula'])), total / (2 * trace.workers)
        state['formula'] = max(first / 40, state['formula'] - state['less'])
        count = min(max(1, formula * trace.powers[rank] * 2 // 3), total - state['next'])
        chunk.update(first=state['next'], count=count, reason=rng.choice(['own', 'own', 'own', 'other', 'cut']))
        trace.cuts.append({'time_s': given, 'worker': rank, 'first': state['next'], 'count': count, 'formula': formula})
        state['next'] += count
        return chunk
    latest = max((other for other in running.values() if other['ended_s'] > given + 2e-3 and 'copied' not in other), key=lambda other: other['ended_s'], default=None)
    if latest is None or latest['worker'] == rank:
        state['numbers'][rank] -= 1
        return None
    running[latest['worker']] = dict(latest, copied=True)
    return dict(chunk, first=latest['first'], count=latest['count'], reason='copy', copies=latest)


def write_large(path, workers=1000, nodes=16, each=1000):
    """As many chunks as workers * each, written as they are made. Returns what they have computed together."""
    rng, total, at = random.Random(5), 0.0, 0
    trace = Trace(workers, nodes, workers * each * 8)
    with open(path, 'w', encoding='utf-8') as file:
        file.write('\n'.join([HEADER] + trace.head) + '\n')
        for rank in trace.ranks():
            time, node, out = rng.uniform(0, .01), trace.place[rank], []
            for number in range(1, each + 1):
                compute = rng.random() * .02 + .001
                out.append(f'chunk,{time:.6f},{rank},{node},{node + 1},{number},{at},8,own,{time - 1e-4 if time > 1e-4 else 0:.6f},{time + 1e-4:.6f},'
                           f'{time + 2e-4 + compute:.6f},{time + 1e-3 + compute:.6f},{compute:.6f},done,,')
                at += 8
                time += compute + 5e-4 + (.002 if number % 97 == 0 else 0)
                total += round(compute, 6)
            file.write('\n'.join(out) + '\n')
        steps = workers * each // 10
        file.write('\n'.join(f'cut,{step * 1e-4:.6f},{nodes + 1 + step % workers},,,,{step * 80},{rng.randrange(60, 80)},,,,,,,,80,' for step in range(steps)) + '\n')
    return total
