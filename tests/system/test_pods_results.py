# SPDX-License-Identifier: MIT
"""Results of pods that share no folder with their set: --results here. They are, byte for byte, those of a run by itself, also where connections
are cut and pods are killed with results on their way."""
import contextlib
import os
import shlex
import signal
import subprocess
import time

from launch import HDSS, JOIN, WORKER, descendants, finish, hurry, main, ranks_of, report, run, start, wait_until
from pods import Proxy, pods, set_of_pods, ticket_by
from results import read
from sets import down, here, job, refused, wait_for, well

# Some 170 KB each, and a second until hurry().
LARGE = ['exec', 'command=sh -c "seq {} 30000; for i in 1 2 3 4; do test -e hurry || sleep 0.25; done"', 'count=100']


def hiding(folder, words):
    """The line in a mount namespace where the folder is another one; None where that is not permitted."""
    prefix = ['unshare', '--mount', *([] if os.getuid() == 0 else ['--map-root-user'])]
    if subprocess.run([*prefix, 'true'], stderr=subprocess.DEVNULL, check=False).returncode != 0:
        return None
    mount = f'mount -t tmpfs -o size=300k none {shlex.quote(os.path.abspath(folder))}'
    return [*prefix, 'sh', '-c', f'{mount} && exec "$@"', 'sh', *words]


def join(line):
    before = len(pods())
    process = start(line)
    wait_until(lambda: len(pods()) > before, 'the pod')
    return process


def is_as_alone(name, words, status=0):
    """Submits the job from the folder `work`; its files are those of a run by itself."""
    alone = run([HDSS, 'run', '--workers', '2', '--summary', 'none', '--output', f'alone-{name}', *words])
    assert alone.status == status, alone
    sent = run([HDSS, 'submit', '--wait', '--results', 'here', '--output', name, *words], cwd='work')
    assert sent.status == status, sent
    endings = ['', '.err', '.log'] if words[0] == 'exec' else ['']
    for ending in endings[:2]:
        assert read(f'work/{name}{ending}') == read(f'alone-{name}{ending}'), name + ending


def test_a_pod_that_has_another_folder():
    os.mkdir('work')
    line = hiding('work', [*JOIN, '--workers', '2', 'main'])
    if line is None:
        return 'mount namespaces are not permitted'
    with set_of_pods(line):
        is_as_alone('small.npy', ['mandelbrot', 'width=64', 'height=64'])
        is_as_alone('large.npy', ['mandelbrot', 'width=8192', 'height=40', 'max_iter=20'])
        is_as_alone('tiles.png', ['mandelbrot', 'width=500', 'height=300', 'unit=tile', 'tile=100', 'max_iter=50'])
        is_as_alone('printed.txt', ['exec', 'command=sh -c "echo {}; echo no >&2"', 'count=40'])
        is_as_alone('failing.txt', ['--retries', '0', 'exec', 'command=sh -c "echo {}; test {} != 7"', 'count=20'], status=3)
        told = run([HDSS, 'submit', '--wait', '--output', 'there.npy', 'mandelbrot', 'width=64', 'height=64'], cwd='work')
        assert told.status == 1 and '--results here' in told.raw_err + told.out, told
        os.mkdir('both')
        own = run([HDSS, 'submit', '--wait', '--output', 'there.npy', 'mandelbrot', 'width=64', 'height=64'], cwd='both')
        assert own.status == 0 and read('both/there.npy') == read('alone-small.npy'), own
    refused(['submit', '--results', 'elsewhere', 'mandelbrot'], '--results', 'there, here')


def covered(name):
    """Iterations of which the file of costs, or the trace, tells."""
    with open(name, encoding='ascii') as file:
        rows = [line.replace(',', ' ').split() for line in file if line[0].isdigit()]
    return sum(int(row[1]) for row in rows)


def test_what_is_not_told_of_a_pod_is_said():
    """Costs and events of a pod stay in its own folder."""
    os.mkdir('work')
    line = hiding('work', [*JOIN, '--workers', '2', 'main'])
    if line is None:
        return 'mount namespaces are not permitted'
    with set_of_pods(line):
        told = run([HDSS, 'submit', '--wait', '--results', 'here', '--record-costs', 'costs.txt', '--trace', 'trace.csv', 'synthetic', 'iterations=300'], cwd='work')
        assert told.status == 0, told
        assert covered('work/costs.txt') == 0
        for option, name in ('--record-costs', 'costs.txt'), ('--trace', 'trace.csv'):
            lines = [line for line in run([HDSS, 'output', '1']).err if option in line]
            assert len(lines) == 1 and f'{option}: 300 iterations are missing in {name}: ' in lines[0], lines
        words = ['--record-costs', 'costs.txt', '--trace', 'trace.csv', '--technique', 'ss', 'synthetic', 'iterations=50']
        own = run([HDSS, 'submit', '--wait', *words])  # in a folder that the pod has, too
        assert own.status == 0 and covered('costs.txt') == 50 and run([HDSS, 'output', '2']).err == [], own


