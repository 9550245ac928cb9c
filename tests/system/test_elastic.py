# SPDX-License-Identifier: MIT
"""Runs that pods can join: hdss run --elastic. All else is as of any run: its results, summary, exit status, signals and restarts."""
import glob
import json
import os
import re
import shlex
import shutil
import signal
import stat
import subprocess

from launch import (HDSS, JOIN, MASTER, SUPERMASTER, descendants, finish, hurry, kill_each, kill_tree, main, ranks_of, report, run, start, state_of,
                    unhurried, wait_until)
from results import read
from runs import name_of_run, pods_of_run, sockets_of_run
from sets import here

LOOP = ['--technique', 'ss', '--power', 'equal', *unhurried()]


def begin(*words, command='run'):
    """A run, and the file by which it is joined."""
    here()
    process = start([HDSS, command, '--elastic', *words])
    wait_until(lambda: glob.glob('hdss/run-*/pods') and sockets_of_run() or process.poll() is not None, 'the file')
    found = glob.glob('hdss/run-*/pods')
    assert found, finish(process)
    return process, os.path.abspath(found[0])


def join(name, *words, workers=2, by=()):
    """A pod that has joined."""
    before = len(pods_of_run())
    process = start([*by, *JOIN, '--workers', str(workers), *words, name])
    wait_until(lambda: len(pods_of_run()) > before or process.poll() is not None, 'the pod')
    return process


def done():
    shown = run([HDSS, 'show', name_of_run(), '--format', 'json'])
    return json.loads(shown.out)['done'] if shown.status == 0 else 0


def after(count):
    """Waits until so many more iterations are done."""
    before = done()
    wait_until(lambda: done() >= before + count, f'{count} more iterations')


def test_pods_join_a_run_and_leave_it():
    process, ticket = begin('--workers', '1', '--output', 'out.npy', '--report', 'report.json', *LOOP)
    assert stat.S_IMODE(os.stat(ticket).st_mode) == 0o600
    first, second = join(ticket), join(name_of_run(), workers=1)
    after(100)
    leaving = run([HDSS, 'drain', f"{name_of_run()}/pod{pods_of_run()[0]['rank']}"])
    assert leaving.status == 0, leaving
    assert finish(first).status == 0 and len(pods_of_run()) == 1
    hurry()
    ended = finish(process)
    assert ended.status == 0 and ended.out.startswith('unhurried: 40,000 iterations done') and f'`hdss join {ticket}` joins this run' in ended.err[0], ended
    assert finish(second).status == 0 and not os.path.exists(os.path.dirname(ticket))
    figures = report()
    assert figures['pods'] == {'joined': 2, 'left': 1, 'lost': 0} and figures['faults']['lost_workers'] == 0, figures
    shares = [worker['iterations'] for worker in figures['worker_stats']]
    assert len(shares) == 4 and sum(shares) == 40000 and sorted(shares)[1] > 0, shares  # one may have been paused all the while
    alone = run([HDSS, 'run', '--workers', '8', '--output', 'alone.npy', *LOOP])
    assert alone.checksum() == ended.checksum() and read('alone.npy') == read('out.npy')


def test_a_pod_that_lacks_the_output_is_left_out():
    """The others go on; where there are none, the run ends as it would without pods."""
    if os.getuid() != 0:
        return 'another file system needs root'
    apart = ['unshare', '--mount', 'sh', '-c', 'mount -t tmpfs none results && exec "$@"', 'sh']
    os.mkdir('results')
    process, ticket = begin('--workers', '1', '--output', 'results/out.npy', '--report', 'report.json', *LOOP)
    joined = join(ticket, by=apart)
    left = finish(joined)  # it waits for no end of the run
    assert left.status == 0 and len([line for line in left.err if 'cannot take part: results/out.npy: is not there' in line]) == 1, left
    after(100)
    hurry()
    ended = finish(process)
    assert ended.status == 0 and [line for line in ended.err if 'cannot take part, and its pod is left out: results/out.npy: is not there' in line], ended
    figures = report()
    assert figures['pods'] == {'joined': 1, 'left': 1, 'lost': 0} and figures['faults']['lost_workers'] == 0, figures
    os.remove('results/out.npy')
    shutil.rmtree('hdss')
    process, ticket = begin('--pods-only', '--output', 'results/out.npy', *LOOP)
    joined = join(ticket, by=apart)
    ended = finish(process)
    assert ended.status == 1 and any('results/out.npy: is not there' in line for line in ended.err), ended
    finish(joined)


def test_tasks_are_run_by_pods_alone():
    process, ticket = begin('--pods-only', '--shell', 'until test -e hurry; do sleep 0.01; done; echo {}', ':::', *map(str, range(40)), command='exec')
    pod = join(ticket)
    hurry()
    ended = finish(process)
    assert ended.status == 0 and sorted(map(int, ended.out.split())) == list(range(40)), ended
    assert finish(pod).status == 0


def test_a_run_that_is_stopped_is_resumed():
    words = ['--output', 'out.npy', *LOOP]
    process, ticket = begin('--workers', '1', *words)
    pod = join(ticket)
    after(100)
    process.send_signal(signal.SIGINT)
    ended = finish(process)
    assert ended.status == 4 and 'draining' in ended.err[-1], ended
    assert finish(pod).status == 0
    hurry()
    resumed = run([HDSS, 'run', '--workers', '2', '--resume', *words])
    assert resumed.status == 0 and 'resumed iterations' in resumed.out, resumed


