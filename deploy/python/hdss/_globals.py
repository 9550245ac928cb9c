# SPDX-License-Identifier: MIT
"""Functions and classes of a program on their way to its workers, with one namespace of globals for all of them.

cloudpickle makes the functions of each pickle anew, with globals of their own. Here functions that share their globals in the program
share them in a worker, too, across pickles: those of the script in the module `__main__`, others in a dictionary of the same key. With
each global goes a digest of its value. A worker sets a global if the program's value is another one than was set last, so that what the
initializer or a call has put there stays until the program changes it. On the way back nothing is set: the program has its globals.

A function by itself goes as a Sent, which a worker loads once for each digest.
"""
from __future__ import annotations

import builtins
import copyreg
import enum
import functools
import io
import operator
import os
import pickle
import sys
import types
import weakref
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

import cloudpickle

try:
    from _blake2 import blake2b  # type: ignore[import]  # hashlib loads OpenSSL
except ImportError:
    from hashlib import blake2b
from hdss._pickled import trim
from hdss._spool import map_buffer, put_buffer, remove_file

Name = Tuple[str, str]  # of a namespace, and in it
Values = Dict[str, Tuple[bytes, Any]]  # by name: the digest and the value

PROTOCOL = 5
MAIN = '__main__'
KEPT_MAX = 64         # functions that a worker, or a program, keeps
KEPT_BYTES = 1 << 28  # of buffers whose files stay while nobody uses them, as they may be sent again
LARGE = 1 << 18       # bytes from which a function has a file of its own
AGAIN = 1 << 21       # bytes from which an array is looked for among those that were sent
ARRAYS_MAX = 1024
HEAP_TYPE = 1 << 9    # in __flags__ of a class that was made by a program
SHORT = 32            # bytes of a pickle that is its own digest
_PLAIN = frozenset((str, int, float, complex, bool, bytes, type(None)))
_FIXED = _PLAIN | {types.BuiltinFunctionType, types.MemberDescriptorType, types.GetSetDescriptorType, property}
_BY_NAME = (__name__, cloudpickle.CloudPickler.__module__, cloudpickle.cloudpickle.__name__)  # whose functions are in each pickle
_Lru = type(functools.lru_cache(maxsize=1)(len))

_spaces: Dict[str, Dict[str, Any]] = {}  # by key, but for that of __main__
_keys: Dict[int, str] = {}               # by the address of the dictionary, which stays in _spaces
_applied: Dict[Name, bytes] = {}         # digests of the values that were set last
_changes = 0                             # how often one was set
_loading: Optional[List[Tuple[str, Values]]] = None  # what the function or class that is being loaded sets
_received: Dict[bytes, List[Any]] = {}  # the function or class, what it sets, and _changes then
_classes: 'weakref.WeakKeyDictionary[type, Optional[bytes]]' = weakref.WeakKeyDictionary()  # that are complete here, and by which digest
_digests: Dict[int, Tuple[Any, List[Any], bytes]] = {}  # by the address of the function or class: it, what it uses, and its digest
_pickles: Dict[bytes, bytes] = {}  # of classes, by digest


# --- namespaces ---

def _key_of(space: Dict[str, Any]) -> Optional[str]:
    """The key of a dictionary of globals; None if it has no name, as those of generated functions."""
    if space is vars(sys.modules[MAIN]):
        return MAIN
    key = _keys.get(id(space))
    if key is None and isinstance(space.get('__name__'), str):
        key = f'{space["__name__"]}-{os.urandom(16).hex()}'
        _spaces[key], _keys[id(space)] = space, key
    return key


def namespace(key: str, base: Dict[str, Any]) -> Dict[str, Any]:
    """The dictionary of that key, which has the names of `base`."""
    space = vars(sys.modules[MAIN]) if key == MAIN else _spaces.get(key)
    if space is None:
        space = _spaces[key] = {}
        _keys[id(space)] = key
    for name, value in base.items():
        if space.get(name) is None:
            space[name] = value
    return space


class _Namespace:
    """A dictionary of globals in a pickle."""

    def __init__(self, key: str, base: Dict[str, Any]) -> None:
        self._key, self._base = key, base

    def __reduce__(self) -> Tuple[Any, ...]:
        return namespace, (self._key, self._base)


