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
import collections
import copyreg
import functools
import hashlib
import io
import operator
import os
import pickle
import sys
import types
import uuid
import weakref
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

import cloudpickle

Name = Tuple[str, str]  # of a namespace, and in it
Values = Dict[str, Tuple[bytes, Any]]  # by name: the digest and the value

PROTOCOL = 5
MAIN = '__main__'
KEPT_MAX = 64         # functions that a worker, or a program, keeps
LARGE = 1 << 18       # bytes from which a function has a file of its own
_FIXED = frozenset((types.BuiltinFunctionType, types.MemberDescriptorType, types.GetSetDescriptorType, staticmethod, classmethod, property,
                    str, int, float, complex, bool, bytes, type(None)))
_Lru = type(functools.lru_cache(maxsize=1)(len))

_spaces: Dict[str, Dict[str, Any]] = {}  # by key, but for that of __main__
_keys: Dict[int, str] = {}               # by the address of the dictionary, which stays in _spaces
_applied: Dict[Name, bytes] = {}         # digests of the values that were set last
_changes = 0                             # how often one was set
_loading: List[Tuple[str, Values]] = []  # what the function that is being loaded sets
_received: 'collections.OrderedDict[bytes, List[Any]]' = collections.OrderedDict()  # function, what it sets, and _changes then
_classes: 'weakref.WeakKeyDictionary[type, Optional[bytes]]' = weakref.WeakKeyDictionary()  # that are complete here, and by which digest
_class_digests: Dict[int, Tuple[type, Tuple[Any, ...], bytes]] = {}  # by the address of the class, which has these attributes
_function_digests: Dict[int, Tuple[Any, List[Any], bytes]] = {}      # by that of the function, which uses these globals


# --- namespaces ---

def _key_of(space: Dict[str, Any]) -> Optional[str]:
    """The key of a dictionary of globals; None if it has no name, as those of generated functions."""
    if space is vars(sys.modules[MAIN]):
        return MAIN
    key = _keys.get(id(space))
    if key is None and isinstance(space.get('__name__'), str):
        key = f'{space["__name__"]}-{uuid.uuid4().hex}'
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
    """True for what has its name in a module that workers import."""
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

    def __init__(self, file: Any, is_back: bool = False, buffer_callback: Optional[Callable[[Any], Any]] = None) -> None:
        super().__init__(file, PROTOCOL, buffer_callback)
        self._is_back = is_back
        self._namespaces: Dict[str, _Namespace] = {}
        self._digests: Dict[Name, bytes] = {}

    def reducer_override(self, value: Any) -> Any:
        reduced = _reduced_wrapper(value)
        if reduced is not None:
            return reduced
        if isinstance(value, type) and not _is_found(value):
            getattr(copyreg, '_slotnames')(value)  # which pickling an object of the class adds to it
        reduced = super().reducer_override(value)
        if isinstance(value, type) and isinstance(reduced, tuple) and len(reduced) == 6:
            return self._reduced_class(value, *reduced)
        return reduced

    def _reduced_class(self, value: type, make: Any, args: Any, state: Any, _items: Any, _pairs: Any, complete: Any) -> Tuple[Any, ...]:
        digest = None if self._is_back else _class_digest(value)
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
                if (key, name) not in self._digests:
                    self._digests[key, name] = _digest(value)
                values[name] = self._digests[key, name], value
            absent = [name for name in set(_names(function.__code__)) if name not in function.__globals__ and not hasattr(builtins, name)]
        return *made, (*state, key, values, sorted(absent)), None, None, set_function


class _Digester(Pickler):
    """Pickles into a digest; of functions without their globals, which it adds to `used`."""

    def __init__(self, used: Dict[Name, Any]) -> None:
        self._hash, self._used = hashlib.blake2b(digest_size=16), used
        update = self._hash.update
        super().__init__(types.SimpleNamespace(write=update), False, lambda buffer: update(buffer.raw()))

    def digest(self, value: Any) -> bytes:
        self.dump(value)
        return self._hash.digest()

    def _reduced_class(self, value: type, *reduced: Any) -> Tuple[Any, ...]:
        return reduced

    def _namespace(self, key: str, base: Dict[str, Any]) -> Any:
        return key

    def _reduced_function(self, function: Any, key: str, made: Tuple[Any, ...], state: Tuple[Any, ...], given: Dict[str, Any]) -> Tuple[Any, ...]:
        self._used.update(((key, name), value) for name, value in given.items())
        return *made, (*state, key, sorted(given)), None, None, set_function


def _digest(value: Any, used: Optional[Dict[Name, Any]] = None) -> bytes:
    """Of the value, without what the globals of its functions are."""
    return _Digester({} if used is None else used).digest(value)


def _is_fixed(value: Any) -> bool:
    """True for what cannot change by itself, so that it need not be looked into again."""
    if isinstance(value, tuple):
        return all(map(_is_fixed, value))
    if isinstance(value, types.FunctionType):
        return value.__closure__ is None and value.__kwdefaults__ is None and not vars(value) and _is_fixed(value.__defaults__)
    if isinstance(value, types.ModuleType):
        return sys.modules.get(value.__name__) is value
    return type(value) in _FIXED or (isinstance(value, type) and _is_found(value))


