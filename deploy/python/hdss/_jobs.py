# SPDX-License-Identifier: MIT
"""Jobs of a set: any kernel by hdss.job(), commands by hdss.exec(), and functions over a range of numbers by hdss.loop()."""
from __future__ import annotations

import asyncio
import inspect
import itertools
import os
import time
import weakref
from typing import Any, Callable, Dict, Generator, Iterable, List, Optional, Sequence, TYPE_CHECKING, Tuple, Union

from hdss import _given, _interpreter, _pickled
from hdss._control import Refused, environment_words
from hdss._errors import JobFailed
from hdss._progress import Bar
from hdss._sets import Folder, Set, as_set, work_folder

if TYPE_CHECKING:
    import numpy
    import numpy.typing

OVER = ('done', 'failed', 'cancelled')
LOOK_S = 0.25
WAIT_S = 20
REASONS_MAX = 3
# Types of numbers as HDSS has them, and the types of numpy that are as wide.
TYPES = ('uint8', 'uint16', 'uint32', 'uint64', 'int32', 'int64', 'float32', 'float64')
VIEWS = {'bool': 'uint8', 'int8': 'uint8', 'int16': 'uint16', 'float16': 'uint16', 'complex64': 'float32', 'complex128': 'float64'}


class Job:
    """A job of a set. `id` is its number; a set of its own ends with it."""

    def __init__(self, in_set: Set, owns_set: bool, words: Sequence[str], folder: Optional[Folder], options: Dict[str, Any]) -> None:
        self.set, self._folder = in_set, folder
        self._control = in_set.control()
        self._last: Dict[str, Any] = {}
        self._finalizer = weakref.finalize(self, _end, in_set if owns_set else None, folder)
        body = {'words': list(words), 'folder': os.getcwd(), 'environment': environment_words(_environment()), **options}
        self._tie = in_set.control() if options.get('attached') else self._control  # its end is that of an attached job
        try:
            self.id = int(self._tie.ask('POST', '/v1/jobs', body)['id'])
        except Refused as error:
            self.close()
            raise JobFailed(f'the job is refused: {error}') from None
        self.output: Optional[str] = None

    def __repr__(self) -> str:
        state = self._last.get('state', 'submitted')
        return f'<hdss.Job {self.id}: {state}, in {self.set!r}>'

    def __reduce__(self) -> Any:
        raise TypeError('a hdss.Job cannot be sent to a worker')

    def info(self) -> Dict[str, Any]:
        """What the set knows of the job now: the fields of docs/CONTROL.md, such as state, done, total, failed, eta_s."""
        if self._last.get('state') not in OVER:
            self._last = self._control.ask('GET', f'/v1/jobs/{self.id}')
        return dict(self._last)

    @property
    def state(self) -> str:
        """waiting, running, draining, done, failed or cancelled."""
        return str(self.info()['state'])

    @property
    def progress(self) -> float:
        """The part that is done, 0 to 1; 0 while nobody knows of how much."""
        info = self.info()
        return float((info['done'] or 0) / info['total'] if info['total'] else info['state'] == 'done')

    def is_over(self) -> bool:
        """True when it is done, has failed or was cancelled."""
        return self.info()['state'] in OVER

    def failures(self) -> List[Dict[str, Any]]:
        """What was given up: first, count, reason, and rank and node where they are known. While the set has the job."""
        found: List[Dict[str, Any]] = []
        while True:
            answer = self._control.ask('GET', f'/v1/jobs/{self.id}/failures?from={len(found)}')
            if not answer['failures']:
                return found
            found += answer['failures']

    def printed(self, stream: str = 'out') -> str:
        """What the job has written to standard output ('out'; its summary is at the end), or standard error ('err')."""
        text, at = b'', 0
        while True:
            part = self._control.ask_bytes('GET', f'/v1/jobs/{self.id}/output?stream={stream}&from={at}')
            if not part:
                return text.decode('utf-8', 'replace')
            text += part
            at += len(part)

    def report(self) -> str:
        """The summary of the run, as text, once it is over."""
        return self.printed('out')

    def cancel(self, finish: bool = False) -> None:
        """Ends it: at once, or, with `finish`, when what runs is done. What is done stays."""
        self._control.ask('DELETE', f'/v1/jobs/{self.id}' + ('?finish=1' if finish else ''))

    def wait(self, timeout: Optional[float] = None, progress: Optional[bool] = None) -> 'Job':
        """Waits until it is over, and returns the job. JobFailed where it has failed or was cancelled; TimeoutError after
        `timeout` seconds. With `progress` a bar is drawn. Ctrl-C cancels the job."""
        bar = Bar() if progress else None
        until = None if timeout is None else time.monotonic() + timeout
        try:
            while not self._look(bar, until):
                if until is not None and time.monotonic() >= until:
                    raise TimeoutError(f'job {self.id} is not over after {timeout} s')
        except KeyboardInterrupt:
            self.cancel()
            raise
        finally:
            if bar is not None:
                bar.leave()
        self._end()
        return self

    def _look(self, bar: Optional[Bar], until: Optional[float]) -> bool:
        """Waits for some time, or a change. True when it is over."""
        if self._last.get('state') in OVER:
            return True
        left = WAIT_S if until is None else max(0.0, min(WAIT_S, until - time.monotonic()))
        if bar is not None or left < 1:
            time.sleep(min(left, LOOK_S))
            self._last = self._control.ask('GET', f'/v1/jobs/{self.id}')
        else:
            self._last = self._control.ask('GET', f'/v1/jobs/{self.id}?wait={int(left)}')
        is_over = self._last['state'] in OVER
        if bar is not None:
            bar.draw(self._last['done'] or 0, self._last['total'] or 0, self._last['failed'] or 0, is_over)
        return is_over

    def _end(self) -> None:
        """It is over: says what has failed."""
        state = self._last['state']
        if state == 'done':
            return
        raise JobFailed(f'job {self.id} was cancelled' if state == 'cancelled' else f'job {self.id} has failed: {self._reason()}')

    def _reason(self) -> str:
        """Why it has failed, in a line: what was given up; else what its summary says, as of tasks; else its last error line."""
        failures = self.failures()
        if failures:
            return _reasons_of(failures)
        lines = self.printed('out').splitlines()
        counts = [line.partition(': ')[2] for line in lines[:1]]
        reasons = list(itertools.takewhile(_goes_on, itertools.dropwhile(lambda line: not line.startswith('  reasons '), lines)))
        if reasons:
            return '; '.join(counts + [line[len('  reasons '):].strip() for line in reasons[:REASONS_MAX]])
        return '; '.join(self.printed('err').strip().splitlines()[-1:] or counts) or 'no reason is known'

    def __await__(self) -> Generator[Any, None, 'Job']:
        return asyncio.get_running_loop().run_in_executor(None, self.wait).__await__()

    def close(self) -> None:
        """Gives back what it holds; a set of its own ends, with the job where it is not over."""
        self._control.close()
        self._tie.close()
        self._finalizer()

    def __enter__(self) -> 'Job':
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _reasons_of(failures: List[Dict[str, Any]]) -> str:
    """What was given up, in a line: each reason once, with its first iteration."""
    found: Dict[str, Tuple[int, int]] = {}  # the lowest iteration, and how many there are
    end = -1                                # what was tried more than once is there more than once
    for failure in sorted(failures, key=lambda failure: int(failure['first'])):
        first, behind = max(failure['first'], end), failure['first'] + failure['count']
        if first < behind:
            lowest, count = found.get(failure['reason'], (first, 0))
            found[failure['reason']] = lowest, count + behind - first
        end = max(end, behind)
    said = [f'iteration {lowest}{f" and {count - 1} more" if count > 1 else ""}: {reason}' for reason, (lowest, count) in found.items()]
    return '; '.join(said[:REASONS_MAX]) + (f'; and {len(said) - REASONS_MAX} other reasons' if len(said) > REASONS_MAX else '')


