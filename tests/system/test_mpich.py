# SPDX-License-Identifier: MIT
"""hdss run with MPICH, and what MPICH 4.0 does when a rank dies: mpiexec ends the run at once, whatever it is told, and the run is resumed."""
import os
import shutil
import signal

from journals import wait_for_records
from launch import HDSS, SUPERMASTER, WORKER, finish, hurried, job, main, report, run, run_job, start, wait_until
from loops import ENDLESS, SLOW, STEADY
from processes import pid_of
from results import check, undisturbed

WORDS = [*STEADY, '--output', 'out.npy']


def test_a_run_with_masters_is_that_without():
    with hurried():
        result = run_job(2, 3, [*WORDS, *SLOW])
    check(result, undisturbed(*SLOW))


def test_a_loss_ends_the_run_and_resume_goes_on():
    for program, options in ((WORKER, []), (SUPERMASTER, []), (WORKER, ['-disable-auto-cleanup'])):
        process = start(job(1, 3, [*WORDS, '--overwrite', *SLOW], options=options))
        wait_for_records(process)
        os.kill(pid_of(process, program), signal.SIGKILL)
        result = finish(process)
        assert result.status not in (0, 2) and 'iterations done in' not in result.out, result
        with hurried():
            check(run_job(0, 3, [*WORDS, '--resume', *SLOW]), undisturbed(*SLOW))
        assert report()['faults']['resumed_iterations'] > 0, report()


def test_hdss_run_finds_the_launcher_of_mpich():
    reference = undisturbed(*SLOW)
    for words in (['--workers', '3'], ['--masters', '2', '--workers', '3'], ['--workers', '2', '--threads', '2']):
        with hurried():
            result = run([HDSS, 'run', '-v', '--carrier', 'mpi', *words, *WORDS, '--overwrite', *SLOW])
        check(result, reference)
        assert result.raw_err.startswith('mpiexec') and len(result.err) == 1, result
    with hurried():
        result = run([HDSS, 'run', '--workers', '2', '--dca', 'two-sided', *SLOW])
    assert result.status == 0 and not result.err, result


def test_hdss_run_returns_what_the_ranks_say():
    process = start([HDSS, 'run', '--workers', '2', *WORDS, *ENDLESS])
    wait_until(lambda: os.path.exists('out.npy.journal') and os.path.getsize('out.npy.journal') > 500, 'records')
    process.send_signal(signal.SIGINT)
    result = finish(process)
    assert result.status == 4 and 'stopped by a signal after a clean drain' in result.out, result
    result = run([HDSS, 'run', '--workers', '2', 'exec', 'command=false {}', 'count=3'])
    assert result.status == 3 and 'failed       tasks 1-3' in result.out, result


def test_hdss_run_says_what_mpich_cannot():
    result = run([HDSS, 'run', '--dry-run', '--one-launch', '--hosts', 'a:2,b:4', *SLOW])
    assert result.status == 2 and len(result.err) == 1 and 'as many ranks on each host' in result.err[0], result
    result = run([HDSS, 'run', '--dry-run', '--one-launch', '--hosts', 'a:2,b:2', *SLOW])
    assert result.status == 0 and '-ppn 1' in result.out, result
    mpirun = shutil.which('mpirun.openmpi')
    if mpirun is None:
        return 'there is no mpirun.openmpi'
    result = run([HDSS, 'run', '--mpirun', mpirun, *SLOW])
    assert result.status == 2 and len(result.err) == 1, result
    assert 'Open MPI' in result.err[0] and 'there is that of MPICH' in result.err[0] and '--mpirun mpiexec' in result.err[0], result


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
