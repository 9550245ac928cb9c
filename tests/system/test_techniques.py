# SPDX-License-Identifier: MIT
"""Techniques of one's own: the example, built against the installed header, cuts the chunks of a built-in one wherever chunks are cut, and
runs jobs in every topology; only who cuts loads it; what is no technique is refused in one line."""
import atexit
import csv
import functools
import os
import shutil
import signal
import tempfile

from launch import HDSS, SUPERMASTER, WORKER, job, let_user_code_crash, main, mpirun_line, python_is_there, report, run, run_job, techniques

MESON, BUILD_ROOT, SOURCE = os.environ.get('MESON', ''), os.environ['BUILD_ROOT'], os.environ['SOURCE_ROOT']
EXAMPLE = os.path.join(SOURCE, 'deploy/examples/techniques/factoring.c')
PLUGGED = os.path.join(SOURCE, 'tests/system/plugged.c')
EQUAL = ['--power', 'equal']
LOOP = ['synthetic', 'iterations=600', 'mean=20', 'mode=sleep']


@functools.cache
def scratch():
    folder = tempfile.mkdtemp(prefix='hdss-techniques-')
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@functools.cache
def header_flags():
    """As pkg-config says them of an installation, where there is one to be had; else the include path."""
    if not MESON or not shutil.which('pkg-config'):
        return ['-I', os.path.join(SOURCE, 'common/include')]
    stage = os.path.join(scratch(), 'stage')
    installed = run([MESON, 'install', '-C', BUILD_ROOT, '--no-rebuild', '--quiet', '--destdir', stage])
    assert installed.status == 0, installed
    found = [folder for folder, _, names in os.walk(stage) if 'hdss-technique.pc' in names]
    assert len(found) == 1, found
    said = run(['env', f'PKG_CONFIG_PATH={found[0]}', f'PKG_CONFIG_SYSROOT_DIR={stage}', 'pkg-config', '--cflags', 'hdss-technique'])
    assert said.status == 0 and stage in said.out, said
    return said.out.split()


def build(path, source, *flags):
    made = run(['cc', '-O1', '-shared', '-fPIC', '-Wall', '-Wextra', *flags, *header_flags(), source, '-o', path])
    assert made.status == 0 and not made.err, made
    return path


def chunks(spec, *words, iterations=1000, workers=4):
    result = run([HDSS, 'chunks', spec, '--iterations', iterations, '--workers', workers, *words])
    assert result.status == 0, result
    return result.out


def test_the_example_cuts_as_fac2_does():
    build('factoring.so', EXAMPLE)
    for words in ([], ['--format', 'csv'], ['--min-chunk', '20'], ['--power', '1,2,3,4', '--weighting', 'power'], ['--order', '1,1,3']):
        assert chunks('./factoring.so', *words) == chunks('fac2', *words), words
    assert chunks('factoring.so:parts=2', iterations=10**12, workers=64) == chunks('fac2', iterations=10**12, workers=64)
    assert chunks('./factoring.so:parts=3', '--form', 'closed') == chunks(os.path.abspath('factoring.so') + ':parts=3')
    shown = run([HDSS, 'techniques', './factoring.so'])
    assert shown.status == 0 and shown.out.startswith('./factoring.so: factoring with a part to choose\n'), shown
    assert 'forms     recursive, closed\n' in shown.out and '  parts=\n' in shown.out and 'an integer from 1 to 1000\n' in shown.out, shown


def manual_example(begin):
    """The literal text of the manual page that begins so."""
    with open(os.path.join(SOURCE, 'common/sched/hdss-technique.3'), encoding='utf-8') as file:
        text = file.read()
    return begin + text.split('\n' + begin, 1)[1].split('.Ed\n', 1)[0].replace('\\e', '\\')


def test_the_examples_of_the_manual():
    for name, begin in (('share.c', '#include'), ('mine.py', 'class')):
        with open(name, 'w', encoding='utf-8') as file:
            file.write(manual_example(begin))
    build('share.so', 'share.c', '-Wno-unused-parameter')
    sizes = chunks('./share.so:share=0.2')
    assert '    1       1      0    200\n    2       2    200    160\n' in sizes, sizes
    assert not python_is_there() or chunks('python:mine.Share:share=0.2') == sizes


