# SPDX-License-Identifier: MIT
"""HDSS as one file (-Dstatic=true): what runs in a root that holds nothing but it, and what is said of the rest. In another build it is built first, if the
archives of all libraries are there."""
import functools
import os
import re
import shutil
import struct
import subprocess
import tempfile

from launch import HDSS, Skipped, finish, main, run, start, wait_until
from sets import down, here, well

LARGEST = 15 << 20  # bytes, stripped
PICTURE = ['mandelbrot', 'width=200', 'height=150']


def builds():
    """A folder in which it is built."""
    archives = ('event_core', 'event_extra', 'jansson', 'xxhash', 'png', 'z', 'ssl', 'crypto', 'c')
    lacking = [name for name in archives if not os.path.isabs(subprocess.check_output(['cc', f'-print-file-name=lib{name}.a'], text=True).strip())]
    if lacking or not os.environ.get('MESON'):
        raise Skipped(f'there is no lib{lacking[0]}.a' if lacking else 'there is no meson')
    folder = tempfile.mkdtemp(prefix='hdss-one-')
    for words in ([os.environ['MESON'], 'setup', '-Dmpi=none', '-Dstatic=true', '-Dtests=false', folder, os.environ['SOURCE_ROOT']], ['ninja', '-C', folder]):
        said = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        assert said.returncode == 0, said.stdout[-3000:]
    return folder


@functools.lru_cache(maxsize=None)
def one_file():
    """Its bytes, stripped."""
    folder = tempfile.mkdtemp(prefix='hdss-one-') if os.environ.get('ONE_FILE') else builds()
    try:
        stripped = os.path.join(folder, 'stripped')
        subprocess.run(['strip', '-o', stripped, os.environ.get('ONE_FILE') or os.path.join(folder, 'deploy/hdss')], check=True)
        with open(stripped, 'rb') as file:
            return file.read()
    finally:
        shutil.rmtree(folder)


def inside(*words):
    """A command line in the root, where there is nothing else, and no environment."""
    if os.getuid() != 0:
        raise Skipped('chroot needs root')
    if not os.path.exists('root/hdss'):
        os.mkdir('root')
        with open('root/hdss', 'wb') as file:
            file.write(one_file())
        os.chmod('root/hdss', 0o755)
    return ['env', '-i', 'XDG_RUNTIME_DIR=/run', 'HOME=/', 'LC_ALL=C.UTF-8', shutil.which('chroot'), os.path.abspath('root'), '/hdss', *words]


def test_it_is_linked_statically_and_small():
    program = one_file()
    start_of_table, = struct.unpack_from('<Q', program, 32)
    size, count = struct.unpack_from('<HH', program, 54)
    kinds = [struct.unpack_from('<I', program, start_of_table + i * size)[0] for i in range(count)]
    assert program[:5] == b'\x7fELF\x02' and 1 in kinds and 3 not in kinds, kinds  # PT_LOAD, and no PT_INTERP
    assert len(program) <= LARGEST, f'{len(program)} bytes'


def test_tasks_in_an_empty_root():
    result = run(inside('exec', '/hdss', '--version', ':::', '1', '2'))
    assert result.status == 0 and re.fullmatch(r'(hdss \(HDSS\) [0-9.]+\n){2}', result.out), result
    wait_until(lambda: os.listdir('root') == ['hdss'], 'the ranks to leave')  # the command is quicker
    failed = run(inside('exec', '/nothing', ':::', '1'))
    assert failed.status != 0 and '/nothing' in failed.raw_err, failed


def test_loops_in_an_empty_root():
    alone = run([HDSS, 'run', '--workers', '2', *PICTURE]).checksum()
    for words in (['--workers', '2'], ['--masters', '1', '--workers', '2', '--threads', '2', '--output', 'picture.npy'], ['--workers', '2', '--isolate', 'on']):
        result = run(inside('run', *words, *PICTURE))
        assert result.status == 0 and result.err == [] and result.checksum() == alone, result
    wait_until(lambda: sorted(os.listdir('root')) == ['hdss', 'picture.npy', 'picture.npy.journal'], 'the ranks to leave')


def test_a_set_in_an_empty_root():
    inside()
    os.mkdir('root/run', 0o700)
    try:
        for words, says in ((['up', '--name', 'alone', '--workers', '2'], r'alone is up\n'), (['submit', *PICTURE], r'alone/1\n'),
                            (['wait', '1'], r'alone/1: done, 150 of 150 .*\n'), (['jobs', '--all'], r'(.|\n)*alone/1 +mandelbrot +done(.|\n)*')):
            result = run(inside(*words))
            assert result.status == 0 and re.fullmatch(says, result.out), result
    finally:
        ended = run(inside('down'))
    assert ended.out == 'alone has ended\n', ended


def test_a_pod_from_an_empty_root_joins_over_tcp():
    here()
    if 'OpenSSL' in run([HDSS, 'up', '--listen', '127.0.0.1:0', '--pods-only']).raw_err:
        return 'this build has no TLS'
    try:
        inside()
        shutil.copy('hdss/main/pods', 'root/pods')
        pod = start(inside('join', '--workers', '2', '/pods'))
        wait_until(lambda: 'main/pod1' in well(['pods']), 'the pod')
        well(['submit', '--results', 'here', *PICTURE])  # the pod has no such folder
        assert well(['wait', '1']).startswith('main/1: done, 150 of 150')
    finally:
        down()
    assert finish(pod).status == 0
    return None


def test_what_it_cannot_do_is_said():
    for words, says in (
            (['run', 'python:mine.roots'], 'hdss run: kernel python:mine.roots: this HDSS is one file, which loads no Python; needed: an HDSS that is installed'),
            (['run', './mine.so'], 'hdss run: kernel ./mine.so: this HDSS is one file, which loads no shared objects; needed: an HDSS that is installed'),
            (['run', '--technique', './mine.so', *PICTURE],
             'hdss run: --technique: technique ./mine.so: this HDSS is one file, which loads no shared objects; needed: an HDSS that is installed'),
            (['run', '--dca', 'two-sided', *PICTURE], 'hdss run: this HDSS is one file, which has no MPI: it runs on one machine, and others join it (hdss join); needed: an HDSS that is installed'),
            (['top'], 'hdss top: it takes Python 3.9 or later and the Python package of HDSS; install them (Debian: python3-hdss)'),
            (['run', '--http', 'node1:80', *PICTURE],
             'supermaster: --http: cannot listen at node1:80: this HDSS is one file, which looks up no names; accepted: a number, say 192.0.2.1')):
        if '--http' in words:
            os.mkdir('root/run', 0o700)
        result = run(inside(*words))
        assert result.status == 2 and result.err == [says] and result.out == '', result


if __name__ == '__main__':
    main([test_it_is_linked_statically_and_small, test_tasks_in_an_empty_root, test_loops_in_an_empty_root, test_a_set_in_an_empty_root,
          test_a_pod_from_an_empty_root_joins_over_tcp, test_what_it_cannot_do_is_said])
