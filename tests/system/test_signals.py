# SPDX-License-Identifier: MIT
"""Signals to anybody in a run, as batch systems send them: what is done is stored, the journal is there when something is left to do, and the
command says so by its status. Those in its first moments are in test_signals_early.
"""
import os
import re
import signal
import socket
import time

from launch import (SUPERMASTER, WORKER, descendants, finish, gone, hurried, job, journal_is_over, main, ranks_of, report, run, shared_memory,
                    start, wait_until)
from openmpi import IS_5
from processes import launcher, send
from signalled import DRAINING, FLAT, HEAD, ITERATIONS, LOOP, clear, content, hdss, mpirun_waits, program, wait_for_records


def records():
    data = content()
    return [data[i:i + 8] for i in range(HEAD, len(data), 8)]


def check_drained(result):
    assert result.status == 4, result
    figures = report()
    assert figures['outcome'] == 'drained' and 0 < figures['done'] < ITERATIONS, figures
    assert sum(any(record) for record in records()) == figures['done'], figures
    assert os.path.exists('out.npy.journal'), os.listdir('.')
    assert result.raw_err.count(DRAINING) == 1 and 'lost' not in result.raw_err, result


def drain_by(whom, number, *options):
    clear()
    process = start(hdss('--workers', '3', *options))
    wait_for_records()
    mpirun, below = launcher(process)
    send(mpirun if whom == 'mpirun' else [process.pid, *below], number)
    check_drained(finish(process))


def test_a_signal_to_every_process_of_the_job_drains():
    with hurried():
        undisturbed = run(hdss('--workers', '3'))
    assert undisturbed.status == 0, undisturbed
    expected = content()
    for number, masters in ((signal.SIGTERM, 0), (signal.SIGTERM, 2), (signal.SIGINT, 1), (signal.SIGHUP, 0), (signal.SIGUSR2, 1)):
        drain_by('all', number, '--masters', masters)
    with hurried():
        result = run(hdss('--workers', '3', '--resume'))
    assert result.status == 0 and content() == expected and journal_is_over('out.npy.journal'), result


@mpirun_waits()
def test_a_signal_to_mpirun_drains():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR2):
        drain_by('mpirun', number, '--masters', '1')


@mpirun_waits()
def test_a_signal_to_mpirun_drains_a_flat_run():
    for number in (signal.SIGTERM, signal.SIGHUP):
        clear()
        process = start(hdss('--workers', '3', '--dca', 'rma', words=FLAT))
        wait_for_records()
        send(launcher(process)[0], number)
        result = finish(process)
        assert result.status == 4 and report()['outcome'] == 'drained', result


def test_a_signal_to_a_rank_of_a_line_by_hand_drains():
    for number, program in ((signal.SIGHUP, SUPERMASTER), (signal.SIGUSR2, WORKER)):
        clear()
        process = start(job(1, 2, LOOP))
        wait_for_records()
        send(ranks_of(process, program), number)
        result = finish(process)
        assert result.status == 4 and report()['outcome'] == 'drained', result


def test_a_signal_when_all_is_done_changes_nothing():
    words, flat = ([word.replace(f'={ITERATIONS}', '=20') for word in line] for line in (LOOP, ['--dca', 'rma', *FLAT]))
    for line, whom, number in ((words, 'mpirun', signal.SIGTERM), (words, 'mpirun', signal.SIGINT), (words, 'all', signal.SIGTERM),
                               (words, 'all', signal.SIGINT), (flat, 'mpirun', signal.SIGINT)):
        clear()
        process = start(hdss('--workers', '2', words=line))
        wait_for_records()
        mpirun, below = launcher(process)
        while not os.path.exists('report.json') and process.poll() is None:  # from then on it is there for some milliseconds
            time.sleep(0.001)
        send(mpirun if whom == 'mpirun' else [process.pid, *below], number)
        result = finish(process)
        assert result.status == 0 and report()['outcome'] == 'done' and journal_is_over('out.npy.journal') == (line == words), result


def test_a_launcher_that_kills_before_the_ranks_have_drained():
    """As mpirun does, a second or two after its signal, when the iterations that run are not over."""
    with open('tasks', 'w') as file:
        file.write('trap "" TERM; : >begun; sleep 100\n' * 2)
    for journal, status, told in ((['--output', 'out'], 4, 'the same line with --resume goes on with it'), (['--journal', 'off'], 1, 'without a journal the run cannot go on')):
        process = start(hdss('--carrier', 'mpi', '--workers', '2', *journal, words=['exec', 'tasks=tasks', 'shell=yes']))
        wait_until(lambda: os.path.exists('begun'), 'the first task')
        send(launcher(process)[0], signal.SIGTERM)
        result = finish(process)
        assert result.status == status and told in result.raw_err, result
        os.remove('begun')


