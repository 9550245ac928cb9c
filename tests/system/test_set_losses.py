# SPDX-License-Identifier: MIT
"""Sets that lose ranks, or are killed: their jobs go on, or are there for the next set, and what was done stays so."""
import json
import os
import signal
import sys

from kernels import built
from launch import HDSS, MASTER, SUPERMASTER, WORKER, finish, hurry, main, ranks_of, run, start, unhurried, wait_until
from loops import SLEEPING
from sets import here, job, post, submission, up, well

# Kills of a supermaster, each right behind an answer.
KILLS = int(os.environ.get('HDSS_TEST_KILLS', '3'))
UNHURRIED = ['--isolate', 'off', '--technique', 'ss', '--power', 'equal', *unhurried()]


def kill_workers(process):
    """All at the same time, as the supermaster sees it: none is started again meanwhile."""
    supermaster, workers = ranks_of(process, SUPERMASTER)[0], ranks_of(process, WORKER)
    os.kill(supermaster, signal.SIGSTOP)
    for pid in workers:
        os.kill(pid, signal.SIGKILL)
    os.kill(supermaster, signal.SIGCONT)
    return workers


def kill_a_worker(process, count=2):
    """And waits for the one that is started instead."""
    before = ranks_of(process, WORKER)
    os.kill(before[-1], signal.SIGKILL)
    wait_until(lambda: len(set(ranks_of(process, WORKER)) - {before[-1]}) == count, 'another worker')


def has_both():
    """True where a job that begins now has both workers."""
    return 'lost worker' not in well(['submit', '--wait', *SLEEPING, 'iterations=20'])


def test_a_set_that_is_killed_goes_on():
    here()
    process = start([HDSS, 'up', '--workers', '2', '--restarts', '0', '--foreground'])
    assert process.stdout.readline() == 'main is up\n'
    well(['submit', *UNHURRIED, '--output', 'kept.npy'])
    wait_until(lambda: job('1')['done'] > 0, 'a job that runs')
    os.kill(ranks_of(process, SUPERMASTER)[0], signal.SIGKILL)
    lost = finish(process)
    assert lost.status == 1 and lost.err[-1].endswith('; `hdss up --resume` goes on with its jobs'), lost
    hurry()
    up('--resume')
    try:
        done = run([HDSS, 'wait', '1'])
        assert done.status == 0 and done.out == 'main/1: done, 40,000 of 40,000 (100.0 %)\n', done
    finally:
        assert run([HDSS, 'drain', '--wait']).status == 0
    up('--resume')
    try:
        assert [job('1')[what] for what in ('state', 'done', 'total', 'technique')] == ['done', 40000, 40000, 'ss'], job('1')
    finally:
        assert run([HDSS, 'down']).status == 0


def test_a_lost_worker_and_a_lost_master_cost_all_jobs_only_time():
    here()
    kinds = [UNHURRIED, ['--isolate', 'on', *UNHURRIED[2:]], ['--technique', 'gss', *unhurried()]]
    process = start([HDSS, 'up', '--workers', '4', '--masters', '2', '--foreground'])
    assert process.stdout.readline().startswith('main is up')
    try:
        ids = [well(['submit', '--output', f'{number}.npy', *words]).split('/')[1].strip() for number, words in enumerate(kinds)]
        wait_until(lambda: all(job(one)['done'] > 0 for one in ids), 'jobs that run')
        for program in (WORKER, MASTER):
            os.kill(ranks_of(process, program)[0], signal.SIGKILL)
        wait_until(lambda: all(job(one)['lost'] == 2 for one in ids), 'two losses')
        assert all(job(one)['state'] == 'running' for one in ids), [job(one) for one in ids]
        hurry()
        alone = run([HDSS, 'run', '--workers', '2', '--output', 'alone.npy', *UNHURRIED])
        assert alone.status == 0, alone
        waited = run([HDSS, 'wait', *ids])
        assert waited.status == 0, waited
        for number, one in enumerate(ids):
            with open('alone.npy', 'rb') as right, open(f'{number}.npy', 'rb') as got:
                assert right.read() == got.read(), number
            assert '1 lost worker, 1 lost master' in well(['output', '--stream', 'out', one]), well(['output', one])
        later = run([HDSS, 'submit', '--wait', *SLEEPING, 'iterations=20'])
        assert later.status == 0 and '1 lost worker, 1 lost master' in later.out, later
    finally:
        assert run([HDSS, 'down']).status == 0
        finish(process)


