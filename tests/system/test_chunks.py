# SPDX-License-Identifier: MIT
"""`hdss chunks` as a researcher uses it: the installed command against the published tables, what learns, and pictures."""
import json
import os
import re
import shutil
import struct
import xml.etree.ElementTree as xml
import zlib

from launch import HDSS, main, run, techniques
from pythons import PACKAGE, python_with

GOLDEN = os.environ['GOLDEN']
MESON = os.environ.get('MESON', '')
LOOP = ['--iterations', 1000, '--workers', 4]


def installed():
    """The command out of an installation into the folder at hand."""
    stage = os.path.join(os.getcwd(), 'stage')
    result = run([MESON, 'install', '-C', os.environ['BUILD_ROOT'], '--no-rebuild', '--quiet', '--destdir', stage])
    assert result.status == 0, str(result)
    found = [os.path.join(folder, name) for folder, _, names in os.walk(stage) for name in names]
    assert any(path.endswith('man/man7/hdss-techniques.7') for path in found), found
    return next(path for path in found if path.endswith('bin/hdss'))


def command(hdss, entry):
    words = [hdss, 'chunks', entry['spec'], '--iterations', entry['iterations'], '--workers', entry['workers'], '--min-chunk', entry['min_chunk'],
             '--form', entry['form'], '--format', 'json']
    if 'power' in entry:
        words += ['--power', ','.join(map(str, entry['power']))]
    if 'order' in entry:
        words += ['--order', ','.join(map(str, entry['order']))]
    if 'weighting' in entry:
        words += ['--weighting', entry['weighting']]
    return words


def check_file(hdss, name):
    with open(name) as file:  # hdss chunks tells every technique that learns what the chunks take
        entries = [entry for entry in json.load(file) if entry.get('feedback') != 'none']
    for entry in entries:
        result = run(command(hdss, entry))
        assert result.status == 0, (entry['id'], str(result))
        chunks = json.loads(result.out)
        assert [chunk['count'] for chunk in chunks] == entry['sequence'], entry['id']
        if not entry['spec'].startswith('static-steal'):
            assert all(a['first'] + a['count'] == b['first'] for a, b in zip(chunks, chunks[1:])), entry['id']
        if 'order' in entry:
            assert [chunk['worker'] for chunk in chunks] == entry['order'][:len(chunks)], entry['id']
    print(f'# {len(entries)} sequences of {hdss} in {os.path.basename(name)}', flush=True)
    return len(entries)


def test_every_published_sequence():
    assert check_file(installed() if MESON else HDSS, GOLDEN) >= 36


def sizes(spec, words):
    shown = run([HDSS, 'chunks', spec, *words, '--format', 'json'])
    assert shown.status == 0, str(shown)
    return [chunk['count'] for chunk in json.loads(shown.out)]


def rows(lines):
    """{label: chunk sizes} of an example: a label and numbers, such as 'paper   8 15', or 'paper   1, 256 times'; a row without a label is 'hdss'."""
    found = {}
    for line in lines:
        label, numbers = re.fullmatch(r'(?:([a-z=0-9]+) {2,})?\s*(\d[\d ,a-z]*)', line.strip()).groups()
        once, times = re.fullmatch(r'([\d ]+)(?:, (\d+) times)?', numbers).groups()
        found[label or 'hdss'] = [int(number) for number in once.split()] * int(times or 1)
    return found


def test_the_sequences_of_the_document():
    """docs/techniques.md: each command prints the chunks below it, 'paper' as it stands and 'hdss' without the variant."""
    with open(os.path.join(os.environ['SOURCE_ROOT'], 'docs', 'techniques.md'), encoding='utf-8') as file:
        examples = re.findall(r'^    hdss chunks (.*)\n((?:    .*\n)*)', file.read(), re.MULTILINE)
    tried = 0
    for line, below in examples:
        spec, *words = line.split()
        if spec.startswith(('tap', 'static-steal', 'gss')):
            continue
        expected = rows(below.splitlines())
        both = expected.pop('both', [])
        for label, numbers in expected.items():
            plain = re.sub(r'[:,]variant=paper', '', spec)
            got = sizes({'paper': spec, 'hdss': plain}.get(label, f'{plain}:{label}'), words)
            assert got == both + numbers, (line, label, got)
            tried += 1
    assert tried >= 8, tried
    refused = run([HDSS, 'chunks', *next(line for line, _ in examples if line.startswith('tap')).split()])
    assert refused.status == 2 and '67108864' in refused.err[0], str(refused)


