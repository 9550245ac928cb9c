# SPDX-License-Identifier: MIT
"""A pod on each host: hdss run --hosts a,b,c. Hosts are pretended (nodes.py); each of them may be lost, whatever the MPI library makes of that."""
import contextlib
import os
import signal

from journals import wait_for_records
from launch import HDSS, SUPERMASTER, finish, hurry, main, ranks_of, report, run, start, unhurried, wait_until
from loops import STEADY
from nodes import Nodes, ip
from results import check, undisturbed
from runs import pods_of_run
from sets import here

# Some 0.7 seconds for six workers.
JOB = ['synthetic', 'iterations=1000', 'mean=4000', 'distribution=exponential', 'mode=sleep']
DISTURBED = unhurried(iterations=20000)


def words(loop):
    return [*STEADY, '--output', 'out.npy', *loop]


def over(count, test):
    here()
    try:
        with Nodes(count) as nodes:
            test(nodes)
    except OSError as problem:
        return str(problem)


def begin(nodes):
    """A run that all three pods have joined, and that has stored something."""
    process = start(nodes.hdss(words(DISTURBED), slots=2))
    wait_for_records(process)
    wait_until(lambda: len(pods_of_run()) == 3 or process.poll() is not None, 'the pods')
    return process


def lost(result, loop, **numbers):
    """The run is as if nothing had happened, but for that."""
    check(result, undisturbed(*loop))
    assert report()['pods'] == {'joined': 3, 'left': 0, 'lost': 0, **numbers}, report()['pods']
    assert report()['done'] == int(loop[1].split('=')[1]), report()


def test_a_run_over_pods_is_as_any_other():
    def test(nodes):
        result = run(nodes.hdss(words(JOB), slots=2))
        lost(result, JOB)
        assert result.err == [] and report()['masters'] == 3 and len(report()['worker_stats']) == 6, result
        assert os.listdir('hdss') == [], os.listdir('hdss')
        told = run(nodes.hdss(['--pods', '--workers', '2', 'exec', 'shell=yes', 'command=echo {} $(hostname)', 'count=20', '--output', 'tasks.txt'], slots=1))
        assert told.status == 0, told
        with open('tasks.txt', encoding='ascii') as file:
            ran = [line.split() for line in file]
        assert [int(task) for task, _ in ran] == list(range(1, 21)) and {node for _, node in ran} <= set(nodes.names[:2]), ran
    return over(3, test)


def test_the_network_may_have_ipv6_alone():
    def test(nodes):
        for i, name in enumerate(nodes.names):
            ip('-n', name, 'address', 'flush', 'dev', 'eth0', 'scope', 'global')
            if ip('-n', name, 'address', 'add', f'fd77::{i + 1}/64', 'dev', 'eth0', 'nodad', check=False).returncode != 0:
                raise OSError('this machine has no IPv6')
        result = run(nodes.hdss(words(JOB), slots=2))
        check(result, undisturbed(*JOB))
        assert report()['pods'] == {'joined': 2, 'left': 0, 'lost': 0}, report()['pods']
    return over(2, test)


def test_a_lost_host_costs_what_it_had_begun():
    def test(nodes):
        process = begin(nodes)
        nodes.kill(2)
        hurry()
        result = finish(process)
        lost(result, DISTURBED, lost=1)
        assert any(f'the pod of {nodes.names[2]} has ended' in line for line in result.err), result
    return over(3, test)


def test_a_lost_supermaster_is_started_again_with_pods():
    def test(nodes):
        process = begin(nodes)
        first = ranks_of(process, SUPERMASTER)
        os.kill(first[0], signal.SIGKILL)
        wait_until(lambda: ranks_of(process, SUPERMASTER) not in ([], first) and len(pods_of_run()) == 3, 'the pods once more')
        hurry()
        result = finish(process)
        lost(result, DISTURBED)
        assert report()['faults']['resumed_iterations'] > 0 and 'starting again where it was' in result.raw_err, result
    return over(3, test)


