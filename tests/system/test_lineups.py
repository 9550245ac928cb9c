# SPDX-License-Identifier: MIT
"""Real runs in every line-up: the same checksum, each iteration once, whatever the technique, topology and counts."""
import hashlib
import itertools
import os

from flat import MODES, flat_line
from launch import MASTER, SUPERMASTER, WORKER, job, main, mpirun_line, report, run, run_job, techniques

SYNTHETIC = ['synthetic', 'iterations=2000', 'mean=2', 'distribution=exponential']
reference = {}


def check(masters, workers, words, key, done=None):
    """A run that must be done; its checksum must be that of every other run with the same key."""
    result = run_job(masters, workers, ['--report', 'report.json', *words])
    assert result.status == 0, result
    assert not result.err, result
    figures = report()
    assert sum(row['iterations'] for row in figures['worker_stats']) == (figures['iterations'] if done is None else done)
    expected = reference.setdefault(key, figures['checksum'])
    assert figures['checksum'] == expected, f'{masters} masters, {workers} workers, {words}: {figures["checksum"]}, not {expected}'
    return figures


def test_every_line_up_gives_the_same_checksum():
    names = itertools.cycle(techniques())
    for masters, workers in itertools.product([0, 1, 2, 4], [1, 2, 3, 7, 16]):
        figures = check(masters, workers, ['--technique', next(names), *SYNTHETIC], 'synthetic')
        assert figures['masters'] == masters and figures['workers'] == workers
        assert figures['topology'] == ('hierarchical' if masters else 'central')


def test_each_topology_gives_the_same_checksum():
    for masters, workers in ((0, 3), (1, 2), (2, 3)):
        check(masters, workers, SYNTHETIC, 'synthetic')
    for mode in MODES:
        result = run(flat_line(3, mode, ['--report', 'report.json', '--technique', 'fac2', *SYNTHETIC]))
        assert result.status == 0 and not result.err, (mode, result)
        assert report()['checksum'] == reference['synthetic'] and report()['topology'] == f'dca-{mode}', (mode, report())


def test_masters_that_compute_give_the_same_checksum():
    for masters, workers, options in ((0, 2, []), (2, 1, ['--break-after', '3']), (1, 2, ['--technique', 'af', '--isolate', 'on']), (0, 3, ['--technique', 'ss', '--output', 'o.npy', '--overwrite'])):
        both = max(masters, 1)
        figures = check(masters, workers, ['--masters-compute', *options, *SYNTHETIC], 'synthetic')
        assert figures['workers'] == workers + both, figures
    for words, expected in ((['--break-after', '3', *SYNTHETIC], '--break-after is for --masters-compute'),
                            (['--masters-compute', '--threads', '2', *SYNTHETIC], '--threads 1'),
                            (['--masters-compute', 'hydro'], 'depend on one another')):
        result = run(mpirun_line([(1, [SUPERMASTER, *words]), (1, [WORKER])]))
        assert result.status == 2 and len(result.err) == 1 and expected in result.err[0], result


def test_ranks_in_any_order_share_a_job_of_many_words():
    # The words alone take more than one message of the start; the supermaster is the first rank, the last, and between.
    far = './' * 490
    job = [SUPERMASTER, '--report', far + 'report.json', '--record-costs', far + 'costs', '--output', far + 'out.npy', *SYNTHETIC]
    for contexts in ([(1, job), (6, [WORKER])], [(2, [WORKER]), (1, job), (2, [MASTER]), (5, [WORKER])], [(7, [WORKER]), (1, [MASTER]), (1, job)]):
        result = run(mpirun_line(contexts))
        assert result.status == 0 and not result.err, result
        assert report()['checksum'] == reference.setdefault('synthetic', report()['checksum']), report()


def test_every_technique_gives_the_same_checksum():
    for masters, technique in itertools.product([0, 2], [*techniques(), 'css:chunk=13', 'fsc:h=1e-5,sigma=2e-6', 'auto']):
        check(masters, 3, ['--technique', technique, *SYNTHETIC], 'synthetic')


def test_every_way_of_asking_ahead_gives_the_same_checksum():
    for masters, ahead in itertools.product([0, 1], ['off', '1', '8']):
        check(masters, 3, ['--ask-ahead', ahead, '--technique', 'ss', *SYNTHETIC], 'synthetic')


