# SPDX-License-Identifier: MIT
"""Kernels and techniques written in Python, between the functions and classes of a user and module.c and technique.c, which run
them for HDSS.

What a function has to look like is in hdss-kernel(7). In short: `def function(first, count, *, width=100)` with a default for each
parameter, and beside it `def describe(width)`, which returns the number of iterations, or a dictionary with more. What a class has to
look like that is a technique is in hdss-technique(3).
"""
import array
import importlib
import importlib.machinery
import inspect
import operator
import os
import site
import sys
import time
import traceback
import zlib

# Types by their name in HDSS, and their codes in the modules array and struct.
TYPES = {'uint8': 'B', 'uint16': 'H', 'uint32': 'I', 'uint64': 'Q', 'int32': 'i', 'int64': 'q', 'float32': 'f', 'float64': 'd'}
FLOATS = ('float32', 'float64')
BYTES = ('B', 'b', 'c')  # formats of buffers whose bytes are taken as they are
KNOWN = ('iterations', 'dtype', 'shape', 'streams', 'waits', 'has_effects')
LINE_MAX = 380
ITERATIONS_MAX = 2**63


class WrongUse(Exception):
    """An error in the user's module, in one line."""


def find(name, kind='function'):
    """The function or class "module.name", also in packages, and its module."""
    module_name, dot, function_name = name.rpartition('.')
    if not dot or not module_name or not function_name:
        raise WrongUse(f'accepted: python:MODULE.{kind.upper()}')
    if '/' in name or name.startswith('.'):
        raise WrongUse(f'a module is named without a path; type python:{name.split("/")[-1].lstrip(".")} in its folder, or with this in PYTHONPATH')
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name != module_name.split('.')[0] and error.name != module_name:
            raise
        raise WrongUse(f'there is no module {module_name}; it is looked for in the current folder and in PYTHONPATH') from None
    function = getattr(module, function_name, None)
    if not callable(function):
        raise WrongUse(f'module {module_name} has no {kind} {function_name}')
    return module, function


# What an interpreter imports before there is a job.
WARM = ('hdss._worker', 'hdss._globals', 'hdss._state')


def warm(folder):
    """Imports the package in the folder."""
    sys.path.insert(1, folder)
    for name in WARM:
        try:
            importlib.import_module(name)
        except ImportError:  # said by what needs it
            pass
    sys.path.remove(folder)


def become(variables):
    """Takes the environment of the job, and its PYTHONPATH. The package is imported anew if it is another one there."""
    given = dict(variable.partition(b'=')[::2] for variable in variables)
    before, after = (value.split(os.pathsep) if value else [] for value in (os.environ.get('PYTHONPATH'), os.fsdecode(given.get(b'PYTHONPATH', b''))))
    sys.path[:] = sys.path[:1] + [os.path.abspath(path) for path in after] + [path for path in sys.path[1:] if path not in before]
    for name in set(os.environb) - set(given):
        del os.environb[name]
    os.environb.update(given)
    time.tzset()
    importlib.invalidate_caches()
    forget_moved('hdss')
    if after != before:
        site.execsitecustomize()


def forget_moved(*names):
    """Forgets packages that are imported, and that are now found elsewhere."""
    for name in names:
        package = sys.modules.get(name)
        found = None if package is None else importlib.machinery.PathFinder.find_spec(name, sys.path)
        if found is not None and found.origin != package.__spec__.origin:
            for module in [module for module in sys.modules if module == name or module.startswith(name + '.')]:
                del sys.modules[module]


def version_of(module):
    """Another one when the module's text is another."""
    try:
        with open(module.__file__, 'rb') as file:
            return f'{zlib.crc32(file.read()):08x}'
    except (AttributeError, TypeError, OSError):
        return '0'


def parameter(name, default):
    """Name, kind and default as HDSS has them: by the type of the default."""
    if isinstance(default, bool):
        return name, 'choice', 'yes' if default else 'no'
    if isinstance(default, int):
        return name, 'integer', str(default)
    if isinstance(default, float):
        return name, 'real', repr(default)
    if isinstance(default, str):
        return name, 'text', default
    raise WrongUse(f'parameter {name}: its default is of type {type(default).__name__}; accepted: int, float, str, bool')


