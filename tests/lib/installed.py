# SPDX-License-Identifier: MIT
"""An installation of its own, and programs that are compiled with it."""
import glob
import os
import re
import shutil
import subprocess

from launch import mpirun_line, run

SOURCE_ROOT = os.environ['SOURCE_ROOT']
BUILD_ROOT, MESON = os.environ['BUILD_ROOT'], os.environ['MESON']
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


def works(compiler):
    """MPI's wrappers are there also where the compiler that they call is not."""
    return shutil.which(compiler) is not None and subprocess.run([compiler, '--version'], capture_output=True, check=False).returncode == 0


def readme_example(name):
    with open(os.path.join(SOURCE_ROOT, 'README.md'), encoding='utf-8') as file:
        text = re.search(r'```c\n(#include <hdss/hdss\.h>.*?)```', file.read(), re.DOTALL).group(1)
    with open(name, 'w', encoding='utf-8') as file:
        file.write(text)


def check_pi(program):
    result = run(mpirun_line([(3, [program])]))
    assert result.status == 0 and result.out == 'pi is 3.141593\n', result
