# SPDX-License-Identifier: MIT
"""A program of mpi4py that shares its loops by hdss.mpi, run by all ranks: python_loops.py WHAT [ARGUMENT...]. Rank 0 prints ok.

What is checked of all ranks is gathered first, so that a failure is that of all and nobody waits.
"""
import os
import sys
import threading

import mpi4py

if sys.argv[1] == 'thread_level':
    mpi4py.rc.thread_level = 'funneled'

from mpi4py import MPI  # noqa: E402  # pylint: disable=wrong-import-position

import hdss.mpi  # noqa: E402  # pylint: disable=wrong-import-position

WORLD = MPI.COMM_WORLD


def check_all(is_good, *what):
    """On all ranks together."""
    told = WORLD.allgather((bool(is_good), what))
    assert all(good for good, _ in told), told


def once(comm, drawn, iterations):
    """Whether the ranks of the communicator drew each iteration once."""
    everything = [i for part in comm.allgather(drawn) for chunk in part for i in chunk]
    return sorted(everything) == list(range(iterations))


def value_of(word):
    return int(word) if word.isdigit() else {'True': True, 'False': False}.get(word, word)


def cover(iterations, *words):
    """Each iteration once, by both forms, in two time steps; the figures add up. Words: NAME=VALUE."""
    iterations = int(iterations)
    options = {name: value_of(value) for name, value in (word.split('=', 1) for word in words)}
    drawn = list(hdss.mpi.loop(WORLD, iterations, **options))
    check_all(once(WORLD, drawn, iterations), drawn)
    check_all(all(isinstance(chunk, range) and len(chunk) > 0 for chunk in drawn), drawn)
    with hdss.mpi.Loop(WORLD, iterations, powers=[1 + rank for rank in range(WORLD.size)], **options) as loop:
        for step in range(2):
            if step > 0:
                loop.again(iterations + 1)
            drawn = list(loop)
            check_all(once(WORLD, drawn, loop.iterations) and loop.iterations == iterations + step, drawn)
            check_figures(loop, drawn)
            check_all(not list(loop), 'something behind the end')
    check_all(loop.closed and loop.stats.iterations == sum(map(len, drawn)), loop.stats)


def check_figures(loop, drawn):
    stats, totals = loop.stats, loop.totals()
    check_all((stats.iterations, stats.pieces) == (sum(map(len, drawn)), len(drawn)), stats, drawn)
    check_all(0 <= stats.chunks <= stats.pieces and stats.compute_s >= 0 and stats.wait_s >= 0, stats)
    together = WORLD.allgather(stats)
    check_all(totals.iterations == sum(one.iterations for one in together) == loop.iterations, totals, together)
    check_all(totals.chunks == sum(one.chunks for one in together), totals, together)
    check_all(abs(totals.compute_s - sum(one.compute_s for one in together)) <= 1e-6 * (1 + totals.compute_s), totals, together)
    check_all(WORLD.allgather(totals) == [totals] * WORLD.size, totals)
    check_all(0 <= totals.efficiency <= 1 + 1e-9 and totals.elapsed_s >= 0, totals)


def leave():
    """One rank breaks off, by both forms: the others get all the rest, and the next loop is whole."""
    for mode in ('central', 'hierarchical', 'two-sided', 'rma', 'node'):
        for leaver in range(min(WORLD.size, 2)):
            for how in (leave_iterator, leave_object):
                left, drawn = how(mode, leaver)
                everything = sorted(i for part in WORLD.allgather(drawn) for chunk in part for i in chunk)
                check_all(len(set(everything)) == len(everything) and set(everything) <= set(range(500)), mode, leaver, everything)
                check_all(left == (WORLD.rank == leaver), mode, leaver)
                check_all(once(WORLD, list(hdss.mpi.loop(WORLD, 50, mode=mode)), 50), mode, leaver)


def leave_iterator(mode, leaver):
    drawn = []
    for chunk in hdss.mpi.loop(WORLD, 500, mode=mode, technique='ss'):
        drawn.append(chunk)
        if WORLD.rank == leaver:
            return True, drawn
    return WORLD.rank == leaver, drawn  # the others may have been quicker


def leave_object(mode, leaver):
    """In the middle of a step; the next step is whole, and so is what an iterator leaves to another."""
    drawn = []
    with hdss.mpi.Loop(WORLD, 500, mode=mode, technique='ss') as loop:
        for chunk in loop:
            drawn.append(chunk)
            if WORLD.rank == leaver:
                break
        loop.again(70)
        second = []
        for chunk in loop:
            second.append(chunk)
            break
        second += loop
        check_all(once(WORLD, second, 70), mode, second)
    return WORLD.rank == leaver, drawn