def parameters_of(function):
    listed = list(inspect.signature(function).parameters.values())
    positional = [p for p in listed[:2] if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if len(positional) < 2:
        raise WrongUse('the function takes no range; accepted: def function(first, count, ...)')
    return parameters_behind(listed[2:])


def parameters_behind(listed):
    """Those that come from the command line, each with its default."""
    for p in listed:
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) or p.default is p.empty:
            raise WrongUse(f'parameter {p.name} has no default; accepted: NAME=VALUE')
    return [parameter(p.name, p.default) for p in listed]


def failed(item):
    return isinstance(item, BaseException)


def to_bytes(value):
    """The bytes that an iteration puts on a stream. A number, an array of numbers, or whatever else has a text becomes a line."""
    if value is None:
        return b''
    if isinstance(value, str):
        return value.encode()
    try:
        view = memoryview(value)
    except (TypeError, ValueError, BufferError):
        view = None
    if view is None or view.ndim == 0:  # a number of Python or numpy, or whatever else has a text
        return (str(value) + '\n').encode()
    if view.format in BYTES:
        return view.cast('B') if view.c_contiguous else view.tobytes()
    return (' '.join(map(str, flatten(value if hasattr(value, '__iter__') else view.tolist()))) + '\n').encode()


def cast(array, dtype):
    """An array of numpy as another type. Whole numbers may come in another type, as those of Python do, where they fit."""
    import numpy
    wanted = numpy.dtype(dtype)
    if array.dtype.kind in 'iu' and wanted.kind in 'iu' and array.size > 0:
        limits, least, most = numpy.iinfo(wanted), int(array.min()), int(array.max())
        if least < limits.min or most > limits.max:
            raise ValueError(f'the function returns {least if least < limits.min else most}; accepted by {wanted}: {limits.min} to {limits.max}; '
                             'or say another dtype=')
    elif not numpy.can_cast(array.dtype, wanted, 'same_kind'):
        kind = type(array.flat[0]).__name__ if array.dtype.hasobject else array.dtype.name
        raise TypeError(f'the function returns {kind}, which cannot become {wanted}; say another dtype=')
    return array.astype(wanted)