def _apply(key: str, values: Values) -> None:
    """Sets the globals whose values in the program are others than were set last. One that this process itself has made stays."""
    global _changes
    space = namespace(key, {})
    for name, (digest, value) in values.items():
        last = _applied.get((key, name))
        if name in space and (last == digest or (last is None and not name.startswith('__'))):
            _applied[key, name] = digest
            continue
        space[name], _applied[key, name] = value, digest
        _changes += 1


def set_function(function: Any, state: Tuple[Any, ...]) -> None:
    """Completes a function that was unpickled."""
    complete, inner, key, values, absent = state
    complete(function, inner)
    space = function.__globals__
    for name in absent:
        if name not in space:
            _applied.setdefault((key, name), b'')
    _apply(key, values)
    if _loading is not None:
        _loading.append((key, values))


def set_class(made: Any, state: Tuple[Any, ...]) -> Any:
    """Completes a class that was unpickled, unless it is here already as it is there."""
    digest, complete, inner = state
    if made in _classes and digest in (None, _classes[made]):
        return made
    complete(made, inner)
    _classes[made] = digest
    main = vars(sys.modules[MAIN])
    if digest is not None and made.__module__ == MAIN and '.' not in made.__qualname__ and made.__name__ not in main:
        main[made.__name__], _applied[MAIN, made.__name__] = made, b''  # where pickle looks for it
    return made


# --- functions that wrap others ---

