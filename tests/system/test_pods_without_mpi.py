# SPDX-License-Identifier: MIT
"""Pods whose ranks are started without MPI (`hdss join --carrier local`): they are to a set what any pod is, and lose workers and masters as others do."""
import os
import re
import resource
import shlex
import signal
import time

from launch import FORK, HDSS, JOIN, MASTER, WORKER, descendants, finish, gone, hurry, main, ranks_of, report, run, start, state_of, unhurried, wait_until
from pods import SINGLY, join, pods
from sets import down, here, job, refused, wait_for, well


def test_results_go_their_way_whatever_their_size():
    """Rows that a message holds, and such as are longer than all the memory that two ranks share."""
    here()
    for width, height in ((64, 64), (700000, 6)):
        alone = run([HDSS, 'run', '--workers', '2', '--output', 'alone.npy', 'mandelbrot', f'width={width}', f'height={height}', 'max_iter=3'])
        assert alone.status == 0, alone
        os.rename('alone.npy', f'{width}.npy')
    well(['up', '--listen', 'local', '--pods-only'])
    try:
        pod = join(workers=3)
        for where in ('there', 'here'):
            for width, height in ((64, 64), (700000, 6)):
                well(['submit', '--wait', '--summary', 'none', '--results', where, '--output', 'out.npy', '--overwrite', 'mandelbrot', f'width={width}',
                      f'height={height}', 'max_iter=3'])
                with open('out.npy', 'rb') as one, open(f'{width}.npy', 'rb') as other:
                    assert one.read() == other.read(), (where, width)
        name = f"main/pod{pods()[0]['rank']}"
        assert name in well(['pods']) and 'set main: 3 workers' in well(['top', '--once'])
        well(['drain', name])
        left = finish(pod)
        assert left.status == 0 and left.err == [] and pods() == [], left
    finally:
        down()


def test_a_lost_worker_costs_what_it_had():
    here()
    well(['up', '--listen', 'local', '--pods-only'])
    try:
        pod = join(workers=3)
        well(['submit', '--report', 'report.json', *SINGLY, *unhurried()])
        wait_until(lambda: job('1')['done'] > 100, 'what was computed')
        workers = ranks_of(pod, WORKER)
        os.kill(workers[0], signal.SIGKILL)
        hurry()
        wait_for('1')
        figures = report()
        assert figures['done'] == 40000 and figures['faults']['lost_workers'] == 1, figures['faults']
        assert figures['pods'] == {'joined': 1, 'left': 0, 'lost': 0}, figures['pods']
    finally:
        down()
    ended = finish(pod)
    assert ended.status == 0, ended
    assert all(gone(pid) for pid in workers)


def test_a_worker_that_is_stopped_in_the_midst_of_its_results_is_lost():
    """Its master is stopped while it puts in as much as there is room for, so that the rest does not follow."""
    here()
    words = ['--isolate', 'off', *unhurried(iterations=30, sleep_us=1000000, elements=400000)]  # 3 MB, and so more than there is room for
    well(['up', '--listen', 'local', '--pods-only'])
    try:
        pod = join(workers=2)
        master, worker = ranks_of(pod, MASTER)[0], ranks_of(pod, WORKER)[0]
        well(['submit', *SINGLY, '--output', 'out.bin', *words])
        wait_until(lambda: job('1')['done'] > 1, 'what was computed')
        os.kill(master, signal.SIGSTOP)
        hurry()
        looks = 0
        while looks < 20:  # in a row in which it sleeps: it has computed, and waits for room
            looks = looks + 1 if state_of(worker) == 'S' else 0
            time.sleep(0.01)
        os.kill(worker, signal.SIGSTOP)
        os.kill(master, signal.SIGCONT)
        wait_for('1')
        alone = run([HDSS, 'run', '--workers', '2', '--output', 'alone.bin', *words])
        assert alone.status == 0, alone
        with open('out.bin', 'rb') as one, open('alone.bin', 'rb') as other:
            assert one.read() == other.read()
    finally:
        down()
    ended = finish(pod)
    assert ended.status == 0 and re.search('master: rank 1: worker rank [23] has been stopped for 10 seconds: it is ended', ended.raw_err), ended


def test_a_lost_master_takes_its_workers_along():
    here()
    well(['up', '--listen', 'local', '--workers', '1'])
    try:
        well(['submit', '--report', 'report.json', *SINGLY, *unhurried()])
        pod = join(workers=3)
        before = job('1')['done']
        wait_until(lambda: job('1')['done'] > before + 100, 'what the pod has computed')
        processes = descendants(pod.pid)
        os.kill(ranks_of(pod, MASTER)[0], signal.SIGKILL)
        lost = finish(pod)
        assert lost.status == 1 and 'the pod ended without leaving its set' in lost.err[-1], lost
        assert all(gone(pid) for pid in processes)
        hurry()
        wait_for('1')
        figures = report()
        assert figures['done'] == 40000 and figures['pods']['lost'] == 1, figures
    finally:
        down()


