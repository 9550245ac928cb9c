# SPDX-License-Identifier: MIT
"""Runs that end early and are resumed: killed, drained, out of room. Whatever happens, with whatever masters, workers and technique they go
on, at the end output and checksum are those of an undisturbed run. Kills at random instants are in test_kills.
"""
import os
import re
import resource
import signal

from journals import head_bytes, head_of, wait_for_records
from launch import (HDSS, MASTER, SUPERMASTER, UNTIL_HURRY, WORKER, catches, descendants, finish, gone, hurried, job, kill_tree, main, mpirun_line,
                    ranks_of, report, run, run_job, start, wait_until)
from loops import ENDLESS, ENDLESS_ITERATIONS, LONG, SLOW, STEADY
from openmpi import WITHOUT_FILES
from processes import pid_of
from results import check, read, undisturbed


def resume(masters, workers, words, *more, output='out.npy'):
    with hurried():
        return run_job(masters, workers, [*STEADY, '--resume', '--output', output, *more, *words])


def kill_all(process):
    kill_tree(process.pid)


def kill_the_supermaster(process):
    pid = pid_of(process, SUPERMASTER)
    if pid is not None:
        os.kill(pid, signal.SIGKILL)


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


def killed_run(*more, output='out.npy', words=SLOW):
    process = start(job(1, 2, [*STEADY, '--output', output, *more, *words]))
    wait_for_records(process, output + '.journal')
    kill_all(process)
    finish(process)


def refused(result, *parts):
    assert result.status == 2 and len(result.err) == 1, result
    for part in parts:
        assert part in result.err[0], (part, result)


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
    refused(run_job(0, 1, [*STEADY, '--output', 'out.npy', '--resume', *few]), 'it is complete, or was made without a journal')
    os.remove('out.npy')
    killed_run(words=SLOW)
    complete(SLOW)
    result = resume(1, 2, SLOW)
    check(result, undisturbed(*SLOW))
    assert report()['chunks'] == 0 and report()['faults']['resumed_iterations'] == 300 and report()['done'] == 300, report()
    result = run_job(1, 2, [*STEADY, '--journal', 'j', '--resume', 'synthetic', 'iterations=10', 'mean=0', '--iterations', '3:0'])
    assert result.status == 0 and not os.path.exists('j'), result


def complete(words):
    """Has the run go on to its end, and leaves its output beside a journal that says so."""
    process = start(job(0, 2, [*STEADY, '--resume', '--output', 'out.npy', *words]))
    wait_until(lambda: process.poll() is not None or begun_with('out.npy.journal') < os.path.getsize('out.npy.journal'), 'a record')
    journal = read('out.npy.journal')
    with hurried():
        assert finish(process).status == 0
    with open('out.npy.journal', 'wb') as file:
        file.write(with_one_record(journal[:36 + int.from_bytes(journal[12:16], 'little')], 0, 300, undisturbed(*words)[0]))


def crc32c(before, data):
    crc = before ^ 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def with_one_record(head, first, count, checksum):
    body = int(checksum, 16).to_bytes(8, 'little') + first.to_bytes(8, 'little') + count.to_bytes(8, 'little')
    ranges = (1).to_bytes(4, 'little')
    crc = crc32c(crc32c(int.from_bytes(head[-4:], 'little'), ranges), body)
    return head + ranges + crc.to_bytes(4, 'little') + body


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
    assert result.status == 0 and result.checksum() == reference[0] and not os.path.exists('kept.j'), result
    assert report()['faults']['resumed_iterations'] > 0


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
    assert not os.path.exists('out.png.records') and not os.path.exists('out.png.journal')
    assert report()['faults']['resumed_iterations'] > 0


def lose_the_supermaster(process, times=1, path='out.npy.journal'):
    """Kills so many supermasters one after the other, each when something was recorded under it."""
    seen = {None}
    for _ in range(times):
        def record():
            return process.poll() is not None or (inode_of(path) not in seen and os.path.getsize(path) > begun_with(path))
        wait_until(record, 'a record of the next supermaster')
        pid = pid_of(process, SUPERMASTER)
        assert pid is not None, finish(process)
        seen.add(inode_of(path))
        os.kill(pid, signal.SIGKILL)


def inode_of(path):
    try:
        return os.stat(path).st_ino
    except OSError:
        return None


def begun_with(path):
    """Bytes of a journal that is begun: the head, and where something was done before a record of it."""
    try:
        content = read(path)
    except OSError:
        return 1 << 62
    head = head_bytes(content)
    return head + 16 + 16 * int.from_bytes(content[head:head + 4], 'little') if len(content) > head else head


def lines_of_hdss(result):
    return [line for line in result.err if line.startswith('hdss: ')]


AGAIN = 'hdss: the run ended without its supermaster: starting again where it was, 1 of 3 times'


