# SPDX-License-Identifier: MIT
"""`--trace`: the trace of a run is replayed, and gives the figures of the report; each iteration is done once, and no worker is at two chunks at once.
In real runs, with and without masters, with threads, helpers, tasks, losses and in a set, and in simulated ones."""
import base64
import collections
import csv
import json
import os
import re
import shutil
import signal
import subprocess

import chromium
from faults import clear, disturbed, job_words
from journals import wait_for_records
from launch import HDSS, MASTER, WORKER, finish, hdss, hurried, job, main, python_is_there, run, start
from loops import ENDLESS, ENDLESS_ITERATIONS, STEADY

COLUMNS = ['kind', 'time_s', 'worker', 'node', 'master', 'chunk', 'first', 'count', 'reason', 'asked_s', 'begun_s', 'ended_s', 'stored_s', 'compute_s',
           'fate', 'formula', 'text']
LOOP = ['synthetic', 'iterations=400', 'mean=1000', 'distribution=exponential']


def iterations_of(row):
    return range(int(row['first']), int(row['first']) + int(row['count']))


def counts_of(rows, iterations):
    """How often each iteration is in rows with `first` and `count`."""
    counts = [0] * iterations
    for row in rows:
        for i in iterations_of(row):
            counts[i] += 1
    return counts


class Trace:
    """A trace, read: `about`, `workers`, `chunks`, `cuts`, `events` and `resumed` as dictionaries of texts."""

    def __init__(self, path):
        with open(path, newline='') as file:
            text = file.read()
        assert text.endswith('\r\n') and '\n' not in text.replace('\r\n', ''), 'RFC 4180 ends lines by CRLF'
        rows = list(csv.reader(text.splitlines()))
        assert rows[0] == COLUMNS, rows[0]
        kinds = collections.defaultdict(list)
        for row in rows[1:]:
            assert len(row) == len(COLUMNS), row
            kinds[row[0]].append(dict(zip(COLUMNS, row)))
        assert set(kinds) <= {'run', 'worker', 'chunk', 'cut', 'event', 'resumed'}, set(kinds)
        self.about = dict(row['text'].split('=', 1) for row in kinds['run'])
        self.workers, self.chunks, self.cuts, self.events = kinds['worker'], kinds['chunk'], kinds['cut'], kinds['event']
        self.resumed = kinds['resumed']

    def counts(self):
        """How often each iteration was done, by this run or the one that it goes on from."""
        return counts_of([row for row in self.chunks + self.resumed if row['fate'] == 'done'], int(self.about['iterations']))


def check_times(trace):
    """In order for each chunk, and one chunk after another for each worker, each for as long as it was computed."""
    stays = collections.defaultdict(list)
    for row in trace.chunks:
        times = [float(row[name]) for name in ('asked_s', 'time_s', 'begun_s', 'ended_s') if row[name]]
        assert times == sorted(times), row
        if row['fate'] == 'done':
            assert row['stored_s'] and float(row['stored_s']) >= float(row['time_s']), row
        if row['compute_s']:
            stays[row['worker']].append((float(row['begun_s']), float(row['ended_s'])))
            assert row['reason'] == 'adopted' or float(row['ended_s']) - float(row['begun_s']) >= float(row['compute_s']) - 1e-6, row
    for worker, times in stays.items():
        times.sort()
        assert all(before[1] <= after[0] for before, after in zip(times, times[1:])), (worker, times)


def check_figures(trace, report):
    """What the report says of the run and of each worker."""
    assert trace.about['iterations'] == str(report['iterations']) and trace.about['workers'] == str(report['workers'])
    assert trace.about['masters'] == str(report['masters']) and trace.about['kernel'] == report['kernel']['name']
    done, chunks, compute = collections.Counter(), collections.Counter(), collections.Counter()
    for row in trace.chunks:
        if row['fate'] == 'done':
            done[row['worker']] += int(row['count'])
        if row['begun_s'] and (row['compute_s'] or row['fate'] in ('done', 'dropped')):
            chunks[row['worker'], row['master'], row['chunk']] = 1
        if row['compute_s']:
            compute[row['worker']] += float(row['compute_s'])
    of_worker = collections.Counter(worker for worker, _, _ in chunks)
    assert {row['worker'] for row in trace.workers} == {str(worker['rank']) for worker in report['worker_stats']}
    for worker in report['worker_stats']:
        rank = str(worker['rank'])
        assert done[rank] == worker['iterations'], (rank, done[rank], worker)
        assert of_worker[rank] == worker['chunks'], (rank, of_worker[rank], worker)
        assert abs(compute[rank] - worker['compute_s']) < 1e-6, (rank, compute[rank], worker)
    assert sum(int(row['count']) for row in trace.resumed) == report['faults']['resumed_iterations']
    assert sum(int(row['count']) for row in trace.cuts + trace.resumed) >= report['done']


