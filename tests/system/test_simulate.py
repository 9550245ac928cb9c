# SPDX-License-Identifier: MIT
"""`hdss simulate` as a researcher uses it: the same input gives the same bytes, faults of nodes, costs from files, and wrong use."""
import csv
import itertools
import json
import os
import random
import statistics

from launch import HDSS, main, run

SMALL = ['--workers', 12, '--masters', 3, '--platform', 'two-speeds:cores=4']
EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../deploy/examples/simulate/availability.txt')
LOOP = ['--costs', 'exponential:mean=500', 'synthetic', 'iterations=5000']


def simulate(words, status=0):
    result = run([HDSS, 'simulate', '--report', 'report.json', *words])
    assert result.status == status, str(result)
    with open('report.json') as file:
        return json.load(file), result


def test_same_input_same_bytes():
    texts = []
    for _ in range(2):
        _, result = simulate([*SMALL, '--fail-nodes', '3@0.05', '--slow-nodes', '0:3@0.01-0.02,2:2@0.1', '--technique', 'awf-c', *LOOP])
        with open('report.json') as file:
            texts.append((file.read(), result.out))
    assert texts[0] == texts[1]


def test_report_is_that_of_a_run_and_says_that_it_is_simulated():
    figures, result = simulate([*SMALL, *LOOP])
    simulated = figures['simulated']
    assert 0 < simulated.pop('supermaster_busy') < 1 and 0 < simulated.pop('master_busy') < 1
    assert simulated == {'backend': 'virtual', 'platform': 'two-speeds', 'platform_nodes': 2048, 'costs': 'exponential:mean=500'}
    assert figures['topology'] == 'hierarchical' and figures['masters'] == 3 and figures['workers'] == 12 and figures['done'] == 5000
    assert figures['started_at'] is None and figures['checksum'] is None
    assert sum(worker['iterations'] for worker in figures['worker_stats']) == 5000
    assert abs(figures['compute_s'] - sum(worker['compute_s'] for worker in figures['worker_stats'])) < 1e-6
    assert any('platform two-speeds, backend virtual' in line for line in result.out.split('\n')), str(result)
    assert not any('checksum' in line for line in result.out.split('\n'))


def test_speeds_of_nodes_are_measured():
    """Workers on slow nodes are given less: the two nodes that 80 ranks need are one of each kind."""
    figures, _ = simulate(['--workers', 79, '--platform', 'two-speeds', '--technique', 'dfss', '--costs', 'constant:mean=100',
                           'synthetic', 'iterations=100000'])
    powers = sorted({round(worker['power'], 3) for worker in figures['worker_stats']})
    assert powers == [1, 2.5], powers
    assert figures['efficiency'] > 0.9


def test_more_masters_serve_more_workers():
    """Chunks so short that one who serves all cannot."""
    times = [simulate(['--workers', 256, '--masters', masters, '--platform', 'ranger', '--technique', 'css:chunk=1', '--ask-ahead', 'off', '--power', 'equal',
                       '--costs', 'constant:mean=10', 'synthetic', 'iterations=100000'])[0]['elapsed_s'] for masters in (1, 4)]
    assert times[0] > 2 * times[1], times


def test_results_on_their_way_take_time():
    job = ['--workers', 64, '--platform', 'cluster', '--costs', 'constant:mean=10', 'mandelbrot', 'width=100000', 'height=2000', 'unit=row']
    without, _ = simulate(job)
    collected, _ = simulate(['--output', 'out.npy', *job])
    assert collected['bytes_on_wire'] > 4 * 100000 * 2000 and collected['elapsed_s'] > 2 * without['elapsed_s']
    assert not os.path.exists('out.npy')


def test_results_of_dependent_loops_are_collected():
    """Boundary data and results go their ways at the same time; with the results more bytes are on them, and it takes longer."""
    for masters in (0, 2):
        job = ['--workers', 8, '--masters', masters, '--technique', 'fac2', 'hydro', 'l=400', 'k=500']
        without, _ = simulate(job)
        collected, _ = simulate(['--output', 'out.npy', *job])
        assert without['done'] == collected['done'] == 400, (masters, without['done'], collected['done'])
        assert collected['bytes_on_wire'] - without['bytes_on_wire'] > 0.9 * 400 * 500 * 32, (without['bytes_on_wire'], collected['bytes_on_wire'])
        assert collected['elapsed_s'] > without['elapsed_s'], (without['elapsed_s'], collected['elapsed_s'])


def test_masters_of_many_workers_do_not_hoard():
    """A refill of more than 200 chunks comes in several messages: the time between them is no time between requests, nor is the start a round trip."""
    for workers in (2 * 150, 2 * 500):
        figures, _ = simulate(['--workers', workers, '--masters', 2, '--technique', 'dfss', '--power', 'measure', '--costs', 'constant:mean=1000',
                               'synthetic', f'iterations={500 * workers}'])
        assert figures['efficiency'] > 0.97, (workers, figures['efficiency'])


