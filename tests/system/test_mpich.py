"""What MPICH 4.0 does when a rank dies: mpiexec ends the run at once, whatever it is told, and the run is resumed."""
import os
import signal

from launch import SUPERMASTER, WORKER, finish, job, main, report, run_job, start
from test_resume import STEADY, check, pid_of, undisturbed, wait_for_records

JOB = ['synthetic', 'iterations=300', 'mean=20000', 'distribution=exponential', 'mode=sleep']
WORDS = [*STEADY, '--output', 'out.npy']


def test_a_run_with_masters_is_that_without():
    result = run_job(2, 3, [*WORDS, *JOB])
    check(result, undisturbed(*JOB))


def test_a_loss_ends_the_run_and_resume_goes_on():
    for program, options in ((WORKER, []), (SUPERMASTER, []), (WORKER, ['-disable-auto-cleanup'])):
        process = start(job(1, 3, [*WORDS, '--overwrite', *JOB], options=options))
        wait_for_records(process)
        os.kill(pid_of(process, program), signal.SIGKILL)
        result = finish(process, timeout=60)
        assert result.status not in (0, 2) and 'iterations done in' not in result.out, result
        check(run_job(0, 3, [*WORDS, '--resume', *JOB]), undisturbed(*JOB))
        assert report()['faults']['resumed_iterations'] > 0, report()


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
