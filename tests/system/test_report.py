# SPDX-License-Identifier: MIT
"""hdss report: the page of a run, in a browser where there is one, and the Gantt chart as SVG."""
import base64
import html
import json
import math
import os
import re
import statistics
import xml.etree.ElementTree as xml
import zlib

import chromium
from launch import HDSS, SUPERMASTER, main, run
from traces import HEADER, make_trace, row, write_large

SVG = '{http://www.w3.org/2000/svg}'
NO_BROWSER = 'no Chromium'


def report(*words):
    result = run([HDSS, 'report', *words])
    assert result.status == 0 and not result.out and not result.raw_err, str(result)


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def make_page(trace, *more):
    trace.write('trace.csv')
    report('trace.csv', *more, '--html', 'run.html')


def put_in(name):
    """What is put into the page."""
    data = base64.b64decode(re.search(f'id="{name}">([^<]*)<', read('run.html')).group(1))
    return zlib.decompress(data) if data.startswith(b'x') else data


def shown(name='run.html'):
    """The page as its script has made it, without the script."""
    with chromium.Browser() as browser:
        browser.open_report(name)
        assert not browser.complaints, browser.complaints
        return re.sub('<script.*?</script>', '', browser.evaluate('document.documentElement.outerHTML'), flags=re.S)


def page_of(trace, *more):
    make_page(trace, *more)
    return shown()


def figures_in(text):
    return {name: float(value) for name, value in re.findall(r'data-figure="(\w+)" data-value="([^"]*)"', text)}


def finish_of(trace, rank):
    return max((chunk['ended_s'] for chunk in trace.chunks if chunk['worker'] == rank and chunk['fate'] == 'done'), default=None)


def expected_figures(trace):
    """From the trace, by other code than the program's."""
    done = [chunk for chunk in trace.chunks if chunk['fate'] == 'done']
    begin, end = min(chunk['time_s'] for chunk in trace.chunks), max(chunk['stored_s'] for chunk in done)
    finish = {rank: finish_of(trace, rank) for rank in trace.ranks()}
    spread = [time - begin if time else 0 for time in finish.values()]
    stayed = [time for rank, time in finish.items() if rank not in trace.lost and time]
    compute = sum(chunk['compute_s'] for chunk in done)
    busy = [sum(chunk['compute_s'] for chunk in done if chunk['worker'] == rank) for rank in finish]
    ends, times = ([value for rank, value in zip(finish, values) if rank not in trace.lost] for values in (spread, busy))
    return {
        'elapsed_s': end - begin, 'compute_s': compute, 'efficiency': compute / (end - begin) / trace.workers, 'chunks': len(trace.chunks), 'steps': len(trace.cuts),
        'done': sum(chunk['count'] for chunk in done), 'lost_workers': len(trace.lost), 'workers': trace.workers, 'nodes': trace.nodes,
        'reissued': sum(chunk['reason'] == 'requeued' for chunk in trace.chunks), 'copies': sum(chunk['reason'] == 'copy' for chunk in trace.chunks),
        'max_over_mean': max(ends) / statistics.mean(ends), 'cov': statistics.pstdev(ends) / statistics.mean(ends), 'tail_s': end - min(stayed),
        'percent': percent(ends), 'busy_percent': percent(times), 'busy_cov': statistics.pstdev(times) / statistics.mean(times), 'cost_s': (end - begin) * trace.workers,
        'scheduling_s': statistics.mean(max(0, until - used) for rank, until, used in zip(finish, spread, busy) if rank not in trace.lost),
        'idle_s': statistics.mean(end - begin - until for rank, until in zip(finish, spread) if rank not in trace.lost),
        'tail_idle': sum(end - time for time in stayed) / (end - begin) / trace.workers,
        'own': sum(chunk['reason'] in ('own', 'cut') for chunk in trace.chunks), 'other': sum(chunk['reason'] == 'other' for chunk in trace.chunks),
        'latency_median_s': middle([chunk['time_s'] - chunk['asked_s'] for chunk in trace.chunks], .5),
        'latency_high_s': middle([chunk['time_s'] - chunk['asked_s'] for chunk in trace.chunks], .95),
        'chunk_median_s': middle([chunk['compute_s'] for chunk in done], .5),
    }


def percent(times):
    return 100 * (max(times) - statistics.mean(times)) / max(times) * len(times) / (len(times) - 1) if len(times) > 1 else 0


def middle(values, share):
    return sorted(values)[math.ceil(share * len(values)) - 1]


def check_figures(shown, expected):
    for name, value in expected.items():
        assert abs(shown.get(name, 0) - value) <= 1e-6 * max(1, abs(value)), (name, shown.get(name), value)


# --- without a browser ---