class Kernel:
    """A kernel that is one function of the user's; module.c calls the methods."""

    def __init__(self, name):
        self.module, self.function = find(name)
        self.name = 'python:' + name
        self.version = str(getattr(self.function, 'version', '') or version_of(self.module))
        self.summary = (inspect.getdoc(self.function) or 'a function in Python').splitlines()[0]
        self.params = parameters_of(self.function)
        self.values = {}
        self.worker = 0
        self.is_single = False  # the function returns one item for a range: it is called for each iteration

    def describe(self, *values):
        """(iterations, type or '', elements of a record, shape, endings of the streams, waits, has effects)"""
        self.values = {p[0]: bool(v) if p[1] == 'choice' else v for p, v in zip(self.params, values)}
        describe = getattr(self.function, 'describe', None) or getattr(self.module, 'describe', None)
        if describe is None:
            raise WrongUse('the module has no function describe(), which says how many iterations there are')
        said = describe(**self.values)
        if not isinstance(said, dict):
            said = {'iterations': said}
        for key in said:
            if key not in KNOWN:
                raise WrongUse(f'describe() says {key!r}; accepted: {", ".join(KNOWN)}')
        return self.check(said)

    def check(self, said):
        try:
            iterations = operator.index(said.get('iterations'))
            shape = tuple(operator.index(n) for n in said.get('shape', ()))
        except TypeError:
            raise WrongUse('describe() says no number of iterations, or a shape of other than integers') from None
        if not 0 <= iterations <= ITERATIONS_MAX or any(not 1 <= n < ITERATIONS_MAX for n in shape) or len(shape) > 3:
            raise WrongUse('describe() says a number or a shape that cannot be')
        self.type = str(said.get('dtype') or '')
        if self.type and self.type not in TYPES:
            raise WrongUse(f'describe() says dtype {self.type!r}; accepted: {", ".join(TYPES)}')
        if not self.type and shape:
            raise WrongUse('describe() says a shape but no dtype')
        self.length = 1
        for n in shape:
            self.length *= n
        if self.length >= ITERATIONS_MAX:
            raise WrongUse('describe() says a shape of more numbers than there can be')
        endings = [str(ending) for ending in said.get('streams', [''])]
        self.streams = 0 if self.type else len(endings)
        return (iterations, self.type, self.length, (iterations,) + shape, [] if self.type else endings,
                bool(said.get('waits', False)), bool(said.get('has_effects', False)))

    def open(self, worker=0):
        """What the function does once in each process that runs it, before its first iteration; the number of the worker."""
        self.worker = worker
        opens = getattr(self.function, 'open', None)
        if opens is not None:
            opens(**self.values)

    @property
    def is_unfit(self):
        """Whether the function says that this process is to end, and others to run what follows."""
        return bool(getattr(self.function, 'is_unfit', False))

    def call(self, first, count):
        if not self.is_single or count == 1:
            return self.function(first, count, **self.values)
        return [item for i in range(first, first + count) for item in listed(self.function(i, 1, **self.values))]

    def miscounted(self, got, count):
        """The error of a result that is not as long as its range. One item, of which a range of one would have been right, is told
        once, by the first worker."""
        if got == 1 and not self.is_single:
            self.is_single = True
            if self.worker == 1:
                print(f'{self.name}: returned one item for a range of {count} iterations, and is called for each iteration by itself '
                      'from now on; accepted: an item for each iteration of the range', file=sys.stderr)
        return WrongUse(f'returned {got} items for {count} iterations')

    def records(self, first, count):
        """The records of a range, in an object with a buffer of exactly their bytes."""
        result = self.call(first, count)
        try:
            view = memoryview(result)
        except TypeError:
            return self.pack(result, first, count)
        if getattr(result, 'dtype', self.type) != self.type and not (view.readonly and view.format == 'B'):
            view = memoryview(cast(result, self.type))
        if not view.c_contiguous:
            view = memoryview(view.tobytes()).cast('B').cast(view.format) if view.format in TYPES.values() else view
        return self.check_view(view, count)

    def check_view(self, view, count):
        """Bytes are taken as they are, other elements must be of the type that describe() says."""
        wanted, code = count * self.length * array.array(TYPES[self.type]).itemsize, view.format.lstrip('@=<')
        known = {array.array(c).itemsize: name for name, c in TYPES.items() if name not in FLOATS}
        kind = {'f': 'float32', 'd': 'float64'}.get(code) or ('u' if code in 'BHILQN' else '') + known.get(
            view.itemsize, '?').lstrip('u')
        if not view.readonly or code != 'B':
            if kind != self.type:
                raise WrongUse(f'returned elements of type {kind}, not {self.type} as describe() says')
        if view.nbytes != wanted:
            if view.nbytes * count == wanted:
                raise self.miscounted(1, count)
            raise WrongUse(f'returned {view.nbytes} bytes for {count} iterations, not {wanted}')
        return view

    def pack(self, result, first, count):
        numbers = listed(result)
        if len(numbers) != count:
            raise self.miscounted(len(numbers), count)
        flat = numbers if self.length == 1 else [n for item in numbers for n in flatten(item)]
        packed = array.array(TYPES[self.type])
        try:
            packed.extend(float(n) if self.type in FLOATS else operator.index(n) for n in flatten(flat))
        except (TypeError, ValueError, OverflowError) as error:
            raise WrongUse(f'returned what is no number of type {self.type}: {error}') from None
        if len(packed) != count * self.length:
            raise WrongUse(f'returned {len(packed)} numbers for {count} iterations of {self.length}')
        return packed

    def items(self, first, count):
        """(failed, bytes of each stream) of each iteration of a range."""
        result = self.call(first, count)
        if isinstance(result, (bytes, bytearray, str)):  # a text for the whole range counts for its first iteration
            return [(False, [to_bytes(result)])] + [(False, [])] * (count - 1)
        result = listed(result)
        if len(result) != count:
            raise self.miscounted(len(result), count)
        return [self.item(item) for item in result]

    def item(self, item):
        if failed(item):
            return True, []
        parts = list(item) if isinstance(item, tuple) else [item]
        if len(parts) > self.streams:
            raise WrongUse(f'returned a tuple of {len(parts)} for {self.streams} streams')
        return any(failed(part) for part in parts), [b'' if failed(part) else to_bytes(part) for part in parts]


POWERS = ('slowest', 'fastest', 'mean')  # in the order of enum hdss_technique_powers
TECHNIQUE_PARAMS_MAX = 8


class Loop:
    """The loop that is to be cut; `powers` is None unless the technique is weighted."""
    __slots__ = ('iterations', 'min_chunk', 'workers', 'powers')

    def __init__(self, iterations, min_chunk, workers, powers):
        self.iterations, self.min_chunk, self.workers, self.powers = iterations, min_chunk, workers, powers


class Request:
    """A request for a chunk: `remaining` iterations, at scheduling step `step`, for `worker`, counted from 0."""
    __slots__ = ('remaining', 'step', 'worker')

    def __init__(self, remaining, step, worker):
        self.remaining, self.step, self.worker = remaining, step, worker


