# SPDX-License-Identifier: MIT
"""A set on the login node of a real Slurm, whose jobs are its pods."""
import json
import os
import re

from launch import hurry, main, report, wait_until
from loops import ENDLESS, ENDLESS_ITERATIONS
from slurm import text_of
from slurm_jobs import STORED, drain, over, pods


def test_a_set_outlives_the_jobs_whose_nodes_it_uses():
    """Three jobs join a set of the login node, each for a time, the third by munge: nothing is lost, and nothing computed twice."""
    def test(slurm):
        def well(*words):
            said = slurm.ask('hdss', *words)
            assert said.returncode == 0, said
            return said.stdout

        def done():
            return json.loads(well('show', '1', '--format', 'json'))['done']

        def submit(*words):
            before, line = len(pods(slurm)), well('alloc', '--nodes', '1', '--time', '5m', *words)
            said = slurm.ask('sh', '-c', line.replace('sbatch ', 'sbatch --parsable --output=job.out ', 1))
            assert said.returncode == 0 and all(word in line for word in words), (line, said)
            wait_until(lambda: len(pods(slurm)) > before, f'a pod, {text_of("job.out")}, {slurm.last_words()}')
            before = done()
            wait_until(lambda: done() > before + 100, 'what it computes')
            return said.stdout.strip()

        def port():
            """The address of the set, by which munge lets its user's jobs in."""
            with open('hdss/main/pods', encoding='ascii') as file:
                return re.findall(r'10\.77\.0\.1:\d+', file.read()) if os.environ['HAS_MUNGE'] else []

        def leave(number, left):
            drain(slurm, number, ['--batch'])
            status, text = slurm.wait(number)
            assert status == 0 and len(pods(slurm)) == left, (status, text)

        os.environ.update(HDSS_CONTROL_DIR=os.getcwd(), XDG_STATE_HOME=os.getcwd())
        well('up', '--listen', '10.77.0.1:0', '--pods-only')
        try:
            well('submit', *STORED, *ENDLESS)
            first = submit()
            second = submit()
            leave(first, 1)
            third = submit(*port())
            leave(second, 1)
            hurry()
            assert well('wait', '1').startswith(f'main/1: done, {ENDLESS_ITERATIONS:,} of {ENDLESS_ITERATIONS:,}')
            figures = report()
            assert figures['pods'] == {'joined': 3, 'left': 2, 'lost': 0} and sum(worker['iterations'] for worker in figures['worker_stats']) == ENDLESS_ITERATIONS, figures
        finally:
            well('down')
        assert slurm.wait(third)[0] == 0
    return over(test)


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
