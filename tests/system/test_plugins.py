# SPDX-License-Identifier: MIT
"""Kernels of one's own: the examples, built against the installed header; variable output in every topology, of any size, through losses and
resumed runs; what is no kernel; kernels in Python, with and without the module for it.
"""
import atexit
import functools
import glob
import os
import re
import shutil
import signal
import sys
import tempfile
import zlib

from journals import head_of
from launch import (HDSS, MASTER, SUPERMASTER, WORKER, finish, job, kill_tree, let_user_code_crash, main, mpirun_line, python_is_there, ranks_of,
                    report, run, run_job, start, wait_until)
from openmpi import RECOVERING
from results import read

MESON, BUILD_ROOT, SOURCE = os.environ.get('MESON', ''), os.environ['BUILD_ROOT'], os.environ['SOURCE_ROOT']
EXAMPLES = os.path.join(SOURCE, 'deploy/examples/kernels')
os.environ.pop('HDSS_MODULES', None)  # modules are found without it
EQUAL = ['--power', 'equal']


@functools.cache
def scratch():
    folder = tempfile.mkdtemp(prefix='hdss-plugins-')
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def install(stage):
    result = run([MESON, 'install', '-C', BUILD_ROOT, '--no-rebuild', '--quiet', '--destdir', stage])
    assert result.status == 0, result


@functools.cache
def header_flags():
    """As pkg-config says them of an installation, where there is one to be had; else the include path."""
    if not MESON or not shutil.which('pkg-config'):
        return ['-I', os.path.join(SOURCE, 'common/include')]
    stage = os.path.join(scratch(), 'stage')
    install(stage)
    found = [folder for folder, _, names in os.walk(stage) if 'hdss-kernel.pc' in names]
    assert len(found) == 1, found
    examples = [names for folder, _, names in os.walk(stage) if folder.endswith('examples/kernels')]
    assert examples and set(examples[0]) == {name for name in os.listdir(EXAMPLES) if os.path.isfile(os.path.join(EXAMPLES, name))}, examples
    said = run(['env', f'PKG_CONFIG_PATH={found[0]}', f'PKG_CONFIG_SYSROOT_DIR={stage}', 'pkg-config', '--cflags', 'hdss-kernel'])
    assert said.status == 0 and stage in said.out, said
    return said.out.split()


@functools.cache
def built(compiler, name, *sources, flags=()):
    path = os.path.join(scratch(), name)
    made = run([compiler, '-O1', '-shared', '-fPIC', '-Wall', *flags, *header_flags(), *sources, '-o', path], cwd=scratch())
    assert made.status == 0 and not made.err, made
    return path


def example(compiler, name, *sources):
    return built(compiler, name, *[os.path.join(EXAMPLES, source) for source in sources])


def tricky():
    return built('cc', 'tricky.so', os.path.join(SOURCE, 'tests/system/tricky.c'))


def flat(workers, dca, words):
    return run(mpirun_line([(workers, [WORKER, '--dca', dca, *words])]))


def launches(words):
    """The job in every topology."""
    yield 'central', run_job(0, 2, words)
    yield 'hierarchical', run_job(2, 3, words)
    for dca in ('two-sided', 'rma', 'node'):
        yield dca, flat(2, dca, words)