class Feedback:
    """Measurements of chunks that a worker has finished, times in seconds."""
    __slots__ = ('worker', 'chunks', 'iterations', 'compute_s', 'wait_s', 'deviation_s', 'samples')

    def __init__(self, *measured):
        for name, value in zip(self.__slots__, measured):
            setattr(self, name, value)


class Technique:
    """A technique that is a class of the user's; technique.c calls the methods."""

    def __init__(self, name):
        module, self.made = find(name, 'class')
        if not inspect.isclass(self.made) or not callable(getattr(self.made, 'next', None)):
            raise WrongUse(f'{name} is no class with a method next(self, request)')
        about = (inspect.getdoc(self.made) or 'a class in Python').splitlines()
        self.title, self.rule = about[0].rstrip('.'), str(getattr(self.made, 'rule', 'K as next() returns it'))
        taken = list(inspect.signature(self.made).parameters.values())
        if not taken or taken[0].kind not in (taken[0].POSITIONAL_ONLY, taken[0].POSITIONAL_OR_KEYWORD):
            raise WrongUse('the class takes no loop; accepted: def __init__(self, loop, ...)')
        self.params = parameters_behind(taken[1:])
        if len(self.params) > TECHNIQUE_PARAMS_MAX:
            raise WrongUse(f'the class has more than {TECHNIQUE_PARAMS_MAX} parameters')
        for parameter_name, kind, default in self.params:
            if kind == 'text' or default.startswith('-') and kind == 'integer':
                raise WrongUse(f'parameter {parameter_name}: its default is {default!r}; accepted: an int from 0, float, bool')

    def traits(self):
        """(measure of the powers or -1, may grow, learns, goes on with the next time step)"""
        weighted = getattr(self.made, 'weighted', None)
        if weighted is not None and weighted not in POWERS:
            raise WrongUse(f'weighted = {weighted!r}; accepted: None, {", ".join(map(repr, POWERS))}')
        return (POWERS.index(weighted) if weighted is not None else -1, bool(getattr(self.made, 'may_grow', False)),
                callable(getattr(self.made, 'feedback', None)), callable(getattr(self.made, 'again', None)))

    def begin(self, iterations, min_chunk, workers, powers, values):
        named = {p[0]: bool(v) if p[1] == 'choice' else v for p, v in zip(self.params, values)}
        return Cutter(self.made(Loop(iterations, min_chunk, workers, powers), **named))


class Cutter:
    """An object of the class, for one loop."""

    def __init__(self, own):
        self.own, self.asked = own, own.next

    def next(self, remaining, step, worker):
        size = self.asked(Request(remaining, step, worker))
        try:
            return min(max(operator.index(size), 0), ITERATIONS_MAX)
        except TypeError:
            raise WrongUse(f'it returned {type(size).__name__}; accepted: int, as of // or round()') from None

    def feedback(self, *measured):
        self.own.feedback(Feedback(*measured))

    def again(self, iterations, min_chunk, workers, powers, values):
        self.own.again(Loop(iterations, min_chunk, workers, powers))


def listed(result):
    """The result of a function for a range, as a list."""
    try:
        items = iter(result)
    except TypeError:
        said = 'nothing' if result is None else type(result).__name__
        raise WrongUse(f'returned {said}; accepted: an item for each iteration') from None
    return list(items)


def flatten(items):
    for item in items if hasattr(items, '__iter__') else [items]:
        if hasattr(item, '__iter__') and not isinstance(item, str):
            yield from flatten(item)
        else:
            yield item


def explain(error):
    """An exception in one line: what it is, and where, the innermost place first."""
    if isinstance(error, WrongUse):
        return str(error)
    text = ' '.join(''.join(traceback.format_exception_only(type(error), error)).split())
    if isinstance(error, SyntaxError):
        text = f'{type(error).__name__}: {error.msg} ({os.path.basename(error.filename or "?")}:{error.lineno})'
    own = os.path.realpath(__file__)
    frames = [f for f in reversed(traceback.extract_tb(error.__traceback__))
              if os.path.realpath(f.filename) != own and 'importlib' not in f.filename]
    places = [f'{os.path.basename(f.filename)}:{f.lineno} in {f.name}' for f in frames]
    line = text[:LINE_MAX] + (' (at ' + ', called at '.join(places) + ')' if places else '')
    return line if len(line) <= LINE_MAX else line[:LINE_MAX - 3] + '...'
