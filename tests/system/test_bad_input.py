# SPDX-License-Identifier: MIT
"""Wrong use: one line (what, where, what is accepted), exit status 2 on behalf of all ranks, nothing hangs, nothing is left behind."""
import os

from launch import HDSS, MASTER, SUPERMASTER, WORKER, job as job_line, long, main, mpirun_line, run, run_job

OTHER_WORKER = os.environ.get('OTHER_WORKER', '')


def check(result, *fragments, status=2):
    assert result.status == status, result
    assert len(result.err) == 1, result
    for fragment in fragments:
        assert fragment in result.err[0], f'{fragment!r} is not in {result.err[0]!r}'
    return result


def job(*words, **options):
    return run_job(0, 2, words, **options)


def test_unknown_technique():
    check(job('--technique', 'nope', 'synthetic'), '--technique', "'nope'", 'static', 'dgss')


@long
def test_technique_parameters():
    check(job('--technique', 'css:chunk=0', 'synthetic'), 'css', 'chunk', '0')
    check(job('--technique', 'css:chunk=x', 'synthetic'), 'chunk', 'x')
    check(job('--technique', 'css:size=5', 'synthetic'), 'size', 'chunk')
    check(job('--technique', 'gss:round=up', 'synthetic'), 'round', 'up', 'ceil', 'floor')
    check(job('--technique', 'tss:first=nan', 'synthetic'), 'first', 'nan')


def test_unknown_kernel():
    check(job('fractal'), 'fractal', 'mandelbrot', 'adjoint', 'synthetic')


def test_missing_kernel():
    check(job(), 'hdss kernels')


@long
def test_kernel_parameters():
    check(job('mandelbrot', 'wide=3'), 'wide', 'width')
    check(job('mandelbrot', 'width=0'), 'width', '0', '1')
    check(job('mandelbrot', 'width=ten'), 'width', 'ten')
    check(job('mandelbrot', 'unit=diagonal'), 'unit', 'diagonal', 'row')
    check(job('mandelbrot', 'width'), 'width', '=')
    check(job('mandelbrot', 'width=5', 'width=6'), 'width')
    check(job('mandelbrot', 'xmin=2', 'xmax=1'), 'xmin', 'xmax')


@long
def test_option_values():
    check(job('--min-chunk', '-1', 'synthetic'), '--min-chunk', '-1')
    check(job('--weighting', 'heavy', 'synthetic'), '--weighting', 'heavy', 'power')
    check(job('--ask-ahead', '99', 'synthetic'), '--ask-ahead', '99', 'auto')
    check(job('--group-by', 'rack', 'synthetic'), '--group-by', 'rack', 'node')
    check(job('--iterations', '5', 'synthetic'), '--iterations', '5')
    check(job('--iterations', '5000:5001', 'synthetic', 'iterations=10000'), '--iterations', '10000')
    check(job('--progress', 'sometimes', 'synthetic'), '--progress', 'sometimes', 'auto')
    check(job('--tecnique', 'gss', 'synthetic'), '--tecnique', '--technique')


def test_line_ups():
    check(run(mpirun_line([(2, [SUPERMASTER, 'synthetic']), (2, [WORKER])])), '2 supermasters')
    check(run(mpirun_line([(2, [MASTER]), (2, [WORKER])])), 'no supermaster')
    check(run(mpirun_line([(3, [WORKER])])), 'no supermaster')
    check(run(mpirun_line([(1, [SUPERMASTER, 'synthetic']), (2, [MASTER])])), 'no worker')
    check(run(mpirun_line([(1, [SUPERMASTER, 'synthetic'])])), 'no worker')
    check(run(mpirun_line([(2, [MASTER])])), 'no supermaster')


def test_dca_beside_a_supermaster():
    check(run_job(0, 0, ['synthetic']), 'no worker')
    result = run(mpirun_line([(1, [SUPERMASTER, 'synthetic']), (2, [WORKER, '--dca', 'rma', 'synthetic'])]))
    check(result, '--dca', 'supermaster')
    check(run(mpirun_line([(2, [WORKER, '--dca', 'sideways'])])), '--dca', 'sideways', 'rma')


def test_versions_that_differ():
    if not OTHER_WORKER:
        return 'no worker of another version was built'
    result = run(mpirun_line([(1, [SUPERMASTER, 'synthetic']), (1, [WORKER]), (1, [OTHER_WORKER])]))
    check(result, 'rank 2', '99.0.0', 'one installation')


def test_worker_and_master_options():
    check(run(mpirun_line([(1, [SUPERMASTER, 'synthetic']), (3, [WORKER, '--slowdown', '0.5'])])), '--slowdown', '0.5', '1')
    check(run(mpirun_line([(1, [SUPERMASTER, 'synthetic']), (2, [MASTER, '--technique', 'gss']), (1, [WORKER])])), '--technique')


