# SPDX-License-Identifier: MIT
"""Kernels of the tests and of the examples, as their users compile them."""
import atexit
import functools
import os
import shutil
import tempfile

from launch import run

SOURCE = os.environ['SOURCE_ROOT']


def build(name, source, flags=()):
    made = run(['cc', '-O1', '-shared', '-fPIC', '-Wall', '-I', os.path.join(SOURCE, 'common/include'), *flags, source, '-o', name])
    assert made.status == 0 and not made.err, made


@functools.cache
def built(name):
    folder = tempfile.mkdtemp(prefix='hdss-kernels-')
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = os.path.join(folder, f'{name}.so')
    made = run(['cc', '-O1', '-shared', '-fPIC', '-w', '-I', os.path.join(SOURCE, 'common/include'),
                os.path.join(SOURCE, f'tests/system/{name}.c'), '-lpthread', '-o', path])
    assert made.status == 0, made
    return path
