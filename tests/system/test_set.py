# SPDX-License-Identifier: MIT
"""A set: one launch for many jobs, which are handed over, share its workers, end, go on, and leave nothing of themselves to one another."""
import json
import os
import signal
import sys

from launch import HDSS, SUPERMASTER, WORKER, finish, main, ranks_of, run, start, wait_until

SLEEPING = ['--technique', 'ss', '--power', 'equal', 'synthetic', 'distribution=constant', 'mode=sleep', 'mean=1000']


def here():
    """Sockets and the folders of sets in a folder of this test's own."""
    os.environ['HDSS_CONTROL_DIR'] = os.environ['XDG_STATE_HOME'] = os.getcwd()
    for name in ('HDSS_SET', 'SLURM_JOB_ID', 'PBS_JOBID', 'LSB_JOBID'):
        os.environ.pop(name, None)


def well(words):
    result = run([HDSS, *words])
    assert result.status == 0, result
    return result.out


def job(number):
    return json.loads(well(['show', number, '--format', 'json']))


def up(*words):
    """The process that stays: it is nobody's child, and has to be ended whatever comes."""
    assert well(['up', '--workers', '2', *words]) == 'main is up\n'


def test_jobs_go_through_a_set():
    here()
    up('--masters', '1')
    try:
        empty = run([HDSS, 'submit', '--wait', 'synthetic', 'iterations=0'])
        assert empty.status == 0 and empty.out.startswith('synthetic: 0 iterations done\n') and empty.err == [], empty
        alone = run([HDSS, 'run', '--workers', '2', '--output', 'alone.npy', 'mandelbrot', 'width=64', 'height=64'])
        os.mkdir('inside')
        os.chdir('inside')
        together = run([HDSS, 'run', '--set', 'main', '--output', 'together.npy', 'mandelbrot', 'width=64', 'height=64'])
        os.chdir('..')
        assert together.status == 0 and together.checksum() == alone.checksum(), together
        with open('alone.npy', 'rb') as one, open('inside/together.npy', 'rb') as other:
            assert one.read() == other.read()
        assert well(['submit', *SLEEPING, 'iterations=100000']) == 'main/3\n'
        assert well(['submit', '--after', '3', 'synthetic', 'iterations=1']) == 'main/4\n'
        wait_until(lambda: job('3')['done'] > 0, 'a job that runs')
        urgent = run([HDSS, 'submit', '--wait', '--priority', '1', *SLEEPING, 'iterations=20'])
        assert urgent.status == 0 and job('3')['state'] == 'running' and job('4')['state'] == 'waiting', urgent
        wrong = run([HDSS, 'submit', 'synthetik'])
        assert wrong.status == 2 and len(wrong.err) == 1 and "unknown kernel 'synthetik'" in wrong.err[0], wrong
        dependent = run([HDSS, 'submit', 'floyd-steinberg'])
        assert dependent.status == 2 and 'need a run of their own' in dependent.err[0], dependent
        well(['cancel', '3'])
        waited = run([HDSS, 'wait', '3', '4'])
        assert waited.status == 4 and job('4')['cancelled_by'] == 3, waited
        assert 'stopped by a signal after a clean drain' in well(['output', '3'])
        os.mkdir('hdss/main/jobs/6.out')
        silent = run([HDSS, 'submit', '--wait', 'synthetic', 'iterations=1'])
        assert silent.status == 1 and job('6')['state'] == 'failed', silent
        with open('hdss/main/log', encoding='utf-8') as log:
            assert 'supermaster: job 6: cannot write what it prints: Is a directory\n' in log.read()
        assert run([HDSS, 'submit', '--wait', 'synthetic', 'iterations=1']).status == 0
    finally:
        assert run([HDSS, 'down']).status == 0


def test_tasks_of_several_jobs_run_beside_one_another():
    """No job takes the processes of another one for what its own tasks have left behind."""
    here()
    up()
    try:
        names = [well(['submit', '--output', f'{number}.txt', 'exec', 'command=echo {}', 'count=30']).strip() for number in range(8)]
        assert well(['wait', *names]).count('done, 30 of 30') == len(names)
        for number in range(len(names)):
            with open(f'{number}.txt', encoding='ascii') as file:
                assert file.read().split() == [str(task) for task in range(1, 31)], number
    finally:
        assert run([HDSS, 'down']).status == 0


