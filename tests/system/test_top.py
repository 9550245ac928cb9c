# SPDX-License-Identifier: MIT
"""What `hdss top` shows of real runs and sets, and of a double with very many workers: as text, and on a screen in tmux."""
import contextlib
import json
import os
import shlex
import shutil
import signal
import socket
import subprocess

from launch import HDSS, TIMEOUT_S, WORKER, environment, finish, kill_tree, main, ranks_of, run, start, wait_until
from set_double import SetDouble

SLEEPING = ['--technique', 'ss', '--power', 'equal', 'synthetic', 'distribution=constant', 'mode=sleep', 'mean=1000']
LONG = [*SLEEPING, 'iterations=1000000']


def here():
    """Sockets and the folders of sets in a folder of this test's own."""
    os.environ['HDSS_CONTROL_DIR'] = os.environ['XDG_STATE_HOME'] = os.getcwd()
    for name in ('HDSS_SET', 'SLURM_JOB_ID', 'PBS_JOBID', 'LSB_JOBID', 'NO_COLOR', 'COLUMNS', 'LINES'):
        os.environ.pop(name, None)
    return os.path.join(os.getcwd(), f'hdss-{os.getuid()}')


def once(*words, **variables):
    """The page, line by line, without its first line, in which the time is."""
    result = run(['env', *(f'{name}={value}' for name, value in variables.items()), HDSS, 'top', '--once', *words])
    assert result.status == 0 and result.err == [] and '\x1b' not in result.out, result
    return result.out.splitlines()[1:]


def once_with(name, line):
    """The page of a run once the line is there, as what its workers do changes from moment to moment."""
    pages = []
    wait_until(lambda: pages.append(once(name)) or line in pages[-1], line.strip())
    return pages[-1]


def row_of(lines, name):
    found = [line for line in lines if line.split()[:1] == [name]]
    assert len(found) == 1, (name, lines)
    return found[0].split()


def refused(words, line):
    result = run([HDSS, 'top', *words])
    assert result.status == 2 and result.err == [line] and result.out == '', result


@contextlib.contextmanager
def a_set(workers):
    """A set that is up; it is nobody's child, and has to be ended whatever comes."""
    assert run([HDSS, 'up', '--workers', str(workers)]).status == 0
    try:
        yield
    finally:
        run([HDSS, 'down'])


@contextlib.contextmanager
def a_run(*words):
    process = start([HDSS, 'run', *words])
    try:
        wait_until(lambda: any(line.startswith('run-') and ' running ' in line for line in run([HDSS, 'jobs']).out.splitlines()), 'a run that computes')
        yield process
    finally:
        kill_tree(process.pid)
        process.communicate()


def ranks(count, **more):
    """Workers of a job, 64 on a node."""
    return [{'rank': i + 1, 'role': 'worker', 'state': 'computing', 'node': i // 64, 'host': f'node{i // 64:03}', 'master': None, 'done': 10,
             'chunks': 2, 'compute_s': 1.0, 'wait_s': 0, 'power': 1, 'load': None, 'chunk': None, **more} for i in range(count)]


# --- as text ---

def test_a_page_of_a_set_and_a_run():
    here()
    assert once() == ['', 'no run or set of yours is there on this machine']
    with a_set(2):
        assert once() == ['set main: 2 workers, 0 running, 0 waiting, 0 over', '', 'no job runs or waits']
        assert run([HDSS, 'submit', '--wait', 'synthetic', 'iterations=3']).status == 0
        run([HDSS, 'submit', '--name', 'long', *LONG])
        run([HDSS, 'submit', '--after', '2', 'synthetic'])
        wait_until(lambda: 'running' in once('main')[3], 'a job that runs')
        lines = once()
        assert lines[0] == 'set main: 2 workers, 1 running, 1 waiting, 1 over', lines
        assert row_of(lines, 'main/2')[1:4] == ['long', 'synthetic', 'running'] and row_of(lines, 'main/3')[1:5] == ['synthetic', 'waits:', 'job', '2'], lines
        assert not any('main/1' in line for line in lines) and row_of(once('--all'), 'main/1')[2] == 'done'
        with a_run('-j', '2', '-q', '--masters', '1', *LONG) as process:
            names = [line.split()[0] for line in once()[3:]]
            assert names[:2] == ['main/2', 'main/3'] and names[2].startswith('run-'), names
            assert [line.split()[0] for line in once('main')[3:]] == ['main/2', 'main/3']
            page = once(names[2])
            assert any(line.startswith('master 1, ') for line in page) and '  technique  ss, hierarchical' in page, page
            process.send_signal(signal.SIGTERM)
            assert finish(process).status == 4
        wait_until(lambda: any(line.startswith('  end        in ') for line in once('2')), 'an expected end')
        page = once_with('main/2', '  workers    2 of 2 compute')
        assert '  technique  ss, central' in page, page
        assert sum(line.startswith('  slowest    iteration ') for line in page) == 1, page
        assert sum(line.startswith('  imbalance  1.') for line in page) == 1, page
        assert [line.split()[:2] for line in page[-3:]] == [['node', '0,'], ['rank', '1'], ['rank', '2']], page
        told = json.loads(run([HDSS, 'show', '2', '--format', 'json']).out)
        assert told['rate_now_per_s'] is None or told['rate_now_per_s'] > 0, told
        run([HDSS, 'cancel', '2'])
        assert run([HDSS, 'wait', '2', '3']).status == 4
        assert once() == ['set main: 2 workers, 0 running, 0 waiting, 3 over', '', 'no job runs or waits']
        page = once('2')
        assert '  took       ' in '\n'.join(page) and 'node 0' not in '\n'.join(page), page