def flat(dca, words):
    return run(mpirun_line([(2, [WORKER, '--dca', dca, *words])]))


def test_it_runs_in_every_topology():
    build('factoring.so', EXAMPLE)
    rows = [line.split(',')[3] for line in chunks('fac2', '--format', 'csv', iterations=600, workers=2).splitlines()[1:]]
    expected = run_job(0, 2, [*EQUAL, '--technique', 'fac2', *LOOP]).checksum()
    for topology, go in (('central', lambda words: run_job(0, 2, ['--recall', 'off', *words])),
                         ('hierarchical', lambda words: run_job(1, 2, ['--recall', 'off', *words])),
                         ('dca-rma', lambda words: flat('rma', words)), ('dca-two-sided', lambda words: flat('two-sided', words)),
                         ('dca-node', lambda words: flat('node', words))):
        result = go([*EQUAL, '--technique', './factoring.so:parts=2', '--report', 'report.json', *LOOP])
        assert result.status == 0 and result.checksum() == expected, (topology, result)
        written = report()
        assert written['technique']['name'] == './factoring.so' and written['technique']['params'] == {'parts': 2}, written['technique']
        assert topology == 'dca-node' or written['chunks'] == len(rows), (topology, written['chunks'], len(rows))


def test_workers_alone_must_have_the_same():
    with open(EXAMPLE, encoding='utf-8') as file:
        source = file.read()
    assert source.count('(remaining % chunks != 0)') == 1
    with open('other.c', 'w', encoding='utf-8') as file:
        file.write(source.replace('(remaining % chunks != 0)', '1'))
    for name, text in (('one', EXAMPLE), ('two', 'other.c')):
        os.mkdir(name)
        build(f'{name}/factoring.so', text)
    words = [WORKER, '--dca', 'rma', *EQUAL, '--technique', './factoring.so', *LOOP]
    result = run(mpirun_line([(1, ['-wdir', os.path.abspath(folder), *words]) for folder in ('one', 'two')]))
    assert result.status == 2 and result.err == ['worker: rank 1 was given another job or mode than rank 0, or other files: accepted with --dca is the same for all '
                                                 '(--slowdown and --load may differ)'], result


def test_only_who_cuts_loads_it():
    build('plugged.so', PLUGGED)
    for result, programs in (
            (lambda: run(job(1, 2, [*EQUAL, '--technique', './plugged.so', *LOOP])), {SUPERMASTER}),
            (lambda: run([HDSS, 'run', '--masters', 1, '--workers', 2, *EQUAL, '--technique', './plugged.so', *LOOP]), {SUPERMASTER, HDSS}),
            (lambda: flat('rma', [*EQUAL, '--technique', './plugged.so', *LOOP]), {WORKER}),
            (lambda: run([HDSS, 'simulate', '--workers', 4, '--technique', './plugged.so', *LOOP]), {HDSS})):
        ended = result()
        with open('loads.txt', encoding='utf-8') as file:
            loads = set(file.read().split())
        os.remove('loads.txt')
        assert loads == {os.path.basename(program)[:15] for program in programs}, (loads, programs, ended)
        assert ended.status == (2 if WORKER in programs else 0), ended  # it has no closed form


def draws(shares, left, done=(0, 0), chunks=0):
    """What the report may say, chunks and iterations of the workers, of two workers that draw their shares in any order."""
    if left == 0:
        return {(chunks, tuple(sorted(done)))}
    found = set()
    for worker in (0, 1):
        size = min(shares[worker], left)
        found |= draws(shares, left - size, tuple(n + size * (w == worker) for w, n in enumerate(done)), chunks + 1)
    return found


def test_it_learns_and_is_weighted():
    build('learns.so', PLUGGED, '-DPLUGGED_LEARNS')
    build('shares.so', PLUGGED, '-DPLUGGED_SHARES')
    for masters in (0, 1):
        result = run_job(masters, 2, [*EQUAL, '--report', 'report.json', '--technique', './learns.so', *LOOP])
        assert result.status == 0 and report()['chunks'] < 60, (result, report()['chunks'])
        result = run_job(masters, 2, ['--power', '1,3', '--recall', 'off', '--copies', 'off', '--ask-ahead', 'off', '--report', 'report.json', '--technique', './shares.so', *LOOP])
        told = report()['chunks'], tuple(sorted(worker['iterations'] for worker in report()['worker_stats']))
        assert result.status == 0 and told in draws((151, 451), 600), (result, report())