def test_weighting_grouping_and_powers_give_the_same_checksum():
    for options in (['--weighting', 'power', '--technique', 'gss'], ['--group-by', 'even'], ['--power', 'equal'], ['--min-chunk', '50']):
        check(2, 3, [*options, *SYNTHETIC], 'synthetic')
    with open('powers', 'w') as file:
        file.write('# two masters at ranks 1 and 2\n3 1\n4 2.5\n5 1e-1\n')
    figures = check(2, 3, ['--power', 'powers', *SYNTHETIC], 'synthetic')
    powers = [row['power'] for row in figures['worker_stats']]
    assert [round(power, 6) for power in powers] == [10, 25, 1], powers


def test_zero_and_few_iterations():
    for masters, iterations in ((0, 0), (2, 0), (0, 1), (1, 3)):
        figures = check(masters, 4, ['synthetic', f'iterations={iterations}'], f'synthetic {iterations}')
        assert figures['iterations'] == iterations
        assert figures['chunks'] <= iterations


def test_a_part_of_the_loop():
    for masters in (0, 2):
        for part, key in (('0:700', 'head'), ('700:1300', 'tail')):
            check(masters, 3, ['--iterations', part, *SYNTHETIC], key)
    whole = (int(reference['head'], 16) + int(reference['tail'], 16)) % 2**64
    check(0, 2, SYNTHETIC, 'synthetic')
    assert f'{whole:016x}' == reference['synthetic'], 'the checksums of two parts must add up to that of the whole'


def test_the_output_is_the_same_file_everywhere():
    digests = set()
    for masters, workers, unit, extra in [(0, 2, 'row', []), (1, 3, 'row', ['--technique', 'ss']), (2, 4, 'row', []),
                                          (4, 7, 'row', ['--ask-ahead', '4']), (2, 3, 'row', ['--technique', 'static']),
                                          (1, 2, 'pixel', ['--technique', 'gss'])]:
        words = [*extra, '--output', 'out.npy', 'mandelbrot', 'width=200', 'height=150', 'max_iter=200', f'unit={unit}']
        check(masters, workers, words, f'mandelbrot {unit}')
        with open('out.npy', 'rb') as file:
            digests.add(hashlib.sha256(file.read()).hexdigest())
    assert len(digests) == 1, digests


def test_results_larger_than_one_message_arrive():
    # 3,000 x 400 counts in rows: 4.8 MB, in chunks beyond SLICE_MAX with static on 2 workers
    digests = set()
    for masters in (0, 1, 2):
        words = ['--technique', 'static', '--output', 'out.bin', 'mandelbrot', 'width=3000', 'height=400', 'max_iter=30']
        check(masters, 2, words, 'large')
        with open('out.bin', 'rb') as file:
            digests.add(hashlib.sha256(file.read()).hexdigest())
    assert len(digests) == 1, digests


def test_a_link_to_an_output_stays_a_link():
    for name in ('out.csv', 'out.png', 'out.npy'):
        open('real-' + name, 'w').close()
        os.symlink('real-' + name, name)
        words = ['--output', name, 'mandelbrot', 'width=64', 'height=48', 'max_iter=50']
        result = run_job(1, 2, words)
        assert result.status == 0, result
        assert os.path.islink(name) and os.path.getsize('real-' + name) > 100, name


def test_adjoint_convolution():
    for masters in (0, 2):
        check(masters, 3, ['--output', 'out.npy', 'adjoint', 'n=40'], 'adjoint')


def test_spin_images():
    with open('pyramid.obj', 'w') as file:
        file.write('v 0 0 2\nv 1 1 0\nv -1 1 0\nv -1 -1 0\nv 1 -1 0\nf 1 2 3\nf 1 3 4\nf 1 4 5\nf 1 5 2\nf 2 5 4 3\n')
    for words in (['points=3000', 'images=90'], ['file=pyramid.obj', 'image_width=8', 'support_angle=180']):
        for masters in (0, 2):
            check(masters, 3, ['--output', 'out.npy', 'spinimage', *words], words[0])


def test_a_collapsing_sphere():
    for scheduled in ('all', 'gravity'):
        for masters in (0, 2):
            words = ['--output', 'out.npy', 'evrard', 'particles=200', 'steps=6', 'end_time=0.2', f'scheduled={scheduled}']
            check(masters, 3, words, f'evrard {scheduled}')


def test_slow_workers_get_less():
    from launch import SUPERMASTER
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