def test_orders_of_what_comes_at_one_moment():
    """Where iterations are free or long it is decided by a moment who has which; one order says little, and the fixed one is like the others."""
    job = ['--workers', 8, '--power', 'equal', 'synthetic', 'iterations=512', 'mean=10000', 'mode=sleep', 'distribution=bimodal', 'spread=1']
    fixed, _ = simulate(['--technique', 'fac2', *job])
    assert 'seed' not in fixed['simulated']
    times = [simulate(['--technique', 'fac2', '--seed', seed, *job])[0]['elapsed_s'] for seed in range(3, 12)]
    all_of_them, result = simulate(['--technique', 'fac2', '--seed', 3, '--repetitions', 9, *job])
    simulated = all_of_them['simulated']
    assert simulated['repetitions'] == 9 and 3 <= simulated['seed'] < 12, simulated
    assert simulated['elapsed_s'] == {'least': min(times), 'median': sorted(times)[4], 'most': max(times)}, (simulated, times)
    assert all_of_them['elapsed_s'] == sorted(times)[4] and len(set(times)) > 2, times
    assert f"order        seed {simulated['seed']}; of 9 the least" in result.out, result.out
    assert min(times) * 0.8 < fixed['elapsed_s'] < max(times) * 1.2, (times, fixed['elapsed_s'])
    for mode in ('rma', 'two-sided', 'node'):
        once, again = (simulate(['--dca', mode, '--seed', 5, '--technique', 'fac2', *job])[0] for _ in range(2))
        assert once == again and once['done'] == 512, mode
    refuses(['--repetitions', '0', *LOOP], '--repetitions')


def test_costs_of_a_file():
    with open('costs', 'w') as file:
        file.write('# first count us\n0 100 1000\n100 900 10\n')
    figures, _ = simulate(['--workers', 2, '--costs', './costs', 'synthetic', 'iterations=1000'])
    assert abs(figures['compute_s'] - 0.109) < 1e-5, figures['compute_s']  # and some calls of the kernel


def test_costs_that_lb4omp_has_measured():
    write('profile', 'Location: ;a.c;main;1;2;;,Mean 2000 Sigma 0 iterations 600', 'Location: ;a.c;main;1;2;;,Mean 4000 Sigma 0 iterations 400')
    figures, _ = simulate(['--workers', 2, '--costs', 'lb4omp:profile,mhz=2', 'synthetic', 'iterations=1000'])
    assert abs(figures['compute_s'] - 1.4) < 1e-3, figures['compute_s']
    refuses(['--workers', 2, '--costs', 'lb4omp:profile', 'synthetic'], '--costs', 'mhz= is missing')
    refuses(['--workers', 2, '--costs', 'lb4omp:none,mhz=2', 'synthetic'], '--costs', 'none', 'No such file')


def test_costs_that_a_run_has_recorded():
    """Sleeping iterations that grow: the blocks of the file do, too, and cover the loop; a simulation of it takes as long."""
    loop = ['synthetic', 'iterations=400', 'mean=4000', 'distribution=increasing', 'mode=sleep']
    result = run([HDSS, 'run', '--masters', 1, '--workers', 2, '--technique', 'css:chunk=20', '--recall', 'off', '--progress', 'never',
                  '--record-costs', 'costs.txt', *loop])
    assert result.status == 0, str(result)
    with open('costs.txt') as file:
        lines = [line.split() for line in file if not line.startswith('#')]
    blocks = [(int(first), int(count), float(us)) for first, count, us, _ in lines]
    assert {worker for *_, worker in lines} == {'2', '3'}, lines
    assert [(first, count) for first, count, _ in blocks] == [(20 * i, 20) for i in range(20)], blocks
    halves = [statistics.median(us for _, _, us in half) for half in (blocks[:10], blocks[10:])]  # some blocks may have waited for their cores
    assert halves[1] > halves[0] and not [name for name in os.listdir() if name.endswith('.part')]
    figures, _ = simulate(['--workers', 2, '--masters', 1, '--costs', 'costs.txt', '--recorded-workers', 'ignore', *loop])
    assert figures['done'] == 400 and abs(figures['compute_s'] - sum(count * us for _, count, us in blocks) / 1e6) < 1e-5


UNEVEN = [1, 1, 1.5, 2, 3, 4]  # how many times slower the workers of a machine are
TRUE_COSTS = ['--costs', 'increasing:mean=1000,spread=0.6', 'synthetic', 'iterations=3000']


def on_uneven_machine(workers, technique, *words):
    slowdown = ','.join(str(times) for times in UNEVEN[:workers])
    return simulate(['--workers', workers, '--slowdown', slowdown, '--technique', technique, *words, *TRUE_COSTS])[0]


def record_costs_of(technique):
    """The file that --record-costs would write on that machine, of which nobody knows how slow its workers are: from a trace."""
    on_uneven_machine(6, technique, '--recall', 'off', '--copies', 'off', '--trace', 'uneven.csv')
    write_recorded_costs()


def write_recorded_costs():
    with open('uneven.csv') as file:
        rows = sorted(((int(row['first']), row) for row in csv.DictReader(file) if row['kind'] == 'chunk' and row['compute_s']), key=lambda item: item[0])
    write('uneven.costs', *(f"{first} {row['count']} {float(row['compute_s']) * 1e6 / int(row['count']):.6f} {row['worker']}" for first, row in rows))