def test_it_is_simulated_and_studied():
    build('factoring.so', EXAMPLE)
    seconds = set()
    for name in ('fac2', './factoring.so'):
        result = run([HDSS, 'simulate', '--masters', 2, '--workers', 16, '--technique', name, '--report', 'report.json', *LOOP])
        assert result.status == 0, result
        seconds.add(report()['elapsed_s'])
    assert len(seconds) == 1, seconds
    with open('own.study', 'w', encoding='utf-8') as file:
        file.write('kernel = synthetic iterations=600 mean=20\nbackend = simulate\ntechnique = fac2 ./factoring.so:parts=3\nworkers = 8\nrepetitions = 1\n')
    result = run([HDSS, 'study', 'own.study'])
    assert result.status == 0, result
    with open('own.csv', encoding='utf-8', newline='') as file:
        rows = list(csv.DictReader(file))
    assert [(row['status'], row['technique'], row['technique.params.parts']) for row in rows] == \
        [('done', 'fac2', ''), ('done', './factoring.so:parts=3', '3')], rows


def test_auto_may_choose_it():
    build('factoring.so', EXAMPLE)
    build('shares.so', PLUGGED, '-DPLUGGED_SHARES')
    words = ['--technique', 'auto', '--candidate', './factoring.so:parts=3', '--candidate', './shares.so:size=7', '--recall', 'off', '--report', 'report.json']
    result = run([HDSS, 'simulate', '--workers', 8, '--slowdown', '3,3,1,1,1,1,1,1', *words, 'synthetic', 'iterations=200', 'mean=0.05'])
    assert result.status == 0 and '  technique    ./shares.so:size=7\n' in result.out, result
    technique = report()['technique']
    assert technique['name'] == './shares.so' and technique['params'] == {'size': 7} and technique['measured'] == {}, technique
    assert set(technique['auto']['predicted_s']) == {*techniques(), './factoring.so:parts=3', './shares.so:size=7'} - {'rnd', 'static-steal', 'mfac', 'maf', 'bold'}, technique
    result = run_job(1, 2, [*words, '--overwrite', *LOOP])
    assert result.status == 0 and report()['technique']['auto']['predicted_s']['./factoring.so:parts=3'] > 0, (result, report()['technique'])
    for words, line in ((['--technique', 'gss', '--candidate', './shares.so'], '--candidate is for --technique auto'),
                        (['--technique', 'auto', '--candidate', 'gss'], "--candidate 'gss': accepted: ./FILE.so or python:MODULE.CLASS, with :PARAM=VALUE,... or without; up to 8 times"),
                        (['--technique', 'auto', *9 * ['--candidate', './shares.so']], "--candidate: './shares.so' is one too many: accepted are up to 8"),
                        (['--technique', 'auto', '--candidate', './shares.so:size=13'], '--candidate: technique ./shares.so: size=13 is bad luck')):
        result = run([HDSS, 'run', '--workers', 1, *words, *LOOP])
        assert result.status == 2 and len(result.err) == 1 and result.err[0].startswith('hdss run: ' + line), result


def test_jobs_of_a_set_have_their_own():
    for name in ('one', 'two'):
        os.mkdir(name)
    build('one/mine.so', EXAMPLE)
    build('two/mine.so', PLUGGED)
    up = run([HDSS, 'up', '--name', 'plugged', '--state', 'state', '--masters', 1, '--workers', 2])
    assert up.status == 0, up
    try:
        for folder, spec, said in (('one', './mine.so:parts=3', '  technique    ./mine.so:parts=3\n'), ('two', './mine.so:size=5', '  technique    ./mine.so:size=5\n')):
            result = run([HDSS, 'submit', '--set', 'plugged', '--wait', '--technique', spec, *LOOP], cwd=folder)
            assert result.status == 0 and said in result.out, result
        with open('two/loads.txt', encoding='utf-8') as file:
            assert file.read().split() == [os.path.basename(SUPERMASTER)[:15]]
        os.replace(build('new.so', PLUGGED), 'two/mine.so')
        result = run([HDSS, 'submit', '--set', 'plugged', '--wait', '--technique', './mine.so', *LOOP], cwd='two')
        assert result.status == 2 and 'its file has changed since an earlier job loaded it; accepted: a file of another name, or another set' in result.err[0], result
        result = run([HDSS, 'submit', '--set', 'plugged', '--technique', 'python:mine.Own', *LOOP])
        assert result.status == 2 and 'the supermaster would keep the modules of Python for other jobs; accepted: ' in result.err[0], result
    finally:
        assert run([HDSS, 'down', '--set', 'plugged']).status == 0


