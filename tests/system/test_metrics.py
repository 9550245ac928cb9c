# SPDX-License-Identifier: MIT
"""Figures of runs in a file for Prometheus: while they go on, at their end, and where that cannot be; and the dashboard, which names no others."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys

from launch import HDSS, SUPERMASTER, finish, main, ranks_of, run, start, wait_until

LOOP = ['--power', 'equal', '--technique', 'ss', 'synthetic', 'mean=0', 'iterations=1000']
ENDLESS = ['--power', 'equal', '--technique', 'ss', 'synthetic', 'iterations=100000', 'mean=10000', 'distribution=constant', 'mode=sleep']
BOARD = os.path.join(os.environ['SOURCE_ROOT'], 'deploy/grafana/hdss.json')
NAME = re.compile(r'\bhdss_[a-z_]+')


def read(path='run.prom'):
    with open(path, encoding='utf-8') as file:
        return file.read()


def figures(text):
    """The value of each sample by its name and labels, without the session."""
    samples = re.findall(r'^(hdss_\w+)\{session="[^"]*",?(.*)\} (\S+)$', text, re.MULTILINE)
    assert len(samples) == sum(not line.startswith('#') for line in text.splitlines()), text
    return {f'{name}{{{labels}}}' if labels else name: float(value) for name, labels, value in samples}


def begin(*words):
    """A run that goes on, and its first text."""
    process = start([HDSS, 'run', '--workers', '2', '--metrics-file', 'run.prom', *words, *ENDLESS])
    wait_until(lambda: os.path.exists('run.prom'), 'the first text')
    return process


def test_the_end_of_a_run_has_its_last_figures():
    for masters in (0, 1):
        result = run([HDSS, 'run', '--workers', '2', '--masters', str(masters), '--control', 'off', '--metrics-file', 'run.prom', *LOOP])
        assert result.status == 0 and result.err == [] and os.listdir() == ['run.prom'], (result, os.listdir())
        told = figures(read())
        for name, value in (('hdss_workers', 2), ('hdss_masters', masters), ('hdss_jobs{state="running"}', 0), ('hdss_jobs_ended_total{state="done"}', 1),
                            ('hdss_job_iterations{job_id="1"}', 1000), ('hdss_job_iterations_done_total{job_id="1"}', 1000), ('hdss_job_iterations_free{job_id="1"}', 0),
                            ('hdss_job_chunks_total{job_id="1"}', 1000), ('hdss_job_workers_busy{job_id="1"}', 0), ('hdss_job_ranks_lost_total{job_id="1"}', 0)):
            assert told[name] == value, (name, told)
        assert (told['hdss_job_refills_total{job_id="1"}'] > 0) == (masters > 0), told
        assert told['hdss_job_supermaster_messages_sent_total{job_id="1"}'] > 10 and told['hdss_job_supermaster_sent_bytes_total{job_id="1"}'] > 100, told
        assert 0 <= told['hdss_end_time_seconds'] - told['hdss_start_time_seconds'] < 1000, told
        assert any('state="done"' in name for name in told if name.startswith('hdss_job_info')), told


def test_a_run_that_goes_on_has_no_end():
    process = begin('--ask-ahead', 'off')
    text = read()
    told = figures(text)
    assert told['hdss_jobs_ended_total{state="cancelled"}'] == 0 and 'hdss_end_time_seconds' not in told, text
    supermaster = ranks_of(process, SUPERMASTER)[0]
    assert f'session="run-{supermaster}"' in text, text
    os.kill(supermaster, signal.SIGTERM)
    result = finish(process)
    told = figures(read())
    assert result.status == 4 and told['hdss_jobs_ended_total{state="cancelled"}'] == 1, (result, told)
    settled = told['hdss_job_iterations_free{job_id="1"}'] + told['hdss_job_iterations_done_total{job_id="1"}']
    assert 100000 - 2 <= settled <= 100000, told  # what a worker was at when it left is neither


def test_a_run_that_is_killed_leaves_the_text_before():
    process = begin()
    os.kill(ranks_of(process, SUPERMASTER)[0], signal.SIGKILL)
    assert finish(process).status == 1
    assert 'hdss_end_time_seconds' not in figures(read()) and os.listdir() == ['run.prom'], os.listdir()


def test_a_file_that_cannot_be_written_later_ends_no_run():
    os.mkdir('there')
    process = start([HDSS, 'run', '--workers', '2', '--metrics-file', 'there/run.prom', *ENDLESS])
    wait_until(lambda: os.path.exists('there/run.prom'), 'the first text')
    shutil.rmtree('there')
    os.kill(ranks_of(process, SUPERMASTER)[0], signal.SIGTERM)
    result = finish(process)
    assert result.status == 4 and sum('--metrics-file: ' in line and line.endswith('the run goes on') for line in result.err) == 1, result


def test_what_cannot_be_written_is_said_before_anything_starts():
    os.mkdir('folder')
    for path, said in (('nowhere/run.prom', 'there is no folder '), ('folder', 'it is a folder; accepted: the name of a file')):
        wrong = run([HDSS, 'run', '--workers', '1', '--metrics-file', path, *LOOP])
        assert wrong.status == 2 and len(wrong.err) == 1 and wrong.err[0].startswith('supermaster: --metrics-file: ') and said in wrong.err[0], wrong
    for words, said in ((['--metrics-file', 'a.npy', '--output', 'a.npy'], '--metrics-file names a file that has another use, a.npy'),
                        (['--metrics-file', 'a.prom', '--dca', 'rma'], '--metrics-file is for launches with a supermaster, not for --dca')):
        wrong = run([HDSS, 'run', '--workers', '1', *words, *LOOP])
        assert wrong.status == 2 and wrong.err == [f'hdss run: {said}'], wrong
    other = run([HDSS, 'run', '--workers', '1', '--metrics-file', 'run.txt', *LOOP])
    assert other.status == 0 and other.err == ["supermaster: --metrics-file: run.txt: node-exporter reads only files whose names end in .prom"], other


def targets(board):
    return [(panel, target) for panel in board['panels'] for target in panel['targets']]


def test_the_dashboard_names_what_is_there():
    """Each figure that it asks for is one that a run tells, each panel has a unit, and the data source is the reader's choice."""
    process = begin()
    text = read()
    os.kill(ranks_of(process, SUPERMASTER)[0], signal.SIGTERM)
    finish(process)
    told = {name + ending for name, ending in re.findall(r'^# TYPE (hdss_[a-z_]+)() ', text + read(), re.MULTILINE)}
    with open(BOARD, encoding='utf-8') as file:
        board = json.load(file)
    assert board['schemaVersion'] >= 39 and board['uid'] and board['title'] == 'HDSS', board
    variables = {variable['name']: variable for variable in board['templating']['list']}
    assert set(variables) == {'datasource', 'instance', 'session', 'job'} and variables['datasource']['type'] == 'datasource', variables
    asked = [variables[name]['query']['query'] for name in ('instance', 'session', 'job')]
    for panel, target in targets(board):
        assert panel['fieldConfig']['defaults']['unit'] and panel['title'] and panel['description'], panel
        assert target['datasource'] == panel['datasource'] == {'type': 'prometheus', 'uid': '${datasource}'}, panel
        assert set(re.findall(r'\$(\w+)', target['expr'])) <= {'instance', 'session', 'job', '__rate_interval'} and 'session=~"$session"' in target['expr'], target
        asked.append(target['expr'])
    for expression in asked:
        names = set(NAME.findall(expression))
        assert names and names <= told, (names - told, expression)
    about = ' '.join(panel['title'] for panel in board['panels']).lower()
    assert all(word in about for word in ('progress', 'rate', 'busy workers', 'queue', 'chunks', 'losses', 'messages')), about
    ids = [panel['id'] for panel in board['panels']]
    places = [(x, y) for panel in board['panels'] for box in [panel['gridPos']]
              for x in range(box['x'], box['x'] + box['w']) for y in range(box['y'], box['y'] + box['h'])]
    assert len(set(ids)) == len(ids) and len(set(places)) == len(places) and max(x for x, _ in places) < 24, 'panels lie on one another'


def test_promtool_accepts_texts_and_expressions():
    if shutil.which('promtool') is None:
        return 'there is no promtool: Debian has it in prometheus'
    process = begin()
    texts = [read()]
    os.kill(ranks_of(process, SUPERMASTER)[0], signal.SIGTERM)
    finish(process)
    for text in [*texts, read()]:
        told = subprocess.run(['promtool', 'check', 'metrics'], input=text, text=True, capture_output=True, check=False)
        assert told.returncode == 0 and told.stdout == told.stderr == '', (told, text)
    with open(BOARD, encoding='utf-8') as file:
        expressions = [target['expr'] for _, target in targets(json.load(file))]
    rules = [{'record': f'a{i}', 'expr': text.replace('$__rate_interval', '1m').replace('$', '')} for i, text in enumerate(expressions)]
    with open('rules.yml', 'w', encoding='utf-8') as file:
        json.dump({'groups': [{'name': 'dashboard', 'rules': rules}]}, file)
    told = subprocess.run(['promtool', 'check', 'rules', 'rules.yml'], capture_output=True, text=True, check=False)
    assert told.returncode == 0, told
    return None


if __name__ == '__main__':
    sys.exit(main([value for name, value in list(globals().items()) if name.startswith('test_')]))
