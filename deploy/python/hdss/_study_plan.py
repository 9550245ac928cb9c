# SPDX-License-Identifier: MIT
"""The contents of a study file: the axes of the matrix, and what is made of its runs.

The file has lines "key = value value ..." and comments from a # to the end of the line. The values of an axis are checked as the options of
`hdss run` are that they become. Masters, hierarchies and workers alone lie on one axis: its values are "0" (central), "2" (two masters) and
"dca-rma" (workers alone, --dca rma)."""
from __future__ import annotations

import difflib
import re
from typing import Callable, Dict, List, NamedTuple, NoReturn, Optional, Protocol, Sequence, Tuple

from hdss import _command
from hdss._command import Refusal

VALUES_MAX, RUNS_MAX = 256, 1000000
WORKERS_MAX = 1048576
REPETITIONS_MAX, TIMEOUT_S_MAX = 10000, 1000000
UNTIL_LEAST = 6     # runs before an interval can be narrow enough: fewer have none of 95 %
UNTIL_MOST = 100    # runs of a cell where the file does not say how many
INTERVAL_LEAST = 3  # runs that have an interval of confidence
DCA = 'dca-'
MPIRUN, SIMULATE = 'mpirun', 'simulate'
LISTS = ('title', 'power', 'slowdown', 'load', 'fail_nodes', 'options')  # keys whose values may have commas
NO_PLATFORM = 'none'  # that of hdss simulate which is asked for no other
HALF_OF_MFSC = 'mfsc/2'
BLANKS = ' \t\r\f\v'
BLANKS_OF_C = re.compile('[ \t\n]+')


class Axis(NamedTuple):
    name: str                # in the file and in the table of runs
    title: str               # for people
    option: Optional[str]    # option of `hdss run`; None: composed in another way
    standard: Optional[str]  # value where the file does not name the axis; None: it must
    is_number: bool = False  # values are numbers, unless workers alone are among them
    is_dealt: bool = False   # values may be lists, whose parts are dealt out to the workers
    is_simulated: bool = False  # only simulated runs have it; without a line for it its option may be among `options`
    none: str = ''           # a value of our own, for an option that is not given


# A new axis is a row here, one in KEYS, and a line in hdss-study(1).
AXES = (
    Axis('kernel', 'kernel', None, None),
    Axis('technique', 'technique', 'technique', 'dfss'),
    Axis('weighting', 'weighting', 'weighting', 'none'),
    Axis('power', 'powers', 'power', 'measure', is_dealt=True),
    Axis('min_chunk', 'least chunk', 'min-chunk', '1', True, none=HALF_OF_MFSC),
    Axis('refill_chunks', 'chunks for each worker in a refill', 'refill-chunks', '1', True),
    Axis('refill', 'refills', 'refill', 'ahead'),
    Axis('sync_points', 'synchronization points', 'sync-points', 'auto', True),
    Axis('masters', 'masters', None, '0', True),
    Axis('workers', 'workers', 'workers', None, True),
    Axis('threads', 'threads', 'threads', '1', True),
    Axis('thread_technique', 'thread technique', 'thread-technique', 'fac2'),
    Axis('delay', 'injected delay', 'inject-delay', 'none', none='none'),
    Axis('slowdown', 'slowdown', 'slowdown', '1', is_dealt=True),
    Axis('load', 'load', 'load', 'none', is_dealt=True, none='none'),
    Axis('fail_nodes', 'lost nodes', 'fail-nodes', 'none', is_simulated=True, none='none'),
    Axis('costs', 'costs', 'costs', 'model', is_simulated=True, none='model'),
    Axis('backend', 'backend', None, MPIRUN),
    Axis('platform', 'platform', None, NO_PLATFORM),
)
AXIS = {axis.name: axis for axis in AXES}
AXIS_NAMES = ', '.join(AXIS)


class Measure(NamedTuple):
    name: str              # in the file and in the names of pictures
    title: str             # at an axis
    unit: str              # '' for a ratio
    column: Optional[str]  # column of the table of runs; None: the measure follows from others
    over: Optional[str] = None   # the column by which it is divided
    about: Optional[str] = None  # definition, where the title does not say it all
    is_standard: bool = False    # taken where the file names no measure


