# SPDX-License-Identifier: MIT
"""Pods: launches of their own that join a set, take part in its jobs, leave it, and are lost."""
import contextlib
import os
import signal
import socket
import threading

from launch import HDSS, JOIN, SUPERMASTER, WORKER, descendants, finish, hurry, kill_each, main, ranks_of, report, run, start, unhurried, wait_until
from pods import SINGLY, Proxy, join, pods, ticket_by, ticket_lines, write_ticket
from sets import down, here, job, refused, wait_for, well

SHORT = [*SINGLY, 'synthetic', 'distribution=constant', 'mode=sleep', 'mean=500']


def test_a_pod_joins_takes_part_and_leaves():
    here()
    assert well(['up', '--listen', 'local', '--workers', '1']) == 'main is up\n'
    try:
        assert oct(os.stat('hdss/main/pods').st_mode & 0o777) == '0o600' and pods() == []
        assert well(['submit', '--report', 'report.json', *SINGLY, *unhurried()]) == 'main/1\n'
        wait_until(lambda: job('1')['done'] > 0, 'a job that runs')
        pod = join()
        name = f"main/pod{pods()[0]['rank']}"
        assert name in well(['pods']) and 'set main: 3 workers' in well(['top', '--once'])
        before = job('1')['done']
        wait_until(lambda: job('1')['done'] > before + 300, 'what the pod has computed')
        assert well(['drain', name]) == f'{name} leaves when what runs there is finished\n'
        left = finish(pod)
        assert left.status == 0 and left.err == [] and pods() == [], left
        assert job('1')['state'] == 'running'
        well(['submit', *SHORT, 'iterations=20'])
        hurry()
        wait_for('1')
        figures = report()
        assert figures['pods'] == {**figures['pods'], 'joined': 1, 'left': 1}, figures['pods']
        assert figures['faults']['lost_workers'] == figures['faults']['reissued_chunks'] == 0, figures['faults']
        shares = [worker['iterations'] for worker in figures['worker_stats']]
        assert sum(shares) == 40000 and len(shares) == 3 and sorted(shares)[1] > 0, shares  # one may have been paused all the while
        wait_for('2')
    finally:
        down()
    assert not os.path.exists('hdss/main/pods')


def test_pods_may_be_all_that_there_is():
    """Jobs wait for workers, and their results are those of a run by itself."""
    here()
    alone = run([HDSS, 'run', '--workers', '2', '--output', 'alone.npy', 'mandelbrot', 'width=64', 'height=64'])
    assert well(['up', '--listen', '127.0.0.1:0', '--pods-only']) == 'main is up\n'
    try:
        well(['submit', '--output', 'together.npy', 'mandelbrot', 'width=64', 'height=64'])
        pod = join()
        assert well(['wait', '1']).startswith('main/1: done, 64 of 64')
        assert alone.checksum() in well(['output', '1'])
        with open('alone.npy', 'rb') as one, open('together.npy', 'rb') as other:
            assert one.read() == other.read()
        well(['submit', *SINGLY, *unhurried()])
        wait_until(lambda: job('2')['done'] > 0, 'a job that runs')
        pod.send_signal(signal.SIGTERM)
        left = finish(pod)
        assert left.status == 0 and 'draining' in left.err[0], left
        assert job('2')['state'] == 'running' and 0 < job('2')['done'] < 40000
        pod = join(workers=3)
        hurry()
        wait_for('2')
    finally:
        down()
    assert finish(pod).status == 0


def test_a_pod_without_workers_leaves():
    """Its allocation is given back, and the job waits for other workers."""
    here()
    well(['up', '--listen', 'local', '--pods-only'])
    try:
        well(['submit', *SINGLY, *unhurried()])
        pod = join()
        wait_until(lambda: job('1')['done'] > 0, 'a job that runs')
        kill_each(ranks_of(pod, WORKER))
        left = finish(pod)
        assert 'all workers of this pod are lost: it leaves' in left.raw_err and pods() == [], left
        assert job('1')['state'] == 'running' and job('1')['done'] < 40000
        join()
        hurry()
        wait_for('1')
    finally:
        down()


def test_a_lost_pod_costs_what_it_had_begun():
    here()
    well(['up', '--listen', 'local', '--workers', '1'])
    try:
        well(['submit', '--report', 'report.json', *SINGLY, *unhurried()])
        pod = join()
        before = job('1')['done']
        wait_until(lambda: job('1')['done'] > before + 100, 'what the pod has computed')
        kill_each(descendants(pod.pid))
        lost = finish(pod)
        assert lost.status == 1 and 'the pod ended without leaving its set' in lost.err[-1], lost
        hurry()
        wait_for('1')
        figures = report()
        assert figures['pods'] == {'joined': 1, 'left': 0, 'lost': 1} and figures['faults']['lost_workers'] == 2, figures
        assert figures['done'] == 40000
        said = run([HDSS, 'output', '1'])
        assert any('master rank 3 was lost with its workers; others go on with their work' in line for line in said.err), said
    finally:
        down()


