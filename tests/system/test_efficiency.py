# SPDX-License-Identifier: MIT
"""What workers are found to be worth: slow ones get less, and the efficiency is of the cores or of the workers, whichever it can be of."""
import os

from launch import SUPERMASTER, WORKER, job, main, mpirun_line, report, run


def test_slow_workers_get_less():
    words = [SUPERMASTER, '--report', 'report.json', '--technique', 'dfss', 'synthetic', 'iterations=1500', 'mean=1000', 'mode=sleep']  # whatever else the cores do
    for _ in range(3):  # beside other processes a probe may take long
        result = run(mpirun_line([(1, words), (1, [WORKER]), (1, [WORKER, '--slowdown', '4'])]))
        assert result.status == 0, result
        fast, slow = report()['worker_stats']
        if fast['iterations'] > 2 * slow['iterations'] and 2.5 < fast['power'] / slow['power'] < 6:
            return
    raise AssertionError((fast, slow))


def sharing(line):
    """A run whose ranks may use two cores, or the one that there is; how many, and its report and summary."""
    before = os.sched_getaffinity(0)
    cores = sorted(before)[:2]
    os.sched_setaffinity(0, cores)
    try:
        result = run(line)
    finally:
        os.sched_setaffinity(0, before)
    assert result.status == 0, result
    return len(cores), report(), result.out


def test_efficiency_is_of_the_cores_where_workers_share_them():
    words = ['--power', 'equal', '--report', 'report.json', 'synthetic', 'iterations=16', 'rate=100']
    burning = [*words, 'mean=20000']
    for line in (job(0, 4, burning), job(2, 4, burning), mpirun_line([(4, [WORKER, '--dca', 'rma', *burning])])):
        cores, figures, summary = sharing(line)
        shared = figures['shared']
        assert shared['cores'] == cores and f'4 workers share {cores} core' in summary, (figures, summary)
        assert 'efficiency and overhead are of the cores' in summary and ' per core, ' in summary, summary
        rows = figures['worker_stats']
        assert all(row['cores'] == cores / 4 and row['processor_s'] > 0 for row in rows if row['iterations']), rows
        assert abs(shared['compute_s'] - sum(min(row['compute_s'], row['processor_s']) for row in rows)) < 1e-6, figures
        assert abs(figures['efficiency'] - shared['compute_s'] / figures['elapsed_s'] / cores) < 1e-6, figures
        assert abs(figures['overhead_s'] - figures['elapsed_s'] * (1 - figures['efficiency'])) < 1e-6, figures
        assert 0 < figures['efficiency'] < 1.05, figures
        # iterations take many slices of a core: inside the kernel each worker waits for the others
        assert figures['compute_s'] > 1.3 * shared['compute_s'], figures


def test_efficiency_is_of_the_workers_where_these_wait():
    words = ['--power', 'equal', '--report', 'report.json', 'synthetic', 'iterations=40', 'mean=5000']
    for line, share in ((job(0, 4, [*words, 'mode=sleep']), True), (job(0, 4, words, ['--slowdown', '8']), True), (job(0, 1, words), False)):
        cores, figures, summary = sharing(line)
        assert 'shared' not in figures and not any('cores' in row for row in figures['worker_stats']), figures
        assert ('efficiency and overhead are of the workers' in summary) == share and ' per worker, ' in summary, summary
        assert abs(figures['efficiency'] - figures['compute_s'] / figures['elapsed_s'] / figures['workers']) < 1e-9, figures


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