def _goes_on(line: str) -> bool:
    """True for the line of a summary that says the reasons, and those below it that have no name of their own."""
    return line.startswith(('  reasons ', ' ' * 10))


def _end(in_set: Optional[Set], folder: Optional[Folder]) -> None:
    if in_set is not None:
        in_set.close()
    if folder is not None:
        folder.remove()


def _environment() -> Dict[str, str]:
    """The environment of a job: this one, with this package."""
    values = dict(os.environ)
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    values['PYTHONPATH'] = os.pathsep.join([package] + [path for path in [values.get('PYTHONPATH')] if path])
    return values


def _words(technique: Optional[str], output: Any, options: Optional[Dict[str, Any]], parameters: Dict[str, Any]) -> List[str]:
    """Parameters of the kernel and options of the job, as words."""
    given = {'technique': technique, 'output': None if output is None else _given.word('output', output), **(options or {})}
    return [f'{name}={_given.parameter(name, value)}' for name, value in parameters.items()] + _given.option_words(given)


def job(kernel: str, *words: str, set: Union[Set, str, None] = None, workers: Optional[int] = None, technique: Optional[str] = None,
        output: Optional[str] = None, name: Optional[str] = None, priority: int = 0, weight: int = 1, after: Sequence[int] = (),
        options: Optional[Dict[str, Any]] = None, **parameters: Any) -> Job:
    """Submits a job of any kernel, as `hdss submit` does, and returns it.

        job = hdss.job('mandelbrot', width=2048, technique='fac2', output='m.npy')
        print(job.wait(progress=True).report())

    words       further words of the command line
    options     options of `hdss run` by their names, {'iteration_timeout': 5}
    parameters  those of the kernel
    For `set` and `workers` see hdss.Set; for the rest `hdss submit --help`.
    """
    if not isinstance(kernel, str):
        raise _given.refusal(TypeError, 'kernel', kernel, 'the name of a kernel')
    line = [kernel, *(_given.word('words', one) for one in words), *_words(technique, output, options, parameters)]
    said = _given.job_options(name, priority, weight, after)
    found = as_set(set, workers)
    made = Job(found, found is not set and found.is_own, line, None, said)
    made.output = None if output is None else os.path.abspath(output)
    return made


