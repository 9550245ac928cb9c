# SPDX-License-Identifier: MIT
"""What the benchmarks share: a header that names the machine, medians with their range, JSON lines.

Figures are ratios measured side by side in one run; nothing here judges, it prints. HDSS_BENCH_RUNS sets the number of runs
(default 5), HDSS_BENCH_JSON a file to which every figure is appended as one JSON line. HDSS_BENCH_SIZE=small runs each benchmark once
and so small that its figures mean nothing: that it still runs is what the tests look at.
"""
import contextlib
import json
import os
import platform
import signal
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))

SMALL = os.environ.get('HDSS_BENCH_SIZE') == 'small'
RUNS = int(os.environ.get('HDSS_BENCH_RUNS', '1' if SMALL else '5'))


def sized(full, small):
    return small if SMALL else full


def machine():
    model = 'unknown processor'
    with open('/proc/cpuinfo') as info:
        for line in info:
            if line.startswith('model name'):
                model = line.split(':', 1)[1].strip()
                break
    return {'processor': model, 'cores': len(os.sched_getaffinity(0)), 'system': platform.platform(), 'load': os.getloadavg()[0]}


def header(title):
    facts = machine()
    print(f'{title}\n  {facts["processor"]}, {facts["cores"]} cores, {facts["system"]}, load {facts["load"]:.2f}, '
          f'medians of {RUNS} (least .. most)\n', flush=True)


def spread(values, form='{:.3f}'):
    return f'{form.format(statistics.median(values))} ({form.format(min(values))} .. {form.format(max(values))})'


def record(benchmark, name, values, **more):
    path = os.environ.get('HDSS_BENCH_JSON')
    if path:
        with open(path, 'a') as file:
            line = {'benchmark': benchmark, 'name': name, 'values': values, 'median': statistics.median(values), **more,
                    'machine': machine()}
            file.write(json.dumps(line) + '\n')


def side_by_side(cases):
    """cases: {name: function that runs once and returns its figure}. All in turn, RUNS times; {name: [figures]}."""
    figures = {name: [] for name in cases}
    for _ in range(RUNS):
        for name, function in cases.items():
            figures[name].append(function())
    return figures


def show(benchmark, title, figures, unit, form='{:.3f}', base=None):
    """One line for each case; `base` names for some of them the case of which the ratio is printed beside: of the medians, and of the best
    runs, which other load on the machine disturbs least."""
    best = min if unit in ('us', 's', 'ms') else max
    print(title)
    for name, values in figures.items():
        other, ratio = (base or {}).get(name), ''
        if other:
            ratio = (f'  {statistics.median(values) / statistics.median(figures[other]):.2f}, best runs '
                     f'{best(values) / best(figures[other]):.2f} of {other}')
        print(f'  {name:44s} {spread(values, form):32s} {unit}{ratio}', flush=True)
        record(benchmark, f'{title} / {name}', values, unit=unit)
    print(flush=True)


def bare(what, ranks, *words, options=(), before=()):
    """The figures of bare_mpi, once; `before`: words in front of the mpirun line."""
    from launch import environment, mpirun_line
    line = [*before, *mpirun_line([(ranks, [os.environ['BARE_MPI'], what, *words])], options)]
    out = subprocess.run([str(word) for word in line], capture_output=True, text=True, check=True, env=environment(), timeout=600).stdout
    return json.loads(out)


# From so many ranks on they are spread over pretended nodes: starting them on one node takes a time that grows with their square.
NODES_FROM = 100
NODES = 16


@contextlib.contextmanager
def lines(ranks):
    """How to compose an mpirun line for so many ranks."""
    from launch import mpirun_line
    from nodes import Nodes
    if ranks < NODES_FROM:
        yield mpirun_line
        return
    with Nodes(NODES) as nodes:
        yield lambda contexts: ['env', f'LD_PRELOAD={os.environ["PATIENT_SLEEP"]}', *nodes.line(
            contexts, slots=ranks // NODES + 2, options=['--mca', 'mpi_yield_when_idle', '1', '--mca', 'if_base_do_not_resolve', '1'])]


def led(masters, workers, words, options=(), worker_options=(), before=()):
    """The report of one run under a supermaster, over MPI; `options`: of mpirun, or None for ranks that share memory."""
    from launch import job, report, run
    result = run([*before, *job(masters, workers, ['--report', 'report.json', *words], worker_options, options)])
    assert result.status == 0, result
    figures = report()
    figures['elapsed_s'] = max(figures['elapsed_s'], 1e-9)  # a tiny loop may begin and end at one reading of the clock
    return figures


def ranks_of(process, programs):
    """Process ids of the programs that were started after `process`: those of pretended nodes are not below it."""
    def began(pid):
        with open(f'/proc/{pid}/stat') as stat:
            return int(stat.read().rsplit(')', 1)[1].split()[19])
    wanted, found = {os.path.realpath(program) for program in programs}, []
    for entry in filter(str.isdigit, os.listdir('/proc')):
        try:
            if os.path.realpath(f'/proc/{entry}/exe') in wanted and began(entry) >= began(process.pid):
                found.append(int(entry))
        except OSError:
            pass
    return found


def pss_kib(pid, kinds=('Pss',)):
    """Memory of a process in KiB: private pages, and of each shared one its part. Without the files' (Pss_Anon and Pss_Shmem alone) it
    does not change when others that map the same libraries come and go."""
    with open(f'/proc/{pid}/smaps_rollup') as file:
        return sum(int(line.split()[1]) for line in file if line.split(':')[0] in kinds)


def drain(process):
    os.kill(process.pid, signal.SIGTERM)
