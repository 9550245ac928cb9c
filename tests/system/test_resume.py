# SPDX-License-Identifier: MIT
"""Runs that end early and are resumed by hand: killed or drained. Whatever happens, with whatever masters, workers and technique they go
on, at the end output and checksum are those of an undisturbed run. Kills at random instants are in test_kills, and what goes on by itself is in
test_restarts.
"""
import os
import signal
import zlib

from journals import begun_with, wait_for_records, with_one_record
from launch import (HDSS, SUPERMASTER, WORKER, catches, finish, hurried, job, journal_is_over, main, mpirun_line, python_is_there, report, run, run_job, start,
                    wait_until)
from loops import ENDLESS, ENDLESS_ITERATIONS, SLOW, STEADY
from processes import pid_of
from results import check, read, undisturbed
from resumed import kill_the_supermaster, killed_run, refused, resume


def test_a_drained_run_is_resumed():
    reference = undisturbed(*ENDLESS)
    for masters, durability in ((0, 'process'), (2, 'node')):
        process = start(job(masters, 2, [*STEADY, '--durability', durability, '--output', 'out.npy', *ENDLESS]))
        wait_for_records(process)
        process.send_signal(signal.SIGUSR1)
        result = finish(process)
        assert result.status == 4 and '--resume goes on' in result.out, result
        done = report()['done']
        assert 0 < done < ENDLESS_ITERATIONS, report()
        result = resume(2 - masters, 3, ENDLESS, '--technique', 'gss', '--durability', durability)
        check(result, reference)
        faults = report()['faults']
        assert faults['resumed_iterations'] == done, (faults, done)
        assert sum(row['iterations'] for row in report()['worker_stats']) == ENDLESS_ITERATIONS - done
        os.remove('out.npy')


def test_what_can_be_resumed_is_not_overwritten():
    killed_run()
    before = read('out.npy'), read('out.npy.journal')
    refused(run_job(0, 1, [*STEADY, '--output', 'out.npy', *SLOW]), 'out.npy.journal', '--resume', '--overwrite')
    refused(run_job(0, 1, [*STEADY, '--output', 'out.npy', '--journal', 'off', *SLOW]), 'out.npy.journal', '--overwrite')
    refused(run(mpirun_line([(1, [WORKER, '--dca', 'rma', '--output', 'out.npy', *SLOW])])), 'out.npy.journal', '--overwrite')
    other = [word.replace('sleep=10000', 'sleep=5000') for word in SLOW]
    refused(run_job(0, 1, [*STEADY, '--output', 'out.npy', '--resume', *other]), 'sleep is 10000 there and 5000 here')
    refused(run(mpirun_line([(1, [WORKER, '--dca', 'rma', '--resume', '--output', 'out.npy', *SLOW])])), '--resume', '--dca')
    assert (read('out.npy'), read('out.npy.journal')) == before
    reference = undisturbed(*SLOW)
    with hurried():
        check(run_job(0, 3, [*STEADY, '--overwrite', '--output', 'out.npy', *SLOW]), reference)
    assert report()['faults']['resumed_iterations'] == 0


def test_a_torn_journal_and_one_with_a_bad_byte():
    reference = undisturbed(*SLOW)
    killed_run()
    whole, output = read('out.npy.journal'), read('out.npy')
    for what in ('torn', 'changed'):
        with open('out.npy.journal', 'wb') as file:
            file.write(whole[:-5] if what == 'torn' else whole[:-1] + bytes([whole[-1] ^ 4]))
        with open('out.npy', 'wb') as file:
            file.write(output)
        result = resume(0, 3, SLOW)
        assert len(result.err) == 1 and 'torn or corrupted' in result.err[0], result
        check(result, reference)
    for content, option, reason in ((whole[:20], ['--resume'], 'torn or corrupted at its beginning'), (b'not ours', [], 'is not a journal')):
        with open('out.npy.journal', 'wb') as file:
            file.write(content)
        refused(run_job(0, 1, [*STEADY, *option, '--output', 'out.npy', *SLOW]), reason)


def test_a_journal_whose_output_is_gone_or_another():
    killed_run()
    os.rename('out.npy', 'elsewhere.npy')
    refused(run_job(0, 1, [*STEADY, '--output', 'out.npy', '--resume', *SLOW]), 'are not there')
    with open('out.npy', 'wb') as file:
        file.write(b'short')
    refused(run_job(0, 1, [*STEADY, '--output', 'out.npy', '--resume', *SLOW]), 'out.npy: is not the output')


