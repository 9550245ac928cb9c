# SPDX-License-Identifier: MIT
"""What the repository of DLS4LB has, on ours. HDSS_DLS4LB_PROGRAMS names a checkout of it; nothing is fetched. In that folder must be

    DLS.h      what programs in C include
    DLS.f90    what programs in Fortran use
    README.md  its programs, one with a loop and one with a loop in a loop, as fragments in Fortran

and each file below it that is a program, in C with DLS.h or in Fortran with `use DLS`, is compiled as it is and run."""
import glob
import os
import re
import shutil
import subprocess

from launch import main, mpirun_line, run

VARIABLE = 'HDSS_DLS4LB_PROGRAMS'
FOLDER = os.environ.get(VARIABLE)
NEEDED = ['DLS.h', 'DLS.f90', 'README.md']
SOURCE_ROOT, BUILD_ROOT = os.environ['SOURCE_ROOT'], os.environ['BUILD_ROOT']
MODULES = BUILD_ROOT + '/deploy/library/fortran'

# Names that ours has not, each with its reason. One that DLS4LB does not have either is an error.
_LIMITS = 'a limit of the original, where ours has none'
_TAGS = "a tag of the original's messages"
NO_MACROS = {**dict.fromkeys(['maxProcs', 'maxChunks', 'maxGrpSize', 'minGrpSize'], _LIMITS),
             **dict.fromkeys(['HNM_TAG', 'CLR_TAG', 'WRK_TAG', 'REQ_TAG', 'TRM_TAG', 'END_TAG'], _TAGS)}
NO_CALLS = {'SetBreaks': "a part of the original's code"}
NO_FIELDS = dict.fromkeys(
    ['batchsize', 'batchrem', 'minchunksize', 'maxchunksize', 'chunkfsc', 'chunkmfsc', 'probefreq', 'sendrequest', 'numended', 'finishedone', 'myexecs',
     'rstart', 'rsize', 'wstart', 'wsize', 'nextstart', 'nextsize', 'gotwork', 'req4wrksent', 'nextwrkrcvd', 'kopt0', 't0', 't1', 'sumt1', 'sumt2',
     'mysumtimes', 'mysumsizes', 'tsschunk', 'tssdelta'], "a note of the original's code to itself")


def lacking():
    """Why the test is skipped; None where it runs."""
    if not FOLDER:
        return f'{VARIABLE} names no checkout of DLS4LB, with its {", ".join(NEEDED)}'
    missing = [name for name in NEEDED if not os.path.exists(os.path.join(FOLDER, name))]
    assert not missing, f'{VARIABLE} is {FOLDER}, where there is no {", ".join(missing)}'
    return None


def lacking_fortran():
    return lacking() or (None if 'DLS4LB_FORTRAN' in os.environ and shutil.which('mpifort') else 'no gfortran, or no MPI for it')


def text_of(name):
    with open(os.path.join(FOLDER, name), encoding='utf-8', errors='replace') as file:
        return file.read()


def write(name, text):
    with open(name, 'w', encoding='utf-8') as file:
        file.write(text)


