# SPDX-License-Identifier: MIT
"""The image that deploy/container/Containerfile describes, built and used: a run in it has the checksum of one outside. Only where podman or docker has an engine
that works, and the image of Debian or a way to it.
"""
import os
import shutil
import subprocess

from launch import HDSS, main, run, source_only

SOURCE_ROOT = os.environ['SOURCE_ROOT']
BASE, IMAGE = 'docker.io/library/debian:bookworm-slim', 'localhost/hdss-test'
JOB = ['run', '--workers', '2', 'mandelbrot', 'width=64', 'height=64']


def ask(*words):
    return subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def working_engine():
    """The engine, and why there is none."""
    reasons = []
    for engine in ('podman', 'docker'):
        if not shutil.which(engine):
            reasons.append(f'no {engine}')
        elif ask(engine, 'info').returncode != 0:
            reasons.append(f'no engine of {engine} answers')
        elif ask(engine, 'image', 'inspect', BASE).returncode != 0 and ask(engine, 'pull', BASE).returncode != 0:
            reasons.append(f'{engine} cannot get {BASE}')
        elif ask(engine, 'run', '--rm', BASE, 'true').returncode != 0:
            reasons.append(f'{engine} can run no container')
        else:
            return engine, None
    return None, ', '.join(reasons)


def check_image(engine):
    built = ask(engine, 'build', '--tag', IMAGE, '--file', 'source/deploy/container/Containerfile', 'source')
    assert built.returncode == 0, built.stdout[-3000:]
    assert 'the picture is /home/hdss/mandelbrot.png' in built.stdout, built.stdout[-3000:]
    user = ask(engine, 'run', '--rm', '--entrypoint', 'id', IMAGE, '-un')
    assert user.returncode == 0 and user.stdout == 'hdss\n', user
    inside, outside = ask(engine, 'run', '--rm', IMAGE, *JOB), run([HDSS, *JOB])
    assert inside.returncode == 0 and outside.status == 0 and f'checksum     {outside.checksum()}' in inside.stdout, (inside.stdout, outside)


def test_the_image():
    engine, why = working_engine()
    if engine is None:
        return why
    shutil.copytree(SOURCE_ROOT, 'source', symlinks=True, ignore=source_only)
    try:
        check_image(engine)
    finally:
        ask(engine, 'rmi', '--force', IMAGE)
    return None


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
