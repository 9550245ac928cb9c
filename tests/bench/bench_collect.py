# SPDX-License-Identifier: MIT
"""Results into one file: MB/s of the run by records of 4 and 8 bytes, 1 KiB and 1 MiB, served by the supermaster and by 1, 2, 4 masters, beside
bare MPI messages into a file and beside the same loop without a file.

Target: at least 0.8 of the floor. The records are Mandelbrot counts with max_iter=1, of which a core makes so many
MB/s, checksum included (the first line of each table), and for 8 bytes those of the synthetic kernel without work, which are nearly free.
Workers and collectors share the cores, and where the kernel is the slower the line without a file is what can be reached. On a disk its
own bandwidth is measured before anything of ours: TMPDIR=/dev/shm leaves it out.
"""
import json
import os
import statistics
import subprocess
import tempfile

from measure import bare, header, led, record, show, side_by_side, sized
from launch import run

MASTERS = sized((0, 1, 2, 4), (0, 1))
WORKERS = 2
PIXELS = sized(1 << 27, 1 << 18)
PIECE = 1 << 20
FLOOR, WITHOUT = 'bare MPI messages into a file, 1 + 2', 'no file, central'
MANDELBROT = ['mandelbrot', 'max_iter=1']
# The records, and a technique whose chunks are about PIECE bytes: small enough for many, large enough not to measure chunks.
SHAPES = {
    '4 bytes': ([*MANDELBROT, 'width=16384', f'height={PIXELS >> 14}', 'unit=pixel'], 'css:chunk=262144'),
    '8 bytes, free': (['synthetic', 'mean=0', f'iterations={PIXELS >> 1}'], 'css:chunk=131072'),
    '1 KiB': ([*MANDELBROT, 'width=256', f'height={PIXELS >> 8}', 'unit=row'], 'css:chunk=1024'),
    '1 MiB': ([*MANDELBROT, 'width=262144', f'height={PIXELS >> 18}', 'unit=row'], 'css:chunk=1'),
}


def kernel_mb(shape):
    def once():
        out = subprocess.run([os.environ['SERIAL'], *shape], capture_output=True, text=True, check=True).stdout
        return PIXELS * 4 / json.loads(out)['seconds'] / 1e6
    return once


def run_mb(masters, technique, shape, *more):
    def once():
        if os.path.exists('out.raw'):
            os.unlink('out.raw')
        figures = led(masters, WORKERS, ['--power', 'equal', '--technique', technique, *more, *shape])
        return PIXELS * 4 / figures['elapsed_s'] / 1e6
    return once


def floor_mb():
    if os.path.exists('floor'):
        os.unlink('floor')
    pieces = max(1, PIXELS * 4 // PIECE)
    return pieces * PIECE / bare('file', 1 + WORKERS, pieces, PIECE, 'floor')['seconds'] / 1e6


def table(name, shape, technique):
    figures = side_by_side({
        'the kernel alone, one core': kernel_mb(shape),
        FLOOR: floor_mb,
        WITHOUT: run_mb(0, technique, shape),
        **{f'into a file, {masters} masters': run_mb(masters, technique, shape, '--output', 'out.raw') for masters in MASTERS},
    })
    show('collect', f'Records of {name}, {technique}', figures, 'MB/s', '{:.0f}',
         {key: FLOOR for key in figures if key.startswith('into')})
    floor, without = (statistics.median(figures[key]) for key in (FLOOR, WITHOUT))
    best = max(statistics.median(values) for key, values in figures.items() if key.startswith('into'))
    print(f'  the best line-up: {best / floor:.3f} of the floor, {best / without:.3f} of the run without a file\n', flush=True)
    record('collect', f'{name} / of the floor', [best / floor])


def main():
    os.chdir(tempfile.mkdtemp(prefix='hdss-bench-'))
    header(f'Collection, {PIXELS * 4 / 1e6:.0f} MB, {WORKERS} workers')
    for name, (shape, technique) in SHAPES.items():
        table(name, shape, technique)
    run(['rm', '-f', 'out.raw', 'floor'])


main()
