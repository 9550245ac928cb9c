# SPDX-License-Identifier: MIT
"""What is seen on a terminal, and in the log of a run that has none."""
import fcntl
import os
import pty
import re
import struct
import termios

from launch import HDSS, environment, finish, main, run, start, wait_until

CLEAR = '\r\x1b[K'
JOB = ['run', '-j', '2', '--power', 'equal', 'synthetic', 'iterations=300', 'mean=2000']


def seen(words, columns=80, key=None, **variables):
    """Status of `hdss WORDS` on a terminal of so many columns, and what it wrote there. The key is pressed when a worker is busy."""
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
        if key is not None and b' 2 of 2 busy' in text:
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
    status, text = seen(JOB, key=b'\x03')
    assert status == 4 and f'{CLEAR}\x1b[1mhdss:\x1b[0m draining: ' in text and 'mpirun' not in text, text
    assert all(re.fullmatch(r'(\r[^\r\n]*\x1b\[K)*(\^C)?(\r\x1b\[K)?[^\r]*', line) for line in text.split('\n')), text


def test_colours_can_be_turned_off():
    for variables in ({'NO_COLOR': '1'}, {'TERM': 'dumb'}):
        assert '\x1b[3' not in seen(JOB, **variables)[1] and '\x1b[1m' not in seen(['run', '--nosuch'], **variables)[1], variables
    assert seen(['run', '--nosuch']) == (2, f'{CLEAR}\x1b[1;31mhdss run:\x1b[0m unknown option --nosuch; --help shows what there is\n')


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