def exec(commands: Iterable[Union[str, Sequence[str]]], *, set: Union[Set, str, None] = None, workers: Optional[int] = None,
         output: Optional[str] = None, shell: bool = False, name: Optional[str] = None, priority: int = 0, weight: int = 1,
         options: Optional[Dict[str, Any]] = None, **parameters: Any) -> Job:
    """Submits commands, each a task, and returns the job.

    commands    of each its line, as a shell would have it, or its words: texts, bytes, paths, numbers
    output      file for what they print, in their order; their errors go to the name with .err behind it, and how they
                ended to that with .log, in the place of .out where that is its end (default: in a folder that goes with the
                job, see Job.output)
    shell       a shell reads each line, not only those with pipes, variables and the like
    parameters  those of the kernel exec: timeout=60, retries=2, cores=2, memory='2G' (`hdss kernels exec`)
    """
    if isinstance(commands, dict):
        raise _given.refusal(TypeError, 'commands', commands, 'a list of commands')
    lines = [_given.command_line(one) for one in _given.listed('commands', commands, "a list of commands, such as ['echo one']")]
    said = _given.job_options(name, priority, weight)
    place = None if output is None else os.path.abspath(_given.word('output', output))
    words = _words(None, None, options, parameters)
    found = as_set(set, workers)
    folder = work_folder(found)
    path = os.path.join(folder.path, 'tasks')
    with open(path, 'w', encoding='utf-8', errors='surrogateescape') as file:
        file.writelines(text + '\n' for text in lines)
    place = place or os.path.join(folder.path, 'output')
    line = ['exec', 'tasks=' + path, *(['shell=yes'] if shell else []), *words, '--output', place]
    made = Job(found, found is not set and found.is_own, line, folder, said)
    made.output = place
    return made


# --- loops ---

def _takes_one(function: Callable[..., Any]) -> bool:
    """True for f(i), False for f(first, count)."""
    try:
        listed = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # built in, with no signature
        return True
    needed = [p for p in listed if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty]
    if len(needed) not in (1, 2):
        raise TypeError(f'{getattr(function, "__qualname__", function)} needs {len(needed)} arguments; accepted: f(i), or f(first, count)')
    return len(needed) == 1


