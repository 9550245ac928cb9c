# SPDX-License-Identifier: MIT
"""The calls of DLS.py, which the Python branch of DLS4LB has, on top of hdss.mpi.

A program for it runs as it is, as ``import DLS`` finds these calls, too::

    info = DLS.infoDLS(comm, size, rank, first, last, ...)
    DLS.StartLoop(info)
    while not DLS.DLS_Terminated(info):
        start, size = DLS.DLS_StartChunk(info)
        ...                                    # iterations start to start + size - 1
        DLS.DLS_EndChunk(info)
    iterations, seconds = DLS.DLS_EndLoop(info)

Names and numbers of methods are theirs; `last` is one of the iterations. StartLoop and DLS_EndLoop are called by all
ranks. Rank 0 hands out the chunks, whatever `master` is. Needs mpi4py, as hdss.mpi does.
"""
from __future__ import annotations

import time
from typing import TYPE_CHECKING, Iterator, List, Optional, Tuple

from hdss import mpi

if TYPE_CHECKING:
    from mpi4py import MPI

DLS_Schedulers = dict(enumerate(('STATIC', 'SS', 'FSC', 'mFSC', 'GSS', 'TSS', 'FAC', 'WF', 'AWF', 'AWF_B', 'AWF_C', 'AWF_D', 'AWF_E', 'AF', 'TFSS', 'FISS',
                                 'VISS', 'RND', 'PLS', 'TAP')))
GSS, WF = 4, 7  # the least chunk is for GSS and all after it


class infoDLS:  # pylint: disable=invalid-name
    """A loop over the iterations firstIter to lastIter, by the method of that number; STATIC for any other one."""

    def __init__(self, comm: MPI.Intracomm, size: int, rank: int, firstIter: int, lastIter: int, master: int, method: int, requestWhen: int, breakAfter: int,
                 minChunk: int, h_overhead: float, sigma: float, mu: float, alpha: float, nKNL: int, Xeon_speed: float, KNL_speed: float, X: int, B: int,
                 SWR: float) -> None:
        self.comm, self.nProcs, self.myRank, self.foreman = comm, size, rank, master
        self.firstIter, self.lastIter, self.N = firstIter, lastIter, lastIter - firstIter + 1
        self.method = method if method in DLS_Schedulers else 0
        self.requestWhen, self.breakAfter, self.minChunk = requestWhen, breakAfter, minChunk
        self.weights = [Xeon_speed] * (size - nKNL) + [KNL_speed] * nKNL
        self.myIters, self.workTime = 0, 0.0
        self.technique = {2: f'fsc:h={h_overhead},sigma={sigma}' if h_overhead > 0 and sigma > 0 else 'fsc', 6: 'fac2', 15: f'fiss:stages={B}',
                          16: f'viss:x={X}', 18: f'pls:swr={SWR}', 19: f'tap:mu={mu},sigma={sigma},alpha={alpha}'}.get(
                              self.method, DLS_Schedulers[self.method].lower().replace('_', '-'))
        self._loop: Optional[mpi.Loop] = None
        self._ranges: Iterator[range] = iter(())
        self._next: Optional[range] = None
        self._began = 0.0

    def begin(self) -> None:
        powers: Optional[List[float]] = self.weights if self.method == WF else None
        self._loop = mpi.Loop(self.comm, self.N, powers=powers, technique=self.technique, min_chunk=max(1, self.minChunk) if self.method >= GSS else 1,
                              break_after='auto' if self.breakAfter < 0 else max(1, self.breakAfter),
                              request_when='auto' if self.requestWhen < 0 else self.requestWhen or 'off')
        self._ranges, self._next, self.myIters, self.workTime = iter(self._loop), None, 0, 0.0

    def is_over(self) -> bool:
        if self._next is None:
            self._next = next(self._ranges, None)
        return self._next is None

    def begin_chunk(self) -> Tuple[int, int]:
        if self.is_over() or self._next is None:
            return self.lastIter + 1, 0
        chunk, self._next = self._next, None
        self.myIters += len(chunk)
        self._began = time.perf_counter()
        return self.firstIter + chunk.start, len(chunk)

    def end_chunk(self) -> None:
        self.workTime += time.perf_counter() - self._began

    def end(self) -> Tuple[int, float]:
        if self._loop is not None:
            self._loop.close()
        self._loop, self._ranges = None, iter(())
        return self.myIters, self.workTime


def StartLoop(info: infoDLS) -> None:  # pylint: disable=invalid-name
    info.begin()


def DLS_Terminated(info: infoDLS) -> bool:  # pylint: disable=invalid-name
    return info.is_over()


def DLS_StartChunk(info: infoDLS) -> Tuple[int, int]:  # pylint: disable=invalid-name
    return info.begin_chunk()


def DLS_EndChunk(info: infoDLS) -> None:  # pylint: disable=invalid-name
    info.end_chunk()


def DLS_EndLoop(info: infoDLS) -> Tuple[int, float]:  # pylint: disable=invalid-name
    return info.end()
