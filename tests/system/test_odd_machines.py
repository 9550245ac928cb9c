# SPDX-License-Identifier: MIT
"""Machines that lack something: it works all the same, and a line says so if it has to do with less. Each is a namespace, or a limit, of its own."""
import os
import subprocess
import sys

from launch import HDSS, finish, main, run, start

TASKS = [HDSS, 'exec', '-k', '-j2', 'echo', ':::', '1', '2', '3']
LOOP = [HDSS, 'run', '--quiet', '--workers', '3', '--output', 'out.npy', '--overwrite', 'mandelbrot', 'width=64', 'height=64']
OTHER = '54321'  # a user without a name


def shell(*commands):
    """A line of bash that does these in turn, and then what its arguments say."""
    return ['bash', '-c', ' && '.join([*commands, 'exec "$@"']), 'bash']


def space(*commands):
    """The same in a mount namespace."""
    return ['unshare', '--mount', *shell(*commands)]


def refuses(*words):
    """Why this machine does not let the commands be run; None where it does."""
    result = subprocess.run([*words, 'true'], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    return None if result.returncode == 0 else (result.stderr.strip().splitlines() or ['it is not allowed'])[-1]


def expected():
    if not os.path.exists('expected.npy'):
        result = run(LOOP)
        assert result.status == 0, result
        os.rename('out.npy', 'expected.npy')
    with open('expected.npy', 'rb') as file:
        return file.read()


def works(*around, notes=0):
    """Tasks and a loop give what they give elsewhere, with so many lines of notes of each."""
    for line in (TASKS, LOOP):
        result = run([*around, *line])
        assert result.status == 0 and len(result.err) <= notes, (around, result)
        if line is TASKS:
            assert result.out == '1\n2\n3\n', (around, result)
    with open('out.npy', 'rb') as file:
        content = file.read()
    assert content == expected(), around


def works_if_allowed(*around):
    """The same where this machine lets the commands be run; else why it does not."""
    reason = refuses(*around)
    if reason is None:
        works(*around)
    return reason


def test_few_descriptors():
    expected()
    for most in (48, 30):
        works(*shell(f'ulimit -n {most}'))
        for masters, workers in ((1, 50), (2, 16)):  # who serves watches all others, by a descriptor each as far as there are enough
            result = run([*shell(f'ulimit -n {most}'), *LOOP[:3], '--masters', masters, '--workers', workers, *LOOP[5:]])
            assert result.status == 0 and not result.err, (most, masters, result)
    for most in range(6, 20):  # fewer than it needs, at one place or another
        result = run([*shell(f'ulimit -n {most}'), *LOOP])
        assert result.status == 0 or (result.status in (1, 2, 127) and result.err), (most, result)


def test_more_ranks_than_the_machine_allows():
    """What the ranks share counts as a file. Nothing is started."""
    for limit, words, said in (('-f 10240', ['--carrier', 'local', '--workers', '6'], 'ulimit -f allows too little for the memory that 7 processes share; accepted: more, fewer workers, or --carrier mpi'),
                               ('-f 1', ['--workers', '2'], 'ulimit -f allows too little for the memory that 3 processes share; accepted: more'),
                               ('-v 1000000', ['--carrier', 'local', '--workers', '100'], 'ulimit -v allows too little'),
                               ('-c 0', ['--workers', '5000'], '5001 processes in all; accepted: 1024, or --carrier mpi')):
        result = run([*shell(f'ulimit {limit}'), *LOOP[:3], *words, *LOOP[5:]])
        assert result.status == 2 and len(result.err) == 1 and said in result.err[0], (limit, result)


def composed(*words, **variables):
    result = run(['env', *(f'{name}={value}' for name, value in variables.items()), HDSS, 'run', '--dry-run', *words, 'synthetic', 'iterations=20'])
    return result.status, result.out + result.raw_err


def test_the_carrier_that_the_environment_names():
    """It is what --carrier is if that is not given."""
    for words, carrier, expected in (([], 'local', 'hdss-fork'), (['--dca', 'rma'], 'local', 'hdss-fork'), (['--dca', 'node', '--workers', '1024'], 'auto', 'hdss-fork'),
                                     (['--carrier', 'auto'], 'mpi', 'hdss-fork'), (['--carrier', 'local'], 'mpi', 'hdss-fork')):
        status, said = composed(*words, HDSS_CARRIER=carrier)
        assert status == 0 and expected in said, (words, carrier, said)
    for words, carrier, expected in ((['--dca', 'two-sided'], 'local', '--carrier local: --dca two-sided is of a launch by mpirun'),
                                     (['--workers', '1024'], 'local', '1025 processes in all; accepted: 1024'), ([], 'both', "HDSS_CARRIER='both': accepted: auto, local, mpi")):
        status, said = composed(*words, HDSS_CARRIER=carrier)
        assert status == 2 and expected in said, (words, carrier, said)
    result = run([HDSS, 'exec', '--carrier', 'local', 'echo', ':::', '1'])
    assert result.status == 0 and result.out == '1\n', result


def test_few_processes():
    os.chmod('.', 0o777)
    around = ['setpriv', '--reuid', OTHER, '--regid', OTHER, '--clear-groups', *shell('ulimit -u 9')]
    reason = refuses(*around)
    if reason is not None:
        return reason
    result = run([*around, HDSS, 'run', '--workers', '16', '--output', 'out.npy', *LOOP[LOOP.index('mandelbrot'):]])
    assert result.status == 0 and len(result.err) == 1 and 'the run goes on with' in result.err[0], result
    with open('out.npy', 'rb') as file:
        assert file.read() == expected()
    return None


def test_a_user_without_a_name_and_home():
    os.chmod('.', 0o777)
    around = ['setpriv', '--reuid', OTHER, '--regid', OTHER, '--clear-groups', 'env', '-u', 'HOME', '-u', 'USER', '-u', 'LOGNAME', '-u', 'XDG_RUNTIME_DIR']
    return works_if_allowed(*around)


def test_nowhere_to_write():
    os.mkdir('read-only')
    around = space('mount -t tmpfs -o ro none read-only', 'export HOME="$PWD/read-only" TMPDIR="$PWD/read-only" XDG_RUNTIME_DIR=')
    reason = refuses(*around)
    if reason is not None:
        return reason
    works(*around, notes=1)
    result = run([*around, *TASKS])
    assert 'read-only: no folder can be made there (Read-only file system): what tasks print is kept in /tmp meanwhile' in result.err[0], result
    return None


def test_long_names():
    folder = os.path.abspath('/'.join(['x' * 90] * 2))
    os.makedirs(folder)
    works('env', f'TMPDIR={folder}', 'XDG_RUNTIME_DIR=')
    around = ['unshare', '--uts', *shell(f'hostname {"h" * 64}')]
    return works_if_allowed(*around)


def test_little_shared_memory():
    reason = works_if_allowed(*space('mount -t tmpfs none /dev', 'mknod /dev/null c 1 3', 'chmod 666 /dev/null'))
    if reason is None:
        works(*space('mount -t tmpfs -o size=64k none /dev/shm'))
    return reason


def test_the_folder_has_gone():
    os.makedirs('gone')
    result = run([*shell('cd gone', 'rmdir ../gone'), *TASKS])
    assert result.status == 0 and result.out == '1\n2\n3\n' and not result.err, result


def test_others_are_hidden():
    """/proc shows a user no processes but the own ones."""
    os.chmod('.', 0o777)
    around = ['unshare', '--mount', '--pid', '--fork', *shell('mount -t proc -o hidepid=2 proc /proc'), 'setpriv', '--reuid', OTHER, '--regid', OTHER, '--clear-groups']
    return works_if_allowed(*around)


def test_no_processes_are_visible():
    """Without /proc nothing is left behind, either."""
    os.mkdir('temporary')
    around = space('mount -t tmpfs none /proc', 'export XDG_RUNTIME_DIR= TMPDIR="$PWD/temporary"')
    reason = works_if_allowed(*around)
    if reason is not None:
        return reason
    for _ in range(20):  # ranks that are killed leave files, which the next run clears away
        result = run([*around, *TASKS])
        assert result.status == 0 and os.listdir('temporary') == [], (os.listdir('temporary'), result)
    return None


def test_a_container_without_privileges():
    around = ['unshare', '--user', '--map-root-user', '--mount', '--pid', '--fork', *shell('mount -t proc proc /proc')]
    return works_if_allowed(*around)


def test_inside_a_launch_of_mpi():
    """The only rank does what any process may. Of several each would launch a run of its own."""
    around = ['env', 'OMPI_COMM_WORLD_RANK=0', 'PMIX_RANK=0']
    works(*around, 'OMPI_COMM_WORLD_SIZE=1')
    works('env', 'SLURM_STEP_ID=0', 'SLURM_STEP_NUM_TASKS=1', 'SLURM_PROCID=0', 'PMI_RANK=0', 'PMI_SIZE=1')
    result = run([*around, 'OMPI_COMM_WORLD_SIZE=2', *TASKS])
    assert result.status == 2 and len(result.err) == 1 and 'without mpirun in front' in result.err[0], result


def test_children_are_ignored():
    """SIGCHLD, by whoever starts the command."""
    ignoring = 'import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execvp(sys.argv[1], sys.argv[1:])'
    works(sys.executable, '-c', ignoring)


def test_one_core():
    works('taskset', '--cpu-list', str(min(os.sched_getaffinity(0))))
    process = start(['taskset', '--cpu-list', str(min(os.sched_getaffinity(0))), HDSS, 'run', '--dry-run', 'mandelbrot'])
    assert '-n 1 ' + os.environ['WORKER'] in finish(process).out


def test_a_share_of_a_core():
    """Half a core and one, as a control group says."""
    with open('/proc/self/cgroup', encoding='ascii') as file:
        if not any(line.startswith('0::') for line in file):
            return 'no control groups of version 2'
    for quota in (50000, 100000):
        around = space('mount -t tmpfs none /sys/fs/cgroup', f'echo "{quota} 100000" >/sys/fs/cgroup/cpu.max')
        reason = works_if_allowed(*around)
        if reason is not None:
            return reason
        assert '-n 1 ' + os.environ['WORKER'] in run([*around, HDSS, 'run', '--dry-run', 'mandelbrot']).out
    return None


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
