"""--weighting acp: a worker whose core others use as well is measured to be loaded, and gets less than one whose core is its own. Ratios only: the
machine may be busy with other things, but not much more so on the one core than on the other."""
import contextlib
import os
import subprocess
import sys

from launch import MASTER, SUPERMASTER, WORKER, job, main, mpirun_line, report, run

# A core for each of the two workers.
CORES = sorted(os.sched_getaffinity(0))[:2]
BUSY = 4
LOOP = ['--power', 'equal', '--report', 'report.json', 'synthetic', 'mean=200']


@contextlib.contextmanager
def busy(core, count):
    """So many processes that never sleep, on this core."""
    processes = [subprocess.Popen([sys.executable, '-c', f'import os\nos.sched_setaffinity(0, [{core}])\nprint(flush=True)\nwhile True: pass'],
                                  stdout=subprocess.PIPE) for _ in range(count)]
    try:
        for process in processes:
            process.stdout.readline()
        yield
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def pinned(words):
    return [(1, ['taskset', '-c', core, WORKER, *words]) for core in CORES]


def line(topology, words):
    if topology.startswith('dca-'):
        return mpirun_line(pinned(['--dca', topology[4:], *words]), ['--bind-to', 'none'])
    masters = [(1, [MASTER])] if topology == 'hierarchical' else []
    return mpirun_line([(1, [SUPERMASTER, *words]), *masters, *pinned([])], ['--bind-to', 'none'])


def figures_of(topology, technique, iterations):
    result = run(line(topology, ['--technique', technique, '--weighting', 'acp', *LOOP, f'iterations={iterations}']))
    assert result.status == 0 and not result.err, result
    figures = report()
    assert figures['topology'] == topology and figures['technique']['weighting'] == 'acp', figures
    assert sum(row['iterations'] for row in figures['worker_stats']) == iterations, figures
    assert all(row['load'] >= 1 for row in figures['worker_stats'] if row['chunks']), figures
    return figures['worker_stats']


def check_loaded(topology, technique):
    with busy(CORES[1], BUSY):
        free, loaded = figures_of(topology, technique, 5000)
    assert loaded['load'] > 1.3 * free['load'], (topology, technique, free, loaded)
    assert loaded['iterations'] < 0.8 * free['iterations'], (topology, technique, free, loaded)


def test_a_loaded_worker_gets_less():
    if len(CORES) < 2:
        return
    for topology, technique in [('central', 'css:chunk=200'), ('hierarchical', 'gss'), ('dca-rma', 'css:chunk=200'), ('dca-two-sided', 'fac2')]:
        check_loaded(topology, technique)


def test_every_technique_takes_loads():
    for topology, technique in [('central', 'dtss'), ('hierarchical', 'awf-c'), ('dca-rma', 'af'), ('dca-two-sided', 'wf'), ('hierarchical', 'static')]:
        figures_of(topology, technique, 500)


def test_what_cannot_be_weighted_by_load_says_so():
    words = ['--weighting', 'acp', 'synthetic', 'iterations=10']
    result = run(mpirun_line([(2, [WORKER, '--dca', 'node', *words])]))
    assert result.status == 2 and len(result.err) == 1, result
    for part in ('--weighting acp', '--dca node', 'accepted are none, power'):
        assert part in result.err[0], result
    result = run(job(0, 1, ['--weighting', 'acpp', 'synthetic', 'iterations=10']))
    assert result.status == 2 and len(result.err) == 1 and "--weighting 'acpp': accepted: none, power, acp" in result.err[0], result


if __name__ == '__main__':
    main([test_a_loaded_worker_gets_less, test_every_technique_takes_loads, test_what_cannot_be_weighted_by_load_says_so])