def call(words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f'{" ".join(words)}\n{done.stdout}{done.stderr}'


def link_words(folder, library):
    return [f'-L{folder}', f'-l{library}', f'-Wl,-rpath,{folder}']


def compile_c(source, program):
    call(['mpicc', source, '-std=gnu17', '-I' + SOURCE_ROOT + '/common/include/dls4lb', *link_words(BUILD_ROOT + '/deploy/library', 'hdss'), '-lm', '-o', program])


def compile_fortran(source, program, is_plain):
    call(['mpifort', source, *(['-I' + MODULES + '/plain'] if is_plain else []), '-I' + MODULES, *link_words(MODULES, 'hdss_fortran'),
          *link_words(BUILD_ROOT + '/deploy/library', 'hdss'), '-o', program])


# --- what programs can see ---

def test_the_header_has_what_theirs_has():
    if lacking():
        return lacking()
    header = re.sub(r'//[^\n]*|/\*.*?\*/', '', text_of('DLS.h'), flags=re.DOTALL)
    macros = dict(re.findall(r'^#define\s+(\w+)\s+(\d+)\s*$', header, re.MULTILINE))
    calls = dict((name, whole) for whole, name in re.findall(r'^((?:void|int|char\s*\*)\s*(\w+)\s*\([^;]*\);)', header, re.MULTILINE))
    fields = re.search(r'typedef\s+struct\s*\{(.*?)\}\s*infoDLS\s*;', header, re.DOTALL).group(1)
    assert len(macros) > 15 and len(calls) > 8, (macros, calls)
    unknown = [name for name in (*NO_MACROS, *NO_CALLS) if name not in macros and name not in calls]
    assert not unknown, f'{unknown} are left out, and do not exist'
    lines = ['#include <mpi.h>', '#include <DLS.h>', 'void look(infoDLS *info);']
    lines += [f'_Static_assert({name} == {value}, "{name}");' for name, value in macros.items() if name not in NO_MACROS]
    lines += [whole for name, whole in calls.items() if name not in NO_CALLS]
    lines += ['void look(infoDLS *info) {']
    for kind, names in re.findall(r'(\w+)\s+([^;]+);', fields):
        for name in re.findall(r'\**\s*\w+', names):
            field, stars = name.strip('* '), name.count('*')
            if field.lower() not in NO_FIELDS:
                lines.append(f'{kind} *{"*" * stars}p_{field} = &info->{field}; (void)p_{field};')
    write('look.c', '\n'.join([*lines, '}', '']))
    return call(['mpicc', '-c', 'look.c', '-std=gnu17', '-Werror', '-I' + SOURCE_ROOT + '/common/include/dls4lb'])


def test_the_module_has_what_theirs_has():
    if lacking_fortran():
        return lacking_fortran()
    module = re.sub(r'!.*', '', text_of('DLS.f90'))
    public = re.findall(r'\w+', ' '.join(re.findall(r'^\s*public\s*::(.*)$', module, re.MULTILINE)))
    fields = re.search(r'^\s*type infoDLS\s*$(.*?)^\s*end type', module, re.DOTALL | re.MULTILINE).group(1)
    assert len(public) > 12 and 'DLS_StartLoop' in public, public
    lines = ['subroutine look', 'use DLS, only: &', ', &\n'.join(public), 'implicit none', 'type(infoDLS) :: it']
    seen = set()
    kinds = {'integer': 'takes_integer', 'double precision': 'takes_double', 'double precision,allocatable,dimension(:)': 'takes_array'}
    for kind, names in re.findall(r'^\s*([\w ,():]+?)\s*::(.*)$', fields, re.MULTILINE):
        for field in re.findall(r'(\w+)\s*(?:=[^,]*)?(?:,|$)', names):
            seen.add(field.lower())
            if field.lower() not in NO_FIELDS:
                lines.append(f'call {kinds[kind.lower()]}(it%{field})')
    assert {'comm', 'stats', 'worktime', 'h'} <= seen, seen
    lines += ['contains']
    for name, kind in (('takes_integer', 'integer'), ('takes_double', 'double precision'), ('takes_array', 'double precision, allocatable')):
        lines += [f'subroutine {name}(x)', f'{kind} :: x{"(:)" if name == "takes_array" else ""}', f'print *, kind(x)', 'end subroutine']
    write('look.f90', '\n'.join([*lines, 'end subroutine', '']))
    return call(['mpifort', '-c', 'look.f90', '-I' + MODULES])


# --- the fragments of its README ---

# A line of a fragment that is no Fortran, and what stands there instead: what it asks for, or what is meant.
FILLED_IN = [
    (r'^\s*(\w*[mM]ethod) = \.\.\..*', r'\1 = 6'),
    (r'^\s*\.\.\. i-iterate.*', 'mine = mine + 1'),
    (r'^\s*\.\.\. part of j-iterate.*', 'rows = rows + 1'),
    (r'^\s*end i-loop\s*$', '! end i-loop'),
    (r'jSjze', 'jSize'),
]
BEGIN = {1: ['integer, parameter :: N = 1000', 'integer :: i, mine, rows, everything, error'],
         2: ['integer, parameter :: M = 12', 'integer :: i, j, mine, rows, everything, error', 'integer :: N(M)']}


def fragment(number):
    """The lines of the README's program for loops of type I or II."""
    title = {1: r'For Type I loops', 2: r'For Type II loops'}[number]
    found = re.search(title + r'[^\n]*\n(.*?)\n\s*where:', text_of('README.md'), re.DOTALL)
    assert found, f'README.md has no "{title}" any more'
    return found.group(1).splitlines()


def completed(number):
    """The fragment as a program: it begins and ends MPI, and counts. Its `...` are filled in."""
    lines, dots = [], 0
    for line in fragment(number):
        for pattern, instead in FILLED_IN:
            line = re.sub(pattern, instead, line)
        if line.strip() == '...':
            dots += 1
            line = '\n'.join(BEGIN[number] if dots == 1 else ['call MPI_Init(error)', 'mine = 0', 'rows = 0'] + (['N = 50'] if number == 2 else []))
        lines.append(line)
    assert dots == 2, lines
    end = ['call MPI_Reduce(mine, everything, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, error)',
           f"if ({'info' if number == 1 else 'jInfo'}%myRank == 0 .and. everything > 0) print '(I0)', everything",
           *(['call DLS_Finalize(info)'] if number == 1 else ['call DLS_Finalize(iInfo)', 'call DLS_Finalize(jInfo)']), 'call MPI_Finalize(error)', 'end']
    return '\n'.join([*lines, *end, ''])


def test_the_programs_of_the_readme():
    if lacking_fortran():
        return lacking_fortran()
    for number, expected in ((1, '1000\n'), (2, '600\n')):
        write(f'type{number}.f90', completed(number))
        compile_fortran(f'type{number}.f90', f'./type{number}', is_plain=True)
        for ranks in (1, 3, 5):
            result = run(mpirun_line([(ranks, [f'./type{number}'])]))
            assert result.status == 0 and result.out == expected and not result.err, f'type {number}, {ranks} ranks: {result}'
    return None


# --- its programs ---

def programs(endings, pattern):
    found = [path for ending in endings for path in sorted(glob.glob(os.path.join(FOLDER, '**', '*' + ending), recursive=True))]
    return [path for path in found if re.search(pattern, text_of(os.path.relpath(path, FOLDER)), re.MULTILINE | re.IGNORECASE | re.DOTALL)]


def test_the_programs_in_its_folders():
    if lacking():
        return lacking()
    in_c = programs(['.c'], r'#include\s*[<"]DLS\.h[>"].*\bmain\s*\(')
    in_fortran = programs(['.f', '.f90', '.F90'], r'^\s*program\s+\w+.*^\s*use\s+DLS\b')
    for number, source in enumerate(in_c):
        compile_c(source, f'./c{number}')
        result = run(mpirun_line([(3, [f'./c{number}'])]))
        assert result.status == 0, f'{source}: {result}'
    if in_fortran and lacking_fortran():
        return lacking_fortran()
    for number, source in enumerate(in_fortran):
        compile_fortran(source, f'./fortran{number}', is_plain=False)
        result = run(mpirun_line([(3, [f'./fortran{number}'])]))
        assert result.status == 0, f'{source}: {result}'
    return None if in_c or in_fortran else f'{FOLDER} has the library alone, and no program in C or Fortran'


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
