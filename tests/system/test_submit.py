# SPDX-License-Identifier: MIT
"""What people type for a set, against a double of one: jobs are handed over, listed, shown, attended, cancelled and read, and what is
wrong is said in a line."""
import json
import os
import pty
import select
import signal
import socket
import subprocess
import sys

from launch import HDSS, TIMEOUT_S, finish, main, run, start, wait_until
from set_double import SetDouble

JOB = ['--technique', 'ss', 'synthetic', 'iterations=10']
EMPTY = ['synthetic', 'iterations=0']


def here():
    """Sockets in a folder of this test's own."""
    os.environ['HDSS_CONTROL_DIR'] = os.getcwd()
    for name in ('HDSS_SET', 'SLURM_JOB_ID', 'PBS_JOBID', 'LSB_JOBID'):
        os.environ.pop(name, None)
    return os.path.join(os.getcwd(), f'hdss-{os.getuid()}')


def refused(words, line, status=2):
    result = run([HDSS, *words])
    assert result.status == status and result.err == [line] and result.out == '', result


def test_jobs_are_handed_over():
    with SetDouble(here(), 'night') as double:
        os.environ['OF_THE_JOB'] = 'é'
        os.umask(0o027)
        result = run([HDSS, 'submit', '--name', 'first', '--priority', '-3', '--weight', '2', *JOB])
        assert result.status == 0 and result.out == 'night/1\n' and result.err == [], result
        given = double.submissions[0]
        assert given['words'] == JOB and given['folder'] == os.getcwd() and given['umask'] == 0o027, given
        assert 'OF_THE_JOB=é' in given['environment'] and (given['name'], given['priority'], given['weight'], given['after']) == ('first', -3, 2, [])
        told = json.loads(run([HDSS, 'submit', '--set', 'night', '--after', 'night/1', '--after', '1', '--format', 'json', *JOB]).out)
        assert told['id'] == 2 and double.submissions[1]['after'] == [1, 1] and double.submissions[1]['name'] is None, told
        assert len(double.asked) == 2, 'a job costs one question'
        large = {f'LARGE_{i}': 'x' * 100000 for i in range(11)}
        os.environ.update(large)
        result = run([HDSS, 'submit', *JOB])
        assert result.status == 2 and 'bytes with its environment; accepted: 1048576' in result.err[0], result
        for name in large:
            del os.environ[name]
        os.umask(0o022)


def test_jobs_are_listed_shown_and_cancelled():
    with SetDouble(here(), 'night') as double:
        assert run([HDSS, 'jobs']).out == 'set night: 4 workers, 0 running, 0 waiting, 0 over\n'
        run([HDSS, 'submit', '--name', 'first', *JOB])
        run([HDSS, 'submit', *EMPTY])
        lines = run([HDSS, 'jobs']).out.splitlines()
        assert lines[0].split()[:3] == ['ID', 'NAME', 'KERNEL'] and lines[1].split()[:4] == ['night/1', 'first', 'synthetic', 'running'], lines
        assert lines[2:] == ['', 'set night: 4 workers, 1 running, 0 waiting, 1 over'], lines
        told = json.loads(run([HDSS, 'jobs', '--all', '--format', 'json']).out)
        assert [(one['session'], one['id'], one['state']) for one in told] == [('night', 1, 'running'), ('night', 2, 'done')], told
        assert run([HDSS, 'show']).out.startswith('night/1: synthetic, running\n  name       first\n')
        assert run([HDSS, 'show', '2']).out.startswith('night/2: synthetic, done\n')
        assert run([HDSS, 'wait', 'night/2']).out == 'night/2: done, 0 of 10 (0.0 %)\n'
        output = run([HDSS, 'output', '2'])
        assert (output.status, output.out, output.err) == (0, 'done: all of it\n', ['a note']), output
        assert run([HDSS, 'output', '--stream', 'err', '2']).out == ''
        assert run([HDSS, 'complete', 'hdss', 'cancel', '']).out.split() == ['night/1']
        assert run([HDSS, 'complete', 'hdss', 'submit', '--set', '']).out.split() == ['night']
        assert run([HDSS, 'complete', 'hdss', 'submit', '--after=']).out.split() == ['--after=night/1']
        assert run([HDSS, 'cancel']).out == 'night/1 is over: cancelled\n'
        assert double.jobs[0]['status'] == 4
        run([HDSS, 'submit', *JOB])
        assert run([HDSS, 'jobs']).out.splitlines()[1].startswith('night/3 ')


