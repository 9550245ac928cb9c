# SPDX-License-Identifier: MIT
"""Loops that grow while they run: a list is computed while it is written, in processes of their own and without them, and the run ends with it."""
import os

from launch import WORKER, finish, job, main, mpirun_line, report, run, run_job, start, wait_until

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
        return any(f'line {i}\n' in read(os.path.join(folder, name)) for name in names)
    wait_until(is_there, f'line {i}')


def words(*more):
    return ['--output', 'out.txt', '--report', 'report.json', *more, GROWING, 'list=list']


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
        result = run_job(0, 1, words(*options))
        assert result.status == 2 and result.err == [f'supermaster: {line}'], result
    result = run(mpirun_line([(2, [WORKER, '--dca', 'node', *words()])]))
    assert result.status == 2 and 'the loop of this growing grows while it runs; accepted are lists that are complete' in result.raw_err, result
    assert not os.path.exists('out.txt.journal') and not os.path.exists('out.txt.parts')


def test_a_list_that_shrinks_ends_the_run():
    append(lines(0, 3))
    process = start(job(0, 1, [*words(), 'shrinks_at=4']))
    await_line(process, 2)
    append(lines(3, 4))
    result = finish(process)
    assert result.status == 1 and any('growing: grow() says 1 iterations after 3; accepted: no less' in one for one in result.err), result


if __name__ == '__main__':
    main([test_a_list_is_computed_while_it_is_written, test_an_empty_list_may_turn_out_to_be_complete, test_what_cannot_grow_is_refused,
          test_a_list_that_shrinks_ends_the_run])