_PERCENT = '100 (max - mean) / max * n / (n - 1) of n workers (DeRose, Homer and Johnson 2007)'
MEASURES = (
    Measure('time', 'loop time', 's', 'elapsed_s', None, 'from the first assignment to the last commit', True),
    Measure('overhead', 'non-overlapped overhead', 's', 'overhead_s', None,
            'the mean over the workers, or the cores that they share, of the loop time without computing', True),
    Measure('speedup', 'speedup', '', None, None, 'the least median loop time of the same kernel with the fewest workers and threads of the study, times the '
            'number of these, over the loop time', True),
    Measure('efficiency', 'efficiency', '', 'efficiency', None,
            "the part of the workers' time, or of the cores that they share, that is spent inside the kernel", True),
    Measure('compute', 'computing time of all workers', 's', 'compute_s', None,
            "inside the kernel, of all workers together; each worker's own stands in the table of them"),
    Measure('imbalance', 'imbalance of the finishing times, max / mean', '', 'imbalance.max_over_mean', None,
            "the last worker's finishing time over the mean of all", True),
    Measure('cov', 'coefficient of variation of the finishing times', '', 'imbalance.cov'),
    Measure('imbalance_excess', 'imbalance of the finishing times, max / mean - 1', '', 'imbalance.excess', None, 'Pearce et al. 2012'),
    Measure('imbalance_percent', 'percent imbalance of the finishing times', '%', 'imbalance.percent', None, _PERCENT),
    Measure('busy_imbalance', 'imbalance of the busy times, max / mean', '', 'busy.max_over_mean', None,
            'the longest time that a worker computed over the mean of all'),
    Measure('busy_cov', 'coefficient of variation of the busy times', '', 'busy.cov'),
    Measure('busy_percent', 'percent imbalance of the busy times', '%', 'busy.percent', None, _PERCENT),
    Measure('cost', 'parallel cost', 's', 'cost_s', None,
            'the loop time of all threads, or of all cores where workers share some, together (Grama et al. 2003)'),
    Measure('scheduling', 'scheduling overhead', 's', 'scheduling_s', None,
            'the mean over the workers of the time until their last completion without computing'),
    Measure('idle', 'idle time at the end', 's', 'idle_s', None, 'the mean over the workers of the time from their last completion to the end of the loop'),
    Measure('thread_imbalance', 'imbalance of the threads of a worker, max / mean', '', 'threads.imbalance.max_over_mean', None,
            "the longest time that a thread computed over the mean of its worker's threads, the mean of all workers"),
    Measure('improvement', 'improvement over the baseline', '%', None, None, "100 times the part of the baseline's median loop time that is saved"),
    Measure('chunks', 'chunks', '', 'chunks'),
    Measure('chunk_size', 'mean chunk size', 'iterations', 'iterations', 'chunks'),
    Measure('refills', "refills of the masters' pools", '', 'refills'),
    Measure('recalls', 'recalls that brought something', '', 'recalls.count'),
    Measure('recalled', 'iterations that recalls moved', '', 'recalls.iterations'),
    Measure('messages', 'messages', '', 'messages'),
    Measure('messages_per_chunk', 'messages per chunk', '', 'messages', 'chunks'),
    Measure('bytes', 'bytes on the wire', 'bytes', 'bytes_on_wire'),
    Measure('startup', 'start-up time', 's', 'startup_s', None, 'from the start of the program to the first assignment'),
)
MEASURE = {measure.name: measure for measure in MEASURES}
MEASURE_NAMES = ', '.join(MEASURE)

# The axes along which the lines of a picture run, and those of what each line is for, as they are chosen where the file does not say.
_ALONG = ('workers', 'threads', 'masters', 'sync_points', 'min_chunk', 'refill_chunks', 'refill', 'technique', 'thread_technique', 'slowdown', 'load',
          'fail_nodes', 'costs', 'delay', 'weighting', 'power', 'platform', 'backend', 'kernel')
_LINES = ('masters', 'technique', 'thread_technique', 'threads', 'weighting', 'min_chunk', 'refill_chunks', 'refill', 'sync_points', 'delay', 'slowdown',
          'load', 'fail_nodes', 'costs', 'power', 'backend', 'platform', 'workers', 'kernel')


class Asks(Protocol):
    """What is asked of HDSS itself while a file is read (_study_check.Engine)."""

    refused: Sequence[str]  # options that a study sets itself, or that have no place in one

    def ask(self, *words: str) -> Dict[str, object]:
        """Raises Refusal with what is wrong."""


