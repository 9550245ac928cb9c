# SPDX-License-Identifier: MIT
"""Wrong use: one line (what, where, what is accepted), exit status 2 on behalf of all ranks, nothing hangs, nothing is left behind."""
import os

from launch import HDSS, MASTER, SUPERMASTER, WORKER, fork_line, job as job_line, main, mpirun_line, rank_of_tests, run, run_job

OTHER_WORKER = os.environ.get('OTHER_WORKER', '')


def check(result, *fragments, status=2):
    assert result.status == status, result
    assert len(result.err) == 1, result
    for fragment in fragments:
        assert fragment in result.err[0], f'{fragment!r} is not in {result.err[0]!r}'
    return result


def job(*words, **options):
    return run_job(0, 2, words, **options)


def test_what_is_wrong_is_told_once_for_all_ranks():
    """Each kind of mistake once, by who finds it; unit tests have all the lines."""
    check(run_job(2, 3, ['--technique', 'nope', 'synthetic']), '--technique', "'nope'", 'static', 'dgss')
    check(job('--iterations', '5000:5001', 'synthetic', 'iterations=10000'), '--iterations', '10000')
    check(job('synthetic', 'distribution=file', 'file=absent'), 'absent', 'No such file')
    check(job('--output', 'line.png', 'synthetic'), 'line.png')
    check(run(fork_line([(1, [SUPERMASTER, 'synthetic']), (3, [WORKER, '--slowdown', '0.5'])])), '--slowdown', '0.5', '1')


def test_line_ups():
    check(run(fork_line([(2, [SUPERMASTER, 'synthetic']), (2, [WORKER])])), '2 supermasters')
    check(run(fork_line([(2, [MASTER]), (2, [WORKER])])), 'begins with the rank that leads')
    check(run(fork_line([(1, [SUPERMASTER, 'synthetic']), (2, [MASTER])])), 'no worker')
    result = run(fork_line([(1, [SUPERMASTER, 'synthetic']), (2, [WORKER, '--dca', 'rma', 'synthetic'])]))
    check(result, '--dca', 'supermaster')


def test_line_ups_over_mpi():
    check(run(mpirun_line([(2, [MASTER]), (2, [WORKER])])), 'no supermaster')
    check(run(mpirun_line([(1, [SUPERMASTER, 'synthetic']), (2, [MASTER])])), 'no worker')
    for contexts in ([(1, [SUPERMASTER, '--help']), (3, [WORKER])], [(1, [SUPERMASTER, 'synthetic']), (3, [WORKER, '--version'])]):
        check(run(mpirun_line(contexts)), 'in a line that launches other programs, too')
    check(run(mpirun_line([(1, [SUPERMASTER, 'synthetic']), (0, [MASTER]), (2, [WORKER])])), '-n 0: mpirun would start')
    result = run(mpirun_line([(3, [SUPERMASTER, '--help'])]))
    assert result.status == 0 and result.out.count('Usage: supermaster') == 1, result


def test_versions_that_differ():
    if not OTHER_WORKER:
        return 'no worker of another version was built'
    result = run(fork_line([(1, [SUPERMASTER, 'synthetic']), (1, [WORKER]), (1, rank_of_tests('OTHER_WORKER'))]))
    check(result, 'rank 2', '99.0.0', 'one installation')


def test_a_wrong_command_line_leaves_the_old_output_alone():
    with open('old.npy', 'w') as file:
        file.write('precious')
    check(job('--output', 'old.npy', '--overwrite', '--technique', 'nope', 'synthetic'), 'nope')
    check(run(fork_line([(1, [SUPERMASTER, '--output', 'old.npy', '--overwrite', 'synthetic'])])), 'no worker')
    check(job('--output', 'old.npy', '--overwrite', '--power', 'missing', 'synthetic'), 'missing')
    with open('old.npy') as file:
        assert file.read() == 'precious'


def test_finished_results_are_replaced_only_where_that_is_wanted():
    words = ['--output', 'result.csv', 'synthetic', 'iterations=10']
    assert job(*words).status == 0
    before = os.stat('result.csv')
    said = 'result.csv is there already; accepted: --overwrite to replace it, or another name'
    for line in (job_line(0, 2, words), fork_line([(2, [WORKER, '--dca', 'rma', *words])])):
        check(run(line, begins_anew=False), said)
    for more in ([], ['--dry-run'], ['--journal', 'off']):
        result = run([HDSS, 'run', '-j', 2, *more, *words], begins_anew=False)
        assert result.status == 2 and result.err == ['hdss run: ' + said], result
    assert os.stat('result.csv').st_ino == before.st_ino and os.stat('result.csv').st_mtime_ns == before.st_mtime_ns
    assert run([HDSS, 'run', '-j', 2, '--overwrite', *words]).status == 0 and os.stat('result.csv').st_ino != before.st_ino
    with open('tasks', 'w') as file:
        file.write('echo 1\n')
    tasks = [HDSS, 'run', '-j', 2, 'exec', 'tasks=tasks']
    assert run(tasks).status == 0
    os.remove('tasks.out')
    result = run(tasks, begins_anew=False)  # its log is there
    assert result.status == 2 and 'tasks.log is there already' in result.err[0], result
    open('empty', 'w').close()
    result = run([*tasks[:4], '--output', 'empty', *tasks[4:]], begins_anew=False)
    assert result.status == 0, result


def test_pages_are_printed_once():
    result = run(fork_line([(3, [SUPERMASTER, '--help'])]))
    assert result.status == 0 and result.out.count('Usage: supermaster') == 1, result
    for program in (SUPERMASTER, MASTER, WORKER):
        result = run([program, '--version'])
        assert result.status == 0 and result.out.strip(), result
        result = run([program, '--help'])
        assert result.status == 0 and 'Usage' in result.out, result
        check(run([program, '--nonsense']), '--nonsense')


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