def test_wrong_use():
    make_trace().write('trace.csv')
    with open('broken.csv', 'w') as file:
        file.write(HEADER + '\n' + row('event', time_s=1, text='a') + '\nchunk,now,1,,,,,1,,,,,,,,,\n')
    for name, text in (('empty.csv', ''), ('other.json', '{"a": 1}'), ('broken.json', '{"a": \n nothing}'), ('run.json', json.dumps({'hdss': '1', 'worker_stats': []})),
                       ('simulated.json', json.dumps({'hdss': '1', 'worker_stats': [], 'simulated': {}})), ('simulated.csv', HEADER + '\n'),
                       ('broken_simulated.json', json.dumps({'simulated': {}}))):
        with open(name, 'w') as file:
            file.write(text)
    before = sorted(os.listdir())
    for words, parts in (([], ['no file']), (['trace.csv'], ['--html']), (['none.csv', '--html', 'a.html'], ['none.csv', 'No such file']),
                         (['broken.csv', '--html', 'a.html'], ['broken.csv:3:', "time_s is 'now'", 'accepted']), (['empty.csv', '--html', 'a.html'], ['empty.csv:1:', 'no trace']),
                         (['other.json', '--html', 'a.html'], ['other.json', 'no report']), (['broken.json', '--html', 'a.html'], ['broken.json:2:']),
                         (['run.json', '--svg', 'a.svg'], ['--svg', 'trace', 'run.json']), (['run.json', 'trace.csv', '--html', 'a.html'], ['run.json', '0 workers', '12']),
                         (['trace.csv', 'trace.csv', '--html', 'a.html'], ['a second trace']), (['trace.csv', 'a', 'b', 'c', '--html', 'a.html'], ["'c'", 'one argument too many']),
                         (['run.json', 'run.json', '--html', 'a.html'], ['a second report', 'one of each']),
                         (['simulated.json', 'simulated.json', '--html', 'a.html'], ['a second simulated report', 'one of each']),
                         (['run.json', 'simulated.json', 'simulated.csv', '--html', 'a.html'], ['simulated.csv', 'trace of the run']),
                         (['trace.csv', 'broken_simulated.json', '--html', 'a.html'], ['broken_simulated.json', 'no report']),
                         (['trace.csv', '--html', 'trace.csv'], ['trace.csv', 'to be read']), (['trace.csv', '--html', 'no/such/a.html'], ['no/such']),
                         (['trace.csv', '--htm', 'a.html'], ['--htm'])):
        result = run([HDSS, 'report', *words])
        assert result.status == 2 and len(result.err) == 1 and all(part in result.err[0] for part in parts) and not result.out, (words, str(result))
    assert sorted(os.listdir()) == before, os.listdir()


def test_the_page_says_what_the_trace_says():
    if not chromium.program():
        return NO_BROWSER
    for trace in (make_trace(), make_trace(workers=40, nodes=4, lost=3, seed=2), make_trace(workers=1, nodes=1, lost=0, iterations=10)):
        text = page_of(trace)
        check_figures(figures_in(text), expected_figures(trace))
        rows = dict(re.findall(r'<th scope="row" data-value="(\d+)">[^<]*</th>(?:<td[^>]*>[^<]*</td>)*<td data-value="([^"]*)">[^<]*</td></tr>', text))
        begin = min(chunk['time_s'] for chunk in trace.chunks)
        assert len(rows) == trace.workers, rows
        for rank in trace.ranks():
            assert abs(float(rows[str(rank)]) - ((finish_of(trace, rank) or begin) - begin)) < 1e-6, rank
        assert text.count('worker lost') >= len(trace.lost)
    return None


def test_the_page_needs_nothing_else():
    make_page(make_trace())
    text = read('run.html')
    assert not re.search(r'\b(src|href)\s*=\s*["\']?(?!#)', text.replace('href="#workers"', '')), 'a reference to something else'
    assert not re.search(r'https?://|url\(|@import', text.replace("'http://www.w3.org/2000/svg'", '')), 'an address'
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text).group(1)
    assert "default-src 'none'" in policy and 'unsafe' not in policy and policy.count("'sha256-") == 2, policy


def test_the_chart_for_papers():
    trace = make_trace(workers=30, nodes=3, lost=2)
    trace.write('trace.csv')
    report('trace.csv', '--svg', 'gantt.svg')
    root = xml.parse('gantt.svg').getroot()
    texts = [''.join(element.itertext()) for element in root.iter(SVG + 'text')]
    assert root.tag == SVG + 'svg' and root.get('role') == 'img' and '30 workers' in texts[0], texts
    assert all(f'node {node}' in texts for node in range(3)) and 'requeued after a loss or failure' in texts, texts
    assert len([element for element in root.iter(SVG + 'path') if element.get('class') == 'lost']) == 2
    write_large('large.csv', workers=300, nodes=6, each=40)
    report('large.csv', '--svg', 'nodes.svg')
    texts = [''.join(element.itertext()) for element in xml.parse('nodes.svg').getroot().iter(SVG + 'text')]
    assert len([text for text in texts if text.startswith('node ')]) == 6 and os.path.getsize('nodes.svg') < 1 << 20