class Located(Refusal):
    """What is wrong with the file, in the line `line`; 0: in no one line."""

    def __init__(self, text: str, line: int) -> None:
        super().__init__(text)
        self.line = line

    def at(self, name: str) -> Refusal:
        return Refusal(f'{name:.150}, line {self.line}: {self}' if self.line else f'{name:.150}: {self}')


class Study:
    """A study as its file says it."""

    def __init__(self) -> None:
        self.title = ''
        self.values: Dict[str, List[str]] = {axis.name: [] for axis in AXES}
        self.line: Dict[str, int] = {axis.name: 0 for axis in AXES}  # of the first value; 0: the file does not name the axis
        self.kernel_lines: List[int] = []
        self.options: List[str] = []  # of `hdss run`, for every run
        self.options_line = 0
        self.repetitions, self.timeout_s = 1, 0
        self.until = 0.0            # a cell is run until its interval is so many percent of the median to either side; 0: never mind
        self.seed = 1
        self.has_seeds = False      # each repetition of a simulated run has an order of events of its own
        self.keeps_steps = False
        self.keeps_traces = False
        self.measured: List[str] = []
        self.x = ''                 # axes of the lines; '': none
        self.series = ''
        self.heat: Optional[Tuple[str, str]] = None
        self.has_heat_line = False  # heat maps of every measure, otherwise of the first
        self.baseline: Optional[Dict[str, int]] = None      # of `improvement`: the place of the value on each axis that is given
        self.speedup_base: Optional[Dict[str, int]] = None  # None: Summary.serial_time()

    def varies(self, axis: str) -> bool:
        return len(self.values[axis]) > 1

    def is_numeric(self, axis: str) -> bool:
        return AXIS[axis].is_number and all(whole(value) is not None for value in self.values[axis])

    @property
    def simulates(self) -> bool:
        """True if some of the cells are simulated."""
        return SIMULATE in self.values['backend']

    @property
    def is_real(self) -> bool:
        """True if some of them are not."""
        return MPIRUN in self.values['backend']

    @property
    def has_intervals(self) -> bool:
        """True if cells have intervals of confidence: they are run often enough, and not all of them are the same run again."""
        return self.repetitions >= INTERVAL_LEAST and (self.is_real or self.has_seeds)


def whole(text: str) -> Optional[int]:
    """A number below 2^64, as options take it: 1000, 1_000, 1e3, 2^10."""
    try:
        return _command.whole(text)
    except ValueError:
        return None


def dealt(value: str) -> List[str]:
    """The parts of a list that is dealt out to the workers: "2*1.5,1" as ["1.5", "1.5", "1"]."""
    parts: List[str] = []
    for part in value.split(','):
        times, star, text = part.partition('*')
        count = whole(times) if star else 1
        if count is None or not 1 <= count <= WORKERS_MAX:
            raise Refusal(f"'{part:.100}': before the * accepted: an integer from 1 to {WORKERS_MAX}")
        parts += [text if star else part] * count
    return parts


def real(text: str) -> Optional[float]:
    try:
        return _command.real(text)
    except ValueError:
        return None


def is_dca(masters: str) -> bool:
    return masters.startswith(DCA)


def topology(masters: str) -> str:
    """"central", "hierarchical", "dca-rma": what a value of the axis of the masters is."""
    return masters if is_dca(masters) else 'central' if masters == '0' else 'hierarchical'


def value_text(axis: str, value: str) -> str:
    """A value as people read it: "2 masters", "central"."""
    if axis == 'masters' and (is_dca(value) or value == '0'):
        return topology(value)
    if axis in ('masters', 'workers', 'threads'):
        return f'{value} {axis[:-1]}{"" if value == "1" else "s"}'
    if axis == 'backend':
        return 'simulated' if value == SIMULATE else 'measured'
    return value if axis in ('kernel', 'technique') else f'{AXIS[axis].title} {value}'


def split(text: str) -> List[str]:
    """The words of a text, between blanks, tabs and ends of lines."""
    return [word for word in BLANKS_OF_C.split(text) if word]


def has_option(words: Sequence[str], name: str) -> bool:
    return any(word == f'--{name}' or word.startswith(f'--{name}=') for word in words)


def _refuse(key: Key, value: str) -> NoReturn:
    raise Refusal(f"{key.name} = '{value:.200}' is not accepted: {key.accepted}")


def _number(value: str) -> float:
    return 0.0 if is_dca(value) else real(value) or 0.0