def traced(words, name='trace.csv', status=0, launcher=('run',)):
    result = run([HDSS, *launcher, '--report', 'report.json', '--trace', name, *words])
    assert result.status == status, result
    assert not [file for file in os.listdir('.') if file.startswith('trace.') and file.endswith('.part')], os.listdir('.')
    with open('report.json') as file:
        return Trace(name), json.load(file), result


def check_undisturbed(trace, report):
    assert set(trace.counts()) == {1}, trace.counts()
    assert not [row for row in trace.chunks if row['fate'] in ('open', 'lost')]  # who computes a copy in vain may leave it undone
    check_times(trace)
    check_figures(trace, report)


def check_traces(*lineups):
    for lineup in lineups:
        trace, report, _ = traced([*lineup, *LOOP])
        check_undisturbed(trace, report)
        reasons = {row['reason'] for row in trace.chunks}
        assert reasons <= ({'own', 'other', 'recalled', 'copy'} if report['masters'] else {'cut', 'recalled', 'copy'}), reasons


def test_a_trace_gives_the_figures_of_the_report():
    check_traces(['--workers', 3], ['--workers', 4, '--masters', 2])


def test_a_trace_gives_the_figures_whatever_the_options():
    check_traces(['--workers', 3, '--technique', 'gss', '--recall', 'off', '--ask-ahead', 'off'],
                 ['--workers', 4, '--masters', 2, '--technique', 'awf-c'], ['--workers', 2, '--output', 'out.npy', '--overwrite'],
                 ['--workers', 4, '--masters', 1, '--output', 'out.npy', '--overwrite'], ['--workers', 2, '--technique', 'ss'])


def check_comparisons(trace, report):
    """A chunk to be compared that nobody computed was given to one more worker, who did, unless the report says that it was not compared."""
    comparisons = [row for row in trace.chunks if row['reason'] == 'verify']
    assert {row['fate'] for row in comparisons} <= {'dropped', 'returned', 'undone'}
    given, compared = (set().union(*map(iterations_of, rows)) for rows in (comparisons, [row for row in comparisons if row['fate'] == 'dropped']))
    assert len(given - compared) <= report['verify']['unverified'], (comparisons, report['verify'])


def test_results_compared_and_threads():
    trace, report, _ = traced(['--workers', 3, '--verify', '0.5', *LOOP])
    assert set(trace.counts()) == {1}
    check_comparisons(trace, report)
    compared = sum(int(row['count']) for row in trace.chunks if row['reason'] == 'verify' and row['fate'] == 'dropped')
    assert compared >= report['verify']['alike'], (compared, report['verify'])  # who is late is not waited for
    check_times(trace)
    trace, report, _ = traced(['--workers', 2, '--threads', 2, *LOOP])
    assert set(trace.counts()) == {1}
    check_times(trace)


def test_dependent_loops_and_time_steps():
    trace, report, _ = traced(['--workers', 2, 'floyd-steinberg', 'width=200', 'height=200'])
    check_undisturbed(trace, report)
    trace, report, _ = traced(['--workers', 2, 'synthetic', 'iterations=200', 'steps=4', 'mean=100'])
    assert set(trace.counts()) == {1}