def test_a_set_that_is_killed_goes_on():
    here()
    process = start([HDSS, 'up', '--workers', '2', '--foreground'])
    assert process.stdout.readline() == 'main is up\n'
    well(['submit', *SLEEPING[:-1], 'mean=2000', 'iterations=200', '--output', 'kept.npy'])
    wait_until(lambda: job('1')['done'] > 0, 'a job that runs')
    os.kill(ranks_of(process, SUPERMASTER)[0], signal.SIGKILL)
    lost = finish(process)
    assert lost.status == 1 and lost.err[-1].endswith('; `hdss up --resume` goes on with its jobs'), lost
    up('--resume')
    try:
        done = run([HDSS, 'wait', '1'])
        assert done.status == 0 and done.out == 'main/1: done, 200 of 200 (100.0 %)\n', done
    finally:
        assert run([HDSS, 'drain', '--wait']).status == 0
    up('--resume')
    try:
        assert [job('1')[what] for what in ('state', 'done', 'total', 'technique')] == ['done', 200, 200, 'ss'], job('1')
    finally:
        assert run([HDSS, 'down']).status == 0


def jobs_that_go_on_behind(strike, status, line):
    """A job with a journal runs, another one waits, and something happens to the set, which ends. The next set is done with both."""
    here()
    process = start([HDSS, 'up', '--workers', '2', '--masters', '1', '--jobs-at-once', '1', '--foreground'])
    assert process.stdout.readline() == 'main is up\n'
    well(['submit', *SLEEPING, 'iterations=1000', '--output', 'kept.npy'])
    well(['submit', 'synthetic', 'iterations=1'])
    wait_until(lambda: job('1')['done'] > 0, 'a job that runs')
    strike(process)
    ended = finish(process)
    assert ended.status == status and ended.err[-1] == line, ended
    up('--resume')
    try:
        assert job('1')['done'] > 0 or job('1')['state'] == 'waiting', job('1')
        done = run([HDSS, 'wait', '1', '2'])
        assert done.status == 0 and done.out == 'main/1: done, 1,000 of 1,000 (100.0 %)\nmain/2: done, 1 of 1 (100.0 %)\n', done
    finally:
        assert run([HDSS, 'down']).status == 0


def test_a_set_that_has_lost_all_workers_ends_and_keeps_its_jobs():
    def strike(process):
        for pid in ranks_of(process, WORKER):
            os.kill(pid, signal.SIGKILL)
    jobs_that_go_on_behind(strike, 1, 'supermaster: all workers are lost: the set ends; `hdss up --resume` goes on with its jobs')


def test_an_idle_set_that_has_lost_all_workers_ends():
    here()
    process = start([HDSS, 'up', '--workers', '2', '--foreground'])
    assert process.stdout.readline() == 'main is up\n'
    for pid in ranks_of(process, WORKER):
        os.kill(pid, signal.SIGKILL)
    ended = finish(process)
    assert ended.status == 1 and ended.err[-1] == 'supermaster: all workers are lost: the set ends; `hdss up --resume` goes on with its jobs', ended


def test_a_job_without_a_journal_fails_with_its_workers():
    """Were it to blame it would take the workers of each set that goes on with it."""
    here()
    process = start([HDSS, 'up', '--workers', '2', '--foreground'])
    assert process.stdout.readline() == 'main is up\n'
    well(['submit', *SLEEPING, 'iterations=1000'])
    wait_until(lambda: job('1')['done'] > 0, 'a job that runs')
    for pid in ranks_of(process, WORKER):
        os.kill(pid, signal.SIGKILL)
    assert finish(process).status == 1
    up('--resume')
    try:
        assert (job('1')['state'], job('1')['status']) == ('failed', 1), job('1')
    finally:
        assert run([HDSS, 'down']).status == 0


def test_a_signal_to_a_rank_drains_the_set():
    """As one to the supermaster does: it cancels no job."""
    def strike(process):
        os.kill(ranks_of(process, WORKER)[0], signal.SIGTERM)
    line = 'hdss: draining, as the ranks were sent a signal: nothing begins any more, and what runs is finished and kept'
    jobs_that_go_on_behind(strike, 0, line)


if __name__ == '__main__':
    sys.exit(main([
        test_jobs_go_through_a_set,
        test_tasks_of_several_jobs_run_beside_one_another,
        test_a_set_that_is_killed_goes_on,
        test_a_set_that_has_lost_all_workers_ends_and_keeps_its_jobs,
        test_an_idle_set_that_has_lost_all_workers_ends,
        test_a_job_without_a_journal_fails_with_its_workers,
        test_a_signal_to_a_rank_drains_the_set,
    ]))
