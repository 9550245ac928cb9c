# SPDX-License-Identifier: MIT
"""Reading traces: each broken row is refused with its line, and what is read comes into its order."""
import io
import os
import random
import sys

sys.path.insert(0, os.path.join(os.environ['SOURCE_ROOT'], 'deploy', 'python'))
# pylint: disable=wrong-import-position
from hdss._trace import COLUMNS, ROW_MAX, Broken, Trace
from launch import main
from traces import SAMPLE

HEAD = COLUMNS + '\n'


def read(text):
    return Trace(io.BytesIO(text.encode()), 't.csv')


def refusal(text):
    try:
        read(text)
    except Broken as broken:
        return str(broken)
    raise AssertionError(text)


def test_a_trace_comes_into_its_order():
    trace = read(SAMPLE)
    assert trace.facts['kernel'] == 'adjoint' and trace.iterations == 100 and trace.masters == 2 and 'workers' not in trace.facts
    assert [(worker.rank, len(worker.chunks), worker.host) for worker in trace.workers] == [(4, 2, None), (2, 2, 'there'), (3, 2, 'here')]
    lost = trace.workers[2].chunks[1]
    assert trace.workers[2].power == 2.5 and (lost.fate, lost.ended, lost.reason) == ('lost', None, 'other') and trace.span(trace.workers[2], lost, 100) == (4.25, 5)
    assert trace.end() == 9 and [cut.formula for cut in trace.cuts] == [34, None] and trace.events[1].text == 'a "b",\n<c>'


def test_chunks_are_sorted_and_their_workers_added():
    trace = read(HEAD + 'chunk,3,7,,,2,,5,,,3.5,4,,,done,,\r\nchunk,1,7,,,1,0,5,,,1.5,2,,,done,,\r\nchunk,5,7,,,3,10,5,,,,,,,returned,,')
    worker, = trace.workers
    assert (worker.rank, worker.master) == (7, None) and [chunk.number for chunk in worker.chunks] == [1, 2, 3]
    assert worker.chunks[1].first is None and trace.span(worker, worker.chunks[2], 9) is None


def test_rows_of_one_chunk_are_one_chunk():
    """Of chunk 2 a part was given back, of chunk 3 one was dropped; the worker was lost at chunk 4, and had not begun 5."""
    trace = read(HEAD + '''\
chunk,1,1,0,1,1,0,10,own,,1,2,2.5,0.875,done,,
chunk,1.5,1,0,1,2,10,6,own,0.5,2,4,4.5,1.75,done,,
chunk,1.5,1,0,1,2,16,4,own,0.5,,,3,,returned,,
chunk,1.6,1,0,1,3,20,5,own,,4,5,6,1,dropped,,
chunk,1.6,1,0,1,3,25,5,own,,4,5,6,,done,,
chunk,3,1,0,1,4,30,5,copy,,,,5.5,,lost,,
chunk,3.5,1,0,1,5,35,5,own,,,,5.5,,lost,,
event,5.5,1,0,,,,,,,,,,,,,worker lost
''')
    worker, = trace.workers
    assert [(chunk.number, chunk.is_part) for chunk in worker.chunks] == [(1, False), (2, True), (2, False), (5, False), (3, True), (3, False), (4, False)]
    assert [trace.span(worker, worker.chunks[i], 9) for i in (2, 3, 4, 6)] == [(2, 4), None, None, (5, 5.5)]
    assert worker.chunks[5].compute == 1  # which stands in the row of the other part