def test_a_real_run():
    """Of its report alone; the figures are those that it has."""
    result = run([HDSS, 'run', '--workers', 2, '--report', 'run.json', 'synthetic', 'iterations=40', 'mean=500'])
    assert result.status == 0, str(result)
    report('run.json', '--html', 'run.html')
    told = json.loads(read('run.json'))
    assert put_in('report') == read('run.json').encode() and put_in('trace') == b''
    if not chromium.program():
        return NO_BROWSER
    text = shown()
    assert 'class="has-finish"' in text and 'synthetic by' in text
    check_figures(figures_in(text), {'elapsed_s': told['elapsed_s'], 'efficiency': told['efficiency'], 'chunks': told['chunks'], 'messages': told['messages'],
                                     'done': 40, 'max_over_mean': told['imbalance']['max_over_mean'], 'startup_s': told['startup_s'],
                                     'percent': told['imbalance']['percent'], 'busy_percent': told['busy']['percent'], 'busy_cov': told['busy']['cov'],
                                     'cost_s': told['cost_s'], 'scheduling_s': told['scheduling_s'], 'idle_s': told['idle_s']})
    computed = [worker['compute_s'] for worker in told['worker_stats']]
    if 'shared' not in told:
        assert abs(percent(computed) - told['busy']['percent']) < 1e-6 and abs(told['cost_s'] - 2 * told['elapsed_s']) < 1e-9, told
    assert told['scheduling_s'] >= 0 and told['idle_s'] >= 0, told
    finish = [worker['finish_s'] for worker in told['worker_stats']]
    assert max(finish) > 0 and abs(max(finish) / statistics.mean(finish) - told['imbalance']['max_over_mean']) < 1e-9, finish
    with chromium.Browser() as browser:
        browser.open_report('run.html')
        assert browser.evaluate("getComputedStyle(document.getElementById('gantt-section')).display") == 'none' and not browser.complaints, browser.complaints
    return None


def test_failed_tasks():
    """With the last line of their errors, as text."""
    with open('tasks.txt', 'w', encoding='utf-8') as file:
        file.writelines(f'sh -c "echo begins >&2; echo no {i} \'<b>luck</b>\' >&2; exit {i}"\n' for i in range(3))
    result = run([HDSS, 'run', '--workers', 2, '--report', 'run.json', '--html', 'own.html', 'exec', 'tasks=tasks.txt'])
    assert result.status == 3, str(result)
    report('run.json', '--html', 'run.html')
    told = json.loads(read('run.json'))['task_failures']
    assert [(row['task'], row['end'], row['error']) for row in told] == [(3, 'exit 2', 'no 2 <b>luck</b>'), (2, 'exit 1', 'no 1 <b>luck</b>')] and 'echo begins' in told[0]['command'], told
    if not chromium.program():
        return NO_BROWSER
    for name in ('run.html', 'own.html'):
        text = shown(name)
        assert 'has-failures' in text and text.count('no 2 &lt;b&gt;luck&lt;/b&gt;') == 1 and text.index('exit 2') < text.index('exit 1'), text
    return None


def test_a_real_trace():
    """What the trace of a run says by itself is what the run has measured."""
    if '--trace' not in run([SUPERMASTER, '--help']).out:
        return 'this build writes no traces'
    result = run([HDSS, 'run', '--masters', 2, '--workers', 4, '--trace', 'run.csv', '--report', 'run.json', 'synthetic', 'iterations=400', 'mean=1000', 'mode=sleep'])
    assert result.status == 0, str(result)
    report('run.csv', '--html', 'run.html', '--svg', 'run.svg')
    assert put_in('trace').replace(b'\r\n', b'\n') == read('run.csv').encode()
    if not chromium.program():
        return NO_BROWSER
    told, text = json.loads(read('run.json')), shown()
    figures = figures_in(text)
    assert abs(figures['compute_s'] / told['compute_s'] - 1) < 1e-6, (figures, told)
    # A worker may end its last chunk a while after the supermaster has all results, or tell of it late.
    busiest = max(row['compute_s'] for row in told['worker_stats'])
    assert busiest - 1e-6 <= figures['elapsed_s'] <= result.seconds, (figures, told, result)
    check_figures(figures, {'done': 400, 'iterations': 400, 'steps': told['chunks'], 'workers': 4, 'lost_workers': 0})
    assert len(re.findall('<th scope="row" data-value', text)) == 4
    return None


def tree_rows(text):
    """The rows of the tree: {name: [what the columns say]}, and {name: the words of its chart}."""
    table = re.search('<table id="tree">.*?</table>', text, re.S).group(0)
    rows, charts = {}, {}
    for line in re.findall('<tr><th scope="row".*?</tr>', table, re.S):
        name = (re.search('<summary>(.*?)</summary>', line) or re.search('<th[^>]*>(.*?)</th>', line)).group(1)
        rows[name], charts[name] = re.findall(r'<td(?: data-value="[^"]*")?>([^<]*)</td>', line), re.search('<title>(.*?)</title>', line).group(1)
    return rows, charts