def test_what_is_no_technique_is_refused():
    with open('text.so', 'w', encoding='utf-8') as file:
        file.write('no shared object\n')
    with open('empty.c', 'w', encoding='utf-8') as file:
        file.write('int nothing;\n')
    assert run(['cc', '-shared', '-fPIC', 'empty.c', '-o', 'empty.so']).status == 0
    build('factoring.so', EXAMPLE)
    build('plugged.so', PLUGGED)
    build('old.so', PLUGGED, '-DPLUGGED_ABI=99')
    build('lacking.so', PLUGGED, '-DPLUGGED_NO_NEXT', '-Wno-unused-function')
    for spec, line in (
            ('./absent.so', 'technique ./absent.so: No such file or directory'),
            ('absent.so:size=3', 'technique absent.so: No such file or directory'),
            ('./text.so', 'technique ./text.so: file too short; accepted: a shared object, python:MODULE.CLASS, or a technique that `hdss techniques` lists'),
            ('./empty.so', 'technique ./empty.so: is no technique: it has no symbol hdss_technique'),
            ('./old.so', 'technique ./old.so: is built for version 99 of the technique interface; accepted: 1, build it anew with the hdss/technique.h of this HDSS'),
            ('./lacking.so', 'technique ./lacking.so: it lacks next(); see hdss/technique.h'),
            ('./plugged.so:sise=3', "technique ./plugged.so: 'sise' is not accepted: the parameters are size=, later="),
            ('./plugged.so:size=-1', 'technique ./plugged.so: size=-1 is not accepted: an integer from 0 to 1000000'),
            ('./plugged.so:size=13', 'technique ./plugged.so: size=13 is bad luck: accepted is another')):
        result = run([HDSS, 'chunks', spec, '--iterations', 10, '--workers', 2])
        assert result.status == 2 and result.err == ['hdss chunks: ' + line], result
        for result in (run([HDSS, 'run', '--workers', 1, '--technique', spec, *LOOP]), run([HDSS, 'simulate', '--workers', 1, '--technique', spec, *LOOP])):
            assert result.status == 2 and len(result.err) == 1 and result.err[0].endswith(': --technique: ' + line), result
    result = run_job(1, 1, ['--technique', './absent.so', *LOOP])
    assert result.status == 2 and result.err == ['supermaster: --technique: technique ./absent.so: No such file or directory'], result
    for words, line in (
            (['--dca', 'rma', '--technique', './plugged.so'], 'technique ./plugged.so cannot run without a coordinator (--dca)'),
            (['--threads', '2', '--thread-technique', './factoring.so'], "--thread-technique: technique './factoring.so' is a plug-in, which is not taken here"),
            (['--dca', 'node', '--node-technique', './factoring.so'], "--node-technique: technique './factoring.so' is a plug-in, which is not taken here")):
        result = run([HDSS, 'run', '--workers', 2, *words, *LOOP])
        assert result.status == 2 and len(result.err) == 1 and line in result.err[0], result