class Reader:
    """The file as it is being read."""

    def __init__(self, asks: Asks) -> None:
        self.study = Study()
        self.asks = asks
        self.line = 0
        self.lines: Dict[str, int] = {}  # of the keys so far
        self.topologies: List[str] = []
        self.references: Dict[str, Dict[str, str]] = {}

    def read(self, text: str) -> Study:
        """Raises Located."""
        try:
            for line in text.split('\n'):
                self.line += 1
                self._take_line(line)
            self.line = 0
            self._complete()
        except Located:
            raise
        except Refusal as refusal:
            raise Located(str(refusal), self.line) from None
        return self.study

    def _take_line(self, line: str) -> None:
        line = re.sub(f'[{BLANKS}]', ' ', line.partition('#')[0]).strip(' ')
        if not line:
            return
        name, equals, rest = line.partition('=')
        if not equals or not name:
            raise Refusal(f"'{line:.100}' is not accepted: KEY = VALUE ..., or # and a comment")
        name = name.strip(' ')
        key, values = _find_key(name), split(rest)
        if not values:
            raise Refusal(f'{name} has no value; accepted: {key.accepted}')
        if name != 'kernel' and name in self.lines:
            raise Refusal(f'{name} stands there for the second time; accepted: one line with all values')
        self.lines[name] = self.line
        try:
            key.take(self, key, values)
        except Refusal:
            plain = ' '.join(split(re.sub('["\',]', ' ', rest)))
            if plain == ' '.join(values) or (',' in rest and (name in LISTS or ':' in rest)):
                raise
            raise Refusal(f"{name} = '{' '.join(values):.100}': values stand between blanks, without commas and quotes: {name} = {plain:.100}") from None

    def _add_value(self, axis: str, value: str) -> None:
        values = self.study.values[axis]
        if value in values:
            raise Refusal(f"'{value:.200}' stands twice in {axis}; accepted: each value once")
        if len(values) == VALUES_MAX:
            raise Refusal(f'more than {VALUES_MAX} values of {axis} are not accepted')
        values.append(value)

    # --- the keys ---

    def take_title(self, key: Key, values: List[str]) -> None:
        self.study.title = ' '.join(values)
        if len(self.study.title.encode(errors='surrogateescape')) > 159:
            raise Refusal(f'title is not accepted: {key.accepted}')

    def take_kernel(self, key: Key, values: List[str]) -> None:
        text = ' '.join(values)
        if len(text) > 1023:
            raise Refusal('a kernel and its parameters of more than 1023 characters are not accepted')
        if text.startswith(('-', '"', "'")):
            _refuse(key, text)
        self._add_value('kernel', text)
        self.study.kernel_lines.append(self.line)
        self.study.line['kernel'] = self.study.kernel_lines[0]

    def take_axis(self, key: Key, values: List[str]) -> None:
        axis = AXIS[key.name]
        self.study.line[axis.name] = self.line
        for value in values:
            if value != axis.none and not axis.is_simulated:
                try:
                    text = ','.join(dict.fromkeys(dealt(value))) if axis.is_dealt and '*' in value else value
                    self.asks.ask('option', axis.option or axis.name, text)
                except Refusal as refusal:
                    raise Refusal(f'{key.name}: {refusal}') from None
            self._add_value(axis.name, value)

    def take_numbers(self, key: Key, values: List[str]) -> None:
        plain = []
        for value in values:
            number = whole(value)
            if number is None and value != AXIS[key.name].none:
                _refuse(key, value)
            plain.append(value if number is None else str(number))  # 1e3 is 1000
        self.take_axis(key, plain)

    def take_topologies(self, key: Key, values: List[str]) -> None:
        for value in values:
            if is_dca(value):
                try:
                    self.asks.ask('option', 'dca', value[len(DCA):])
                except Refusal:
                    _refuse(key, value)
            elif value not in ('central', 'hierarchical'):
                _refuse(key, value)
            if value in self.topologies:
                raise Refusal(f"'{value:.200}' stands twice in {key.name}")
            self.topologies.append(value)

    def take_machines(self, key: Key, values: List[str]) -> None:
        """The platforms' names are looked at with the kernels."""
        self.study.line[key.name] = self.line
        for value in values:
            if value == NO_PLATFORM if key.name == 'platform' else value not in (MPIRUN, SIMULATE):
                _refuse(key, value)
            self._add_value(key.name, value)

    def take_options(self, key: Key, values: List[str]) -> None:
        ours = {axis.name if axis.name == 'masters' else axis.option for axis in AXES if not axis.is_simulated}
        self.study.options_line = self.line
        for word in values:
            option = word[2:].partition('=')[0] if word.startswith('--') else ''
            if option in ours and option:
                axis = next(axis.name for axis in AXES if option in (axis.name, axis.option))
                raise Refusal(f'{key.name}: --{option} is an axis; type a line {axis} = VALUE ...')
            if option in self.asks.refused:
                _refuse(key, word)
            self.study.options.append(word)

    def _take_one(self, key: Key, values: List[str], least: int, most: int) -> int:
        number = whole(values[0]) if len(values) == 1 else None
        if number is None or not least <= number <= most:
            raise Refusal(f"{key.name} = '{values[0]:.200}{' ...' if len(values) > 1 else ''}' is not accepted: {key.accepted}")
        return number

    def take_repetitions(self, key: Key, values: List[str]) -> None:
        self.study.repetitions = self._take_one(key, values, 1, REPETITIONS_MAX)

    def take_timeout(self, key: Key, values: List[str]) -> None:
        self.study.timeout_s = self._take_one(key, values, 1, TIMEOUT_S_MAX)

    def take_seed(self, key: Key, values: List[str]) -> None:
        self.study.seed = self._take_one(key, values, 0, (1 << 64) - 1)

    def take_until(self, key: Key, values: List[str]) -> None:
        """"2 %", "2%" or "0.5": a share of the median."""
        has_sign = values[0].endswith('%')
        number = real(values[0][:len(values[0]) - has_sign])
        if number is None or not 0 < number <= 100 or len(values[0]) > 31 or not (len(values) == 1 or (values[1:] == ['%'] and not has_sign)):
            raise Refusal(f"{key.name} = '{values[0]:.200}{' ...' if len(values) > 1 else ''}' is not accepted: {key.accepted}")
        self.study.until = number

    def take_measures(self, key: Key, values: List[str]) -> None:
        for value in values:
            if value not in MEASURE:
                _refuse(key, value)
        self.study.measured = [name for name in MEASURE if name in values]

    def _take_axis_name(self, key: Key, value: str) -> str:
        if value not in AXIS:
            _refuse(key, value)
        return value

    def take_x_or_series(self, key: Key, values: List[str]) -> None:
        if len(values) > 1:
            raise Refusal(f'{key.name}: one axis is accepted')
        setattr(self.study, key.name, self._take_axis_name(key, values[0]))

    def take_heat(self, key: Key, values: List[str]) -> None:
        self.study.has_heat_line = True
        if values == ['none']:
            return
        if len(values) != 2 or values[0] == values[1]:
            raise Refusal(f'{key.name}: accepted: two axes, or none')
        self.study.heat = self._take_axis_name(key, values[0]), self._take_axis_name(key, values[1])

    def take_reference(self, key: Key, values: List[str]) -> None:
        texts = self.references.setdefault(key.name, {})
        for value in values:
            axis, equals, text = value.partition('=')
            if not equals or axis not in AXIS:
                _refuse(key, value)
            texts[axis] = text

    def _is_yes(self, key: Key, values: List[str]) -> bool:
        if values not in (['yes'], ['no']):
            _refuse(key, values[-1])
        return values == ['yes']

    def take_steps(self, key: Key, values: List[str]) -> None:
        self.study.keeps_steps = self._is_yes(key, values)

    def take_traces(self, key: Key, values: List[str]) -> None:
        self.study.keeps_traces = self._is_yes(key, values)

    def take_seeds(self, key: Key, values: List[str]) -> None:
        self.study.has_seeds = self._is_yes(key, values)

    # --- the whole ---

    def _complete(self) -> None:
        study = self.study
        self._complete_axes()
        if study.line['thread_technique'] and not study.line['threads']:
            raise Located('thread_technique needs a line threads = T ...', study.line['thread_technique'])
        self._check_machines()
        study.baseline, study.speedup_base = self._complete_reference('baseline'), self._complete_reference('speedup_base')
        if 'improvement' in study.measured and study.baseline is None:
            raise Refusal('the measure improvement needs a line baseline = AXIS=VALUE ...')
        self._complete_repetitions()
        self._check_measures()
        runs = study.repetitions
        for values in study.values.values():
            runs *= len(values)
        if runs > RUNS_MAX:
            raise Refusal(f'the matrix has too many runs; accepted: up to {RUNS_MAX}')
        if study.x and study.x == study.series:
            raise Located('series: it is the axis x already; accepted: another one', self.lines['series'])
        self._choose_axes()
        if not study.measured:
            study.measured = [measure.name for measure in MEASURES if measure.is_standard or (measure.name == 'improvement' and study.baseline is not None)]

    def _complete_axes(self) -> None:
        if self.topologies:
            self._merge_topologies()
        for axis in AXES:
            values = self.study.values[axis.name]
            if values and axis.is_number:
                values.sort(key=lambda value: (is_dca(value), _number(value)))
            if values:
                continue
            if axis.standard is None:
                self._check_kernel_names()
                raise Refusal(f'the matrix is empty: there is no line {axis.name} = ...; accepted: {_find_key(axis.name).accepted}')
            values.append(axis.standard)

    def _merge_topologies(self) -> None:
        """Topologies and masters become one axis."""
        masters = [value for value in self.study.values['masters'] if value != '0']
        merged: List[str] = []
        for name in self.topologies:
            if name == 'hierarchical' and not masters:
                raise Located('the topology hierarchical needs a line masters = 1 ...', self.lines['topology'])
            merged += ['0'] if name == 'central' else [name] if is_dca(name) else masters
        self.study.values['masters'] = merged

    def _check_kernel_names(self) -> None:
        """A kernel of ours that is misspelt, before what the study lacks: its line is all that some studies have so far."""
        for kernel, line in zip(self.study.values['kernel'], self.study.kernel_lines):
            name = kernel.partition(' ')[0]
            if not set(name) & set('./:='):
                try:
                    self.asks.ask('kernel', name)
                except Refusal as refusal:
                    raise Located(str(refusal), line) from None

    def _check_machines(self) -> None:
        """A real run has no platform, and not all can be simulated."""
        study = self.study
        if study.line['platform'] and not study.simulates:
            raise Located('platform needs a line backend = simulate', study.line['platform'])
        if study.varies('platform') and study.is_real:
            raise Located('several platforms are accepted only where all is simulated', study.line['platform'])
        for axis in AXES:
            if axis.is_simulated and study.line[axis.name]:
                if study.is_real:
                    raise Located(f'{axis.name} is accepted only where all is simulated: backend = simulate', study.line[axis.name])
                if has_option(study.options, str(axis.option)):
                    raise Located(f'{axis.name} is among the options already; accepted: one of the two', study.line[axis.name])
        if not study.simulates:
            return
        if 'auto' in study.values['threads']:  # a simulated worker is bound to no cores
            raise Located('threads = auto cannot be simulated: accepted are numbers', study.line['threads'])
        if 'dca-node' in study.values['masters'] and 'acp' in study.values['weighting']:  # its big chunks know nothing of the loads of its workers
            raise Located('weighting = acp cannot be simulated with the topology dca-node', study.line['weighting'])

    def _complete_reference(self, key: str) -> Optional[Dict[str, int]]:
        if key not in self.references:
            return None
        places = {}
        for axis, text in sorted(self.references[key].items(), key=lambda item: list(AXIS).index(item[0])):
            if text and text not in self.study.values[axis]:
                raise Located(f"{key} = '{axis}={text:.100}': the study has no such value of {axis}; accepted: {', '.join(self.study.values[axis]):.200}",
                              self.lines[key])
            if text:
                places[axis] = self.study.values[axis].index(text)
        return places

    def _complete_repetitions(self) -> None:
        study = self.study
        if study.until > 0 and 'repetitions' not in self.lines:
            study.repetitions = UNTIL_MOST
        if study.until > 0 and study.repetitions < UNTIL_LEAST:
            raise Located(f'until needs repetitions = {UNTIL_LEAST} or more: fewer runs have no interval of 95 %', self.lines['until'])
        if study.has_seeds and not study.simulates:
            raise Located('seeds needs a line backend = simulate', self.lines['seeds'])
        if study.has_seeds and has_option(study.options, 'seed'):
            raise Located('seeds: there is a --seed among the options already', self.lines['seeds'])

    def _check_measures(self) -> None:
        """Measures that no run of the study would have."""
        study = self.study
        is_given = has_option(study.options, 'threads') or any(has_option(split(kernel), 'threads') for kernel in study.values['kernel'])
        if 'thread_imbalance' in study.measured and study.values['threads'] == ['1'] and not is_given:
            raise Located('the measure thread_imbalance needs a line threads = T ... of more than 1', self.lines['measure'])

    def _choose_axes(self) -> None:
        study = self.study
        if not study.x:
            study.x = next((axis for axis in _ALONG if axis != study.series and study.varies(axis)), 'workers')
        if not study.series:
            study.series = next((axis for axis in _LINES if axis != study.x and study.varies(axis)), '')
        if not study.has_heat_line and study.series:
            study.heat = study.x, study.series


