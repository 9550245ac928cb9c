# SPDX-License-Identifier: MIT
"""hdss run and the launcher: which one is taken, what it is given, and what is said where it cannot work. Nothing is started then."""
import os
import re
import shutil
import subprocess

import openmpi
from launch import HDSS, SUPERMASTER, WORKER, finish, hurry, main, mpirun_line, report, run, shared_memory, start, unhurried, wait_until

os.environ['HDSS_CARRIER'] = 'mpi'

JOB = ['synthetic', 'iterations=20', 'mean=1']


def refused(result, *texts):
    assert result.status == 2 and len(result.err) == 1 and result.out == '', result
    assert all(text in result.err[0] for text in texts), (texts, result)


def set_variables(**variables):
    os.environ.update(variables)


def unset_variables(*names):
    for name in names:
        os.environ.pop(name, None)


def session_folder():
    return f"ompi.{os.uname().nodename.split('.')[0]}.{os.geteuid()}"


def composed(*words):
    result = run([HDSS, 'run', '--dry-run', *words, *JOB])
    assert result.status == 0, result
    return result.out.splitlines()[0]


def test_a_launcher_that_starts_no_rank_is_no_success():
    shutil.copy(shutil.which('true'), 'silent')
    result = run([HDSS, 'run', '--mpirun', './silent', *JOB])
    assert result.status == 1 and 'no rank has said how the run went' in result.raw_err, result
    result = run([HDSS, 'run', '--mpirun', './silent', '--dca', 'rma', *JOB])
    assert result.status == 1 and 'no rank has said how the run went' in result.raw_err, result
    result = run([HDSS, 'run', '--workers', '1', '--dca', 'rma', *JOB])
    assert result.status == 0, result


def test_the_folder_of_the_sessions_is_kept_while_a_run_needs_it():
    """mpirun of another run removes it when it is empty, of version 4, which has all sessions of a user in one."""
    if openmpi.IS_5:
        return 'version 5 has a folder for each run'
    os.mkdir('temporary')
    with open('removing', 'w', encoding='ascii') as file:
        file.write('#!/bin/sh\n[ "$1" = --version ] && exec mpirun --version\n'
                   'rmdir temporary/ompi.* 2>/dev/null; ls -d temporary/ompi.*/* >there\nexec mpirun "$@"\n')
    os.chmod('removing', 0o755)
    os.mkdir('temporary/' + session_folder())
    forgotten = f'temporary/{session_folder()}/hdss.999999999'  # no process has that number
    os.mkdir(forgotten)
    elsewhere = ['env', '-u', 'OMPI_MCA_orte_tmpdir_base', 'TMPDIR=' + os.path.abspath('temporary')]
    result = run([*elsewhere, HDSS, 'run', '--mpirun', './removing', '--workers', '1', *JOB])
    assert result.status == 0, result
    with open('there', encoding='ascii') as file:
        assert re.fullmatch(r'temporary/ompi\.[\w-]+\.\d+/hdss\.\d+\n', file.read()) and not os.path.exists(forgotten)
    assert os.listdir('temporary') == [], os.listdir('temporary')
    return None


def test_a_launcher_that_is_not_there():
    refused(run([HDSS, 'run', '--mpirun', './nosuch', *JOB]), '--mpirun ./nosuch', 'no such program', 'Open MPI')
    path, os.environ['PATH'] = os.environ['PATH'], '/nonexistent'
    try:
        refused(run([HDSS, 'run', *JOB]), 'mpirun is not on PATH', '--mpirun PROGRAM')
    finally:
        os.environ['PATH'] = path


def other_launcher(text):
    with open('mpirun', 'w') as file:
        file.write(f'#!/bin/sh\n[ "$1" = --version ] && echo "{text}" && exit\ntouch started\n')
    os.chmod('mpirun', 0o755)


def programs_with(*carriers):
    """Copies of the programs in a folder that has these carriers alone."""
    folder = os.path.abspath('-'.join(['with', *carriers]))
    os.mkdir(folder)
    for path in (HDSS, SUPERMASTER, WORKER, *(f'{os.path.dirname(HDSS)}/carrier-{name}.so' for name in carriers)):
        shutil.copy(path, folder)
    os.environ.pop('HDSS_MODULES', None)
    return [os.path.join(folder, os.path.basename(path)) for path in (HDSS, SUPERMASTER, WORKER)]


def test_a_launcher_without_a_carrier_is_told_apart():
    hdss = programs_with('openmpi')[0]
    other_launcher('HYDRA build details:\n    Version:   4.0.2')
    refused(run([hdss, 'run', '--mpirun', './mpirun', *JOB]), './mpirun', 'MPICH 4.0.2', 'there is that of Open MPI', 'install hdss-mpich', '--mpirun mpirun')
    other_launcher('slurm-wlm 22.05.8')
    refused(run([hdss, 'run', '--mpirun', './mpirun', *JOB]), 'Slurm', 'Open MPI')
    refused(run([programs_with()[0], 'run', '--mpirun', 'mpirun', *JOB]), 'there is none', 'install hdss-openmpi')
    assert not os.path.exists('started')