def test_slow_workers_are_told_from_costly_iterations():
    """Costs that workers of unknown speeds have recorded, and what they predict of other techniques and fewer workers: by the speeds found it is
    nearly what comes to pass, by the costs as they were recorded it is not."""
    record_costs_of('css:chunk=5')
    for workers, technique, recall in (6, 'static', 'off'), (6, 'gss', 'off'), (6, 'wf', 'on'), (3, 'static', 'on'), (3, 'ss', 'on'), (4, 'fac2', 'on'):
        true_s = on_uneven_machine(workers, technique, '--recall', recall, '--copies', 'off')['elapsed_s']
        job = ['--workers', workers, '--technique', technique, '--recall', recall, '--copies', 'off', '--costs', './uneven.costs', *TRUE_COSTS[2:]]
        machine, shown = simulate(job)
        plain, _ = simulate(['--recorded-workers', 'ignore', *job])
        wrong, wrong_plain = (abs(told['elapsed_s'] / true_s - 1) for told in (machine, plain))
        assert wrong < 0.03 and (wrong < wrong_plain or wrong_plain < 0.01), (workers, technique, wrong, wrong_plain)
        found = machine['simulated']['recorded_workers']
        assert found['workers'] == found['known'] == 6 and found['different'] and found['simulated'], found
        assert abs(found['quickest'] / found['slowest'] - 4) < 0.2 and 'and so are the simulated ones' in shown.out, (found, str(shown))
        assert 'recorded_workers' not in plain['simulated']
    even, shown = simulate(['--platform', 'cluster', *job])
    assert even['simulated']['recorded_workers'] == {**found, 'simulated': False} and 'whose costs these are' in shown.out, str(shown)
    assert abs(even['compute_s'] - plain['compute_s']) < 1e-3 * plain['compute_s'], (even['compute_s'], plain['compute_s'])
    record_costs_of('static')
    unknown, shown = simulate(job)
    assert unknown['simulated']['recorded_workers']['known'] == 0 and 'not told apart' in shown.out, str(shown)
    # of chunks that lie among those of their own worker nothing is told, either
    simulate(['--workers', 8, '--technique', 'static-steal', '--trace', 'uneven.csv', '--costs', 'exponential:mean=1000', *TRUE_COSTS[2:]])
    write_recorded_costs()
    equal, _ = simulate(['--workers', 8, '--costs', './uneven.costs', *TRUE_COSTS[2:]])
    assert not equal['simulated']['recorded_workers']['different'], equal['simulated']
    refuses(['--recorded-workers', 'simulate', *LOOP], '--recorded-workers simulate', '--record-costs')


def test_a_delay_comes_before_the_message():
    """24 chunks, each calculated in a millisecond: the last worker begins after 24 of them. Where nothing is left to be cut, nothing is delayed."""
    for masters in (0, 2):
        figures, _ = simulate(['--workers', 24, '--masters', masters, '--technique', 'static', '--power', 'equal', '--inject-delay', 'calculation:1000',
                               '--costs', 'constant:mean=2000', 'synthetic', 'iterations=24'])
        assert abs(figures['elapsed_s'] - 0.026) < 1e-4, figures['elapsed_s']


DCA = ['rma', 'rma:atomics=2', 'two-sided', 'two-sided:exchanges=2', 'node']


def drawn(mode, workers, technique, words, loop):
    """The loop time where workers draw for themselves; from their nodes' queues chunks of the same sizes, as far as they can be."""
    if mode == 'node' and technique == 'ss':
        words = ['--node-technique', 'ss', *words]
        technique = 'static'
    figures, _ = simulate(['--workers', workers, '--dca', mode, '--technique', technique, *words, *loop])
    return figures


def test_workers_that_draw_themselves():
    """All get about the same of equal iterations, in nearly no time; a counter that many want at once is what limits them."""
    for mode in DCA:
        figures = drawn(mode, 64, 'gss', [], ['--costs', 'constant:mean=100', 'synthetic', 'iterations=64000'])
        assert figures['topology'] == 'dca-' + mode.split(':')[0] and figures['done'] == 64000 and figures['efficiency'] > 0.98, (mode, figures['efficiency'])
        assert sum(worker['iterations'] for worker in figures['worker_stats']) == 64000
    crowded, _ = simulate(['--workers', 1024, '--dca', 'rma', '--technique', 'ss', '--costs', 'constant:mean=10', 'synthetic', 'iterations=100000'])
    assert crowded['elapsed_s'] > 100000 * 90e-9, crowded['elapsed_s']
    queues, _ = simulate(['--workers', 1024, '--dca', 'node', '--technique', 'static', '--node-technique', 'ss', '--costs', 'constant:mean=10', 'synthetic',
                          'iterations=100000'])
    assert queues['elapsed_s'] < crowded['elapsed_s'] / 5 and queues['refills'] == queues['nodes'] == 8, (queues['elapsed_s'], crowded['elapsed_s'])


def test_each_draws_each_iteration_once():
    """Whatever the way to the counters, and whether the chunk follows from the step or from the rest, weighted or not."""
    for mode in DCA:
        for technique in (['static'], ['tss'], ['fac2'], ['wf'], ['dtss'], ['dfss'], ['gss', '--weighting', 'power']):
            for workers in (1, 2, 7, 300):
                figures, _ = simulate(['--workers', workers, '--dca', mode, '--platform', 'two-speeds:cores=8', '--technique', *technique, '--costs', 'uniform:mean=20',
                                       'synthetic', 'iterations=12345'])
                assert sum(worker['iterations'] for worker in figures['worker_stats']) == 12345, (mode, technique, workers)
                assert sum(worker['chunks'] for worker in figures['worker_stats']) == figures['chunks'], (mode, technique, workers)


