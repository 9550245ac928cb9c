# SPDX-License-Identifier: MIT
"""Jobs of a real Slurm, on pretended nodes: the recipes of deploy/slurm, and what `hdss run` makes of what a job has got. Left out where Slurm is
not installed, or cannot run.
"""
import os

from launch import main, report
from slurm_jobs import RECIPES, SHORT, has_crashed, over, run, run_pods, workers_on


def check_home(figures):
    """The workers of a node, and they alone, have one master."""
    pairs = {(row['node'], row['master']) for row in figures['worker_stats']}
    assert len(pairs) == figures['nodes'] == len({master for _, master in pairs}), figures['worker_stats']


def test_recipes_run_with_a_master_on_each_node():
    def test(slurm):
        for name in ('hdss', 'mpirun', 'srun'):
            if name == 'hdss':
                run_pods(slurm, 2, [])
            else:
                run(slurm, name, SHORT)
            figures = report()
            assert figures['masters'] == 2 and workers_on(figures) == {0: 4, 1: 4}, (name, figures)
            check_home(figures)
            os.remove('report.json')
            assert figures.get('pods') == ({'joined': 2, 'left': 0, 'lost': 0} if name == 'hdss' else None), (name, figures)
        run(slurm, 'hdss', ['--one-launch', *SHORT])
        assert workers_on(report()) == {0: 4, 1: 4} and 'pods' not in report(), report()
    return over(test)


def test_a_configuration_for_srun():
    def test(slurm):
        # as the file that is shipped, for nodes that are as small as these
        with open(os.path.join(RECIPES, 'multi-prog.conf')) as file:
            text = file.read()
        for old, new in (('--output counts.npy mandelbrot width=16384 height=16384', ' '.join(SHORT)), ('1-4 ', '1-2 '), ('5-68 ', '3-10 ')):
            assert old in text, text
            text = text.replace(old, new)
        with open('small.conf', 'w') as file:
            file.write(text)
        for _ in range(5):
            said = slurm.ask('srun', '--mpi=pmix', '--nodes=2', '--ntasks=11', '--overcommit', '--distribution=cyclic', '--multi-prog', 'small.conf')
            if not has_crashed(said.returncode, said.stderr):
                break
        assert said.returncode == 0, said
        check_home(report())
    return over(test)


def test_unequal_nodes_get_what_they_have():
    def test(slurm):
        for options, words, expected in ((['--exclusive'], [], {0: 4, 1: 2, 2: 1}),
                                         (['--ntasks=7'], [], {0: 4, 1: 2, 2: 1}),
                                         (['--ntasks=7'], ['--master-core', 'reserved'], {0: 3, 1: 1}),
                                         (['--exclusive'], ['--threads', '2'], {0: 2, 1: 1}),
                                         (['--exclusive'], ['--workers', '6', '--masters', '0'], {0: 4, 1: 2})):
            if '--masters' in words:
                run(slurm, 'hdss', [*words, *SHORT], ['--nodes=3', *options])
            else:
                run_pods(slurm, len(expected), words, ['--nodes=3', *options])
            found = workers_on(report())  # of nodes that are pods the numbers are in the order in which they join
            assert sorted(found.values(), reverse=True) == list(expected.values()), (options, words, report()['worker_stats'])
            os.remove('report.json')
        run(slurm, 'hdss', SHORT, ['--nodes=1', '--ntasks=3'])  # as on one machine
        assert report()['masters'] == 0 and workers_on(report()) == {0: 3}, report()
    return over(test, (4, 2, 1))


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