def test_a_run_that_loses_its_supermaster_goes_on():
    reference = undisturbed(*SLOW)
    for masters in (0, 2):
        process = start([HDSS, 'run', '--verbose', '--workers', '2', '--masters', str(masters), *STEADY, '--output', 'out.npy', *SLOW])
        lose_the_supermaster(process)
        with hurried():
            result = finish(process)
        check(result, reference)
        assert lines_of_hdss(result) == [AGAIN] and result.out.count('checksum') == 1, result
        assert sum(' -n 1 ' in line for line in result.err) == 1, result  # the line of mpirun is shown once
        figures = report()
        assert figures['outcome'] == 'done' and figures['done'] == 300 and figures['faults']['resumed_iterations'] > 0, figures
        assert sum(row['iterations'] for row in figures['worker_stats']) == 300 - figures['faults']['resumed_iterations'], figures
        os.remove('out.npy')


def test_a_run_that_loses_its_launcher_goes_on():
    process = start([HDSS, 'run', '--workers', '2', *STEADY, '--output', 'out.npy', *SLOW])
    wait_for_records(process)
    ranks = ranks_of(process, WORKER) + ranks_of(process, SUPERMASTER)
    os.kill(next(pid for pid in descendants(process.pid) if pid not in ranks), signal.SIGKILL)
    # Ranks outlive it for some moments; nobody else goes on with the run before they have ended.
    wait_until(lambda: all(map(gone, ranks)), 'the end of the ranks')
    with hurried():
        result = finish(process)
    assert result.status == 0 and read('out.npy') == undisturbed(*SLOW)[1] and not os.path.exists('out.npy.journal'), result
    assert lines_of_hdss(result) == [AGAIN] and report()['faults']['resumed_iterations'] > 0, (result, report())


def test_a_run_goes_on_as_often_as_it_may():
    reference = undisturbed(*LONG)
    process = start([HDSS, 'run', '--workers', '2', '--restarts', '1', *STEADY, '--output', 'out.npy', *LONG])
    lose_the_supermaster(process, 2)
    result = finish(process)
    said = lines_of_hdss(result)
    assert result.status == 1 and not result.out and len(said) == 2 and said[0].endswith('starting again where it was, 1 of 1 times'), result
    assert '1 times, which is all that --restarts allows' in said[1] and said[1].endswith('--resume goes on with what is stored'), result
    check(resume(0, 3, LONG), reference)
    os.remove('out.npy')
    process = start([HDSS, 'run', '--workers', '2', '--restarts', '0', *STEADY, '--output', 'out.npy', *LONG])
    lose_the_supermaster(process)
    result = finish(process)
    assert result.status == 1 and not result.out and len(lines_of_hdss(result)) == 1 and '--resume goes on' in result.raw_err, result
    check(resume(0, 3, LONG), reference)


def test_tasks_are_printed_and_counted_once():
    command = f'command=echo {{}}; [ {{}} -le 10 ] || {UNTIL_HURRY}'
    process = start([HDSS, 'run', '--workers', '3', '--report', 'report.json', 'exec', command, 'shell=yes', 'count=60'])
    lose_the_supermaster(process, path='exec.out.journal')
    with hurried():
        result = finish(process)
    assert result.status == 0 and lines_of_hdss(result) == [AGAIN] and result.out.count('60 submitted = 60 done') == 1, result
    with open('exec.out') as file:
        printed = file.read().split()
    assert printed == [str(i) for i in range(1, 61)], printed
    assert report()['done'] == 60 and os.listdir('.').count('exec.out.journal') == 0, report()
    # those that fail are no loss
    result = run([HDSS, 'run', '--workers', '2', '--overwrite', 'exec', 'command=false {}', 'count=3'])
    assert result.status == 3 and not lines_of_hdss(result), result


def test_a_run_that_is_asked_to_stop_is_not_started_again():
    words = ['--power', 'equal', '--technique', 'ss', '--output', 'out.npy', 'synthetic', 'iterations=2000', 'mean=2e6', 'distribution=constant',
             'mode=sleep']
    process = start([HDSS, 'run', '--workers', '2', *words])
    wait_until(lambda: os.path.exists('out.npy') and len(ranks_of(process, WORKER)) == 2, 'the workers')
    wait_until(lambda: catches(pid_of(process, SUPERMASTER), signal.SIGUSR1), 'the handlers')
    process.send_signal(signal.SIGINT)
    kill_the_supermaster(process)
    result = finish(process)
    assert result.status in (1, 4) and 'starting again' not in result.raw_err, result
    process = start([HDSS, 'run', '--workers', '2', '--overwrite', *words])
    wait_until(lambda: len(ranks_of(process, WORKER)) == 2, 'the workers')
    for number in (signal.SIGINT, signal.SIGINT):
        process.send_signal(number)
    result = finish(process)
    assert result.status != 0 and 'starting again' not in result.raw_err, result


def write_launcher(script):
    """A launcher that notes its words, and goes on as it is told."""
    with open('launcher', 'w') as file:
        file.write(f'#!/bin/sh\n[ "$1" = --version ] && exit\necho "$*" >> launches\nn=$(wc -l < launches)\n{script}\n')
    os.chmod('launcher', 0o755)


