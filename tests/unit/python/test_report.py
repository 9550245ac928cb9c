# SPDX-License-Identifier: MIT
"""hdss report: the files are told apart, those of different runs refused, and the chart as SVG has each chunk."""
import io
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.environ['SOURCE_ROOT'], 'deploy', 'python'))
# pylint: disable=wrong-import-position
from hdss import _gantt
from hdss._command import Refusal
from hdss._report import Files
from hdss._trace import COLUMNS, Trace
from launch import main
from traces import SAMPLE

HEAD = COLUMNS + '\n'


def read(text):
    return Trace(io.BytesIO(text.encode()), 't.csv')


def write(name, told):
    with open(name, 'w', encoding='utf-8') as file:
        file.write(told if isinstance(told, str) else json.dumps(told))
    return name


def report(ranks, **more):
    return dict({'hdss': '1', 'worker_stats': [{'rank': rank} for rank in ranks]}, **more)


def test_files_are_told_apart():
    run, simulated = write('run.json', report([2, 3, 4], kernel={'name': 'k'})), write('simulated.json', report([1], simulated={}))
    trace, virtual = write('run.csv', SAMPLE + 'run,,,,,,,,,,,,,,,,origin=now\n'), write('virtual.csv', SAMPLE)
    for names, places in (([run], (None, run, None)), ([simulated], (None, simulated, None)), ([trace, run], (trace, run, None)), ([simulated, run], (None, run, simulated)),
                          ([simulated, trace], (trace, None, simulated)), ([run, simulated, trace], (trace, run, simulated))):
        files = Files(names, True)
        assert tuple(found and found.name for found in (files.trace, files.report, files.simulated)) == places, names
    assert Files([run], True).title() == 'k, 3 workers' and Files([trace], True).title() == 'adjoint by gss, 3 workers'
    assert [worker.rank for worker in Files([trace, run], False).trace.value.workers] == [4, 2, 3]
    for names, said in (([run, simulated, virtual], 'virtual.csv: the trace is of a simulation'), ([run, run], 'run.json: a second report; a trace, a report, and'),
                        ([virtual, write('other0.json', report([2, 3]))], 'other0.json: it tells of 2 workers, and the trace of 3: they are of different runs'),
                        ([virtual, write('other1.json', report([2, 3, 9]))], 'other1.json: it tells of worker 9, which the trace does not know: they are of different runs'),
                        ([write('other2.json', {'hdss': '1', 'worker_stats': [{}]})], 'other2.json: an entry of "worker_stats" has no rank'),
                        ([write('other3.json', {'worker_stats': []})], 'other3.json: it is no report of a run'), ([write('other4.json', '{"a":\nnothing}')], 'other4.json:2: ')):
        try:
            Files(names, True)
        except Refusal as refusal:
            assert str(refusal).startswith(said), refusal
        else:
            raise AssertionError(names)


def test_the_svg_has_each_chunk():
    """A path for each class, with a rectangle for each of its chunks; worker 4 computes from 2 to 6 s of 9 s, which are 660 cells behind the 92 of the labels."""
    text = _gantt.svg(read(SAMPLE), 'a <title> & more')
    assert text.count('a &lt;title&gt; &amp; more') == 2 and text.count('<title>worker 3 was lost</title>') == 1 and text.count('>node ') == 2, text
    assert text.count('<path fill=') == 3 and 'M238.7 74h293v15h-293z' in text[text.index('<path fill="#0072b2"'):], text


def test_many_short_chunks_make_a_small_svg():
    rows = [f'chunk,{i * 1e-4:.4f},1,0,1,{i + 1},{i},1,own,,{i * 1e-4:.4f},{i * 1e-4 + 5e-5:.5f},,,done,,\n' for i in range(50000)]
    text = _gantt.svg(read(HEAD + ''.join(rows)), 't')
    assert len(text) < 20000 and 'fill-opacity="0.5"' in text, len(text)


def test_classes_are_by_fate_and_reason():
    for reason, fate, expected in (('own', 'done', 0), ('cut', 'open', 0), ('', '', 0), ('other', 'done', 1), ('requeued', 'done', 2), ('recalled', 'undone', 3), ('copy', 'done', 4),
                                   ('verify', 'done', 5), ('verify', 'dropped', 5), ('verify', 'lost', 6), ('own', 'lost', 6), ('copy', 'dropped', 6), ('other', 'failed', 6), ('adopted', 'done', 0)):
        worker, = read(HEAD + f'chunk,1,1,,,,0,1,{reason},,,,,,{fate},,\n').workers
        assert _gantt.class_of(worker.chunks[0]) == expected, (reason, fate)


def test_words_are_no_markup():
    assert _gantt.markup('<a b="c">\'&\x01\x7f\n') == '&lt;a b=&quot;c&quot;&gt;&#39;&amp;??\n'
    assert not re.search('<script', _gantt.svg(read(SAMPLE.replace('adjoint', '<script>')), '<script>'))


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
