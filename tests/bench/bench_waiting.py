# SPDX-License-Identifier: MIT
"""Idle ranks and the end: the CPU share of ranks that wait, the time from a request to its chunk at an idle daemon with free cores and
with a computing worker on each, and the time from the last commit to the last rank gone, beside that of bare MPI ranks to leave.

Targets: 5 % of a core, 100 us, 100 ms more than bare. Where a worker computes on each core the daemon has to wait for one of them.
"""
import contextlib
import os
import statistics
import tempfile
import time

from measure import RUNS, header, record, spread
from launch import MASTER, SUPERMASTER, WORKER, descendants, finish, job, mpirun_line, report, run_job, start, wait_until

BARE_MPI = os.environ['BARE_MPI']
TICKS = os.sysconf('SC_CLK_TCK')
LINE_UPS = ((0, 1), (0, 2), (2, 8), (0, 63), (4, 59))


def stat_fields(pid):
    with open(f'/proc/{pid}/stat') as stat:
        return stat.read().rsplit(')', 1)[1].split()


def ranks(process):
    programs = {os.path.realpath(program) for program in (SUPERMASTER, MASTER, WORKER, BARE_MPI)}
    found = []
    for pid in descendants(process.pid):
        try:
            if os.path.realpath(f'/proc/{pid}/exe') in programs:
                found.append(pid)
        except OSError:
            pass
    return found


def idle_share(masters, workers):
    """Largest share of a core among the ranks of a run whose workers all wait for one iteration of 10 s."""
    process = start(job(masters, workers, ['--power', 'equal', '--technique', 'ss', 'synthetic', 'iterations=1', 'mean=1e7',
                                           'mode=sleep', 'distribution=constant']))
    count = 1 + masters + workers
    wait_until(lambda: len(ranks(process)) == count, 'all ranks')
    began = time.monotonic()
    wait_until(lambda: time.monotonic() - began > 3, 'the start to be over')
    pids = ranks(process)
    before = {pid: sum(map(int, stat_fields(pid)[11:13])) for pid in pids}
    began = time.monotonic()
    wait_until(lambda: time.monotonic() - began > 5, 'five seconds')
    shares = [(sum(map(int, stat_fields(pid)[11:13])) - before[pid]) / TICKS / (time.monotonic() - began) for pid in pids]
    assert finish(process).status == 0
    return max(shares)


def service_us(workers, mode):
    """Mean time that a worker stands idle per chunk, without asking ahead, when the daemon sleeps between two requests of 2 ms. The first
    wait, for the others to start, is in it."""
    result = run_job(0, workers, ['--power', 'equal', '--ask-ahead', 'off', '--technique', 'ss', '--report', 'report.json', 'synthetic',
                                  f'iterations={1500 * workers}', 'mean=2000', f'mode={mode}', 'distribution=constant', 'rate=100'])
    assert result.status == 0, result
    rows = report()['worker_stats']
    return sum(row['wait_s'] for row in rows) / sum(row['chunks'] for row in rows) * 1e6


def leaving_ms(masters, workers):
    """From the last commit to the last rank gone. Both ends on the clock of /proc: start of the supermaster + start-up + loop time."""
    process = start(job(masters, workers, ['--power', 'equal', '--report', 'report.json', 'synthetic', 'iterations=200', 'mean=10000',
                                           'mode=sleep']))
    count = 1 + masters + workers
    wait_until(lambda: len(ranks(process)) == count, 'all ranks')
    pids = ranks(process)
    supermaster = next(pid for pid in pids if os.path.realpath(f'/proc/{pid}/exe') == os.path.realpath(SUPERMASTER))
    began = int(stat_fields(supermaster)[19]) / TICKS
    end = when_gone(pids)
    assert finish(process).status == 0
    figures = report()
    return (end - began - figures['startup_s'] - figures['elapsed_s']) * 1e3


def when_gone(pids):
    def gone(pid):
        try:
            return stat_fields(pid)[0] == 'Z'
        except OSError:
            return True
    while not all(gone(pid) for pid in pids):
        time.sleep(0.001)
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def bare_leaving_ms(count):
    """From the moment at which bare ranks may leave to the last one gone: they look for it once in 20 ms."""
    with contextlib.suppress(OSError):
        os.unlink('done')
    process = start(mpirun_line([(count, [BARE_MPI, 'hold', os.path.abspath('done')])]))
    process.stdout.readline()  # all are through MPI_Init and a barrier
    pids = ranks(process)
    assert len(pids) == count
    began = time.clock_gettime(time.CLOCK_BOOTTIME)
    with open('done', 'w', encoding='ascii'):
        pass
    end = when_gone(pids)
    assert finish(process).status == 0
    return (end - began) * 1e3


def main():
    os.chdir(tempfile.mkdtemp(prefix='hdss-bench-'))
    header('Waiting')
    for masters, workers in ((0, 2), (2, 8)):
        share = idle_share(masters, workers)
        print(f'  idle: 1 + {masters} + {workers} ranks, the busiest uses {100 * share:.1f} % of a core', flush=True)
        record('waiting', f'idle share 1+{masters}+{workers}', [share])
    cores = len(os.sched_getaffinity(0))
    for name, workers, mode in (('cores free', 1, 'sleep'), ('a worker on each core', cores, 'busy')):
        values = [service_us(workers, mode) for _ in range(RUNS)]
        print(f'  a chunk from an idle daemon, {name}: {spread(values, "{:.1f}")} us after its request', flush=True)
        record('waiting', f'service us, {name}', values)
    for masters, workers in LINE_UPS:
        pairs = [(leaving_ms(masters, workers), bare_leaving_ms(1 + masters + workers)) for _ in range(RUNS)]
        own, bare = zip(*pairs)
        print(f'  last commit to last rank gone, 1 + {masters} + {workers}: {spread(own, "{:.0f}")} ms, as many bare ranks '
              f'{spread(bare, "{:.0f}")} ms', flush=True)
        record('waiting', f'leaving ms 1+{masters}+{workers}', own)
        record('waiting', f'leaving ms, bare {1 + masters + workers}', bare)


main()
