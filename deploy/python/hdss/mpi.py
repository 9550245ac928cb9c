# SPDX-License-Identifier: MIT
"""Share a loop among the ranks of an mpi4py program, by libhdss.

A static split, such as ``range(comm.rank, n, comm.size)``, leaves ranks idle when iterations take different times or
cores have different speeds. Here each rank draws its next iterations when it has computed the last ones::

    from mpi4py import MPI
    import hdss.mpi

    for chunk in hdss.mpi.loop(MPI.COMM_WORLD, 10_000, technique='fac2'):
        for i in chunk:                                  # item by item,
            compute(i)
        a[chunk.start:chunk.stop] = compute_many(chunk)  # or a whole slice of an array

Every iteration of range(n) comes to exactly one rank, in ranges that a technique cuts. The loop has a communicator of
its own, so that messages of the program cannot meet the loop's. `Loop` is the object behind it, for time steps and
figures::

    with hdss.mpi.Loop(comm, n, technique='awf-c', report='loop.json') as loop:
        for step in range(steps):
            if step > 0:
                loop.again()
            for chunk in loop:
                ...
        totals = loop.totals()
    if comm.rank == 0:
        print(f'efficiency {totals.efficiency:.0%}')

It needs mpi4py, and the library libhdss, built with the same MPI library as mpi4py. The library is looked for beside
this module, then as the loader does (LD_LIBRARY_PATH), then beside the program ``hdss`` on PATH; the variable
HDSS_LIBRARY names its file. All of that is found out by the first loop, which raises ImportError.

Options
    Those of hdss_options_set(3), with _ for -: see `Options`. All ranks give the same ones.

Errors
    Where a loop cannot begin, all ranks raise the same exception: that of the lowest rank that has failed. ValueError
    is an option, a number of iterations, a technique or a communicator that cannot be, TypeError a value of a wrong
    type, RuntimeError wrong use of the loop or MPI that is not initialised, MemoryError means that memory is out, and
    OSError that the report cannot be written. Errors of MPI itself, inside the library, end the program, also where
    mpi4py would make exceptions of them (MPI.ERRORS_RETURN): the library could not go on.

Threads
    Several threads may iterate over one loop; then, and with ``thread=True``, MPI must have been initialised with
    MPI_THREAD_MULTIPLE, which mpi4py does unless mpi4py.rc.thread_level says otherwise. Python's lock is released while
    a rank waits.

See hdss_loop_new(3), hdss_loop_next(3), hdss_options_set(3), hdss_loop_stats(3), hdss-techniques(7).
"""
from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import operator
import os
import weakref
from ctypes import byref, c_double, c_int64, c_void_p
from typing import TYPE_CHECKING, Any, Iterator, Optional, Sequence, TypedDict, TypeVar, Union

from . import _libhdss

if TYPE_CHECKING:
    from mpi4py import MPI
    from typing_extensions import Unpack

__all__ = ['loop', 'Loop', 'Options', 'Stats', 'Totals', 'library_version']

INT64_MAX = 2**63 - 1


class Options(TypedDict, total=False):
    """How a loop is shared: the keywords of `loop` and `Loop`, each of which may be left out or None.

    hdss_options_set(3) tells more.
    """

    technique: Optional[str]
    """How chunks are cut: 'gss', 'css:chunk=80', 'auto', as ``hdss techniques`` lists them. The default is 'fac2'."""
    mode: Optional[str]
    """'central' (the default), 'hierarchical', 'two-sided', 'rma' or 'node'."""
    node_technique: Optional[str]
    """In mode 'node': how what a group has drawn is cut. The default is 'fac2'."""
    weighting: Optional[str]
    """'power' for chunks in proportion to the powers of the ranks, or 'none', the default."""
    min_chunk: Optional[int]
    """No chunk is smaller, in iterations, but the last. The default is 1."""
    break_after: Union[int, str, None]
    """Iterations that a coordinating rank is handed at once; 'auto', the default, goes by time, 'off' is a chunk."""
    request_when: Union[int, str, None]
    """Iterations that are left of a chunk when the next one is asked for; 'auto' is 15 percent, 'off' the default."""
    group: Union[int, str, None]
    """Ranks of a node that make a group; 'node', the default, is all of a node."""
    thread: Union[bool, str, None]
    """Whether a coordinating rank answers the others from a thread of its own. The default is False."""
    leader: Optional[str]
    """In mode 'central': 'coordinates' has rank 0 do nothing else; the default is 'computes'."""
    report: Union[str, os.PathLike[str], None]
    """The file for the figures of all ranks as JSON, which rank 0 writes when the loop is closed."""
    name: Optional[str]
    """What the report calls the loop."""