def test_weights_of_workers_that_draw_themselves():
    for mode in DCA[:4]:
        figures = drawn(mode, 16, 'wf', ['--slowdown', ','.join(['1', '4'] * 8)], ['--costs', 'constant:mean=50', 'synthetic', 'iterations=200000'])
        quick, slow = (sum(worker['iterations'] for worker in figures['worker_stats'][i::2]) for i in (0, 1))
        assert 3.5 < quick / slow < 4.5 and figures['efficiency'] > 0.95, (mode, quick, slow, figures['efficiency'])
        powers = [worker['power'] for worker in figures['worker_stats'][:2]]
        assert abs(powers[0] / powers[1] - 4) < 1e-6, powers


def test_what_delays_whom():
    """As in the DCA papers: a delay of the calculation slows the loop by all its chunks where one calculates them, hardly where all do; one of the assignment
    slows it wherever chunks are assigned one at a time. 3,200 chunks, 16 workers: 0.2 s without, 0.32 s for the delays one after another."""
    loop = ['--power', 'equal', 'synthetic', 'iterations=3200', 'mean=1000', 'distribution=constant']
    for mode in ('rma', 'two-sided', 'node'):
        calculation, assignment = (drawn(mode, 16, 'ss', ['--inject-delay', what + ':100'], loop)['elapsed_s'] for what in ('calculation', 'assignment'))
        assert 0.219 < calculation < 0.223 and 0.32 < assignment < 0.33, (mode, calculation, assignment)
    central, _ = simulate(['--workers', 16, '--technique', 'ss', '--inject-delay', 'calculation:100', *loop])
    assert 0.32 < central['elapsed_s'] < 0.33, central['elapsed_s']


def test_slow_rank_0():
    """It answers between its iterations: the others wait for it where they ask it, and only there. Asked more seldom, it answers more seldom."""
    loop = ['--costs', 'constant:mean=200', 'synthetic', 'iterations=4000']
    slow = ['--slowdown', '4,' + ','.join(['1'] * 7)]
    times = {mode: [drawn(mode, 8, 'ss', words, loop)['elapsed_s'] for words in ([], slow)] for mode in ('rma', 'two-sided')}
    assert times['rma'][1] < 1.15 * times['rma'][0] and times['two-sided'][1] > 2 * times['two-sided'][0], times
    often, seldom = (drawn('two-sided', 8, 'css:chunk=50', ['--break-after', n], ['--costs', 'constant:mean=20', 'synthetic', 'iterations=40000'])['elapsed_s']
                     for n in (1, 50))
    assert seldom > 1.005 * often, (often, seldom)


def test_what_workers_that_draw_themselves_measure():
    """af: as they tell one another, each is given what its speed is worth, as by a supermaster."""
    slow = ['--slowdown', ','.join(['1', '4'] * 8)]
    loop = ['--costs', 'exponential:mean=50', 'synthetic', 'iterations=100000']
    for mode in DCA[:4]:
        figures = drawn(mode, 16, 'af', slow, loop)
        quick, slowed = (sum(worker['iterations'] for worker in figures['worker_stats'][i::2]) for i in (0, 1))
        assert 3.5 < quick / slowed < 4.5 and figures['efficiency'] > 0.95 and figures['done'] == 100000, (mode, quick, slowed, figures['efficiency'])


def test_loads_of_workers_that_draw_themselves():
    """Beside a busy process a worker is half as quick; weighted by acp it is given half as much at a time."""
    loop = ['--load', ','.join(['0', '1'] * 8), '--costs', 'constant:mean=50', 'synthetic', 'iterations=100000']
    for mode in DCA[:4]:
        unknown, known = (drawn(mode, 16, 'fac2', words, loop) for words in ([], ['--weighting', 'acp']))
        alone, loaded = (sum(worker['iterations'] for worker in known['worker_stats'][i::2]) for i in (0, 1))
        assert 1.8 < alone / loaded < 2.2 and [worker['load'] for worker in known['worker_stats'][:2]] == [1, 2], (mode, alone, loaded)
        sizes = [figures['worker_stats'][1]['iterations'] / figures['worker_stats'][1]['chunks'] for figures in (known, unknown)]
        assert sizes[0] < 0.6 * sizes[1] and known['elapsed_s'] < 1.02 * unknown['elapsed_s'], (mode, sizes, known['elapsed_s'], unknown['elapsed_s'])


def test_slow_and_failing_nodes_of_workers_that_draw_themselves():
    """A slow node takes fewer chunks, or longer for those that it has; a failing one ends the run, of which is told what was done until then."""
    job = ['--platform', 'ranger', '--costs', 'constant:mean=1000', 'synthetic', 'iterations=3200']
    for mode in ('rma', 'two-sided', 'node'):
        usual, slow = (drawn(mode, 32, 'static', words, job)['elapsed_s'] for words in ([], ['--slow-nodes', '1:3@0']))
        assert 2.9 < slow / usual < 3.1, (mode, usual, slow)
        shared, briefly = (drawn(mode, 32, 'gss', ['--slow-nodes', when], job)['elapsed_s'] for when in ('1:3@0', '1:3@0-0.01'))
        assert 1.3 < shared / usual < 2.2 and briefly < 1.3 * usual, (mode, usual, shared, briefly)
        failed, result = simulate(['--workers', 32, '--dca', mode, '--technique', 'ss', '--fail-nodes', '1@0.2', *job], 1)
        assert 1500 < failed['done'] < 1600 and 'node 1 failed' in result.out, (mode, failed['done'], str(result))


