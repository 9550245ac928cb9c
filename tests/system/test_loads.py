# SPDX-License-Identifier: MIT
"""--weighting acp: a worker whose core others use as well is measured to be loaded, and gets less than one whose core is its own. Ratios only: the
machine may be busy with other things, but not much more so on the one core than on the other."""
import contextlib
import os
import subprocess
import sys

from launch import MASTER, SUPERMASTER, WORKER, job, main, mpirun_line, report, run

# A core for each of the two workers.
CORES = sorted(os.sched_getaffinity(0))[:2]
BUSY = 6
TRIES = 3
LOOP = ['--power', 'equal', '--report', 'report.json', 'synthetic', 'mean=200']


@contextlib.contextmanager
def busy(core, count):
    """So many processes that never sleep, on this core, each in a session of its own: some systems share a core by sessions."""
    processes = [subprocess.Popen([sys.executable, '-c', f'import os\nos.sched_setaffinity(0, [{core}])\nprint(flush=True)\nwhile True: pass'],
                                  stdout=subprocess.PIPE, start_new_session=True) for _ in range(count)]
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


def figures_of(topology, technique, iterations, options=()):
    result = run(line(topology, ['--technique', technique, '--weighting', 'acp', *options, *LOOP, f'iterations={iterations}']))
    assert result.status == 0 and not result.err, result
    figures = report()
    assert figures['topology'] == topology and figures['technique']['weighting'] == 'acp', figures
    assert sum(row['iterations'] for row in figures['worker_stats']) == iterations, figures
    assert all(row['load'] >= 1 for row in figures['worker_stats'] if row['chunks']), figures
    return figures['worker_stats']


def is_less(topology, technique, options=()):
    """Whether in one of some runs the loaded worker is known as such and gets less; False: there is too much else on the machine, which goes where
    our load is not."""
    seen = []
    for _ in range(TRIES):
        with busy(CORES[1], BUSY):
            free, loaded = figures_of(topology, technique, 1500, options)
        if loaded['load'] > 1.3 * free['load'] and loaded['iterations'] < 0.8 * free['iterations']:
            return True
        seen.append((free, loaded))
    assert any(free['load'] > 2.5 for free, _ in seen), (topology, technique, seen)
    return False


def test_a_loaded_worker_gets_less():
    if len(CORES) < 2:
        return 'there is one core'
    for topology, technique in [('central', 'css:chunk=50'), ('hierarchical', 'css:chunk=50'), ('dca-rma', 'css:chunk=50')]:
        if not is_less(topology, technique):
            return 'the machine is busy with other things'


def test_a_loaded_worker_of_several_threads_gets_less():
    """The threads of a worker, all on its one core, are a part of what it measures there."""
    if len(CORES) < 2:
        return 'there is one core'
    for topology in ('central', 'hierarchical'):
        if not is_less(topology, 'css:chunk=50', ['--threads', '2']):
            return 'the machine is busy with other things'


def test_every_technique_takes_loads():
    for topology, technique in [('central', 'dtss'), ('hierarchical', 'awf-c'), ('dca-rma', 'af'), ('dca-two-sided', 'wf')]:
        figures_of(topology, technique, 500)


def test_processes_of_a_kernel_are_not_measured():
    for line_of in (lambda words: job(0, 1, words), lambda words: mpirun_line([(1, [WORKER, '--dca', 'rma', *words])])):
        result = run(line_of(['--weighting', 'acp', '--technique', 'gss', '--report', 'report.json', 'exec', 'command=true {}', 'count=3']))
        assert result.status == 0 and 'load' not in report()['worker_stats'][0], (result, report())


def test_what_cannot_be_weighted_by_load_says_so():
    words = ['--weighting', 'acp', 'synthetic', 'iterations=10']
    result = run(mpirun_line([(2, [WORKER, '--dca', 'node', *words])]))
    assert result.status == 2 and len(result.err) == 1, result
    for part in ('--weighting acp', '--dca node', 'accepted are none, power'):
        assert part in result.err[0], result
    result = run(job(0, 1, ['--weighting', 'acpp', 'synthetic', 'iterations=10']))
    assert result.status == 2 and len(result.err) == 1 and "--weighting 'acpp': accepted: none, power, acp" in result.err[0], result


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
