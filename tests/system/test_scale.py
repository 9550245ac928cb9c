# SPDX-License-Identifier: MIT
"""Many ranks on few cores, idle ranks that sleep, and an end that is noticed at once."""
import os

from launch import MASTER, SUPERMASTER, WORKER, descendants, finish, hurry, job, main, report, run_job, start, state_of, unhurried, wait_until
from processes import used_beside_one_that_spins


def test_eight_masters_and_128_workers():
    words = ['--report', 'report.json', '--technique', 'dfss', '--power', 'equal', 'synthetic', 'iterations=20000', 'mean=20']
    result = run_job(8, 128, words, )
    assert result.status == 0, result
    figures = report()
    assert sum(row['iterations'] for row in figures['worker_stats']) == 20000
    print(f'# 1 + 8 + 128 ranks in {result.seconds:.1f} s', flush=True)


def test_idle_ranks_sleep():
    # Two iterations for five workers: three workers, the masters and the supermaster wait.
    process = start(job(2, 5, ['--isolate', 'off', '--power', 'equal', '--technique', 'ss', *unhurried(iterations=2, sleep_us=100000000)]))
    programs = {os.path.realpath(program) for program in (SUPERMASTER, MASTER, WORKER)}

    def ranks():
        found = []
        for pid in descendants(process.pid):
            try:
                if os.path.realpath(f'/proc/{pid}/exe') in programs:
                    found.append(pid)
            except OSError:
                pass
        return found

    def all_sleep():
        pids = ranks()
        return len(pids) == 8 and all(state_of(pid) == 'S' for pid in pids)

    wait_until(all_sleep, 'eight ranks at rest')
    used = used_beside_one_that_spins(ranks())
    hurry()
    result = finish(process)
    assert result.status == 0, result
    print('# seconds of a processor beside one: ' + ' '.join(f'{one:.2f}' for one in used), flush=True)
    assert max(used) < 0.25, used


def test_more_workers_than_iterations():
    for masters in (0, 3):
        result = run_job(masters, 12, ['--report', 'report.json', 'synthetic', 'iterations=4'])
        assert result.status == 0, result
        assert sum(row['iterations'] > 0 for row in report()['worker_stats']) <= 4


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