def test_broken_rows_are_refused():
    for text, said in (
            ('', 't.csv:1: this is no trace'), ('kind,time_s\n', 't.csv:1: this is no trace'), (COLUMNS + 's\n', 't.csv:1: this is no trace'),
            (HEAD + '\n', 't.csv:2: 1 field; accepted are 17 or more'), (HEAD + 'chunk,1,2\n', 't.csv:2: 3 fields; accepted are 17 or more'),
            (HEAD + 'chunk,x,2,,,,0,1,,,,,,,,,\n', "t.csv:2: time_s is 'x'; accepted are seconds from 0 to 1e9"),
            (HEAD + 'chunk,-1,2,,,,0,1,,,,,,,,,\n', "t.csv:2: time_s is '-1'"), (HEAD + 'chunk,nan,2,,,,0,1,,,,,,,,,\n', "t.csv:2: time_s is 'nan'"),
            (HEAD + 'chunk,2e9,2,,,,0,1,,,,,,,,,\n', "t.csv:2: time_s is '2e9'"),
            (HEAD + 'chunk,1,-2,,,,0,1,,,,,,,,,\n', "t.csv:2: worker is '-2'; accepted are whole numbers from 0 to 16777215"),
            (HEAD + 'chunk,1,2,,,,0,99999999999999999999,,,,,,,,,\n', "t.csv:2: count is '99999999999999999999'"),
            (HEAD + 'chunk,1,2,,,,0,1,since,,,,,,,,\n', "t.csv:2: reason is 'since'; accepted are own, other, cut, requeued, recalled, copy, verify"),
            (HEAD + 'chunk,1,2,,,,0,1,own,,,,,,well,,\n', "t.csv:2: fate is 'well'; accepted are done, lost, returned, dropped, failed, open"),
            (HEAD + 'chunk,1,,,,,0,1,own,,,,,,done,,\n', "t.csv:2: a row of the kind 'chunk' has no worker"),
            (HEAD + 'chunk,,2,,,,0,1,own,,,,,,done,,\n', "t.csv:2: a row of the kind 'chunk' has no time_s"),
            (HEAD + 'cut,1,2,,,,0,,,,,,,,,,\n', "t.csv:2: a row of the kind 'cut' has no count"),
            (HEAD + 'resumed,,,,,,0,,,,,,,,,,\n', "t.csv:2: a row of the kind 'resumed' has no count"),
            (HEAD + 'resumed,,,,,,,7,,,,,,,,,\n', "t.csv:2: a row of the kind 'resumed' has no first"),
            (HEAD + 'run,,,,,,,,,,,,,,,,kernel\n', "t.csv:2: a row of the kind 'run' has no text with KEY=VALUE"),
            (HEAD + 'run,,,,,,,,,,,,,,,,iterations=many\n', "t.csv:2: 'many' is no number"),
            (HEAD + 'event,1,,,,,,,,,,,,,,,"a\nb"\nevent,1,,,,,,,,,,,,,,,a"b\n', 't.csv:4: the file ends within quotes'),
            (HEAD + 'event,1,,,,,,,,,,,,,,,"a"b""\n', 't.csv:2: a quote is not as accepted'), (HEAD + 'event,1,,,,,,,,,,,,,,,"a\n\n', 't.csv:2: the file ends within quotes'),
            (HEAD + 'x' * (ROW_MAX + 1), 't.csv:2: the row is longer than 65536 bytes'), (HEAD + 'run,,,,,,,,,,,,,,,,a\0=b\n', 't.csv:2: a NUL byte')):
        assert refusal(text).startswith(said), (text[:100], refusal(text))


def test_any_bytes_are_refused_or_in_order():
    """The sample with some of its bytes changed."""
    rng, good = random.Random(7), 0
    for _ in range(2000):
        data = bytearray(SAMPLE.encode())
        for _ in range(rng.randrange(1, 4)):
            data[rng.randrange(len(HEAD), len(data))] = rng.choice(b',,\n"0123456789.e-x\0\xff')
        try:
            trace = Trace(io.BytesIO(bytes(data)), 't.csv')
        except Broken as broken:
            assert str(broken).startswith('t.csv:'), broken
            continue
        good += 1
        assert sorted((worker.node, worker.rank) for worker in trace.workers) == [(worker.node, worker.rank) for worker in trace.workers]
        spans = [trace.span(worker, chunk, trace.end()) for worker in trace.workers for chunk in worker.chunks]
        assert all(span is None or 0 <= span[0] <= span[1] for span in spans), spans
    assert 100 < good < 1900, good


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