def _remember(known: Dict[int, Any], of: Any, *what: Any) -> None:
    while len(known) >= KEPT_MAX:
        del known[next(iter(known))]
    known[id(of)] = of, *what


def _class_digest(made: type) -> bytes:
    """Of the class: reckoned once while its attributes are the same and none of them can change by itself."""
    attributes = tuple(vars(made).items())
    known = _class_digests.get(id(made))
    if known is not None and len(known[1]) == len(attributes) and all(a[1] is b[1] for a, b in zip(known[1], attributes)):
        return known[2]
    digest = _digest(made)
    if all(_is_fixed(value) for name, value in attributes if name not in ('__dict__', '__weakref__', '__annotations__')):
        _remember(_class_digests, made, attributes, digest)
    return digest


def _parts(function: Any) -> Tuple[Any, Any]:
    return (function.__code__, function.__defaults__) if isinstance(function, types.FunctionType) else (None, None)


def _is_as_it_was(space: Dict[str, Any], name: Optional[str], value: Any, code: Any, defaults: Any) -> bool:
    now = _parts(value)
    return (name is None or space.get(name) is value) and now[0] is code and now[1] is defaults


def _whole_digest(function: Any) -> bytes:
    """Of the function with all globals that it uses, by itself or by other functions: reckoned once if none of them can change by itself."""
    known = _function_digests.get(id(function))
    if known is not None and all(_is_as_it_was(*part) for part in known[1]):
        return known[2]
    used: Dict[Name, Any] = {}
    whole, done = hashlib.blake2b(_digest(function, used), digest_size=16), {('', '')}
    while len(done) <= len(used):
        for name in [name for name in used if name not in done]:
            done.add(name)
            whole.update(repr(name).encode() + _digest(used[name], used))
    digest = whole.digest()
    if _is_fixed(function) and all(map(_is_fixed, used.values())):
        parts = [(namespace(key, {}), name, value, *_parts(value)) for (key, name), value in used.items()]
        for one in (value for value in (function, *used.values()) if isinstance(value, types.FunctionType)):
            parts += [(one.__globals__, name, None, None, None) for name in _names(one.__code__) if name not in one.__globals__]
        _remember(_function_digests, function, [({}, None, function, *_parts(function)), *parts], digest)
    return digest


def dumps(value: Any, is_back: bool = False, buffer_callback: Optional[Callable[[Any], Any]] = None) -> bytes:
    """The value as bytes, for a worker, or on the way back for the program."""
    file = io.BytesIO()
    Pickler(file, is_back, buffer_callback).dump(value)
    return file.getvalue()


# --- functions that are sent once ---

class Sent:
    """A function in a pickle: its digest, and its own pickle, or the file in which that is as long as this object is there."""

    def __init__(self, digest: bytes, data: bytes, folder: str) -> None:
        self._digest, self._data, self._path = digest, data, ''
        if len(data) >= LARGE:
            self._data, self._path = b'', os.path.join(folder, 'sent-' + uuid.uuid4().hex)
            with open(self._path, 'wb') as file:
                file.write(data)
            self._end = weakref.finalize(self, _remove, self._path, os.getpid())

    def __reduce__(self) -> Tuple[Any, ...]:
        return received, (self._digest, self._data, self._path)


def _remove(path: str, pid: int) -> None:
    if os.getpid() == pid:
        try:
            os.unlink(path)
        except OSError:
            pass


class Sender:
    """The functions that an executor has sent."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._sent: 'collections.OrderedDict[bytes, Sent]' = collections.OrderedDict()

    def sent(self, function: Any) -> Any:
        """What a pickle has in the place of the function: a Sent, or the function itself if its name is enough, or it is none."""
        if not isinstance(function, (types.FunctionType, _Lru)) or _is_found(function):
            return function
        digest = _whole_digest(function)
        found = self._sent.pop(digest, None) or Sent(digest, dumps(function), self._folder)
        self._sent[digest] = found
        while len(self._sent) > KEPT_MAX:
            self._sent.popitem(last=False)
        return found

    def close(self) -> None:
        self._sent.clear()


def received(digest: bytes, data: bytes, path: str) -> Any:
    """The function, with its globals as they are in the program: loaded if it has not been before."""
    entry = _received.get(digest)
    if entry is None:
        before, _loading[:] = list(_loading), []
        try:
            if path:
                with open(path, 'rb') as file:
                    data = file.read()
            entry = [pickle.loads(data), list(_loading), _changes]
        finally:
            _loading[:] = before
        while len(_received) >= KEPT_MAX:
            _received.popitem(last=False)
        _received[digest] = entry
    elif entry[2] != _changes:
        for key, values in entry[1]:
            _apply(key, values)
        entry[2] = _changes
    return entry[0]