def test_what_a_pod_finishes_can_be_ended():
    """A pod that is asked to leave finishes what runs, unless the job is cancelled meanwhile."""
    here()
    well(['up', '--listen', 'local', '--pods-only'])
    try:
        pod = join(workers=1)
        well(['submit', 'exec', 'command=sh -c "touch begun; sleep 3600"', 'count=2'])
        wait_until(lambda: os.path.exists('begun'), 'a task that runs')
        well(['drain', f"main/pod{pods()[0]['rank']}"])
        assert pods()[0]['state'] == 'leaving'
        well(['cancel', '1'])
        wait_for('1', status=4)
        assert finish(pod).status == 0
    finally:
        down()


def join_elsewhere():
    """A pod that has joined from a node of another name."""
    before = len(pods())
    process = start(['unshare', '--uts', 'sh', '-c', 'hostname beyond; exec "$@"', 'sh', *JOIN, '--workers', '1'])
    wait_until(lambda: len(pods()) > before, 'the pod')
    return process


def test_a_node_is_one_whichever_of_its_pods_are_there():
    """Also in a job for which the first of them was too late."""
    if os.getuid() != 0:
        return 'another host name needs root'
    here()
    well(['up', '--listen', 'local', '--workers', '1'])
    try:
        first = join_elsewhere()
        others = [join_elsewhere(), join_elsewhere(), join()]
        first.send_signal(signal.SIGTERM)
        assert finish(first).status == 0
        well(['submit', '--report', 'report.json', *SINGLY, *unhurried()])
        wait_until(lambda: job('1')['done'] > 0, 'a job that runs')
        others.append(join_elsewhere())
        hurry()
        wait_for('1')
        figures = report()
        assert figures['nodes'] == 2 and [worker['node'] for worker in figures['worker_stats']] == [0, 1, 1, 0, 0, 1], figures['worker_stats']
    finally:
        down()
    assert [finish(pod).status for pod in others] == [0] * 4


def test_dependent_iterations_are_for_the_launch():
    """Workers exchange what others need over MPI, which does not reach a pod: it takes part in the other jobs alone."""
    here()
    loop = ['hydro', 'l=200', 'k=100']
    well(['up', '--listen', 'local', '--workers', '2'])
    try:
        pod = join()
        well(['submit', '--report', 'report.json', *loop])
        wait_for('1')
        figures = report()
        assert figures['done'] == 200 and len(figures['worker_stats']) == 2 and figures['faults']['lost_workers'] == 0, figures
        well(['submit', *SHORT, 'iterations=200'])
        wait_for('2')
        assert '1 master joined' in well(['output', '2'])
    finally:
        down()
    assert finish(pod).status == 0
    well(['up', '--listen', 'local', '--pods-only'])
    try:
        number = well(['submit', *loop]).rstrip().rpartition('/')[2]
        wait_for(number, status=2)
        told = run([HDSS, 'output', number]).err
        assert len(told) == 1 and 'without --pods-only' in told[0], told
        assert job(number)['topology'] == 'hierarchical', job(number)
    finally:
        down()


def greet_others(listener):
    """Says to each that connects what no set says."""
    with contextlib.suppress(OSError):
        while True:
            with listener.accept()[0] as end:
                end.sendall(b'220 ready\r\n')
                end.recv(65536)


def test_a_pod_that_is_cut_off_comes_back():
    here()
    well(['up', '--listen', 'local', '--workers', '1'])
    try:
        proxy = Proxy('proxy', 'hdss/main/pods.socket')
        well(['submit', '--report', 'report.json', *SINGLY, *unhurried()])
        pod = start([*JOIN, '--workers', '2', ticket_by('proxy')])
        wait_until(pods, 'the pod')
        for _ in range(5):
            before = job('1')['done']
            wait_until(lambda before=before: job('1')['done'] > before + 100, 'what was computed')
            proxy.cut()
        hurry()
        wait_for('1')
        figures = report()
        assert figures['pods'] == {'joined': 1, 'left': 0, 'lost': 0} and figures['done'] == 40000, figures
        assert sum(worker['iterations'] for worker in figures['worker_stats']) == 40000, figures['worker_stats']
    finally:
        down()
    assert finish(pod).status == 0


def test_pods_wait_for_a_set_that_was_lost():
    here()
    there = start([HDSS, 'up', '--foreground', '--restarts', '0', '--listen', '127.0.0.1:0', '--pods-only'])
    wait_until(lambda: os.path.exists('hdss/main/pods') and run([HDSS, 'pods']).status == 0, 'the set')
    pod = start([*JOIN, '--workers', '2', '--wait', '120', 'main'])
    try:
        wait_until(pods, 'the pod')
        well(['submit', '--output', 'out.npy', '--report', 'report.json', *SINGLY, *unhurried()])
        wait_until(lambda: job('1')['done'] > 300, 'a job that runs')
        os.kill(ranks_of(there, SUPERMASTER)[0], signal.SIGKILL)
        assert finish(there).status == 1
        well(['up', '--listen', '127.0.0.1:0', '--pods-only', '--resume'])
        hurry()
        wait_for('1')
        figures = report()
        assert figures['done'] == 40000 and figures['faults']['resumed_iterations'] > 0, figures
    finally:
        down()
    ended = finish(pod)
    assert ended.status == 0 and any('the set was lost: it is waited for' in line for line in ended.err), ended


