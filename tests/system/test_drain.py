# SPDX-License-Identifier: MIT
"""Stopping on the way: signals drain (exit 4, what is done is stored), a full disk and a failing kernel end with one line and exit 1."""
import os
import shutil
import signal
import subprocess

from drains import ENDLESS, check_drained, results_have_come
from launch import (HDSS, MASTER, SUPERMASTER, WORKER, catches, finish, hurried, job, main, mpirun_line, ranks_of, report, run_job, start,
                    unhurried, wait_until)
from openmpi import WITHOUT_FILES


def drain_by(send, masters, command=None):
    process = start(command or job(masters, 3, ENDLESS))
    wait_until(results_have_come, 'the first result')
    send(process)
    check_drained(finish(process))


def test_a_signal_to_the_supermaster_drains():
    for masters, number in ((0, signal.SIGTERM), (2, signal.SIGINT), (1, signal.SIGUSR1)):
        drain_by(lambda process: os.kill(ranks_of(process, SUPERMASTER)[0], number), masters)
        os.remove('out.bin')


def test_a_signal_to_a_worker_drains():
    for masters in (0, 2):
        drain_by(lambda process: os.kill(ranks_of(process, WORKER)[-1], signal.SIGTERM), masters)
        os.remove('out.bin')


def test_a_signal_that_mpirun_forwards_drains():
    drain_by(lambda process: process.send_signal(signal.SIGUSR1), 2)


def test_interrupting_hdss_run_drains():
    for number in (signal.SIGINT, signal.SIGTERM):
        command = [HDSS, 'run', '--masters', '1', '--workers', '2', *ENDLESS]
        drain_by(lambda process: process.send_signal(number), 1, command)
        os.remove('out.bin')


def test_a_second_interrupt_says_what_is_kept():
    # Tasks that run: the first interrupt does not end the run before the second comes.
    words = ['--power', 'equal', 'exec', 'command=sleep 1000', 'count=100']
    for output, told in ((['--output', 'kept.out'], 'the same line with --resume goes on with it'), (['--journal', 'off'], 'without a journal the run cannot go on')):
        process = start([HDSS, 'run', '--workers', '2', *output, *words])
        wait_until(lambda: len(ranks_of(process, shutil.which('sleep'))) == 2, 'the first tasks')
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        result = finish(process)
        assert result.status == 1, result
        said = '\n'.join(result.err)
        assert 'draining: nothing begins any more' in said and told in said, said


def test_a_second_signal_changes_nothing():
    # Three of four workers compute on while the fourth has left already.
    process = start(job(1, 4, ['--isolate', 'off', '--power', 'equal', '--technique', 'ss', '--output', 'out.bin', '--report', 'report.json',
                               *unhurried(iterations=3, held=3)]))
    wait_until(lambda: len(ranks_of(process, WORKER)) == 4, 'the workers')
    workers = ranks_of(process, WORKER)
    pids = [*ranks_of(process, SUPERMASTER), *ranks_of(process, MASTER), *workers]
    wait_until(lambda: all(catches(pid, signal.SIGUSR1) for pid in pids), 'the signal handlers')
    wait_until(lambda: os.path.exists('out.bin.journal'), 'the journal')  # the ranks have met; before, a signal ends the launch
    process.send_signal(signal.SIGUSR1)
    wait_until(lambda: any(not catches(pid, signal.SIGUSR1) for pid in workers), 'a worker to leave')
    process.send_signal(signal.SIGUSR1)
    with hurried():
        result = finish(process)
    assert result.status == 4 or (result.status == 0 and report()['done'] == 3), (result, report())
    assert report()['done'] == sum(row['iterations'] for row in report()['worker_stats'])


def test_a_drain_gives_up_chunks_that_take_too_long():
    # One chunk for each worker; what was sent of it counts.
    for masters in (0, 1):
        words = [word if word != 'ss' else 'static' for word in ENDLESS]
        process = start(job(masters, 2, ['--drain-time', '0.5', *words]))
        wait_until(results_have_come, 'the first result')
        os.kill(ranks_of(process, SUPERMASTER)[0], signal.SIGTERM)
        result = finish(process)
        check_drained(result)
        assert report()['faults']['lost_workers'] == 0, report()
        os.remove('out.bin')


def test_a_drain_before_the_first_result():
    process = start(job(1, 2, ['--power', 'equal', '--report', 'report.json', 'synthetic', 'iterations=1000', 'mean=1e6',
                               'mode=sleep', 'distribution=constant']))
    wait_until(lambda: len(ranks_of(process, SUPERMASTER)) == 1, 'the supermaster')
    pid = ranks_of(process, SUPERMASTER)[0]
    wait_until(lambda: catches(pid, signal.SIGTERM), 'the signal handlers')
    os.kill(pid, signal.SIGTERM)
    result = finish(process)
    assert result.status == 4, result


def test_a_full_disk_is_one_line_and_exit_1():
    if os.getuid() != 0:
        return 'needs root to mount a small file system'
    os.mkdir('small')
    if subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=64k', 'none', 'small'], capture_output=True).returncode:
        return 'cannot mount a small file system here'
    try:
        for masters in (0, 2):
            for kind in ('npy', 'png', 'csv'):
                result = run_job(masters, 3, ['--output', f'small/out.{kind}', 'mandelbrot', 'width=400', 'height=400'])
                assert result.status == 1, result
                assert len(result.err) == 1 and 'No space left' in result.err[0] and f'out.{kind}' in result.err[0], result
    finally:
        subprocess.run(['umount', 'small'], check=True)


def test_a_write_that_fails_during_the_run_is_one_line_and_exit_1():
    # The masters, not the supermaster that reserves the file, may write files of 10 MB; the output has 24 MB.
    limited = ['sh', '-c', 'ulimit -f 20000; exec "$@"', 'sh', MASTER]
    words = [SUPERMASTER, '--output', 'out.npy', 'mandelbrot', 'width=3000', 'height=2000', 'max_iter=20']
    result = finish(start(mpirun_line([(1, words), (2, limited), (3, [WORKER])], mca=WITHOUT_FILES)))
    assert result.status == 1, result
    assert len(result.err) == 1 and 'out.npy' in result.err[0] and 'File too large' in result.err[0], result


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