def test_a_worker_that_is_lost_is_named():
    here()
    with a_run('-j', '3', '-q', *LONG) as process:
        os.kill(ranks_of(process, WORKER)[0], signal.SIGKILL)
        wait_until(lambda: '1 lost' in '\n'.join(once('run-')), 'a loss')
        page = once_with('run-', '  workers    2 of 3 compute, 1 lost')
        lost = [line.split() for line in page if line.startswith('  lost       rank ')]
        assert len(lost) == 1, page
        assert row_of([line.strip().replace('rank ', 'rank-') for line in page], f'rank-{lost[0][2]}')[1] == 'lost', page
        assert once()[-1].split()[:3][2] == 'running'


def test_very_many_workers_fit():
    with SetDouble(here(), 'night') as double:
        run([HDSS, 'submit', *LONG])
        double.jobs[0].update(elapsed_s=2, done=5, workers=8192)
        double.ranks = ranks(8192)
        for i in range(0, 8192, 3):
            double.ranks[i].update(state='lost')
        double.asked.clear()
        page = once('1')
        assert sum('/ranks?' in target for _, target in double.asked) == 9, double.asked
        assert '  workers    5,461 of 8,192 compute, 2731 lost' in page or '  workers    5,461 of 8,192 compute, 2,731 lost' in page, page
        lost = next(line for line in page if line.startswith('  lost '))
        assert lost.startswith('  lost       ranks 1, 4, 7, ') and lost.endswith(' others') and len(lost) <= 200, lost
        assert sum(line.startswith('node ') for line in page) == 128 and not any('rank 5' in line for line in page), page
        assert len(once('1', '--all')) > 8192
        double.ranks = ranks(300, host='a-name-of-a-machine-that-is-longer-than-any')
        assert all(len(line) <= 200 for line in once('1')), once('1')


def test_bars_are_of_the_locale():
    with SetDouble(here(), 'night') as double:
        run([HDSS, 'submit', '--name', 'é', *LONG])
        double.jobs[0].update(done=5)
        assert '█' in once()[3] and ' é ' in once()[3], once()
        assert '###' in once(LC_ALL='C')[3] and ' ? ' in once(LC_ALL='C')[3], once(LC_ALL='C')


def listener(folder, name):
    """A socket at which somebody listens who never answers."""
    there = socket.socket(socket.AF_UNIX)
    there.bind(os.path.join(folder, f'{name}.sock'))
    there.listen()
    return there


def test_sessions_that_do_not_answer():
    folder = here()
    with SetDouble(folder, 'night'):
        listener(folder, 'killed').close()  # left over by a set that was killed
        with listener(folder, 'run-7'):
            assert once() == ['set night: 4 workers, 0 running, 0 waiting, 0 over', '', 'ID     STATE', 'run-7  silent']
            assert once('run-7') == ['it does not answer']
        with listener(folder, 'day'):
            assert once('day') == ['set day: silent', '', 'no job runs or waits']


def test_what_cannot_be_is_said():
    with SetDouble(here(), 'night'):
        refused(['--once', 'a', 'b'], "hdss top: 'b' is one word too many; accepted: one set or one ID")
        refused(['--once', '--interval', '0.01'], "hdss top: --interval '0.01': accepted: 0.1 to 3600")
        refused(['--once', 'day'], "hdss top: 'day' is neither the ID nor the name of a job of the set night; `hdss jobs --all` lists them")
        refused(['--once', 'night/7'], 'hdss top: night/7: the set has no job 7')
        assert run([HDSS, 'complete', 'hdss', 'top', '']).out.split() == ['night']
        result = run([HDSS, 'top'])
        assert result.status == 2 and len(result.err) == 1 and '--once' in result.err[0], result