class Expected(Exception):
    pass


def draw_and_fail(mode, failing, drawn):
    for chunk in hdss.mpi.loop(WORLD, 500, mode=mode, technique='ss'):
        if WORLD.rank == failing:
            raise Expected(chunk)
        drawn.append(chunk)


def caught():
    """An exception in the body, which the program survives."""
    for mode in ('central', 'two-sided', 'rma'):
        for failing in range(min(WORLD.size, 2)):
            drawn, failed = [], False
            try:
                draw_and_fail(mode, failing, drawn)
            except Expected:
                failed = True
            check_all(not failed or WORLD.rank == failing, mode, failing)
            try:
                with hdss.mpi.Loop(WORLD, 100, mode=mode) as loop:
                    if WORLD.rank == failing:
                        raise Expected
                    drawn = list(loop)
            except Expected:
                pass
            check_all(loop.closed, mode)
            check_all(once(WORLD, list(hdss.mpi.loop(WORLD, 50, mode=mode)), 50), mode, failing)


def uncaught(form, failing):
    """An exception in the body, which ends this rank's program: the others come to their ends."""
    loop = hdss.mpi.loop(WORLD, 500, technique='ss') if form == 'iterator' else hdss.mpi.Loop(WORLD, 500, technique='ss')
    if WORLD.rank == int(failing):
        next(iter(loop), None)  # the loop is kept by this frame, which the traceback keeps until the interpreter's end
        raise ValueError('of the body')
    for _ in loop:
        pass
    if form == 'object':
        loop.close()
    print(f'rank {WORLD.rank} has ended', flush=True)


REFUSED = (
    (10, {'mode': 'star'}, ValueError, "option mode 'star': accepted: central, hierarchical, two-sided, rma, node"),
    (10, {'request_when': '5x'}, ValueError, "option request_when '5x': accepted: auto, off, an integer from 1 to 2^63"),
    (10, {'min_chunk': 0}, ValueError, "option min_chunk '0': accepted: an integer from 1 to 2^63"),
    (10, {'chunk': 3}, ValueError, 'there is no option chunk: accepted: break_after, group, leader, min_chunk, mode, name, '
     'node_technique, powers, report, request_when, technique, thread, weighting'),
    (10, {'group': [2]}, TypeError, 'option group is given a value of type list: accepted: str, int, bool, a path'),
    (10, {'name': 'a\0b'}, ValueError, "option name has a null character in 'a\\x00b': accepted: text without"),
    (10, {'technique': 'gs'}, ValueError, "option technique: technique 'gs' is unknown; did you mean gss?"),
    (10, {'technique': 'auto', 'mode': 'rma'}, ValueError, 'technique auto is for the modes central and hierarchical'),
    (10, {'leader': 'coordinates', 'mode': 'rma'}, ValueError, 'option leader: coordinates is for mode central'),
    (10, {'powers': 3}, TypeError, 'powers is 3: accepted: a sequence of numbers, one for each rank'),
    (10, {'powers': [1] * 99}, ValueError, f'99 powers were given: accepted is one for each of the {WORLD.size} ranks'),
    (10, {'powers': [-1] * 99}, ValueError, 'the power of rank 0 is -1: accepted is a number from'),
    (10, {'report': '/there/is/no/such/folder'}, OSError, '/there/is/no/such/folder: there is no folder'),
    (-1, {}, ValueError, 'a loop of -1 iterations: accepted are 0 and more'),
    (2**63, {}, ValueError, 'a loop of 9223372036854775808 iterations: accepted: 0 to 9223372036854775807'),
    (2.5, {}, TypeError, 'a loop of 2.5 iterations: accepted: an int'),
)


def refusal(call):
    """The exception of the call; None where there is none."""
    try:
        call()
    except Exception as problem:  # pylint: disable=broad-except
        return problem
    return None


def check_refused(call, kind, line):
    problem = refusal(call)
    check_all(type(problem) is kind and str(problem).startswith(line) and '\n' not in str(problem), repr(problem), kind, line)


def wrong():
    for iterations, options, kind, line in REFUSED:
        check_refused(lambda: hdss.mpi.Loop(WORLD, iterations, **options), kind, line)  # pylint: disable=cell-var-from-loop
    check_refused(lambda: hdss.mpi.loop(None, 10), TypeError, 'comm is of type NoneType: accepted: a communicator of mpi4py')
    check_refused(lambda: hdss.mpi.Loop(MPI.COMM_NULL, 10), ValueError, 'the communicator is MPI_COMM_NULL')
    closed = hdss.mpi.Loop(WORLD, 10)
    check_refused(closed.totals, RuntimeError, 'the loop has not ended on this rank')
    check_refused(lambda: closed.again(-2), ValueError, 'a loop of -2 iterations')
    closed.close()
    closed.close()
    for call in (closed.totals, closed.progress, closed.again, lambda: list(closed), lambda: closed.link(closed)):
        check_refused(call, RuntimeError, 'the loop is closed')
    if WORLD.size > 1:
        wrong_on_one_rank()


