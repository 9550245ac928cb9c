# SPDX-License-Identifier: MIT
"""What is seen on a terminal, and in the log of a run that has none."""
import fcntl
import os
import pty
import re
import struct
import termios

from launch import HDSS, environment, main, run, unhurried

CLEAR = '\r\x1b[K'
JOB = ['run', '-j', '2', '--power', 'equal', 'synthetic', 'iterations=300', 'mean=2000']

# They last until a key is pressed.
LONG = ['run', '-j', '2', '--power', 'equal', *unhurried()]
MANY = list(map(str, range(4000)))


def seen(words, columns=80, key=None, when=b' 2 of 2 busy', **variables):
    """Status of `hdss WORDS` on a terminal of so many columns, and what it wrote there. The key is pressed when `when`, a pattern, is there."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
    env = {name: value for name, value in environment().items() if name != 'NO_COLOR'} | {'TERM': 'xterm'} | variables
    process = os.fork()
    if process == 0:
        os.setsid()
        fcntl.ioctl(follower, termios.TIOCSCTTY, 0)
        for stream in range(3):
            os.dup2(follower, stream)
        os.execve(HDSS, [HDSS, *words], env)
    os.close(follower)
    text = b''
    while True:
        try:
            piece = os.read(leader, 4096)
        except OSError:
            break
        text += piece
        if key is not None and re.search(when, text):
            os.write(leader, key)
            key = None
    os.close(leader)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), text.decode().replace('\r\n', '\n')


def test_the_progress_line_fits_and_is_cleared_away():
    for columns in (50, 100):
        status, text = seen(JOB, columns)
        shown, rest = text.rsplit(CLEAR, 1)
        lines = shown.split('\x1b[K')
        assert status == 0 and len(lines) > 2 and lines.pop() == '', text
        assert all(line[0] == '\r' and '\r' not in line[1:] and len(line) <= columns for line in lines), lines
        assert all(re.search(r'  [0-9]|^\r *[0-9]', line) and not re.search(r'(left|[0-9]/s|%)[0-9]', line) for line in lines), lines
        assert rest.startswith('\x1b[32msynthetic:\x1b[0m 300 iterations done in '), text


def test_messages_stand_on_lines_of_their_own():
    status, text = seen(LONG, key=b'\x03')
    assert status == 4 and f'{CLEAR}\x1b[1mhdss:\x1b[0m draining: ' in text and 'mpirun' not in text, text
    assert all(re.fullmatch(r'(\r[^\r\n]*\x1b\[K)*(\^C)?(\r\x1b\[K)?[^\r]*', line) for line in text.split('\n')), text


def test_the_progress_line_stays_beside_what_tasks_print():
    """And a run that is stopped says how far it has come."""
    words = ['exec', '--bar', '-j2', '--joblog', 'log', '--shell', 'sleep 0.2; echo {}', ':::', *MANY]
    status, text = seen(words, columns=60, key=b'\x03', when=rb'\r\x1b\[K[0-9]+\r\n([0-9]+\r\n)*\r[^\r\n]+busy\x1b\[K')
    assert status == 4, text
    assert re.search('hdss exec: stopped: [0-9]+ of 4,000 tasks have ended; the same line with --resume runs the others\n$', text), text


def test_colours_can_be_turned_off():
    for variables in ({'NO_COLOR': '1'}, {'TERM': 'dumb'}):
        assert '\x1b[3' not in seen(JOB, **variables)[1] and '\x1b[1m' not in seen(['run', '--nosuch'], **variables)[1], variables
    assert seen(['run', '--nosuch']) == (2, f'{CLEAR}\x1b[1;31mhdss run:\x1b[0m unknown option --nosuch; --help shows what there is\n')


STAMP = r'[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2} '
BEGINS = STAMP + r'hdss run: begins synthetic iterations=300 mean=2000 with 2 workers( and 1 master)?'
GOES_ON = STAMP + r'synthetic: [0-9]+ of 300 \([0-9]+ %\)(, [0-9.]+( [kMG])?/(s|min|h))?(, end expected [0-9]{2}:[0-9]{2}:[0-9]{2})?, [0-2] of 2 busy'
ENDS = STAMP + r'hdss run: ends after [0-9.]+ m?s: '


def log_of(*words, **variables):
    return run(['env', *(f'{name}={value}' for name, value in variables.items()), HDSS, *words])


def test_a_run_without_a_terminal_writes_a_log():
    for words in (['--log-every', '0.2'], ['--log-every', '0.2', '--masters', '1'], ['--log-every', '0.2', '--dca', 'rma'], ['--progress', 'always', '--log-every', '0.2']):
        result = log_of('run', *words, *JOB[1:])
        lines = result.raw_err.splitlines()
        assert result.status == 0 and result.checksum() and len(lines) > 2, result
        assert re.fullmatch(BEGINS, lines[0]) and re.fullmatch(ENDS + 'done', lines[-1]), result
        assert all(re.fullmatch(GOES_ON, line) for line in lines[1:-1]), result


def test_a_short_run_says_nothing_but_in_a_batch_job():
    assert log_of(*JOB).raw_err == ''
    lines = log_of(*JOB, PBS_JOBID='7').raw_err.splitlines()
    assert len(lines) == 2 and re.fullmatch(BEGINS, lines[0]) and re.fullmatch(ENDS + 'done', lines[1]), lines
    for words in (['-q'], ['--progress', 'never']):
        assert log_of('run', *words, '--log-every', '0.1', *JOB[1:], PBS_JOBID='7').raw_err == '', words
    lines = log_of('run', 'exec', 'command=false', 'count=2', PBS_JOBID='7').raw_err.splitlines()
    assert re.fullmatch(ENDS + 'finished, with failures', lines[-1]), lines


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