def depth_of(trace, masters):
    """The most iterations that lay in the pools of these masters at once, by the definition of the page."""
    master, given, events = {rank: 1 + trace.place[rank] for rank in trace.ranks()}, {}, []
    for chunk in sorted(trace.chunks, key=lambda chunk: -chunk['time_s']):
        if chunk['reason'] not in ('copy', 'verify'):
            given.update(dict.fromkeys(range(chunk['first'], chunk['first'] + chunk['count']), chunk['time_s']))
    for cut in trace.cuts:
        if master[cut['worker']] in masters:
            for i in range(cut['first'], cut['first'] + cut['count']):
                events += [(cut['time_s'], 0, 1), (given.get(i, math.inf), 1, -1)]
    depth = most = 0
    for _, _, change in sorted(events):
        depth += change
        most = max(most, depth)
    return most


def test_the_tree():
    """Each master with what it gave to whom, and the depth of its pool, from the trace by other code than the program's."""
    if not chromium.program():
        return NO_BROWSER
    trace = make_trace(workers=12, nodes=3, lost=1, iterations=3000)
    for cut in trace.cuts[::3]:
        cut['time_s'] = max(0., cut['time_s'] - .05)
    rows, charts = tree_rows(page_of(trace))
    assert list(rows) == ['Supermaster, all masters', 'Master 1', 'Master 2', 'Master 3'], rows
    for name, masters in (('Master 1', [1]), ('Master 3', [3]), ('Supermaster, all masters', [1, 2, 3])):
        gave = [chunk for chunk in trace.chunks if chunk['master'] in masters]
        reasons = [sum(chunk['reason'] in words for chunk in gave) for words in (('own', 'cut'), ('other',), ('recalled',), ('requeued', 'copy', 'verify'))]
        most = depth_of(trace, masters)
        assert most > 0 and rows[name][0] == f'{most:,}', (rows[name], most)
        assert rows[name][2:4] == [str(len({chunk['worker'] for chunk in gave})), str(len(gave))] and rows[name][5:9] == [str(count) for count in reasons], (rows[name], reasons)
        assert f'at most {most:,} iterations' in charts[name], charts[name]
    text = page_of(trace)
    rank = next(iter(trace.ranks()))
    assert f'<li>Worker {rank}: {sum(chunk["worker"] == rank for chunk in trace.chunks)} chunks' in text
    check_figures(figures_in(text), {'chunks_per_s': len(trace.chunks) / expected_figures(trace)['elapsed_s']})
    many = make_trace(workers=300, nodes=150, lost=0, iterations=4000)
    rows, _ = tree_rows(page_of(many))
    assert len(rows) == 51 and '3 masters, 1 to 3' in rows and rows['Supermaster, all masters'][3] == f'{len(many.chunks):,}', rows
    central = make_trace(workers=4, nodes=1, lost=0)
    for chunk in central.chunks:
        chunk['master'] = 0
    central.head = [line.replace('worker,,2,0,1', 'worker,,2,0,0').replace('worker,,3,0,1', 'worker,,3,0,0').replace('worker,,4,0,1', 'worker,,4,0,0').replace('worker,,5,0,1', 'worker,,5,0,0')
                    for line in central.head]
    text = page_of(central)
    assert 'There are no masters' in text and 'id="tree"' not in text and '<summary>Its 4 workers</summary>' in text
    return None


# Masters 1, of workers 4 and 5, and 2, of worker 6. The chunk of worker 6 is given in two parts, the second of them by the other master.
POOLS = """
worker,,4,0,1,,,,,,,,,,,,
worker,,5,0,1,,,,,,,,,,,,
worker,,6,1,2,,,,,,,,,,,,
cut,1,4,,,,0,10,,,,,,,,,
cut,1,5,,,,10,10,,,,,,,,,
cut,1,6,,,,20,30,,,,,,,,,
chunk,1,4,0,1,9,60,1,own,,,,,,done,,
chunk,2,4,0,1,1,0,10,own,,,,,,done,,
chunk,3,4,0,1,2,10,10,other,,,,,,done,,
chunk,2,6,1,2,1,20,10,own,,,,,,done,,
chunk,4,6,1,2,2,0,10,copy,,,,,,dropped,,
chunk,5,5,0,1,1,30,20,recalled,,,,,,done,,
event,5,4,,,,,,,,,,,,,,the end
"""
# What was given before it was cut, by the clock of another node, lay in no pool; what a lost master had is cut again, and what it had given and is given
# again by the supermaster is not in a pool a second time.
LOST_POOL = """
worker,,4,0,1,,,,,,,,,,,,
worker,,6,1,2,,,,,,,,,,,,
cut,2,4,,,,0,10,,,,,,,,,
chunk,1.5,4,0,1,1,0,10,own,,,,,,done,,
cut,2,4,,,,10,10,,,,,,,,,
event,3,1,,,,,,,,,,,,,,master lost
cut,3,6,,,,10,10,,,,,,,,,
chunk,4,6,1,2,1,10,10,own,,,,,,done,,
chunk,5,4,0,0,1,0,10,requeued,,,,,,done,,
event,9,6,,,,,,,,,,,,,,worker lost
"""