def test_failed_nodes_are_survived():
    figures, result = simulate(['--workers', 32, '--platform', 'ranger', '--fail-nodes', '1@1', '--technique', 'ss', '--costs', 'constant:mean=1000',
                                'synthetic', 'iterations=20000'])
    assert figures['done'] == 20000 and figures['faults']['lost_workers'] > 0, str(result)


def test_a_run_ends_with_its_supermaster():
    _, result = simulate([*SMALL, '--fail-nodes', '0@0.05', *LOOP], 1)
    assert 'the node of the supermaster failed' in result.out, str(result)


def test_slow_nodes():
    job = ['--workers', 31, '--platform', 'ranger', '--technique', 'static', '--costs', 'constant:mean=1000', 'synthetic', 'iterations=3100']
    usual, _ = simulate(job)
    slow, _ = simulate(['--slow-nodes', '1:3@0', '--recall', 'off', *job])
    assert 2.9 < slow['elapsed_s'] / usual['elapsed_s'] < 3.1, (slow['elapsed_s'], usual['elapsed_s'])
    assert slow['recalls'] == {'count': 0, 'iterations': 0, 'worth_s': 0}, slow['recalls']
    recalled, result = simulate(['--slow-nodes', '1:3@0', *job])
    assert recalled['elapsed_s'] < 0.6 * slow['elapsed_s'], (recalled['elapsed_s'], slow['elapsed_s'])
    assert recalled['recalls']['count'] > 0 and recalled['recalls']['iterations'] > 0, recalled['recalls']
    assert '  recall  ' in str(result), str(result)


def threads_of(words):
    """The time that a run of six threads took, their imbalance, and how often they drew."""
    result = run([HDSS, *words])
    assert result.status == 0, str(result)
    with open('report.json') as file:
        report = json.load(file)
    threads, technique = report['threads'], words[words.index('--thread-technique') + 1]
    assert threads['count'] == 6 and threads['technique']['name'] == technique.split(':', maxsplit=1)[0], threads
    return report['elapsed_s'], threads['imbalance']['max_over_mean'], threads['chunks']


def test_threads_as_in_a_real_run():
    """Sleeping threads are in nobody's way. On a busy machine real ones are late, at most by half in one of five runs, and may be in another order,
    at best the even one."""
    with open('here.platform', 'w') as file:
        file.write('title this machine\nnodes 1 cores=32\nnode latency=38us bandwidth=4GB/s\nnetwork latency=38us bandwidth=4GB/s\n'
                   'service event=150ns message=40ns byte=0.6ns calculation=20ns\n')
    loop = ['--workers', 2, '--threads', 3, '--technique', 'static', '--weighting', 'none', '--recall', 'off', '--report', 'report.json',
            'synthetic', 'iterations=300', 'mean=3000', 'mode=sleep', 'distribution=increasing']
    for technique in ('static', 'css:chunk=20', 'ss'):
        words = ['--thread-technique', technique, *loop]
        simulated_s, simulated_imbalance, simulated_draws = simulated = threads_of(['simulate', '--platform', 'here.platform', *words])
        for _ in range(5):
            real_s, real_imbalance, real_draws = real = threads_of(['run', *words])
            assert real_draws == simulated_draws, (technique, real, simulated)
            if 0.95 * simulated_s / simulated_imbalance < real_s < 1.5 * simulated_s and abs(real_imbalance - simulated_imbalance) < 0.15:
                break
        else:
            raise AssertionError((technique, real, simulated))


def test_threads_share_the_cores_of_a_node():
    """40 workers of 10 threads, each on a node of its own, and as many of one thread, on the nodes that these take."""
    words = ['--platform', 'cluster:nodes=41,cores=11', '--technique', 'fac2', '--costs', 'constant:mean=1000', 'synthetic', 'iterations=400000']
    few, many = (simulate([*size, *words])[0] for size in (['--workers', 40, '--threads', 10], ['--workers', 400]))
    assert few['nodes'] == 40 and many['nodes'] == 37, (few['nodes'], many['nodes'])
    assert all(worker['threads']['count'] == 10 for worker in few['worker_stats'])
    assert abs(few['elapsed_s'] / many['elapsed_s'] - 1) < 0.02, (few['elapsed_s'], many['elapsed_s'])


def refuses(words, *parts):
    result = run([HDSS, 'simulate', *words])
    assert result.status == 2 and len(result.err) == 1 and all(part in result.err[0] for part in parts), (words, str(result))
    assert result.err[0].startswith('hdss simulate: '), str(result)


