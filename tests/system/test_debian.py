# SPDX-License-Identifier: MIT
"""The packages for Debian as `dpkg-buildpackage` makes them from the recipe, installed under a folder of its own and used from there: a job
by hdss, and the tests of autopkgtest."""
import glob
import os
import re
import shutil
import subprocess

from launch import environment, main, run, source_only

SOURCE_ROOT = os.environ['SOURCE_ROOT']
FORCED = ['depends', 'not-root', 'bad-path', 'script-chrootless', 'architecture']


def check_call(words, **options):
    done = subprocess.run(words, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, f'{words}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}'
    return done.stdout


def has_debian_python():
    return shutil.which('dh_python3') and subprocess.run(['dpkg-query', '-W', 'libpython3-dev'], capture_output=True, check=False).returncode == 0


def has_gfortran():
    return shutil.which('gfortran') is not None


def imports(module):
    return subprocess.run(['/usr/bin/python3', '-c', f'import {module}'], capture_output=True, check=False).returncode == 0


def build_packages():
    """Without optimisation and tests, and hardly compressed, which leaves what is to be tested here: the recipe."""
    shutil.copytree(SOURCE_ROOT, 'source', symlinks=True, ignore=source_only)
    shutil.copytree('source/deploy/debian', 'source/debian')
    env = {name: value for name, value in os.environ.items() if not re.match(r'(C|CXX|LD|CPP)FLAGS$|CC$|MALLOC|ASAN|UBSAN', name)}
    env.update(DEB_BUILD_OPTIONS='nocheck noopt noautodbgsym parallel=2', DEB_CFLAGS_STRIP='-g', DPKG_DEB_COMPRESSOR_LEVEL='1', LC_ALL='C.UTF-8',
               DEB_BUILD_PROFILES=' '.join(['nocheck', *([] if has_debian_python() else ['nopython']), *([] if has_gfortran() else ['pkg.hdss.nofortran'])]))
    check_call(['dpkg-buildpackage', '-b', '-us', '-uc', '-d'], cwd='source', env=env)
    return sorted(glob.glob('*.deb'))


def check_lintian():
    if shutil.which('lintian'):
        changes = glob.glob('*.changes')
        assert len(changes) == 1, changes
        check_call(['lintian', '--fail-on', 'error,warning', *changes])


def without_compiler():
    """An environment for scripts of packages, in which Python's modules are not compiled: that would be done in the system's own folders."""
    os.mkdir('bin')
    with open('bin/py3compile', 'w', encoding='ascii') as file:
        file.write('#!/bin/sh\n')
    os.chmod('bin/py3compile', 0o755)
    return dict(os.environ, PATH=f'{os.path.abspath("bin")}:{os.environ["PATH"]}')


def install_packages(packages):
    root = os.path.abspath('root')
    os.makedirs('root/var/lib/dpkg/info')
    os.makedirs('root/var/lib/dpkg/updates')
    for name in ('status', 'available'):
        with open(f'root/var/lib/dpkg/{name}', 'w', encoding='utf-8'):
            pass
    check_call(['dpkg', f'--root={root}', f'--force-{",".join(FORCED)}', '--log=/dev/null', '-i', *packages], env=without_compiler())
    states = check_call(['dpkg-query', f'--admindir={root}/var/lib/dpkg', '-W', '-f=${db:Status-Status}\\n']).split()
    assert states == ['installed'] * len(packages), states
    return root


def check_files(root, packages):
    found = {os.path.relpath(os.path.join(folder, name), root) for folder, _, names in os.walk(root) for name in names}
    for name in ('usr/bin/hdss', 'usr/bin/hdss-worker', 'usr/share/man/man1/hdss-worker.1.gz', 'usr/share/man/man3/hdss_loop_new.3.gz',
                 'usr/share/man/man3/hdss_loop_free.3.gz', 'usr/share/doc/libhdss-dev/examples/library/pi.c', 'usr/share/doc/hdss/NEWS.md.gz',
                 'usr/share/bash-completion/completions/hdss-supermaster', 'usr/share/zsh/vendor-completions/_hdss', 'usr/share/fish/vendor_completions.d/hdss-worker.fish',
                 'usr/include/hdss/kernel.h', 'usr/include/hdss/technique.h', 'usr/share/doc/hdss/examples/techniques/factoring.c',
                 'usr/include/dls4lb/DLS.h', 'usr/share/doc/hdss/examples/kernels/collatz.c',
                 'usr/share/doc/hdss/copyright', 'usr/share/man/man7/hdss-python.7.gz', 'usr/share/doc/hdss/examples/python/image_folder.py'):
        assert name in found, name
    papers = [name for name in found if re.fullmatch(r'usr/lib/[\w-]+/hdss/hdss-(evrard|floyd-steinberg|hydro|spinimage)\.so', name)]
    assert len(papers) == 4, papers
    others = [name for name in found if re.fullmatch(r'usr/(bin|share/man/man1)/(?!hdss).*', name)]
    assert not others, f'names that are not ours to take: {others}'
    expected = {'hdss', 'hdss-openmpi', 'hdss-mpich', 'libhdss0', 'libhdss-dev'}
    carriers = [name for name in found if re.fullmatch(r'usr/lib/[\w-]+/hdss/carrier-(openmpi|mpich)\.so', name)]
    assert len(carriers) == 2, carriers
    if has_debian_python():
        expected |= {'hdss-python3', 'python3-hdss'}
        modules = {'usr/lib/python3/dist-packages/hdss/' + name for name in os.listdir('source/deploy/python/hdss') if name.endswith(('.py', '.typed'))}
        assert modules <= found, modules - found
    if has_gfortran():
        expected |= {'libhdss-fortran0', 'libhdss-fortran-dev'}
        modules = [name for name in found if re.fullmatch(r'usr/lib/[\w-]+/fortran/gfortran-mod-\d+/hdss/(plain/dls|dls|dls4lb_calls|hdss)\.mod', name)]
        assert len(modules) == 4 and any(name.endswith('/libhdss_fortran.so.0') for name in found), (modules, found)
    assert {package.split('_')[0] for package in packages} == expected, packages


def check_job(root):
    result = run([root + '/usr/bin/hdss', 'run', '-v', '--masters', 1, '--workers', 2, 'mandelbrot', 'width=64', 'height=64'])
    assert result.status == 0 and result.checksum() and root + '/usr/bin/hdss-worker' in result.raw_err, result
    result = run([root + '/usr/bin/hdss', 'run', '--workers', 2, '--isolate', 'on', 'spinimage', 'points=1000', 'images=20'])
    assert result.status == 0 and result.checksum(), result


def check_autopkgtest(root):
    """The tests that come with the packages, as autopkgtest runs them, which would have the packages installed."""
    folder = os.path.dirname(glob.glob(root + '/usr/lib/**/libhdss.so', recursive=True)[0])
    os.mkdir('autopkgtest')
    env = dict(environment(), PATH=f'{root}/usr/bin:/usr/bin:{os.environ["PATH"]}', PYTHONPATH=root + '/usr/lib/python3/dist-packages',
               AUTOPKGTEST_TMP=os.path.abspath('autopkgtest'), LD_LIBRARY_PATH=folder,
               PKG_CONFIG_PATH=folder + '/pkgconfig', PKG_CONFIG_SYSROOT_DIR=root,
               PKG_CONFIG_ALLOW_SYSTEM_LIBS='1', PKG_CONFIG_ALLOW_SYSTEM_CFLAGS='1')
    flags = check_call(['pkg-config', '--libs', 'hdss', 'dls4lb'], env=env)
    assert 'rpath' not in flags, f'a search path to the system\'s own folder: {flags}'
    with open('source/debian/tests/control', encoding='utf-8') as file:
        names = re.findall('^Tests: (.*)$', file.read(), re.MULTILINE)
    assert sorted(names + ['control']) == sorted(os.listdir('source/debian/tests')), names
    lacking = set() if has_debian_python() else {'python', 'executor'}
    if not imports('cloudpickle') or '--until-eof' not in check_call(['hdss', 'up', '--help'], env=env):
        lacking |= {'executor'}
    for name in [name for name in names if name not in lacking]:
        check_call([os.path.abspath('source/debian/tests/' + name)], cwd='source', env=env)


def test_the_packages():
    if not shutil.which('dh') or not shutil.which('dpkg-buildpackage'):
        return 'no debhelper'
    packages = build_packages()
    check_lintian()
    root = install_packages(packages)
    check_files(root, packages)
    check_job(root)
    check_autopkgtest(root)
    return None


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