def test_a_set_that_is_lost_is_started_again():
    here()
    process = start([HDSS, 'up', '--workers', '2', '--foreground', '--restarts', '1'])
    assert process.stdout.readline().startswith('main is up')
    well(['submit', *UNHURRIED, '--output', 'kept.npy'])
    wait_until(lambda: job('1')['done'] > 0, 'a job that runs')
    first = ranks_of(process, SUPERMASTER)[0]
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: ranks_of(process, SUPERMASTER) not in ([], [first]), 'another supermaster')
    hurry()
    wait_until(lambda: run([HDSS, 'wait', '1']).status == 0, 'the end of the job')
    kill_workers(process)
    lost = finish(process)
    said = [line for line in lost.err if line.startswith('hdss: ')]
    assert lost.status == 1 and said == [
        'hdss: the run ended without its supermaster: starting again with its jobs, 1 of 1 times',
        'hdss: the set has failed; it was started again 1 times, which is all that --restarts allows; '
        '`hdss up --resume` goes on with its jobs'], lost


KILLER = '''
import http.client, json, os, signal, socket, time
client = http.client.HTTPConnection('localhost')
client.sock = socket.socket(socket.AF_UNIX)
client.sock.connect(f'hdss-{os.getuid()}/main.sock')
client.request('GET', '/v1')
os.kill(json.load(client.getresponse())['pid'], signal.SIGKILL)
time.sleep(1000)
'''


def test_a_task_that_kills_the_supermaster_is_given_up():
    """It costs its own job; the others, and the set, go on."""
    here()
    with open('killer.py', 'w', encoding='ascii') as file:
        file.write(KILLER)
    process = start([HDSS, 'up', '--workers', '2', '--foreground'])
    assert process.stdout.readline().startswith('main is up')
    well(['submit', *UNHURRIED, '--output', 'kept.npy'])
    wait_until(lambda: job('1')['done'] > 0, 'a job that runs')
    well(['submit', '--name', 'killer', 'exec', '--', sys.executable, 'killer.py'])
    hurry()
    wait_until(lambda: run([HDSS, 'wait', '1']).status == 0, 'the end of the other job')
    wait_until(lambda: 'it is given up' in run([HDSS, 'wait', 'killer']).out, 'the end of the job of the killer')
    told = job('killer')
    assert told['state'] == 'failed' and told['reason'] == 'it has run in three sets that were lost, at last alone: it is given up', told
    assert well(['submit', '--wait', '--quiet', 'synthetic', 'iterations=1']) == ''
    well(['down'])
    ended = finish(process)
    assert ended.status == 0 and sum('starting again with its jobs' in line for line in ended.err) == 3, ended


def jobs_that_go_on_behind(strike, status, line):
    """A job with a journal runs, another one waits, and something happens to the set, which ends. The next set is done with both."""
    here()
    process = start([HDSS, 'up', '--workers', '2', '--masters', '1', '--jobs-at-once', '1', '--restarts', '0', '--foreground'])
    assert process.stdout.readline() == 'main is up\n'
    well(['submit', *UNHURRIED, '--output', 'kept.npy'])
    well(['submit', 'synthetic', 'iterations=1'])
    wait_until(lambda: job('1')['done'] > 0, 'a job that runs')
    strike(process)
    ended = finish(process)
    assert ended.status == status and ended.err[-1] == line, ended
    hurry()
    up('--resume')
    try:
        done = run([HDSS, 'wait', '1', '2'])
        assert done.status == 0 and done.out == 'main/1: done, 40,000 of 40,000 (100.0 %)\nmain/2: done, 1 of 1 (100.0 %)\n', done
    finally:
        assert run([HDSS, 'down']).status == 0


def test_a_set_that_has_lost_all_workers_ends_and_keeps_its_jobs():
    def strike(process):
        for pid in ranks_of(process, WORKER):
            os.kill(pid, signal.SIGKILL)
    jobs_that_go_on_behind(strike, 1, 'hdss: the set has failed; `hdss up --resume` goes on with its jobs')


def test_a_set_that_has_lost_all_workers_is_started_again_three_times():
    """Idle, or with a job: by itself, as nobody has said how often."""
    here()
    process = start([HDSS, 'up', '--workers', '2', '--foreground'])
    assert process.stdout.readline() == 'main is up\n'
    well(['submit', *UNHURRIED, '--output', 'kept.npy'])
    wait_until(lambda: job('1')['done'] > 0, 'a job that runs')
    for number in range(3):
        struck = kill_workers(process)
        wait_until(lambda: len(set(ranks_of(process, WORKER)) - set(struck)) == 2 and run([HDSS, 'show', '1']).status == 0, 'other workers')
        if number == 0:
            hurry()
            wait_until(lambda: run([HDSS, 'wait', '1']).status == 0, 'the end of the job')
    kill_workers(process)
    ended = finish(process)
    said = [line for line in ended.err if line.startswith('hdss: ')]
    assert ended.status == 1 and len(said) == 4 and said[0] == 'hdss: the set has failed: starting again with its jobs, 1 of 3 times', ended
    assert said[-1].endswith('which is all that --restarts allows; `hdss up --resume` goes on with its jobs'), ended
    assert ended.err.count('supermaster: all workers are lost: the set ends') == 4, ended