def test_a_worker_with_a_helper_answers_in_the_middle_of_an_iteration():
    """Each worker has a node of its own: on that of the supermaster nobody has to answer."""
    job = ['--platform', 'cluster:nodes=5,cores=1', '--masters', 0, '--workers', 4, '--technique', 'gss', '--costs',
           'pareto:mean=10000,alpha=1.2,seed=2', 'synthetic', 'iterations=200']
    within, _ = simulate(['--isolate', 'on', *job])
    between, _ = simulate(job)
    assert within['recalls']['count'] > 0 and within['elapsed_s'] <= between['elapsed_s'], (within, between)
    short = ['--masters', 0, '--workers', 2, '--technique', 'ss', 'synthetic', 'iterations=2000', 'mean=50']
    assert simulate(['--isolate', 'on', *short])[0]['elapsed_s'] > simulate(short)[0]['elapsed_s'] + 2000 / 2 * 5e-6


def test_a_node_without_a_supermaster_recalls():
    """Graham's bound by node, for each technique of big chunks. Where those are cut coarsely it may be reached an iteration later: all iterations end
    at one moment here, so that who waits for the end of one that runs may wait for a whole one."""
    draw = random.Random(7)
    costs = [draw.choice((0, 20000)) for _ in range(512)]
    with open('uneven', 'w') as file:
        file.writelines(f'{cost}\n' for cost in costs)
    loop = ['synthetic', 'iterations=512', 'mean=0', 'distribution=file', 'file=uneven']
    techniques = ['static', 'ss', 'css:chunk=13', 'fsc:h=0.01,sigma=0.06', 'mfsc', 'gss', 'tap:mu=1,sigma=0.5', 'tss', 'fac2', 'tfss', 'fiss', 'viss', 'rnd',
                  'pls:swr=0.7', 'wf', 'dtss', 'dfss', 'dgss']
    for technique, (inside, longest_s) in itertools.product(techniques, (('static', 0.04), ('fac2', 0.02))):
        words = ['--dca', 'node', '--workers', 8, '--technique', technique, '--node-technique', inside, *loop]
        figures, _ = simulate(words)
        assert figures['done'] == 512 and figures['elapsed_s'] < 1.02 * (sum(costs) / 8e6 + longest_s), (technique, inside, figures['elapsed_s'])
        # Who is idle on one of two nodes waits for what the other has drawn, but not for its own.
        figures, _ = simulate(['--platform', 'cluster:nodes=2,cores=4', *words])
        by_node = [sum(row['compute_s'] for row in figures['worker_stats'] if row['node'] == node) / 4 for node in (0, 1)]
        assert figures['done'] == 512 and figures['elapsed_s'] < 1.02 * (max(by_node) + longest_s), (technique, inside, by_node, figures['elapsed_s'])
    off, _ = simulate(['--dca', 'node', '--workers', 8, '--technique', 'static', '--node-technique', 'static', '--recall', 'off', *loop])
    assert off['recalls']['count'] == 0 and off['elapsed_s'] > 1.1 * (sum(costs) / 8e6 + 0.02), off['elapsed_s']


def write(name, *lines):
    with open(name, 'w') as file:
        file.writelines(f'{line}\n' for line in lines)


def simulate_nodes(lines, *words):
    """One node is launched, with eight workers of one master: those of a node that comes are as many."""
    write('nodes.txt', *lines)
    return simulate(['--workers', 8, '--masters', 1, '--availability', 'nodes.txt', *words])


def test_nodes_come_and_go():
    lines = ['# NODE SECONDS STATE', '1 0.1 up', '2 0.2 up # another', '1 0.5 leaves', '2,0.6,0.5', '0 0.7 2', '1 0.8 up']
    loop = ['--technique', 'fac2', 'synthetic', 'iterations=200000', 'mean=100']
    figures, result = simulate_nodes(lines, '--trace', 'nodes.csv', *loop)
    rows = figures['worker_stats']
    assert figures['done'] == 200000 and figures['pods'] == {'joined': 3, 'left': 1, 'lost': 0}, figures
    assert figures['workers'] == 32 and figures['masters'] == 4 and figures['nodes'] == 4, figures
    assert any('pods         3 masters joined with workers, 1 left again, 0 lost' in line for line in result.out.split('\n')), str(result)
    assert [row['master'] for row in rows] == [1] * 8 + [10] * 8 + [19] * 8 + [28] * 8
    end = figures['elapsed_s'] + figures['startup_s']
    for master, presence in ((10, 0.4), (19, end - 0.2), (28, end - 0.8)):
        assert all(abs(row['presence_s'] - presence) < 0.02 for row in rows if row['master'] == master), (master, presence, rows)
        assert all(row['iterations'] > 0 for row in rows if row['master'] == master), (master, rows)
    assert not any('presence_s' in row for row in rows[:8])
    assert sum(row['iterations'] for row in rows) == 200000 and figures['efficiency'] >= 0.95, figures['efficiency']
    assert simulate_nodes(lines, *loop)[0]['worker_stats'] == rows


def test_traces_of_nodes_that_come():
    simulate_nodes(['1 0.1 up', '2 0.2 up', '2 0.4 down', '1 0.5 leaves', '2 0.6 up'], '--trace', 'nodes.csv', 'synthetic', 'iterations=200000', 'mean=100')
    with open('nodes.csv') as file:
        lines = list(csv.DictReader(file))
    done = set()
    for line in lines:
        assert line['kind'] != 'chunk' or line['master'] in ('1', '10', '19', '28'), line
        if line['kind'] == 'chunk' and line['fate'] == 'done':
            done.update(range(int(line['first']), int(line['first']) + int(line['count'])))
    assert len(done) == 200000
    assert [line['master'] for line in lines if line['kind'] == 'worker'] == [str(master) for master in (1, 10, 19, 28) for _ in range(8)]
    assert [line['worker'] for line in lines if line['text'] == 'master lost'] == ['19']
    shown = run([HDSS, 'report', '--html', 'nodes.html', '--svg', 'nodes.svg', 'nodes.csv'])
    assert shown.status == 0 and os.path.getsize('nodes.html') > 0 and os.path.getsize('nodes.svg') > 0, str(shown)