@dataclasses.dataclass(frozen=True)
class Stats:
    """Figures of this rank in this time step. compute_s is spent between its draws, wait_s in them; both in seconds."""

    iterations: int
    chunks: int
    pieces: int  # ranges in which the chunks were handed out
    compute_s: float
    wait_s: float


@dataclasses.dataclass(frozen=True)
class Totals:
    """Figures of all ranks in this time step.

    messages: that were sent for the loop. elapsed_s: seconds from the first chunk to the last rank's end. compute_s:
    sum of the ranks' seconds. efficiency: compute_s / (elapsed_s * ranks). max_over_mean: the latest over the mean of
    the times at which the ranks came to their ends.
    """

    iterations: int
    chunks: int
    messages: int
    elapsed_s: float
    compute_s: float
    efficiency: float
    max_over_mean: float


_Figures = TypeVar('_Figures', Stats, Totals)
# The structs of hdss/hdss.h have the members of the classes, in their order: int64_t for int, double for float.
_STRUCTS: dict[type, type[ctypes.Structure]] = {
    figures: type(figures.__name__, (ctypes.Structure,), {'_fields_': [
        (field.name, c_int64 if str(field.type) == 'int' else c_double) for field in dataclasses.fields(figures)]})
    for figures in (Stats, Totals)}


def library_version() -> str:
    """The version of libhdss, as '1.2.3'. Raises ImportError where it cannot be used."""
    return str(_libhdss.load().version().decode())


def _value_text(name: str, value: object) -> str:
    """The value of an option as on a command line. Raises TypeError."""
    if isinstance(value, bool):
        return 'yes' if value else 'no'
    if isinstance(value, (str, os.PathLike)):
        return os.fsdecode(value)
    try:
        return str(operator.index(value))  # type: ignore[arg-type]  # ints of numpy, too
    except TypeError:
        kind = type(value).__name__
        raise TypeError(f'option {name} is given a value of type {kind}: accepted: str, int, bool, a path') from None


def _iterations_of(value: object) -> int:
    """A number of iterations that fits into the library's 64 bits. Raises TypeError and ValueError."""
    try:
        iterations = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f'a loop of {value!r} iterations: accepted: an int') from None
    if not -INT64_MAX <= iterations <= INT64_MAX:
        raise ValueError(f'a loop of {iterations} iterations: accepted: 0 to {INT64_MAX}')
    return iterations


def _set_options(library: _libhdss.Library, handle: int, powers: Optional[Sequence[float]],
                 options: dict[str, object]) -> None:
    """Raises TypeError and ValueError, with a line that names the option and what is accepted."""
    for name, value in options.items():
        if name not in Options.__annotations__:
            accepted = ', '.join(sorted([*Options.__annotations__, 'powers']))
            raise ValueError(f'there is no option {name}: accepted: {accepted}')
        if value is None:
            continue
        text = _value_text(name, value)
        if '\0' in text:
            raise ValueError(f'option {name} has a null character in {text!r}: accepted: text without')
        dashed = name.replace('_', '-').encode()
        status = library.options_set(handle, dashed, os.fsencode(text))
        library.check(status, library.options_error(handle).replace(b'--' + dashed, b'option ' + name.encode(), 1))
    if powers is not None:
        try:
            numbers = (c_double * len(powers))(*powers)
        except (TypeError, OverflowError):
            raise TypeError(f'powers is {powers!r:.60}: accepted: a sequence of numbers, one for each rank') from None
        library.check(library.options_set_powers(handle, numbers, len(numbers)), library.options_error(handle))