class _Forward:
    """Stands for a function that is not there yet."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)  # type: ignore[attr-defined]


def lru_cached(parameters: Dict[str, Any]) -> Any:
    """What functools.lru_cache makes, of a function that set_wrapped() gives it."""
    return functools.lru_cache(**parameters)(_Forward())


def dispatching() -> Any:
    """What functools.singledispatch makes, of a function that set_wrapped() gives it."""
    return functools.singledispatch(_Forward())


def set_wrapped(made: Any, state: Tuple[Any, ...]) -> None:
    function, others, attributes = state
    made.__wrapped__.function = function
    functools.update_wrapper(made, function)
    made.__dict__.update(attributes)
    for kind, other in others:
        made.register(kind, other)


def _is_found(value: Any) -> bool:
    """True for what has its name in a module that workers import, or is of the interpreter itself."""
    if isinstance(value, type) and not value.__flags__ & HEAP_TYPE:
        return True
    module = sys.modules.get(value.__module__ or '')
    if module is None or module.__name__ == MAIN or cloudpickle.cloudpickle._is_registered_pickle_by_value(module):
        return False
    try:
        return operator.attrgetter(value.__qualname__)(module) is value
    except AttributeError:
        return False


def _reduced_wrapper(made: Any) -> Optional[Tuple[Any, ...]]:
    """How one of lru_cache or singledispatch is pickled; None for all else."""
    if type(made) is _Lru and hasattr(made, '__wrapped__') and not _is_found(made):
        attributes = {name: value for name, value in vars(made).items() if name not in ('__wrapped__', 'cache_parameters')}
        return lru_cached, (getattr(made, 'cache_parameters')(),), (made.__wrapped__, (), attributes), None, None, set_wrapped
    if isinstance(made, types.FunctionType) and hasattr(made, '_clear_cache') and hasattr(made, 'registry') and not _is_found(made):
        own = ('__wrapped__', 'registry', 'dispatch', 'register', '_clear_cache')
        attributes = {name: value for name, value in vars(made).items() if name not in own}
        return dispatching, (), (getattr(made, '__wrapped__'), list(made.registry.items()), attributes), None, None, set_wrapped
    return None


# --- pickling ---

def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from _names(const)


class Pickler(cloudpickle.CloudPickler):  # type: ignore[misc]
    """Pickles for a worker; with `is_back` for the program."""

    def __init__(self, file: Any, is_back: bool = False, buffer_callback: Optional[Callable[[Any], Any]] = None, inner: Tuple[type, ...] = ()) -> None:
        super().__init__(file, PROTOCOL, buffer_callback)
        self._is_back, self._inner = is_back, inner  # classes that are pickled here, and not apart
        self._namespaces: Dict[str, _Namespace] = {}
        self._known: Dict[Name, bytes] = {}

    def reducer_override(self, value: Any) -> Any:
        if type(value) is types.FunctionType and value.__module__ in _BY_NAME:  # noqa: E721, as it is quicker
            return NotImplemented
        is_own_class = isinstance(value, type) and not _is_found(value)
        if is_own_class:
            getattr(copyreg, '_slotnames')(value)  # which pickling an object of the class adds to it
            apart = self._pickled_apart(value)
            if apart is not None:
                return apart
        reduced = _reduced_wrapper(value) or super().reducer_override(value)
        if is_own_class and isinstance(reduced, tuple) and len(reduced) == 6:
            return self._reduced_class(value, *reduced)
        return reduced

    def _pickled_apart(self, value: type) -> Optional[Tuple[Any, ...]]:
        """A class that does not change by itself is pickled once, and then loaded once by each worker."""
        if self._is_back or any(value is one for one in self._inner):
            return None
        digest, is_fixed = _whole_digest(value)
        if not is_fixed:
            return None
        data = _pickles.get(digest)
        if data is None:
            file = io.BytesIO()
            Pickler(file, inner=(*self._inner, value)).dump(value)
            data = _pickles[digest] = file.getvalue()
            trim(_pickles, KEPT_MAX)
        return received, (digest, data, '')

    def _reduced_class(self, value: type, make: Any, args: Any, state: Any, _items: Any, _pairs: Any, complete: Any) -> Tuple[Any, ...]:
        digest = None if self._is_back else _digest(value)
        if not self._is_back:
            _classes[value] = digest
        return make, args, (digest, complete, state), None, None, set_class

    def _dynamic_function_reduce(self, function: Any) -> Any:
        reduced = super()._dynamic_function_reduce(function)
        key = _key_of(function.__globals__)
        if key is None:
            return reduced
        make, (code, base, *rest), (attributes, parts), *_, complete = reduced
        given, parts['__globals__'] = parts['__globals__'], {}
        return self._reduced_function(function, key, (make, (code, self._namespace(key, base), *rest)), (complete, (attributes, parts)), given)

    def _namespace(self, key: str, base: Dict[str, Any]) -> Any:
        return self._namespaces.setdefault(key, _Namespace(key, base))

    def _reduced_function(self, function: Any, key: str, made: Tuple[Any, ...], state: Tuple[Any, ...], given: Dict[str, Any]) -> Tuple[Any, ...]:
        """As it is made, its state, and its globals with their digests."""
        values, absent = {}, []
        if not self._is_back:
            for name, value in given.items():
                if (key, name) not in self._known:
                    self._known[key, name] = _digest(value)
                values[name] = self._known[key, name], value
            absent = [name for name in set(_names(function.__code__)) if name not in function.__globals__ and not hasattr(builtins, name)]
        return *made, (*state, key, values, sorted(absent)), None, None, set_function


class _Digester(Pickler):
    """Pickles into a digest; of functions without their globals. Notes the functions, and which globals they use."""

    def __init__(self) -> None:
        self._hash = blake2b(digest_size=16)
        self.used: Dict[Name, Any] = {}
        self.functions: List[types.FunctionType] = []
        update = self._hash.update
        super().__init__(types.SimpleNamespace(write=update), False, lambda buffer: update(buffer.raw()))

    def digest(self, value: Any) -> bytes:
        self.dump(value)
        digest: bytes = self._hash.digest()
        return digest

    def _pickled_apart(self, value: type) -> None:
        return None

    def _reduced_class(self, value: type, *reduced: Any) -> Tuple[Any, ...]:
        return reduced

    def _namespace(self, key: str, base: Dict[str, Any]) -> Any:
        return key

    def _reduced_function(self, function: Any, key: str, made: Tuple[Any, ...], state: Tuple[Any, ...], given: Dict[str, Any]) -> Tuple[Any, ...]:
        self.functions.append(function)
        self.used.update(((key, name), value) for name, value in given.items())
        return *made, (*state, key, sorted(given)), None, None, set_function


def _quick_digest(value: Any) -> Optional[bytes]:
    """Of what needs no pickler; None for all else."""
    if type(value) in _PLAIN:
        data = pickle.dumps(value, PROTOCOL)
        return data if len(data) <= SHORT else blake2b(data, digest_size=16).digest()
    if isinstance(value, types.ModuleType) and sys.modules.get(value.__name__) is value:
        return b'module ' + value.__name__.encode()
    return None


def _digest(value: Any) -> bytes:
    """Of the value, without what the globals of its functions are."""
    return _quick_digest(value) or _Digester().digest(value)


def _is_fixed(value: Any, owner: Optional[type] = None) -> bool:
    """True for what cannot change by itself, so that it need not be looked into again. The owner is a class that has it."""
    if isinstance(value, tuple):
        return all(_is_fixed(part, owner) for part in value)
    if isinstance(value, types.FunctionType):
        cells = [_cell_of(cell) for cell in value.__closure__ or ()]
        return value.__kwdefaults__ is None and not vars(value) and _is_fixed(value.__defaults__) and all(_is_fixed(cell, owner) for cell in cells)
    if isinstance(value, (staticmethod, classmethod)):
        return _is_fixed(value.__func__, owner)
    if isinstance(value, type):
        return value is owner or _is_found(value) or all(map(_is_fixed_class, value.__mro__))
    if isinstance(value, enum.Enum):
        return _is_fixed(value.value)
    return type(value) in _FIXED or _quick_digest(value) is not None


def _is_fixed_class(made: type) -> bool:
    """True if no attribute of the class can change by itself. Those that Python makes are taken for such."""
    return _is_found(made) or all(_is_fixed(value, made) for name, value in vars(made).items() if not (name[0] == name[-1] == '_'
                                                                                                       and not callable(value)))


def _cell_of(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it is empty
        return None


def _insides(value: Any) -> List[Any]:
    """What of a function or class can be replaced."""
    if isinstance(value, types.FunctionType):
        return [value.__code__, value.__defaults__]
    if isinstance(value, type) and not _is_found(value):
        return [part for made in value.__mro__ if not _is_found(made) for pair in vars(made).items() for part in pair]
    return []


def _is_as_it_was(space: Dict[str, Any], name: Optional[str], value: Any, insides: List[Any]) -> bool:
    if name is not None and space.get(name) is not value:
        return False
    now = _insides(value)
    return len(now) == len(insides) and all(map(operator.is_, now, insides))


def _whole_digest(value: Any) -> Tuple[bytes, bool]:
    """Of a function or class with all globals that it uses, by itself or by others; and whether none of them can change by itself. Then it
    is reckoned once."""
    known = _digests.get(id(value))
    if known is not None and all(_is_as_it_was(*part) for part in known[1]):
        return known[2], True
    first = _Digester()
    whole = blake2b(first.digest(value), digest_size=16)
    used, functions, done = first.used, first.functions, {('', '')}
    while len(done) <= len(used):
        for name in [name for name in used if name not in done]:
            done.add(name)
            quick = _quick_digest(used[name])
            if quick is None:
                other = _Digester()
                quick = other.digest(used[name])
                used.update(other.used)
                functions += other.functions
            whole.update(repr(name).encode() + quick)
    digest, is_fixed = whole.digest(), _is_fixed(value) and all(map(_is_fixed, used.values()))
    if is_fixed:
        parts: List[Any] = [({}, None, value, _insides(value))]
        parts += [(namespace(key, {}), name, one, _insides(one)) for (key, name), one in used.items()]
        parts += [(one.__globals__, name, None, []) for one in functions for name in _names(one.__code__) if name not in one.__globals__]
        _digests[id(value)] = value, parts, digest
        trim(_digests, KEPT_MAX)
    return digest, is_fixed


def dumps(value: Any, is_back: bool = False, buffer_callback: Optional[Callable[[Any], Any]] = None) -> bytes:
    """The value as bytes, for a worker, or on the way back for the program."""
    file = io.BytesIO()
    Pickler(file, is_back, buffer_callback).dump(value)
    return file.getvalue()


# --- what is sent once ---

class _File:
    """A file of one of an executor's folders, which is there as long as this object."""

    def __init__(self, folders: Sequence[str], data: Any) -> None:
        self.path, self.bytes = put_buffer(folders, data), len(data)
        self._end = weakref.finalize(self, remove_file, self.path, os.getpid())


