# SPDX-License-Identifier: MIT
"""Jobs of a real Slurm, on pretended nodes: the recipes of deploy/slurm, and what `hdss run` makes of what a job has got. Left out where Slurm is
not installed, or cannot run.
"""
import contextlib
import json
import os
import re
import signal
import time

from journals import has_records
from launch import MASTER, SUPERMASTER, WORKER, hurry, main, report, unhurried, wait_until
from runs import name_of_run, sockets_of_run
from slurm import Slurm, text_of

RECIPES = os.path.join(os.environ['SOURCE_ROOT'], 'deploy', 'slurm')
SHORT = ['--report', 'report.json', 'synthetic', 'iterations=2000', 'mean=20']
# 40 ms an iteration: in its middle whenever something happens.
STEADY = ['--power', 'equal', '--technique', 'ss', '--output', 'out.npy', '--report', 'report.json']
JOB = ['synthetic', 'iterations=1000', 'mean=40000', 'distribution=constant', 'mode=sleep']
# So long that a signal comes in the midst of it, however busy the machine.
LONG_JOB = ['synthetic', 'iterations=3000', *JOB[2:]]
BOTH = ['--nodes=2', '--exclusive']


def recipe(name):
    return os.path.join(RECIPES, f'{name}.sbatch')


def over(test, cores=(4, 4)):
    try:
        slurm = Slurm(cores)
        slurm.__enter__()
    except OSError as problem:
        return ' '.join(str(problem).split())[:300]
    try:
        test(slurm)
    finally:
        slurm.__exit__()


def has_crashed(status, text):
    """Under srun and PMIx any MPI program, even one that does nothing, may crash in MPI_Init() when the machine is busy (1 launch of 40). Clears away what there is."""
    if status != 139 or 'Failing at address: (nil)' not in text:
        return False
    for name in ('report.json', 'out.npy', 'out.npy.journal', 'job.out'):
        with contextlib.suppress(FileNotFoundError):
            os.remove(name)
    return True


def has_drained(name, status, text):
    """Open MPI's own mpirun may crash as it ends after a rank with another status than 0: nothing tells its status then. `hdss run` does."""
    return status == 4 or (name != 'hdss' and status == 139 and 'stopped by a signal after a clean drain' in text and ('mca_iof_hnp' in text or 'libpmix' in text))


def run(slurm, name, words, options=BOTH, status=0):
    for _ in range(5):
        found, text = slurm.wait(slurm.submit(recipe(name), words, options))
        if name != 'srun' or not has_crashed(found, text):
            break
    assert found == status, (found, text, slurm.last_words())
    return text


def run_pods(slurm, count, words, options=BOTH):
    """A run that is not over before so many pods have joined it."""
    os.environ.update(HDSS_CONTROL_DIR=os.getcwd())
    number = slurm.submit(recipe('hdss'), [*words, '--report', 'report.json', *unhurried()], options)
    wait_until(lambda: sockets_of_run() and len(pods(slurm, name_of_run())) == count, f'the pods, {slurm.last_words()}', 240)
    hurry()
    found, text = slurm.wait(number)
    assert found == 0, (found, text, slurm.last_words())
    os.remove('hurry')


def workers_on(figures):
    """{node: number of workers}"""
    nodes = [row['node'] for row in figures['worker_stats']]
    return {node: nodes.count(node) for node in sorted(set(nodes))}


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


def results_have_come():
    return os.path.exists('out.npy') and any(text_of('out.npy')[200:].strip('\0'))


def disturbed(slurm, name, disturb, *more, job=JOB):
    for _ in range(5):
        number = slurm.submit(recipe(name), [*more, *STEADY, *job], BOTH)
        # A job is begun when the nodes of the one before are free again.
        wait_until(lambda: results_have_come() or 'Failing at address: (nil)' in text_of('job.out'), f'the first result of {name}, {slurm.last_words()}', 240)
        if results_have_come() or not has_crashed(*slurm.wait(number)):
            break
    disturb(number)
    return slurm.wait(number)


def pods(slurm, *of):
    said = slurm.ask('hdss', 'pods', '--format', 'json', *of)
    assert said.returncode == 0, said
    return json.loads(said.stdout)


def drain(slurm, job, who):
    """Slurm's daemons do not look whether a signal has come where it should, and one that is late is not sent again: the test looks, and asks again
    now and then, which changes nothing for a run that drains."""
    asked = []

    def ends():
        if not asked or time.monotonic() > asked[-1] + 3:
            said = slurm.ask('scancel', '--signal=USR1', *who, job)
            assert said.returncode == 0 or not slurm.is_there(job), said
            asked.append(time.monotonic())
        return not slurm.is_there(job)
    wait_until(ends, f'the end of job {job}')


def test_a_signal_of_slurm_drains():
    def test(slurm):
        for name, who in (('hdss', ['--batch']), ('mpirun', ['--batch']), ('srun', [])):
            status, text = disturbed(slurm, name, lambda job, who=who: drain(slurm, job, who), job=LONG_JOB)
            figures = report()
            assert has_drained(name, status, text) and figures['outcome'] == 'drained' and 0 < figures['done'] < 3000, (name, status, text, figures['done'])
            if name == 'hdss':
                text = run(slurm, name, ['--resume', *STEADY, *LONG_JOB])  # the next job goes on
                assert report()['outcome'] == 'done' and report()['faults']['resumed_iterations'] == figures['done'], text
            else:
                os.remove('out.npy.journal')  # else the next one is not begun
            os.remove('out.npy')
    return over(test)


