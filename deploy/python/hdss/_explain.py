# SPDX-License-Identifier: MIT
"""hdss explain: who computed an iteration, when, and why there; what a worker did; what became of a chunk. From the trace of the run."""
from __future__ import annotations

import json
import os
import subprocess
from typing import Any, Dict, List, Optional, Sequence

from hdss import _text
from hdss._command import Command, Option, Refusal, any_file, whole
from hdss._errors import HdssError
from hdss._program import program
from hdss._trace import NUMBER_MAX, Broken, Chunk, Cut, Trace, Worker, open_trace

WHY = {
    'own': 'from the pool: the technique had cut it for this worker',
    'other': 'from the pool: it was cut for another worker, and nothing there was for this one',
    'cut': 'the technique cut it as the worker asked',
    'requeued': 'another worker had it, and was lost or failed',
    'recalled': 'recalled from another worker, which had not begun it',
    'copy': 'a copy: another worker was late with it, and nothing else was left',
    'verify': 'to be compared with the results of another worker',
    'adopted': 'it was at it when its master was lost',
}
BECAME = {
    'done': 'done, and stored',
    'lost': 'lost with the worker',
    'returned': 'given back before it had begun, for others',
    'dropped': 'its results do not count: those of another worker do, or they were only compared',
    'failed': 'failed',
    'undone': 'not computed: the run ended early',
}
OVER = ('done', 'failed', 'cancelled')


# --- words ---

def _count(number: Optional[int]) -> str:
    return '?' if number is None else f'{number:,}'


def _range(first: Optional[int], count: int) -> str:
    if count <= 1:
        return f'{"none from" if count == 0 else "iteration"} {_count(first)}'
    return f'iterations {_count(first)} to {_count(None if first is None else first + count - 1)} ({count:,})'


def _moment(time: Optional[float], what: str) -> str:
    return (f'  {"?":>14}    ' if time is None else f'  {time:14.6f} s  ') + what + '\n'


def _later(time: float, since: Optional[float]) -> str:
    return f', {_text.duration(time - since)} later' if since is not None and time > since else ''


def _place(worker: Worker) -> str:
    return f'on node {worker.node}' + (f' ({_text.shown(worker.host)})' if worker.host is not None else '')