def test_results_that_cannot_be_written_are_not_counted():
    here()
    os.mkdir('work')
    line = hiding('work', [HDSS, 'up', '--foreground', '--listen', 'local', '--pods-only'])
    if line is None:
        return 'mount namespaces are not permitted'
    hurry()
    there = start(line)
    wait_until(lambda: os.path.exists('hdss/main/pods') and run([HDSS, 'pods']).status == 0, 'the set')
    try:
        pod = join([*JOIN, '--workers', '2', 'main'])
        well(['submit', '--results', 'here', '--output', 'work/large.txt', '--journal', os.path.abspath('journal'),
              '--report', os.path.abspath('report.json'), *LARGE])
        wait_for('1', status=1)
        told = [line for line in run([HDSS, 'output', '1']).err if 'No space left' in line]
        assert len(told) == 1 and report()['done'] < 3, (told, report())
    finally:
        down()
    finish(there)
    assert finish(pod).status == 0


def cut_until_more(proxy):
    """Cuts the pod off, and waits for further results."""
    proxy.cut()
    before = job('1')['done']
    wait_until(lambda: job('1')['done'] > before + 3, 'more results')


def test_cuts_and_kills_with_results_on_their_way():
    here()
    well(['up', '--listen', 'local', '--pods-only'])
    kept = []
    try:
        proxy = Proxy('proxy', 'hdss/main/pods.socket')
        kept.append(join([*JOIN, '--workers', '2', ticket_by('proxy')]))
        well(['submit', '--results', 'here', '--durability', 'node', '--output', 'out.txt', '--report', 'report.json', *LARGE])
        wait_until(lambda: job('1')['done'] > 5, 'results')
        killed = join([*JOIN, '--workers', '1', 'main'])
        os.kill(sorted(ranks_of(kept[0], WORKER))[0], signal.SIGKILL)
        cut_until_more(proxy)
        for pid in descendants(killed.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        assert finish(killed).status == 1
        for _ in range(2):  # meanwhile the loss is noticed, before the job is over
            cut_until_more(proxy)
        hurry()
        wait_for('1')
        alone = run([HDSS, 'run', '--workers', '2', '--summary', 'none', '--output', 'alone.txt', *LARGE])
        assert alone.status == 0, alone
        assert read('out.txt') == read('alone.txt')
        figures = report()
        assert figures['done'] == 100 and figures['pods'] == {'joined': figures['pods']['joined'], 'left': 0, 'lost': 1}, figures
    finally:
        down()
    assert [finish(pod).status for pod in kept] == [0]


def test_a_pod_that_leaves_has_sent_all():
    """Nothing is lost, or computed again, where a job is cancelled and a pod leaves with results on their way by a slow proxy."""
    here()
    tasks = ['exec', 'shell=yes', 'count=84',  # large ones, and small ones meanwhile
             'command=test $(({} % 7)) = 0 && seq {} 150000 || { test -e hurry || sleep 1; echo {}; }']
    well(['up', '--listen', 'local', '--pods-only'])
    try:
        proxy = Proxy('proxy', 'hdss/main/pods.socket')
        carry = Proxy.carry

        def slowly(one, other):
            try:
                while data := one.recv(16384):
                    time.sleep(0.005)
                    other.sendall(data)
            except OSError:
                pass
        Proxy.carry = staticmethod(slowly)
        leaves = join([*JOIN, '--workers', '2', ticket_by('proxy')])
        Proxy.carry = staticmethod(carry)
        well(['submit', '--results', 'here', '--output', 'cancelled.txt', *tasks])
        wait_until(lambda: job('1')['done'] > 1, 'results')
        well(['cancel', '1'])
        wait_for('1', status=4)
        well(['submit', '--results', 'here', '--output', 'out.txt', '--report', 'report.json', '--technique', 'ss', *tasks])
        wait_until(lambda: job('2')['done'] > 1, 'results')
        leaves.terminate()
        left = finish(leaves)
        assert left.status == 0 and job('2')['state'] == 'running', (left, job('2'), run([HDSS, 'output', '2']))
        done = job('2')['done']
        stays = join([*JOIN, '--workers', '2', 'main'])
        hurry()
        wait_for('2')
        alone = run([HDSS, 'run', '--workers', '2', '--summary', 'none', '--output', 'alone.txt', *tasks])
        assert alone.status == 0, alone
        figures = report()
        assert 0 < done < 84 and figures['pods'] == {'joined': 2, 'left': 1, 'lost': 0} and figures['faults']['reissued_chunks'] == 0, figures
        assert read('out.txt') == read('alone.txt'), 'the output is another one'
    finally:
        down()
    assert finish(stays).status == 0


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