def test_a_launcher_that_is_stopped_prints_the_summary():
    for masters in (0, 2):
        clear()
        process = start(hdss('--workers', '3', '--masters', masters))
        wait_for_records()
        send(launcher(process)[0], signal.SIGSTOP)
        with hurried():
            result = finish(process)
        assert result.status == 0 and 'checksum' in result.out and report()['outcome'] == 'done', result


def listening_ports(pid):
    sockets = set()
    for name in os.listdir(f'/proc/{pid}/fd'):
        try:
            found = re.match(r'socket:\[(\d+)\]', os.readlink(f'/proc/{pid}/fd/{name}'))
        except OSError:
            continue
        sockets.update(found.groups() if found else ())
    with open('/proc/net/tcp') as table:
        rows = [line.split() for line in table.readlines()[1:]]
    return [int(row[1].split(':')[1], 16) for row in rows if row[3] == '0A' and row[9] in sockets]


def test_a_run_whose_results_are_there_returns_whatever_holds_mpirun():
    """A connection to a port of mpirun's that says nothing keeps it from answering MPI_Finalize."""
    if IS_5:
        return 'its mpirun answers all the same'
    for words in (LOOP, ['--dca', 'rma', *FLAT]):
        clear()
        process = start(hdss('--carrier', 'mpi', '--workers', '2', words=words))
        wait_for_records()
        held = [socket.create_connection(('127.0.0.1', port)) for port in listening_ports(launcher(process)[0][0])]
        with hurried():
            result = finish(process)
        assert held and result.status == 0 and report()['outcome'] == 'done', result
        assert journal_is_over('out.npy.journal') == (words == LOOP), os.listdir('.')
        for connection in held:
            connection.close()
    return None


def test_of_a_launcher_that_is_killed_nothing_stays():
    """Neither its own files nor those of ranks that all ended with it."""
    os.mkdir('own')
    environment = [f'TMPDIR={os.path.abspath("own")}', 'XDG_RUNTIME_DIR=']
    flat = ['--dca', 'rma', *FLAT]
    # mpirun leaves at once behind a second SIGINT; it passes SIGABRT on, and says 0 when all ranks have ended by it.
    for words, whom, number in ((LOOP, 'mpirun', signal.SIGKILL), (LOOP, 'all', signal.SIGKILL), (flat, 'all', signal.SIGKILL),
                                (LOOP, 'mpirun', signal.SIGABRT), (flat, 'mpirun', signal.SIGABRT), (flat, 'mpirun', signal.SIGINT)):
        process = start(['env', *environment, *hdss('--workers', '2', '--restarts', '0', '--overwrite', words=words)])
        wait_for_records()
        mpirun, below = launcher(process)
        shared = shared_memory(process)
        send(mpirun if whom == 'mpirun' else [*mpirun, *(pid for pid in below if pid not in mpirun)], number)
        wait_until(lambda: number != signal.SIGINT or process.poll() is not None or send(mpirun, number), 'the end')
        result = finish(process)
        # SIGINT has mpirun send its ranks SIGTERM first: where they are quick they have drained before it kills them.
        assert result.status == 1 or (number == signal.SIGINT and result.status == 4), result
        wait_until(lambda: not any(os.path.exists(f'/proc/{pid}') for pid in below), 'the end of the ranks')
        left = os.listdir('own') + [path for path in shared if os.path.exists(path)]
        assert left == [], (whom, number, left)
        os.remove('out.npy')


def test_of_a_command_that_is_killed_nothing_stays():
    """Before its ranks have met, where one of them was lost and its launcher, a script that waits for mpirun, takes no notice of a signal or ends at once;
    and when they have."""
    for has_begun, script in ((False, 'trap "" TERM; '), (True, 'trap "" TERM; '), (True, '')):
        clear()
        process = start(hdss('--workers', '2', '--mpirun', program('deaf', script + 'mpirun "$@"; exit $?')))
        wait_until(lambda: ranks_of(process, WORKER), 'a worker')
        if has_begun:
            wait_for_records()
        below = descendants(process.pid)
        send(ranks_of(process, WORKER)[:1], signal.SIGKILL)
        send([process.pid], signal.SIGKILL)
        wait_until(lambda: all(map(gone, [process.pid, *below])), 'the end of all that it has started')
        finish(process)


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