class Story:
    """What a trace tells, as text. Refusal if it does not tell of what is asked."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        facts = trace.facts
        self._run = ''.join(f'{before}{_text.shown(facts[key])}' for before, key in ((' of ', 'kernel'), (', by ', 'technique')) if key in facts) + '\n'

    def of_iteration(self, iteration: int) -> str:
        trace = self._trace
        parts = [f'Iteration {iteration:,}{self._run}', *(self._cut(i, cut) for i, cut in enumerate(trace.cuts) if cut.has(iteration))]
        resumed = next((pair for pair in trace.resumed if pair[0] <= iteration < sum(pair)), None)
        if resumed is not None:
            parts.append(f'\n{_range(*resumed)}\n' + _moment(None, 'done, and stored, by an earlier run: this run went on from its journal'))
        found = [(worker, chunk) for worker in trace.workers for chunk in worker.chunks if chunk.has(iteration)]
        if not found and resumed is None:
            loop = '' if trace.iterations is None else f'; the loop has {trace.iterations}, counted from 0'
            raise Refusal(f'nobody was given iteration {iteration}{loop}')
        return ''.join(parts + self._chunks(found))

    def of_worker(self, rank: int) -> str:
        worker = self._worker(rank)
        lines = [f'{chunk.given:14.6f} {chunk.number:7d} {"?" if chunk.first is None else chunk.first:>14} {chunk.count:10d}  {chunk.reason:<9} '
                 f'{"-" if chunk.compute is None else _text.duration(chunk.compute):>10}  {chunk.fate}\n' for chunk in worker.chunks]
        head = f'\n{"given (s)":>14} {"chunk":>7} {"first":>14} {"count":>10}  {"why":<9} {"kernel":>10}  became\n'
        return f'Worker {worker.rank} {_place(worker)}{self._run}{self._sums(worker)}{head}' + ''.join(lines)

    def of_chunk(self, rank: int, number: int) -> str:
        """One chunk of the worker, by its number; if it had two masters there may be two of a number."""
        worker = self._worker(rank)
        found = [(worker, chunk) for chunk in worker.chunks if chunk.number == number]
        if not found:
            raise Refusal(f'worker {rank} has no chunk {number}; `hdss explain --worker {rank} TRACE` lists those that it has')
        return f'Chunk {number} of worker {rank}{self._run}' + ''.join(self._chunks(found))

    def of_step(self, step: int) -> str:
        """The chunk that the technique cut in that scheduling step, counted from 1, and who had its iterations."""
        cuts = self._trace.cuts
        if step > len(cuts):
            raise Refusal(f'there is no scheduling step {step}; accepted: 1 to {len(cuts)}')
        cut = cuts[step - 1]
        found = [(worker, chunk) for worker in self._trace.workers for chunk in worker.chunks if chunk.first is not None and cut.first is not None
                 and chunk.first < cut.first + cut.size and cut.first < chunk.first + chunk.count]
        return f'Scheduling step {step}{self._run}{self._cut(step - 1, cut)}' + ''.join(self._chunks(found))

    def _worker(self, rank: int) -> Worker:
        workers = self._trace.workers
        found = next((worker for worker in workers if worker.rank == rank), None)
        if found is None:
            raise Refusal(f'there is no worker of rank {rank}; the first has {workers[0].rank}, and there are {len(workers)}' if workers
                          else 'the trace has no workers')
        return found

    def _cut(self, i: int, cut: Cut) -> str:
        what = 'cut' + (f' for worker {cut.worker}' if cut.worker is not None else '')
        if cut.formula is not None:
            what += f'; {_text.shown(self._trace.facts.get("technique", "the formula"))} says {cut.formula:,}, before weights and bounds'
        return f'\nscheduling step {i + 1:,} of {len(self._trace.cuts):,}: {_range(cut.first, cut.size)}\n' + _moment(cut.time, what)

    def _chunks(self, found: List[Any]) -> List[str]:
        found.sort(key=lambda pair: (pair[1].given, -1 if pair[1].first is None else pair[1].first))
        return [self._chunk(worker, chunk) for worker, chunk in found]

    def _chunk(self, worker: Worker, chunk: Chunk) -> str:
        giver = ''
        if chunk.master is not None:
            giver = ' by the supermaster' if chunk.master == 0 or self._trace.masters == 0 else f' by master {chunk.master}'
        parts = [f'\nworker {worker.rank} {_place(worker)}, chunk {chunk.number}: {_range(chunk.first, chunk.count)}\n']
        if chunk.asked is not None:
            parts.append(_moment(chunk.asked, 'asked'))
        parts.append(_moment(chunk.given, f'given{giver}{_later(chunk.given, chunk.asked)}: {WHY.get(chunk.reason, "the trace does not say why")}'))
        if chunk.begun is not None:
            parts.append(_moment(chunk.begun, f'begun{_later(chunk.begun, chunk.given)}'))
            parts.append(_moment(chunk.ended, 'ended' + (f', after {_text.duration(chunk.compute)} in the kernel' if chunk.compute is not None else '')))
        return ''.join(parts) + _moment(chunk.stored, BECAME.get(chunk.fate, 'nobody knows: the trace ends before'))

    @staticmethod
    def _sums(worker: Worker) -> str:
        chunks = worker.chunks
        done = sum(chunk.count for chunk in chunks if chunk.fate == 'done')
        in_vain = sum(chunk.count for chunk in chunks if chunk.fate not in ('done', 'returned'))
        ended = [chunk.ended for chunk in chunks if chunk.ended is not None]
        lines = [f'  virtual power {worker.power:.3g}\n'] if worker.power > 0 else []
        lines.append(f'  {done:,} iterations done in {sum(chunk.begun is not None for chunk in chunks):,} chunks'
                     + (f'; {in_vain:,} lost, failed, dropped or undone' if in_vain > 0 else '') + '\n')
        if ended:
            kernel = _text.duration(sum(chunk.compute for chunk in chunks if chunk.compute is not None))
            lines.append(f'  in the kernel for {kernel} of the {_text.duration(ended[-1] - chunks[0].given)} from its first chunk to the end of its last\n')
        if worker.lost is not None:
            lines.append(f'  lost at {worker.lost:.6f} s\n')
        return ''.join(lines)


# --- the trace of a job ---

def _may_be_file(name: str) -> bool:
    """A name that can be no job's is a file's."""
    number = name.rpartition('/')[2]
    return os.access(name, os.R_OK) or '.' in name or not (number.isascii() and number.isdigit() and number.strip('0'))


def _trace_of_job(name: str, wanted_set: Optional[str]) -> str:
    words = ['show', '--format', 'json', *(['--set', wanted_set] if wanted_set is not None else []), '--', name]
    try:
        shown = subprocess.run([program(), *words], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except (OSError, HdssError) as error:
        raise Refusal(f'{name:.100}: {error}') from None
    if shown.returncode != 0:
        raise Refusal(shown.stderr.decode('utf-8', 'replace').strip().partition('hdss show: ')[2])
    job = json.loads(shown.stdout)
    job = job[0] if isinstance(job, list) else job
    trace = _value_of_trace(job.get('command') or [])
    if trace is None:
        raise Refusal(f'{name:.100} has no trace: it was given no --trace FILE.csv')
    if job.get('state') not in OVER:
        raise Refusal(f'{name:.100} is {job.get("state")}: its trace is there when it is over')
    return os.path.join(job.get('folder') or '', trace)


def _value_of_trace(words: Sequence[str]) -> Optional[str]:
    found = None
    for i, word in enumerate(words):
        if word.startswith('--trace='):
            found = word[8:]
        elif word == '--trace' and i + 1 < len(words):
            found = words[i + 1]
    return found


# --- the command ---

def _rank(text: str) -> int:
    rank = whole(text)
    if rank > NUMBER_MAX:
        raise ValueError(text)
    return rank


def _number(text: str) -> int:
    number = whole(text)
    if number == 0:
        raise ValueError(text)
    return number


def _name(text: str) -> str:
    if not text:
        raise ValueError(text)
    return text


COMMAND = Command(
    'explain', 'TRACE.csv|ID',
    'Tells in words which worker computed what, when, and why, from the trace that a run with `--trace FILE.csv` writes. ID is a job of a set that has such a '
    'trace.',
    (Option('iteration', 'tell which worker computed iteration I, counted from 0, when, and why', 'I', 'an integer from 0 to 2^64', whole, 'i'),
     Option('worker', 'tell what the worker of rank W computed', 'W', 'the rank of a worker', _rank, 'w'),
     Option('chunk', 'with --worker, describe chunk C of this worker. Without it, describe the chunk that was cut in scheduling step C', 'C',
            'an integer from 1', _number, 'c'),
     Option('set', 'use this set', 'NAME', 'NAME', _name)),
    ('Example:', '    hdss run --workers 4 --trace run.csv mandelbrot\n    hdss explain run.csv --iteration 700\n    hdss explain run.csv --worker 2'),
    any_file, 'TRACE.csv|ID --iteration I | --worker W [--chunk C] | --chunk C')


def _run(values: Dict[str, Any], operands: List[str]) -> int:
    if len(operands) > 1:
        raise Refusal(f"'{operands[1]:.100}' is one argument too many: one trace, or one job, is accepted")
    if not operands:
        raise Refusal('no trace is given: hdss explain TRACE.csv --iteration I')
    if not values.keys() & {'iteration', 'worker', 'chunk'}:
        raise Refusal('nothing is asked: --iteration I, --worker W or --chunk C is accepted')
    if 'iteration' in values and ('worker' in values or 'chunk' in values):
        raise Refusal('--iteration says enough: accepted without --worker and --chunk')
    name = operands[0] if _may_be_file(operands[0]) else _trace_of_job(operands[0], values.get('set'))
    try:
        with open_trace(name) as file:
            story = Story(Trace(file, name))
    except OSError as error:
        raise Refusal(f'{name:.200}: {error.strerror}') from None
    except Broken as broken:
        raise Refusal(str(broken)) from None
    if 'iteration' in values:
        return COMMAND.write(story.of_iteration(values['iteration']))
    if 'worker' not in values:
        return COMMAND.write(story.of_step(values['chunk']))
    if 'chunk' in values:
        return COMMAND.write(story.of_chunk(values['worker'], values['chunk']))
    return COMMAND.write(story.of_worker(values['worker']))


def main(words: Sequence[str], version: str) -> int:
    return COMMAND.main(words, version, _run)
