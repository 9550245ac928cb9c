# SPDX-License-Identifier: MIT
"""The state of a process that runs calls: what one call changes of it is set back before the next one begins.

Each part has a function that looks and one that sets back. What cannot be set back makes the process unfit: it hands over
what it has, ends, and another one takes its place. What modules keep for themselves stays, as their caches are meant to.
"""
from __future__ import annotations

import _signal  # type: ignore[import]  # whose calls take no time to name what they return
import builtins
import gc
import locale
import operator
import os
import resource
import signal
import sys
import warnings
from typing import Any, Callable, Dict, List, Tuple

Look = Callable[[], Any]
SetBack = Callable[[Any], object]
File = Tuple[int, int]

_LIMITS = (resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE, resource.RLIMIT_AS, resource.RLIMIT_DATA, resource.RLIMIT_CPU, resource.RLIMIT_NPROC)
_SIGNALS = sorted(signal.valid_signals())
_DESCRIPTORS = range(5)  # the standard ones, and those by which hdss-helper is given its work


def _refuse(_value: Any) -> None:
    """Sets nothing back: the process is unfit."""


# --- of the process ---

def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # it has been removed
        return ''


def _file_mask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _limits() -> List[Tuple[int, int]]:
    return [resource.getrlimit(limit) for limit in _LIMITS]


def _set_limits(values: List[Tuple[int, int]]) -> None:
    for limit, value in zip(_LIMITS, values):
        if resource.getrlimit(limit) != value:
            resource.setrlimit(limit, value)


def _standing() -> Tuple[int, int]:
    return os.geteuid(), os.getpriority(os.PRIO_PROCESS, 0)


def _handlers() -> List[Any]:
    return [_signal.getsignal(number) for number in _SIGNALS]


def _set_handlers(values: List[Any]) -> None:
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)  # as what they do is unknown without their handlers
    signal.setitimer(signal.ITIMER_PROF, 0)
    for number, value in zip(_SIGNALS, values):
        if value is not None and _signal.getsignal(number) != value:
            signal.signal(number, value)


def _alarm() -> bool:
    return signal.getitimer(signal.ITIMER_REAL)[0] > 0


def _blocked() -> Any:
    return _signal.pthread_sigmask(signal.SIG_BLOCK, ())


def file_of(number: int) -> File:
    """Which file the descriptor is of."""
    try:
        status = os.fstat(number)
        return status.st_dev, status.st_ino
    except OSError:
        return -1, -1


# --- of the interpreter ---

def _environment() -> Tuple[Any, Dict[Any, Any]]:
    return os.environ, dict(os.environ._data)  # type: ignore[attr-defined]  # to read it all by its methods takes 30 times as long


def _set_environment(value: Tuple[Any, Dict[Any, Any]]) -> None:
    os.environ, saved = value
    wanted = {os.fsdecode(name): os.fsdecode(text) for name, text in saved.items()}
    for name in set(os.environ) - set(wanted):
        del os.environ[name]
    os.environ.update(wanted)


def _standard_files() -> List[Any]:
    return [sys.stdin, sys.stdout, sys.stderr]


def _set_standard_files(values: List[Any]) -> None:
    for file in (sys.stdout, sys.stderr):
        if not any(file is value for value in values):
            try:
                file.flush()
            except BaseException:  # of whatever it is
                pass
    sys.stdin, sys.stdout, sys.stderr = values


def _manners_of_files() -> List[Any]:
    return [(file.closed, file.encoding, file.errors) for file in (sys.stdout, sys.stderr)]


def _settings() -> Tuple[Any, ...]:
    return sys.getrecursionlimit(), sys.getswitchinterval(), sys.gettrace(), sys.getprofile(), gc.isenabled(), sys.excepthook


def _set_settings(value: Tuple[Any, ...]) -> None:
    sys.setrecursionlimit(value[0])
    sys.setswitchinterval(value[1])
    sys.settrace(value[2])
    sys.setprofile(value[3])
    (gc.enable if value[4] else gc.disable)()
    sys.excepthook = value[5]


def _locale_name() -> str:
    return locale.setlocale(locale.LC_ALL)


def _set_locale(value: str) -> None:
    locale.setlocale(locale.LC_ALL, value)


def _warnings() -> Tuple[Any, List[Any]]:
    """How they are shown, and which are errors. Modules that are imported have others ignored, which stays."""
    return warnings.showwarning, [entry for entry in warnings.filters if entry[0] == 'error']


def _set_warnings(value: Tuple[Any, List[Any]]) -> None:
    warnings.showwarning, errors = value
    kept = [entry for entry in warnings.filters if entry[0] != 'error' or entry in errors]
    warnings.resetwarnings()  # which forgets what was found by the filters before
    warnings.filters[:] = kept  # type: ignore[index]


# To look at all of them takes some 15 microseconds, where a system call takes a third of one.
_PARTS: List[Tuple[Look, SetBack]] = [
    (_settings, _set_settings),  # first: a function that traces sees all that is behind it
    (_alarm, lambda _: signal.alarm(0)),
    (_handlers, _set_handlers),
    (_blocked, lambda value: _signal.pthread_sigmask(signal.SIG_SETMASK, value)),
    (_limits, _set_limits),
    (_standing, _refuse),
    (_folder, os.chdir),
    (_file_mask, os.umask),
    (_environment, _set_environment),
    (_standard_files, _set_standard_files),
    (_manners_of_files, _refuse),
    (_locale_name, _set_locale),
    (_warnings, _set_warnings),
    (lambda: [file_of(number) for number in _DESCRIPTORS], _refuse),
]


class State:
    """The process as it is now, before its first call."""

    def __init__(self) -> None:
        self._values = [(look, set_back, look()) for look, set_back in _PARTS]
        self._modules, self._builtins = (sys.modules, dict(sys.modules)), dict(vars(builtins))
        self._known = [(owned, list(owned.values())) for owned in (sys.modules, vars(builtins))]  # which are quickly compared
        searched: List[List[Any]] = [sys.path, sys.meta_path, sys.path_hooks]
        self._searched = [(owned, list(owned)) for owned in searched]

    def set_back(self) -> bool:
        """Makes the process as it was. False where it is unfit for another call."""
        try:
            is_fit = self._set_modules_back()
            for look, set_back, value in self._values:
                if look() != value:
                    set_back(value)
                    is_fit = look() == value and is_fit
            return is_fit
        except BaseException:  # what is used here has been replaced
            return False

    def _set_modules_back(self) -> bool:
        """Modules may come, and may be searched for in more places; none may be replaced."""
        modules, named = self._modules
        is_fit = True
        if sys.modules is not modules or any(list(owned.values())[:len(values)] != values for owned, values in self._known):
            is_fit = sys.modules is modules and all(map(operator.is_, map(modules.get, named), named.values()))
            sys.modules = modules
            modules.update(named)
            vars(builtins).update(self._builtins)
        sys.path, sys.meta_path, sys.path_hooks = (owned for owned, _ in self._searched)
        for owned, places in self._searched:
            if any(place not in owned for place in places):
                owned[:] = places
        return is_fit