def test_nodes_that_come_may_fail():
    figures, _ = simulate_nodes(['1 0.1 up', '1 0.3 down', '1 2 up', '2 1e6 up'], 'synthetic', 'iterations=200000', 'mean=500')
    assert figures['done'] == 200000 and figures['pods'] == {'joined': 2, 'left': 0, 'lost': 1}, figures
    assert figures['faults']['lost_masters'] == 1 and figures['faults']['lost_workers'] == 8
    assert sum(row['iterations'] for row in figures['worker_stats'] if row['master'] == 19) > 0
    # A node of the launch, with the second master, its workers, and not the supermaster
    write('nodes.txt', '1 0.2 down', '1 1 up')
    figures, _ = simulate(['--platform', 'cluster:nodes=4,cores=6', '--workers', 9, '--masters', 2, '--availability', 'nodes.txt', 'synthetic', 'iterations=50000', 'mean=500'])
    assert figures['done'] == 50000 and figures['pods'] == {'joined': 1, 'left': 0, 'lost': 0} and figures['faults']['lost_workers'] > 0, figures


def test_workers_that_double_and_halve_lose_no_time():
    lines = [f'1 {second}.5 up\n1 {second + 1} leaves' for second in range(10)]
    for technique, power in itertools.product(('ss', 'gss', 'fac2', 'tss', 'dfss', 'awf-c', 'af', 'static', 'auto'), ('equal', 'measure')):
        figures, _ = simulate_nodes(lines, '--technique', technique, '--power', power, 'synthetic', 'iterations=300000')
        assert figures['pods']['joined'] >= 2 and figures['done'] == 300000, figures
        assert figures['efficiency'] >= 0.97, (technique, power, figures['efficiency'])


def test_the_example_of_nodes():
    figures, _ = simulate(['--workers', 8, '--masters', 1, '--technique', 'dfss', '--availability', EXAMPLE, 'synthetic', 'iterations=1e7'])
    assert figures['done'] == 10**7 and figures['pods'] == {'joined': 4, 'left': 1, 'lost': 1}, figures


def test_profiles_of_simgrid():
    """A node at half its speed by a profile beside the trace takes as long as by --slow-nodes, also without masters; one that fails again and again loses nothing."""
    os.makedirs('traces')
    write('traces/half.profile', '0 0.5')
    write('traces/faulty.profile', '0 1', '0.1 0', '0.2 1', 'LOOPAFTER 0.1')
    write('traces/nodes.txt', '1 speed_file half.profile')
    words = ['--platform', 'cluster:nodes=2,cores=6', '--workers', 8, '--technique', 'ss', 'synthetic', 'iterations=20000', 'mean=100']
    half, _ = simulate(['--availability', 'traces/nodes.txt', *words])
    slow, _ = simulate(['--slow-nodes', '1:2@0', *words])
    assert half['elapsed_s'] == slow['elapsed_s'] and half['masters'] == 0, (half['elapsed_s'], slow['elapsed_s'])
    write('traces/nodes.txt', '1 0 load=1')
    assert simulate(['--availability', 'traces/nodes.txt', *words])[0]['elapsed_s'] == slow['elapsed_s']
    write('traces/nodes.txt', '1 state_file faulty.profile')
    figures, _ = simulate(['--masters', 2, '--availability', 'traces/nodes.txt', *words])
    assert figures['done'] == 20000 and figures['pods']['joined'] >= 1 and figures['faults']['lost_workers'] > 0, figures
    refuses(['--availability', 'traces/nodes.txt', *words], '--availability', '--masters 1 or more')
    write('traces/nodes.txt', '1 speed_file none.profile')
    refuses(['--availability', 'traces/nodes.txt', *words], '--availability', 'line 1', 'none.profile', 'No such file')


def test_nodes_that_come_in_a_study():
    """A trace is read where the command is typed, as other files of its options; it must fit the study's own workers."""
    write('nodes.txt', '1 0.1 up', '1 0.3 leaves')
    study = ['kernel = synthetic iterations=20000', 'technique = gss dfss', 'workers = 8', 'backend = simulate']
    write('nodes.study', *study, 'masters = 1', 'options = --availability nodes.txt')
    result = run([HDSS, 'study', 'nodes.study'])
    assert result.status == 0, str(result)
    with open('nodes.csv') as file:
        assert [row['status'] for row in csv.DictReader(file)] == ['done', 'done']
    write('alone.study', *study, 'masters = 0 1', 'options = --availability nodes.txt')
    result = run([HDSS, 'study', 'alone.study'])
    assert result.status == 2 and len(result.err) == 1 and 'line 6' in result.err[0] and '--masters 1 or more' in result.err[0], str(result)