def _agree(library: _libhdss.Library, comm: MPI.Comm, problem: Optional[Exception]) -> None:
    """Raises on all ranks the problem of the lowest rank that has one, for which the others would else wait."""
    mpi = library.MPI
    if not mpi.Is_initialized() or mpi.Is_finalized() or comm == mpi.COMM_NULL or comm.Is_inter():
        if problem is not None:
            raise problem
        return  # the library refuses the communicator
    lowest = comm.allreduce(comm.size if problem is None else comm.rank, op=mpi.MIN)
    if lowest < comm.size:
        raise comm.bcast(problem, root=lowest)


@contextlib.contextmanager
def _errors_are_fatal(library: _libhdss.Library, comm: MPI.Comm) -> Iterator[None]:
    """Has MPI's errors inside the library end the program: a copy that is made of `comm` meanwhile inherits that.

    mpi4py has them returned, to make exceptions of them; the library does not look at what MPI returns.
    """
    mpi = library.MPI
    if not mpi.Is_initialized() or mpi.Is_finalized() or comm == mpi.COMM_NULL:
        yield
        return
    handler = comm.Get_errhandler()
    is_return = handler == mpi.ERRORS_RETURN
    if is_return:
        comm.Set_errhandler(mpi.ERRORS_ARE_FATAL)
    try:
        yield
    finally:
        if is_return:
            comm.Set_errhandler(handler)
        handler.Free()


def _release(library: _libhdss.Library, handle: c_void_p, process: int) -> int:
    """Frees the library's loop. A process that was forked has a copy of the loop, which is none of its own."""
    return int(library.loop_free(byref(handle))) if os.getpid() == process else 0


