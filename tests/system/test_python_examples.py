# SPDX-License-Identifier: MIT
"""The examples of the Python package, as their first lines say how to run them: results are those of the same functions without workers, of physics, or of what
was drawn. And the notebook, as Jupyter runs it."""
import csv
import json
import math
import os
import subprocess

from launch import HDSS, TIMEOUT_S, environment, main
from pythons import EXECUTE, PACKAGE, with_modules

SOURCE_ROOT, BUILD_ROOT, MESON = (os.environ[name] for name in ('SOURCE_ROOT', 'BUILD_ROOT', 'MESON'))
EXAMPLES = os.path.join(SOURCE_ROOT, 'deploy/examples/python')
NOTEBOOK = os.path.join(EXAMPLES, 'hdss.ipynb')
ALONE = '''
import numpy, parameter_scan
at = parameter_scan.angles(12)
times = numpy.load('flips.npy')
assert times.shape == (12, 12) and (times == [parameter_scan.flip_times(angle, at) for angle in at]).all()
bound = 2 * numpy.cos(at)[:, None] + numpy.cos(at)[None, :] > 1
assert 0 < numpy.isfinite(times).sum() < times.size - bound.sum() and numpy.isinf(times[bound]).all()
'''


def variables():
    here = {'HDSS': HDSS, 'HDSS_CONTROL_DIR': os.getcwd(), 'PYTHONPATH': f'{PACKAGE}:{EXAMPLES}', 'PYTHONDONTWRITEBYTECODE': '1', 'IPYTHONDIR': 'ipython'}
    return {name: value for name, value in environment().items() if name != 'HDSS_SET'} | here


def ask(python, *words):
    done = subprocess.run([python, *words], env=variables(), capture_output=True, text=True, check=False, timeout=2 * TIMEOUT_S)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout


@with_modules('numpy')
def test_a_parameter_scan(python):
    said = ask(python, os.path.join(EXAMPLES, 'parameter_scan.py'), '12', 'flips.npy', '--workers', '2')
    assert ' of 144 pendulums turn over within ' in said, said
    ask(python, '-c', ALONE)


@with_modules('numpy')
def test_monte_carlo_does_not_depend_on_workers(python):
    said = [ask(python, os.path.join(EXAMPLES, 'monte_carlo.py'), '--batches', '60', '--neutrons', '1000', '--workers', str(workers)) for workers in (1, 2, 3)]
    assert said[0] == said[1] == said[2] and len(said[0].splitlines()) == 3, said
    other = ask(python, os.path.join(EXAMPLES, 'monte_carlo.py'), '--batches', '60', '--neutrons', '1000', '--workers', '2', '--seed', '2')
    assert other != said[0], other


@with_modules('numpy')
def test_monte_carlo_finds_what_is_known(python):
    """A wall that scatters nothing lets exp(-thickness) pass."""
    said = ask(python, os.path.join(EXAMPLES, 'monte_carlo.py'), '--batches', '50', '--absorption', '1', '--thickness', '2', '--workers', '2')
    words = said.split()
    passed, error, returned = float(words[1]), float(words[3]), float(words[5])
    assert abs(passed - math.exp(-2)) < 5 * error < 0.01 and returned == 0, said


@with_modules('numpy')
def test_a_folder_of_images(python):
    example = os.path.join(EXAMPLES, 'image_folder.py')
    ask(python, example, '--make', '6', 'pictures')
    with open('pictures/broken.pgm', 'wb') as file:
        file.write(b'P5\n10 10\n255\nabc')
    with open('pictures/notes.txt', 'w', encoding='ascii') as file:
        file.write('no picture')
    said = ask(python, example, 'pictures', 'cells.csv', '--workers', '2')
    with open('cells.csv', newline='', encoding='utf-8') as file:
        rows = list(csv.DictReader(file))
    *good, bad = rows
    drawn = [int(row['picture'].split('-')[1]) for row in good]
    assert len(rows) == 7 and [int(row['cells']) for row in good] == drawn and len(set(drawn)) > 2, rows
    assert bad == {'picture': 'broken.pgm', 'threshold': '', 'cells': '', 'mean_area': '', 'error': 'ValueError: 16 bytes for 10 x 10 pixels'}, bad
    assert said == f'cells.csv: {sum(drawn)} cells in 6 pictures; 1 cannot be read\n', said


@with_modules('numpy', 'PIL')
def test_images_that_pillow_reads(python):
    example = os.path.join(EXAMPLES, 'image_folder.py')
    ask(python, example, '--make', '2', 'pictures')
    ask(python, '-c', "import glob; from PIL import Image; [Image.open(path).save(path[:-3] + 'png') for path in glob.glob('pictures/*.pgm')]")
    ask(python, example, 'pictures', '--workers', '2')
    with open('cells.csv', newline='', encoding='utf-8') as file:
        rows = [list(row.values())[1:] for row in csv.DictReader(file)]
    assert len(rows) == 4 and rows[0] == rows[1] and rows[2] == rows[3] and rows[0] != rows[2], rows


def test_the_notebook_has_no_outputs():
    with open(NOTEBOOK, encoding='utf-8') as file:
        book = json.load(file)
    code = [cell for cell in book['cells'] if cell['cell_type'] == 'code']
    assert len(code) >= 4 and all(cell['outputs'] == [] and cell['execution_count'] is None for cell in code), code
    assert set(book['metadata']) == {'kernelspec', 'language_info'}, book['metadata']


@with_modules('numpy', 'nbclient', 'nbformat', 'ipykernel')
def test_the_notebook_runs(python):
    outputs = json.loads(ask(python, '-c', EXECUTE, NOTEBOOK).splitlines()[-1])
    said = [[output.get('text') or output['data']['text/plain'] for output in cell] for cell in outputs]
    assert said[0][0].endswith(' workers\n'), said
    # One line of a bar, which was drawn anew in its place.
    assert len(said[1]) == 2 and said[1][0].startswith('100% ') and ' 600/600 ' in said[1][0] and said[1][1].startswith('{1: '), said[1]
    assert '#' in said[2][0] and said[3][-1] == "[-1.0, ZeroDivisionError('division by zero'), 1.0]", said[2:]


def test_all_of_them_are_installed():
    if not MESON:
        return 'no meson'
    done = subprocess.run([MESON, 'introspect', '--installed', BUILD_ROOT], capture_output=True, text=True, check=True)
    places = {os.path.basename(path) for path in json.loads(done.stdout).values() if '/doc/hdss/examples/python/' in path}
    assert places == set(os.listdir(EXAMPLES)) - {'__pycache__'}, places
    return None


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