def expected(iterations, letters, large_at=-1, large=0):
    lines = [b'%d %s\n' % (i, bytes([97 + i % 26]) * (large if i == large_at else letters)) for i in range(iterations)]
    return b''.join(lines), b'heading\n' + b'seven\n' * ((iterations + 6) // 7)


def check_output(wanted, path='out.txt'):
    for name, content in ((path, wanted[0]), (path + '.err', wanted[1])):
        assert read(name) == content, f'{name}: {len(read(name))} bytes, {zlib.crc32(read(name)):x}; wanted {len(content)}'
    assert not os.path.exists(path + '.parts'), 'the parts stay'


def test_the_example_in_c():
    kernel, outputs = example('cc', 'collatz.so', 'collatz.c'), set()
    for topology, result in launches([*EQUAL, '--output', 'steps.bin', kernel, 'count=3000']):
        assert result.status == 0, (topology, result)
        outputs.add((result.checksum(), read('steps.bin')))
    assert len(outputs) == 1
    steps = memoryview(read('steps.bin')).cast('I')
    assert (steps[0], steps[26], steps[96]) == (0, 111, 118)


def test_the_example_in_cpp():
    if not shutil.which('c++'):
        return 'no C++ compiler'
    kernel = example('c++', 'factors.so', 'factors.cpp')
    for topology, result in launches([*EQUAL, '--output', 'factors.txt', kernel, 'count=999']):
        assert result.status == 0, (topology, result)
        lines = read('factors.txt').decode().splitlines()
        assert len(lines) == 999 and lines[358] == '360 = 2 * 2 * 2 * 3 * 3 * 5' and lines[995] == '997 = 997', topology
        assert len(read('factors.txt.primes').splitlines()) == 1 + 168, topology
        assert result.checksum(), topology


def test_the_example_in_fortran():
    if not shutil.which('gfortran'):
        return 'no gfortran'
    kernel, outputs = example('gfortran', 'orbit.so', 'orbit.f90', 'orbit.c'), set()
    for topology, result in launches([*EQUAL, '--output', 'orbit.npy', kernel, 'columns=90', 'kept=20']):
        assert result.status == 0, (topology, result)
        outputs.add((result.checksum(), read('orbit.npy')))
    assert len(outputs) == 1


def heat(cells, steps, rate=0.25):
    """What the example yields, step after step."""
    row, rows = [1.0 if cells // 3 <= i < cells - cells // 3 else 0.0 for i in range(cells)], []
    for _ in range(steps):
        around = [0.0, *row, 0.0]
        row = [around[i] + rate * (around[i - 1] - 2 * around[i] + around[i + 1]) for i in range(1, cells + 1)]
        rows += row
    return rows


def test_the_example_with_time_steps():
    kernel, wanted = example('cc', 'heat.so', 'heat.c'), heat(100, 30)
    for masters, workers, options in ((0, 2, []), (2, 3, []), (1, 2, ['--threads', '3'])):
        result = run_job(masters, workers, [*EQUAL, *options, '--report', 'report.json', '--output', 'heat.bin', kernel, 'cells=100', 'steps=30'])
        assert result.status == 0 and '  steps        30: ' in result.out, result
        assert memoryview(read('heat.bin')).cast('d').tolist() == wanted
        assert [sum(step['iterations']) for step in report()['steps']] == 30 * [100], report()['steps']
    for words, line in (
            ([kernel], 'supermaster: heat: its time steps read what those before have yielded: give --output FILE'),
            (['--output', 'heat.npy', kernel, 'steps=0'], 'supermaster: heat: steps=0: accepted: an integer from 1 to 1e6'),
            (['--output', 'heat.npy', '--iterations', '5:9', kernel], 'supermaster: --iterations 5:9: the time steps of heat build upon one another;')):
        result = run_job(1, 1, words)
        assert result.status == 2 and len(result.err) == 1 and result.err[0].startswith(line), result
    result = flat(2, 'rma', ['--output', 'heat.npy', kernel])
    assert result.status == 2 and result.err == ['worker: --dca: heat has time steps; accepted are loops of one step, or a supermaster'], result


def refusing_kernel():
    """The example, but that it refuses the fourth step."""
    with open(os.path.join(EXAMPLES, 'heat.c'), encoding='utf-8') as file:
        source = file.read()
    begin = '    if (number > 0)\n'
    assert source.count(begin) == 1
    with open('refusing.c', 'w', encoding='utf-8') as file:
        file.write(source.replace(begin, '    if (number == 3) {\n        strcpy(error, "too hot");\n        return -1;\n    }\n' + begin))
    return built('cc', 'refusing.so', os.path.abspath('refusing.c'))


def test_a_step_that_is_refused_ends_the_run():
    kernel = refusing_kernel()
    for masters, options in ((0, []), (1, []), (0, ['--threads', '2']), (1, ['--threads', '2'])):
        result = run_job(masters, 2, [*EQUAL, *options, '--output', 'heat.bin', '--report', 'report.json', '--overwrite', kernel, 'cells=40', 'steps=10'])
        assert result.status == 1 and len(result.err) == 1, result
        assert re.fullmatch(r'supermaster: rank \d: time step 3: too hot', result.err[0]), result
        assert report()['done'] == 120 and report()['failed'] == [], report()


def test_time_steps_go_on_after_losses_and_ends():
    kernel, words = example('cc', 'heat.so', 'heat.c'), ['cells=400', 'steps=4000']
    assert run_job(0, 1, [*EQUAL, '--output', 'whole.bin', kernel, *words]).status == 0
    process = start([HDSS, 'run', '--masters', 1, '--workers', 3, '--slowdown', 1000, *EQUAL, '--output', 'heat.bin', kernel, *words])
    wait_until(lambda: os.path.exists('heat.bin.journal') and os.path.getsize('heat.bin.journal') > head_of('heat.bin.journal'), 'a record')
    os.kill(ranks_of(process, WORKER)[0], signal.SIGKILL)
    wait_until(lambda: len(ranks_of(process, WORKER)) < 3, 'its end')
    process.send_signal(signal.SIGINT)
    result = finish(process)
    assert result.status == 4, result
    result = run_job(0, 2, [*EQUAL, '--resume', '--report', 'report.json', '--output', 'heat.bin', kernel, *words])
    assert result.status == 0 and report()['faults']['resumed_iterations'] > 0, result
    assert read('heat.bin') == read('whole.bin')


def test_a_plugin_is_shown_as_a_built_in_kernel_is():
    shutil.copy(tricky(), 'tricky.so')
    for name in ('./tricky.so', 'tricky.so', os.path.abspath('tricky.so')):
        result = run([HDSS, 'kernels', name, 'iterations=3'])
        assert result.status == 0 and 'tricky: what plug-ins can do' in result.out, result
        assert 'iterations=3' in result.out and 'OUTPUT, OUTPUT.err' in result.out, result
    for words, line in (
            (['iterations=-1'], 'tricky: iterations=-1: accepted: an integer from 0 to 1e9'),
            (['bites=1'], "tricky: unknown parameter 'bites'; did you mean bytes? accepted: "),
            (['large=3'], 'tricky: large=3 wants large_at')):
        result = run([HDSS, 'kernels', './tricky.so', *words])
        assert result.status == 2 and result.err[0].startswith('hdss kernels: ' + line), result
        result = run_job(1, 1, ['./tricky.so', *words])
        assert result.status == 2 and result.err[0].startswith('supermaster: ' + line), result


def test_what_is_no_kernel_is_refused():
    source = os.path.join(SOURCE, 'tests/system/tricky.c')
    with open('empty.c', 'w') as file:
        file.write('int nothing;\n')
    run(['cc', '-shared', '-fPIC', 'empty.c', '-o', 'empty.so'])
    with open('text.so', 'w') as file:
        file.write('no shared object\n')
    cases = [
        ('./absent.so', 'kernel ./absent.so: No such file or directory'),
        ('./text.so', 'kernel ./text.so: file too short; accepted: a shared object, or python:MODULE.FUNCTION'),
        ('./empty.so', 'kernel ./empty.so: is no kernel: it has no symbol hdss_kernel'),
        (built('cc', 'old.so', source, flags=('-DTRICKY_ABI=1',)), 'is built for version 1 of the kernel interface; accepted: 8, build it anew'),
        (built('cc', 'undefined.so', source, flags=('-DTRICKY_NO_DEFAULT',)), 'its parameter until lacks a default, choices, unit or summary'),
    ]
    for name, line in cases:
        result = run_job(0, 1, [name])
        assert result.status == 2 and len(result.err) == 1 and line in result.err[0], result


def test_output_is_the_same_in_every_topology():
    wanted, checksums = expected(500, 30), set()
    for topology, result in launches([*EQUAL, '--output', 'out.txt', '--technique', 'gss', tricky(), 'iterations=500', 'bytes=30']):
        assert result.status == 0, (topology, result)
        check_output(wanted)
        checksums.add(result.checksum())
    without = run_job(1, 2, [tricky(), 'iterations=500', 'bytes=30'])
    assert without.status == 0 and checksums == {without.checksum()}, (checksums, without)


def test_output_of_any_size():
    wanted = expected(300, 20000, 150, 9000000)
    words = ['iterations=300', 'bytes=20000', 'large_at=150', 'large=9000000']
    for masters in (0, 2):
        result = run_job(masters, 2, ['--output', 'out.txt', tricky(), *words])
        assert result.status == 0, result
        check_output(wanted)
    result = run_job(0, 2, ['--output', 'empty.txt', tricky(), 'iterations=0'])
    assert result.status == 0 and read('empty.txt') == b'' and read('empty.txt.err') == b'heading\n', result


def test_an_iteration_that_yields_too_much_is_named():
    if os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_AVPHYS_PAGES') < 8 << 30:
        return 'less than 8 GiB of memory are free'
    result = run_job(0, 1, [*EQUAL, '--retries', '0', '--output', 'out.txt', tricky(), 'iterations=5', 'large_at=3', 'large=2200000000'])
    assert result.status == 3 and '3:1 it yields more than 2 GiB' in result.out, result
    wanted = expected(5, 10)[0].splitlines(keepends=True)
    assert read('out.txt') == b''.join(wanted[:3] + wanted[4:])


def test_an_error_fails_its_iteration_with_its_text():
    result = run_job(1, 2, [*EQUAL, '--output', 'out.txt', '--report', 'report.json', tricky(), 'iterations=100', 'error_at=40'])
    assert result.status == 3 and any('iteration 40 is not to my liking; given up' in line for line in result.err), result
    assert report()['failed'] == [[40, 1]] and report()['failures'][0]['reason'] == 'iteration 40 is not to my liking', report()
    wanted = expected(100, 10)[0].splitlines(keepends=True)
    assert read('out.txt') == b''.join(wanted[:40] + wanted[41:])


def test_a_number_that_no_call_may_return_is_a_failure():
    wanted = expected(100, 10)[0].splitlines(keepends=True)
    for number in (1, 7):
        said = f'run_variable() returned {number}; accepted: 0, or -1 for a failure'
        words = ['--output', 'out.txt', '--overwrite', '--report', 'report.json', tricky(), 'iterations=100', 'error_at=40', f'returns={number}']
        for masters, workers in ((0, 2), (1, 2)):
            result = run_job(masters, workers, words)  # the probe, too, runs the kernel
            assert result.status == 3 and any(f'{said}; given up' in line for line in result.err), result
            assert report()['failures'][0]['reason'] == said and report()['faults']['lost_workers'] == 0, report()
            assert read('out.txt') == b''.join(wanted[:40] + wanted[41:])
        result = flat(2, 'rma', [*EQUAL, *words[words.index(tricky()):]])
        assert result.status == 1 and any(said in line for line in result.err), result


def test_a_crash_is_a_lost_worker():
    words = ['--technique', 'css:chunk=10', '--output', 'out.txt', '--report', 'report.json', tricky(), 'iterations=300', 'sleep=1000',
             'crash_at=120', 'until=crashed']
    result = run(job(1, 3, ['--isolate', 'off', *words], options=RECOVERING))
    check_output(expected(300, 10))
    faults = report()['faults']  # who is on its way down at the end is not waited for
    assert faults['lost_workers'] + faults.get('late_workers', 0) == 1 and report()['done'] == 300, (faults, result)
    assert any('was lost' in line or 'had not left when all was done' in line for line in result.err), result


def test_a_crash_costs_its_iteration():
    words = ['--technique', 'css:chunk=10', '--output', 'out.txt', '--report', 'report.json', tricky(), 'iterations=300', 'sleep=1000',
             'crash_at=120', 'until=crashed']
    result = run_job(1, 3, words)
    check_output(expected(300, 10))
    assert report()['faults']['lost_workers'] == 0 and report()['done'] == 300 and result.status == 0, result
    assert any('iteration 120 failed: killed the child process: signal 11' in line for line in result.err), result


def test_a_killed_run_is_resumed():
    words = ['--technique', 'ss', *EQUAL, '--output', 'out.txt', tricky(), 'iterations=400', 'sleep=20000']
    process = start(job(1, 2, words))
    def some_are_stored():
        assert process.poll() is None, finish(process)
        return os.path.exists('out.txt.journal') and os.path.getsize('out.txt.journal') > head_of('out.txt.journal')
    wait_until(some_are_stored, 'the journal')
    kill_tree(process.pid)
    finish(process)
    with open('out.txt.parts/1-1', 'ab') as file:
        file.write(b'HDSB torn')
    refused = run_job(0, 2, words)
    assert refused.status == 2 and '--resume' in refused.err[0], refused
    result = run_job(0, 3, ['--resume', '--report', 'report.json', *words])
    assert result.status == 0 and 0 < report()['faults']['resumed_iterations'] < 400, result
    check_output(expected(400, 10))
    assert result.checksum() == run_job(0, 1, [*EQUAL, tricky(), 'iterations=400']).checksum()


def test_what_failed_is_named_and_done_again():
    words = ['--output', 'out.txt', *EQUAL, '--report', 'report.json', tricky(), 'iterations=250', 'failed_at=13', 'until=healed']
    result = run_job(1, 2, words)
    assert result.status == 3 and 'failed       13:1, 113:1, 213:1' in result.out, result
    assert report()['failed_tasks'] == [[13, 1], [113, 1], [213, 1]] and report()['outcome'] == 'tasks-failed', report()
    assert read('out.txt') == expected(250, 10)[0] and os.path.exists('out.txt.parts')
    again = run_job(0, 2, ['--resume', *words])
    assert again.status == 3 and report()['faults']['resumed_iterations'] == 250, again
    without = run_job(1, 2, [*EQUAL, '--report', 'without.json', tricky(), 'iterations=250', 'failed_at=13', 'until=healed'])
    assert without.status == 3 and '13:1 the kernel calls it failed' in without.out, without
    assert report('without.json')['failed'] == [[13, 1], [113, 1], [213, 1]] and report('without.json')['done'] == 247, without
    with open('healed', 'w'):
        pass
    again = run_job(0, 2, ['--resume', 'failed', *words])
    assert again.status == 0 and report()['faults']['resumed_iterations'] == 247 and report()['failed_tasks'] == [], again
    assert again.checksum() == result.checksum()
    check_output(expected(250, 10))


def write_module(text):
    with open('mine.py', 'w') as file:
        file.write(text)


def test_a_kernel_in_python():
    if not python_is_there():
        return 'built without Python'
    shutil.copy(os.path.join(EXAMPLES, 'logistic.py'), '.')
    outputs = set()
    for topology, result in launches([*EQUAL, '--output', 'l.npy', 'python:logistic.run', 'columns=60', 'kept=5']):
        assert result.status == 0, (topology, result)
        outputs.add((result.checksum(), read('l.npy')))
    assert len(outputs) == 1
    result = run_job(1, 2, ['--output', 'w.txt', 'python:logistic.words', 'columns=4'])
    assert result.status == 0 and read('w.txt') == b'2.500000 1\n3.000000 64\n3.500000 4\n4.000000 1\n', (result, read('w.txt'))


def test_what_python_may_return():
    if not python_is_there():
        return 'built without Python'
    write_module('''
def describe(kind='list'):
    return 6 if kind == 'list' else {'iterations': 6, 'dtype': 'int32', 'shape': (2,), 'waits': True}

def text(first, count):
    return [[b'bytes ', 'str ', 7, None, ('a', 'b')[0], bytearray(b'!')][i] for i in range(first, first + count)]

def numbers(first, count, kind='numbers'):
    return [(i, -i) for i in range(first, first + count)]

def packed(first, count, kind='packed'):
    import struct
    return b''.join(struct.pack('<ii', i, -i) for i in range(first, first + count))

def view(first, count, kind='view'):
    import array
    return memoryview(array.array('i', [n for i in range(first, first + count) for n in (i, -i)]))
''')
    result = run_job(0, 2, ['--output', 'o.txt', 'python:mine.text'])
    assert result.status == 0 and read('o.txt') == b'bytes str 7\na!', (result, read('o.txt'))
    outputs = set()
    for name in ('numbers', 'packed', 'view'):
        result = run_job(0, 2, [*EQUAL, '--output', 'o.bin', f'python:mine.{name}'])
        assert result.status == 0, (name, result)
        outputs.add(read('o.bin'))
    assert [list(memoryview(o).cast('i')) for o in outputs] == [[0, 0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5]]


def test_python_that_fails_says_where():
    if not python_is_there():
        return 'built without Python'
    write_module('''
def describe(**values):
    return 40

def root(i):
    raise ValueError(f'no root of {i}')

def fails(first, count):
    return [root(i) if i == 17 else 'fine' for i in range(first, first + count)]

def short(first, count):
    return []

def marks(first, count):
    return [ValueError('not this one') if i in (5, 30) else str(i) for i in range(first, first + count)]

def alone(count):
    pass

def odd(first, count, what=[]):
    pass

def nothing(first, count):
    pass

def many(first, count):
    pass

many.describe = lambda: 2**70

def single(first, count):
    return [first]

single.describe = lambda: {'iterations': 64}

def words(first, count):
    return ['one'] * count

words.describe = lambda: {'iterations': 1, 'dtype': 'int32'}
''')
    result = run_job(1, 2, [*EQUAL, 'python:mine.fails'])
    assert result.status == 3 and any('ValueError: no root of 17 (at mine.py:6 in root, called at mine.py:9' in line for line in result.err), result
    result = run_job(0, 1, [*EQUAL, 'python:mine.short'])
    assert result.status == 3 and any('returned 0 items for 1 iterations' in line for line in result.err), result
    single = run_job(0, 2, ['--technique', 'css:chunk=8', '--output', 'single.txt', 'python:mine.single'])
    told = [line for line in single.err if 'returned one item for a range of ' in line]
    assert len(told) == 1 and read('single.txt') == b''.join(b'%d\n' % i for i in range(64)), single
    for name, line in (('nothing', 'returned nothing; accepted: an item for each iteration'),
                       ('words', 'returned what is no number of type int32')):
        result = run([HDSS, 'run', '--workers', '1', *EQUAL, '--retries', '0', 'python:mine.' + name])
        assert result.status == 3 and line in result.raw_err + result.out, result
    result = run_job(0, 2, [*EQUAL, '--output', 'o.txt', 'python:mine.marks'])
    assert result.status == 3 and '5:1, 30:1' in result.out, result
    for name, line in (
            ('mine.alone', 'the function takes no range; accepted: def function(first, count, ...)'),
            ('mine.odd', 'parameter what: its default is of type list; accepted: int, float, str, bool'),
            ('mine.absent', 'module mine has no function absent'),
            ('nobodys.function', 'there is no module nobodys'),
            ('function', 'accepted: python:MODULE.FUNCTION')):
        result = run_job(0, 1, ['python:' + name])
        assert result.status == 2 and len(result.err) == 1 and line in result.err[0], result
    with open('whole.py', 'w') as file:
        file.write('def describe(n=3):\n    return n\ndef f(first, count, n=3):\n    return [1] * count\n')
    result = run([HDSS, 'run', 'python:whole.f', 'n=abc'])
    assert result.status == 2 and result.err == ['hdss run: python:whole.f: n=abc: accepted: an integer from -1e18 to 1e18'], result
    result = run([HDSS, 'kernels', 'python:mine.many'])
    assert result.status == 2 and 'describe() says a number or a shape that cannot be' in result.raw_err, result
    with open('broken.py', 'w') as file:
        file.write('def describe(:\n')
    result = run_job(0, 1, ['python:broken.f'])
    assert result.status == 2 and 'SyntaxError' in result.err[0] and 'broken.py:1' in result.err[0], result


def folder_of_numpy():
    for python in (sys.executable, '/usr/bin/python3'):
        found = run([python, '-c', 'import numpy, os; print(os.path.dirname(os.path.dirname(numpy.__file__)))'])
        if found.status == 0:
            return found.out.strip()
    return ''


def test_numpy_arrays_become_the_type_that_is_described():
    if not python_is_there() or not folder_of_numpy():
        return 'built without Python, or without numpy'
    write_module('''
import numpy

def describe(dtype='float64'):
    return {'iterations': 50, 'dtype': dtype, 'shape': (3,)}

def rows(first, count, dtype='float64'):
    i = numpy.arange(first, first + count)[:, None] * numpy.array([1, 10, 100])
    return numpy.asfortranarray(i.astype(dtype))

def other(first, count, dtype='float64'):
    return numpy.arange(first, first + count)[:, None] * numpy.array([1, 10, 100], 'int64')

def wrong(first, count, dtype='int32'):
    return numpy.zeros((count, 3), 'float32')
''')
    for dtype, code in (('float64', 'd'), ('uint8', 'B'), ('int64', 'q'), ('uint32', 'I')):
        words = [*EQUAL, '--output', 'o.bin', 'python:mine.rows', f'dtype={dtype}']
        result = run(['env', 'PYTHONPATH=' + folder_of_numpy(), *job(0, 2, words)])
        if any('numpy' in line for line in result.err):
            return 'numpy is that of another interpreter than the module\'s'
        assert result.status == 0, (dtype, result)
        values = list(memoryview(read('o.bin')).cast(code))
        assert values[:6] == [0, 0, 0, 1, 10, 100] and len(values) == 150, (dtype, values[:9])
    for dtype, code in (('float64', 'd'), ('float32', 'f'), ('int32', 'i')):
        result = run(['env', 'PYTHONPATH=' + folder_of_numpy(), *job(0, 2, [*EQUAL, '--output', 'o.bin', '--overwrite', 'python:mine.other', f'dtype={dtype}'])])
        assert result.status == 0 and list(memoryview(read('o.bin')).cast(code)) == [i * n for i in range(50) for n in (1, 10, 100)], (dtype, result)
    for words, said in ((['wrong'], 'TypeError: the function returns float32, which cannot become int32; say another dtype='),
                        (['other', 'dtype=uint8'], 'accepted by uint8: 0 to 255; or say another dtype=')):
        result = run(['env', 'PYTHONPATH=' + folder_of_numpy(), *job(0, 1, [*EQUAL, '--retries', '0', f'python:mine.{words[0]}', *words[1:]])])
        assert result.status == 3 and any(said in line for line in result.err), result
    return None


def test_numbers_without_a_type_are_text():
    if not python_is_there() or not folder_of_numpy():
        return 'built without Python, or without numpy'
    write_module('''
import numpy

def describe():
    return 3

def halves(first, count):
    return numpy.arange(first, first + count) / 2

def listed(first, count):
    return [numpy.int64(i) if i != 1 else numpy.float32(0.1) for i in range(first, first + count)]

def rows(first, count):
    return numpy.arange(first, first + count)[:, None] * numpy.array([1, 10])

def pixels(first, count):
    return [numpy.full(2, 65 + i, 'uint8') for i in range(first, first + count)]
''')
    for name, text in (('halves', b'0.0\n0.5\n1.0\n'), ('listed', b'0\n0.1\n2\n'), ('rows', b'0 0\n1 10\n2 20\n'), ('pixels', b'AABBCC')):
        result = run(['env', 'PYTHONPATH=' + folder_of_numpy(), *job(0, 1, [*EQUAL, '--overwrite', '--output', 'o.csv', 'python:mine.' + name])])
        if any('numpy' in line for line in result.err):
            return 'numpy is that of another interpreter than the module\'s'
        assert result.status == 0 and read('o.csv') == text, (name, result, read('o.csv'))
    for name in ('o.npy', 'o.PNG'):
        result = run(['env', 'PYTHONPATH=' + folder_of_numpy(), HDSS, 'run', '--output', name, 'python:mine.halves'])
        assert result.status == 2 and not os.path.exists(name + '.parts') and result.err == [
            f'hdss run: {name}: the kernel yields bytes or text, not numbers of one type; accepted: a name that ends in .txt, or numbers: in Python '
            "'dtype' in what describe() returns"], result
    return None


SQUARES = '''
def describe():
    return 8

def squares(first, count):
    return [i * i for i in range(first, first + count)]
'''


def lines_of(folder, job_words):
    """The same job by each program that loads kernels, from `folder`."""
    supermaster, master, worker, hdss = (os.path.join(folder, os.path.basename(name)) for name in (SUPERMASTER, MASTER, WORKER, HDSS))
    yield mpirun_line([(1, [supermaster, *job_words]), (1, [master]), (2, [worker])])
    yield mpirun_line([(2, [worker, '--dca', 'rma', *job_words])])
    yield [hdss, 'run', '--workers', 2, *job_words]


def test_the_module_is_found_from_a_prefix_that_was_moved():
    if not python_is_there() or not MESON:
        return 'built without Python, or no Meson to install with'
    write_module(SQUARES)
    install(os.path.abspath('first'))
    os.rename('first', 'second')
    folder = os.path.dirname(glob.glob('second/**/bin/hdss', recursive=True)[0])
    modules = glob.glob('second/**/hdss-python.so', recursive=True)
    for line in lines_of(os.path.abspath(folder), [*EQUAL, '--output', 'o.txt', 'python:mine.squares']):
        result = run(line)
        assert result.status == 0 and read('o.txt') == b'0\n1\n4\n9\n16\n25\n36\n49\n', (line, result)
    result = run([os.path.join(folder, 'hdss'), 'kernels', 'python:mine.squares'])
    assert result.status == 0, result
    os.remove(modules[0])
    moved = os.path.abspath(os.path.dirname(modules[0]))
    result = run([os.path.join(folder, 'hdss'), 'kernels', 'python:mine.squares'])
    assert result.status == 2 and len(result.err) == 1, result
    helpers = os.path.abspath(os.path.dirname(glob.glob('second/**/hdss-helper', recursive=True)[0]))
    assert f'there is no hdss-python.so in {helpers[:90]}, {moved[:90]} or ' in result.err[0], result
    assert result.err[0].endswith('needed: the package hdss-python3, or a build where libpython3-dev is'), result
    return None


def test_without_the_module_python_is_refused():
    os.mkdir('modules')
    for line in lines_of(os.path.dirname(HDSS), [*EQUAL, 'python:mine.squares']):
        result = run(['env', 'HDSS_MODULES=modules', *line])
        said = [text for text in result.err if 'this HDSS has no Python: there is no hdss-python.so in modules; needed: ' in text]
        assert result.status == 2 and len(said) == 1, (line, result)


let_user_code_crash()
if __name__ == '__main__':
    main([
        test_the_example_in_c,
        test_the_example_in_cpp,
        test_the_example_in_fortran,
        test_the_example_with_time_steps,
        test_a_step_that_is_refused_ends_the_run,
        test_time_steps_go_on_after_losses_and_ends,
        test_a_plugin_is_shown_as_a_built_in_kernel_is,
        test_what_is_no_kernel_is_refused,
        test_output_is_the_same_in_every_topology,
        test_output_of_any_size,
        test_an_iteration_that_yields_too_much_is_named,
        test_an_error_fails_its_iteration_with_its_text,
        test_a_number_that_no_call_may_return_is_a_failure,
        test_a_crash_is_a_lost_worker,
        test_a_crash_costs_its_iteration,
        test_a_killed_run_is_resumed,
        test_what_failed_is_named_and_done_again,
        test_a_kernel_in_python,
        test_what_python_may_return,
        test_python_that_fails_says_where,
        test_numpy_arrays_become_the_type_that_is_described,
        test_numbers_without_a_type_are_text,
        test_the_module_is_found_from_a_prefix_that_was_moved,
        test_without_the_module_python_is_refused,
    ])