def _write_loop(folder: Folder, function: Callable[..., Any], n: int, dtype: 'numpy.dtype[Any]', shape: Tuple[int, ...]) -> List[str]:
    """Writes what workers have to know. Returns the words of the loop."""
    view = VIEWS.get(dtype.name, dtype.name)
    if view not in TYPES:
        raise ValueError(f'dtype: {dtype.name}; accepted: {", ".join(TYPES + tuple(VIEWS))}')
    described = shape + (2,) if dtype.kind == 'c' else shape
    if len(described) > 3:
        raise ValueError(f'shape: {shape}; accepted: at most 3 dimensions{", 2 of complex numbers" if dtype.kind == "c" else ""}')
    path = os.path.join(folder.path, 'loop')
    client = {'client': _interpreter.describe_client(), 'dtype': dtype.name, 'view': view, 'shape': shape, 'is_scalar': _takes_one(function)}
    with open(path, 'wb') as file:
        file.write(_pickled.dumps_plain(client, 2) + _pickled.dumps(function))  # by other versions of Python, the first one can be read
    return ['python:hdss._worker.loop', f'call={path}', f'iterations={n}', f'dtype={view}', 'shape=' + 'x'.join(map(str, described))]


def loop(function: Callable[..., Any], n: int, *, dtype: 'numpy.typing.DTypeLike' = 'float64', shape: Union[int, Tuple[int, ...]] = (),
         technique: Optional[str] = None, output: Optional[str] = None, set: Union[Set, str, None] = None, workers: Optional[int] = None,
         timeout: Optional[float] = None, retries: Optional[int] = None, progress: Optional[bool] = None,
         options: Optional[Dict[str, Any]] = None) -> 'numpy.ndarray[Any, Any]':
    """The array of the results of function for 0 .. n - 1, of shape (n, *shape) and type `dtype`.

        energies = hdss.loop(lambda i: simulate(seed=i), 10_000)

    function   f(i), the result of one iteration; or f(first, count), an array of those of `count` iterations
    technique  by which the loop is cut (`hdss techniques`)
    output     a .npy file for the results, which stays, and replaces one that is there; else the array is mapped from a file that nobody else sees
    timeout    seconds that an iteration may take, retries: how often one that fails is tried again
    Nothing is pickled but the function: workers write records, which are the array. Iterations may be run twice, where a
    worker is lost, slow, or measured. JobFailed where some have failed for good; what is done is in `output` then, as far
    as it was given.
    """
    import numpy
    n = _given.whole('n', n)
    timeout, retries = _given.seconds('timeout', timeout), None if retries is None else _given.whole('retries', retries)
    if output is not None and not _given.word('output', output).endswith('.npy'):
        raise ValueError(f'output: {output}; accepted: a name that ends in .npy')
    if not callable(function):
        raise _given.refusal(TypeError, 'function', function, 'f(i), or f(first, count)')
    kind = numpy.dtype(dtype).newbyteorder('=')
    lengths: Any = shape if hasattr(shape, '__iter__') else (shape,)
    record = tuple(_given.whole('shape', length, 1, 'lengths from 1') for length in lengths)
    found = as_set(set, workers)
    owns = found is not set and found.is_own
    folder = work_folder(found)
    try:
        call = _write_loop(folder, function, n, kind, record)
        place = os.path.abspath(_given.word('output', output)) if output is not None else os.path.join(folder.path, 'results.npy')
        given = {'iteration_timeout': timeout, 'retries': retries, 'overwrite': True if output is not None else None, **(options or {})}
        words = [*call, *_words(technique, place, given, {})]
        with Job(found, False, words, None, {'attached': True}) as made_by:
            made_by.wait(progress=progress)
        made = numpy.load(place, mmap_mode='r+') if n > 0 else numpy.empty((0, *record), kind)
    finally:
        if owns:
            found.close()
        folder.remove()
    return _as_kind(made, kind, (n, *record))


def _as_kind(made: 'numpy.ndarray[Any, Any]', kind: 'numpy.dtype[Any]', shape: Tuple[int, ...]) -> 'numpy.ndarray[Any, Any]':
    """The array as the type that was asked for, where HDSS has it as another one of the same width."""
    return made if made.dtype == kind else made.view(kind).reshape(shape)


__all__ = ['Job', 'exec', 'job', 'loop']
