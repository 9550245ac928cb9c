# SPDX-License-Identifier: MIT
"""Workers of several threads with helpers, and iterations that hang: what user code does costs its iteration there, too, and a drain ends what
never ends by itself."""
import os
import signal

from isolation import GATE, MODES, OVERDUE, check_failures, check_killed, hostile, words
from launch import finish, hdss, let_user_code_crash, main, report, run, start, wait_until
from processes import helpers
from results import records

# With threads a crash ends all iterations that run in the helper: those that did nothing are computed again, and count.
THREADED = ('--threads', 3)


def test_what_user_code_does_in_a_thread_costs_its_iteration():
    techniques = ('fac2', 'ss', 'static', 'css:chunk=4')
    for number, (mode, reason) in enumerate(MODES.items()):
        if mode in ('closestd', 'fork', 'limits', 'chdir'):
            continue
        masters, workers = ((0, 2), (1, 2), (0, 1), (2, 2))[number % 4]
        bad = [] if reason is None else [77, 177, 277]
        result = run(hdss(masters, workers, words(*THREADED, '--thread-technique', techniques[number // 4 % 4]) +
                          ['iterations=300', 'spin=20', 'at=77', 'every=100', f'mode={mode}']))
        check_failures(result, bad, reason, name=mode)


def test_many_crashes_in_threads_cost_their_iterations():
    for technique, chunk in (('ss', 1), ('fac2', 100), ('static', 1000)):
        line = ['iterations=1000', 'length=100', 'spin=50', 'at=3', 'every=20', 'mode=segv']
        result = run(hdss(0, 2, words(*THREADED, '--thread-technique', technique, '--retries', 0, chunk=chunk) + line))
        figures = report()
        assert figures['failed'] == [[i, 1] for i in range(3, 1000, 20)] and figures['done'] == 950 and result.status == 3, result
        assert figures['faults'].get('lost_workers', 0) == 0, result


def test_a_job_with_threads_yields_the_same_bytes():
    outputs = set()
    for isolate, masters, workers in (('off', 0, 2), ('on', 0, 2), ('auto', 1, 3)):
        for more in (['--thread-technique', 'ss'], ['--technique', 'af'], ['--power', 'measure', '--technique', 'dfss'], ['--verify', 0.2]):
            result = run(hdss(masters, workers, words(*THREADED, *more, isolate=isolate) + ['iterations=5000', 'length=300']))
            assert result.status == 0, result
            outputs.add((result.checksum(), hash(records().tobytes())))
    assert len(outputs) == 1, outputs
    alone = run(hdss(0, 2, ['--isolate', 'on', *THREADED, hostile(), 'iterations=5000', 'length=300']))
    assert alone.checksum() == next(iter(outputs))[0], alone


def test_time_steps_go_on_behind_a_crash_in_a_thread():
    line = ['iterations=1000', 'steps=10', 'spin=20']
    assert run(hdss(0, 2, words(isolate='off') + line)).status == 0
    expected = records().tolist()
    for masters in (0, 1):
        result = run(hdss(masters, 2, words(*THREADED) + line))
        assert result.status == 0 and records().tolist() == expected, result
        result = run(hdss(masters, 2, words(*THREADED, chunk=10) + [*line, 'at=50', 'every=100', 'mode=segv', f'once=threads{masters}']))
        assert os.path.exists(f'threads{masters}.950') and report()['faults'].get('lost_workers', 0) == 0
        assert result.status == 0 and records().tolist() == expected, result


def test_an_iteration_that_hangs_in_a_thread_is_ended():
    for number, (masters, workers, mode) in enumerate(((0, 1, 'loop'), (0, 2, 'stop'), (1, 2, 'loop'))):
        power = ('measure', 'equal')[number % 2]
        result = run(hdss(masters, workers, words(*THREADED, '--power', power, '--iteration-timeout', 0.5, '--retries', 1) +
                          ['iterations=300', 'spin=100', 'at=0', 'every=150', f'mode={mode}']))
        check_failures(result, [0, 150], OVERDUE, name=(masters, workers, mode))


def test_an_iteration_that_hangs_once_costs_nothing_but_time():
    result = run(hdss(0, 2, words(*THREADED, '--iteration-timeout', 0.5) + ['iterations=300', 'spin=100', 'at=120', 'mode=loop', 'once=hung']))
    check_failures(result, [], None)
    assert os.path.exists('hung.120')


def test_killed_helpers_with_threads_are_replaced():
    process = start(hdss(0, 2, words(*THREADED, '--retries', 20, chunk=50) + ['iterations=6000', 'spin=1000', *GATE]))
    check_killed(process, lambda there: there >= 2, 6000)


def test_a_drain_ends_a_run_whose_threads_hang():
    process = start(hdss(0, 1, words(*THREADED, '--drain-time', 1) + ['iterations=300', 'at=0', 'mode=loop', 'once=stands']))
    wait_until(lambda: os.path.exists('stands.0'), 'the iteration that hangs')
    hung = helpers(process)
    os.kill(process.pid, signal.SIGINT)
    result = finish(process, 60)
    assert result.status in (3, 4) and report()['done'] < 300, result
    wait_until(lambda: not any(os.path.exists(f'/proc/{pid}') for pid in hung), 'the end of the helper')


def test_an_iteration_that_hangs_is_ended():
    # A probe begins with iterations 0 and 150.
    for number, (masters, workers, mode) in enumerate(((0, 1, 'loop'), (0, 2, 'loop'), (1, 2, 'stop'), (1, 1, 'loop'), (2, 3, 'loop'))):
        power = ('measure', 'equal')[number % 2]
        result = run(hdss(masters, workers, words('--power', power, '--iteration-timeout', 0.5, '--retries', 1) +
                          ['iterations=300', 'spin=100', 'at=0', 'every=150', f'mode={mode}']))
        check_failures(result, [0, 150], OVERDUE, name=(masters, workers, mode))


def test_an_iteration_that_hangs_once_costs_nothing_else():
    line = ['iterations=500', 'steps=5', 'spin=20']
    assert run(hdss(0, 2, words(isolate='off') + line)).status == 0
    expected = records().tolist()
    for masters, timeout in ((0, '0.5'), (1, '0.5'), (0, 'auto'), (1, 'none')):
        hangs = ['at=50', 'every=100', 'mode=loop', f'once=over{masters}'] if timeout == '0.5' else []
        result = run(hdss(masters, 2, words('--iteration-timeout', timeout) + [*line, *hangs]))
        assert os.path.exists(f'over{masters}.450') and report()['faults'].get('lost_workers', 0) == 0
        assert result.status == 0 and records().tolist() == expected, result


def drain_hanging_run(power, timeout):
    name = f'hangs-{power}-{timeout}'
    process = start(hdss(0, 1, words('--power', power, '--drain-time', 1, '--iteration-timeout', timeout) +
                         ['iterations=300', 'at=0', 'mode=loop', f'once={name}']))
    wait_until(lambda: os.path.exists(f'{name}.0'), 'the iteration that hangs')
    hung = helpers(process)
    os.kill(process.pid, signal.SIGINT)
    result = finish(process, 60)
    assert result.status == 4 and report()['done'] == 0, (name, result)
    wait_until(lambda: not any(os.path.exists(f'/proc/{pid}') for pid in hung), 'the end of the helper')


def test_a_drain_ends_a_run_that_hangs():
    for power, timeout in (('equal', 'none'), ('measure', 'none'), ('equal', '100')):
        drain_hanging_run(power, timeout)


if __name__ == '__main__':
    let_user_code_crash()
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
