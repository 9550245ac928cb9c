# SPDX-License-Identifier: MIT
"""hdss.mpi, loops that the ranks of an mpi4py program share: a program of that kind, python_loops.py, and the example."""
import ctypes
import ctypes.util
import functools
import itertools
import os
import re
import shutil
import subprocess
import sys

from launch import HDSS, TIMEOUT_S, main, mpirun_line, report, run

SOURCE_ROOT = os.environ['SOURCE_ROOT']
LIBRARY = os.environ['LIBHDSS']
MPICH = 'MPIRUN' in os.environ
PACKAGE = os.path.join(SOURCE_ROOT, 'deploy/python')
LOOPS = os.path.join(SOURCE_ROOT, 'tests/system/python_loops.py')
SCAN = os.path.join(SOURCE_ROOT, 'deploy/examples/python/mpi_scan.py')
MODES = ['central', 'hierarchical', 'two-sided', 'rma', 'node']
VENDOR = 'import mpi4py; mpi4py.rc.initialize = False; from mpi4py import MPI; print(MPI.get_vendor()[0])'
os.environ.update(PYTHONPATH=PACKAGE, PYTHONDONTWRITEBYTECODE='1', HDSS_LIBRARY=LIBRARY)


@functools.lru_cache(maxsize=None)
def interpreter():
    """A Python that has mpi4py, and the MPI library of that: ('/usr/bin/python3', 'Open MPI'); (None, '') where there is none."""
    for program in (sys.executable, '/usr/bin/python3'):
        try:
            asked = subprocess.run([program, '-c', VENDOR], capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
        except OSError:
            continue
        if asked.returncode == 0:
            return program, asked.stdout.strip()
    return None, ''


def with_mpi4py(test):
    """Skips the test without an mpi4py of the MPI library that is tested."""
    @functools.wraps(test)
    def checked():
        program, vendor = interpreter()
        if program is None:
            return 'no mpi4py'
        if (vendor == 'MPICH') != MPICH:
            return f'the mpi4py there is for {vendor}'
        return test()
    return checked


def python(ranks, *words):
    return run(mpirun_line([(ranks, [interpreter()[0], *words])]))


def loops(ranks, *words):
    result = python(ranks, LOOPS, *words)
    assert result.status == 0 and result.out == 'ok\n', f'{ranks} ranks, {words}: {result}'


@with_mpi4py
def test_a_program_for_dls_py():
    for ranks in (1, 3):
        result = python(ranks, os.path.join(SOURCE_ROOT, 'tests/system/python_dls.py'))
        assert result.status == 0 and result.out == 'ok\n', f'{ranks} ranks: {result}'


@with_mpi4py
def test_every_mode_covers_the_loop_exactly_once():
    ranks = itertools.cycle([1, 3, 2])
    for mode in MODES:
        for iterations in (0, 1, 2000):
            loops(next(ranks), 'cover', iterations, 'mode=' + mode, 'technique=gss')


@with_mpi4py
def test_techniques_and_options():
    for technique in ('static', 'ss', 'css:chunk=7', 'wf', 'awf-c', 'af', 'auto'):
        loops(3, 'cover', 500, 'technique=' + technique)
    for words in (['weighting=power', 'technique=gss'], ['mode=hierarchical', 'group=2', 'request_when=auto'],
                  ['mode=node', 'node_technique=ss', 'group=node'], ['min_chunk=50', 'break_after=off'],
                  ['leader=coordinates'], ['thread=True'], ['thread=False'], ['mode=rma', 'technique=af']):
        loops(3, 'cover', 500, *words)


@with_mpi4py
def test_more_ranks_than_iterations():
    for mode in MODES:
        loops(6 if not MPICH else 2, 'cover', 3, 'mode=' + mode)


@with_mpi4py
def test_leaving_before_the_end():
    for ranks in (1, 3):
        loops(ranks, 'leave')


@with_mpi4py
def test_an_exception_that_is_caught():
    for ranks in (1, 3):
        loops(ranks, 'caught')


@with_mpi4py
def test_an_exception_that_ends_the_program_is_said_and_nobody_hangs():
    for form in ('iterator', 'object'):
        for failing in (0, 2):
            result = python(3, LOOPS, 'uncaught', form, failing)
            assert result.status == 1 and 'ValueError: of the body' in result.err, result
            assert 'Exception ignored' not in result.raw_err, result


@with_mpi4py
def test_wrong_use_is_refused_on_all_ranks():
    for ranks in (1, 3):
        loops(ranks, 'wrong')


@with_mpi4py
def test_a_thread_of_the_library_needs_threads_of_mpi():
    loops(2, 'thread_level')


@with_mpi4py
def test_loops_after_and_beside_one_another():
    for ranks in (1, 3):
        loops(ranks, 'many')


@with_mpi4py
def test_parts_of_a_communicator():
    for ranks in (1, 4 if not MPICH else 2):
        loops(ranks, 'split')


@with_mpi4py
def test_threads_that_draw_from_one_loop():
    for ranks in (1, 2):
        loops(ranks, 'threads')


@with_mpi4py
def test_the_error_handler_stays():
    loops(2, 'error_handler')


@with_mpi4py
def test_a_forked_process_ends_no_loop():
    loops(2, 'forked')


@with_mpi4py
def test_the_report():
    loops(2, 'cover', 1000, 'report=report.json', 'name=waves', 'technique=css:chunk=7')
    figures = report()
    assert figures['kernel']['name'] == 'waves' and figures['iterations'] == figures['done'] == 1001, figures


@with_mpi4py
def test_the_example():
    """The same lines on any number of ranks; amplitudes are known from textbooks."""
    alone, together = python(1, SCAN, 50), python(3, SCAN, 50)
    assert alone.status == together.status == 0 and alone.out == together.out, (alone, together)
    found = dict(line.split() for line in alone.out.splitlines())
    known = {'1.000000': '1', '1.070000': '2', '1.150000': 'chaotic', '1.350000': '1', '1.470000': '4'}
    assert len(found) == 50 and {amplitude: found[amplitude] for amplitude in known} == known, found
    assert re.search(r'^3 ranks computed \d+% of [\d.]+ s$', together.raw_err, re.MULTILINE), together


IMPORTED = 'import hdss.mpi; print(hdss.mpi.library_version())'


def version_with(**variables):
    """What the program says with these variables alone of those that lead to the library."""
    others = ['env', *(f'--unset={name}' for name in ('HDSS_LIBRARY', 'LD_LIBRARY_PATH') if name not in variables),
              *(f'{name}={value}' for name, value in variables.items())]
    return run([*others, interpreter()[0], '-c', IMPORTED])


def refused(result, line):
    return result.status == 1 and result.err[-1].startswith('ImportError: ' + line)


@with_mpi4py
def test_where_the_library_is_looked_for():
    version = version_with(HDSS_LIBRARY=LIBRARY)
    assert version.status == 0 and re.fullmatch(r'\d+\.\d+\.\d+\n', version.out), version
    for variables in ({'LD_LIBRARY_PATH': os.path.dirname(LIBRARY)}, {'PATH': os.path.dirname(HDSS) + ':' + os.environ['PATH']}):
        assert version_with(**variables).out == version.out, variables
    os.makedirs('prefix/bin')
    os.makedirs('prefix/lib')
    shutil.copy(HDSS, 'prefix/bin/hdss')
    os.symlink(LIBRARY, 'prefix/lib/libhdss.so.0')
    assert version_with(PATH=os.path.abspath('prefix/bin') + ':' + os.environ['PATH']).out == version.out
    missing = 'hdss.mpi needs libhdss, which cannot be loaded: /no/libhdss.so: cannot open shared object file'
    assert refused(version_with(HDSS_LIBRARY='/no/libhdss.so'), missing)
    assert refused(version_with(HDSS_LIBRARY=ctypes.util.find_library('c')), 'hdss.mpi cannot tell the MPI libraries of')


def test_without_mpi4py():
    result = run([sys.executable, '-c', "import sys; sys.modules['mpi4py'] = None; " + IMPORTED])
    assert refused(result, 'hdss.mpi needs mpi4py: '), result


OTHER_LIBRARY = """
#include <mpi.h>
const char *hdss_version(void);
const char *hdss_version(void)
{
    int is_there = 0;
    MPI_Initialized(&is_there);
    return is_there ? "1" : "0";
}
"""


def test_another_mpi_library_is_refused():
    """That of this build, if mpi4py is for another one, or else what a compiler of the other one makes."""
    program, vendor = interpreter()
    if program is None:
        return 'no mpi4py'
    other = LIBRARY
    if (vendor == 'MPICH') == MPICH:
        compiler = shutil.which('mpicc.openmpi' if MPICH else 'mpicc.mpich')
        if compiler is None:
            return 'no second MPI library'
        with open('other.c', 'w', encoding='ascii') as file:
            file.write(OTHER_LIBRARY)
        other = os.path.abspath('libother.so')
        subprocess.run([compiler, '-shared', '-fPIC', 'other.c', '-o', other], check=True)
    result = version_with(HDSS_LIBRARY=other)
    assert refused(result, f'mpi4py runs on {vendor} '), result
    assert f', and {other} on ' in result.err[-1] and result.err[-1].endswith(': both must be built with the same MPI library'), result
    return None


def members(struct):
    """Names of the members of a struct of hdss/hdss.h, with whether they are double."""
    with open(os.path.join(SOURCE_ROOT, 'common/include/hdss/hdss.h'), encoding='utf-8') as file:
        body = re.search(rf'struct {struct} {{(.*?)}};', re.sub(r'/\*.*?\*/', '', file.read(), flags=re.DOTALL), re.DOTALL).group(1)
    found = []
    for kind, names in re.findall(r'(int64_t|double) ([\w, ]+);', body):
        found += [(name, kind == 'double') for name in names.split(', ')]
    return found


def test_structs_and_errors_are_those_of_the_header_and_options_those_of_the_manual():
    sys.path.insert(0, PACKAGE)
    import hdss._libhdss  # pylint: disable=import-outside-toplevel
    import hdss.mpi
    for kind, struct in ((hdss.mpi.Stats, 'hdss_stats'), (hdss.mpi.Totals, 'hdss_totals')):
        fields = [(name, type_of is ctypes.c_double) for name, type_of in hdss.mpi._STRUCTS[kind]._fields_]
        assert fields == members(struct), (fields, members(struct))
    with open(os.path.join(SOURCE_ROOT, 'common/include/hdss/hdss.h'), encoding='utf-8') as file:
        statuses = {int(number) for number in re.findall(r'HDSS_ERROR_\w+ = (-\d+)', file.read())}
    assert statuses == set(hdss._libhdss._EXCEPTIONS), statuses
    with open(os.path.join(SOURCE_ROOT, 'deploy/library/hdss_options_set.3'), encoding='utf-8') as file:
        text = re.sub(r'^\.It Cm mode\n.*?^\.El\n', '', file.read(), flags=re.MULTILINE | re.DOTALL)  # the list inside: its values
    options = {name.replace('-', '_') for name in re.findall(r'^\.It Cm (\S+)$', text, re.MULTILINE)} | {'mode'}
    assert options == set(hdss.mpi.Options.__annotations__), options


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