class Sent:
    """A function in a pickle: its digest, and its own pickle, or the file that has it; and its name, if it is a global of the script, and
    the digest of itself alone."""

    def __init__(self, digest: bytes, data: bytes, folders: Sequence[str], known_as: Optional[Tuple[str, bytes]]) -> None:
        self._digest, self._data, self._known_as = digest, data if len(data) < LARGE else b'', known_as
        self._file = None if self._data else _File(folders, data)

    def __reduce__(self) -> Tuple[Any, ...]:
        return received, (self._digest, self._data, self._file.path if self._file is not None else '', self._known_as)


class _Mapped:
    """A pickle whose large buffers are files, which workers map."""

    def __init__(self, data: bytes, files: List[Tuple[str, bool]]) -> None:
        self._data, self._files = data, files

    def __reduce__(self) -> Tuple[Any, ...]:
        return mapped, (self._data, self._files)


class Sender:
    """What an executor has sent: functions, and the buffers of large arrays."""

    def __init__(self, folders: Sequence[str]) -> None:
        self._folders = folders
        self._arrays: Dict[int, None] = {}  # addresses of large ones that have been pickled
        self._sent: Dict[bytes, Sent] = {}
        self._seen: 'weakref.WeakSet[Any]' = weakref.WeakSet()  # functions within functions
        self._buffers: Dict[bytes, _File] = {}

    def sent(self, function: Any) -> Any:
        """What a pickle has in the place of the function: a Sent, or the function itself if its name is enough, or it is none."""
        if not isinstance(function, (types.FunctionType, _Lru)) or _is_found(function):
            return function
        name = getattr(function, '__name__')
        is_global = vars(sys.modules[MAIN]).get(name) is function
        if not is_global and function not in self._seen:
            self._seen.add(function)  # it may be one of many that are sent once
            return function
        digest, _ = _whole_digest(function)
        found = self._sent.pop(digest, None) or Sent(digest, dumps(function), self._folders, (name, _digest(function)) if is_global else None)
        self._sent[digest] = found
        trim(self._sent, KEPT_MAX)
        return found

    def mapped(self, data: bytes, buffers: List[Any]) -> Tuple[bytes, List[_File]]:
        """A pickle whose buffers are apart, as one in which they are files; and these files, which have to be there until it is loaded.
        A large array that was in a pickle before is likely to be in others, too: it is looked for by its digest."""
        files = [_File(self._folders, buffer) if len(buffer) < AGAIN or self._is_new(buffer.obj) else self._buffer(buffer) for buffer in buffers]
        paths = [(file.path, buffer.readonly) for file, buffer in zip(files, buffers)]
        return pickle.dumps(_Mapped(data, paths), PROTOCOL), files

    def _is_new(self, array: Any) -> bool:
        base = getattr(array, 'base', None)
        place = id(array if base is None else base)
        is_new = place not in self._arrays
        self._arrays[place] = None
        trim(self._arrays, ARRAYS_MAX)
        return is_new

    def _buffer(self, buffer: Any) -> _File:
        digest = blake2b(buffer, digest_size=16).digest()
        found = self._buffers.pop(digest, None) or _File(self._folders, buffer)
        self._buffers[digest] = found
        while len(self._buffers) > 1 and sum(file.bytes for file in list(self._buffers.values())) > KEPT_BYTES:
            trim(self._buffers, len(self._buffers) - 1)
        return found