def test_the_run_drains_before_its_time_is_over():
    def test(slurm):
        text = run(slurm, 'hdss', ['--time-margin', '54', *STEADY, 'synthetic', 'iterations=20000', *JOB[2:]], [*BOTH, '--time=1'], status=4)
        assert 'the time is nearly over' in text and report()['outcome'] == 'drained', text
    return over(test)


def test_a_lost_worker_and_a_lost_master_are_survived():
    def test(slurm):
        os.environ.update(HDSS_CONTROL_DIR=os.getcwd())
        for program, what in ((WORKER, 'lost_workers'), (MASTER, 'lost_masters')):
            def kill(_, program=program):
                wait_until(lambda: len(pods(slurm, name_of_run())) == 2, 'the pods')
                ranks = slurm.nodes.ranks()
                os.kill(next(pid for pid, node, path in ranks.values() if node == 1 and path == os.path.realpath(program)), signal.SIGKILL)
            status, text = disturbed(slurm, 'hdss', kill)
            figures = report()
            assert status == 0 and figures['outcome'] == 'done' and figures['faults'][what] == 1, (status, text, figures['faults'])
            os.remove('out.npy')
    return over(test)


def test_a_lost_node_is_survived():
    def test(slurm):
        def kill(_):
            wait_until(lambda: len(pods(slurm, name_of_run())) == 2, 'the pods')
            slurm.nodes.kill(1)
        os.environ.update(HDSS_CONTROL_DIR=os.getcwd())
        status, text = disturbed(slurm, 'hdss', kill)
        figures = report()
        assert status == 0 and figures['outcome'] == 'done' and figures['done'] == 1000, (status, text, figures)
        told = figures['faults']
        # Those of a lost master may be late, and nothing else, before they are found to be lost.
        assert told['lost_workers'] + told.get('late_workers', 0) == 4 and told['lost_masters'] == 1, told
    return over(test)


def test_a_lost_supermaster_is_started_again():
    def test(slurm):
        def kill(_):
            wait_until(has_records, 'the first record')
            os.kill(slurm.nodes.running(SUPERMASTER)[0], signal.SIGKILL)
        for name in ('hdss', 'mpirun'):
            status, text = disturbed(slurm, name, kill)
            figures = report()
            assert status == 0 and figures['outcome'] == 'done' and text.count('starting again where it was, 1 of 3 times') == 1, (name, status, text)
            assert figures['faults']['resumed_iterations'] > 0 and workers_on(figures) == {0: 4, 1: 4}, (name, figures)
            assert text.count('checksum') == 1 and not os.path.exists('out.npy.journal'), (name, text)
            os.remove('out.npy')
        status, text = disturbed(slurm, 'hdss', kill, '--restarts', '0')
        assert status == 1 and 'the run ended without its supermaster; the same line with --resume' in text, (status, text)
    return over(test)


def test_a_set_goes_on_in_the_next_job():
    def test(slurm):
        # The set of this test, in its folder, wherever Slurm runs the script.
        os.environ.update(HDSS_CONTROL_DIR=os.getcwd(), XDG_STATE_HOME=os.getcwd())
        lasting = ' '.join(STEADY[:-2] + ['--report', 'lasting.json'] + LONG_JOB)
        with open('jobs.txt', 'w') as file:
            file.write(f"# two jobs at once, and one behind them\n--report 'first one.json' {' '.join(SHORT[2:])}\n\n{lasting}\n--after 2 --report last.json {' '.join(SHORT[2:])}")
        number = slurm.submit(recipe('set'), [os.path.abspath('jobs.txt')], BOTH)
        wait_until(lambda: os.path.exists('first one.json') and results_have_come(), f'the first job, {slurm.last_words()}', 240)
        drain(slurm, number, ['--batch'])
        status, text = slurm.wait(number)
        assert status == 4 and 'campaign is up' in text and not os.path.exists('last.json'), (status, text)
        with open('jobs.txt', 'w') as file:
            file.write(' '.join(['--report', 'more.json', *SHORT[2:]]))
        text = run(slurm, 'set', [os.path.abspath('jobs.txt')])
        assert 'campaign/4' in text and text.endswith('campaign has ended\n'), text
        for name, masters in (('first one.json', 2), ('lasting.json', 2), ('last.json', 2), ('more.json', 2)):
            with open(name, encoding='utf-8') as file:
                figures = json.load(file)
            assert figures['outcome'] == 'done' and figures['masters'] == masters and workers_on(figures) == {0: 4, 1: 4}, (name, figures)
        with open('lasting.json', encoding='utf-8') as file:
            assert 0 < json.load(file)['faults']['resumed_iterations'] < 3000
    return over(test)


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
            wait_until(lambda: len(pods(slurm)) > before, f'a pod, {text_of("job.out")}, {slurm.last_words()}', 120)
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
            well('submit', *STEADY, 'synthetic', 'iterations=3000', 'mean=10000', 'distribution=constant', 'mode=sleep')
            first = submit()
            second = submit()
            leave(first, 1)
            third = submit(*port())
            leave(second, 1)
            assert well('wait', '1').startswith('main/1: done, 3,000 of 3,000')
            figures = report()
            assert figures['pods'] == {'joined': 3, 'left': 2, 'lost': 0} and sum(worker['iterations'] for worker in figures['worker_stats']) == 3000, figures
        finally:
            well('down')
        assert slurm.wait(third)[0] == 0
    return over(test)


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