def test_a_technique_that_fails_ends_the_run():
    build('plugged.so', PLUGGED)
    line = 'technique ./plugged.so: next() failed: three chunks of 14 are enough'
    result = run([HDSS, 'chunks', './plugged.so:size=14', '--iterations', 100, '--workers', 2])
    assert result.status == 1 and result.err == ['hdss chunks: ' + line] and '3 chunks, ' in result.out, result
    for masters in (0, 1):
        result = run([HDSS, 'run', '--masters', masters, '--workers', 2, *EQUAL, '--output', 'out.npy', '--overwrite', '--technique', './plugged.so:size=14', *LOOP])
        assert result.status == 1 and result.err == [f'supermaster: {line}'], result
    result = run([HDSS, 'simulate', '--workers', 2, '--technique', './plugged.so:size=14', *LOOP])
    assert result.status == 1 and result.out.startswith(f'synthetic: failed: {line}\n'), result
    result = run([HDSS, 'simulate', '--workers', 2, '--technique', 'auto', '--candidate', './plugged.so:size=14', '--report', 'report.json', *LOOP])
    assert result.status == 0 and report()['technique']['auto']['predicted_s']['./plugged.so:size=14'] is None, result
    result = run([HDSS, 'run', '--masters', 1, '--workers', 2, *EQUAL, '--output', 'out.npy', '--resume', '--technique', './plugged.so', *LOOP])
    assert result.status == 0, result


DEADLY = """#include <hdss/technique.h>
#include <signal.h>
#include <stdlib.h>
static int init(void *state, const struct hdss_technique_loop *loop, char error[HDSS_TECHNIQUE_ERROR_MAX])
{
    (void)state, (void)loop, (void)error;
    IN_INIT;
    return 0;
}
static uint64_t next(void *state, const struct hdss_technique_request *request)
{
    (void)state, (void)request;
    IN_NEXT;
    return 1;
}
const struct hdss_technique hdss_technique = {.abi = HDSS_TECHNIQUE_ABI, .name = "deadly", .title = "It dies", .rule = "K = 1", .init = init, .next = next};
"""


def test_one_that_ends_the_process_is_named():
    let_user_code_crash()
    with open('deadly.c', 'w', encoding='utf-8') as file:
        file.write(DEADLY)
    commands = ([HDSS, 'chunks', './deadly.so', '--iterations', 10, '--workers', 2], [HDSS, 'simulate', '--workers', 2, '--technique', './deadly.so', *LOOP],
                [HDSS, 'run', '--workers', 2, '--technique', './deadly.so', *LOOP])
    for code, did, status in (('exit(0)', 'it has ended the process', 1), ('raise(SIGSEGV)', 'it has died by SIGSEGV', -signal.SIGSEGV),
                              ('abort()', 'it has died by SIGABRT', -signal.SIGABRT)):
        for place, function, places in (('IN_INIT', 'init', commands), ('IN_NEXT', 'next', commands[:2])):
            build('deadly.so', 'deadly.c', '-DIN_INIT=', '-DIN_NEXT=', f'-U{place}', f'-D{place}={code}')
            for command in places:
                result = run(command)
                assert (result.status, result.err) == (status, [f'hdss: technique ./deadly.so: {did} in {function}()']), result


