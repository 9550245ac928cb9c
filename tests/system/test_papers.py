# SPDX-License-Identifier: MIT
"""docs/papers.md: each row's figures are those that its command gives now, and its verdict follows from them.

A row is "| NAME | what | theirs | ours | command | verdict |". Where the command is a study its figures come from the functions of OURS, where it is
`hdss chunks` they are the sizes of its chunks. `--record` writes them into the page.
"""
import json
import os
import re
import shlex
import shutil
import sys
from typing import NamedTuple

from launch import HDSS, finish, main, run, run_test, start

ROOT = os.environ['SOURCE_ROOT']
PAGE = os.path.join(ROOT, 'docs/papers.md')
VERDICT = re.compile(r'\*(same|same shape|differs|cannot be)\*(?: within ([\d.]+) %)?(.*)')
WORKERS = ('256', '512', '1024', '2048', '4096', '8192')
MASTERS = ('0', '2', '4', '8', '16')
TECHNIQUES = ('dtss', 'dfss', 'dgss')


class Row(NamedTuple):
    name: str
    what: str
    theirs: str
    ours: str
    command: str
    verdict: str

    @property
    def study(self):
        """The study that gives its figures; '': another command does."""
        found = re.fullmatch(r'`([\w-]+)\.study`', self.command)
        return found.group(1) if found else ''


def page():
    with open(PAGE, encoding='utf-8') as file:
        return file.read()


def rows():
    cells = [[cell.strip() for cell in line[1:-1].split(' | ')] for line in page().splitlines() if re.match(r'\| [A-Z]\d+ \| ', line)]
    assert all(len(row) == 6 for row in cells), [row for row in cells if len(row) != 6]
    return [Row(*row) for row in cells]


# --- studies ---

class Cells:
    """The cells of a study that has been run."""

    def __init__(self, study):
        shutil.copy(os.path.join(ROOT, f'deploy/examples/papers/{study}.study'), '.')
        result = finish(start([HDSS, 'study', f'{study}.study']), 800)
        assert result.status == 0, str(result)
        with open(f'{study}-cells.json', encoding='utf-8') as file:
            self.cells = json.load(file)['cells']

    def at(self, measure='time', kernel='', **axes):
        """The median of the one cell with these axes; of a technique its name is enough, of a kernel a part of its text."""
        found = [cell['measures'][measure]['median'] for cell in self.cells
                 if kernel in cell['axes']['kernel'] and {**cell['axes'], 'technique': cell['axes']['technique'].split(':')[0]}.items() >= axes.items()]
        assert len(found) == 1, (measure, kernel, axes, found)
        return found[0]

    def along(self, axis, values, measure='time', **axes):
        return [self.at(measure, **{axis: value}, **axes) for value in values]


def text(numbers, digits=3):
    return ' '.join(f'{number:#.{digits}g}'.rstrip('.') for number in numbers)


def loop(kernel, masters, measure='time', technique='dfss'):
    return lambda cells: text(cells.along('workers', WORKERS, measure, kernel=kernel, masters=masters, technique=technique))


def at_most_workers(kernel, measure='time'):
    return lambda cells: text(cells.along('masters', MASTERS, measure, kernel=kernel, workers='8192', technique='dfss'))


def relative_speedup(kernel, masters):
    """[H] divides the time without masters on 256 workers by the time."""
    def speedups(cells):
        base = cells.at(kernel=kernel, masters='0', workers='256', technique='dfss')
        return text(base / time for time in cells.along('workers', WORKERS, kernel=kernel, masters=masters, technique='dfss'))
    return speedups


OURS = {
    'han-chronopoulos': {
        'H11': loop('mandelbrot', '2'),
        'H12': loop('adjoint', '2'),
        'H13': loop('mandelbrot', '16'),
        'H14': loop('adjoint', '16'),
        'H15': at_most_workers('mandelbrot'),
        'H16': at_most_workers('adjoint'),
        'H17': lambda cells: text(cells.along('technique', TECHNIQUES, kernel='mandelbrot', masters='16', workers='4096')),
        'H18': lambda cells: text(cells.along('technique', TECHNIQUES, kernel='adjoint', masters='16', workers='4096')),
        'H19': at_most_workers('mandelbrot', 'overhead'),
        'H20': at_most_workers('adjoint', 'overhead'),
        'H21': relative_speedup('mandelbrot', '16'),
        'H22': relative_speedup('adjoint', '16'),
        'H23': relative_speedup('mandelbrot', '0'),
        'H24': relative_speedup('adjoint', '0'),
        'H25': lambda cells: text(cells.along('masters', MASTERS, kernel='adjoint', workers='256', technique='dfss')),
    },
}


# --- chunks ---