def join_apart(by):
    """A pod joins by that, as on a node that sees neither the set's folder nor its name, and leaves."""
    before, nowhere = len(pods()), f'{os.getcwd()}/nowhere'
    process = start(['env', f'HDSS_CONTROL_DIR={nowhere}', f'XDG_STATE_HOME={nowhere}', HDSS, 'join', '--workers', '1', by])
    wait_until(lambda: len(pods()) > before or process.poll() is not None, 'the pod')
    process.send_signal(signal.SIGTERM)
    left = finish(process)
    assert left.status == 0, left


def copy_of_ticket(name, kept=''):
    """A copy of the set's file, with the lines alone that have that in them, and the key. Its path."""
    return write_ticket(name, [line for line in ticket_lines() if kept in line or not line.startswith('address')])


def test_a_copy_of_the_file_will_do():
    """And on the set's own machine its socket."""
    here()
    well(['up', '--listen', '0.0.0.0:0', '--pods-only'])
    try:
        join_apart(copy_of_ticket('copy', kept=':'))  # the port at each address of this machine
        join_apart('hdss/main/pods.socket')
        with open('hdss/main/pods', encoding='ascii') as file:
            assert ('0.0.0.0' in file.read()) == (run(['hostname', '-I']).out.strip() == '')
        lonely = copy_of_ticket('lonely', kept='/')
        assert 'hdss/main/pods' in well(['alloc']), 'a port'
        for file in lonely, 'hdss/main/pods.socket':
            refused(['alloc', file], 'a socket of this machine', '--listen HOST:PORT')
    finally:
        down()
    refused(['alloc', '/etc/passwd'], 'does not begin with')
    refused(['join', '--workers', '1', '--wait', '1', lonely], 'no set listens at its socket', 'hdss/main/pods.socket', '--listen HOST:PORT')


def test_a_set_may_listen_by_ipv6():
    here()
    if not socket.has_ipv6 or run([HDSS, 'up', '--listen', '[::1]:0', '--pods-only']).status != 0:
        return 'this machine has no IPv6'
    try:
        join_apart('./' + copy_of_ticket('copy', kept='[::1]:'))
    finally:
        down()
    return None


def test_who_cannot_join_is_told_why():
    here()
    refused(['up', '--pods-only'], '--pods-only', '--listen local')
    refused(['up', '--listen', 'here:there'], '--listen', 'local, HOST:PORT or PORT')
    refused(['up', '--listen', 'local', '--masters', '0'], '--masters 0')
    refused(['join'], 'hdss up', 'hdss join FILE', 'HOST:PORT')
    refused(['join', 'nowhere'], "'nowhere' is no set", 'hdss join FILE', 'HOST:PORT')
    refused(['join', './nothing'], './nothing', 'HOST:PORT')
    refused(['join', 'nowhere:99999'], "'nowhere:99999' is neither", 'HOST:PORT or [IPV6]:PORT')
    refused(['join', '--workers', '1', '.'], 'is no file')
    refused(['join', '--masters', '2', 'main'], '--masters 2')
    well(['up', '--workers', '1'])
    try:
        refused(['join'], 'without --listen')
    finally:
        down()
    well(['up', '--listen', '127.0.0.1:0', '--workers', '1'])
    try:
        refused(['drain', 'pod7'], 'no pod')
        lines = ticket_lines()
        for name, text, mode, told in (
                ('open', '\n'.join(lines), 0o644, 'chmod 600'),
                ('empty', '', 0o600, 'hdss-pods 1'),
                ('keyless', '\n'.join(lines[:-1]), 0o600, 'it has no key'),
                ('moved', '\n'.join([*lines[:2], 'machine other', lines[-1]]), 0o600, 'is on another machine'),
                ('forged', '\n'.join([lines[0], lines[2], 'key ' + 64 * '0']), 0o600, 'cannot join at 127.0.0.1')):
            with open(name, 'w', encoding='ascii') as file:
                file.write(text)
            os.chmod(name, mode)
            refused(['join', '--workers', '1', f'./{name}'], told)
        assert pods() == []
    finally:
        down()


def test_a_pod_goes_on_to_the_next_address_where_another_answers():
    """As at the address of a bridge, which each of two machines has; and its sockets are those of one machine alone."""
    here()
    well(['up', '--listen', '127.0.0.1:0', '--pods-only'])
    try:
        lines = ticket_lines()
        with socket.create_server(('127.0.0.1', 0)) as other:
            threading.Thread(target=greet_others, args=(other,), daemon=True).start()
            first = f'address 127.0.0.1:{other.getsockname()[1]}'
            copy = write_ticket('copy', [lines[0], first, *lines[1:3], 'machine other', lines[-1]])
            pod = start([*JOIN, '--workers', '1', copy])
            wait_until(pods, 'the pod')
        well(['drain', f"pod{pods()[0]['rank']}"])
        assert finish(pod).status == 0
    finally:
        down()


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
