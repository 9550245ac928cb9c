# SPDX-License-Identifier: MIT
"""libhdss for hdss.mpi: where the library is, its calls with their types, and the exceptions for its errors.

ctypes is enough here: the interface is a dozen calls with two small structs, called once for each chunk and not once
for each iteration, and MPI_Comm is an int or a pointer, which is known when mpi4py is there. An extension or cffi would
need a compiler, or a package, for each MPI library and each Python.
"""
from __future__ import annotations

import ctypes
import functools
import os
import shutil
import sysconfig
from ctypes import POINTER, c_char_p, c_double, c_int, c_int64, c_size_t, c_void_p
from typing import Any, Iterator, Optional

SONAME = 'libhdss.so.0'

# enum hdss_status, of hdss/hdss.h
ERROR_ENDED = -8
_EXCEPTIONS: dict[int, type[Exception]] = {
    -1: RuntimeError,  # USE
    -2: RuntimeError,  # MPI
    -3: ValueError,    # COMM
    -4: ValueError,    # COUNT
    -5: ValueError,    # OPTION
    -6: ValueError,    # TECHNIQUE
    -7: ValueError,    # DIFFERENT
    ERROR_ENDED: RuntimeError,
    -9: MemoryError,   # MEMORY
    -10: OSError,      # REPORT
}


class Library:
    """The library, with the calls of hdss/hdss.h as attributes.

    path: what it was loaded from. MPI: the module of mpi4py. comm_type: MPI_Comm of that MPI library, for ctypes.
    """

    def __init__(self, calls: ctypes.CDLL, path: str, mpi: Any) -> None:
        self.path, self.MPI = path, mpi
        is_int = mpi._sizeof(mpi.Comm) == ctypes.sizeof(c_int)  # MPICH's is, Open MPI's is a pointer
        self.comm_type: Any = c_int if is_int else c_void_p
        # The names of parameters stand in hdss/hdss.h.
        for name, result, arguments in (
                ('version', c_char_p, []),
                ('error_text', c_char_p, [c_int]),
                ('options_new', c_void_p, []),
                ('options_free', None, [c_void_p]),
                ('options_set', c_int, [c_void_p, c_char_p, c_char_p]),
                ('options_set_powers', c_int, [c_void_p, POINTER(c_double), c_int]),
                ('options_error', c_char_p, [c_void_p]),
                ('loop_new', c_int, [self.comm_type, c_int64, c_void_p, POINTER(c_void_p)]),
                ('loop_next', c_int, [c_void_p, POINTER(c_int64), POINTER(c_int64)]),
                ('loop_progress', c_int, [c_void_p]),
                ('loop_link', c_int, [c_void_p, c_void_p]),
                ('loop_again', c_int, [c_void_p, c_int64]),
                ('loop_free', c_int, [POINTER(c_void_p)]),
                ('loop_error', c_char_p, [c_void_p]),
                ('loop_stats', c_int, [c_void_p, c_void_p, c_size_t]),
                ('loop_totals', c_int, [c_void_p, c_void_p, c_size_t])):
            call = getattr(calls, 'hdss_' + name)
            call.restype, call.argtypes = result, arguments
            setattr(self, name, call)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f'libhdss has no call hdss_{name}')

    def comm(self, comm: Any) -> Any:
        """The MPI_Comm of a communicator of mpi4py, as loop_new() takes it; borrowed."""
        return self.comm_type.from_address(self.MPI._addressof(comm))

    def check(self, status: int, text: Optional[bytes] = None) -> int:
        """Returns a status that is no error. Raises the exception for one that is, with the line `text` if given."""
        if status >= 0:
            return status
        line = (text or self.error_text(status)).decode(errors='replace')
        raise _EXCEPTIONS.get(status, RuntimeError)(line)


def _candidates() -> Iterator[str]:
    """Where the library may be, the nearest place first: a path, or a name for the loader."""
    yield os.path.join(os.path.dirname(os.path.abspath(__file__)), SONAME)
    yield SONAME  # LD_LIBRARY_PATH, and what ldconfig has
    program = shutil.which('hdss')
    if program is not None:
        folder = os.path.dirname(os.path.realpath(program))
        yield os.path.join(folder, 'library', SONAME)  # a build folder
        lib = os.path.join(os.path.dirname(folder), 'lib')
        for place in (os.path.join(lib, sysconfig.get_config_var('MULTIARCH') or '.'), lib, lib + '64'):
            yield os.path.join(place, SONAME)


def _open() -> tuple[ctypes.CDLL, str]:
    """Loads libhdss: $HDSS_LIBRARY, or else the first of the candidates that can be. Returns its path or name as well.

    Raises ImportError.
    """
    named = os.environ.get('HDSS_LIBRARY')
    problem = ''
    for path in [named] if named else _candidates():
        if not named and os.path.isabs(path) and not os.path.exists(path):
            continue
        try:
            return ctypes.CDLL(path), path
        except OSError as error:
            problem = problem or str(error)
    hint = 'HDSS_LIBRARY must be its path' if named else f'HDSS_LIBRARY=/path/to/{SONAME} says where it is'
    raise ImportError(f'hdss.mpi needs libhdss, which cannot be loaded: {problem}; {hint}')


def _mpi_version(library: ctypes.CDLL) -> str:
    """The MPI library that a shared object is linked with, as that says itself: 'Open MPI v4.1.4'."""
    text, length = ctypes.create_string_buffer(8192), c_int()
    library.MPI_Get_library_version(text, ctypes.byref(length))
    return _short(text.value.decode(errors='replace'))


def _short(version: str) -> str:
    """The beginning of a version, for a line of text: Open MPI's goes on behind a comma, MPICH's in a second line."""
    words = version.replace('\0', '').split('\n')[0].split(',')[0].split()
    return ' '.join(words) or 'an MPI library without a name'


def _check_same_mpi(calls: ctypes.CDLL, path: str, mpi: Any) -> None:
    """Raises ImportError unless mpi4py and libhdss run on one MPI library: with two, one of them is never initialised.

    A symbol is looked for in the shared object and in what that was linked with, so that one address is one library.
    """
    try:
        own, others = calls.MPI_Initialized, ctypes.CDLL(mpi.__file__).MPI_Initialized
        is_same = ctypes.cast(own, c_void_p).value == ctypes.cast(others, c_void_p).value
        built_with = _mpi_version(calls)
    except (OSError, AttributeError) as problem:
        raise ImportError(f'hdss.mpi cannot tell the MPI libraries of {path} and {mpi.__file__}: {problem}') from problem
    if not is_same:
        runs_on = _short(mpi.Get_library_version())
        which = 'another copy of it' if built_with == runs_on else built_with
        raise ImportError(
            f'mpi4py runs on {runs_on}, and {path} on {which}: both must be built with the same MPI library')


@functools.lru_cache(maxsize=None)
def load() -> Library:
    """Loads libhdss for this process, once. Imports mpi4py.MPI, which initialises MPI unless mpi4py.rc says otherwise.

    Raises ImportError, with one line, where mpi4py or libhdss is missing or they run on different MPI libraries.
    """
    try:
        from mpi4py import MPI  # pylint: disable=import-outside-toplevel
    except ImportError as problem:
        raise ImportError(f'hdss.mpi needs mpi4py: {problem}') from problem
    calls, path = _open()
    _check_same_mpi(calls, path, MPI)
    return Library(calls, path, MPI)
