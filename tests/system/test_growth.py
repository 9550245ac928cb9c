# SPDX-License-Identifier: MIT
"""Loops that grow while they run: a list is computed while it is written, in processes of their own and without them, and the run ends with it."""
import os
import signal

from launch import HDSS, SUPERMASTER, finish, job, journal_is_over, main, ranks_of, report, run, start, wait_until

GROWING = os.environ['GROWING']


def lines(first, end):
    return ''.join(f'line {i}\n' for i in range(first, end))


def append(text):
    with open('list', 'a') as file:
        file.write(text)


def read(path):
    with open(path, 'rb') as file:
        return file.read().decode('latin-1')


def await_line(process, i):
    """Waits until it is computed."""
    def is_there():
        assert process.poll() is None, finish(process)
        folder = 'out.txt.parts'
        names = os.listdir(folder) if os.path.isdir(folder) else []
        return any(f'line {i}\n' in read(os.path.join(folder, name)) for name in names if not name.endswith('.tmp'))
    wait_until(is_there, f'line {i}')


def words(*more):
    return ['--output', 'out.txt', '--report', 'report.json', *more, GROWING, 'list=list']


def refused(line, *options):
    """Before anything is launched."""
    result = run([HDSS, 'run', '--workers', '2', *words(*options)])
    assert result.status == 2 and len(result.err) == 1 and result.err[0].startswith(f'hdss run: {line}'), result


def test_a_list_is_computed_while_it_is_written():
    for masters, isolate in ((0, 'off'), (1, 'auto')):
        append(lines(0, 2))
        process = start(job(masters, 2, words('--isolate', isolate)))
        await_line(process, 1)
        append(lines(2, 40) + 'line')  # the last one is not complete
        await_line(process, 39)
        append(' 40\n')
        await_line(process, 40)
        append(lines(41, 90) + '\\.\n')
        result = finish(process)
        assert result.status == 0 and read('out.txt') == lines(0, 90), result
        assert report()['iterations'] == report()['done'] == 90 and 'done' in result.out, result
        os.remove('list')


def test_an_empty_list_may_turn_out_to_be_complete():
    append('')
    process = start(job(0, 1, words()))
    wait_until(lambda: os.path.exists('out.txt.journal') or process.poll() is not None, 'the run')
    append('\\.\n')
    result = finish(process)
    assert result.status == 0 and read('out.txt') == '', result


def test_what_cannot_grow_is_refused():
    append(lines(0, 3))
    lists = 'or a list that is complete'
    for options, line in ((('--technique', 'gss'), f'--technique: gss cuts by the number of iterations, which is not known yet as the loop of this growing '
                           f'grows; accepted: ss, {lists}'),
                          (('--iterations', '0:2'), f'--iterations: the loop of this growing grows while it runs; accepted: all of it, {lists}')):
        refused(f'{line}', *options)
    refused('--dca: the loop of this growing grows while it runs; accepted are lists that are complete, or a supermaster', '--dca', 'node')
    shown = run([HDSS, 'run', '--workers', '2', '--dry-run', *words()])
    assert shown.status == 0 and '3 tasks so far' in shown.out + shown.raw_err, shown
    shown = run([HDSS, 'kernels', GROWING, 'list=list'])
    assert shown.status == 0 and 'loop    3 iterations so far' in shown.out, shown
    assert not os.path.exists('out.txt.journal') and not os.path.exists('out.txt.parts')


def test_lines_wait_for_others():
    """More of them than one answer of the process that describes the kernel tells."""
    append(lines(0, 20010) + '\\.\n')
    result = run([HDSS, 'run', '--workers', 1, *words('--iterations', '0:20009'), 'after=1'])
    assert result.status == 2 and 'some tasks of this growing wait for others; accepted: all of them' in result.raw_err, result
    os.remove('list')
    append(lines(0, 3) + '\\.\n')
    result = run(job(0, 2, [*words('--technique', 'ss'), 'after=2']))
    assert result.status == 0 and read('out.txt') == lines(0, 3), result


def test_a_list_that_shrinks_ends_the_run():
    append(lines(0, 3))
    process = start(job(0, 1, [*words(), 'shrinks_at=4']))
    await_line(process, 2)
    append(lines(3, 4))
    result = finish(process)
    assert result.status == 1 and any('growing: grow() says 1 iterations after 3; accepted: no less' in one for one in result.err), result


def test_a_list_is_gone_on_with():
    append(lines(0, 3))
    process = start(job(0, 2, words()))
    await_line(process, 2)
    append(lines(3, 5))
    await_line(process, 4)
    os.kill(ranks_of(process, SUPERMASTER)[0], signal.SIGTERM)
    result = finish(process)
    assert 'stopped by a signal after a clean drain' in result.out and '5 of 5 tasks so far' in result.out and '--resume goes on' in result.out, result
    for text, line in ((lines(0, 3) + 'line x\n' + lines(4, 6), 'list: task 4 has changed since the run that out.txt.journal is of; accepted: '),
                       (lines(0, 3), 'list: there are 3 tasks, and out.txt.journal is of a run that knew of 5; accepted: ')):
        os.remove('list')
        append(text + '\\.\n')
        refused(line, '--resume')
    os.remove('list')
    append(lines(0, 6))  # it is still being written
    process = start(job(1, 2, words('--resume')))
    await_line(process, 5)
    append(lines(6, 10) + '\\.\n')
    result = finish(process)
    assert result.status == 0 and read('out.txt') == lines(0, 10) and report()['faults']['resumed_iterations'] == 5, result
    assert 'supermaster: list has 1 new line since the earlier run: it runs too' in result.err, result


def test_a_complete_list_is_gone_on_with():
    """Also by a run that is killed: what the complete one has left is no less there."""
    append(lines(0, 3) + '\\.\n')
    result = run(job(0, 2, words()))
    assert result.status == 0 and journal_is_over('out.txt.journal'), result
    os.remove('list')
    append(lines(0, 5))
    process = start(job(0, 2, words('--resume')))
    await_line(process, 4)
    os.kill(ranks_of(process, SUPERMASTER)[0], signal.SIGKILL)
    assert finish(process).status != 0 and read('out.txt') == lines(0, 3)
    append(lines(5, 8) + '\\.\n')
    result = run(job(1, 2, words('--resume')))
    assert result.status == 0 and read('out.txt') == lines(0, 8) and journal_is_over('out.txt.journal'), result
    assert 3 <= report()['faults']['resumed_iterations'] < 8 and report()['done'] == 8, report()
    again = run(job(1, 2, words('--resume')))
    assert again.status == 0 and again.err == ['supermaster: out.txt is complete: nothing is left to do'], again


if __name__ == '__main__':
    main([test_a_list_is_computed_while_it_is_written, test_an_empty_list_may_turn_out_to_be_complete, test_what_cannot_grow_is_refused,
          test_lines_wait_for_others, test_a_list_that_shrinks_ends_the_run, test_a_list_is_gone_on_with,
          test_a_complete_list_is_gone_on_with])
