# SPDX-License-Identifier: MIT
"""docs/papers.md: the tables of simulated runs have what `hdss study` gives now, to the digits that the page prints."""
import json
import os
import re
import shutil

from launch import HDSS, main, run

ROOT = os.environ['SOURCE_ROOT']


def table_of(study):
    """The rows of the table that the page announces by `STUDY.study`, the heads of its columns first."""
    with open(os.path.join(ROOT, 'docs/papers.md'), encoding='utf-8') as file:
        parts = re.split(rf'\b{study}\.study`\)?:\n\n', file.read())
    assert len(parts) == 2, (study, len(parts))
    rows = [[cell.strip() for cell in line[1:-1].split(' | ')] for line in parts[1].split('\n\n')[0].splitlines()]
    return rows[:1] + rows[2:]


def cells_of(study):
    shutil.copy(os.path.join(ROOT, f'deploy/examples/papers/{study}.study'), '.')
    result = run([HDSS, 'study', f'{study}.study'])
    assert result.status == 0, str(result)
    with open(f'{study}-cells.json', encoding='utf-8') as file:
        return json.load(file)['cells']


def median(cells, measure, **axes):
    """The median of the one cell with these axes; of a technique its name is enough."""
    found = [cell['measures'][measure]['median'] for cell in cells
             if dict(cell['axes'], technique=cell['axes']['technique'].split(':')[0]).items() >= axes.items()]
    assert len(found) == 1, (axes, found)
    return found[0]


def compare(printed):
    """`printed` are (place, text of the page, number of the study)."""
    assert len(printed) >= 30, printed
    wrong = []
    for place, text, number in printed:
        digits = len(text.partition('.')[2])
        if f'{number:.{digits}f}' != text:
            wrong.append(f'{place}: {text} on the page, {number:.6g} by the study')
    assert not wrong, '\n'.join(wrong)


def check_topologies(study, axis):
    """Rows are techniques, columns topologies, and a cell has the values of `axis`, or one that is that of all."""
    cells, (head, *rows) = cells_of(study), table_of(study)
    values = list(dict.fromkeys(cell['axes'][axis] for cell in cells))
    printed = []
    for row in rows:
        for technique in row[0].split(', '):
            for topology, cell in zip(head[1:], row[1:]):
                texts = cell.split(' / ')
                for value, text in zip(values, texts if len(texts) > 1 else texts * len(values)):
                    number = median(cells, 'time', technique=technique, masters={'central': '0'}.get(topology, topology),
                                    **{axis: value})
                    printed.append(((technique, topology, value), text, number))
    compare(printed)


def test_dca():
    check_topologies('eleliemy-ciorba-dca', 'delay')


def test_rma():
    check_topologies('eleliemy-ciorba-rma', 'slowdown')


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