def test_a_signal_drains_all():
    def test(nodes):
        process = begin(nodes)
        process.send_signal(signal.SIGTERM)
        result = finish(process)
        assert result.status == 4 and 'draining' in result.err[-1], result
        wait_until(lambda: not nodes.processes(1) + nodes.processes(2), 'the end of the other pods')
        hurry()
        check(run([HDSS, 'run', '--workers', '2', '--resume', *words(DISTURBED)]), undisturbed(*DISTURBED))
    return over(3, test)


@contextlib.contextmanager
def agent(name, others='', script=None):
    """The agent by which other hosts are reached; with a script it is made here."""
    if script is not None:
        with open(name, 'w', encoding='ascii') as file:
            file.write(f'#!/bin/sh\n{script}\n')
        os.chmod(name, 0o700)
        name = os.path.abspath(name)
    os.environ['OMPI_MCA_plm_rsh_agent'] = name + others
    try:
        yield
    finally:
        del os.environ['OMPI_MCA_plm_rsh_agent']


def test_hosts_that_cannot_be_reached_are_named():
    here()
    hosts = ['run', '--hosts', 'nowhere1:1,nowhere2:1', '--pods', 'synthetic', 'iterations=10']
    with agent('no-such-agent'):
        result = run([HDSS, *hosts])
        shown = run([HDSS, *hosts[:-2], '--dry-run', *hosts[-2:]])
    assert result.status == 1 and sum(line.startswith('hdss run: the pod of nowhere') for line in result.err) == 2 and any('no pod is left' in line for line in result.err), result
    assert shown.status == 0 and len([line for line in shown.out.splitlines() if line.startswith('no-such-agent nowhere')]) == 2, shown


def test_others_may_join_a_run_over_pods_that_is_elastic():
    """None of its hosts can be reached."""
    here()
    with agent('agent', script='exit 255'):
        process = start(['sh', '-c', 'exec "$@" 2>> err', 'sh', HDSS, 'run', '--elastic', '--hosts', 'nowhere1:1,nowhere2:1', '--pods', '--pods-file', 'pods', 'synthetic', 'iterations=10'])
    for text in f'`hdss join {os.getcwd()}/pods` joins this run', 'no pod of its hosts is left: the run goes on with others':
        wait_until(lambda text=text: text in read('err') or process.poll() is not None, text)
    pod, result = run([HDSS, 'join', '--carrier', 'local', '--workers', '1', 'pods']), finish(process)
    assert pod.status == result.status == 0, (pod, result, read('err'))


def read(name):
    """Empty where it is not there yet."""
    with open(name, 'a+', encoding='utf-8') as file:
        file.seek(0)
        return file.read()


def test_the_file_of_another_run_is_left_alone():
    here()
    other = start([HDSS, 'run', '--elastic', '--pods-file', 'pods', '--workers', '1', *DISTURBED])
    wait_until(lambda: os.path.exists('pods') or other.poll() is not None, 'the file')
    with open('pods', encoding='ascii') as file:
        before = file.read()
    refused = run([HDSS, 'run', '--hosts', 'localhost:1', '--pods', '--pods-file', 'pods', 'synthetic', 'iterations=10'])
    with open('pods', encoding='ascii') as file:
        assert file.read() == before
    assert refused.status == 2 and any('pods.socket' in line for line in refused.err), refused
    hurry()
    assert finish(other).status == 0


def test_agents_have_no_terminal():
    """They would be stopped as they ask there for a password. Of several agents, as Open MPI may be told them, the first is used."""
    here()
    with agent('agent', others=' : rsh', script='cut -d " " -f 6 /proc/$$/stat > session.$$; exit 2'):
        run([HDSS, 'run', '--hosts', 'a:1,b:1', 'synthetic', 'iterations=10'])
    pids = [name.split('.')[1] for name in os.listdir('.') if name.startswith('session.')]
    assert len(pids) == 2
    for pid in pids:
        with open(f'session.{pid}', encoding='ascii') as file:
            assert file.read().strip() == pid


