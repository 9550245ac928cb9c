"""What is installed, and the library there: what is where, what it shows of itself, and programs that find it by pkg-config and CMake: the README's in C and C++,
and one for DLS4LB."""
import glob
import os
import re
import shutil
import subprocess

from launch import long, main, mpirun_line, run

SOURCE_ROOT = os.environ['SOURCE_ROOT']
BUILD_ROOT, MESON = os.environ['BUILD_ROOT'], os.environ['MESON']
CMAKE = shutil.which('cmake')


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


def flags(prefix, package):
    env = dict(os.environ, PKG_CONFIG_PATH=library_folder(prefix) + '/pkgconfig', PKG_CONFIG_SYSROOT_DIR=os.path.abspath('stage'))
    found = subprocess.run(['pkg-config', '--cflags', '--libs', package], env=env, capture_output=True, text=True, check=True)
    return found.stdout.split() + ['-Wl,-rpath,' + library_folder(prefix)]


def compile_with(compiler, source, program, *options):
    done = subprocess.run([compiler, source, *options, '-o', program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


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
    expected += ['share/man/man7/hdss-kernel.7', 'share/man/man7/hdss-techniques.7', 'share/man/man3/dls4lb.3', 'share/zsh/site-functions/_hdss',
                 'include/hdss/kernel.h', 'include/hdss/hdss.h', 'include/dls4lb/DLS.h', 'share/doc/hdss/examples/library/pi.c']
    expected += ['share/doc/hdss/examples/kernels/' + name for name in os.listdir(os.path.join(SOURCE_ROOT, 'deploy/examples/kernels'))]
    assert not [name for name in expected if name not in found], (set(expected) - found, found)
    endings = ['libhdss.so', 'libhdss.so.0', 'pkgconfig/hdss.pc', 'pkgconfig/dls4lb.pc', 'pkgconfig/hdss-kernel.pc']
    assert not [ending for ending in endings if not any(name.endswith('/' + ending) for name in found)], found


@long
def test_the_readme_example_in_c_and_cxx():
    prefix = install()
    readme_example('pi.c')
    readme_example('pi.cc')
    compile_with('mpicc', 'pi.c', './pi', '-O2', '-std=c11', '-Wall', '-Wextra', '-Werror', *flags(prefix, 'hdss'))
    check_pi('./pi')
    if shutil.which('mpicxx'):
        compile_with('mpicxx', 'pi.cc', './pi-cxx', '-O2', *flags(prefix, 'hdss'))
        check_pi('./pi-cxx')


@long
def test_a_program_for_dls4lb():
    prefix = install()
    compile_with('mpicc', os.path.join(SOURCE_ROOT, 'tests/system/dls4lb_program.c'), './dls', *flags(prefix, 'dls4lb'))
    result = run(mpirun_line([(3, ['./dls', 'lengths'])]))
    assert result.status == 0 and result.out == 'ok\n', result


@long
def test_a_cmake_project():
    if CMAKE is None:
        return 'no cmake'
    prefix = install()
    readme_example('pi.c')
    with open('CMakeLists.txt', 'w', encoding='utf-8') as file:
        file.write('cmake_minimum_required(VERSION 3.16)\nproject(pi C)\nfind_package(hdss 0.1 REQUIRED)\n'
                   'add_executable(pi pi.c)\ntarget_link_libraries(pi hdss::hdss)\n')
    for words in (['-S', '.', '-B', 'b', f'-DCMAKE_PREFIX_PATH={prefix}', '-DCMAKE_BUILD_TYPE=Release'], ['--build', 'b']):
        done = subprocess.run([CMAKE, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    check_pi('b/pi')
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
    manuals = ''.join(open(path, encoding='utf-8').read() for path in glob.glob(os.path.join(SOURCE_ROOT, 'common/api/*.3')))
    for header in ('hdss/hdss.h', 'dls4lb/DLS.h'):
        with open(os.path.join(SOURCE_ROOT, 'common/include', header), encoding='utf-8') as file:
            text = re.sub(r'/\*.*?\*/', '', file.read(), flags=re.DOTALL)
        for name in re.findall(r'\b((?:hdss|DLS|get_DLS|Configure)_\w+)\(', text):
            assert re.search(r'\.(Fn|Fo) ' + name + r'\b', manuals), name
    with open(os.path.join(SOURCE_ROOT, 'common/api/options.c'), encoding='utf-8') as file:
        for option in re.findall(r'^    \{"([a-z-]+)", 0,', file.read(), re.MULTILINE):
            assert f'.It Cm {option}\n' in manuals, option


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
