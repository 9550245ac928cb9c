# SPDX-License-Identifier: MIT
"""The library as CMake finds it: projects in C, C++ and Fortran, the versions that fit, and what is said of one that does not."""
import os
import shutil
import subprocess

from installed import SOURCE_ROOT, check_pi, install, library_folder, pkg_config, readme_example, works
from launch import main, mpirun_line, run

CMAKE = shutil.which('cmake')


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


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
