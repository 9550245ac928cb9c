# SPDX-License-Identifier: MIT
"""The knowledge of `hdss top` at a moment: the sessions of this user, their jobs, the ranks of the job that is looked into, as the control sockets
tell of them (docs/CONTROL.md), and the sums over these ranks. Pure. A number that is not known is 0 or below, a text that is none is empty."""
from __future__ import annotations

import math
from typing import Any, List, Optional, Tuple

HOST_MAX = 47
RANKS_MAX = 1000000  # of a job that are taken
RANK_NONE = 2 ** 32 - 1
SLOW_MAX = 3         # chunks that are told of, of those that take longest
OVER = ('done', 'failed', 'cancelled')
RANK_STATES = ('serving', 'computing', 'waiting', 'aside', 'orphan', 'lost', 'left')
AWAY = ('lost', 'left')


def _of(json: Any, name: str) -> Any:
    return json.get(name) if isinstance(json, dict) else None


def _number(json: Any, name: str) -> float:
    """Below 0 where there is none."""
    value = _of(json, name)
    return float(value) if type(value) in (int, float) and -1e308 < value < 1e308 else -1.0


def _positive(json: Any, name: str) -> float:
    return max(_number(json, name), 0.0)


def _count(json: Any, name: str) -> int:
    return int(min(_positive(json, name), 1e18))


def _rank(json: Any, name: str) -> int:
    value = _number(json, name)
    return int(value) if 0 <= value < RANK_NONE else RANK_NONE


def _text(json: Any, name: str) -> str:
    value = _of(json, name)
    return value if isinstance(value, str) else ''


def _list(json: Any, name: str) -> List[Any]:
    value = _of(json, name)
    return value if isinstance(value, list) else []


class Session:
    def __init__(self, name: str, is_set: bool) -> None:
        self.name, self.is_set = name, is_set
        self.is_silent = False  # somebody listens, and does not answer
        self.reason = ''        # why it refuses to answer
        self.workers = self.waiting = self.running = self.over = 0.0

    def read(self, json: Any) -> None:
        jobs = _of(json, 'jobs')
        self.workers = _positive(_of(json, 'ranks'), 'workers')
        self.waiting, self.running = _positive(jobs, 'waiting'), _positive(jobs, 'running')
        self.over = sum(_positive(jobs, state) for state in OVER)


class Job:
    """A job; with JSON that is no job, one of a run that does not answer."""

    def __init__(self, session: str, json: Any = None) -> None:
        self.is_told = _text(json, 'state') != ''
        number = _number(json, 'id')
        self.session = session
        self.id = session if session.startswith('run-') else f'{session}/{int(number) if 1 <= number < 1e18 else 0}'
        self.name, self.kernel, self.folder = (_text(json, name) for name in ('name', 'kernel', 'folder'))
        self.title = _text(json, 'title') or self.kernel
        self.output = _text(json, 'output')
        self.state = _text(json, 'state') or 'silent'
        self.waits_for = _text(json, 'waits_for')
        self.technique, self.topology = _text(json, 'technique'), _text(json, 'topology')
        self.command = [word if isinstance(word, str) else '?' for word in _list(json, 'command')]
        self.done, self.failed, self.rate, self.elapsed_s, self.workers, self.busy, self.lost = (
            _positive(json, name) for name in ('done', 'failed', 'rate_per_s', 'elapsed_s', 'workers', 'busy', 'lost'))
        self.total, self.left_s, self.rate_now, self.soonest_s, self.latest_s = (
            _number(json, name) for name in ('total', 'eta_s', 'rate_now_per_s', 'eta_soonest_s', 'eta_latest_s'))
        status = _number(json, 'status')
        self.status = int(status) if 0 <= status < 256 else -1
        self.has_not_begun = _text(json, 'submitted') != '' and _text(json, 'began') == ''

    @property
    def is_over(self) -> bool:
        return self.state in OVER

    @property
    def percent(self) -> float:
        """The part that is done: 100 is only what is all. Of a job whose total is known and not 0."""
        settled = self.done + self.failed
        return min(100 * settled / self.total, 99.9 if settled < self.total else 100.0)


class Rank:
    __slots__ = ('rank', 'is_master', 'state', 'node', 'master', 'host', 'busy', 'has_counts', 'done', 'chunks', 'compute_s', 'load', 'has_chunk', 'first',
                 'count', 'left', 'since_s', 'command')

    def __init__(self, json: Any) -> None:
        chunk = _of(json, 'chunk')
        state = _text(json, 'state')
        self.rank, self.node, self.master = _rank(json, 'rank'), _rank(json, 'node'), _rank(json, 'master')
        self.is_master = _text(json, 'role') == 'master'
        self.state = state if state in RANK_STATES else ''  # empty: its master knows, and does not tell
        self.host = _text(json, 'host')[:HOST_MAX]
        self.busy = int(min(_positive(json, 'busy'), RANKS_MAX))  # of a master: its workers that compute
        self.has_counts = _number(json, 'done') >= 0
        self.done, self.chunks = _count(json, 'done'), _count(json, 'chunks')
        self.compute_s, self.load = _positive(json, 'compute_s'), _positive(json, 'load')
        self.has_chunk = isinstance(chunk, dict)
        self.first, self.count, self.left = _count(chunk, 'first'), _count(chunk, 'count'), _count(chunk, 'left')
        self.since_s, self.command = _positive(chunk, 'since_s'), _text(chunk, 'command')

    @property
    def group(self) -> int:
        """The number of its master, or else of its node."""
        return self.rank if self.is_master else self.master if self.master != RANK_NONE else self.node

    @property
    def is_away(self) -> bool:
        return self.state in AWAY

    @property
    def computing_s(self) -> float:
        """Time of the chunks that are finished, and of the one that runs."""
        return self.compute_s + (self.since_s if self.has_chunk else 0.0)

    def busy_share(self, job: Optional[Job]) -> float:
        """The part of the job's time that it has computed."""
        if job is None or not self.has_counts or job.elapsed_s <= 0:
            return -1.0
        return min(self.computing_s / job.elapsed_s, 1.0)