def sizes_of(text_of_sizes):
    """"4 x 125, 63" as [125, 125, 125, 125, 63]."""
    sizes = []
    for part in text_of_sizes.split(', '):
        times, _, size = part.rpartition(' x ')
        sizes += [int(size)] * int(times or 1)
    return sizes


def text_of_sizes(sizes):
    parts, begin = [], 0
    for i in range(1, len(sizes) + 1):
        if i == len(sizes) or sizes[i] != sizes[begin]:
            parts.append(f'{i - begin} x {sizes[begin]}' if i - begin > 1 else str(sizes[begin]))
            begin = i
    return ', '.join(parts)


def is_of_chunks(row):
    return row.command.startswith('`hdss chunks ') and re.fullmatch(r'[\dx, ]+', row.theirs)


def chunks_of(row):
    result = run([HDSS, *shlex.split(row.command.strip('`'))[1:], '--format', 'json'])
    assert result.status == 0, str(result)
    sizes = [chunk['count'] for chunk in json.loads(result.out)]
    return 'the same' if sizes == sizes_of(row.theirs) else text_of_sizes(sizes)


# --- the page and what is measured ---

def measured(study):
    cells = Cells(study)
    return {name: ours(cells) for name, ours in OURS[study].items()}


def check_study(study):
    found, printed = measured(study), {row.name: row.ours for row in rows()}
    assert not (wrong := [f'{name}: "{printed[name]}" on the page, "{ours}" by the study' for name, ours in found.items() if printed[name] != ours]), '\n'.join(wrong)


def numbers(cell):
    return [float(number) for number in re.findall(r'-?\d+(?:\.\d+)?', cell)]


def complaint(row):
    """What is wrong with a row, by itself: '' is nothing."""
    verdict = VERDICT.fullmatch(row.verdict)
    if not verdict:
        return f'the verdict "{row.verdict}" is none of *same*, *same* within x %, *same shape*, *differs*: why, *cannot be*: why'
    kind, within, why = verdict.groups()
    if kind in ('differs', 'cannot be') and ': ' not in why and ', ' not in why:
        return 'the verdict does not say why'
    if not (row.theirs and row.ours and '`' in row.command):
        return 'a cell is empty, or the command is none'
    if row.study and row.name not in OURS.get(row.study, {}):
        return f'no figure of {row.study}.study'
    if is_of_chunks(row) and (kind == 'same') != (row.ours == 'the same'):
        return 'the verdict does not follow from the chunks'
    if within:
        theirs, ours = numbers(row.theirs), numbers(row.ours)
        if len(theirs) != len(ours) or not theirs:
            return f'{len(theirs)} numbers of theirs and {len(ours)} of ours'
        far = max(100 * abs(own - other) / abs(other) for own, other in zip(ours, theirs))
        if far > float(within):
            return f'as far as {far:.1f} % apart'
    return ''


def test_verdicts():
    found = rows()
    assert len({row.name for row in found}) == len(found) > 20
    wrong = [f'{row.name}: {what}' for row in found if (what := complaint(row))]
    known = {row.name for row in found}
    wrong += [f'{name}: {study}.study measures it and the page has no such row' for study, of_rows in OURS.items() for name in of_rows if name not in known]
    assert not wrong, '\n'.join(wrong)


def test_chunks():
    of_chunks = [row for row in rows() if is_of_chunks(row)]
    wrong = [f'{row.name}: "{row.ours}" on the page, "{ours}" by the command' for row in of_chunks if (ours := chunks_of(row)) != row.ours]
    assert not wrong, '\n'.join(wrong)


def test_other_commands():
    """Lines of hdss that are no study are accepted, and what tests are named there are."""
    wrong = []
    for row in rows():
        for command in re.findall(r'`(hdss [^`]+)`', row.command):
            if not command.startswith('hdss study') and (result := run([HDSS, *shlex.split(command)[1:]])).status:
                wrong.append(f'{row.name}: {result.err}')
    assert not wrong, '\n'.join(wrong)


def test_han_chronopoulos():
    check_study('han-chronopoulos')


def record(names):
    """Writes the figures of these studies, or of all, and of `hdss chunks` into the page."""
    found = {row.name: chunks_of(row) for row in rows() if is_of_chunks(row)}
    for study in names or OURS:
        run_test(lambda study=study: found.update(measured(study)))
    lines = page().splitlines()
    for i, line in enumerate(lines):
        cells = line[1:-1].split(' | ') if re.match(r'\| [A-Z]\d+ \| ', line) else []
        if cells and cells[0].strip() in found:
            cells[3] = found[cells[0].strip()]
            lines[i] = f'|{" | ".join(cells)}|'
    with open(PAGE, 'w', encoding='utf-8') as file:
        file.write('\n'.join(lines) + '\n')


if __name__ == '__main__':
    if sys.argv[1:2] == ['--record']:
        record(sys.argv[2:])
    else:
        main([value for name, value in list(globals().items()) if name.startswith('test_')])
