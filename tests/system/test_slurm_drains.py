# SPDX-License-Identifier: MIT
"""Jobs of a real Slurm, on pretended nodes, that end early: by a signal, by their time, with a set that goes on in the next job."""
import json
import os

from launch import hurried, main, report, wait_until
from loops import ENDLESS, ENDLESS_ITERATIONS, STEADY
from slurm_jobs import BOTH, SHORT, STORED, disturbed, drain, over, recipe, results_have_come, run, workers_on


def has_drained(name, status, text):
    """Open MPI's own mpirun may crash as it ends after a rank with another status than 0: nothing tells its status then. `hdss run` does."""
    return status == 4 or (name != 'hdss' and status == 139 and 'stopped by a signal after a clean drain' in text and ('mca_iof_hnp' in text or 'libpmix' in text))


def test_a_signal_of_slurm_drains():
    def test(slurm):
        for name, who in (('hdss', ['--batch']), ('mpirun', ['--batch']), ('srun', [])):
            status, text = disturbed(slurm, name, lambda job, who=who: drain(slurm, job, who), job=ENDLESS, goes_on=False)
            figures = report()
            assert has_drained(name, status, text) and figures['outcome'] == 'drained' and 0 < figures['done'] < ENDLESS_ITERATIONS, (name, status, text, figures['done'])
            if name == 'hdss':
                with hurried():
                    text = run(slurm, name, ['--resume', *STORED, *ENDLESS])  # the next job goes on
                assert report()['outcome'] == 'done' and report()['faults']['resumed_iterations'] == figures['done'], text
            else:
                os.remove('out.npy.journal')  # else the next one is not begun
            os.remove('out.npy')
    return over(test)


def test_the_run_drains_before_its_time_is_over():
    def test(slurm):
        text = run(slurm, 'hdss', ['--time-margin', '54', *STORED, *ENDLESS], [*BOTH, '--time=1'], status=4)
        assert 'the time is nearly over' in text and report()['outcome'] == 'drained', text
    return over(test)


def test_a_set_goes_on_in_the_next_job():
    def test(slurm):
        # The set of this test, in its folder, wherever Slurm runs the script.
        os.environ.update(HDSS_CONTROL_DIR=os.getcwd(), XDG_STATE_HOME=os.getcwd())
        lasting = ' '.join([*STEADY[:-2], '--output', 'out.npy', '--report', 'lasting.json', *ENDLESS])
        with open('jobs.txt', 'w') as file:
            file.write(f"# two jobs at once, and one behind them\n--report 'first one.json' {' '.join(SHORT[2:])}\n\n{lasting}\n--after 2 --report last.json {' '.join(SHORT[2:])}")
        number = slurm.submit(recipe('set'), [os.path.abspath('jobs.txt')], BOTH)
        wait_until(lambda: os.path.exists('first one.json') and results_have_come(), f'the first job, {slurm.last_words()}', 1)
        drain(slurm, number, ['--batch'])
        status, text = slurm.wait(number)
        assert status == 4 and 'campaign is up' in text and not os.path.exists('last.json'), (status, text)
        with open('jobs.txt', 'w') as file:
            file.write(' '.join(['--report', 'more.json', *SHORT[2:]]))
        with hurried():
            text = run(slurm, 'set', [os.path.abspath('jobs.txt')])
        assert 'campaign/4' in text and text.endswith('campaign has ended\n'), text
        for name, masters in (('first one.json', 2), ('lasting.json', 2), ('last.json', 2), ('more.json', 2)):
            with open(name, encoding='utf-8') as file:
                figures = json.load(file)
            assert figures['outcome'] == 'done' and figures['masters'] == masters and workers_on(figures) == {0: 4, 1: 4}, (name, figures)
        with open('lasting.json', encoding='utf-8') as file:
            assert 0 < json.load(file)['faults']['resumed_iterations'] < ENDLESS_ITERATIONS
    return over(test)


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