def test_outputs_that_cannot_be():
    check(job('--output', 'picture.jpeg', 'mandelbrot'), 'picture.jpeg', '.npy', '.png')
    check(job('--output', 'no/such/folder/x.npy', 'mandelbrot'), 'no/such/folder/x.npy', 'there is no folder no/such/folder')
    os.mkdir('folder.npy')
    check(job('--output', 'folder.npy', 'mandelbrot'), 'folder.npy')
    check(job('--report', 'no/such/folder/x.json', 'mandelbrot'), '--report', 'no/such/folder/x.json')
    check(job('--output', 'line.png', 'synthetic'), 'line.png')


def test_a_wrong_command_line_leaves_the_old_output_alone():
    with open('old.npy', 'w') as file:
        file.write('precious')
    check(job('--output', 'old.npy', '--overwrite', '--technique', 'nope', 'synthetic'), 'nope')
    check(run(mpirun_line([(1, [SUPERMASTER, '--output', 'old.npy', '--overwrite', 'synthetic'])])), 'no worker')
    check(job('--output', 'old.npy', '--overwrite', '--power', 'missing', 'synthetic'), 'missing')
    with open('old.npy') as file:
        assert file.read() == 'precious'


def test_finished_results_are_replaced_only_where_that_is_wanted():
    words = ['--output', 'result.csv', 'synthetic', 'iterations=10']
    assert job(*words).status == 0
    before = os.stat('result.csv')
    said = 'result.csv is there already; accepted: --overwrite to replace it, or another name'
    for line in (job_line(0, 2, words), mpirun_line([(2, [WORKER, '--dca', 'rma', *words])])):
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


@long
def test_power_files():
    def powers(text):
        with open('powers', 'w') as file:
            file.write(text)
        return job('--power', 'powers', 'synthetic')
    check(job('--power', 'equl', 'synthetic'), '--power', 'equl', 'measure', 'No such file')
    check(job('--power', '/dev/zero', 'synthetic'), '--power', '/dev/zero', 'not a regular file')
    check(powers('1 1\n'), 'powers', 'rank 2')
    check(powers('1 1\n2 fast\n'), 'powers', '2', 'fast')
    check(powers('1 1\n2 -3\n'), 'powers', '-3')
    check(powers('1 1\n1 2\n2 1\n'), 'powers', '2')
    check(powers('1 1\n2 1\n7 1\n'), 'powers', '7')


def test_files_of_costs():
    check(job('synthetic', 'distribution=file', 'file=absent'), 'absent')
    check(job('synthetic', 'distribution=file', 'file=/dev/zero', 'iterations=3'), '/dev/zero', 'not a regular file')
    with open('costs', 'wb') as file:
        file.write(b'1\n' + bytes(1000) + b'\n2\n')
    check(job('synthetic', 'distribution=file', 'file=costs', 'iterations=2'), 'costs', 'line 2')
    with open('costs', 'w') as file:
        file.write('1\n2\nthree\n')
    check(job('synthetic', 'distribution=file', 'file=costs'), 'costs', '3', 'three')


def test_files_of_points():
    check(job('spinimage', 'file=absent.ply'), 'absent.ply', 'No such file')
    with open('cut.off', 'w') as file:
        file.write('OFF\n3 1 0\n0 0 0\n1 0 0\n0 1')
    check(job('spinimage', 'file=cut.off'), 'cut.off', 'line 5', 'the file ends')
    header = b'ply\nformat binary_little_endian 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\nend_header\n'
    with open('nan.ply', 'wb') as file:
        file.write(header + bytes(20) + b'\xff\xff\xff\xff')
    check(job('spinimage', 'file=nan.ply'), 'nan.ply', f'byte {len(header) + 20}', 'nan')


def test_the_collapse_of_a_sphere():
    check(job('evrard', 'steps=0'), 'steps=0', 'from 1 to')
    check(job('evrard', 'particles=10000', 'steps=100'), 'steps=100', 'from 851 on', 'end_time=')


def test_pages_are_printed_once():
    result = run(mpirun_line([(1, [SUPERMASTER, '--help']), (3, [WORKER])]))
    assert result.status == 0 and result.out.count('Usage: supermaster') == 1, result
    result = run(mpirun_line([(1, [SUPERMASTER, 'synthetic']), (3, [WORKER, '--version'])]))
    assert result.status == 0 and result.out.count('worker') == 1, result
    for program in (SUPERMASTER, MASTER, WORKER):
        result = run([program, '--version'])
        assert result.status == 0 and result.out.strip(), result
        result = run([program, '--help'])
        assert result.status == 0 and 'Usage' in result.out, result
        check(run([program, '--nonsense']), '--nonsense')


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
