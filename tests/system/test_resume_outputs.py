# SPDX-License-Identifier: MIT
"""Runs that find their output or journal full, unwritable, gone, cut or in use: what is stored stays, and --resume goes on with it."""
import os
import resource
import signal

from journals import wait_for_records
from launch import HDSS, MASTER, SUPERMASTER, WORKER, finish, fork_line, hurried, job, journal_is_over, main, mpirun_line, report, run, run_job, start
from loops import ENDLESS, ENDLESS_ITERATIONS, SLOW, STEADY
from openmpi import WITHOUT_FILES
from processes import pid_of
from results import check, read, undisturbed
from resumed import refused, resume


def test_a_run_whose_output_is_full_loses_nothing():
    reference = undisturbed(*ENDLESS)
    # The master may not write behind the 2,000th byte; the supermaster, which reserves the file, may. It is in blocks of 512 bytes.
    limited = ['sh', '-c', 'ulimit -f 3; exec "$@"', 'sh', MASTER]
    words = [SUPERMASTER, *STEADY, '--output', 'out.npy', *ENDLESS]
    result = finish(start(mpirun_line([(1, words), (1, limited), (2, [WORKER])], mca=WITHOUT_FILES)))
    assert result.status == 1 and len(result.err) == 1 and 'File too large' in result.err[0], result
    done = report()['done']
    assert 0 < done < ENDLESS_ITERATIONS, done
    check(resume(2, 2, ENDLESS, '--technique', 'gss'), reference)
    assert report()['faults']['resumed_iterations'] == done


def test_a_journal_that_cannot_be_written_ends_the_run():
    process = start(job(0, 2, ['--isolate', 'off', '--power', 'equal', '--technique', 'ss', '--journal', 'kept.j', *ENDLESS]))
    wait_for_records(process, 'kept.j')
    resource.prlimit(pid_of(process, SUPERMASTER), resource.RLIMIT_FSIZE, (os.path.getsize('kept.j') + 20, resource.RLIM_INFINITY))
    result = finish(process)
    assert result.status == 1 and len(result.err) == 1 and 'kept.j: cannot write: File too large' in result.err[0], result
    with hurried():
        result = run_job(0, 3, [*STEADY, '--technique', 'gss', '--journal', 'kept.j', '--resume', *ENDLESS])
    assert result.status == 0 and result.checksum() == undisturbed(*ENDLESS)[0], result
    assert 0 < report()['faults']['resumed_iterations'] < ENDLESS_ITERATIONS, report()


def test_what_cannot_be_brought_to_the_disk_is_not_reported():
    broken = ['env', 'LD_PRELOAD=' + os.environ['FAILING_SYNC'], 'SYNCS=3']
    for contexts in ([(1, [SUPERMASTER]), (1, [*broken, MASTER])], [(1, [*broken, SUPERMASTER])]):
        contexts[0][1].extend([*STEADY, '--durability', 'node', '--output', 'out.npy', *ENDLESS])
        result = finish(start(mpirun_line([*contexts, (2, [WORKER])])))
        assert result.status == 1 and len(result.err) == 1 and 'Input/output error' in result.err[0], result
        done = report()['done']
        assert done < ENDLESS_ITERATIONS, report()
        result = resume(0, 2, ENDLESS, '--technique', 'gss')
        check(result, undisturbed(*ENDLESS))
        resumed = report()['faults']['resumed_iterations']
        assert 0 < resumed <= done, (resumed, done)
        os.remove('out.npy')


def test_pictures_are_resumed_from_their_records():
    words = ['mandelbrot', 'width=600', 'height=600', 'max_iter=2000', 'xmin=-0.3', 'xmax=0.1', 'ymin=-0.2', 'ymax=0.2']
    result = run_job(0, 2, ['--journal', 'off', '--output', 'reference.png', *words])
    if result.status == 2 and 'libpng' in result.err[0]:
        return 'no libpng'
    checksum = result.checksum()
    process = start(job(1, 2, [*STEADY, '--output', 'out.png', *words], ['--slowdown', '1000']))
    wait_for_records(process, 'out.png.journal')
    process.send_signal(signal.SIGUSR1)
    result = finish(process)
    assert result.status == 4 and os.path.exists('out.png') and os.path.exists('out.png.records'), result
    result = resume(0, 2, words, output='out.png')
    assert result.status == 0 and result.checksum() == checksum, result
    assert read('out.png') == read('reference.png')
    assert not os.path.exists('out.png.records') and journal_is_over('out.png.journal')
    assert report()['faults']['resumed_iterations'] > 0


def test_an_output_that_is_gone_or_cut_is_a_failure():
    def replace(path):
        with open('other', 'wb') as file:
            file.write(read(path))
        os.rename('other', path)
    cases = (os.remove, 'was removed', 0), (lambda path: os.truncate(path, 100), 'was ', 1), (replace, 'was re', 0)
    for number, (what, said, masters) in enumerate(cases):
        output = f'{number}.npy'
        process = start(job(masters, 2, [*STEADY, '--output', output, *SLOW]))
        wait_for_records(process, output + '.journal')
        what(output)
        with hurried():
            result = finish(process)
        assert result.status == 1 and any(f'{output}: {said}' in line and 'not whole' in line for line in result.err), (said, result)
        assert report()['outcome'] == 'failed', report()


def test_two_runs_write_no_output_together():
    process = start(job(1, 2, [*STEADY, '--journal', 'a.journal', '--output', 'out.npy', *ENDLESS]))
    wait_for_records(process, 'a.journal')
    words = ['--overwrite', '--output', 'out.npy', '--journal', 'off', *SLOW]
    refused(run_job(0, 1, words), 'out.npy: another run is writing it')
    refused(run([HDSS, 'run', '--workers', '1', *words]), 'out.npy: another run is writing it')
    refused(run(fork_line([(1, [WORKER, '--dca', 'rma', '--overwrite', '--output', 'out.npy', *SLOW])])), 'out.npy: another run is writing it')
    assert process.poll() is None, finish(process)
    process.send_signal(signal.SIGUSR1)
    result = finish(process)
    assert result.status == 4 and any(read('out.npy')[128:]), result
    with hurried():
        assert run_job(0, 1, ['--power', 'equal', *words]).status == 0


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
