# SPDX-License-Identifier: MIT
"""What is installed, and the library there: what is where, what it shows of itself, and programs that find it by pkg-config and CMake: the README's in C and C++,
one in Fortran, and one for DLS4LB."""
import glob
import json
import os
import re
import shutil
import subprocess

from installed import BUILD_ROOT, MESON, SOURCE_ROOT, check_pi, install, library_folder, pkg_config, readme_example, works
from launch import main, mpirun_line, run


def flags(prefix, package):
    """A build for /usr leaves it to the loader to find the library."""
    with open(library_folder(prefix) + '/pkgconfig/hdss.pc', encoding='utf-8') as file:
        is_for_the_system = 'prefix=/usr\n' in file.read()
    return pkg_config(prefix, '--cflags', '--libs', package).split() + (['-Wl,-rpath,' + library_folder(prefix)] if is_for_the_system else [])


def compile_with(compiler, source, program, *options):
    done = subprocess.run([compiler, source, *options, '-o', program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_readme_example_is_the_installed_one():
    readme_example('pi.c')
    with open('pi.c', encoding='utf-8') as readme, open(os.path.join(SOURCE_ROOT, 'deploy/examples/library/pi.c'), encoding='utf-8') as example:
        assert example.read().endswith('*/\n' + readme.read())


def test_everything_is_where_it_is_looked_for():
    prefix = install()
    found = {os.path.relpath(os.path.join(folder, name), prefix) for folder, _, names in os.walk(prefix) for name in names}
    daemons = ['supermaster', 'master', 'worker']
    expected = [f'{folder}/{name}{ending}' for name in ['hdss', *daemons]
                for folder, ending in (('bin', ''), ('share/man/man1', '.1'), ('share/bash-completion/completions', ''))]
    expected += [f'share/man/{page}' for page in ('man1/hdss-run.1', 'man1/hdss-down.1', 'man5/hdss-files.5', 'man7/hdss-faults.7', 'man7/hdss-tasks.7')]
    expected += ['share/man/man7/hdss-kernel.7', 'share/man/man7/hdss-python.7', 'share/man/man7/hdss-techniques.7', 'share/doc/hdss/tutorial.md', 'share/doc/hdss/python.md', 'share/doc/hdss/how-to.md', 'share/man/man3/dls4lb.3', 'share/zsh/site-functions/_hdss', 'share/fish/vendor_completions.d/worker.fish',
                 'include/hdss/kernel.h', 'include/hdss/technique.h', 'share/doc/hdss/examples/techniques/factoring.c', 'share/doc/hdss/examples/techniques/share.py', 'share/man/man3/hdss-technique.3',
                 'include/hdss/hdss.h', 'include/dls4lb/DLS.h', 'share/doc/hdss/examples/library/pi.c', 'share/doc/hdss/examples/library/pi.f90', 'share/doc/hdss/examples/python/mpi_scan.py']
    kernels = os.path.join(SOURCE_ROOT, 'deploy/examples/kernels')
    expected += ['share/doc/hdss/examples/kernels/' + name for name in os.listdir(kernels) if os.path.isfile(os.path.join(kernels, name))]
    if 'DLS4LB_FORTRAN' in os.environ:
        endings_of_modules = ['/hdss.mod', '/dls.mod', '/plain/dls.mod', '/dls4lb_calls.mod', '/pkgconfig/hdss-fortran.pc', '/pkgconfig/dls4lb-fortran.pc',
                              '/pkgconfig/dls4lb-fortran-plain.pc', '/libhdss_fortran.so.0']
        assert not [ending for ending in endings_of_modules if not any(name.endswith(ending) for name in found)], found
    assert not [name for name in expected if name not in found], (set(expected) - found, found)
    endings = ['libhdss.so', 'libhdss.so.0', 'pkgconfig/hdss.pc', 'pkgconfig/dls4lb.pc', 'pkgconfig/hdss-kernel.pc', 'pkgconfig/hdss-technique.pc']
    assert not [ending for ending in endings if not any(name.endswith('/' + ending) for name in found)], found


def test_the_options_of_the_document():
    prefix = install()
    with open(os.path.join(SOURCE_ROOT, 'docs/library.md'), encoding='utf-8') as file, open('options.c', 'w', encoding='utf-8') as program:
        program.write(re.search('```c\n(.*?)```', file.read(), re.DOTALL).group(1))
    compile_with('mpicc', 'options.c', './options', '-O2', '-std=c11', '-Wall', '-Wextra', '-Werror', *flags(prefix, 'hdss'))
    result = run(mpirun_line([(2, ['./options'])]))
    with open('loop.json', encoding='utf-8') as file:
        report = json.load(file)
    assert result.status == 0 and not result.out and 'gss' in json.dumps(report), (result, report)


def test_the_manual_before_installation():
    """As docs/INSTALL.md and deploy/quickstart have it."""
    if not shutil.which('man'):
        return 'no man'
    for name in ('docs/INSTALL.md', 'deploy/quickstart'):
        with open(os.path.join(SOURCE_ROOT, name), encoding='utf-8') as file:
            assert '--tags man --destdir pages\n' in file.read(), name
    made = run([MESON, 'install', '-C', BUILD_ROOT, '--no-rebuild', '--tags', 'man', '--destdir', os.path.abspath('pages')])
    assert made.status == 0, made
    (folder,) = glob.glob('pages/**/share/man', recursive=True)
    names = ['hdss', 'hdss-run', 'hdss-down', 'hdss-python', 'hdss_loop_new', 'hdss_loop_free', 'supermaster']
    found = run(['env', f'MANPATH={os.path.abspath(folder)}:', 'man', '-w', *names])
    assert found.status == 0 and len(found.out.splitlines()) == len(names), found
    return None


def test_the_readme_example_in_c_and_cxx():
    prefix = install()
    readme_example('pi.c')
    readme_example('pi.cc')
    compile_with('mpicc', 'pi.c', './pi', '-O2', '-std=c11', '-Wall', '-Wextra', '-Werror', *flags(prefix, 'hdss'))
    check_pi('./pi')
    if works('mpicxx'):
        compile_with('mpicxx', 'pi.cc', './pi-cxx', '-O2', *flags(prefix, 'hdss'))
        check_pi('./pi-cxx')


def test_a_program_for_dls4lb():
    prefix = install()
    compile_with('mpicc', os.path.join(SOURCE_ROOT, 'tests/system/dls4lb_program.c'), './dls', *flags(prefix, 'dls4lb'))
    result = run(mpirun_line([(3, ['./dls', 'lengths'])]))
    assert result.status == 0 and result.out == 'ok\n', result


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
