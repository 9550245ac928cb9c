# SPDX-License-Identifier: MIT
"""`hdss simulate --jobs`: what becomes of the jobs that a file lists in a set, and lines that are wrong."""
import csv
import io
import json
import os

from launch import HDSS, main, need_papers, run

EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../deploy/examples/sets/day.txt')
MACHINE = ['--workers', 16, '--masters', 2]
LONG = 'synthetic iterations=1e5 mean=10000'  # 1,000 s of a core
SHORT = 'synthetic iterations=1e4 mean=10000'


def simulate(lines, *options):
    with open('day.txt', 'w') as file:
        file.write('\n'.join(lines) + '\n')
    return run([HDSS, 'simulate', *MACHINE, '--jobs', 'day.txt', *options])


def report(lines, *options):
    result = simulate(lines, '--format', 'json', *options)
    assert result.status == 0, str(result)
    return json.loads(result.out)


def test_workers_are_shared_by_weight_and_nothing_is_lost_thereby():
    day = report([f'0 --name heavy --weight 3 {LONG}', f'0 --name light {LONG}'])
    heavy, light = day['jobs']
    assert abs(heavy['share'] - 0.75) < 0.02, day
    assert heavy['ended_s'] < light['ended_s'] and abs(light['slowdown'] - 2) < 0.05
    assert day['utilisation'] > 0.98 and abs(day['makespan_s'] - 2 * light['alone_s']) < 0.02 * day['makespan_s']


def test_a_job_of_high_priority_hardly_waits_for_those_that_run():
    day = report([f'0 {LONG}', f'0 {LONG}', f'20 --priority 1 {SHORT}'])
    assert day['jobs'][2]['slowdown'] < 1.3, day


def test_one_at_a_time_each_has_the_machine_for_itself():
    day = report([f'0 {SHORT}', f'0s {SHORT}', f'0 --priority 1 {SHORT}'], '--jobs-at-once', 1)
    first, second, urgent = day['jobs']
    assert first['began_s'] == 0 and first['ended_s'] <= urgent['began_s'] < urgent['ended_s'] <= second['began_s']
    assert all(abs(job['ended_s'] - job['began_s'] - job['alone_s']) < 0.02 * job['alone_s'] for job in day['jobs'])
    assert abs(second['slowdown'] - 3) < 0.1


def test_jobs_are_after_others_and_cancelled():
    day = report([f'0 --name first {LONG}', f'10 --after first --name then {SHORT}', f'0:20 --name wrong {LONG}',
                  f'0:20 --name dropped --after wrong {SHORT}', 'cancel 30s wrong'])
    first, then, wrong, dropped = day['jobs']
    assert then['began_s'] == first['ended_s'] and [job['state'] for job in day['jobs']] == ['done', 'done', 'cancelled', 'cancelled']
    assert 30 <= wrong['ended_s'] < 35 and wrong['slowdown'] is None
    assert dropped['began_s'] is None and dropped['ended_s'] == wrong['ended_s']


def test_a_node_that_fails_is_lost_to_all_jobs():
    lines = [f'0 {LONG}', f'0 {LONG}', f'5 {LONG}']
    machine = ['--platform', 'cluster:nodes=4,cores=8']
    whole, less = report(lines, *machine), report(lines, *machine, '--fail-nodes', '1@10')
    assert [job['state'] for job in less['jobs']] == ['done'] * 3
    assert less['makespan_s'] > whole['makespan_s'] * 1.1, (whole['makespan_s'], less['makespan_s'])
    result = simulate(lines, *machine, '--fail-nodes', '0@10')
    assert result.status == 1 and '3 left open' in result.out and 'the node of the supermaster failed' in result.err[0], str(result)


def test_the_same_file_gives_the_same_bytes_and_each_format_the_same_figures():
    lines = [f'0 --name a,b {LONG}', f'7 --weight 2 {SHORT}', '', '# nothing', '8 mandelbrot']
    texts = [simulate(lines).out for _ in range(2)]
    assert texts[0] == texts[1] and 'mean slowdown' in texts[0]
    rows = list(csv.DictReader(io.StringIO(simulate(lines, '--format', 'csv').out)))
    jobs = report(lines)['jobs']
    assert [row['name'] for row in rows] == ['a,b', '', ''] and len(jobs) == 3
    assert all(abs(float(row[key]) - job[key]) < 1e-5 for row, job in zip(rows, jobs) for key in ('began_s', 'ended_s', 'share', 'slowdown'))


def refused(lines, line, what):
    result = simulate(lines)
    assert result.status == 2 and len(result.err) == 1 and f'day.txt, line {line}: ' in result.err[0] and what in result.err[0] and result.out == '', str(result)


def test_a_line_that_is_wrong_is_named():
    for lines, line, what in [
            (['soon synthetic'], 1, "the time 'soon': accepted"), (['# jobs', '', '0 --nmae a synthetic'], 3, 'unknown option --nmae'),
            (['0 synthetic iterations=x'], 1, 'iterations=x: accepted'), (['0 nosuch'], 1, 'nosuch'),
            (['0 synthetic', '0 --wait synthetic'], 2, '--wait: accepted for a job of a list'),
            (['0 --workers 3 synthetic'], 1, '--workers: all jobs have one machine'), (['0 --priority 1'], 1, 'a kernel is missing'),
            (['0 --priority much synthetic'], 1, '--priority'), (['0 --name a synthetic', '1 --name a synthetic'], 2, 'line 1 has a job of that name'),
            (['5 --name a synthetic', '0 --after a synthetic'], 2, 'no job of that name is submitted before'),
            (['cancel 5 a'], 1, "no job before this line has the name 'a'"), (['cancel 5'], 1, 'accepted: cancel TIME NAME'),
            (['0 --technique nosuch synthetic'], 1, 'nosuch')]:
        refused(lines, line, what)


def test_a_loop_with_dependencies_is_refused():
    need_papers(['hydro'])
    refused(['0 hydro'], 1, 'depend on one another')


def test_what_is_for_one_job_alone_is_refused():
    for words, what in [(['--jobs', 'day.txt', 'synthetic'], 'the kernels are those of the file'), (['--jobs-at-once', 2, 'synthetic'], '--jobs-at-once'),
                        (['--format', 'csv', 'synthetic'], 'accepted with --jobs'), (['--jobs', 'nosuch.txt'], 'nosuch.txt'), (['--jobs', 'empty.txt'], 'there is no job'),
                        (['--jobs', 'day.txt', '--slow-nodes', '0:2@1'], '--slow-nodes'), (['--jobs', 'day.txt', '--dca', 'rma'], '--dca')]:
        open('empty.txt', 'w').close()
        with open('day.txt', 'w') as file:
            file.write('0 synthetic\n')
        result = run([HDSS, 'simulate', *words])
        assert result.status == 2 and what in result.err[0], str(result)


def test_the_example_is_a_day():
    result = run([HDSS, 'simulate', '--workers', 64, '--masters', 4, '--jobs', EXAMPLE])
    assert result.status == 0 and '11 jobs: 10 done, 0 failed, 1 cancelled' in result.out, str(result)


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
