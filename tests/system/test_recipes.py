# SPDX-License-Identifier: MIT
"""The recipes of deploy/ that need no Slurm: lines written by hand, and the jobs of PBS and LSF, whose variables are pretended. mpirun is the real
one, on this machine and on pretended nodes.
"""
import glob
import os
import socket
import subprocess
import time

from launch import HDSS, finish, main, report, start
from nodes import NETWORK, Nodes, inside
from openmpi import IS_5

DEPLOY = os.path.join(os.environ['SOURCE_ROOT'], 'deploy')
SHORT = ['--report', 'report.json', 'synthetic', 'iterations=2000', 'mean=20']
SCRIPTS = [path for kind in ('mpirun/*.sh', 'slurm/*.sbatch', 'pbs/*.pbs', 'lsf/*.lsf') for path in sorted(glob.glob(os.path.join(DEPLOY, kind)))]


def run(name, words=SHORT, node=None, **variables):
    """A recipe, on this machine or on the first of pretended nodes, with the programs in the path."""
    path = f'{os.path.dirname(HDSS)}:{os.environ["PATH"]}'
    line = ['env', f'PATH={path}', *(f'{key}={value}' for key, value in variables.items()), 'bash', os.path.join(DEPLOY, name), *words]
    return finish(start(inside(node, line) if node else line))


def done(result):
    assert result.status == 0, result
    figures = report()
    os.remove('report.json')
    return figures


def workers_on(figures):
    nodes = [row['node'] for row in figures['worker_stats']]
    return [nodes.count(node) for node in range(figures['nodes'])]


def masters_of(figures):
    """{(node, the rank of its master)}. Version 5 has ranks in another order: there each node has one, and another one."""
    pairs = {(row['node'], row['master']) for row in figures['worker_stats']}
    if not IS_5:
        return pairs
    assert len(pairs) == len({node for node, _ in pairs}) == len({master for _, master in pairs}), pairs
    return {(node, node + 1) for node, _ in pairs}


def on_nodes(count, test):
    try:
        with Nodes(count) as nodes:
            test(nodes, NETWORK)
    except OSError as problem:
        return str(problem)


def write_lines(path, lines):
    with open(path, 'w') as file:
        file.writelines(f'{line}\n' for line in lines)


def test_bash_reads_all_of_them():
    assert len(SCRIPTS) == 8, SCRIPTS
    for path in SCRIPTS:
        read = subprocess.run(['bash', '-n', path], capture_output=True, text=True, check=False)
        assert read.returncode == 0 and not read.stderr, (path, read)
        assert os.access(path, os.X_OK), path


def test_lines_for_one_machine():
    for topology, masters in (('hierarchical', 2), ('central', 0), ('flat', 0)):
        figures = done(run('mpirun/one-machine.sh', [topology, *SHORT], WORKERS=3))
        assert figures['masters'] == masters and len(figures['worker_stats']) == 3, figures
    refused = run('mpirun/one-machine.sh', ['circular'])
    assert refused.status == 2 and refused.err == ["one-machine.sh: 'circular': accepted: hierarchical, central, flat"], refused


def test_a_line_for_several_nodes():
    def test(nodes, network):
        figures = done(run('mpirun/several-nodes.sh', [','.join(f'{name}:2' for name in nodes.names), *SHORT], nodes.names[0], **network))
        assert figures['masters'] == 3 and workers_on(figures) == [2, 2, 2], figures
        assert masters_of(figures) == {(0, 1), (1, 2), (2, 3)}, figures
    for nodes in ('', 'a', 'a:0', 'a:2,b:3', 'a:2,,b:2', '-a:2'):
        refused = run('mpirun/several-nodes.sh', [nodes, *SHORT])
        assert refused.status == 2 and len(refused.err) == 1, refused
    return on_nodes(3, test)


def test_jobs_of_pbs_and_lsf_on_one_node():
    here = socket.gethostname()
    write_lines('nodes', 3 * [here])
    for name, variables in (('pbs/hdss.pbs', {'PBS_NODEFILE': 'nodes'}), ('lsf/hdss.lsf', {'LSB_MCPU_HOSTS': f'{here} 3'}),
                            ('lsf/hdss.lsf', {'LSB_DJOB_HOSTFILE': 'nodes'}), ('lsf/hdss.lsf', {'LSB_HOSTS': f'{here} {here} {here}'})):
        figures = done(run(name, **variables))
        assert figures['masters'] == 0 and workers_on(figures) == [3], (name, variables, figures)


def test_jobs_of_pbs_and_lsf_on_several_nodes():
    def test(nodes, network):
        first, second = nodes.names
        write_lines('nodes', [first, first, first, second, second])
        for name, variables in (('pbs/hdss.pbs', {'PBS_NODEFILE': 'nodes'}), ('lsf/hdss.lsf', {'LSB_MCPU_HOSTS': f'{first} 3 {second} 2'}),
                                ('lsf/hdss.lsf', {'LSB_DJOB_HOSTFILE': 'nodes'}), ('lsf/hdss.lsf', {'LSB_HOSTS': f'{first} {first} {first} {second} {second}'})):
            figures = done(run(name, node=first, **variables, **network))
            assert figures['masters'] == 2 and workers_on(figures) == [3, 2], (name, variables, figures)
            assert masters_of(figures) == {(0, 1), (1, 2)}, figures
        figures = done(run('pbs/hdss.pbs', ['--master-core', 'reserved', *SHORT], first, PBS_NODEFILE='nodes', **network))
        assert figures['masters'] == 2 and workers_on(figures) == [2, 1], figures
    return on_nodes(2, test)


def test_a_job_of_one_core_of_each_node_is_told():
    variables = {'SLURM_JOB_ID': '9', 'SLURM_JOB_END_TIME': str(int(time.time()) + 100000), 'SLURM_JOB_NODELIST': 'a,b', 'SLURM_JOB_CPUS_PER_NODE': '1(x2)'}
    note = 'hdss run: the job has one core of each node; with --exclusive salloc and sbatch give whole nodes'
    for others, said in (({}, [note]), ({'SLURM_NTASKS': '2', 'SLURM_TASKS_PER_NODE': '1(x2)'}, []), ({'SLURM_JOB_CPUS_PER_NODE': '2,1'}, [])):
        words = [f'{key}={value}' for key, value in {**variables, **others}.items()]
        shown = finish(start(['env', *words, HDSS, 'run', '--dry-run', 'synthetic']))
        assert shown.status == 0 and [line for line in shown.err if 'one core' in line] == said, (others, shown)


def test_a_job_that_cannot_be_understood_starts_nothing():
    for variables, text in (({'PBS_NODEFILE': 'missing'}, 'PBS_NODEFILE: missing: No such file or directory'),
                            ({'LSB_MCPU_HOSTS': 'a 4 b'}, "LSB_MCPU_HOSTS: '' cores: accepted: hosts, each with a number behind it: node1 16 node2 8"),
                            ({'SLURM_JOB_NODELIST': 'n[2-1]'},
                             "SLURM_JOB_NODELIST: 'n[2-1]': accepted: node names with ranges in brackets, separated by commas: n[01-04,7],gpu3")):
        refused = run('pbs/hdss.pbs', **variables)
        assert refused.status == 2 and refused.err == [f'hdss run: {text}; or name the hosts by --hosts'], refused
        named = finish(start(['env', *(f'{key}={value}' for key, value in variables.items()), HDSS, 'run', '--hosts', 'localhost:2', *SHORT]))
        assert workers_on(done(named)) == [2], named


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
