# SPDX-License-Identifier: MIT
"""Signals at any time and to anybody, as batch systems send them: what is done is stored, the journal is there when something is left to do, and
the command says so by its status."""
import contextlib
import os
import re
import signal
import socket
import time

from launch import (HDSS, SUPERMASTER, WORKER, descendants, finish, hurried, job, main, ranks_of, report, run, shared_memory, start, unhurried,
                    wait_until)
from openmpi import IS_5
from processes import launcher, send

ITERATIONS = 20000
FLAT = ['--technique', 'ss', '--output', 'out.npy', '--report', 'report.json', *unhurried(ITERATIONS, sleep_us=20000)]
LOOP = ['--isolate', 'off', '--power', 'equal', *FLAT]
HEAD = 128  # bytes of an npy file before the first record
DRAINING = 'nothing begins any more'
UNREADY = 'was it sent a signal before its ranks were ready'


@contextlib.contextmanager
def mpirun_waits():
    """Open MPI's mpirun sends its ranks SIGTERM a second behind the signal, and kills them a second later, in which a busy machine may not have
    drained: here both are two seconds."""
    names = ('OMPI_MCA_odls_base_sigkill_timeout', 'PRTE_MCA_odls_base_sigkill_timeout')
    before = {name: os.environ[name] for name in names if name in os.environ}
    os.environ.update(dict.fromkeys(names, '2'))
    try:
        yield
    finally:
        for name in names:
            del os.environ[name]
        os.environ.update(before)


def hdss(*options, words=LOOP):
    return [HDSS, 'run', *options, *words]


def content():
    try:
        with open('out.npy', 'rb') as file:
            return file.read()
    except OSError:
        return b''


def records():
    data = content()
    return [data[i:i + 8] for i in range(HEAD, len(data), 8)]


def wait_for_records():
    wait_until(lambda: any(content()[HEAD:]), 'the first result')


def clear():
    for name in os.listdir('.'):
        os.remove(name)


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
    assert result.status == 0 and content() == expected and not os.path.exists('out.npy.journal'), result


@mpirun_waits()
def test_a_signal_to_mpirun_drains():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR2):
        drain_by('mpirun', number, '--masters', '1')


def is_mpirun(pid):
    """Not one that is only asked for its version."""
    try:
        with open(f'/proc/{pid}/cmdline', 'rb') as words:
            return os.path.basename(os.readlink(f'/proc/{pid}/exe')) not in ('hdss', 'hdss-helper') and b'--version' not in words.read()
    except OSError:
        return False


@mpirun_waits()
def test_a_signal_to_mpirun_before_the_run_has_begun():
    """As it is there, as its first rank is, and as all are. Version 5 passes SIGUSR2 on to ranks that are not ready for it, and die of it, as they
    may also do by themselves where their daemon is ended while they connect to it. Version 4 passes it on to whoever is there, and may end with
    status 0 and without a word if that is not yet a rank: the same as a launcher that starts nobody."""
    for ranks in (0, 1, 4):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, *(() if IS_5 else (signal.SIGUSR2,))):
            clear()
            process = start(hdss('--workers', '3'))
            wait_until(lambda: any(map(is_mpirun, launcher(process)[0])), 'mpirun')
            wait_until(lambda: len(ranks_of(process, WORKER)) + len(ranks_of(process, SUPERMASTER)) >= ranks, 'the ranks')
            send(launcher(process)[0], number)
            # Only SIGUSR2 may be passed on to nobody: the run computes all the same.
            wait_until(lambda: process.poll() is not None or number != signal.SIGUSR2 or any(content()[HEAD:]), 'an end, or a result')
            with hurried() if number == signal.SIGUSR2 else contextlib.nullcontext():
                check_early(number, finish(process))