def test_tasks_run_and_end_with_their_pod():
    here()
    well(['up', '--listen', 'local', '--pods-only'])
    try:
        pod = join()
        well(['submit', '--wait', '--output', 'out.txt', 'exec', 'command=env', 'count=2'])
        with open('out.txt', encoding='ascii') as file:  # tasks are none of the launch
            assert 'HDSS_LAUNCH' not in file.read()
        well(['submit', 'exec', "command=sh -c 'echo $$ > pid; exec sleep 3600'", 'count=1'])
        wait_until(lambda: os.path.exists('pid') and os.path.getsize('pid') > 0, 'a task')
        with open('pid', encoding='ascii') as file:
            task = int(file.read())
        pod.send_signal(signal.SIGTERM)
        wait_until(lambda: pods()[0]['state'] == 'leaving', 'a pod that leaves')
        pod.send_signal(signal.SIGTERM)
        finish(pod)
        wait_until(lambda: gone(task), 'the end of the task')
        well(['cancel', '1'])
        well(['cancel', '2'])
    finally:
        down()


def test_it_is_chosen_on_one_machine():
    here()
    well(['up', '--listen', 'local', '--pods-only'])
    before = os.environ['PATH']
    try:
        shown = shlex.split(well(['join', '--workers', '2', '--dry-run']))
        assert shown[:5] == [FORK, '-n', '1', MASTER, '--join'] and shown[6:] == [':', '-n', '2', WORKER], shown
        os.environ['PATH'] = '/nowhere'
        pod = start([HDSS, 'join', '--workers', '1'])
        wait_until(pods, 'the pod')
        refused(['join', '--carrier', 'mpi'], 'mpirun is not on PATH')
        refused(['join', '--hosts', 'a,b', '--workers', '2'], 'mpirun is not on PATH')
    finally:
        os.environ['PATH'] = before
        down()
    ended = finish(pod)
    assert ended.status == 0 and ended.err == [], ended


def test_what_it_cannot_start_is_refused():
    here()
    well(['up', '--listen', 'local', '--pods-only'])
    try:
        local = ['join', '--carrier', 'local']
        refused([*local, '--hosts', 'a,b', '--workers', '2'], '--carrier local', 'this machine alone')
        refused([*local, '--mpirun', 'mpirun'], '--mpirun', '--carrier local')
        refused([*local, '--mpi-args', '--bind-to none'], '--mpi-args', '--carrier local')
        refused([*local, '--workers', '1024'], '1025 processes in all', '1024')
        refused(['join', '--carrier', 'srun'], '--carrier', 'auto, local, mpi')
    finally:
        down()
    for words in ([], ['-n'], ['-n', '1'], ['-n', '0', WORKER, ':', '-n', '2', WORKER], ['-n', '2', WORKER, ':'], ['-n', '2', ':'],
                  ['-n', '2000', WORKER], ['2', WORKER]):
        result = run([FORK, *words])
        assert result.status == 2 and len(result.err) == 1 and 'hdss-fork: accepted: -n COUNT PROGRAM' in result.err[0], (words, result)
    helped = run([FORK, '--help'])
    assert helped.status == 0 and helped.out.startswith('Usage: hdss-fork -n COUNT PROGRAM') and helped.err == [], helped
    for words, text in (([FORK, '-n', '2', './nothing'], 'cannot run ./nothing'), ([FORK, '-n', '1', MASTER, ':', '-n', '1', WORKER], 'a launch without MPI begins with the rank that leads'),
                        ([FORK, '-n', '2', WORKER, '--slowdown', '0'], '--slowdown')):
        result = run(words)
        assert result.status == 2 and any(text in line for line in result.err), result
    result = run([FORK, '-n', '2', './nothing'], preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD]))
    assert result.status == 2, result
    result = run([FORK, '-n', '2', './nothing'], preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)))
    assert result.status == 1 and len(result.err) == 1, result
    assert result.err[0].startswith('hdss-fork: cannot share memory among 2 ranks: File too large: ulimit -f allows too little'), result
    result = run(['env', 'HDSS_LAUNCH=0:0:2', WORKER])
    assert result.status == 2 and len(result.err) == 1 and 'HDSS_LAUNCH' in result.err[0], result


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