def installed(prefix):
    """The programs as they are below a prefix, without the package. Returns the path of hdss, and that of the package's folder."""
    places = {}
    with open(os.path.join(os.path.dirname(HDSS), 'hdss-top')) as file:
        exec(next(line for line in file if line.startswith('PACKAGE, LIBEXEC = ')), places)
    for folder in ('bin', 'libexec/hdss'):
        os.makedirs(os.path.join(prefix, folder))
    shutil.copy(HDSS, os.path.join(prefix, 'bin'))
    return os.path.join(prefix, 'bin/hdss'), os.path.normpath(os.path.join(prefix, 'libexec/hdss', os.path.relpath(places['PACKAGE'], places['LIBEXEC'])))


def test_without_python_it_says_what_to_install():
    here()
    hdss, package = installed('prefix')
    program = 'prefix/libexec/hdss/hdss-top'

    def lacks(words):
        result = run([hdss, 'top', *words])
        line = 'hdss top: it takes Python 3.9 or later and the Python package of HDSS; install them (Debian: python3-hdss)'
        assert result.status == 2 and result.err == [line] and result.out == '', result
    for words in ([], ['--help'], ['--once', 'night']):
        lacks(words)
    assert '\n  top ' in run([hdss, '--help']).out
    shutil.copy(os.path.join(os.path.dirname(HDSS), 'hdss-top'), program)
    lacks(['--once'])  # a program without its package
    shutil.copytree(os.path.join(os.environ['SOURCE_ROOT'], 'deploy/python/hdss'), os.path.join(package, 'hdss'))
    with open('json.py', 'w') as file:
        file.write('raise SystemExit(7)\n')
    result = run(['env', f'PYTHONPATH={os.getcwd()}', hdss, 'top', '--once'])  # modules of the user's are none of its
    assert result.status == 0 and result.out.splitlines()[2:] == ['no run or set of yours is there on this machine'], result
    with open(program) as file:
        rest = file.read().partition('\n')[2]
    with open(program, 'w') as file:
        file.write('#!/nowhere/python3 -I\n' + rest)
    lacks(['--once'])


# --- on a screen ---

def has_screen():
    """None where it can be tried; else why not."""
    if shutil.which('tmux') is None:
        return 'tmux is not installed'
    return 'the build has no ncurses' if 'no ncurses' in run([HDSS, 'top']).raw_err else None


class Screen:
    """A command in a window of tmux of so many columns."""

    number = 0

    def __init__(self, columns, *words, lines=24, before='', after=''):
        Screen.number += 1
        self.words = ['tmux', '-f', '/dev/null', '-S', os.path.join(os.getcwd(), f'tmux-{Screen.number}')]
        line = f'{before} {shlex.join([HDSS, "top", "--interval", "0.2", *words])}{after}'
        env = {name: value for name, value in environment().items() if name != 'TMUX'}
        subprocess.run([*self.words, 'new-session', '-d', '-x', str(columns), '-y', str(lines), line], env=env, check=True, timeout=TIMEOUT_S)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.tell('kill-server', check=False)

    def tell(self, *words, check=True):
        return subprocess.run([*self.words, *words], capture_output=True, text=True, check=check, timeout=TIMEOUT_S).stdout

    def press(self, *keys):
        self.tell('send-keys', *keys)

    def lines(self):
        return self.tell('capture-pane', '-p').splitlines()

    def until(self, condition, what):
        shown = []

        def is_there():
            shown[:] = self.lines()
            return condition(shown)
        try:
            wait_until(is_there, what)
        except AssertionError as problem:
            raise AssertionError('\n'.join([str(problem), *shown])) from None
        return shown

    def until_said(self, text):
        return self.until(lambda shown: any(text in line for line in shown), text)