class Group:
    """The workers of a master, or of a node where there are no masters."""

    def __init__(self, number: int) -> None:
        self.number, self.is_master, self.is_lost, self.host = number, False, False, ''
        self.workers = self.computing = self.lost = self.done = self.chunks = 0
        self.knows_computing = self.has_counts = True
        self.shares: List[float] = []
        self.longest_s = -1.0  # of the chunks that are computed

    @property
    def busy_share(self) -> float:
        """Mean over its workers."""
        return sum(self.shares) / len(self.shares) if self.shares else -1.0

    def add(self, rank: Rank, share: float) -> None:
        self.workers += 1
        self.computing += rank.state == 'computing'
        self.lost += rank.state == 'lost'
        self.knows_computing &= rank.state != ''
        self.has_counts &= rank.has_counts
        self.done += rank.done
        self.chunks += rank.chunks
        self.host = self.host or rank.host
        if rank.has_chunk:
            self.longest_s = max(self.longest_s, rank.since_s)
        if share >= 0 and not rank.is_away:
            self.shares.append(share)

    def take_master(self, master: Rank) -> None:
        """Takes from the master what is not known of all of its workers."""
        self.is_master, self.is_lost, self.host = True, master.is_away, master.host
        if not self.knows_computing:
            self.computing, self.knows_computing = master.busy, True
        if not self.has_counts:
            self.done, self.has_counts = master.done, True


class Sums:
    """The ranks of a job summed up."""

    def __init__(self, ranks: List[Rank], job: Optional[Job]) -> None:
        self.groups = {number: Group(number) for number in sorted({rank.group for rank in ranks})}
        workers = [rank for rank in ranks if not rank.is_master]
        for rank in workers:
            self.groups[rank.group].add(rank, rank.busy_share(job))
        for rank in ranks:
            if rank.is_master:
                self.groups[rank.group].take_master(rank)
        states = [rank.state for rank in workers]
        self.workers, self.waiting, self.aside, self.lost = len(workers), states.count('waiting'), states.count('aside'), states.count('lost')
        self.computing = sum(group.computing for group in self.groups.values())
        self.imbalance = _imbalance([rank for rank in workers if not rank.is_away])
        iterations = sum(rank.done for rank in workers)
        mean_s = sum(rank.compute_s for rank in workers if rank.done > 0) / iterations if iterations > 0 else 0.0
        slow = sorted((rank for rank in ranks if rank.has_chunk), key=lambda rank: -rank.since_s)[:SLOW_MAX]
        # The time of each over what so many iterations take at the mean; below 0: not known.
        self.slow: List[Tuple[Rank, float]] = [(rank, rank.since_s / (mean_s * rank.count) if mean_s * rank.count > 0 else -1.0) for rank in slow]


def _imbalance(ranks: List[Rank]) -> float:
    """The maximum over the mean of the times that workers have computed; below 0: not known."""
    times = [rank.computing_s for rank in ranks]
    whole = sum(times)
    known = len(times) > 1 and whole > 0 and all(rank.has_counts for rank in ranks)
    return max(times) / (whole / len(times)) if known and math.isfinite(whole) else -1.0


class Model:
    def __init__(self) -> None:
        self.sessions: List[Session] = []
        self.jobs: List[Job] = []
        self.looked: Optional[Job] = None  # the job that is looked into, as it was told last
        self.looked_is_gone = False        # its session is not there any more
        self.looked_is_silent = False
        self.looked_reason = ''            # why its session tells nothing
        self.ranks: List[Rank] = []        # of that job, by their places
        self.sums = Sums([], None)
        self.failures: List[Any] = []      # of its tasks, as hdss._tasks tells them, the latest first
        self.failed_tasks = 0
        self.note = ''                     # what has happened last
        self.clock = ''

    def clear_jobs(self) -> None:
        """Forgets sessions and jobs, which are told anew."""
        self.sessions, self.jobs = [], []

    def clear_looked(self) -> None:
        self.looked, self.ranks, self.looked_reason = None, [], ''
        self.failures, self.failed_tasks = [], 0
        self.looked_is_gone = self.looked_is_silent = False

    def add_jobs(self, session: str, jobs: Any) -> None:
        """Takes the jobs of an answer. What is no job is passed by."""
        self.jobs += [job for job in (Job(session, json) for json in _list({'jobs': jobs}, 'jobs')) if job.is_told]

    def look(self, session: str, json: Any) -> None:
        job = Job(session, json)
        self.looked = job if job.is_told else None

    def put_ranks(self, place: int, ranks: Any, is_last: bool) -> None:
        """Takes ranks from that place on; with `is_last` there are none behind them. If those before it are not here yet, they come first the next time."""
        if place <= len(self.ranks):
            taken = [Rank(json) for json in _list({'ranks': ranks}, 'ranks')][:RANKS_MAX - place]
            self.ranks[place:len(self.ranks) if is_last else place + len(taken)] = taken

    def sum_up(self) -> None:
        self.sums = Sums(self.ranks, self.looked)

    @property
    def waiting_unlisted(self) -> float:
        """Jobs of sets that wait and are not listed."""
        return sum(session.waiting for session in self.sessions if session.is_set) - sum('/' in job.id and job.state == 'waiting' for job in self.jobs)