def test_tasks_and_functions():
    with open('tasks', 'w') as file:
        file.writelines(f'exit {i % 7 == 3}\n'.replace('True', '1').replace('False', '0') for i in range(40))
    trace, report, _ = traced(['--workers', 2, 'exec', 'tasks=tasks', 'shell=yes'], status=3)
    assert set(trace.counts()) == {1}
    check_times(trace)
    result = run([HDSS, 'exec', '-j', 2, '--trace', 'exec.csv', 'echo', ':::', *'abcde'])
    assert result.status == 0 and set(Trace('exec.csv').counts()) == {1}, result
    if python_is_there():
        with open('own.py', 'w') as file:
            file.write('def describe():\n    return {"iterations": 100, "dtype": "float64"}\n'
                       'def run(first, count):\n    return [float(i) for i in range(first, first + count)]\n')
        trace, report, _ = traced(['--workers', 2, 'python:own.run'])
        check_undisturbed(trace, report)


def test_a_lost_worker_and_a_lost_master():
    """Who is lost has an event, what it had has a fate, and all iterations are done; those of a lost master perhaps twice."""
    for masters, program, place in ((0, WORKER, 1), (1, WORKER, 0), (2, MASTER, 0)):
        result = disturbed(hdss(masters, 4, job_words('--trace', 'trace.csv')), program, [place])
        assert result.status == 0, result
        trace, counts = Trace('trace.csv'), Trace('trace.csv').counts()
        assert [row['text'] for row in trace.events] == [f'{"worker" if program == WORKER else "master"} lost'], trace.events
        assert min(counts) >= 1 and (program == MASTER or max(counts) == 1), (program, counts)
        check_times(trace)
        if program == WORKER:
            assert {row['worker'] for row in trace.chunks if row['fate'] == 'lost'} == {trace.events[0]['worker']}, trace.chunks
            assert any(row['reason'] == 'requeued' for row in trace.chunks)
        else:
            assert any(row['reason'] == 'adopted' for row in trace.chunks) or any(row['master'] == '0' for row in trace.chunks)
        clear()


def test_simulated_runs():
    for words in (['--workers', 12], ['--workers', 12, '--masters', 3], ['--workers', 12, '--masters', 3, '--seed', 5, '--repetitions', 3],
                  ['--workers', 40, '--masters', 3, '--platform', 'two-speeds:cores=4', '--fail-nodes', '3@0.05']):
        trace, report, _ = traced([*words, '--costs', 'exponential:mean=500', 'synthetic', 'iterations=3000'], launcher=('simulate',))
        assert min(trace.counts()) == 1, words
        check_times(trace)
        if '--fail-nodes' not in words:
            check_undisturbed(trace, report)
            took = max(float(row['stored_s']) for row in trace.chunks) - min(float(row['time_s']) for row in trace.chunks)
            assert took <= report['elapsed_s'] + 1e-6 and (report['masters'] > 0 or took > report['elapsed_s'] - 1e-6), (took, report['elapsed_s'])


def no_protoc():
    return None if shutil.which('protoc') is not None else 'there is no protoc: Debian has protobuf-compiler'


