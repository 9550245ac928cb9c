# SPDX-License-Identifier: MIT
"""`hdss collapse` behind a real run of the kernel evrard: the table, and the pictures where there is gnuplot."""
import os
import shutil

from launch import HDSS, main, run, run_job

WORDS = ['--output', 'gas.npy', 'evrard', 'particles=300', 'steps=40', 'end_time=1']
TEXTS = {'energies.svg': ['Energies', '300 particles', 'internal', 'kinetic', 'potential', 'total'],
         'density.svg': ['Column density', '300 particles', 't = 0.0125', 't = 0.4875', 't = 0.9875']}


def test_a_run_and_its_table():
    result = run_job(0, 2, WORDS)
    assert result.status == 0, result
    shown = run([HDSS, 'collapse', 'gas.npy'])
    assert shown.status == 0 and not shown.err, str(shown)
    rows = [[float(word) for word in line.split()] for line in shown.out.splitlines()[1:]]
    assert len(rows) == 40 and [row[0] for row in rows[:2]] == [0.0125, 0.0375], rows[:2]
    assert all(abs(row[1] + row[2] + row[3] - row[4]) < 3e-5 and abs(row[4] / rows[0][4] - 1) < 0.01 for row in rows), rows
    assert rows[-1][2] > 8 * rows[0][2], 'it has not become hot'


def test_pictures():
    if shutil.which('gnuplot') is None:
        return 'gnuplot is not installed'
    assert run_job(0, 2, WORDS).status == 0
    result = run([HDSS, 'collapse', 'gas.npy', '--energies', 'energies.svg', '--density', 'density.svg', '--times', '0,0.5,1'])
    assert result.status == 0 and not result.raw_err, str(result)
    assert result.out == 'energies.svg: the energies of 40 steps\ndensity.svg: the density at 3 times\n', result.out
    for name, texts in TEXTS.items():
        with open(name) as file:
            picture = file.read()
        assert all(text in picture for text in texts), name
    return None


def test_bad_input():
    open('empty.npy', 'w').close()
    for words, part in (([], 'no file'), (['absent.npy'], 'absent.npy: No such file'), (['empty.npy'], 'evrard'), (['a', 'b'], "'b'"),
                        (['empty.npy', '--times', '1'], '--density'), (['empty.npy', '--density', 'a.png', '--times', '1,,2'], '30 numbers'),
                        (['empty.npy', '--energies', 'a.pdf'], '.svg')):
        result = run([HDSS, 'collapse', *words])
        assert result.status == 2 and len(result.err) == 1 and part in result.err[0] and not result.out, (words, str(result))
    assert os.listdir() == ['empty.npy'], os.listdir()


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