def test_a_job_is_attended():
    with SetDouble(here(), 'night') as double:
        result = run([HDSS, 'submit', '--wait', *EMPTY])
        assert (result.status, result.out, result.err) == (0, 'done: all of it\n', ['a note']), result
        result = run([HDSS, 'run', '--set', 'night', *EMPTY])
        assert (result.status, result.out, result.err) == (0, 'done: all of it\n', ['a note']), result
        told = json.loads(run([HDSS, 'submit', '--wait', '--format', 'json', *EMPTY]).out)
        assert told['id'] == 3 and told['status'] == 0, told
        process = start([HDSS, 'submit', '--wait', *JOB])
        wait_until(lambda: double.asked[-1] == ('GET', '/v1/jobs/4?wait=25'), 'a job that is attended')
        double.end(4, 'failed', 3)
        assert finish(process).status == 3


def read_until(terminal, text):
    """What the terminal shows until the text has come."""
    shown = b''
    while text not in shown:
        assert select.select([terminal], [], [], 30)[0], shown
        shown += os.read(terminal, 65536)
    return shown


def test_a_terminal_shows_the_progress():
    with SetDouble(here(), 'night') as double:
        terminal, end = pty.openpty()
        process = subprocess.Popen([HDSS, 'submit', '--wait', *JOB], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=end)
        wait_until(lambda: double.jobs, 'a job')
        double.jobs[0].update(done=5, rate_per_s=2.5, elapsed_s=2, eta_s=2)
        shown = read_until(terminal, b'50 %')
        assert b'5 of 10' in shown and b'4 of 4 busy' in shown, shown
        assert double.submissions[0]['words'] == ['--progress', 'never', *JOB], 'the job writes no log beside it'
        double.end(1, 'done', 0)
        assert process.communicate(timeout=TIMEOUT_S)[0] == b'done: all of it\n' and process.returncode == 0
        os.close(end)
        os.close(terminal)


def attend_and_ask(double, words, number):
    count = len(double.jobs) + 1
    process = start([HDSS, 'submit', '--wait', *words, *JOB])
    wait_until(lambda: double.asked[-1:] == [('GET', f'/v1/jobs/{count}?wait=25')], 'a job that is attended')
    process.send_signal(number)
    return finish(process)


def test_a_signal_cancels_a_job_or_leaves_it():
    with SetDouble(here(), 'night') as double:
        cancelled = attend_and_ask(double, [], signal.SIGINT)
        assert cancelled.status == 4 and double.jobs[0]['state'] == 'cancelled', cancelled
        assert cancelled.err[0].startswith('hdss submit: night/1 is cancelled: '), cancelled
        left = attend_and_ask(double, ['--leave'], signal.SIGTERM)
        assert left.status == 4 and double.jobs[1]['state'] == 'running', left
        assert left.err == ['hdss submit: night/2 goes on; `hdss wait` waits for it, `hdss output` shows what it prints'], left


def test_a_set_that_is_gone_is_said():
    with SetDouble(here(), 'night') as double:
        process = start([HDSS, 'submit', '--wait', *JOB])
        wait_until(lambda: double.asked and double.asked[-1][1].endswith('wait=25'), 'a job that is attended')
        double.go()
        gone = finish(process)
        assert gone.status == 1 and gone.err == [
            'hdss submit: night/1 is out of sight: it has ended; `hdss up --resume` goes on with the jobs of a set that was lost'], gone


def test_a_set_ends():
    with SetDouble(here(), 'night') as double:
        assert run([HDSS, 'drain']).out == 'night drains: it ends when its jobs are over\n' and double.mode == 'drain'
        refused(['submit', *JOB], 'hdss submit: the set night: it drains, and takes no further jobs', status=1)
        process = start([HDSS, 'down', 'night'])
        wait_until(lambda: double.mode == 'now', 'the end of the set')
        double.go()
        assert finish(process).out == 'night has ended\n'