def test_a_killed_worker_is_started_again_three_times():
    """For the jobs that begin later."""
    here()
    process = start([HDSS, 'up', '--workers', '2', '--foreground'])
    assert process.stdout.readline() == 'main is up\n'
    for _ in range(3):
        kill_a_worker(process)
        wait_until(has_both, 'a job with both workers')
    kill_a_worker(process, count=1)
    wait_until(lambda: not has_both(), 'a job with one worker')
    well(['down'])
    ended = finish(process)
    said = [line for line in ended.err if line.startswith('hdss-fork: ')]
    assert ended.status == 0 and said == [
        *(f'hdss-fork: rank 2 was lost: it is started again, {number} of 3 times' for number in (1, 2, 3)),
        'hdss-fork: rank 2 was lost, and is not started again'], ended


def test_a_job_goes_on_with_workers_that_were_started_again():
    """Once all of those that it began with are lost; without a journal it fails alone."""
    here()
    process = start([HDSS, 'up', '--workers', '2', '--foreground'])
    assert process.stdout.readline() == 'main is up\n'
    well(['submit', *UNHURRIED, '--output', 'kept.npy'])
    well(['submit', *UNHURRIED])
    wait_until(lambda: all(job(one)['done'] > 0 for one in '12'), 'jobs that run')
    first = ranks_of(process, WORKER)
    for pid in first:
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: len(set(ranks_of(process, WORKER)) - {pid}) == 2 and has_both(), 'a job with both workers')
    assert run([HDSS, 'wait', '2']).status == 1
    hurry()
    waited = run([HDSS, 'wait', '1'])
    assert waited.status == 0 and waited.out == 'main/1: done, 40,000 of 40,000 (100.0 %)\n', waited
    alone = run([HDSS, 'run', '--workers', '2', '--output', 'alone.npy', *UNHURRIED])
    with open('alone.npy', 'rb') as right, open('kept.npy', 'rb') as got:
        assert alone.status == 0 and right.read() == got.read(), alone
    well(['down'])
    ended = finish(process)
    assert ended.status == 0 and not any('starting again with its jobs' in line for line in ended.err), ended


def test_a_stopped_supermaster_whose_workers_are_lost_is_ended():
    """Nobody else sees that it is stopped: it would stay for ever."""
    here()
    process = start([HDSS, 'up', '--workers', '2', '--restarts', '0', '--foreground'])
    assert process.stdout.readline() == 'main is up\n'
    for program in (SUPERMASTER, WORKER):
        for pid in ranks_of(process, program):
            os.kill(pid, signal.SIGSTOP if program == SUPERMASTER else signal.SIGKILL)
    ended = finish(process)
    assert ended.status == 1 and 'hdss: the supermaster has been stopped for 10 seconds: it is ended' in ended.err, ended
    assert ended.err[-1] == 'hdss: the run ended without its supermaster; `hdss up --resume` goes on with its jobs', ended


def test_a_job_without_a_journal_fails_with_its_workers():
    """Were it to blame it would take the workers of each set that goes on with it."""
    here()
    process = start([HDSS, 'up', '--workers', '2', '--restarts', '0', '--foreground'])
    assert process.stdout.readline() == 'main is up\n'
    well(['submit', *UNHURRIED])
    wait_until(lambda: job('1')['done'] > 0, 'a job that runs')
    kill_workers(process)
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


def test_a_job_that_has_an_id_is_there_after_a_kill():
    here()
    ids = []
    for number in range(KILLS):
        process = start([HDSS, 'up', '--workers', '1', '--restarts', '0', '--foreground', *(['--resume'] if number > 0 else [])])
        assert process.stdout.readline().startswith('main is up')
        supermaster = ranks_of(process, SUPERMASTER)[0]
        known = json.loads(well(['jobs', '--all', '--format', 'json']))
        assert [one['id'] for one in known] == ids, (number, known)
        ids.append(post(submission(['synthetic', f'iterations={number}']))['id'])
        os.kill(supermaster, signal.SIGKILL)
        assert finish(process).status == 1
    up('--resume')
    try:
        waited = run([HDSS, 'wait', *map(str, ids)])
        assert waited.status == 0 and ids == list(range(1, KILLS + 1)), waited
    finally:
        assert run([HDSS, 'down']).status == 0


def test_a_job_that_is_done_stays_so_when_the_set_is_killed():
    """Between the end of its own journal and the next turn: the journal of the queue has it by then."""
    here()
    os.environ['LD_PRELOAD'] = built('killed_rename')
    process = start([HDSS, 'up', '--workers', '1', '--restarts', '0', '--foreground'])
    assert process.stdout.readline().startswith('main is up')
    del os.environ['LD_PRELOAD']
    well(['submit', '--output', 'done.npy', 'synthetic', 'iterations=5'])
    assert finish(process).status == 1
    up('--resume')
    try:
        done = run([HDSS, 'wait', '1'])
        assert done.status == 0 and done.out == 'main/1: done, 5 of 5 (100.0 %)\n' and 'checksum' in well(['output', '1']), done
    finally:
        assert run([HDSS, 'down']).status == 0


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