def test_programs_without_a_carrier():
    _, supermaster, worker = programs_with()
    refused(run([supermaster, *JOB]), 'this HDSS has no carrier', 'install hdss-openmpi or hdss-mpich', 'hdss run')
    result = run(mpirun_line([(1, [supermaster, *JOB]), (2, [worker])]))
    said = [line for line in result.err if line.startswith('hdss: ')]
    assert result.status == 2 and len(said) == 1 and result.out == '', result
    assert 'supermaster is a rank of Open MPI (OMPI_COMM_WORLD_SIZE is set)' in said[0] and 'install hdss-openmpi' in said[0], result


def test_a_carrier_of_another_version():
    _, supermaster, _ = programs_with('openmpi')
    path = os.path.join(os.path.dirname(supermaster), 'carrier-openmpi.so')
    for text, said in (('const unsigned hdss_carrier[2] = {77};', 'its table is 77'), ('int nothing;', 'hdss_carrier')):
        os.remove(path)
        subprocess.run(['cc', '-shared', '-fPIC', '-x', 'c', '-o', path, '-'], input=text, text=True, check=True)
        refused(run([supermaster, *JOB]), said)


def test_another_library_first_on_path_is_passed_over():
    other_launcher('HYDRA build details:\n    Version:   4.0.2')
    path, os.environ['PATH'] = os.environ['PATH'], f'{os.getcwd()}:{os.environ["PATH"]}'
    try:
        if not any(shutil.which(name) for name in ('mpiexec', 'mpirun.openmpi', 'mpiexec.openmpi')):
            return 'Open MPI has no other name here'
        result = run([HDSS, 'run', '--workers', '1', *JOB])
    finally:
        os.environ['PATH'] = path
    assert result.status == 0 and not os.path.exists('started'), result


def test_a_hand_written_line_of_another_library():
    mpiexec = shutil.which('mpiexec.mpich')
    if mpiexec is None:
        return 'there is no mpiexec.mpich'
    _, supermaster, worker = programs_with('openmpi')
    result = run([mpiexec, '-n', '1', supermaster, *JOB, ':', '-n', '2', worker])
    said = [line for line in result.err if line.startswith('hdss: ')]
    assert result.status == 2 and len(said) == 1 and result.out == '', result
    assert 'supermaster is a rank of MPICH' in said[0] and 'there is that of Open MPI' in said[0] and 'install hdss-mpich' in said[0], result


def test_a_rank_launches_nothing():
    for name, value in (('OMPI_COMM_WORLD_RANK', '1'), ('PMIX_RANK', '0'), ('PMI_RANK', '0')):
        set_variables(**{name: value})
        refused(run([HDSS, 'run', *JOB]), name, 'without mpirun in front')
        unset_variables(name)
    set_variables(SLURM_STEP_ID='0', SLURM_STEP_NUM_TASKS='4')
    refused(run([HDSS, 'run', *JOB]), 'one of several tasks of srun')
    unset_variables('SLURM_STEP_ID', 'SLURM_STEP_NUM_TASKS')


def test_one_machine_is_told_so():
    unset_variables('HWLOC_COMPONENTS')  # what its user has set stays
    line = composed('--workers', '2')
    assert 'OMPI_MCA_pml=ob1' in line and 'OMPI_MCA_btl=self,' in line and 'HWLOC_COMPONENTS=' in line, line
    assert '--enable-recovery' in line, line
    assert ('PMIX_MCA_pmdl=^ompi' in line) == openmpi.IS_5, line
    assert ('orte_abort_on_non_zero_status' in line) == (not openmpi.IS_5), line
    assert '--oversubscribe' not in line, line
    # Workers alone say themselves which of them was lost where they see each other.
    for mode in ('rma', 'two-sided:exchanges=2', 'node'):
        assert '--enable-recovery' in composed('--workers', '2', '--dca', mode), mode
        assert '--enable-recovery' not in composed('--workers', '2', '--dca', mode, '--hosts', 'localhost:1,b:1'), mode
    for words in (['--one-launch', '--hosts', 'a:2,b:2'], ['--mpi-args', '--hostfile hosts']):
        line = composed('--workers', '4', *words)
        assert 'OMPI_MCA' not in line and 'HWLOC' not in line, line


def memory_of_ranks(*processes):
    """Files that ranks below the processes share, as Open MPI names them by the machine, the user, the job and the rank."""
    paths = set().union(*map(shared_memory, processes))
    return sorted(path for path in paths if '_segment.' in path)