def mapped(data: bytes, files: List[Tuple[str, bool]]) -> Any:
    """Loads a pickle whose buffers are files. What is written to one is of this process alone."""
    return pickle.loads(data, buffers=[map_buffer(*file) for file in files])


def _as_global(made: Any, name: str, digest: bytes) -> Any:
    """The function that other functions of the script find by that name, if it is the same, with what it keeps for itself. Else this one
    becomes it."""
    global _changes
    main = vars(sys.modules[MAIN])
    if name in main and _applied.get((MAIN, name)) == digest:
        return main[name]
    if name not in main or (MAIN, name) in _applied:
        main[name], _applied[MAIN, name] = made, digest
        _changes += 1
    return made


def received(digest: bytes, data: bytes, path: str, known_as: Optional[Tuple[str, bytes]] = None) -> Any:
    """The function or class, with its globals as they are in the program: loaded if it has not been before."""
    global _loading
    entry, outer = _received.get(digest), _loading
    if entry is None:
        _loading = []
        try:
            if path:
                with open(path, 'rb') as file:
                    data = file.read()
            made = pickle.loads(data)
            entry = [made if known_as is None else _as_global(made, *known_as), _loading, _changes]
        finally:
            _loading = outer
        _received[digest] = entry
        trim(_received, KEPT_MAX)
    elif entry[2] != _changes:
        for key, values in entry[1]:
            _apply(key, values)
        entry[2] = _changes
    if outer is not None:
        outer += entry[1]
    return entry[0]
