"""`hdss chunks` against the published tables, as a researcher would check them."""
import json
import os
import subprocess

from launch import HDSS, main, run

GOLDEN = os.environ['GOLDEN']


def known():
    out = subprocess.run([HDSS, 'techniques'], capture_output=True, text=True, check=True).stdout
    return {line.split()[0] for line in out.splitlines()[1:]}


def command(entry):
    words = [HDSS, 'chunks', entry['spec'], '--iterations', entry['iterations'], '--workers', entry['workers'], '--min-chunk', entry['min_chunk'],
             '--form', entry['form'], '--format', 'json']
    if 'power' in entry:
        words += ['--power', ','.join(map(str, entry['power']))]
    if 'order' in entry:
        words += ['--order', ','.join(map(str, entry['order']))]
    if 'weighting' in entry:
        words += ['--weighting', entry['weighting']]
    return words


def test_every_published_sequence():
    techniques, checked = known(), 0
    with open(GOLDEN) as file:
        entries = json.load(file)
    for entry in entries:
        if entry['spec'].split(':')[0] not in techniques:
            continue
        result = run(command(entry))
        assert result.status == 0, (entry['id'], str(result))
        chunks = json.loads(result.out)
        assert [chunk['count'] for chunk in chunks] == entry['sequence'], entry['id']
        assert all(a['first'] + a['count'] == b['first'] for a, b in zip(chunks, chunks[1:])), entry['id']
        if 'order' in entry:
            assert [chunk['worker'] for chunk in chunks] == entry['order'][:len(chunks)], entry['id']
        checked += 1
    assert checked >= 25, checked
    print(f'# {checked} sequences', flush=True)


def test_wrong_use():
    for words, part in ([['chunks', 'nope', '--iterations', 5, '--workers', 2], 'nope'], [['chunks', 'gss', '--workers', 2], '--iterations'],
                        [['chunks', 'gss', '--iterations', 'x', '--workers', 2], 'x'], [['chunks', 'gss', '--iterations', 5, '--workers', 0], '0'],
                        [['chunks', 'dfss', '--iterations', 5, '--workers', 2, '--form', 'closed'], 'closed'], [['chuncks'], 'chunks'],
                        [['kernels', 'nope'], 'mandelbrot'], [['techniques', 'nope'], 'nope'],
                        [['run', '--workers', 'x', 'synthetic'], '--workers']):
        result = run([HDSS, *words])
        assert result.status == 2 and len(result.err) == 1 and part in result.err[0], (words, str(result))


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