def test_every_computed_sequence():
    computed = os.path.join(os.path.dirname(GOLDEN), 'computed.json')
    assert check_file(HDSS, computed) >= 370


def test_several_stand_side_by_side():
    loop = ['--iterations', '9', '--workers', '2']
    sizes = [[line.split()[3] for line in run([HDSS, 'chunks', spec, *loop]).out.splitlines()[1:-1]] for spec in ('gss', 'tss:first=3,last=1')]
    table = [line.split() for line in run([HDSS, 'chunks', 'gss', 'tss:first=3,last=1', *loop]).out.splitlines()]
    assert table[0] == ['chunk', 'gss', 'tss:first=3,last=1'] and len(table) == 5, table
    assert [row[1] for row in table[1:]] == sizes[0] and [row[2] for row in table[1:4]] == sizes[1], (table, sizes)
    lines = run([HDSS, 'chunks', 'gss', 'tss:first=3,last=1', *loop, '--format', 'csv']).out.splitlines()
    assert lines[0] == 'chunk,gss,"tss:first=3,last=1"' and lines[4] == '4,1,' and [line.split(',')[1] for line in lines[1:]] == sizes[0], lines


def test_wrong_use():
    for words, part in ([['chunks', 'nope', '--iterations', 5, '--workers', 2], 'nope'], [['chunks', 'gss', '--workers', 2], '--iterations'],
                        [['chunks', 'gss', '--iterations', 'x', '--workers', 2], 'x'], [['chunks', 'gss', '--iterations', 5, '--workers', 0], '0'],
                        [['chunks', 'dfss', '--iterations', 5, '--workers', 2, '--form', 'closed'], 'closed'], [['chuncks'], 'chunks'],
                        [['chunks', 'tap', *LOOP, '--form', 'closed'], 'mu'], [['chunks', 'gss', *LOOP, '--form', 'closed', '--weighting', 'power'], 'weighting'],
                        [['chunks', 'gss', 'tss', *LOOP, '--format', 'json'], 'text, csv, or one'], [['chunks', *LOOP, '--plot', 'a.png'], 'SPEC'],
                        [['chunks', 'gss', *LOOP, '--plot', 'a.pdf'], '.svg'], [['chunks', 'gss', *LOOP, '--plot', '.png'], '.png'],
                        [['chunks', 'gss', *LOOP, '--plot'], '--plot'], [['chunks', 'gss', 'nope', *LOOP, '--plot', 'a.png'], 'nope'],
                        [['chunks', 'gss', 'tss', *LOOP, '--plot', 'a.png', '--format', 'json'], '--format'],
                        [['chunks', *['gss'] * 65, *LOOP, '--plot', 'a.png'], '65'],
                        [['kernels', 'nope'], 'mandelbrot'], [['techniques', 'nope'], 'nope'],
                        [['run', '--workers', 'x', 'synthetic'], '--workers']):
        result = run([HDSS, *words])
        assert result.status == 2 and len(result.err) == 1 and part in result.err[0], (words, str(result))
    assert os.listdir() == []


def test_what_learns_is_told():
    """af knows nothing of the powers but from the chunks' times. From the third round on each worker has its share."""
    powers, iterations = [1, 2, 4], 100000
    result = run([HDSS, 'chunks', 'af', '--iterations', iterations, '--power', '1,2,4', '--format', 'json'])
    chunks = json.loads(result.out)
    assert len(chunks) > 20 and sum(chunk['count'] for chunk in chunks) == iterations, str(result)
    for chunk in chunks[6:]:
        share = (iterations - chunk['first']) * powers[chunk['worker'] - 1] / sum(powers)
        assert abs(chunk['count'] - max(share, 1)) <= 1, (chunk, share)