def test_a_file_that_is_cut_short_is_refused():
    whole = os.path.getsize(build('factoring.so', EXAMPLE))
    with open('factoring.so', 'rb') as file:
        head = file.read(min(whole // 2, 5000))
    with open('short.so', 'wb') as file:
        file.write(head)
    result = run([HDSS, 'chunks', './short.so', '--iterations', 10, '--workers', 2])
    assert (result.status, result.err) == (2, ['hdss chunks: technique ./short.so: its file is cut short; accepted: one that is whole']), result


PYTHON = '''
class Factoring:
    """Factoring by two."""
    rule = 'K = ceil(R/(parts P))'

    def __init__(self, loop, parts=2, fails=False):
        if not 1 <= parts <= 1000:
            raise ValueError(f'parts={parts} is not accepted: 1 to 1000')
        self.chunks, self.workers, self.left, self.fails = parts * loop.workers, loop.workers, 0, fails

    def next(self, request):
        if self.fails and request.step == 3:
            return request.remaining / 2
        if self.left == 0:
            self.left, self.chunk = self.workers, -(-request.remaining // self.chunks)
        self.left -= 1
        return self.chunk


class Learns:
    weighted = 'mean'

    def __init__(self, loop):
        assert len(loop.powers) == loop.workers
        self.told = 0

    def next(self, request):
        return 50 if self.told else 1

    def feedback(self, told):
        self.told += told.iterations


class Odd:
    def __init__(self):
        pass

    def next(self, request):
        return 1


class Text:
    def __init__(self, loop, name=''):
        pass

    def next(self, request):
        return 1


class Empty:
    pass
'''


def test_it_is_a_class_in_python():
    if not python_is_there():
        return 'built without Python'
    with open('mine.py', 'w', encoding='utf-8') as file:
        file.write(PYTHON)
    assert chunks('python:mine.Factoring') == chunks('fac2') and chunks('python:mine.Factoring:parts=5') != chunks('fac2')
    shutil.copy(os.path.join(os.path.dirname(EXAMPLE), 'share.py'), '.')
    assert chunks('python:share.Share:share=0.5', iterations=7).splitlines()[1:4] == ['    1       1      0      3', '    2       2      3      2', '    3       3      5      1']
    shown = run([HDSS, 'techniques', 'python:mine.Factoring'])
    assert shown.out.startswith('python:mine.Factoring: Factoring by two\n\nrule      K = ceil(R/(parts P))\n') and '  fails=\n' in shown.out, shown
    for masters in (0, 1):
        result = run([HDSS, 'run', '--masters', masters, '--workers', 2, *EQUAL, '--report', 'report.json', '--technique', 'python:mine.Learns', *LOOP])
        assert result.status == 0 and report()['chunks'] < 60 and report()['technique']['name'] == 'python:mine.Learns', result
    for spec, line in (('Factoring:parts=2000', 'ValueError: parts=2000 is not accepted: 1 to 1000 (at mine.py:8 in __init__)'),
                       ('Factoring:part=2', "'part' is not accepted: the parameters are parts=, fails="),
                       ('Odd', 'the class takes no loop; accepted: def __init__(self, loop, ...)'),
                       ('Text', "parameter name: its default is ''; accepted: an int from 0, float, bool"),
                       ('Empty', 'mine.Empty is no class with a method next(self, request)'), ('None', 'module mine has no class None')):
        result = run([HDSS, 'chunks', f'python:mine.{spec}', '--iterations', 10, '--workers', 2])
        assert result.status == 2 and result.err == [f'hdss chunks: technique python:mine.{spec.partition(":")[0]}: {line}'], result
    line = 'technique python:mine.Factoring: next() failed: it returned float; accepted: int, as of // or round()'
    result = run([HDSS, 'run', '--workers', 2, *EQUAL, '--technique', 'python:mine.Factoring:fails=yes', *LOOP])
    assert result.status == 1 and result.err == ['supermaster: ' + line], result
    result = run([HDSS, 'run', '--workers', 2, '--dca', 'rma', '--technique', 'python:mine.Factoring', *LOOP])
    assert result.status == 2 and 'technique python:mine.Factoring cannot run without a coordinator (--dca)' in result.err[0], result
    result = run(['env', 'HDSS_MODULES=.', HDSS, 'chunks', 'python:mine.Factoring', '--iterations', 10, '--workers', 2])
    assert result.status == 2 and 'technique python:mine.Factoring: this HDSS has no Python: there is no hdss-python.so in .; needed: ' in result.err[0], result
    return None


def test_a_size_that_cannot_be_is_held_to_a_chunk():
    build('plugged.so', PLUGGED)
    assert chunks('./plugged.so:size=0', iterations=5) == chunks('ss', iterations=5)
    assert chunks('./plugged.so:size=1e6', iterations=5) == chunks('css:chunk=5', iterations=5)


if __name__ == '__main__':
    main([
        test_the_example_cuts_as_fac2_does,
        test_the_examples_of_the_manual,
        test_it_runs_in_every_topology,
        test_workers_alone_must_have_the_same,
        test_only_who_cuts_loads_it,
        test_it_learns_and_is_weighted,
        test_it_is_simulated_and_studied,
        test_auto_may_choose_it,
        test_jobs_of_a_set_have_their_own,
        test_what_is_no_technique_is_refused,
        test_a_technique_that_fails_ends_the_run,
        test_one_that_ends_the_process_is_named,
        test_a_file_that_is_cut_short_is_refused,
        test_it_is_a_class_in_python,
        test_a_size_that_cannot_be_is_held_to_a_chunk,
    ])