def test_pools_are_followed():
    """Of master 1: 20 iterations until 2 s, 10 until 3 s, then nothing; of master 2: 30 until 2 s, then 20, of one chunk all the time."""
    if not chromium.program():
        return NO_BROWSER
    for rows, expected in ((POOLS, {'Supermaster, all masters': ['50', '3', '3', '6', '', '3', '1', '1', '1', '20'], 'Master 1': ['20', '2', '2', '4', '', '2', '1', '1', '0', '0'],
                                    'Master 2': ['30', '1', '1', '2', '', '1', '0', '0', '1', '20']}),
                           (LOST_POOL, {'Supermaster, all masters': ['10', '1', '2', '3', '', '2', '0', '0', '1', '0'], 'The supermaster itself': ['0', '0', '1', '1', '', '0', '0', '0', '1', '0'],
                                        'Master 1': ['10', '1', '1', '1', '', '1', '0', '0', '0', '0'], 'Master 2': ['10', '1', '1', '1', '', '1', '0', '0', '0', '0']})):
        with open('pools.csv', 'w', encoding='utf-8') as file:
            file.write(HEADER + rows)
        report('pools.csv', '--html', 'run.html')
        told, charts = tree_rows(shown())
        assert told == expected, told
        if rows == POOLS:
            assert 'at most 2 chunks; nothing for 50 % of the time' in charts['Master 1'] and 'nothing for 0 % of the time' in charts['Master 2'], charts
    return None


def test_a_report_beside_its_trace():
    """Its figures count; the rest is that of the trace."""
    if not chromium.program():
        return NO_BROWSER
    trace = make_trace(workers=3, nodes=1, lost=0)
    stats = [{'rank': rank, 'node': 0, 'master': 1, 'power': 1.5, 'iterations': 5, 'chunks': 2, 'compute_s': 1.0, 'wait_s': .5, 'finish_s': 2.25} for rank in trace.ranks()]
    with open('run.json', 'w') as file:
        json.dump({'hdss': '0.2.0', 'kernel': {'name': 'mandelbrot'}, 'elapsed_s': 2.5, 'efficiency': .4, 'messages': 77, 'worker_stats': stats}, file)
    figures = figures_in(page_of(trace, 'run.json'))
    check_figures(figures, {'messages_per_s': 77 / 2.5, 'messages_per_chunk': 77 / len(trace.chunks)})
    check_figures(figures, {'elapsed_s': 2.5, 'efficiency': .4, 'messages': 77, 'chunks': len(trace.chunks), 'steps': len(trace.cuts)})
    return None


def test_predicted_by_a_simulation():
    """A simulated report beside the report of a run, or its trace; beside its own trace it is the run that is shown."""
    if not chromium.program():
        return NO_BROWSER
    trace = make_trace(workers=3, nodes=1, lost=0)
    trace.write('run.csv')
    result = run([HDSS, 'simulate', '--workers', 3, '--report', 'simulated.json', '--trace', 'simulated.csv', 'synthetic', 'iterations=500', 'mean=100'])
    assert result.status == 0, str(result)
    told, actual = json.loads(read('simulated.json')), expected_figures(trace)
    with open('run.json', 'w') as file:
        json.dump(dict(told, simulated=None, elapsed_s=told['elapsed_s'] * 1.5, chunks=told['chunks'] * 2), file)
    report('simulated.json', 'run.json', '--html', 'run.html')
    text = shown()
    check_figures(figures_in(text), {'simulated_s': told['elapsed_s'], 'elapsed_ratio': 1.5, 'chunks_ratio': 2, 'efficiency_ratio': 1, 'compute_ratio': 1})
    assert '50.0 % longer than simulated' in text and 'not of just this run' not in text
    report('run.csv', 'simulated.json', '--html', 'run.html')
    text = shown()
    check_figures(figures_in(text), {'elapsed_s': actual['elapsed_s'], 'elapsed_ratio': actual['elapsed_s'] / told['elapsed_s'],
                                     'chunks_ratio': len(trace.cuts) / told['chunks']})
    assert 'its kernel is synthetic, that of the run mandelbrot' in text
    report('simulated.csv', 'simulated.json', '--html', 'run.html')
    text = shown()
    check_figures(figures_in(text), {'elapsed_s': told['elapsed_s']})
    assert 'id="simulated"' not in text and 'synthetic by' in text
    return None


def test_predicted_by_auto():
    result = run([HDSS, 'run', '--workers', 2, '--technique', 'auto', '--report', 'run.json', 'synthetic', 'iterations=300', 'mean=1000', 'mode=sleep'])
    assert result.status == 0, str(result)
    if not chromium.program():
        return NO_BROWSER
    told = json.loads(read('run.json'))
    choice = told['technique']['auto']
    report('run.json', '--html', 'run.html')
    text = shown()
    table = re.search('<table id="predicted">.*?</table>', text, re.S).group(0)
    assert choice['decisions'] == 1 and choice['iterations'] == 300, choice
    check_figures(figures_in(text), {'predicted_s': choice['predicted_s'][told['technique']['name']],
                                     'actual_over_predicted': told['elapsed_s'] / choice['predicted_s'][told['technique']['name']]})
    listed = re.findall(r'<th scope="row">([\w-]+)(?: \(taken\))?</th>', table)
    assert sorted(listed) == sorted(choice['predicted_s']) and f'{told["technique"]["name"]} (taken)' in table, table
    times = [choice['predicted_s'][name] or math.inf for name in listed]
    assert times == sorted(times), times
    with chromium.Browser() as browser:
        browser.open_report('run.html')
        assert browser.evaluate("getComputedStyle(document.getElementById('predicted-section')).display") != 'none' and not browser.complaints, browser.complaints
        assert browser.evaluate('document.documentElement.scrollWidth') <= 1000
    return None