def test_wrong_traces_of_availability():
    nodes = ['--workers', 8, '--masters', 1, '--availability', 'nodes.txt', 'synthetic']
    for lines, *parts in ((['1 1 up', '1 2'], 'line 2', 'NODE SECONDS up|down|leaves|SPEED'), (['1 1 up', '1 2 up'], 'line 2', 'node 1 is up already'),
                          (['0 1 up'], 'line 1', 'node 0 is up already'), (['0 1 leaves'], 'line 1', 'node 0 is one of the launch', 'not leave'),
                          (['1 1 down'], 'line 1', 'node 1 is not up'), (['one 1 up'], "'one'", '0 to 999999'), (['1 soon up'], "'soon'", 'seconds from 0'),
                          (['1 1 off'], "'off'", 'up, down, leaves, load=N, or a speed from 1e-06 to 1e+06'), ([f'{node} 1 up' for node in range(1, 5000)], 'ranks', '16777216')):
        write('nodes.txt', *lines)
        refuses(['--platform', 'cluster:nodes=1,cores=4096', '--workers', 4000, *nodes[2:]] if len(lines) > 2 else nodes, '--availability', *parts)
    write('nodes.txt', '1 1 up')
    refuses(['--workers', 8, '--masters', 0, '--availability', 'nodes.txt', *LOOP], '--availability', '--masters 1 or more')
    refuses(['--workers', 8, '--dca', 'rma', '--availability', 'nodes.txt', *LOOP], '--availability', 'without --dca')
    refuses(['--workers', 8, '--masters', 1, '--backend', 'simgrid', '--availability', 'nodes.txt', *LOOP], '--')
    refuses(['--workers', 8, '--masters', 1, '--availability', 'none.txt', *LOOP], '--availability', "'none.txt'", 'readable file')
    write('day.txt', '0 synthetic iterations=1000')
    refuses(['--workers', 8, '--masters', 1, '--availability', 'nodes.txt', '--jobs', 'day.txt'], '--availability', 'without --jobs')


def test_wrong_use():
    with open('bad.platform', 'w') as file:
        file.write('title x\nnodes 4 cores=none\n')
    with open('bad.costs', 'w') as file:
        file.write('1\n2\nmany\n')
    with open('short.costs', 'w') as file:
        file.write('1\n2\n')
    refuses(['--platform', 'moon', *LOOP], "'moon'", 'ranger, cluster, two-speeds, two-sites')
    refuses(['--platform', './nowhere.xml', *LOOP], 'nowhere.xml')
    refuses(['--platform', 'bad.platform', *LOOP], 'bad.platform', 'line 2', 'cores=none')
    refuses(['--platform', 'ranger:nodes=2', '--workers', 32, *LOOP], '32 cores', '33 ranks')
    refuses(['--costs', './bad.costs', 'synthetic', 'iterations=3'], 'bad.costs', 'line 3', 'many')
    refuses(['--costs', './short.costs', 'synthetic', 'iterations=3'], 'short.costs', 'line 2', '0 to 2')
    refuses(['--costs', 'weibull:mean=3', 'synthetic'], 'weibull', 'exponential')
    refuses(['--costs', 'normal:mean=x', 'synthetic'], 'mean=x')
    refuses(['--workers', 0, 'synthetic'], '--workers', '0')
    refuses(['--workers', 2, '--masters', 3, *LOOP], '--masters 3', '2')
    refuses(['--backend', 'paper', *LOOP], 'paper', 'virtual')
    refuses(['--slow-nodes', '0:0.5@1', *LOOP], '0:0.5@1')
    refuses(['--slow-nodes', '0:2', *LOOP], '0:2')
    refuses(['--fail-nodes', '9@1', *LOOP], '9@1', 'from 0 to 0')
    refuses(['--slowdown', '1,2', *LOOP], '--slowdown', '16 workers')
    refuses(['--threads', 'auto', *LOOP], '--threads auto')
    refuses(['--threads', 2, '--dca', 'node', *LOOP], '--threads')
    refuses(['--trace', 'trace.csv', '--dca', 'rma', *LOOP], '--trace')
    refuses(['--threads', 9, '--platform', 'cluster:cores=8', *LOOP], '9 threads', 'cores=C')
    refuses(['--threads', 2, 'hydro'], '--threads')
    refuses(['--dca', 'node', '--weighting', 'acp', *LOOP], 'acp', '--dca node')
    refuses(['--dca', 'rma', 'hydro'], 'depend on one another')
    refuses(['--dca', 'both', *LOOP], '--dca', 'two-sided', 'node')
    refuses(['--dca', 'rma', '--node-technique', 'ss', *LOOP], '--node-technique', '--dca node')
    refuses(['--dca', 'node', '--break-after', 3, *LOOP], '--break-after', 'two-sided')
    refuses(['--dca', 'node', '--node-technique', 'af', *LOOP], '--node-technique', 'closed form')
    refuses(['--break-after', 3, *LOOP], '--break-after', '--dca')
    refuses(['--dca', 'rma', '--technique', 'auto', *LOOP], 'auto', 'supermaster')
    refuses(['--dca', 'rma', '--technique', 'fac', *LOOP], 'fac', '--dca')
    refuses(['--dca', 'rma', '--masters', 2, *LOOP], '--masters', '--dca')
    refuses(['--dca', 'node', '--technique', 'af', *LOOP], 'af', '--dca node')
    refuses(['spinimage'], 'spinimage', '--costs')
    refuses(['nope'], 'nope')
    refuses([], 'no kernel')


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
