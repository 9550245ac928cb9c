# SPDX-License-Identifier: MIT
"""A munged of one's own, from the Debian package, beside any that runs."""
import os
import subprocess

from launch import wait_until

PROGRAM = next((path for path in ('/usr/sbin/munged', '/usr/local/sbin/munged') if os.path.exists(path)), None)


def words(folder):
    """The command line of one whose files are in that folder, with a key that is made for it."""
    with open(f'{folder}/munge.key', 'wb') as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(os.urandom(128))
    where = [f'--{what}={folder}/munge.{end}' for what, end in
             (('key-file', 'key'), ('socket', 'socket'), ('pid-file', 'pid'), ('log-file', 'log'), ('seed-file', 'seed'))]
    return [PROGRAM or 'munged', '--foreground', '--force', *where]


class Munged:
    """Runs as long as the block does, and is found by whoever the variable reaches."""

    def __init__(self, folder):
        self.folder = folder
        self.socket = f'{folder}/munge.socket'

    def __enter__(self):
        self.process = subprocess.Popen(words(self.folder), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: os.path.exists(self.socket), 'the socket of munged')
        os.environ['HDSS_MUNGE_SOCKET'] = self.socket
        return self

    def __exit__(self, *unused):
        del os.environ['HDSS_MUNGE_SOCKET']
        self.process.terminate()
        self.process.wait()
