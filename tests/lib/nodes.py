# SPDX-License-Identifier: MIT
"""Several pretended nodes on one machine, as root: a network namespace each (veth pairs to a bridge in a namespace of its own), with its own
host name, /dev/shm and temporary folder. MPI sees different nodes, and what goes between them really crosses a network.

As a program it is the launch agent that mpirun calls in place of ssh.
"""
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys

import openmpi

HDSS = os.environ.get('HDSS', '')
NETWORK = openmpi.network(agent=f'{sys.executable} {os.path.abspath(__file__)}')
PREFIX = f'hdss{os.getpid()}'


def ip(*words, check=True):
    return subprocess.run(['ip', *map(str, words)], capture_output=True, text=True, check=check)


class Nodes:
    """with Nodes(4) as nodes: nodes.mpirun(contexts, ...); raises OSError where this machine cannot pretend."""

    def __init__(self, count):
        self.names = [f'{PREFIX}n{i}' for i in range(count)]
        self.bridge = f'{PREFIX}br'

    def __enter__(self):
        if os.getuid() != 0:
            raise OSError('pretended nodes need root')
        if shutil.which('ip') is None:
            raise OSError('pretended nodes need ip, of iproute2')
        try:
            self._build()
        except subprocess.CalledProcessError as problem:
            self.__exit__()
            raise OSError(f'pretended nodes need network namespaces: {problem.stderr}') from None
        return self

    def _build(self):
        ip('netns', 'add', self.bridge)
        ip('-n', self.bridge, 'link', 'add', 'br0', 'type', 'bridge')
        ip('-n', self.bridge, 'link', 'set', 'br0', 'up')
        for i, name in enumerate(self.names):
            ip('netns', 'add', name)
            ip('-n', name, 'link', 'set', 'lo', 'up')
            ip('-n', self.bridge, 'link', 'add', f'v{i}', 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name)
            ip('-n', self.bridge, 'link', 'set', f'v{i}', 'master', 'br0', 'up')
            ip('-n', name, 'address', 'add', f'10.77.0.{i + 1}/24', 'dev', 'eth0')
            ip('-n', name, 'link', 'set', 'eth0', 'up')
            folder = f'/etc/netns/{name}'
            os.makedirs(folder)
            with open(f'{folder}/hosts', 'w') as hosts:
                hosts.write('127.0.0.1 localhost\n')
                hosts.writelines(f'10.77.0.{j + 1} {other}\n' for j, other in enumerate(self.names))

    def __exit__(self, *_):
        for name in [*self.names, self.bridge]:
            ip('netns', 'delete', name, check=False)
            for path in (f'/etc/netns/{name}/hosts',):
                if os.path.exists(path):
                    os.remove(path)
                    os.rmdir(os.path.dirname(path))

    def ranks(self):
        """{rank: (pid, node, program)} of the ranks that run, as Open MPI numbers them in the environment."""
        found = {}
        for node, name in enumerate(self.names):
            for pid in self.processes(node):
                try:
                    found[openmpi.rank_of(pid)] = (pid, node, os.path.realpath(f'/proc/{pid}/exe'))
                except (OSError, KeyError):
                    pass
        return found

    def running(self, program):
        """The processes of that program, on any node."""
        found = []
        for pid in (pid for node in range(len(self.names)) for pid in self.processes(node)):
            with contextlib.suppress(OSError):
                if os.path.realpath(f'/proc/{pid}/exe') == os.path.realpath(program):
                    found.append(pid)
        return found

    def processes(self, node):
        return [int(pid) for pid in ip('netns', 'pids', self.names[node], check=False).stdout.split()]

    def kill(self, node):
        """The whole node, with mpirun's daemon on it."""
        for pid in self.processes(node):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def cut(self, node):
        """Nothing reaches it any more, and nobody is told."""
        ip('-n', self.bridge, 'link', 'set', f'v{node}', 'nomaster')

    def mend(self, node):
        ip('-n', self.bridge, 'link', 'set', f'v{node}', 'master', 'br0')

    def packets_from(self, node):
        """How many packets have come from it so far."""
        return json.loads(ip('-n', self.bridge, '-s', '-j', 'link', 'show', f'v{node}').stdout)[0]['stats64']['rx']['packets']

    def line(self, contexts, slots=8, options=()):
        """The command that runs an MPMD line over the nodes, round robin."""
        with open('hostfile', 'w') as file:
            file.writelines(f'{name} slots={slots}\n' for name in self.names)
        variables = {**openmpi.VARIABLES, **NETWORK, **(openmpi.ULFM if '--with-ft' in options else {})}
        words = ['mpirun', *openmpi.over_nodes(os.path.abspath('hostfile')), '--bind-to', 'none', *options]
        for i, (count, program) in enumerate(contexts):
            words += ([':'] if i else []) + ['-n', str(count), *openmpi.of_program(count, self.names, variables), *map(str, program)]
        return inside(self.names[0], openmpi.set_before(variables, words))

    def hdss(self, words, slots=8):
        """The command of an `hdss run` on the first of the nodes, which are its hosts, filled one after another."""
        hosts = ','.join(f'{name}:{slots}' for name in self.names)
        return inside(self.names[0], openmpi.set_before(NETWORK, [HDSS, 'run', '--hosts', hosts, *map(str, words)]))


def inside(name, words):
    """A command line that runs `words` on the pretended node."""
    prepare = f'hostname {name}; mount -t tmpfs none /dev/shm; export TMPDIR=/dev/shm; exec "$@"'
    return ['ip', 'netns', 'exec', name, 'unshare', '--uts', '--ipc', '--mount', 'sh', '-c', prepare, 'sh', *words]


def agent(words):
    """mpirun calls: AGENT [ssh options] HOST COMMAND..., the command one or several words for a shell."""
    while words and words[0].startswith('-'):
        words = words[1:]
    host, command = words[0], ' '.join(words[1:])
    line = inside(host, ['sh', '-c', command])
    os.execvp(line[0], line)


if __name__ == '__main__':
    agent(sys.argv[1:])