class Key(NamedTuple):
    name: str
    take: Callable[[Reader, Key, List[str]], None]
    accepted: str


KEYS = (
    Key('title', Reader.take_title, 'up to 159 characters'),
    Key('kernel', Reader.take_kernel, 'a kernel and its parameters, as for hdss run; one line for each'),
    Key('technique', Reader.take_axis, 'techniques'),
    Key('weighting', Reader.take_axis, 'none, power, acp'),
    Key('power', Reader.take_axis, 'measure, equal, files, or lists of numbers with commas'),
    Key('min_chunk', Reader.take_numbers, f'integers from 1 to 2^63, {HALF_OF_MFSC}'),
    Key('refill_chunks', Reader.take_numbers, 'integers from 1 to 64'),
    Key('refill', Reader.take_axis, 'ahead, when-empty'),
    Key('sync_points', Reader.take_axis, 'auto, integers from 1'),
    Key('topology', Reader.take_topologies, 'central, hierarchical, dca-rma, dca-two-sided, dca-node'),
    Key('masters', Reader.take_numbers, f'integers from 0 to {WORKERS_MAX}'),
    Key('workers', Reader.take_numbers, f'integers from 1 to {WORKERS_MAX}'),
    Key('threads', Reader.take_axis, 'integers from 1 to 1024, auto'),
    Key('thread_technique', Reader.take_axis, 'techniques, as --thread-technique takes them'),
    Key('delay', Reader.take_axis, 'none, calculation:MICROSECONDS, assignment:MICROSECONDS'),
    Key('slowdown', Reader.take_axis, 'numbers from 1 to 1000, or lists of them with commas'),
    Key('load', Reader.take_axis, 'none, integers from 0 to 64, or lists of them with commas'),
    Key('fail_nodes', Reader.take_axis, 'none, lists of NODE@SECONDS with commas'),
    Key('costs', Reader.take_axis, 'model, distributions, files of costs'),
    Key('repetitions', Reader.take_repetitions, 'an integer from 1 to 10000'),
    Key('until', Reader.take_until, 'a percentage above 0, up to 100: 2 %'),
    Key('seeds', Reader.take_seeds, 'yes, no'),
    Key('seed', Reader.take_seed, 'an integer from 0 to 2^64-1'),
    Key('timeout', Reader.take_timeout, 'seconds, an integer from 1 to 1000000'),
    Key('backend', Reader.take_machines, 'mpirun, simulate'),
    Key('platform', Reader.take_machines, 'platforms, as hdss simulate takes them'),
    Key('options', Reader.take_options, 'options of hdss run that are no axis and that the study does not set itself'),
    Key('measure', Reader.take_measures, MEASURE_NAMES),
    Key('x', Reader.take_x_or_series, AXIS_NAMES),
    Key('series', Reader.take_x_or_series, AXIS_NAMES),
    Key('heat', Reader.take_heat, AXIS_NAMES),
    Key('baseline', Reader.take_reference, 'AXIS=VALUE ...'),
    Key('speedup_base', Reader.take_reference, 'AXIS=VALUE ...'),
    Key('steps', Reader.take_steps, 'yes, no'),
    Key('traces', Reader.take_traces, 'yes, no'),
)
OTHER_KEYS = 'title, topology, repetitions, until, seed, seeds, timeout, options, measure, x, series, heat, baseline, speedup_base, steps, traces'


def _find_key(name: str) -> Key:
    for key in KEYS:
        if key.name == name:
            return key
    nearest = difflib.get_close_matches(name, [key.name for key in KEYS], 1)
    if nearest:
        raise Refusal(f"unknown key '{name:.100}'; did you mean {nearest[0]}?")
    raise Refusal(f"unknown key '{name:.100}'; accepted: {AXIS_NAMES}, {OTHER_KEYS}")