# --- in a browser ---

# How many dots of a canvas have a colour, a variable of the page's style.
DOTS = '''((id, name) => {
  const canvas = document.getElementById(id), copy = new OffscreenCanvas(canvas.width, canvas.height), context = copy.getContext('2d', {willReadFrequently: true});
  context.drawImage(canvas, 0, 0);
  const data = context.getImageData(0, 0, canvas.width, canvas.height).data;
  const colour = parseInt(getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim().slice(1), 16);
  let count = 0;
  for (let i = 0; i < data.length; i += 4)
    count += data[i] === colour >> 16 && data[i + 1] === (colour >> 8 & 255) && data[i + 2] === (colour & 255);
  return count;
})'''


def dots(browser, canvas, colour):
    return browser.evaluate(f"{DOTS}('{canvas}', '{colour}')")


def story(browser, name='story'):
    return browser.evaluate(f"document.getElementById('{name}').textContent")


def test_it_opens_without_an_error():
    if not chromium.program():
        return NO_BROWSER
    trace = make_trace(workers=24, nodes=3, lost=1)
    make_page(trace)
    with chromium.Browser() as browser:
        for width, dark in ((1000, False), (1000, True), (2560, False), (2560, True)):
            browser.show(width, 1200, dark)
            browser.open_report('run.html')
            assert not browser.complaints and browser.evaluate('Boolean(document.documentElement.dataset.ready)'), browser.complaints
            figures = dict(browser.evaluate('[...document.querySelectorAll("[data-figure]")].map(figure => [figure.dataset.figure, Number(figure.dataset.value)])'))
            check_figures(figures, expected_figures(trace))
            assert browser.evaluate('getComputedStyle(document.documentElement).backgroundColor') == ('rgb(20, 23, 27)' if dark else 'rgb(255, 255, 255)')
            assert browser.evaluate('document.documentElement.scrollWidth') <= width
            for canvas, colours in (('gantt', ['own', 'other', 'requeued', 'vain', 'idle']), ('sizes', ['own', 'vain']), ('finish', ['own', 'idle']), ('overview', ['own'])):
                assert all(dots(browser, canvas, colour) > 20 for colour in colours), (canvas, [dots(browser, canvas, colour) for colour in colours])
            folder = os.environ.get('HDSS_TEST_PICTURES')  # to be looked at by people
            if folder:
                browser.screenshot(f'{folder}/report-{width}-{"dark" if dark else "light"}.png')
    return None


def test_a_trace_with_little_in_it():
    if not chromium.program():
        return NO_BROWSER
    for name, rows in (('none', []), ('odd', [row('chunk', time_s=1, worker=5, count=0)]), ('cut', [row('cut', time_s=1, count=4)]), ('worker', [row('worker', worker=1)]),
                       ('early', [row('chunk', time_s=0, worker=1, count=4, begun_s=0, ended_s=0, fate='done')])):
        with open(name + '.csv', 'w') as file:
            file.write('\n'.join([HEADER, *rows]) + '\n')
        report(name + '.csv', '--html', name + '.html', '--svg', name + '.svg')
        xml.parse(name + '.svg')
    with chromium.Browser() as browser:
        for name in ('none', 'odd', 'cut', 'worker', 'early'):
            browser.open_report(name + '.html')
            browser.evaluate("document.getElementById('gantt-box').focus()")
            for key in ('Home', 'End', 'ArrowDown', 'ArrowRight', 'Enter', '+', '-', '0', '9'):
                browser.key(key)
            assert not browser.complaints, (name, browser.complaints)
        assert story(browser).startswith('Worker 1 on node 0, chunk 1: 4 iterations. Given at 0.000000 s, begun at'), story(browser)
    return None


def chunks_in_order(trace, rank):
    return sorted((chunk for chunk in trace.chunks if chunk['worker'] == rank), key=lambda chunk: chunk['begun_s'])


