# SPDX-License-Identifier: MIT
"""How many cells are in each picture of a folder, and how large are they? A table of all pictures.

    python3 image_folder.py --make 50 pictures        # some pictures to try it with
    python3 image_folder.py pictures cells.csv

A picture is divided by Otsu's threshold into cells and what is between them; what hangs together is one cell. Pictures
with many cells take longer than those with few. A picture that cannot be read has its error in the table, and all
others are counted. PGM files (P5) need numpy alone; other files are read by Pillow, where that is installed.
"""
import argparse
import csv
import os

import numpy

import hdss

ENDINGS = ('.pgm', '.png', '.jpg', '.jpeg', '.tif', '.tiff')
CELL_LEAST = 5  # pixels: less is noise


def read(path):
    """The grey levels of a picture, 0 to 255."""
    if not path.lower().endswith('.pgm'):
        from PIL import Image
        with Image.open(path) as picture:
            return numpy.asarray(picture.convert('L'))
    with open(path, 'rb') as file:
        data = file.read()
    words = data.split(maxsplit=4)[:4]  # of a head without comments
    if len(words) < 4 or words[0] != b'P5' or words[3] != b'255':
        raise ValueError('no PGM file of 8 bits (P5) without comments')
    width, height = int(words[1]), int(words[2])
    if len(data) < width * height:
        raise ValueError(f'{len(data)} bytes for {width} x {height} pixels')
    return numpy.frombuffer(data, 'uint8', width * height, len(data) - width * height).reshape(height, width)


def write(path, picture):
    with open(path, 'wb') as file:
        file.write(b'P5\n%d %d\n255\n' % picture.shape[::-1])
        file.write(picture.astype('uint8').tobytes())


def threshold(picture):
    """The level that divides a picture best in two, by Otsu (1979): the variance between dark and bright is largest."""
    counts = numpy.bincount(picture.ravel(), minlength=256)
    dark, sums = counts.cumsum(), (counts * numpy.arange(256)).cumsum()
    bright = dark[-1] - dark
    with numpy.errstate(divide='ignore', invalid='ignore'):
        between = dark * bright * (sums / dark - (sums[-1] - sums) / bright) ** 2
    return int(numpy.nanargmax(numpy.where(numpy.isfinite(between), between, -1)))


def areas(is_cell):
    """Pixels of each cell: of each set of bright pixels that touch by their edges."""
    found, open_pixels = [], set(zip(*numpy.nonzero(is_cell)))
    while open_pixels:
        todo, area = [open_pixels.pop()], 0
        while todo:
            y, x = todo.pop()
            area += 1
            for near in ((y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)):
                if near in open_pixels:
                    open_pixels.remove(near)
                    todo.append(near)
        found.append(area)
    return [area for area in found if area >= CELL_LEAST]


def count(path):
    """The row of a picture: its threshold, its cells, and their mean area in pixels; or an error."""
    try:
        picture = read(path)
    except (OSError, ValueError, ImportError) as error:
        return {'error': f'{type(error).__name__}: {error}'}
    level = threshold(picture)
    found = areas(picture > level)
    return {'threshold': level, 'cells': len(found), 'mean_area': round(sum(found) / len(found), 1) if found else 0}


def make(folder, number):
    """Writes pictures: cells at random places, of which the name of a picture has the number; none touches another one."""
    os.makedirs(folder, exist_ok=True)
    for i in range(number):
        random = numpy.random.default_rng(i)
        picture = random.normal(60, 8, (240, 320))
        places = random.permutation(8 * 6)[:random.integers(1, 8 * 6 + 1)]
        for place in places:
            y, x, radius = place // 8 * 40 + 20, place % 8 * 40 + 20, random.uniform(4, 14)
            rows, columns = numpy.ogrid[:240, :320]
            picture[(rows - y) ** 2 + (columns - x) ** 2 < radius**2] += 100
        write(os.path.join(folder, f'{i:04}-{len(places)}-cells.pgm'), picture.clip(0, 255))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('folder')
    parser.add_argument('table', nargs='?', default='cells.csv', help='(default %(default)s)')
    parser.add_argument('--make', type=int, metavar='N', help='write N pictures into the folder instead')
    parser.add_argument('--workers', type=int, help='default: one for each core, or those of the set that is up')
    given = parser.parse_args()
    if given.make is not None:
        make(given.folder, given.make)
        return
    names = sorted(name for name in os.listdir(given.folder) if name.lower().endswith(ENDINGS))
    paths = [os.path.join(given.folder, name) for name in names]
    with hdss.Executor(workers=given.workers, progress=True) as executor:
        rows = list(executor.map(count, paths))
    with open(given.table, 'w', newline='', encoding='utf-8') as file:
        table = csv.DictWriter(file, ['picture', 'threshold', 'cells', 'mean_area', 'error'], lineterminator='\n')
        table.writeheader()
        table.writerows({'picture': name, **row} for name, row in zip(names, rows))
    errors = sum('error' in row for row in rows)
    cells = sum(row.get('cells', 0) for row in rows)
    print(f'{given.table}: {cells} cells in {len(rows) - errors} pictures' + (f'; {errors} cannot be read' if errors else ''))


if __name__ == '__main__':
    main()