class Loop:
    """A loop that the ranks of a communicator share. Iterating over it draws this rank's next iterations as ranges.

    Made by all ranks of `comm` together; `again`, `totals` and `close` are called by all of them together as well, the
    rest by each as it likes. `comm` is only borrowed for the call, and may be freed afterwards.

    A loop may be left before its end, by ``break`` or an exception: then what this rank was handed is not given to
    others, and for them the loop goes on. `close`, which the end of a ``with`` block calls, waits until they have come
    to the loop's end or closed it, too, and answers them meanwhile; so an exception that leaves the block is seen after
    that. A loop that is dropped without `close` is closed then, or at the end of the program.
    """

    def __init__(self, comm: MPI.Intracomm, iterations: int, *, powers: Optional[Sequence[float]] = None,
                 **options: Unpack[Options]) -> None:
        """Begins a loop over range(iterations).

        powers: speeds of the ranks, one number for each, in any unit; those of rank 0 count, others may give None. They
        are for techniques that are weighted (wf, dtss, dfss, dgss) and for the option weighting. options: `Options`.

        Raises ImportError, TypeError, ValueError, RuntimeError, MemoryError, OSError: see the module's text.
        """
        library = self._library = _libhdss.load()
        if not isinstance(comm, library.MPI.Comm):
            raise TypeError(f'comm is of type {type(comm).__name__}: accepted: a communicator of mpi4py')
        handle = c_void_p()
        self._begin(comm, iterations, powers, dict(options), handle)
        self._handle = handle
        self._iterations = int(iterations)
        self._last_stats: Optional[Stats] = None
        self._free = weakref.finalize(self, _release, library, handle, os.getpid())

    def _begin(self, comm: MPI.Intracomm, iterations: int, powers: Optional[Sequence[float]],
               options: dict[str, object], handle: c_void_p) -> None:
        library, count = self._library, 0
        problem: Optional[Exception] = None
        settings = library.options_new()
        try:
            try:
                if settings is None:
                    raise MemoryError('out of memory for the options')
                count = _iterations_of(iterations)
                _set_options(library, settings, powers, options)
            except (TypeError, ValueError, MemoryError) as raised:
                problem = raised
            _agree(library, comm, problem)
            with _errors_are_fatal(library, comm):
                status = library.loop_new(library.comm(comm), count, settings, byref(handle))
            library.check(status, library.options_error(settings))
        finally:
            library.options_free(settings)

    def _open_handle(self) -> c_void_p:
        if self.closed:
            raise RuntimeError('the loop is closed')
        return self._handle

    def _check(self, status: int) -> int:
        return self._library.check(status, None if status >= 0 else self._library.loop_error(self._open_handle()))

    def __iter__(self) -> Iterator[range]:
        """Yields ranges of iterations for this rank, none of them empty, until none are left.

        An iterator that was left can be followed by another, which goes on; behind the end there is nothing more.
        """
        first, count = c_int64(), c_int64()
        while True:
            status = self._library.loop_next(self._open_handle(), byref(first), byref(count))
            if status in (0, _libhdss.ERROR_ENDED):  # the second: an earlier iterator, or another thread's, was told
                return
            self._check(status)
            yield range(first.value, first.value + count.value)

    def progress(self) -> None:
        """Answers other ranks that wait for this one, if there are any, and returns at once.

        For a rank that coordinates and takes long over single iterations; of no use, and no harm, elsewhere.
        """
        self._check(self._library.loop_progress(self._open_handle()))

    def link(self, other: Loop) -> None:
        """From now on, waiting in one of the two loops answers ranks that wait in the other. For this rank alone.

        For a program that draws from several loops in turn.
        """
        self._check(self._library.loop_link(self._open_handle(), other._open_handle()))

    def again(self, iterations: Optional[int] = None) -> None:
        """Begins the next time step, on all ranks together: a loop of `iterations`, by default as many as before.

        Options are the same, and what was learned of the ranks is kept. A step that has not come to its end is left
        first.

        Raises TypeError and ValueError on the rank whose number it is, and what the library finds on all ranks.
        """
        count = self._iterations if iterations is None else _iterations_of(iterations)
        self._check(self._library.loop_again(self._open_handle(), count))
        self._iterations = count

    def _figures(self, call: Any, kind: type[_Figures]) -> _Figures:
        struct = _STRUCTS[kind]()
        self._check(call(self._open_handle(), byref(struct), ctypes.sizeof(struct)))
        return kind(*(getattr(struct, field.name) for field in dataclasses.fields(kind)))

    @property
    def iterations(self) -> int:
        """Iterations of this time step, those of all ranks."""
        return self._iterations

    @property
    def closed(self) -> bool:
        """Whether the loop was closed: by `close`, or at the end of the program."""
        return not self._free.alive

    @property
    def stats(self) -> Stats:
        """Figures of this rank in this time step, at any time; of a closed loop those that it had."""
        return self._last_stats or self._figures(self._library.loop_stats, Stats)

    def totals(self) -> Totals:
        """Figures of all ranks in this time step, on each of them.

        All ranks call it together, when each has come to the loop's end. Raises RuntimeError before the end, or when
        the loop is closed.
        """
        return self._figures(self._library.loop_totals, Totals)

    def close(self) -> None:
        """Ends the loop, on all ranks together, and writes the report, if one was asked for.

        A second call does nothing. Raises OSError where the report cannot be written, RuntimeError when MPI is
        finalised already; the loop is closed all the same.
        """
        if not self.closed:
            self._last_stats = self.stats
            self._library.check(self._free() or 0)

    def __enter__(self) -> Loop:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def loop(comm: MPI.Intracomm, iterations: int, *, powers: Optional[Sequence[float]] = None,
         **options: Unpack[Options]) -> Iterator[range]:
    """Begins a loop over range(iterations), on all ranks of `comm` together. Returns an iterator of this rank's ranges.

    ``for chunk in hdss.mpi.loop(comm, n, technique='gss'): ...``. Arguments, errors, and what becomes of a loop that is
    left early are those of `Loop`. The loop is closed, by all ranks together, at the iterator's end, or when the
    iterator is dropped.
    """
    return _draw_all(Loop(comm, iterations, powers=powers, **options))


def _draw_all(shared: Loop) -> Iterator[range]:
    with shared:
        yield from shared
