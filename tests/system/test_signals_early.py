# SPDX-License-Identifier: MIT
"""Signals in the first moments of a run, to anybody: it drains, or ends before it has begun, and says which."""
import contextlib
import os
import signal

from launch import SUPERMASTER, WORKER, descendants, finish, hurried, main, ranks_of, report, start, wait_until
from openmpi import IS_5
from processes import launcher, send
from signalled import DRAINING, HEAD, ITERATIONS, clear, content, hdss, mpirun_waits, program

UNREADY = 'was it sent a signal before its ranks were ready'



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


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
