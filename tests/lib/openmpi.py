# SPDX-License-Identifier: MIT
"""What each version of Open MPI is told, for the lines that tests write by hand: the one place that knows the differences. `hdss run` has its own
(deploy/cli/openmpi.c), and is started without any of this.
"""
import functools
import os
import re
import subprocess
import tempfile


def version():
    """4, 5 .. of the mpirun on PATH; 4 where it does not say."""
    try:
        text = subprocess.run(['mpirun', '--version'], capture_output=True, text=True, check=False).stdout
    except OSError:
        text = ''
    found = re.match(r'mpirun \(Open MPI\) (\d+)', text)
    return int(found.group(1)) if found else 4


# Asked once: processes of the tests, such as the launch agents, inherit the answer.
if 'HDSS_TEST_OPENMPI' not in os.environ:
    os.environ['HDSS_TEST_OPENMPI'] = str(version())
VERSION = int(os.environ['HDSS_TEST_OPENMPI'])
IS_5 = VERSION >= 5

# In front of a line. PMIX_MCA_pmdl: without it version 5 crashes at each line of several programs (open-mpi/ompi#13303).
# PMIX_MCA_plog: mpirun of version 4 crashes now and then where a rank tells it of a connection that is gone.
VARIABLES = {'PMIX_MCA_pmdl': '^ompi'} if IS_5 else {'PMIX_MCA_plog': '^default'}
# On one machine, as `hdss run` has it there: a rank looks for no fabrics and describes no PCI devices, which takes most of its start. Recipes, and
# the lines of the manuals, are run without.
HERE = {**VARIABLES, 'OMPI_MCA_pml': 'ob1', 'OMPI_MCA_btl': 'self,sm' if IS_5 else 'self,vader', 'HWLOC_COMPONENTS': '-pci,-opencl,-gl,-linuxio',
        'HWLOC_PLUGINS_PATH': '/dev/null'}

# Version 5 numbers the ranks of several programs in their order only where they are mapped by slot.
SHARING_CORES = ['--map-by', 'slot:OVERSUBSCRIBE'] if IS_5 else ['--oversubscribe']

# For ranks of one machine that share no memory. Version 5 finds no way from one address of a machine to the same one.
OVER_TCP = {'btl': 'self,tcp', **({'btl_tcp_if_include': 'lo'} if IS_5 else {})}

# For ranks whose files may not grow: their shared memory is such a file.
WITHOUT_FILES = OVER_TCP

# Ranks may die: on several machines mpirun of version 4 would not return with the second option, and version 5 needs ULFM.
RECOVERING_5 = ['--enable-recovery', '--prtemca', 'state_base_error_non_zero_exit', '0']
RECOVERING = RECOVERING_5 if IS_5 else ['--mca', 'orte_abort_on_non_zero_status', '0', '--enable-recovery']
RECOVERING_FAR = [*RECOVERING_5, '--with-ft', 'ulfm'] if IS_5 else ['--mca', 'orte_abort_on_non_zero_status', '0']


# The component of PMIx that is left out with version 5 is who tells Open MPI's own variables to the ranks. MPICH has a variable of its own.
RANK_VARIABLE = 'PMI_RANK' if 'MPIRUN' in os.environ else 'PMIX_RANK' if IS_5 else 'OMPI_COMM_WORLD_RANK'


# One-sided operations over nodes.
ONE_SIDED_FAR = [] if IS_5 else ['--mca', 'osc', '^rdma']

# What --with-ft tells the ranks otherwise is told by that component, too.
FAULT_TOLERANT = {'mpi_ft_enable': 'true'} if IS_5 else {}
ULFM = {f'OMPI_MCA_{name}': value for name, value in FAULT_TOLERANT.items()}


def set_before(variables, line):
    return ['env', *(f'{name}={value}' for name, value in variables.items()), *line] if variables else line


@functools.cache
def memory():
    """A folder in memory, which is removed as this process ends."""
    return tempfile.TemporaryDirectory(prefix='hdss-test-', dir='/dev/shm')


def memory_of_its_own():
    """The variables by which a line has its session and the memory of its ranks in a folder of its own: two lines can get the same number, and
    mpirun of version 4 removes what sessions have in common."""
    folder = tempfile.mkdtemp(dir=memory().name)
    parameters = {f'{component}_backing_directory': folder for component in ('btl_sm' if IS_5 else 'btl_vader', 'osc_sm', 'osc_rdma')}
    return {f'OMPI_MCA_{name}': value for name, value in (parameters if IS_5 else {**parameters, 'orte_tmpdir_base': folder}).items()}


def mpirun(options=(), mca=()):
    """The words in front of the programs, on this machine. `mca` as variables: version 5 takes --mca for the first program alone."""
    parameters = {f'OMPI_MCA_{name}': value for name, value in dict(mca).items()}
    return set_before({**HERE, **memory_of_its_own(), **parameters}, ['mpirun', *SHARING_CORES, *options])


def network(agent):
    """The variables for nodes that are reached through eth0 and by this program in place of ssh."""
    messages = {'OMPI_MCA_btl_tcp_if_include': 'eth0', 'OMPI_MCA_pml': 'ob1'}
    if IS_5:
        return {**messages, 'OMPI_MCA_btl': 'self,sm,tcp', 'PRTE_MCA_plm_ssh_agent': agent, 'PRTE_MCA_plm_ssh_no_tree_spawn': '1',
                'PRTE_MCA_prte_if_include': 'eth0'}
    return {**messages, 'OMPI_MCA_btl': 'self,vader,tcp', 'OMPI_MCA_plm_rsh_agent': agent, 'OMPI_MCA_plm_rsh_no_tree_spawn': '1',
            'OMPI_MCA_oob_tcp_if_include': 'eth0'}


def over_nodes(hostfile):
    """Each program goes around the nodes, from the first one."""
    return SHARING_CORES if IS_5 else ['--hostfile', hostfile, '--map-by', 'node', '--oversubscribe']


def of_program(count, names, variables):
    """Version 5 numbers the ranks wrongly where it is to go around nodes with unlike many, and its ranks do not inherit the variables."""
    if not IS_5:
        return []
    hosts = [f'{name}:{(count - i - 1) // len(names) + 1}' for i, name in enumerate(names) if i < count]
    return ['--host', ','.join(hosts), *(word for name in variables if name.startswith('OMPI_MCA_') for word in ('-x', name))]


def rank_of(pid):
    """Its number in the launch, over MPI or not. OSError where the process is gone, KeyError where it is no rank."""
    with open(f'/proc/{pid}/environ', 'rb') as file:
        variables = dict(word.split(b'=', 1) for word in file.read().split(b'\0') if b'=' in word)
    if b'HDSS_LAUNCH' in variables:  # of hdss-fork: MEMORY:RANK:RANKS
        return int(variables[b'HDSS_LAUNCH'].split(b':')[1])
    return int(variables[RANK_VARIABLE.encode()])


def is_of_launcher(line):
    """A line of standard error that is mpirun's own: on a busy machine, or as ranks end."""
    return ' ORTE_ERROR_LOG: ' in line or line.startswith('[warn] Epoll MOD(') or (IS_5 and 'PMIX_ERR_UNREACH in file' in line)