def test_runs_whose_processes_have_the_same_numbers():
    """Open MPI gives them the same number, too, as it does to one pair of launches in 65,536."""
    apart = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child']
    if subprocess.run([*apart, 'true'], capture_output=True, check=False).returncode != 0:
        return 'no PID namespaces of one\'s own'
    line = [HDSS, 'run', '--workers', '2', '--power', 'equal', '--technique', 'ss', *unhurried()]
    processes = []
    for name in 'ab':
        os.mkdir(name)
        processes.append(start([*apart, *openmpi.set_before({'TMPDIR': os.path.abspath(name)}, line)]))
    wait_until(lambda: len(memory_of_ranks(*processes)) == 6, 'the ranks of both')
    files = memory_of_ranks(*processes)
    folders = {os.path.dirname(path) for path in files}
    assert len({os.path.basename(path) for path in files}) == 3 and len(folders) == 2, files
    assert all(os.path.basename(folder).startswith(f'hdss-ranks.{os.geteuid()}.') for folder in folders), folders
    hurry()
    results = [finish(process) for process in processes]
    assert all(result.status == 0 for result in results) and results[0].checksum() == results[1].checksum(), results
    assert not any(map(os.path.exists, folders)), folders
    return None


def test_what_the_user_has_set_stays():
    set_variables(OMPI_MCA_pml='^cm', HWLOC_COMPONENTS='-gl')
    line = composed('--workers', '2')
    unset_variables('OMPI_MCA_pml', 'HWLOC_COMPONENTS')
    assert 'OMPI_MCA_pml' not in line and 'HWLOC' not in line and 'OMPI_MCA_btl=' in line, line
    line = composed('--workers', '2', '--mpi-args', '--mca btl self,tcp')
    assert 'OMPI_MCA_pml' not in line and 'OMPI_MCA_btl' not in line and '--mca btl self,tcp' in line, line
    line = composed('--workers', '2', '--mpi-args', '--with-ft ulfm')
    assert ('OMPI_MCA_mpi_ft_enable=true' in line) == openmpi.IS_5, line
    assert '--enable-recovery' not in composed('--workers', '2', '--mpi-args', '--disable-recovery')


def test_ranks_that_outnumber_the_cores_are_not_bound():
    sharing = '--map-by slot:OVERSUBSCRIBE' if openmpi.IS_5 else '--map-by :OVERSUBSCRIBE'
    many = str(2 * len(os.sched_getaffinity(0)) + 1)
    for words in ([], ['--threads', '2'], ['--load', '1']):
        assert f'{sharing} --bind-to none' in composed('--workers', many, *words)
    line = composed('--workers', many, '--mpi-args', '--bind-to socket')
    assert sharing in line and '--bind-to socket' in line and '--bind-to none' not in line, line


def test_version_5_is_told_the_hosts_of_each_program():
    """Mapped by node it misses hosts with unlike many ranks."""
    other_launcher('mpirun (Open MPI) 5.0.7')
    line = composed('--mpirun', './mpirun', '--hosts', 'a:4,b:2', '--workers', '6', '--masters', '2')
    assert '--map-by slot:OVERSUBSCRIBE' in line and line.count('--host ') == 3, line
    assert '-n 1 --host a:1 ' in line and '-n 2 --host a:1,b:1 ' in line and '-n 6 --host a:4,b:2 ' in line, line
    line = composed('--mpirun', './mpirun', '--hosts', 'a:4,b:2', '--one-launch', '--workers', '6', '--slowdown', '1,1,1,2,2,2')
    assert '-n 3 --host a:2,b:1 ' in line and line.count('--host ') == 4, line
    other_launcher('mpirun (Open MPI) 4.1.4')
    line = composed('--mpirun', './mpirun', '--hosts', 'a:4,b:2', '--workers', '6', '--masters', '2')
    assert '--host a:6,b:3 --map-by node ' in line and line.count('--host ') == 1, line


def test_tasks_know_nothing_of_it():
    result = run([HDSS, 'run', '--workers', '1', 'exec', 'command=env', 'count=1', 'shell=yes'])
    assert result.status == 0, result
    with open('exec.out') as file:
        text = file.read()
    assert 'PATH=' in text and 'HWLOC' not in text and 'OMPI_COMM' not in text and 'PMIX' not in text, text


def test_no_rank_listens_on_a_port():
    # The one that looks is rank 1's task, so that all ranks are there.
    with open('ports.sh', 'w') as file:
        file.write('for pid in $(pgrep -P $(ps -o ppid= -p $PPID)); do ls -l /proc/$pid/fd; done | grep -o "socket:.[0-9]*" | tr -dc "0-9\\n" | sort > sockets\n'
                   'cat /proc/net/tcp /proc/net/tcp6 | awk \'$4 == "0A" { print $10 }\' | sort > listening\ncomm -12 sockets listening\n')
    if not all(shutil.which(name) for name in ('pgrep', 'ps', 'awk', 'comm')):
        return 'a tool is missing'
    result = run([HDSS, 'run', '--workers', '2', 'exec', 'command=sh ports.sh', 'count=1'])
    assert result.status == 0, result
    with open('exec.out') as file:
        text = file.read()
    assert os.path.getsize('listening') >= 0 and os.path.getsize('sockets') > 0 and text.strip() == '', text


def test_the_report_says_what_it_said_before():
    result = run([HDSS, 'run', '--workers', '2', '--report', 'report.json', *JOB])
    assert result.status == 0 and report()['iterations'] == 20, result
    assert not result.err, result


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