def launches_of(result):
    with open('launches') as file:
        noted = file.read().splitlines()
    os.remove('launches')
    return noted, lines_of_hdss(result)


BEGUN = 'printf "\\nbegun $$\\n" >$HDSS_STATUS_FILE'


def test_what_is_started_again_and_what_is_not():
    killed_run()
    head = read('out.npy.journal')[:head_of('out.npy.journal')]
    for done in (0, 10, 20, 30):
        with open(f'{done}.j', 'wb') as file:
            file.write(with_one_record(head, 0, done, 16 * '0') if done else head)
    line = [HDSS, 'run', '--mpirun', './launcher', '--workers', '2', '--overwrite', '--output', 'o.npy', 'synthetic']

    def attempt(script, *more):
        if os.path.exists('o.npy.journal'):
            os.remove('o.npy.journal')
        write_launcher(script)
        result = run([*line[:2], *more, *line[2:]])
        noted, said = launches_of(result)
        # the first start that has left a journal is gone on with, and the option stands behind --overwrite
        assert '--resume' not in noted[0] and all(re.search('--overwrite .*--resume', words) for words in noted[1:] if 'a rank was' not in result.raw_err), noted
        return result.status, len(noted), said

    # What the run says itself is its end, as is what it has said before it was lost.
    for status in (0, 1, 2, 3, 4):
        assert attempt(f'cp 10.j o.npy.journal; {BEGUN}; printf "\\nlead {status}\\n" >$HDSS_STATUS_FILE; exit 0')[:2] == (status, 1)
    status, launches, said = attempt(f'cp 10.j o.npy.journal; {BEGUN}; echo done >$HDSS_SUMMARY_FILE; exit 137')
    assert (status, launches) == (1, 1) and '; its summary was printed, and it is not started again; the same line with --resume' in said[-1], said
    # A launcher that cannot start anything is no better the next time.
    assert attempt('echo no >&2; exit 1')[:2] == attempt('exit 213')[:2] == (1, 1)
    # Open MPI's says nothing where it was sent a signal.
    assert attempt('exit 1') == (4, 1, ['hdss: stopped before the run had begun'])
    # As long as something is recorded it goes on, three times.
    more = '[ $n -gt 4 ] || cp $(((n - 1) * 10)).j o.npy.journal'
    status, launches, said = attempt(f'{more}; {BEGUN}; exit 137')
    assert (status, launches) == (1, 4) and 'it was started again 3 times' in said[-1], said
    assert [text.endswith(f'starting again where it was, {i} of 3 times') for i, text in enumerate(said[:3], 1)] == 3 * [True], said
    assert attempt(f'{more}; {BEGUN}; exit 137', '--restarts', '2')[:2] == (1, 3)
    assert attempt(f'{more}; {BEGUN}; exit 137', '--restarts', '0')[:2] == (1, 1)
    # One that records nothing any more does not.
    status, launches, said = attempt(f'cp 20.j o.npy.journal; {BEGUN}; exit 137')
    assert (status, launches) == (1, 2) and 'as the last start recorded nothing; the same line with --resume' in said[-1], said
    # Without its journal there is nothing to go on from; a refusal of a later start is a failure of the run.
    status, launches, said = attempt(f'{BEGUN}; exit 137')
    assert (status, launches) == (1, 1) and 'as o.npy.journal cannot be read to go on from' in said[-1], said
    assert attempt(f'cp 20.j o.npy.journal; [ $n = 1 ] || exit 2; {BEGUN}; exit 137')[:2] == (1, 2)
    # A signal between two starts is for the next one.
    status, launches, said = attempt(f'cp 10.j o.npy.journal; {BEGUN}; kill -INT $PPID; exit 137')
    assert (status, launches) == (1, 1) and 'starting again' not in ''.join(said), said
    # Where no journal is kept nothing is said of it.
    line = [HDSS, 'run', '--mpirun', './launcher', '--workers', '2', '--overwrite', '--output', 'o.npy', '--journal', 'off', 'synthetic']
    status, launches, said = attempt(f'{BEGUN}; exit 137')
    assert (status, launches, said[-1]) == (1, 1, 'hdss: a process of the run was ended by SIGKILL'), said
    result = run([HDSS, 'run', '--restarts', '1', 'synthetic'])
    assert result.status == 2 and '--journal FILE' in result.raw_err, result


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
    refused(run(mpirun_line([(1, [WORKER, '--dca', 'rma', '--overwrite', '--output', 'out.npy', *SLOW])])), 'out.npy: another run is writing it')
    assert process.poll() is None, finish(process)
    process.send_signal(signal.SIGUSR1)
    result = finish(process)
    assert result.status == 4 and any(read('out.npy')[128:]), result
    with hurried():
        assert run_job(0, 1, ['--power', 'equal', *words]).status == 0


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