def test_a_complete_run_and_an_empty_one():
    few = ['synthetic', 'iterations=100', 'mean=0']
    reference = undisturbed(*few)
    result = run_job(0, 2, [*STEADY, '--output', 'out.npy', '--resume', *few])
    assert 'begins at its first iteration' in result.err[0], result
    check(result, reference)
    again = run_job(0, 1, [*STEADY, '--output', 'out.npy', '--resume', *few])
    assert again.status == 0 and again.err == ['supermaster: out.npy is complete: nothing is left to do'] and not again.out, again
    assert read('out.npy') == reference[1]
    again = run([HDSS, 'run', '--output', 'out.npy', '--resume', *few], begins_anew=False)
    assert (again.status, again.raw_err) == (0, 'hdss run: out.npy is complete: nothing is left to do\n'), again
    refused(run_job(0, 1, [*STEADY, '--output', 'out.npy', '--resume', *few[:1], 'iterations=101', *few[2:]]), 'is 100 there and 101 here')
    refused(run_job(0, 1, [*STEADY, '--output', 'out.npy', *few], begins_anew=False), 'out.npy is there already')
    os.remove('out.npy.journal')
    refused(run_job(0, 1, [*STEADY, '--output', 'out.npy', '--resume', *few]), 'it is complete, or was made without a journal')
    os.remove('out.npy')
    killed_run(words=SLOW)
    complete(SLOW)
    result = resume(1, 2, SLOW)
    check(result, undisturbed(*SLOW))
    assert report()['chunks'] == 0 and report()['faults']['resumed_iterations'] == 300 and report()['done'] == 300, report()
    result = run_job(1, 2, [*STEADY, '--journal', 'j', '--resume', 'synthetic', 'iterations=10', 'mean=0', '--iterations', '3:0'])
    assert result.status == 0 and journal_is_over('j'), result


def complete(words):
    """Has the run go on to its end, and leaves its output beside a journal that says so."""
    process = start(job(0, 2, [*STEADY, '--resume', '--output', 'out.npy', *words]))
    wait_until(lambda: process.poll() is not None or begun_with('out.npy.journal') < os.path.getsize('out.npy.journal'), 'a record')
    journal = read('out.npy.journal')
    with hurried():
        assert finish(process).status == 0
    with open('out.npy.journal', 'wb') as file:
        file.write(with_one_record(journal[:36 + int.from_bytes(journal[12:16], 'little')], 0, 300, undisturbed(*words)[0]))


def test_a_checksum_alone_is_resumed_from_a_journal():
    reference = undisturbed(*SLOW)
    words = [*STEADY, '--journal', 'kept.j', *SLOW]
    process = start(job(2, 2, words))
    wait_for_records(process, 'kept.j')
    kill_the_supermaster(process)
    finish(process)
    refused(run_job(0, 1, [*words, '--resume', '--output', 'out.npy']), '--output is not given there and out.npy here')
    with hurried():
        result = run_job(0, 3, [*words, '--resume'])
    assert result.status == 0 and result.checksum() == reference[0] and journal_is_over('kept.j'), result
    assert report()['faults']['resumed_iterations'] > 0


def test_a_function_that_was_mended_is_named():
    """Iterations that are done are kept if the module says that they are of its version."""
    if not python_is_there():
        return 'built without Python'
    text = '''
def describe():
    return {'iterations': 20, 'dtype': 'float64'}

def f(first, count):
    return [1 / (i - 15) for i in range(first, first + count)]
'''
    words = ['--technique', 'ss', '--power', 'equal', '--retries', '0', '--output', 'f.npy', 'python:part.f']
    with open('part.py', 'w') as file:
        file.write(text)
    version = f'{zlib.crc32(text.encode()):08x}'
    assert run_job(0, 1, words).status == 3
    with open('part.py', 'w') as file:
        file.write(text.replace('i - 15', 'i - 15 or 1'))
    said = ('hdss run: python:part.f has changed since the run that f.npy.journal is of; accepted: --overwrite to begin anew, or the line '
            f"f.version = '{version}' at the end of the module to keep what is done")
    for more in ([], ['--resume'], ['--resume', 'failed']):
        result = run([HDSS, 'run', '-j1', *more, *words])
        assert result.status == 2 and result.err == [said], result
    with open('part.py', 'a') as file:
        file.write(f"f.version = '{version}'\n")
    result = run([HDSS, 'run', '-j1', '--report', 'report.json', '--resume', *words])
    assert result.status == 0 and report()['faults']['resumed_iterations'] == 19, result
    return None


def test_a_signal_in_the_first_moments_drains():
    process = start(job(1, 2, [*STEADY, *ENDLESS]))
    wait_until(lambda: pid_of(process, SUPERMASTER) is not None, 'the supermaster')
    pid = pid_of(process, SUPERMASTER)
    wait_until(lambda: catches(pid, signal.SIGTERM), 'the handlers')
    os.kill(pid, signal.SIGTERM)
    result = finish(process)
    assert result.status == 4, result


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
