# SPDX-License-Identifier: MIT
"""What is installed, and the library there: what is where, what it shows of itself, and programs that find it by pkg-config and CMake: the README's in C and C++,
one in Fortran, and one for DLS4LB."""
import glob
import os
import re
import shutil
import subprocess

from launch import long, main, mpirun_line, run

SOURCE_ROOT = os.environ['SOURCE_ROOT']
BUILD_ROOT, MESON = os.environ['BUILD_ROOT'], os.environ['MESON']
CMAKE = shutil.which('cmake')
os.environ.pop('LD_LIBRARY_PATH', None)  # Meson sets it to the build folder, where programs of users do not look


def install():
    """Into ./stage. Returns the prefix there."""
    done = subprocess.run([MESON, 'install', '-C', BUILD_ROOT, '--no-rebuild', '--quiet', '--destdir', os.path.abspath('stage')],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    header = glob.glob('stage/**/include/hdss/hdss.h', recursive=True)
    assert len(header) == 1, header
    return os.path.abspath(os.path.join(header[0], '..', '..', '..'))


def library_folder(prefix):
    return os.path.dirname(glob.glob(prefix + '/**/libhdss.so', recursive=True)[0])


def pkg_config(prefix, *words):
    """What pkg-config says of the library in `prefix`, as if it had been configured for that."""
    env = dict(os.environ, PKG_CONFIG_PATH=library_folder(prefix) + '/pkgconfig')
    return subprocess.run(['pkg-config', '--define-variable=prefix=' + prefix, *words], env=env, capture_output=True, text=True, check=True).stdout


def flags(prefix, package):
    """A build for /usr leaves it to the loader to find the library."""
    with open(library_folder(prefix) + '/pkgconfig/hdss.pc', encoding='utf-8') as file:
        is_for_the_system = 'prefix=/usr\n' in file.read()
    return pkg_config(prefix, '--cflags', '--libs', package).split() + (['-Wl,-rpath,' + library_folder(prefix)] if is_for_the_system else [])


def compile_with(compiler, source, program, *options):
    done = subprocess.run([compiler, source, *options, '-o', program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def works(compiler):
    """MPI's wrappers are there also where the compiler that they call is not."""
    return shutil.which(compiler) is not None and subprocess.run([compiler, '--version'], capture_output=True, check=False).returncode == 0


def readme_example(name):
    with open(os.path.join(SOURCE_ROOT, 'README.md'), encoding='utf-8') as file:
        text = re.search(r'```c\n(#include <hdss/hdss\.h>.*?)```', file.read(), re.DOTALL).group(1)
    with open(name, 'w', encoding='utf-8') as file:
        file.write(text)


def test_the_readme_example_is_the_installed_one():
    readme_example('pi.c')
    with open('pi.c', encoding='utf-8') as readme, open(os.path.join(SOURCE_ROOT, 'deploy/examples/library/pi.c'), encoding='utf-8') as example:
        assert example.read().endswith('*/\n' + readme.read())


def check_pi(program):
    result = run(mpirun_line([(3, [program])]))
    assert result.status == 0 and result.out == 'pi is 3.141593\n', result


def test_everything_is_where_it_is_looked_for():
    prefix = install()
    found = {os.path.relpath(os.path.join(folder, name), prefix) for folder, _, names in os.walk(prefix) for name in names}
    daemons = ['supermaster', 'master', 'worker']
    expected = [f'{folder}/{name}{ending}' for name in ['hdss', *daemons]
                for folder, ending in (('bin', ''), ('share/man/man1', '.1'), ('share/bash-completion/completions', ''))]
    expected += ['share/man/man7/hdss-kernel.7', 'share/man/man7/hdss-python.7', 'share/man/man7/hdss-techniques.7', 'share/man/man7/hdss-tutorial.7', 'share/man/man3/dls4lb.3', 'share/zsh/site-functions/_hdss', 'share/fish/vendor_completions.d/worker.fish',
                 'include/hdss/kernel.h', 'include/hdss/technique.h', 'share/doc/hdss/examples/techniques/factoring.c', 'share/doc/hdss/examples/techniques/share.py', 'share/man/man3/hdss-technique.3',
                 'include/hdss/hdss.h', 'include/dls4lb/DLS.h', 'share/doc/hdss/examples/library/pi.c', 'share/doc/hdss/examples/library/pi.f90', 'share/doc/hdss/examples/python/mpi_scan.py']
    expected += ['share/doc/hdss/examples/kernels/' + name for name in os.listdir(os.path.join(SOURCE_ROOT, 'deploy/examples/kernels'))]
    if 'DLS4LB_FORTRAN' in os.environ:
        endings_of_modules = ['/hdss.mod', '/dls.mod', '/plain/dls.mod', '/dls4lb_calls.mod', '/pkgconfig/hdss-fortran.pc', '/pkgconfig/dls4lb-fortran.pc',
                              '/pkgconfig/dls4lb-fortran-plain.pc', '/libhdss_fortran.so.0']
        assert not [ending for ending in endings_of_modules if not any(name.endswith(ending) for name in found)], found
    assert not [name for name in expected if name not in found], (set(expected) - found, found)
    endings = ['libhdss.so', 'libhdss.so.0', 'pkgconfig/hdss.pc', 'pkgconfig/dls4lb.pc', 'pkgconfig/hdss-kernel.pc', 'pkgconfig/hdss-technique.pc']
    assert not [ending for ending in endings if not any(name.endswith('/' + ending) for name in found)], found


@long
def test_the_readme_example_in_c_and_cxx():
    prefix = install()
    readme_example('pi.c')
    readme_example('pi.cc')
    compile_with('mpicc', 'pi.c', './pi', '-O2', '-std=c11', '-Wall', '-Wextra', '-Werror', *flags(prefix, 'hdss'))
    check_pi('./pi')
    if works('mpicxx'):
        compile_with('mpicxx', 'pi.cc', './pi-cxx', '-O2', *flags(prefix, 'hdss'))
        check_pi('./pi-cxx')


@long
def test_a_program_for_dls4lb():
    prefix = install()
    compile_with('mpicc', os.path.join(SOURCE_ROOT, 'tests/system/dls4lb_program.c'), './dls', *flags(prefix, 'dls4lb'))
    result = run(mpirun_line([(3, ['./dls', 'lengths'])]))
    assert result.status == 0 and result.out == 'ok\n', result


@long
def test_programs_in_fortran():
    if 'DLS4LB_FORTRAN' not in os.environ or not works('mpifort'):
        return 'no gfortran, or no MPI for it'
    prefix = install()
    compile_with('mpifort', os.path.join(SOURCE_ROOT, 'deploy/examples/library/pi.f90'), './pi', *flags(prefix, 'hdss-fortran'))
    check_pi('./pi')
    for package, source in (('dls4lb-fortran', 'dls4lb_program'), ('dls4lb-fortran-plain', 'dls4lb_plain')):
        compile_with('mpifort', os.path.join(SOURCE_ROOT, f'tests/system/{source}.f90'), './dls', *flags(prefix, package))
        result = run(mpirun_line([(2, ['./dls', 'fields'])]))
        assert result.status == 0 and result.out in ('ok\n', '1000 iterations, sum 500500\n'), result
    return None


def cmake_project(prefix, text):
    """Configures the CMakeLists.txt of the text in ./b, afresh. Returns what ended."""
    shutil.rmtree('b', ignore_errors=True)
    with open('CMakeLists.txt', 'w', encoding='utf-8') as file:
        file.write('cmake_minimum_required(VERSION 3.16)\n' + text)
    return subprocess.run([CMAKE, '-S', '.', '-B', 'b', f'-DCMAKE_PREFIX_PATH={prefix}', '-DCMAKE_BUILD_TYPE=Release'], capture_output=True, text=True, check=False)


def cmake_build(prefix, languages, source, target='hdss::hdss', more=''):
    """Builds b/program of the source in a project of these languages."""
    configured = cmake_project(prefix, f'project(program {languages})\n{more}find_package(hdss 0.1 REQUIRED)\n'
                               f'add_executable(program {source})\ntarget_link_libraries(program {target})\n')
    assert configured.returncode == 0, f'{languages}: {configured.stdout}{configured.stderr}'
    built = subprocess.run([CMAKE, '--build', 'b', '--verbose'], capture_output=True, text=True, check=False)
    assert built.returncode == 0, f'{languages}: {built.stdout}{built.stderr}'


@long
def test_cmake_projects_in_c_and_cxx():
    if CMAKE is None:
        return 'no cmake'
    prefix = install()
    readme_example('pi.c')
    cmake_build(prefix, 'C', 'pi.c')
    check_pi('b/program')
    cmake_build(prefix, 'C', os.path.join(SOURCE_ROOT, 'tests/system/dls4lb_program.c'), 'hdss::dls4lb')
    result = run(mpirun_line([(3, ['b/program', 'lengths'])]))
    assert result.status == 0 and result.out == 'ok\n', result
    if not works('c++') or not works('mpicxx'):
        return 'no C++ compiler; in C it works'
    readme_example('pi.cc')
    for languages in ('CXX', 'C CXX'):
        cmake_build(prefix, languages, 'pi.cc')
        check_pi('b/program')
    return None


FORTRAN_SUM = """program sum_of_indices
  use, intrinsic :: iso_c_binding
  use mpi
  implicit none
  interface
    function hdss_loop_new(comm, iterations, options, loop) bind(C) result(status)
      import :: c_ptr, c_int64_t, c_int
      type(c_ptr), value :: comm, options
      integer(c_int64_t), value :: iterations
      type(c_ptr), intent(out) :: loop
      integer(c_int) :: status
    end function
    function hdss_loop_next(loop, first, count) bind(C) result(status)
      import :: c_ptr, c_int64_t, c_int
      type(c_ptr), value :: loop
      integer(c_int64_t), intent(out) :: first, count
      integer(c_int) :: status
    end function
    function hdss_loop_free(loop) bind(C) result(status)
      import :: c_ptr, c_int
      type(c_ptr), intent(inout) :: loop
      integer(c_int) :: status
    end function
    function comm_f2c(comm) bind(C, name='MPI_Comm_f2c') result(handle) ! a pointer in Open MPI
      import :: c_ptr, c_int
      integer(c_int), value :: comm
      type(c_ptr) :: handle
    end function
  end interface
  type(c_ptr) :: loop
  integer(c_int64_t) :: first, count, i, total, all_of_it
  integer :: rank, error
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  if (hdss_loop_new(comm_f2c(MPI_COMM_WORLD), 1000_c_int64_t, c_null_ptr, loop) /= 0) call MPI_Abort(MPI_COMM_WORLD, 1, error)
  total = 0
  do while (hdss_loop_next(loop, first, count) > 0)
    do i = first, first + count - 1
      total = total + i
    end do
  end do
  error = hdss_loop_free(loop)
  call MPI_Reduce(total, all_of_it, 1, MPI_INTEGER8, MPI_SUM, 0, MPI_COMM_WORLD, error)
  if (rank == 0) print '(A,I0)', 'the sum is ', all_of_it
  call MPI_Finalize(error)
end program
"""


@long
def test_cmake_projects_in_fortran():
    if CMAKE is None:
        return 'no cmake'
    if not works('gfortran') or not works('mpifort'):
        return 'no gfortran'
    prefix = install()
    with open('total.f90', 'w', encoding='utf-8') as file:
        file.write(FORTRAN_SUM)
    for languages in ('Fortran', 'C Fortran'):
        cmake_build(prefix, languages, 'total.f90')
        result = run(mpirun_line([(3, ['b/program'])]))
        assert result.status == 0 and result.out == 'the sum is 499500\n', (languages, result)
    if 'DLS4LB_FORTRAN' not in os.environ:
        return 'the build has no modules for Fortran; without them it works'
    cmake_build(prefix, 'Fortran', os.path.join(SOURCE_ROOT, 'deploy/examples/library/pi.f90'), 'hdss::fortran')
    check_pi('b/program')
    cmake_build(prefix, 'Fortran', os.path.join(SOURCE_ROOT, 'tests/system/dls4lb_plain.f90'), 'hdss::dls4lb_plain')
    result = run(mpirun_line([(2, ['b/program'])]))
    assert result.status == 0 and result.out == '1000 iterations, sum 500500\n', result
    return None


def found_by_cmake(prefix, requests):
    """{request: whether find_package(hdss request) takes the one in `prefix`}"""
    text = 'project(versions C)\n'
    for request in requests:
        text += (f'unset(hdss_DIR CACHE)\nfind_package(hdss {request} QUIET)\n'
                 f'file(APPEND found.txt "{request}=${{hdss_FOUND}}\\n")\n')
    done = cmake_project(prefix, text.replace('found.txt', os.path.abspath('found.txt')))
    assert done.returncode == 0, done.stdout + done.stderr
    with open('found.txt', encoding='utf-8') as file:
        return {request: found == '1' for request, found in (line.split('=') for line in file.read().splitlines())}


@long
def test_the_versions_that_cmake_takes():
    if CMAKE is None:
        return 'no cmake'
    prefix = install()
    version = pkg_config(prefix, '--modversion', 'hdss').strip()
    major, minor, patch = (int(word) for word in version.split('.'))
    expected = {'': True, f'{major}': True, f'{major}.{minor}': True, version: True, version + ' EXACT': True,
                f'{major}.{minor}.{patch + 1}': False, f'{major}.{minor + 1}': False, f'{major + 1}': False, f'{major}.{minor} EXACT': patch == 0,
                f'{major}...{version}': True, f'{major}...<{version}': False, f'{major}...{major + 1}': True, f'{major + 1}...{major + 2}': False}
    found = found_by_cmake(prefix, expected)
    assert found == expected, found
    return None


@long
def test_what_cmake_says_of_an_installation_that_does_not_fit():
    if CMAKE is None:
        return 'no cmake'
    prefix = install()
    said = cmake_project(prefix, f'project(none NONE)\nset(hdss_DIR {library_folder(prefix)}/cmake/hdss)\nfind_package(hdss REQUIRED)\n')
    assert said.returncode != 0 and 'C, CXX or Fortran' in said.stderr, said.stderr
    os.remove(library_folder(prefix) + '/libhdss.so')
    said = cmake_project(prefix, 'project(broken C)\nfind_package(hdss REQUIRED)\n')
    assert said.returncode != 0 and 'libhdss.so' in said.stderr, said.stderr
    return None


def test_only_the_library_s_own_names_are_to_be_seen():
    library = os.path.join(library_folder(install()), 'libhdss.so.0')
    shown = subprocess.run(['nm', '-D', '--defined-only', library], capture_output=True, text=True, check=True).stdout
    names = {line.split()[2].split('@')[0] for line in shown.splitlines()}
    own = re.compile(r'hdss_(error_text|version|(options|loop)_\w+)|DLS_[A-Z]\w+|get_DLS_ShortName|Configure_Chunk_Calculation_Mode|HDSS_0')
    assert not [name for name in names if not own.fullmatch(name)], names
    with open(os.path.join(SOURCE_ROOT, 'common/include/hdss/hdss.h'), encoding='utf-8') as file:
        declared = set(re.findall(r'\b(hdss_\w+)\(', re.sub(r'/\*.*?\*/', '', file.read(), flags=re.DOTALL)))
    assert declared <= names, declared - names


def test_each_call_has_a_manual():
    manuals = ''.join(open(path, encoding='utf-8').read() for path in glob.glob(os.path.join(SOURCE_ROOT, 'deploy/library/*.3')))
    folder = os.path.join(install(), 'share/man/man3')
    for header in ('hdss/hdss.h', 'dls4lb/DLS.h'):
        with open(os.path.join(SOURCE_ROOT, 'common/include', header), encoding='utf-8') as file:
            text = re.sub(r'/\*.*?\*/', '', file.read(), flags=re.DOTALL)
        for name in re.findall(r'\b((?:hdss|DLS|get_DLS|Configure)_\w+)\(', text):
            assert re.search(r'\.(Fn|Fo) ' + name + r'\b', manuals), name
            with open(os.path.join(folder, name + '.3'), encoding='utf-8') as file:
                assert re.search(rf'^\.Nm {name}\b', file.read(), re.MULTILINE), name
    with open(os.path.join(SOURCE_ROOT, 'deploy/library/options.c'), encoding='utf-8') as file:
        for option in re.findall(r'^    \{"([a-z-]+)", 0,', file.read(), re.MULTILINE):
            assert f'.It Cm {option}\n' in manuals, option


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