def test_a_lost_pod_costs_what_it_had_begun():
    process, ticket = begin('--workers', '1', '--report', 'report.json', *LOOP)
    pod = join(ticket)
    after(100)
    kill_each(descendants(pod.pid))
    assert finish(pod).status == 1
    hurry()
    ended = finish(process)
    assert ended.status == 0 and any('was lost with its workers' in line for line in ended.err), ended
    assert report()['pods'] == {'joined': 1, 'left': 0, 'lost': 1} and report()['done'] == 40000, report()


# The pod's launcher and its workers look for a master that is stopped, once a second each: who sees it first ends it, and says so.
STOPPED_MASTER = re.compile(r"(hdss: the pod's master|worker: rank [0-9]+: master rank [0-9]+) has been stopped for 10 seconds: it is ended")


def test_a_pod_whose_master_is_stopped_is_ended():
    process, ticket = begin('--workers', '1', *LOOP)
    pod = join(ticket)
    after(300)  # it has begun by then, and says so
    os.kill(ranks_of(pod, MASTER)[0], signal.SIGSTOP)
    left = finish(pod)
    assert left.status == 1 and len([line for line in left.err if STOPPED_MASTER.fullmatch(line)]) == 1, left
    assert left.err[-1] == 'hdss: the pod ended without leaving its set; what it has stored is kept', left
    hurry()
    assert finish(process).status == 0


def test_pods_come_back_to_a_run_that_is_started_again():
    process, ticket = begin('--pods-only', '--output', 'out.npy', '--report', 'report.json', *LOOP)
    joined = [join(ticket, '--wait', '60'), join(name_of_run(), '--wait', '60', workers=1)]
    after(100)
    first = ranks_of(process, SUPERMASTER)
    os.kill(first[0], signal.SIGKILL)
    wait_until(lambda: process.poll() is not None or (ranks_of(process, SUPERMASTER) not in ([], first) and len(pods_of_run()) == 2), 'both pods once more')
    hurry()
    ended = finish(process)
    assert ended.status == 0 and report()['faults']['resumed_iterations'] > 0 and report()['done'] == 40000, ended
    for pod in joined:
        back = finish(pod)
        assert back.status == 0 and any('the set was lost: it is waited for' in line for line in back.err), back


def test_a_ticket_on_standard_input_leaves_no_file():
    """Also where the pod is killed."""
    process, ticket = begin('--workers', '1', *LOOP)
    os.mkdir('tmp')
    with open(ticket, encoding='ascii') as file:
        handed = subprocess.Popen([*map(str, JOIN), '--carrier', 'local', '--workers', '1', '-'], stdin=file, stderr=subprocess.DEVNULL, env={**os.environ, 'TMPDIR': f'{os.getcwd()}/tmp'})
    wait_until(lambda: len(pods_of_run()) == 1 or handed.poll() is not None, 'the pod')
    assert handed.poll() is None and not glob.glob('tmp/hdss-pod*'), os.listdir('tmp')
    kill_tree(handed.pid)
    handed.wait()
    hurry()
    assert finish(process).status == 0


def test_the_line_by_which_it_is_joined_is_one_for_a_shell():
    here()
    result = run([HDSS, 'run', '--elastic', '--pods-file', "it's a file", '--workers', '1', 'synthetic', 'iterations=10'])
    line = next(line for line in result.err if 'joins this run' in line)
    assert result.status == 0 and shlex.split(line.split('`')[1]) == ['hdss', 'join', f"{os.getcwd()}/it's a file"], result


def test_ctrl_z_stops_no_rank():
    """Pods would take the supermaster for lost."""
    process, ticket = begin('--workers', '1', *LOOP)
    pod = join(ticket)
    process.send_signal(signal.SIGTSTP)
    wait_until(lambda: state_of(process.pid) == 'T', 'the stop')
    after(100)
    process.send_signal(signal.SIGCONT)
    hurry()
    ended = finish(process)
    assert ended.status == 0 and 'hdss: stopped: the run goes on, as pods on other hosts do' in ended.err, ended
    assert finish(pod).status == 0


def refused(words, *texts):
    result = run([HDSS, *words])
    assert result.status == 2 and len(result.err) == 1 and all(text in result.err[0] for text in texts), (words, result)


def test_what_cannot_be_elastic_is_refused():
    here()
    refused(['run', '--elastic', '--workers', '2', 'hydro'], '--elastic', 'depend on one another')
    refused(['run', '--elastic', '--dca', 'rma', 'synthetic'], '--elastic', 'without --dca')
    refused(['run', '--pods-only', 'synthetic'], '--pods-only', '--listen local')
    refused(['run', '--elastic', '--pods-only', '--workers', '2', 'synthetic'], 'without --workers')
    refused(['run', '--elastic', '--masters', '0', 'synthetic'], '--masters 0')
    refused(['run', '--pods-file', 'pods', 'synthetic'], '--pods-file', '--listen')
    refused(['run', '--listen', 'here:there', 'synthetic'], '--listen', 'local, HOST:PORT or PORT')
    refused(['run', '--elastic', '--group-by', 'even', 'synthetic'], '--group-by even')
    refused(['join', 'run-1'], "'run-1'")
    assert not os.path.exists('hdss'), os.listdir('hdss')
    with open('notes', 'w', encoding='ascii') as file:
        file.write('kept')
    os.chmod('notes', 0o600)
    long = 'x' * 120
    for name, text in ((long, 'by --pods-file FILE'), ('notes', 'does not begin with')):
        result = run([HDSS, 'run', '--elastic', '--pods-file', name, '--workers', '1', 'synthetic', 'iterations=1'])
        assert result.status == 2 and '--pods-file' in result.err[0] and text in result.err[0], result
    assert read('notes') == b'kept'


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