def perfetto_packets(path):
    """A trace for Perfetto, decoded by the numbers of Perfetto's own fields, with nothing that these do not have: each packet as text."""
    with open(path, 'rb') as file:
        told = subprocess.run(['protoc', '--decode', 'Trace', '-I', os.path.dirname(os.path.abspath(__file__)), 'perfetto.proto'], stdin=file,
                              capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    assert not re.search(r'^ *\d+[: ]', told.stdout, re.MULTILINE), 'a field that Perfetto has not'
    return told.stdout.split('packet {')[1:]


def perfetto_values(packet):
    return {name: value for value, name in re.findall(r'(?:uint_value|string_value): "?([\w.]+)"?\s+name: "(\w+)"', packet)}


def test_perfetto():
    if no_protoc() is not None:
        return no_protoc()
    for words in (['run', '--workers', 3, '--masters', 1], ['simulate', '--workers', 12, '--masters', 2]):
        result = run([HDSS, *words, '--trace', 'trace.pftrace', *LOOP])
        assert result.status == 0, result
        packets = perfetto_packets('trace.pftrace')
        begins, ends, threads = ([packet for packet in packets if word in packet] for word in ('TYPE_SLICE_BEGIN', 'TYPE_SLICE_END', 'thread_name'))
        assert len(begins) == len(ends) > 0
        assert len(threads) == int(words[words.index('--workers') + 1])
        counts = counts_of([values for values in map(perfetto_values, begins) if values['fate'] == 'done'], 400)
        assert set(counts) == {1}, counts


def drained(masters):
    """A run that was asked to stop: how many of its iterations are done."""
    process = start(job(masters, 2, [*STEADY, '--output', 'out.npy', *ENDLESS]))
    wait_for_records(process)
    process.send_signal(signal.SIGUSR1)
    result = finish(process)
    assert result.status == 4, result
    with open('report.json') as file:
        return json.load(file)['done']


def go_on(masters, name):
    """Has the run that was drained be resumed, with a trace."""
    lineup = ['--masters', masters] if masters else []
    with hurried():
        result = run([HDSS, 'run', '--workers', 3, *lineup, *STEADY, '--technique', 'fac2', '--resume', '--output', 'out.npy', '--trace', name,
                      *ENDLESS])
    assert result.status == 0, result
    with open('report.json') as file:
        return json.load(file)


def test_what_an_earlier_run_had_done_has_rows():
    """All iterations are in the trace once, those of the earlier run in rows of their own; and the page and `hdss explain` tell these apart."""
    for masters in (0, 2):
        done = drained(masters)
        report = go_on(2 - masters, 'trace.csv')
        trace = Trace('trace.csv')
        assert 0 < sum(int(row['count']) for row in trace.resumed) == done < ENDLESS_ITERATIONS, (done, trace.resumed)
        assert report['done'] == ENDLESS_ITERATIONS and report['faults']['resumed_iterations'] == done, report
        check_undisturbed(trace, report)
        for row in trace.resumed:
            told = {name: value for name, value in row.items() if value}
            assert told == {'kind': 'resumed', 'first': row['first'], 'count': row['count'], 'reason': 'resumed', 'fate': 'done'}, row
        told = run([HDSS, 'explain', 'trace.csv', '--iteration', trace.resumed[0]['first']])
        assert told.status == 0 and 'done, and stored, by an earlier run' in told.out and 'worker' not in told.out, told
        told = run([HDSS, 'explain', 'trace.csv', '--iteration', trace.chunks[0]['first']])
        assert told.status == 0 and 'earlier run' not in told.out and 'done, and stored' in told.out, told
        for files in (['trace.csv'], ['trace.csv', 'report.json'], ['report.json']):
            assert run([HDSS, 'report', *files, '--html', 'run.html']).status == 0
            if not chromium.program():
                continue
            with chromium.Browser() as browser:
                browser.open_report('run.html')
                page = browser.evaluate('document.documentElement.outerHTML')
            figures = dict(re.findall(r'data-figure="(\w+)" data-value="([\d.]+)"', page))
            assert (figures['resumed'], figures['done'], figures['iterations']) == (str(done), *2 * [str(ENDLESS_ITERATIONS)]), (files, figures)
            assert 'of them by an earlier run' in page, files
        assert run([HDSS, 'report', 'trace.csv', '--svg', 'gantt.svg']).status == 0


def test_what_an_earlier_run_had_done_for_perfetto():
    if no_protoc() is not None:
        return no_protoc()
    done = drained(0)
    go_on(1, 'trace.pftrace')
    packets = perfetto_packets('trace.pftrace')
    before = [perfetto_values(packet) for packet in packets if 'name: "resumed: done by an earlier run"' in packet]
    now = [perfetto_values(packet) for packet in packets if 'TYPE_SLICE_BEGIN' in packet]
    assert sum(int(values['count']) for values in before) == done
    assert set(counts_of(before + [values for values in now if values['fate'] == 'done'], ENDLESS_ITERATIONS)) == {1}
    return None


def test_it_is_explained():
    """Who, when, why there: as the rows of the trace say."""
    trace, report, _ = traced(['--workers', 3, '--masters', 1, *LOOP])
    row = next(row for row in trace.chunks if row['fate'] == 'done' and int(row['count']) > 1)
    told = run([HDSS, 'explain', 'trace.csv', '--iteration', row['first']])
    assert told.status == 0 and f'worker {row["worker"]} on node {row["node"]}, chunk {row["chunk"]}: iterations' in told.out, told
    for text in ('asked', 'given by master 1', 'begun', 'ended, after', 'done, and stored', 'scheduling step'):
        assert text in told.out, told
    assert f'{float(row["time_s"]):.6f} s  given' in told.out, told
    told = run([HDSS, 'explain', 'trace.csv', '--worker', row['worker']])
    done = sum(int(other['count']) for other in trace.chunks if other['worker'] == row['worker'] and other['fate'] == 'done')
    assert told.status == 0 and f'{done} iterations done' in told.out, told
    told_fates = [line.split()[-1] for line in told.out.split('became\n')[1].splitlines()]
    assert sorted(told_fates) == sorted(other['fate'] for other in trace.chunks if other['worker'] == row['worker']), told
    told = run([HDSS, 'explain', 'trace.csv', '-w', row['worker'], '-c', row['chunk']])
    assert told.status == 0 and told.out.startswith(f'Chunk {row["chunk"]} of worker {row["worker"]} of synthetic'), told
    told = run([HDSS, 'explain', 'trace.csv', '--chunk', 1])
    cut = trace.cuts[0]
    assert told.status == 0 and f'cut for worker {cut["worker"]}' in told.out and f'says {cut["formula"]}' in told.out, told
    for words, said in ((['trace.csv'], '--iteration I, --worker W or --chunk C'), ([], 'no trace is given'), (['none.csv', '-i', 1], 'No such file'),
                        (['trace.csv', '-i', 400], 'the loop has 400'), (['trace.csv', '-w', 77], 'no worker of rank 77'),
                        (['trace.csv', '-c', 100000], 'accepted: 1 to'), (['trace.csv', '-w', row['worker'], '-c', 9999], 'has no chunk 9999'),
                        (['trace.csv', '-i', 1, '-w', 1], 'accepted without'), (['report.json', '-i', 1], 'report.json')):
        told = run([HDSS, 'explain', *words])
        assert told.status == 2 and len(told.err) == 1 and said in told.err[0], (words, told)


def test_a_run_makes_its_page():
    """Of its trace and report, which are not left; those that were asked for are."""
    for words in ([], ['--report', 'own.json'], ['--trace', 'own.csv', '--masters', 1], ['--dca', 'two-sided'], ['--report', '-']):
        result = run([HDSS, 'run', '--workers', 3, '--html', 'run.html', *words, *LOOP])
        assert result.status == 0, result
        with open('run.html') as file:
            page = file.read()
        put_in = [base64.b64decode(re.search(f'id="{name}">([^<]*)<', page).group(1)).decode() for name in ('trace', 'report')]
        assert '<html' in page and any('synthetic' in text for text in put_in), put_in
        assert put_in[0].startswith('kind,') == ('--dca' not in words) and put_in[1].startswith('{') == ('-' not in words), put_in
        assert sorted(os.listdir('.')) == sorted({'run.html'} | {word for word in words if str(word).startswith('own')}), os.listdir('.')
        for name in os.listdir('.'):
            os.remove(name)
    result = run([HDSS, 'exec', '--html', 'run.html', '-j2', 'echo', ':::', 1, 2])
    assert result.status == 0 and sorted(result.out.split()) == ['1', '2'] and os.listdir('.') == ['run.html'], result
    os.remove('run.html')
    for words, said in ((['--html', 'no/run.html'], 'no folder no'), (['--html', 'run.html', '--trace', 'a.pftrace'], '--trace FILE.csv'),
                        (['--html', 'run.html', '--set', 'main'], '--html is for a launch')):
        result = run([HDSS, 'run', *words, *LOOP])
        assert result.status == 2 and said in result.err[-1], result
        assert not os.listdir('.'), os.listdir('.')


def test_wrong_use():
    for words, said in ((['--trace', 'trace.txt'], ".csv or .pftrace"), (['--trace', 'no/trace.csv'], 'no folder no'),
                        (['--trace', 'out.csv', '--output', 'out.csv'], '--output and --trace')):
        result = run([HDSS, 'run', '--workers', 2, *words, 'mandelbrot'])
        assert result.status == 2 and said in result.err[-1] and len(result.err) == 1, result
    result = run([HDSS, 'run', '--workers', 2, '--dca', 'rma', '--trace', 'trace.csv', 'mandelbrot'])
    assert result.status == 2 and '--trace' in result.err[-1], result


def test_no_iterations():
    trace, report, _ = traced(['--workers', 3, 'synthetic', 'iterations=0'])
    assert not trace.chunks and len(trace.workers) == 3


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