def test_the_keyboard_goes_everywhere():
    if not chromium.program():
        return NO_BROWSER
    trace = make_trace()
    make_page(trace)
    ranks = list(trace.ranks())
    chunks = {rank: chunks_in_order(trace, rank) for rank in ranks}

    def said(rank, at):
        chunk = chunks[rank][at]
        return f'Worker {rank} on node {trace.place[rank]} (node{trace.place[rank]}), chunk {chunk["chunk"]}: iteration'
    with chromium.Browser() as browser:
        browser.open_report('run.html')
        for _ in range(20):
            browser.key('Tab')
            if browser.evaluate('document.activeElement.id') == 'gantt-box':
                break
        assert browser.evaluate('document.activeElement.id') == 'gantt-box'
        browser.key('Home')
        first = chunks[ranks[0]][0]
        assert story(browser).startswith(said(ranks[0], 0)), story(browser)
        assert f'{first["first"]:,} to {first["first"] + first["count"] - 1:,} ({first["count"]:,})' in story(browser), story(browser)
        assert f'Asked for at {first["asked_s"]:.6f} s' in story(browser) and f'begun at {first["begun_s"]:.6f} s' in story(browser), story(browser)
        browser.key('ArrowRight')
        assert story(browser).startswith(said(ranks[0], 1)), story(browser)
        browser.key('Enter')
        assert browser.evaluate("document.getElementById('story').className") == 'story pinned'
        browser.key('Escape')
        assert browser.evaluate("document.getElementById('story').className") == 'story'
        browser.key('End')
        assert story(browser).startswith(said(ranks[0], -1)), story(browser)
        browser.key('ArrowDown')
        browser.key('Home')
        assert story(browser).startswith(said(ranks[1], 0)), story(browser)
        lost = next(iter(trace.lost))
        for _ in range(ranks.index(lost) - 1):
            browser.key('ArrowDown')
        browser.key('End')
        assert 'It was lost with the worker.' in story(browser), story(browser)
        view = "(box => Number(box.dataset.to) - Number(box.dataset.from))(document.getElementById('gantt-box'))"
        whole = browser.evaluate(view)
        browser.key('+')
        assert abs(browser.evaluate(view) / whole - .5) < 1e-9
        browser.key('-')
        browser.key('0')
        assert browser.evaluate(view) == whole
        browser.evaluate("document.getElementById('sizes-box').focus()")
        browser.key('ArrowRight')
        browser.key('ArrowRight')
        cut = trace.cuts[1]
        assert story(browser, 'sizes-story').startswith('Scheduling step 2 of') and f'{cut["count"]:,} iterations' in story(browser, 'sizes-story')
        assert f'said {cut["formula"]:,}.' in story(browser, 'sizes-story'), story(browser, 'sizes-story')
        browser.evaluate("document.getElementById('finish-box').focus()")
        browser.key('Home')
        assert story(browser, 'finish-story').startswith(f'Worker {ranks[0]} on node 0'), story(browser, 'finish-story')
        browser.evaluate("document.querySelector('#events button').focus()")
        browser.key('Enter')
        assert 'It was lost with the worker.' in story(browser) and browser.evaluate('document.activeElement.id') == 'gantt-box', story(browser)
        assert abs(browser.evaluate(view) / whole - .05) < 1e-6
        browser.key('0')
        browser.evaluate("document.querySelector('#workers th:nth-child(5) button').click()")
        counts = browser.evaluate("[...document.querySelectorAll('#workers tbody td:nth-child(5)')].map(cell => Number(cell.textContent))")
        assert counts == sorted(counts) and browser.evaluate("document.querySelector('#workers th:nth-child(5)').ariaSort") == 'ascending', counts
        assert not browser.complaints, browser.complaints
    return None


def test_a_screen_reader_finds_its_way():
    """What the browser tells it: charts, their keys and the tables have names, and the charts are described."""
    if not chromium.program():
        return NO_BROWSER
    make_page(make_trace())
    with chromium.Browser() as browser:
        browser.open_report('run.html')
        nodes = [node for node in browser.call('Accessibility.getFullAXTree')['nodes'] if not node.get('ignored')]
        named = [(node['role']['value'], node.get('name', {}).get('value', ''), node.get('description', {}).get('value', '')) for node in nodes]
        for role, least in (('image', 4), ('application', 3), ('heading', 6), ('button', 14), ('columnheader', 14), ('rowheader', 12), ('main', 1)):
            found = [entry for entry in named if entry[0] == role]
            assert len(found) >= least and (role == 'main' or all(name for _, name, _ in found)), (role, found)
        charts = {name: about for role, name, about in named if role == 'application'}
        assert 'A row for each of 12 workers on 3 nodes' in charts['Who computed what, and when'], charts
        pools = [name for role, name, _ in named if role == 'image' and name.startswith('Task pool of Master ')]
        assert len(pools) == 3 and all(' iterations, ' in name and '% of the time.' in name for name in pools), pools
        live = browser.evaluate("[...document.querySelectorAll('[aria-live]')].map(place => place.id)")
        assert live == ['story', 'sizes-story', 'finish-story'], live
    return None


