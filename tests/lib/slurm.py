# SPDX-License-Identifier: MIT
"""A Slurm of one's own on pretended nodes: munged, slurmctld and a slurmd on each, from the Debian packages, without systemd and beside any
Slurm that the machine may have. Everything of it is in one folder, and ends with it.
"""
import os
import shutil
import subprocess

import munged
from launch import HDSS, environment, wait_until
from nodes import Nodes, inside

# The states in which a job has not ended. One that is COMPLETING has, but Slurm waits for its nodes.
RUNNING = ('PENDING', 'CONFIGURING', 'RUNNING')
PROGRAMS = ('munged', 'slurmctld', 'slurmd', 'sbatch', 'srun', 'scontrol')
CONFIGURATION = """\
ClusterName=pretended
SlurmctldHost={first}({address})
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=pmix
ReturnToService=2
SchedulerParameters=sched_min_interval=0,batch_sched_delay=0
KillWait=5
SlurmdParameters=config_overrides
{nodes}
PartitionName=all Nodes={names} Default=YES MaxTime=60 State=UP
"""


def missing():
    """The first program of Slurm that is not installed."""
    path = os.environ.get('PATH', '') + ':/usr/sbin:/sbin'
    return next((name for name in PROGRAMS if shutil.which(name, path=path) is None), None)


class Slurm:
    """with Slurm([4, 4]) as slurm: job = slurm.submit(script, ...); raises OSError where this machine cannot run one."""

    def __init__(self, cores):
        self.nodes, self.cores, self.processes = Nodes(len(cores)), cores, []
        self.folder = os.path.abspath('slurm')

    def __enter__(self):
        lacking = missing()
        if lacking is not None:
            raise OSError(f'there is no {lacking}: Debian has munge, slurmctld, slurmd and slurm-client')
        self.nodes.__enter__()
        try:
            self._start()
        except AssertionError as late:
            said = self.last_words()
            self.__exit__()
            raise OSError(f'Slurm does not start here, {late}: {said}') from None
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.terminate()
        for process in reversed(self.processes):
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for node in range(len(self.nodes.names)):
            self.nodes.kill(node)
        self.nodes.__exit__()

    def _start(self):
        os.makedirs(f'{self.folder}/state')
        self._configure()
        self._start_munge()
        names = self.nodes.names
        self._start_on(names[0], ['slurmctld', '-D', '-i', '-f', self.configuration])
        for name in names:
            self._start_on(name, ['slurmd', '-D', '-N', name, '-f', self.configuration])
        self._wait(lambda: self.idle() == len(names), 'nodes that are idle')

    def _configure(self):
        names = self.nodes.names
        nodes = '\n'.join(f'NodeName={name} NodeAddr=10.77.0.{i + 1} CPUs={self.cores[i]} RealMemory=100 State=UNKNOWN'
                          for i, name in enumerate(names))
        self.configuration = f'{self.folder}/slurm.conf'
        with open(self.configuration, 'w') as file:
            file.write(CONFIGURATION.format(first=names[0], address='10.77.0.1', folder=self.folder, nodes=nodes, names=','.join(names)))
        with open(f'{self.folder}/cgroup.conf', 'w') as file:
            file.write('CgroupPlugin=cgroup/v1\n')
        with open(f'{self.folder}/mpi.conf', 'w') as file:
            file.write('PMIxCliTmpDirBase=/dev/shm\n')

    def _start_munge(self):
        self._run(munged.words(self.folder))
        self._wait(lambda: os.path.exists(f'{self.folder}/munge.socket'), 'the socket of munged')

    def _start_on(self, node, words):
        self._run(inside(node, words))

    def _run(self, words):
        log = open(f'{self.folder}/started.log', 'ab')  # pylint: disable=consider-using-with
        self.processes.append(subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment()))
        log.close()

    def _wait(self, condition, what):
        def holds():
            if any(process.poll() is not None for process in self.processes):
                raise OSError(f'Slurm does not start here: {self.last_words()}')
            return condition()
        wait_until(holds, what)

    def last_words(self):
        """What the daemons have said last."""
        text = ''
        for name in sorted(os.listdir(self.folder)):
            if name.endswith('.log'):
                with open(f'{self.folder}/{name}', errors='replace') as file:
                    text += ''.join(f'{name}: {line}' for line in file.readlines()[-8:])
        return text or 'not a word'

    def environment(self):
        env = environment()
        env.update(SLURM_CONF=getattr(self, 'configuration', ''), HDSS_MUNGE_SOCKET=f'{self.folder}/munge.socket', PATH=f'{os.path.dirname(HDSS)}:{env["PATH"]}:/usr/sbin:/sbin')
        return env

    def ask(self, *words):
        """What a command of Slurm says, called on the first node."""
        return subprocess.run(inside(self.nodes.names[0], words), capture_output=True, text=True, env=self.environment(), check=False)

    def idle(self):
        return self.ask('scontrol', 'show', 'nodes', '-o').stdout.count('State=IDLE ')

    def submit(self, script, words=(), options=()):
        """The number of a new job, which prints into job.out."""
        said = self.ask('sbatch', '--parsable', '--output=job.out', '--time=5', *options, script, *map(str, words))
        assert said.returncode == 0, said
        return said.stdout.strip()

    def facts(self, job):
        """{name: value} of what scontrol says of the job."""
        said = self.ask('scontrol', 'show', 'job', '-o', job).stdout
        return dict(word.split('=', 1) for word in said.split() if '=' in word)

    def is_there(self, job):
        """Whether the job has still to begin, or to end."""
        return self.facts(job).get('JobState') in RUNNING

    def wait(self, job):
        """The exit status of the job, or the signal of which it died as a negative number; and what it has printed."""
        try:
            wait_until(lambda: not self.is_there(job), f'the end of job {job}', share=1)
        except AssertionError as late:
            self.ask('scancel', job)
            raise AssertionError(f'{late}\n{text_of("job.out")}\n{self.last_words()}') from None
        status, number = map(int, self.facts(job)['ExitCode'].split(':'))
        return -number if number else status, text_of('job.out')


def text_of(path):
    if not os.path.exists(path):
        return ''
    with open(path, errors='replace') as file:
        return file.read()
