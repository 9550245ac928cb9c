# SPDX-License-Identifier: MIT
"""Loops with dependencies: pictures are dithered and hydro is computed by many workers as by a serial loop, which stands here once more, in every
topology, by any technique, weighted or not, with any number of synchronization points; bad pictures and bad options; what is refused."""
import os
import struct
import zlib

from dependent import DITHER, HYDRO, dithered, generated, hydro, swinging
from kernels import SOURCE, build
from launch import WORKER, finish, job, journal_is_over, main, mpirun_line, report, run, run_job, start
from results import read, records_of


# --- what is expected ---


def photograph(width, height):
    """Levels that no formula of the product makes."""
    return [[(x * x // 7 + y * 13 + (x * y) % 97 * 2) % 256 for x in range(width)] for y in range(height)]


# --- files ---

def write(path, data):
    with open(path, 'wb') as file:
        file.write(data)


def write_pgm(path, levels, magic=b'P5'):
    write(path, magic + b'\n# a comment\n%d %d\n255\n' % (len(levels[0]), len(levels)) + b''.join(map(bytes, levels)))


def png_chunk(kind, body):
    return struct.pack('>I', len(body)) + kind + body + struct.pack('>I', zlib.crc32(kind + body))


def write_png(path, rows, bits=8, colour=0):
    """Rows of bytes, as they stand in the file; colour: 0 gray, 2 RGB, 6 RGB and alpha."""
    width = len(rows[0]) * 8 // bits // {0: 1, 2: 3, 6: 4}[colour]
    head = struct.pack('>IIBBBBB', width, len(rows), bits, colour, 0, 0, 0)
    body = zlib.compress(b''.join(b'\0' + bytes(row) for row in rows))
    write(path, b'\x89PNG\r\n\x1a\n' + png_chunk(b'IHDR', head) + png_chunk(b'IDAT', body) + png_chunk(b'IEND', b''))


def bits_of(path):
    """Width, height and rows of 0 and 1 of a PNG with one bit for each pixel, none of whose rows is filtered."""
    data, at, body = read(path), 8, b''
    while at < len(data):
        length, kind = struct.unpack('>I4s', data[at:at + 8])
        if kind == b'IHDR':
            width, height, bits, colour = struct.unpack('>IIBB', data[at + 8:at + 18])
        if kind == b'IDAT':
            body += data[at + 8:at + 8 + length]
        at += 12 + length
    assert (bits, colour) == (1, 0), (bits, colour)
    body, stride = zlib.decompress(body), 1 + (width + 7) // 8
    rows = [body[y * stride:(y + 1) * stride] for y in range(height)]
    assert all(row[0] == 0 for row in rows)
    return width, height, [bytes(row[1 + x // 8] >> (7 - x % 8) & 1 for x in range(width)) for row in rows]


# --- runs ---

def together(launches):
    """Some launches at a time, each (masters, workers, words); their results."""
    results = []
    for at in range(0, len(launches), 3):
        processes = [start(job(masters, workers, ['--progress', 'never', *words])) for masters, workers, words in launches[at:at + 3]]
        results += [finish(process) for process in processes]
    return results


def all_done(launches):
    results = together(launches)
    assert all(result.status == 0 for result in results), '\n'.join(map(str, results))
    return results


def done(words, workers=3, masters=0):
    return all_done([(masters, workers, words)])[0]


def check_records(expected, cases, loop):
    """cases: (masters, workers, words), which are to yield the same records; their reports."""
    names = [f'case{number}' for number in range(len(cases))]
    all_done([(masters, workers, ['--output', f'{name}.npy', '--report', f'{name}.json', *words, *loop])
              for name, (masters, workers, words) in zip(names, cases)])
    for name, case in zip(names, cases):
        assert records_of(f'{name}.npy') == expected, (case, loop)
    return [report(f'{name}.json') for name in names]


def check_refused(cases, loop=()):
    """cases: (words, what the one line of error has to say)."""
    for (words, parts), result in zip(cases, together([(0, 2, [*words, *loop]) for words, _ in cases])):
        assert result.status == 2 and len(result.err) == 1 and all(part in result.err[0] for part in parts), (words, parts, str(result))


def test_dithering_equals_the_serial_loop_in_every_topology_by_any_technique():
    expected, loop = b''.join(dithered(generated(90, 131))), [DITHER, 'width=90', 'height=131']
    techniques = [(0, 2, 'static', 'none'), (0, 3, 'ss', 'none'), (2, 3, 'css:chunk=9', 'power'), (2, 4, 'gss', 'power'), (0, 3, 'tss', 'none'),
                  (2, 3, 'fac2', 'acp'), (3, 5, 'dfss', 'none'), (0, 3, 'awf-b', 'none'), (2, 4, 'af', 'none'), (0, 2, 'auto', 'none'), (0, 1, 'rnd', 'none')]
    cases = [(masters, workers, ['--technique', technique, '--weighting', weighting]) for masters, workers, technique, weighting in techniques]
    cases += [(0, 3, ['--ask-ahead', 'off']), (2, 3, ['--ask-ahead', '8'])]
    for (_, workers, _), figures in zip(cases, check_records(expected, cases, loop)):
        assert figures['sync_points'] == min(3 * workers, 90), figures
    one, many = done(loop, workers=1), done(loop)
    assert one.checksum() == many.checksum() and 'sync points  9 in each chunk' in many.out, many


def test_hydro_equals_the_serial_loop_to_the_last_bit():
    cases = [(0, 2, 'fac2', 'none'), (2, 3, 'gss', 'power'), (0, 4, 'ss', 'none'), (2, 4, 'tss', 'power'), (3, 3, 'css:chunk=7', 'none')]
    check_records(hydro(60, 70), [(masters, workers, ['--technique', technique, '--weighting', weighting])
                                  for masters, workers, technique, weighting in cases], [HYDRO, 'l=60', 'k=70'])


def test_any_number_of_synchronization_points_will_do():
    cases = [(masters, 3, ['--sync-points', points]) for points in ('1', '2', '9', '60', '61', 'auto') for masters in (0, 2)]
    for (_, _, words), figures in zip(cases, check_records(b''.join(dithered(generated(61, 70))), cases, [DITHER, 'width=61', 'height=70'])):
        assert figures['sync_points'] == (9 if words[1] == 'auto' else int(words[1])), figures
    check_records(hydro(20, 40), [(0, 3, ['--sync-points', points]) for points in (1, 9, 40)], [HYDRO, 'l=20', 'k=40'])


def test_boundary_data_of_any_length_cross_masters():
    """With 32 bytes for each column they go as data messages where there are few points, and inline where there are many."""
    loop = [HYDRO, 'l=40', 'k=3000']
    results = all_done([(0, 1, loop)] + [(masters, 4, ['--sync-points', points, '--technique', 'css:chunk=3', *loop])
                                         for points, masters in ((1, 0), (2, 2), (3000, 2), (40, 0))])
    assert len({result.checksum() for result in results}) == 1, [result.checksum() for result in results]


def test_a_picture_becomes_a_png_of_one_bit():
    levels = photograph(83, 47)
    write_pgm('photo.pgm', levels)
    write_png('photo.png', levels)
    expected = dithered(levels)
    for source in ('photo.pgm', 'photo.png'):
        result = done(['--output', 'out.png', DITHER, f'file={source}'])
        assert not result.err, result
        assert bits_of('out.png') == (83, 47, expected), source
    write('text.pgm', b'P2 83 47 255 ' + b' '.join(b'%d' % level for row in levels for level in row))
    done(['--output', 'out.npy', DITHER, 'file=text.pgm'])
    assert records_of('out.npy') == b''.join(expected)


def test_what_is_not_grayscale_is_converted_and_said():
    colours = [[(x * 3 % 256, y * 5 % 256, (x + y) * 2 % 256) for x in range(40)] for y in range(30)]
    gray = [[(299 * r + 587 * g + 114 * b + 500) // 1000 for r, g, b in row] for row in colours]
    samples = [[level for pixel in row for level in pixel] for row in colours]
    write_png('colour.png', samples, colour=2)
    write('colour.ppm', b'P6 40 30 255\n' + b''.join(map(bytes, samples)))
    for source in ('colour.png', 'colour.ppm'):
        result = done(['--output', 'out.npy', DITHER, f'file={source}'])
        assert len(result.err) == 1 and source in result.err[0] and 'converted to gray' in result.err[0], result
        assert records_of('out.npy') == b''.join(dithered(gray)), source
    shadows = [[(level, level, level, 128) for level in row] for row in gray]
    write_png('shadow.png', [[level for pixel in row for level in pixel] for row in shadows], colour=6)
    result = done(['--output', 'out.npy', DITHER, 'file=shadow.png'])
    assert 'laid on white' in result.err[0], result
    light = [[(level * 128 + 255 * 127 + 127) // 255 for level in row] for row in gray]
    assert records_of('out.npy') == b''.join(dithered(light))
    deep = [[level * 257 for level in row] for row in gray]
    write('deep.pgm', b'P5 40 30 65535\n' + b''.join(struct.pack('>40H', *row) for row in deep))
    write_png('deep.png', [struct.pack('>40H', *row) for row in deep], bits=16)
    for source in ('deep.pgm', 'deep.png'):
        result = done(['--output', 'out.npy', DITHER, f'file={source}'])
        assert 'rounded to 8 bits' in result.err[0], result
        assert records_of('out.npy') == b''.join(dithered(gray)), source


def test_small_pictures_and_more_workers_than_rows():
    for width, height in ((1, 1), (1, 40), (40, 1), (17, 3)):
        cases = [(0, 1, []), (2, 4, []), (0, 5, [])]
        for (_, workers, _), figures in zip(cases, check_records(b''.join(dithered(generated(width, height))), cases,
                                                                 [DITHER, f'width={width}', f'height={height}'])):
            assert figures['sync_points'] == min(3 * workers, width), figures
    check_records(hydro(2, 1), [(0, 4, [])], [HYDRO, 'l=2', 'k=1'])


def test_bad_pictures_are_refused_in_one_line():
    levels = photograph(50, 40)
    write_pgm('good.pgm', levels)
    write_png('good.png', levels)
    pgm, png = read('good.pgm'), read('good.png')
    write('cut.pgm', pgm[:-7])
    write('cut-head.pgm', pgm[:18])
    write('cut.png', png[:-40])
    write('cut-head.png', png[:20])
    write('wrong.png', png[:60] + bytes(4) + png[64:])
    write('empty.pgm', b'')
    write('none.pgm', b'P5 0 10 255\n')
    write('huge.pgm', b'P5 2000000 10 255\n')
    write('highest.pgm', b'P5 1 1 70000\n\0\0')
    write('text.png', b'hello, world')
    write('bits.pbm', b'P4 8 1\n\xff')
    bad = [('cut.pgm', ['cut off', 'row 40 of 40']), ('cut-head.pgm', ['cut off']), ('cut.png', ['cut off']), ('cut-head.png', ['cut off']),
           ('wrong.png', ['accepted: PGM, PPM or PNG']), ('empty.pgm', ['empty', 'accepted']), ('none.pgm', ['0 x 10', 'accepted']),
           ('huge.pgm', ['2000000', 'accepted']), ('highest.pgm', ['70000', 'accepted']), ('text.png', ['no picture', 'accepted: PGM, PPM or PNG']),
           ('bits.pbm', ['accepted']), ('missing.pgm', ['No such file']), ('.', ['not a regular file'])]
    check_refused([([DITHER, f'file={name}'], [f'file={name}', *parts]) for name, parts in bad])


def test_points_that_cannot_be_are_refused_in_one_line():
    loop = [DITHER, 'width=50', 'height=40']
    check_refused([(['--sync-points', points], ['--sync-points', *parts])
                   for points, parts in (('51', ['51', '1 to 50']), ('0', ['auto', '1']), ('-1', ['auto']), ('many', ['many', 'auto']))], loop)
    check_refused([(['--sync-points', '3', 'mandelbrot', 'width=20', 'height=20'], ['independent'])])
    done(['--sync-points', '50', *loop])


def test_what_a_loop_with_dependencies_cannot_have_is_refused_in_one_line():
    loop = [DITHER, 'width=50', 'height=40']
    check_refused([(['--threads', '2'], ['one thread']), (['--iterations', '5:10'], ['0:COUNT']),
                   (['--technique', 'static-steal'], ['--technique: static-steal says where its chunks lie'])], loop)
    for dca in ('rma', 'two-sided', 'node'):
        result = run(mpirun_line([(2, [WORKER, '--dca', dca, *loop])]))
        assert result.status == 2 and len(result.err) == 1 and 'depend on one another' in result.err[0], result
    part = done(['--iterations', '0:17', '--output', 'part.npy', *loop])
    assert records_of('part.npy')[:17 * 50] == b''.join(dithered(generated(50, 40))[:17]), part
    assert journal_is_over('part.npy.journal')


def test_what_dependent_chunks_cost_is_recorded():
    done(['--technique', 'css:chunk=20', '--record-costs', 'costs.txt', DITHER, 'width=50', 'height=100'])
    with open('costs.txt') as file:
        lines = [line.split() for line in file if not line.startswith('#')]
    assert [(int(first), int(count)) for first, count, *_ in lines] == [(20 * i, 20) for i in range(5)], lines
    assert all(float(us) > 0 for _, _, us, _ in lines), lines


def test_a_dependence_over_several_iterations_raises_the_least_chunk():
    build('wave.so', os.path.join(SOURCE, 'deploy/examples/kernels/wave.c'))
    expected, loop = swinging(45, 31), ['./wave.so', 'points=45', 'moments=31']
    for technique, workers, masters in (('ss', 3, 0), ('gss', 4, 2), ('fac2', 2, 0)):
        result = done(['--technique', technique, '--output', 'wave.npy', '--report', 'report.json', *loop], workers=workers, masters=masters)
        assert len(result.err) == 1 and '--min-chunk is raised to 2' in result.err[0], result
        assert report()['technique']['min_chunk'] == 2
        assert records_of('wave.npy') == expected, technique
    result = done(['--min-chunk', '3', '--output', 'wave.npy', *loop])
    assert not result.err and records_of('wave.npy') == expected, result


def test_a_kernel_that_fails_ends_the_run_with_its_line():
    with open('failing.c', 'w') as file:
        file.write(open(os.path.join(SOURCE, 'deploy/examples/kernels/wave.c')).read().replace(
            '    (void)error;\n    for (uint64_t row = 0;',
            '    if (block->first + block->count > 20 && block->count > 1) {\n        snprintf(error, HDSS_ERROR_MAX, "the string breaks");\n'
            '        return -1;\n    }\n    for (uint64_t row = 0;'))
    build('failing.so', 'failing.c')
    for masters in (0, 2):
        result = run_job(masters, 3, ['--power', 'equal', './failing.so', 'points=45', 'moments=60'])
        assert result.status == 1 and any('the string breaks' in said for said in result.err), result


def test_a_kernel_for_an_earlier_interface_is_refused():
    with open('old.c', 'w') as file:
        file.write(open(os.path.join(SOURCE, 'deploy/examples/kernels/wave.c')).read().replace('.abi = HDSS_KERNEL_ABI', '.abi = 4'))
    build('old.so', 'old.c')
    check_refused([(['./old.so'], ['version 4', 'accepted: 8'])])


if __name__ == '__main__':
    main([test for name, test in list(globals().items()) if name.startswith('test_')])