def test_a_chunk_is_told_where_it_is_pointed_at():
    if not chromium.program():
        return NO_BROWSER
    trace = make_trace(workers=4, nodes=1, lost=0)
    make_page(trace)
    with chromium.Browser(1000, 900) as browser:
        browser.call('Page.addScriptToEvaluateOnNewDocument', source='delete Uint8Array.fromBase64')  # as in earlier browsers
        browser.open_report('run.html')
        browser.evaluate("document.getElementById('gantt-box').scrollIntoView({block: 'center'})")
        left, top, width = browser.evaluate("(place => [place.left, place.top, place.width])(document.getElementById('gantt').getBoundingClientRect())")
        chunk = max(trace.chunks, key=lambda chunk: chunk['ended_s'] - chunk['begun_s'])
        end = browser.evaluate("Number(document.getElementById('gantt-box').dataset.to) * Number(document.documentElement.dataset.tick)")
        x = left + 104 + (chunk['begun_s'] + chunk['ended_s']) / 2 / end * (width - 104)
        y = top + 26 * (chunk['worker'] - 2) + 12
        browser.mouse('mouseMoved', x, y)
        assert f'Worker {chunk["worker"]} ' in story(browser) and f'chunk {chunk["chunk"]}:' in story(browser), story(browser)
        browser.mouse('mouseWheel', x, y, deltaX=0, deltaY=-300, modifiers=2)
        assert browser.evaluate("Number(document.getElementById('gantt-box').dataset.from)") > 0
        assert f'chunk {chunk["chunk"]}:' in story(browser)
        assert not browser.complaints, browser.complaints
    return None


def test_words_are_no_markup():
    evil = '</script><script>window.hurt = 1</script><img src=x onerror="window.hurt = 1">\'"&{{run}}'
    trace = make_trace(workers=3, nodes=1, lost=1, kernel=evil, technique=evil, host=evil.replace(' ', '_'))
    trace.events += [{'time_s': 1.0, 'text': evil}, {'time_s': 1.1, 'text': '<!--' + evil}]
    make_page(trace)
    text = read('run.html')
    assert text.count('<script') == 4 and '<img' not in text and text.count('<!--') == 0
    report('trace.csv', '--svg', 'gantt.svg')
    xml.parse('gantt.svg')
    assert html.escape(evil, quote=False).split('&')[0] in read('gantt.svg')
    if not chromium.program():
        return None
    with chromium.Browser() as browser:
        browser.open_report('run.html')
        assert browser.evaluate('window.hurt') is None and not browser.complaints, browser.complaints
        assert browser.evaluate("document.querySelector('#events tbody').rows[1].cells[4].textContent") == evil
        assert evil in browser.evaluate("document.querySelector('h1').textContent")
        browser.evaluate("document.getElementById('gantt-box').focus()")
        browser.key('Home')
        assert evil.replace(' ', '_') in story(browser), story(browser)
    return None


def test_it_is_printed_in_the_light():
    if not chromium.program():
        return NO_BROWSER
    make_page(make_trace(workers=24, nodes=3))
    with chromium.Browser(1000, 900, dark=True) as browser:
        browser.open_report('run.html')
        browser.evaluate('window.printed = []; addEventListener("beforeprint", () => printed.push(document.getElementById("gantt").width))')
        width = browser.evaluate('document.getElementById("gantt").width')
        assert browser.pdf().startswith(b'%PDF-')
        assert browser.evaluate('printed') == [3 * 680], browser.evaluate('printed')  # sharp on paper
        browser.frame()
        assert browser.evaluate('document.getElementById("gantt").width') == width and dots(browser, 'gantt', 'own') > 20
        assert not browser.complaints, browser.complaints
    return None


FRAMES = '''new Promise(done => {
  const box = document.getElementById('gantt-box'), place = document.getElementById('gantt').getBoundingClientRect();
  const began = performance.now();
  let frames = 0, last = began, longest = 0;
  const next = () => {
    longest = frames > 0 ? Math.max(longest, performance.now() - last) : 0;
    last = performance.now();
    if (frames === 40)
      return done(`${Math.round((last - began) / frames)} ms (at most ${Math.round(longest)} ms)`);
    box.dispatchEvent(new WheelEvent('wheel', {deltaY: frames < 20 ? -120 : 120, ctrlKey: true, clientX: place.left + place.width * .6, clientY: place.top + 20, cancelable: true}));
    frames++;
    requestAnimationFrame(next);
    return undefined;
  };
  requestAnimationFrame(next);
})'''


def test_a_million_chunks():
    if not chromium.program():
        return NO_BROWSER
    compute = write_large('large.csv')
    began = run([HDSS, 'report', 'large.csv', '--html', 'large.html'])
    assert began.status == 0, str(began)
    size = os.path.getsize('large.html')
    assert size < 48e6, size
    with chromium.Browser(1600, 1000) as browser:
        seconds = browser.open_report('large.html')
        assert not browser.complaints and abs(browser.evaluate("Number(document.querySelector('[data-figure=compute_s]').dataset.value)") - compute) < 1e-3, browser.complaints
        box = "document.getElementById('gantt-box')"
        summed = browser.evaluate(FRAMES)
        browser.evaluate("document.getElementById('open-all').click()")
        opened = browser.evaluate(FRAMES)
        browser.evaluate(f'{box}.focus()')
        browser.key('Home')
        browser.key('ArrowDown')
        browser.key('End')
        assert re.match(r'Worker 17 on node 0 \(node0\), chunk 1,?000: ', story(browser)), story(browser)
        assert not browser.complaints, browser.complaints
    print(f'# {size / 1e6:.1f} MB, written in {began.seconds:.1f} s, open in {seconds:.1f} s; a frame while zooming takes {summed} by node, {opened} by worker')
    return None


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