def leave_a_socket(folder, name):
    """As a set does that was killed."""
    os.makedirs(folder, mode=0o700)
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(os.path.join(folder, f'{name}.sock'))


def test_what_is_wrong_is_said_in_a_line():
    folder = here()
    leave_a_socket(folder, 'dawn')
    refused(['submit', *JOB], 'hdss submit: the set dawn was lost; `hdss up --resume` goes on with its jobs')
    for words in (['show', 'dawn/1'], ['show', 'dawn/fit'], ['wait', '--all', '--set', 'dawn']):
        refused(words, f'hdss {words[0]}: the set dawn was lost; `hdss up --resume` goes on with its jobs')
    refused(['down'], 'hdss down: the set dawn was lost; `hdss up --resume` goes on with its jobs')
    assert run([HDSS, 'jobs']).out == 'no run of yours is there on this machine\n' and not os.path.exists(folder)
    none = 'no set of yours is up on this machine; `hdss up` starts one'
    refused(['submit', *JOB], f'hdss submit: {none}')
    refused(['down'], f'hdss down: {none}')
    with SetDouble(folder, 'day'), SetDouble(folder, 'night'):
        line = run([HDSS, 'submit', *JOB]).err
        assert line in ([f'hdss submit: 2 sets are up: {names}; say which by --set or HDSS_SET'] for names in ('day, night', 'night, day')), line
        os.environ['HDSS_SET'] = 'dusk'
        refused(['submit', *JOB], "hdss submit: HDSS_SET: 'dusk' is no set of yours on this machine; `hdss jobs` shows those that are up")
        os.environ['HDSS_SET'] = 'day'
        refused(['submit', 'nothing'], "hdss submit: unknown kernel 'nothing'; accepted: one of `hdss kernels`")
        refused(['submit', '--tecnique', 'ss', 'synthetic'], 'hdss submit: unknown option --tecnique; did you mean --technique?')
        refused(['submit', '--after', 'night/1', *JOB], "hdss submit: --after 'night/1'; accepted: IDs and names of jobs of the set day, as day/3, 3 or fit")
        refused(['submit', '--leave', *JOB], 'hdss submit: --leave: accepted with --wait')
        refused(['submit', '--time-limit', '60', *JOB], 'hdss submit: --time-limit is for a launch; accepted: options of a job')
        refused(['submit', '-j3', *JOB], 'hdss submit: --workers is for a launch; accepted: options of a job')
        refused(['run', '--set', 'day', '--workers', '3', *JOB], 'hdss run: --workers is for a launch; accepted with --set: options of the job, --quiet')
        refused(['show', 'day/7'], 'hdss show: day/7: the set has no job 7')
        refused(['output', 'dusk/7'], "hdss output: 'dusk' is no set of yours on this machine; `hdss jobs` shows those that are up")
        refused(['up', '--name', 'day'], 'hdss up: the set day is up already; another one needs another name: --name NAME')
    del os.environ['HDSS_SET']
    refused(['up', '--name', 'a/b'], "hdss up: 'a/b' cannot be the name of a set; accepted: up to 40 letters, digits, '.', '_' and '-', of which '.' and "
            "'-' and \"run-\" cannot be the first")


def test_the_line_of_a_set_is_shown():
    here()
    result = run([HDSS, 'up', '--dry-run', '--workers', '2', '--masters', '1', '--name', 'night', '--state', 'kept', '--idle-timeout', '2m', '--jobs-at-once', '3', '--http', ':8080', '--metrics-file', 'night.prom', '--resume'])
    line = result.out
    assert result.status == 0 and not os.path.exists('kept'), result
    assert f'supermaster --serve=night --state {os.getcwd()}/kept --idle-timeout 120 --jobs-at-once 3 --http :8080 --metrics-file night.prom --resume : -n 1 ' in line and ' : -n 2 ' in line, line


if __name__ == '__main__':
    sys.exit(main([
        test_jobs_are_handed_over,
        test_jobs_are_listed_shown_and_cancelled,
        test_a_job_is_attended,
        test_a_terminal_shows_the_progress,
        test_a_signal_cancels_a_job_or_leaves_it,
        test_a_set_that_is_gone_is_said,
        test_a_set_ends,
        test_what_is_wrong_is_said_in_a_line,
        test_the_line_of_a_set_is_shown,
    ]))