def test_techniques_are_listed_and_described():
    listed = run([HDSS, 'techniques'])
    assert len(techniques()) >= 25 and all(len(line) <= 80 for line in listed.out.splitlines()), listed.out
    for name in techniques():
        shown = run([HDSS, 'techniques', name])
        assert shown.status == 0 and shown.out.startswith(name) and '\nwhen      ' in shown.out, str(shown)
        assert all(len(line) <= 80 for line in shown.out.splitlines()), shown.out


def check_png(path):
    """Every part of the file has its checksum, and the picture all its dots."""
    with open(path, 'rb') as file:
        data = file.read()
    assert data[:8] == b'\x89PNG\r\n\x1a\n', data[:8]
    at, kinds, dots = 8, [], b''
    while at < len(data):
        length, kind = struct.unpack('>I4s', data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        assert struct.unpack('>I', data[at + 8 + length:at + 12 + length])[0] == zlib.crc32(kind + body), kind
        dots += body if kind == b'IDAT' else b''
        kinds.append(kind)
        at += 12 + length
    assert kinds[0] == b'IHDR' and kinds[-1] == b'IEND', kinds
    width, height = struct.unpack('>II', data[16:24])
    assert width >= 800 and height >= 500 and len(zlib.decompress(dots)) > width * height, (width, height)


def check_svg(path, *texts):
    root = xml.parse(path).getroot()
    assert root.tag == '{http://www.w3.org/2000/svg}svg', root.tag
    shown = {''.join(element.itertext()).strip() for element in root.iter('{http://www.w3.org/2000/svg}text')}
    assert all(any(text in line for line in shown) for text in texts), (texts, shown)


def beside(script):
    """hdss in a folder where hdss-plot is a program that does as `script` says; None: there is none."""
    os.makedirs('bin', exist_ok=True)
    if not os.path.exists('bin/hdss'):
        shutil.copy(HDSS, 'bin/hdss')
    if script is not None:
        with open('bin/hdss-plot', 'w') as file:
            file.write('#!/bin/sh\n' + script)
        os.chmod('bin/hdss-plot', 0o755)
    return 'bin/hdss'


def drawing(python):
    """hdss with an hdss-plot of that Python, which has matplotlib."""
    module = f'import sys; sys.path.insert(0, "{PACKAGE}"); from hdss import _plot; sys.exit(_plot.main(sys.argv[1:], ""))'
    return beside(f"exec {python} -I -c '{module}' \"$@\"\n")


def test_plots():
    python, why = python_with('matplotlib')
    if why:
        return why
    hdss = drawing(python)
    specs = ['static', 'ss', 'gss', 'tss:last=5', 'fac2']
    for name, more in (('one.png', ['gss']), ('five.png', specs), ("it's a $(touch x) \"plot\"; 'x'.png", ['gss']), ('one.svg', ['tss:last=5']),
                       ('five.svg', specs), ('empty.png', ['gss', 'ss', '--iterations', 0]), ('single.svg', ['gss', '--iterations', 1]),
                       ('long.svg', ['ss', 'css:chunk=2', '--iterations', 10**6, '--power', '1,2,3,4', '--weighting', 'power'])):
        result = run([hdss, 'chunks', *LOOP, *more, '--plot', name])
        assert result.status == 0 and not result.raw_err, (name, str(result))
        assert result.out.count('\n') == 1 and name in result.out, (name, result.out)
        if name.endswith('.png'):
            check_png(name)
        else:
            check_svg(name, more[0], 'scheduling step', 'chunk size', '4 workers')
    check_svg('five.svg', *specs, 'N = 1,000')
    check_svg('long.svg', 'range of their sizes', 'weighted by power')
    assert len(os.listdir()) == 9, os.listdir()
    return None


def test_a_plot_and_a_table():
    python, why = python_with('matplotlib')
    if why:
        return why
    result = run([drawing(python), 'chunks', 'gss', *LOOP, '--plot', 'a.svg', '--format', 'json'])
    assert result.status == 0 and sum(chunk['count'] for chunk in json.loads(result.out)) == 1000, str(result)
    assert len(result.err) == 1 and 'a.svg' in result.err[0], str(result)
    check_svg('a.svg', 'gss')
    return None


def test_without_what_draws():
    """Neither the program, nor matplotlib, nor the package: one line says what to install."""
    for script, part in ((None, 'python3-matplotlib'), ('echo matplotlib is not there: install it >&2; exit 1', 'no picture: matplotlib is not there: install it')):
        result = run([beside(script), 'chunks', 'gss', *LOOP, '--plot', 'a.png'])
        assert result.status == 1 and len(result.err) == 1 and part in result.err[0] and not result.out, str(result)
        assert os.listdir() == ['bin'], os.listdir()
    shutil.copy(os.path.join(os.path.dirname(HDSS), 'hdss-plot'), 'bin/hdss-plot')
    result = run(['bin/hdss', 'chunks', 'gss', *LOOP, '--plot', 'a.png'])
    assert result.status == 1 and len(result.err) == 1 and 'python3-hdss' in result.err[0], str(result)


def test_nothing_is_left_of_a_failure():
    with open('old.png', 'w') as file:
        file.write('old')
    for script, part in (('echo no such letter >&2; printf half; exit 1', 'no such letter'), ('exit 0', 'nothing'),
                         ('printf half; kill -9 $$', 'signal 9')):
        for name in ('old.png', 'new.png'):
            result = run([beside(script), 'chunks', 'gss', *LOOP, '--plot', name])
            assert result.status == 1 and len(result.err) == 1 and part in result.err[0] and not result.out, (script, str(result))
            assert sorted(os.listdir()) == ['bin', 'old.png'], os.listdir()
            with open('old.png') as file:
                assert file.read() == 'old'
    os.mkdir('folder.png')
    for name in ('no/such/folder.png', 'folder.png', '/proc/none.svg'):
        result = run([beside('printf picture'), 'chunks', 'gss', *LOOP, '--plot', name])
        assert result.status == 1 and len(result.err) == 1 and name in result.err[0], (name, str(result))
    assert sorted(os.listdir()) == ['bin', 'folder.png', 'old.png'], os.listdir()


def test_a_long_series_is_thinned():
    """What is drawn is no longer for a million chunks of different size than for a hundred thousand, but for a logarithm."""
    capture = f'{shutil.which("cat")} >script; printf picture'

    def script(words):
        result = run([beside(capture), 'chunks', *words, '--workers', 4, '--plot', 'a.png'])
        assert result.status == 0, str(result)
        with open('a.png') as file, open('script') as lines:
            assert file.read() == 'picture'
            return lines.read().splitlines()

    few = script(['ss', '--iterations', 10**6])
    assert len(few) < 1000 and '0.5 1' in few and '1000000.5 1' in few, len(few)
    uneven = script(['css:chunk=2', '--iterations', 10**6, '--power', '1,2,3,4', '--weighting', 'power'])
    assert 2000 < len(uneven) < 30000 and any('range of their sizes' in line for line in uneven), len(uneven)
    assert not any('range of their sizes' in line for line in few)
    assert not any('a.png' in line for line in few)


def test_auto_is_explained():
    shown = run([HDSS, 'techniques', 'auto'])
    assert shown.status == 0 and shown.out.startswith('auto: ') and '--technique' in shown.out and 'hdss-techniques(7)' in shown.out, str(shown)
    assert all(len(line) <= 80 for line in shown.out.splitlines()), shown.out


def test_the_longest_series():
    """Chunks of one size are drawn without a walk; others end at a limit, with nothing left behind."""
    for form in ('recursive', 'closed'):
        for spec in ('ss', 'css:chunk=3', 'mfsc'):
            result = run([beside('printf picture'), 'chunks', spec, '--iterations', 2**63, '--workers', 4, '--form', form, '--plot', 'a.png'])
            assert result.status == 0, (spec, str(result))
    os.remove('a.png')
    words = ['gss', 'ss', '--iterations', 10**12, '--power', '1,0.5', '--weighting', 'power', '--plot', 'a.png']
    result = run([beside('printf picture'), 'chunks', *words])
    assert result.status == 2 and len(result.err) == 1 and not result.out, str(result)
    assert all(part in result.err[0] for part in ('ss', '1000000000000', '100000000', '--min-chunk')), str(result)
    assert os.listdir() == ['bin'], os.listdir()


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