def test_the_screen_shows_what_goes_on():
    folder, reason = here(), has_screen()
    if reason is not None:
        return reason
    with contextlib.ExitStack() as stack:
        screens = [stack.enter_context(Screen(columns)) for columns in (60, 100, 200)]
        for screen in screens:
            screen.until_said('no run or set of yours is there on this machine; one is')
        with SetDouble(folder, 'night') as double:
            for i in range(40):
                run([HDSS, 'submit', '--name', f'job-{i}', *LONG])
            double.jobs[1].update(done=5, rate_per_s=2.5, elapsed_s=2, eta_s=2, eta_soonest_s=1, eta_latest_s=4)
            double.ranks = ranks(40, chunk={'first': 1, 'count': 2, 'left': 2, 'since_s': 1.5})
            for screen, folders in zip(screens, (False, False, True)):
                shown = screen.until(lambda lines: ' 40 running' in lines[1] and any('50 %' in line and ' 2.00 s' in line for line in lines), 'the jobs')
                assert len(shown) == 24 and shown[1] == 'set night: 4 workers, 40 running, 0 waiting, 0 over', shown
                assert shown[23] == 'q quit  Enter look into  s sort: id  c cancel  ? help', shown
                assert any(os.getcwd()[-6:] in line for line in shown) == folders and not any('night/40 ' in line for line in shown), shown
                screen.press('End')
                screen.until_said('night/40 ')
                screen.press('g', 'j', 'Enter')
                shown = screen.until_said('node 0, node000')
                assert shown[0].startswith('night/2, job-1: synthetic, running') and '  end        in 2.00 s (1.0 to 4.0 s), after 2.00 s' in shown, shown
                screen.press('Enter')
                screen.until_said('  rank 1 ')
                screen.press('?')
                screen.until_said('any key leaves it')
                screen.press('x', 's')
                screen.until_said('sort: time of the chunk')
                screen.press('Escape')
                screen.until_said('Enter look into')
            asked = len(double.asked)
            wait_until(lambda: len(double.asked) > asked + 6, 'looks')
            assert all(target == '/v1/jobs?state=running' for _, target in double.asked[asked:]), double.asked[asked:]
            screens[0].press('c')
            screens[0].until_said('cancel night/2? what runs is ended (y/n)')
            screens[0].press('n')
            screens[0].until_said('Enter look into')
            assert double.jobs[1]['status'] is None
            screens[0].press('c', 'y')
            wait_until(lambda: double.jobs[1]['state'] == 'cancelled', 'a cancel')
            screens[1].until_said('night/2 is over: cancelled')
            screens[0].tell('resize-window', '-x', '100', '-y', '30')
            screens[0].until(lambda shown: len(shown) == 30 and 'NAME' in shown[3] and 'KERNEL' in shown[3], 'another size')
        screens[0].until_said('the set night has ended')
        screens[0].until_said('no run or set of yours is there')
    return None


def test_a_job_goes_out_of_sight():
    folder, reason = here(), has_screen()
    if reason is not None:
        return reason
    double = SetDouble(folder, 'night')
    run([HDSS, 'submit', *LONG])
    double.ranks = ranks(2500)
    double.asked.clear()
    with Screen(60, 'night/1') as screen:
        screen.until_said('node 0, node000')
        pages = []

        def has_gone_round():
            """All pages at first, then one with each look."""
            pages[:] = [target for _, target in double.asked if '/ranks?' in target or 'state=running' in target]
            return len(pages) >= 1 + 3 + 2 * 4
        wait_until(has_gone_round, 'pages of ranks')
        look, page = '/v1/jobs?state=running', '/v1/jobs/1/ranks?from={}&limit=1000'.format
        expected = [look, page(0), page(1000), page(2000), *(one for first in (0, 1000, 2000, 0) for one in (look, page(first)))]
        assert pages[:len(expected)] == expected, pages
        double.end(1, 'failed', 1)
        screen.until_said('night/1: synthetic, failed')
        double.go()
        screen.until_said('out of sight')
    return None


def test_the_terminal_is_given_back():
    reason = (here(), has_screen())[1]
    if reason is not None:
        return reason
    for key in ('q', 'C-c'):
        with Screen(80, before='stty -a > before; ', after='; echo "ended with $?"; stty -a > after; exec cat') as screen:
            screen.until_said('no run or set')
            screen.press(key)
            shown = screen.until_said('ended with 0')
            assert not any('no run or set' in line for line in shown), shown
            wait_until(lambda: os.path.exists('after') and os.path.getsize('after') == os.path.getsize('before'), 'the end')
            with open('before') as before, open('after') as after:
                assert before.read() == after.read()
            os.remove('after')
    for name in ('nosuch', 'dumb'):
        with Screen(80, before=f'TERM={name}', after='; echo "ended with $?"; exec cat') as screen:
            shown = screen.until_said('ended with 2')
            assert any(line.startswith(f"hdss top: the terminal '{name}' (TERM) is not known to ncurses, or") for line in shown), shown
    return None


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
