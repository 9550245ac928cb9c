# SPDX-License-Identifier: MIT
"""Every kind of job in a set: its results are those of a run by itself."""
import json
import os
import signal
import sys

from launch import HDSS, MASTER, SUPERMASTER, WORKER, finish, main, ranks_of, run, start, wait_until
from test_dependent import DITHER, HYDRO, swinging
from test_points import MOMENTS, POINTS, STEADY, WAVE, build_wave, records_of_journal
from test_set import SLEEPING, here, job, well

WAVES = [*STEADY, '--output', 'out.npy', '--overwrite', *WAVE]


def up(*words):
    """The set's process, which is to be ended by down()."""
    here()
    process = start([HDSS, 'up', '--foreground', *words])
    assert process.stdout.readline() == 'main is up\n', finish(process)
    return process


def down(process):
    assert run([HDSS, 'down']).status == 0
    ended = finish(process)
    assert ended.status == 0, ended


def read(path):
    with open(path, 'rb') as file:
        return file.read()


def state(number):
    return job(number)['state']


def done(number):
    return job(number)['done']


def begin_waves(number):
    assert well(['submit', *WAVES]) == f'main/{number}\n'
    wait_until(lambda: done(number) > MOMENTS // 20, 'a loop that runs')


def check_waves(number, expected):
    waited = run([HDSS, 'wait', number])
    assert waited.status == 0, (waited, well(['output', number]))
    assert read('out.npy')[-len(expected):] == expected, well(['output', number])


def test_a_loop_with_dependencies_runs_alone():
    build_wave()
    runs = [run([HDSS, 'run', '--workers', '3', '--output', f'{name}.npy', name]) for name in (DITHER, HYDRO)]
    process = up('--workers', '3')
    try:
        well(['submit', *SLEEPING, 'iterations=100000'])
        wait_until(lambda: done('1') > 0, 'a job that runs')
        well(['submit', '--output', 'dithered.npy', DITHER])
        well(['submit', 'synthetic', 'iterations=1'])
        before = run([HDSS, 'submit', '--wait', '--priority', '1', 'synthetic', 'iterations=1'])
        assert before.status == 0 and [state(number) for number in '123'] == ['running', 'waiting', 'waiting'], before
        well(['cancel', '1'])
        well(['wait', '2', '3'])
        swept = run([HDSS, 'submit', '--wait', '--output', 'swept.npy', HYDRO])
        assert [run([HDSS, 'output', '2']).checksum(), swept.checksum()] == [one.checksum() for one in runs]
        assert read('dithered.npy') == read(f'{DITHER}.npy') and read('swept.npy') == read(f'{HYDRO}.npy')
        begin_waves('6')
        well(['submit', '--priority', '1', 'synthetic', 'iterations=1'])
        assert state('7') == 'waiting' or state('6') == 'done'
        well(['cancel', '6'])
        assert run([HDSS, 'wait', '6']).status == 4 and run([HDSS, 'wait', '7']).status == 0
    finally:
        down(process)


def test_a_loop_with_dependencies_survives_losses():
    build_wave()
    expected = swinging(POINTS, MOMENTS)
    process = up('--workers', '4', '--masters', '2')
    try:
        begin_waves('1')
        os.kill(ranks_of(process, WORKER)[0], signal.SIGKILL)
        check_waves('1', expected)
        begin_waves('2')
        os.kill(ranks_of(process, MASTER)[0], signal.SIGKILL)
        check_waves('2', expected)
        well(['submit', *WAVES])
        check_waves('3', expected)
    finally:
        down(process)


def test_a_loop_with_dependencies_goes_on_from_its_recovery_points():
    build_wave()
    expected = swinging(POINTS, MOMENTS)
    process = up('--workers', '3')
    begin_waves('1')
    wait_until(lambda: [kind for kind, _ in records_of_journal()].count('point') > 1, 'a recovery point')
    well(['submit', 'synthetic', 'iterations=1'])
    os.kill(ranks_of(process, SUPERMASTER)[0], signal.SIGKILL)
    assert finish(process).status == 1 and read('out.npy')[-len(expected):] != expected
    process = up('--workers', '2', '--masters', '1', '--resume')
    try:
        check_waves('1', expected)
        assert 'resumed iterations' in well(['output', '1']) and run([HDSS, 'wait', '2']).status == 0
    finally:
        down(process)


if __name__ == '__main__':
    sys.exit(main([
        test_a_loop_with_dependencies_runs_alone,
        test_a_loop_with_dependencies_survives_losses,
        test_a_loop_with_dependencies_goes_on_from_its_recovery_points,
    ]))