def check_early(number, result):
    """Exactly one of what may come of a signal to mpirun before all is there."""
    stopped, drained = result.raw_err.count('stopped before the run had begun'), result.raw_err.count(DRAINING)
    heard = result.status == 4 and stopped + drained >= 1 and 'lost' not in result.raw_err
    unheard = number == signal.SIGUSR2 and result.status == 0 and stopped + drained == 0 and not result.err
    deadly = number == signal.SIGUSR2 and result.status == 1 and UNREADY in result.raw_err
    unconnected = IS_5 and 'PMIX_ERR_UNREACH' in result.raw_err
    assert [heard, unheard, deadly, unconnected].count(True) == 1, (number, result)
    assert stopped <= 1 and drained <= 1, (number, result)
    if unheard and result.out:
        assert report()['outcome'] == 'done' and report()['done'] == ITERATIONS, (report(), result)


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
        assert result.status == 0 and report()['outcome'] == 'done' and not os.path.exists('out.npy.journal'), result


def test_a_launcher_that_kills_before_the_ranks_have_drained():
    """A second or two behind its signal, when the iterations that run are not over."""
    with open('tasks', 'w') as file:
        file.write('trap "" TERM; : >begun; sleep 100\n' * 2)
    for journal, status, told in ((['--output', 'out'], 4, 'the same line with --resume goes on with it'), (['--journal', 'off'], 1, 'without a journal the run cannot go on')):
        process = start(hdss('--workers', '2', *journal, words=['exec', 'tasks=tasks', 'shell=yes']))
        wait_until(lambda: os.path.exists('begun'), 'the first task')
        send(launcher(process)[0], signal.SIGTERM)
        result = finish(process)
        assert result.status == status and told in result.raw_err, result
        os.remove('begun')


def program(name, text):
    """A launcher of our own, which says that it is Open MPI's."""
    with open(name, 'w') as file:
        file.write(f'#!/bin/sh\n[ "$1" != --version ] || exec mpirun --version\n{text}\n')
    os.chmod(name, 0o755)
    return f'./{name}'


def test_a_signal_at_any_moment_of_the_start_drains():
    """A process that mpirun has just forked has mpirun's handlers; one that runs its own program has none; then it has its own. On a busy machine
    much may happen between two looks at it, as with what is loaded here into both. What a signal does end has not begun, and nothing is lost."""
    shim = os.environ['SLOW_START']
    os.mkdir('run')
    slow = os.path.abspath(program('slow', f'LD_PRELOAD={shim} exec mpirun "$@"'))
    os.chdir('run')
    for ranks in (0, 1, 2, 3, 4):
        clear()
        process = start(['env', f'LD_PRELOAD={shim}', *hdss('--workers', '3', '--mpirun', slow)])
        wait_until(lambda: process.poll() is not None or len(descendants(process.pid)) > ranks, f'{ranks} ranks')
        send([process.pid, *descendants(process.pid)], signal.SIGTERM)
        result = finish(process)
        # Its own handlers come before the launcher.
        assert result.status == 4 or (ranks == 0 and result.status == -signal.SIGTERM), (ranks, str(result))
        assert 'lost' not in result.raw_err, (ranks, str(result))


def write_end(path):
    """A descriptor of the FIFO; None where nobody reads it."""
    try:
        return os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return None


def test_a_signal_before_there_is_a_launcher_ends_the_command():
    """It reads a file that somebody else has not written yet."""
    os.mkfifo('hosts')
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
        process = start(hdss('--hostfile', 'hosts'))
        ends = []
        wait_until(lambda: ends.append(write_end('hosts')) or ends[-1] is not None, 'the reader')
        process.send_signal(number)
        result = finish(process)
        assert result.status == 4 and result.raw_err == 'hdss: stopped before the run had begun\n', (number, result)
        os.close(ends[-1])


def test_a_launcher_that_hangs_at_the_start_is_not_waited_for():
    hangs = program('hangs', ': >started; exec sleep 1000')
    process = start(hdss('--workers', '2', '--mpirun', hangs, '--drain-time', '0.2'))
    wait_until(lambda: os.path.exists('started'), 'the launcher')
    process.send_signal(signal.SIGTERM)
    result = finish(process)
    assert result.status == 4 and 'stopped before the run had begun' in result.raw_err, result


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
        process = start(hdss('--workers', '2', words=words))
        wait_for_records()
        held = [socket.create_connection(('127.0.0.1', port)) for port in listening_ports(launcher(process)[0][0])]
        with hurried():
            result = finish(process)
        assert held and result.status == 0 and report()['outcome'] == 'done', result
        assert not os.path.exists('out.npy.journal'), os.listdir('.')
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


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
