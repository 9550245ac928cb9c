# SPDX-License-Identifier: MIT
"""Outputs and built-in loops in every line-up: the same file, the same checksum."""
import hashlib
import os

from launch import main, run_job
from lineups import check


def test_the_output_is_the_same_file_everywhere():
    digests = set()
    for masters, workers, unit, extra in [(0, 2, 'row', []), (1, 3, 'row', ['--technique', 'ss']), (2, 4, 'row', []),
                                          (4, 7, 'row', ['--ask-ahead', '4']), (2, 3, 'row', ['--technique', 'static']),
                                          (1, 2, 'pixel', ['--technique', 'gss'])]:
        words = [*extra, '--output', 'out.npy', 'mandelbrot', 'width=200', 'height=150', 'max_iter=200', f'unit={unit}']
        check(masters, workers, words, f'mandelbrot {unit}')
        with open('out.npy', 'rb') as file:
            digests.add(hashlib.sha256(file.read()).hexdigest())
    assert len(digests) == 1, digests


def test_results_larger_than_one_message_arrive():
    # 3,000 x 400 counts in rows: 4.8 MB, in chunks beyond SLICE_MAX with static on 2 workers
    digests = set()
    for masters in (0, 1, 2):
        words = ['--technique', 'static', '--output', 'out.bin', 'mandelbrot', 'width=3000', 'height=400', 'max_iter=30']
        check(masters, 2, words, 'large')
        with open('out.bin', 'rb') as file:
            digests.add(hashlib.sha256(file.read()).hexdigest())
    assert len(digests) == 1, digests


def test_a_link_to_an_output_stays_a_link():
    for name in ('out.csv', 'out.png', 'out.npy'):
        open('real-' + name, 'w').close()
        os.symlink('real-' + name, name)
        words = ['--output', name, 'mandelbrot', 'width=64', 'height=48', 'max_iter=50']
        result = run_job(1, 2, words)
        assert result.status == 0, result
        assert os.path.islink(name) and os.path.getsize('real-' + name) > 100, name


def test_adjoint_convolution():
    for masters in (0, 2):
        check(masters, 3, ['--output', 'out.npy', 'adjoint', 'n=40'], 'adjoint')


def test_spin_images():
    with open('pyramid.obj', 'w') as file:
        file.write('v 0 0 2\nv 1 1 0\nv -1 1 0\nv -1 -1 0\nv 1 -1 0\nf 1 2 3\nf 1 3 4\nf 1 4 5\nf 1 5 2\nf 2 5 4 3\n')
    for words in (['points=3000', 'images=90'], ['file=pyramid.obj', 'image_width=8', 'support_angle=180']):
        for masters in (0, 2):
            check(masters, 3, ['--output', 'out.npy', 'spinimage', *words], words[0])


def test_a_collapsing_sphere():
    for scheduled in ('all', 'gravity'):
        for masters in (0, 2):
            words = ['--output', 'out.npy', 'evrard', 'particles=200', 'steps=6', 'end_time=0.2', f'scheduled={scheduled}']
            check(masters, 3, words, f'evrard {scheduled}')


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