def wrong_on_one_rank():
    """All ranks are told, and none waits for the one that is wrong."""
    last = WORLD.rank == WORLD.size - 1
    check_refused(lambda: hdss.mpi.Loop(WORLD, 10, mode='star' if last else 'rma'), ValueError, "option mode 'star'")
    check_refused(lambda: hdss.mpi.Loop(WORLD, 10 + last), ValueError, 'the ranks were not given the same number')
    check_refused(lambda: hdss.mpi.Loop(WORLD, 'many' if last else 10), TypeError, "a loop of 'many' iterations")
    half = WORLD.Split(WORLD.rank % 2)
    between = half.Create_intercomm(0, WORLD, 1 - WORLD.rank % 2)
    check_refused(lambda: hdss.mpi.Loop(between, 10), ValueError, 'an intercommunicator cannot share a loop')
    between.Free()
    half.Free()


def thread_level():
    """A thread of the library's own needs MPI_THREAD_MULTIPLE; a loop without does not."""
    check_all(once(WORLD, list(hdss.mpi.loop(WORLD, 100)), 100))
    line = 'option thread: MPI_Init_thread() must have given MPI_THREAD_MULTIPLE'
    check_refused(lambda: hdss.mpi.Loop(WORLD, 10, thread=True), RuntimeError, line)


def many():
    """Loops right after one another, and two at once."""
    for number in range(50):
        check_all(once(WORLD, list(hdss.mpi.loop(WORLD, number)), number), number)
    with hdss.mpi.Loop(WORLD, 300, technique='ss') as outer, hdss.mpi.Loop(WORLD, 300, technique='ss', mode='two-sided') as inner:
        outer.link(inner)
        drawn = [], []
        iterators = iter(outer), iter(inner)
        is_open = [True, True]
        while any(is_open):
            for which in (0, 1):
                chunk = next(iterators[which], None)
                is_open[which] = chunk is not None
                drawn[which].extend([chunk] if chunk else [])
                outer.progress()
        check_all(once(WORLD, drawn[0], 300) and once(WORLD, drawn[1], 300), drawn)


def split():
    """Loops of parts of the ranks, at once; the parts' communicators are gone before the loops are."""
    part = WORLD.Split(WORLD.rank % 2, WORLD.rank)
    loop = hdss.mpi.Loop(part, 200 + WORLD.rank % 2, technique='gss')
    drawn = list(loop)
    good = once(part, drawn, 200 + WORLD.rank % 2)
    part.Free()
    loop.close()
    check_all(good, drawn)


def threads():
    """Threads of a rank draw from one loop."""
    loop, drawn = hdss.mpi.Loop(WORLD, 2000, technique='css:chunk=3'), []
    crew = [threading.Thread(target=lambda: drawn.extend(loop)) for _ in range(3)]
    for one in crew:
        one.start()
    for one in crew:
        one.join()
    loop.close()
    check_all(once(WORLD, drawn, 2000), len(drawn))


def error_handler():
    """That of the communicator is what it was."""
    check_all(WORLD.Get_errhandler() == MPI.ERRORS_RETURN, 'mpi4py has changed')
    list(hdss.mpi.loop(WORLD, 10))
    check_all(refusal(lambda: hdss.mpi.Loop(WORLD, -1)) is not None)
    check_all(WORLD.Get_errhandler() == MPI.ERRORS_RETURN)
    WORLD.Set_errhandler(MPI.ERRORS_ARE_FATAL)
    list(hdss.mpi.loop(WORLD, 10))
    check_all(WORLD.Get_errhandler() == MPI.ERRORS_ARE_FATAL)


def forked():
    """A process that a rank forks does not end the loop of the rank."""
    loop = hdss.mpi.Loop(WORLD, 100)
    child = os.fork()
    if child == 0:
        del loop
        os._exit(0)
    check_all(os.waitpid(child, 0)[1] == 0)
    check_all(once(WORLD, list(loop), 100))
    loop.close()


if __name__ == '__main__':
    globals()[sys.argv[1]](*sys.argv[2:])
    if WORLD.rank == 0 and sys.argv[1] != 'uncaught':
        print('ok', flush=True)