def test_without_a_folder_for_their_file_there_are_no_pods_by_default():
    here()
    before = {name: os.environ.pop(name, None) for name in ('HOME', 'XDG_STATE_HOME')}
    try:
        shown = run([HDSS, 'run', '--hosts', 'a:1,b:1', '--dry-run', 'synthetic', 'iterations=10'])
        refused(['--hosts', 'a:1,b:1', '--pods', 'synthetic', 'iterations=10'], '--pods-file FILE')
        for options in (['--elastic'], ['--listen', 'local']):
            told = run([HDSS, 'run', *options, '--pods-file', 'pods', '--workers', '1', '--dry-run', 'synthetic', 'iterations=10'])
            assert told.status == 0 and '--pods-file pods' in told.out, told
        os.environ['XDG_STATE_HOME'] = f'{os.getcwd()}/{"x" * 100}' # no socket has such a long path
        long = run([HDSS, 'run', '--hosts', 'a:1,b:1', '--dry-run', 'synthetic', 'iterations=10'])
        refused(['--elastic', 'synthetic', 'iterations=10'], '--elastic', '--pods-file FILE')
    finally:
        os.environ.update({name: value for name, value in before.items() if value is not None})
    for result in shown, long:
        assert result.status == 0 and 'join' not in result.out, result


def refused(options, *texts):
    result = run([HDSS, 'run', *options])
    assert result.status == 2 and len(result.err) == 1 and all(text in result.err[0] for text in texts), (options, result)


def test_what_cannot_have_pods_has_one_launch():
    here()
    hosts = ['--hosts', 'localhost:1,b:1']
    for options, has_pods in (([], True), (['--report', 'report.json', '--threads', '2'], True), (['--one-launch'], False), (['--masters', '2'], False), (['--mpi-args', '--mca a b'], False),
                              (['--dca', 'rma'], False), (['--masters-compute', '--workers', '4'], False), (['--group-by', 'even'], False)):
        shown = run([HDSS, 'run', *hosts, *options, '--dry-run', 'synthetic', 'iterations=10'])
        assert shown.status == 0 and ('join' in shown.out) == has_pods and ('--await-pods 2' in shown.out) == has_pods, (options, shown)
    assert 'join' not in run([HDSS, 'run', *hosts, '--dry-run', 'hydro']).out


def test_programs_are_found_there_as_here():
    here()
    os.environ['LD_LIBRARY_PATH'] = '/opt/a library'
    shown = run([HDSS, 'run', '--hosts', 'a:1,b:1', '--dry-run', 'synthetic', 'iterations=10'])
    del os.environ['LD_LIBRARY_PATH']
    assert shown.out.count('LD_LIBRARY_PATH=/opt/a library') == shown.out.count(f'PATH={os.environ["PATH"]}') == 2, shown


def test_what_cannot_have_pods_is_refused():
    here()
    refused(['--pods', 'synthetic'], '--pods', '--hosts')
    refused(['--hosts', 'a:1,b:1', '--pods', '--masters', '1', 'synthetic'], '--masters 1', '2')
    refused(['--hosts', 'a,b', '--pods', 'synthetic'], '--workers')
    refused(['--hosts', 'a:1,b:1', '--pods', '--dca', 'rma', 'synthetic'], 'without --dca')
    refused(['--hosts', 'localhost:1', '--pods', 'hydro'], 'depend on one another')
    refused(['--hosts', 'a:1,b:1', '--pods', '--one-launch', 'synthetic'], '--one-launch')
    refused(['--hosts', 'a:1,b:1', '--pods', '--pods-only', 'synthetic'], '--pods-only', '--pods ')
    refused(['--hosts', 'localhost:1,b:1', '--pods', '--listen', 'local', 'synthetic'], '--listen local', 'HOST:PORT', ' b ')
    refused(['--hosts', 'a:1,b:1', '--pods-file', 'pods', 'synthetic'], '--pods-file', '--pods,')
    refused(['--await-pods', '2', 'synthetic'], '--await-pods', '--listen')


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
