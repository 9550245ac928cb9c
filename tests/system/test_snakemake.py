# SPDX-License-Identifier: MIT
"""A workflow of snakemake, by a set and by a launch for each of its jobs, with the command line of docs/tutorial.md."""
import os
import shutil
import sys
import time

from launch import HDSS, main, run

SNAKEFILE = '''
rule all:
    input: expand("{n}.txt", n=range(int(config["rules"])))

rule small:
    output: "{n}.txt"
    shell: "{config[begin]} echo {wildcards.n} > {output}"
'''
FAILING = '''
rule all:
    input: "never.txt"

rule fails:
    output: "never.txt"
    shell: "echo said; exit 7"
'''
SUBMIT = f'{HDSS} submit --wait -q --overwrite --output .snakemake/hdss.{{jobid}} exec --'


def here(snakefile):
    os.environ['HDSS_CONTROL_DIR'] = os.environ['XDG_STATE_HOME'] = os.environ['XDG_CACHE_HOME'] = os.getcwd()
    os.environ['CI'] = 'true'  # snakemake looks for ends every second then, else every ten
    for name in ('HDSS_SET', 'SLURM_JOB_ID', 'PBS_JOBID', 'LSB_JOBID'):
        os.environ.pop(name, None)
    with open('Snakefile', 'w', encoding='ascii') as file:
        file.write(snakefile)


def up():
    result = run([HDSS, 'up', '--workers', '2'])
    assert result.status == 0, result


def snakemake(*words):
    return run(['snakemake', '--quiet', '--jobs', '2', *words])


def test_a_set_runs_its_jobs():
    if shutil.which('snakemake') is None:
        return 'no snakemake'
    here(SNAKEFILE)
    up()
    try:
        result = snakemake('--cluster-sync', SUBMIT, '--config', 'rules=3', 'begin=true;')
        assert result.status == 0, result
        for number in range(3):
            with open(f'{number}.txt', encoding='ascii') as file:
                assert file.read() == f'{number}\n'
        assert ' 0 running, 0 waiting, 3 over' in run([HDSS, 'jobs']).out
    finally:
        assert run([HDSS, 'down']).status == 0


def test_what_fails_is_said():
    if shutil.which('snakemake') is None:
        return 'no snakemake'
    here(FAILING)
    up()
    try:
        for how in ('--cluster-sync', '--cluster'):
            result = snakemake(how, SUBMIT)
            assert result.status == 1 and not os.path.exists('never.txt'), result
    finally:
        assert run([HDSS, 'down']).status == 0


def seconds_of(begin, rules):
    began = time.monotonic()
    result = snakemake('--config', f'rules={rules}', f'begin={begin}', '--forceall')
    assert result.status == 0, result
    return time.monotonic() - began


def test_a_command_costs_less_by_a_set_than_by_a_launch():
    """Without --cluster, of which snakemake itself is most: it begins anew for each job."""
    if shutil.which('snakemake') is None:
        return 'no snakemake'
    here(SNAKEFILE)
    nothing = seconds_of('true;', 1)
    up()
    try:
        by_set = seconds_of(f'{HDSS} submit --wait -q synthetic iterations=0;', 20)
        by_launch = seconds_of(f'{HDSS} run -q --workers 1 synthetic iterations=0;', 20)
    finally:
        assert run([HDSS, 'down']).status == 0
    print(f'# snakemake alone {nothing:.2f} s, 20 jobs by a set {by_set:.2f} s, by a launch for each {by_launch:.2f} s')
    assert by_set < by_launch


if __name__ == '__main__':
    sys.exit(main([
        test_a_set_runs_its_jobs,
        test_what_fails_is_said,
        test_a_command_costs_less_by_a_set_than_by_a_launch,
    ]))
