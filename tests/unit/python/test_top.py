# SPDX-License-Identifier: MIT
"""hdss top: pages of jobs and of one job at 60, 100 and 200 columns, what keys do, how ranks are summed up, and that nothing a task says is more than
text."""
import os
import random
import struct
import sys

sys.path.insert(0, os.path.join(os.environ['SOURCE_ROOT'], 'deploy', 'python'))
# pylint: disable=wrong-import-position
from hdss import _text
from hdss._page import Look, Page
from hdss._tasks import Tasks
from hdss._top_model import Group, Job, Model, Rank, Session
from hdss._top_pages import Act, Key, Ui, view
from launch import main

SET = {'ranks': {'masters': 0, 'workers': 4}, 'jobs': {'waiting': 250, 'running': 2, 'done': 1000, 'failed': 5, 'cancelled': 2}}
JOBS = [
    {'id': 7, 'name': 'day', 'kernel': 'mandelbrot', 'state': 'running', 'done': 5000, 'total': 10000, 'rate_per_s': 1234.5, 'rate_now_per_s': 1100,
     'elapsed_s': 4, 'eta_s': 25.05, 'eta_soonest_s': 20.2, 'eta_latest_s': 31, 'workers': 4, 'busy': 3, 'lost': 1, 'folder': '/data/pictures',
     'submitted': 'a', 'began': 'b'},
    {'id': 12, 'name': None, 'kernel': 'exec', 'state': 'running', 'done': 12345, 'total': None, 'rate_per_s': 50, 'elapsed_s': 200, 'eta_s': None,
     'workers': 4, 'busy': 4, 'folder': '/srv', 'submitted': 'a', 'began': 'b'},
    {'id': 13, 'name': None, 'kernel': 'exec', 'state': 'waiting', 'done': 0, 'total': 0, 'eta_s': None, 'folder': '/srv', 'submitted': 'a', 'began':
     None},
]
RUN = [
    {'id': 1, 'kernel': 'adjoint', 'state': 'draining', 'done': 10, 'total': 100, 'rate_per_s': 0.5, 'elapsed_s': 20, 'eta_s': 7260, 'eta_soonest_s':
     7000, 'eta_latest_s': None, 'workers': 2, 'busy': 2, 'folder': '/home/me'},
]
JOB = {'id': 7, 'name': 'day', 'kernel': 'mandelbrot', 'state': 'running', 'done': 5000, 'total': 10000, 'failed': 2, 'rate_per_s': 1234.5,
     'rate_now_per_s': 1100, 'elapsed_s': 4, 'eta_s': 4.05, 'eta_soonest_s': 3.2, 'eta_latest_s': 6, 'workers': 4, 'busy': 3, 'lost': 1, 'folder': '/data',
     'technique': 'fac2', 'topology': 'central', 'command': ['mandelbrot', 'width=4096', 'a\x1bb'], 'submitted': 'a', 'began': 'b'}
RANKS = [
    {'rank': 1, 'role': 'worker', 'state': 'computing', 'node': 0, 'host': 'alpha', 'master': None, 'done': 2000, 'chunks': 20, 'compute_s': 3, 'wait_s':
     0.1, 'power': 1, 'load': 1.25, 'chunk': {'first': 100, 'count': 10, 'left': 4, 'since_s': 0.5}},
    {'rank': 2, 'role': 'worker', 'state': 'computing', 'node': 0, 'host': 'alpha', 'master': None, 'done': 1000, 'chunks': 10, 'compute_s': 1, 'wait_s':
     0.1, 'power': 1, 'load': None, 'chunk': {'first': 300, 'count': 100, 'left': 100, 'since_s': 2}},
    {'rank': 3, 'role': 'worker', 'state': 'waiting', 'node': 1, 'host': 'beta', 'master': None, 'done': 2000, 'chunks': 5, 'compute_s': 1, 'wait_s': 3,
     'power': 1, 'load': None, 'chunk': None},
    {'rank': 4, 'role': 'worker', 'state': 'lost', 'node': 1, 'host': 'beta', 'master': None, 'done': 0, 'chunks': 0, 'compute_s': 0, 'wait_s': 0,
     'power': 1, 'load': None, 'chunk': None},
]
MASTERS_JOB = {'id': 1, 'kernel': 'k', 'state': 'running', 'done': 1, 'total': 9, 'rate_per_s': 1, 'elapsed_s': 1, 'workers': 3, 'busy': 2, 'technique': 'gss',
     'topology': 'hierarchical'}
MASTERS = [
    {'rank': 1, 'role': 'master', 'state': 'serving', 'host': 'a', 'done': 70, 'workers': 2, 'busy': 1},
    {'rank': 2, 'role': 'master', 'state': 'lost', 'host': 'b', 'done': 5, 'workers': 1, 'busy': 0},
    {'rank': 3, 'role': 'worker', 'state': None, 'node': 0, 'master': 1, 'done': None},
    {'rank': 4, 'role': 'worker', 'state': None, 'node': 0, 'master': 1, 'done': None},
    {'rank': 5, 'role': 'worker', 'state': 'computing', 'node': 1, 'master': 2, 'done': 8, 'chunks': 2, 'compute_s': 0.5, 'chunk': {'first': 10, 'count':
     1, 'left': 1, 'since_s': 0.25}},
]
JOBS_60 = '''\
hdss top                                            12:00:00
set night: 4 workers, 2 running, 250 waiting, 1,007 over

ID        NAME  STATE       DONE      RATE         ETA  LOST
night/7   day   running     50 %  1.10 k/s      25.1 s     1
night/12        running   12.3 k      50/s
night/13        waiting
run-99          silent
run-4711        draining    10 %    30/min  2 h 01 min
and 249 others that wait

q quit  Enter look into  s sort: id  c cancel  ? help
'''
JOBS_100 = '''\
hdss top                                                                                    12:00:00
set night: 4 workers, 2 running, 250 waiting, 1,007 over

ID        NAME  KERNEL      STATE                 DONE      RATE         ETA  BETWEEN           LOST
night/7   day   mandelbrot  running   ####        50 %  1.10 k/s      25.1 s  20 to 31 s           1
night/12        exec        running             12.3 k      50/s
night/13        exec        waiting
run-99                      silent
run-4711        adjoint     draining  #           10 %    30/min  2 h 01 min  1:56:40 or later
and 249 others that wait

q quit  Enter look into  s sort: id  c cancel  ? help
'''
JOBS_200 = '''\
hdss top, 12:00:00
set night: 4 workers, 2 running, 250 waiting, 1,007 over

ID        NAME  KERNEL      STATE                                       DONE      RATE         ETA  BETWEEN           BUSY  LOST  FOLDER
night/7   day   mandelbrot  running   ###############                   50 %  1.10 k/s      25.1 s  20 to 31 s         3/4     1  /data/pictures
night/12        exec        running                                   12.3 k      50/s                                 4/4        /srv
night/13        exec        waiting                                                                                               /srv
run-99                      silent
run-4711        adjoint     draining  ###                               10 %    30/min  2 h 01 min  1:56:40 or later   2/2        /home/me
and 249 others that wait
'''
JOB_60 = '''\
night/7, day: mandelbrot, running, 12:00:00
  command    mandelbrot width=4096 a?b
  done       ####      50.0 %, 5,000 of 10,000, 2 given up
  rate       1.10 k/s now, 1.23 k/s in the mean
  end        in 4.05 s (3.2 to 6.0 s), after 4.00 s
  technique  fac2, central
  workers    2 of 4 compute, 1 waits, 1 lost
  imbalance  1.40 max/mean of the times that workers compute
  lost       rank 4 on beta
  slowest    300 to 399: 2.00 s, 20.0 x the mean, rank 2
             106 to 109: 500 ms, 50.0 x the mean, rank 1

               COMPUTES   BUSY                 DONE      FOR
node 0, alpha  2 of 2     ########     81 %   3,000   2.00 s
  rank 1       computes   #########    87 %   2,000   500 ms
  rank 2       computes   ########     75 %   1,000   2.00 s
node 1, beta   0 of 2     ###          25 %   2,000
  rank 3       waits      ###          25 %   2,000
  rank 4       lost                               0
'''
JOB_100 = '''\
night/7, day: mandelbrot, running                                                           12:00:00
  command    mandelbrot width=4096 a?b
  done       #############              50.0 %, 5,000 of 10,000, 2 given up
  rate       1.10 k/s now, 1.23 k/s in the mean
  end        in 4.05 s (3.2 to 6.0 s), after 4.00 s
  technique  fac2, central
  workers    2 of 4 compute, 1 waits, 1 lost
  imbalance  1.40 max/mean of the times that workers compute
  lost       rank 4 on beta
  slowest    iterations 300 to 399: 2.00 s, 20.0 x the mean, rank 2 on alpha
             iterations 106 to 109: 500 ms, 50.0 x the mean, rank 1 on alpha

               COMPUTES   BUSY                         DONE  CHUNKS      FOR  CHUNK       LOAD  LOST
node 0, alpha  2 of 2     ###############      81 %   3,000      30   2.00 s
  rank 1       computes   ################     87 %   2,000      20   500 ms  106 to 109  1.25
  rank 2       computes   ##############       75 %   1,000      10   2.00 s  300 to 399
node 1, beta   0 of 2     #####                25 %   2,000       5                                1
  rank 3       waits      #####                25 %   2,000       5
  rank 4       lost                                       0




q back  s sort: group  c cancel  ? help
'''
JOB_200 = '''\
night/7, day: mandelbrot, running, 12:00:00
  command    mandelbrot width=4096 a?b
  done       #########################                           50.0 %, 5,000 of 10,000, 2 given up
  rate       1.10 k/s now, 1.23 k/s in the mean
  end        in 4.05 s (3.2 to 6.0 s), after 4.00 s
  technique  fac2, central
  workers    2 of 4 compute, 1 waits, 1 lost
  imbalance  1.40 max/mean of the times that workers compute
  lost       rank 4 on beta
  slowest    iterations 300 to 399: 2.00 s, 20.0 x the mean, rank 2 on alpha
             iterations 106 to 109: 500 ms, 50.0 x the mean, rank 1 on alpha

               COMPUTES   BUSY                                     DONE  CHUNKS      FOR  CHUNK       LOAD  LOST
node 0, alpha  2 of 2     ########################         81 %   3,000      30   2.00 s
  rank 1       computes   ##########################       87 %   2,000      20   500 ms  106 to 109  1.25
  rank 2       computes   #######################          75 %   1,000      10   2.00 s  300 to 399
node 1, beta   0 of 2     ########                         25 %   2,000       5                                1
  rank 3       waits      ########                         25 %   2,000       5
  rank 4       lost                                                   0
'''
MASTERS_60 = '''\
run-5: k, running
  done       #         11.1 %, 1 of 9
  rate       1/s in the mean
  end        not known, after 1.00 s
  technique  gss, hierarchical
  workers    2 of 3 compute
  imbalance  not known: masters have told no times
  lost       rank 2 on b
  slowest    10: 250 ms, 4.0 x the mean, rank 5

              COMPUTES   BUSY                  DONE      FOR
master 1, a   1 of 2     ######                  70
  rank 3
  rank 4
master 2, b   gone       ########      75 %       8   250 ms
  rank 5      computes   ########      75 %       8   250 ms
'''


class Scene:
    """A model and a user, whose page is looked at."""

    def __init__(self):
        self.model, self.ui = Model(), Ui()

    def session(self, name, json):
        session = Session(name, not name.startswith('run-'))
        session.read(json)
        self.model.sessions.append(session)

    def arrange(self):
        self.model.sum_up()
        self.ui.arrange(self.model)
        return self

    def look_into(self, session, job, ranks):
        self.model.look(session, job)
        self.model.put_ranks(0, ranks, True)
        self.ui.is_inside, self.ui.job = True, self.model.looked.id
        return self.arrange()

    def page(self, width, height=None, utf8=False):
        page = Page(width, utf8)
        view(page, self.model, self.ui, height)
        assert all(len(line.text) == line.columns <= width for line in page.lines), page.text()
        assert height is None or len(page.lines) == height
        return page.text()

    def press(self, key, shown=5):
        act = self.ui.press(key, self.model, shown)
        self.arrange()
        return act


def jobs():
    scene = Scene()
    scene.session('night', SET)
    scene.session('run-4711', {})
    scene.session('run-99', {})
    scene.model.add_jobs('night', JOBS)
    scene.model.add_jobs('run-4711', RUN)
    scene.model.jobs.append(Job('run-99'))
    scene.model.clock = '12:00:00'
    return scene.arrange()


def one_job():
    scene = Scene()
    scene.model.clock = '12:00:00'
    return scene.look_into('night', JOB, RANKS)


def equal(shown, expected):
    assert shown == expected, '\n' + shown


# --- pages ---

def test_jobs_fit():
    equal(jobs().page(60, 12), JOBS_60)
    equal(jobs().page(100, 12), JOBS_100)
    equal(jobs().page(200), JOBS_200)


def test_nothing_is_said():
    scene = Scene().arrange()
    equal(scene.page(80), 'hdss top\n\nno run or set of yours is there on this machine\n')
    assert 'no run or set of yours is there on this machine; one is wait' in scene.page(60, 10)
    scene.session('night', {'ranks': {'workers': 1}, 'jobs': {'waiting': 0, 'running': 0, 'done': 3}})
    equal(scene.arrange().page(80), 'hdss top\nset night: 1 worker, 0 running, 0 waiting, 3 over\n\nno job runs or waits\n')
    scene.model.sessions[0].is_silent = True
    assert 'set night: silent\n' in scene.page(80)
    scene.model.sessions[0].reason = 'it is of an earlier version'
    assert 'set night: it is of an earlier version\n' in scene.page(80)
    for i in range(9):
        scene.session(f'n{i}', {})
    assert '\nand 6 other sets\n' in scene.page(80)


def test_a_job_fits():
    equal(one_job().page(60), JOB_60)
    equal(one_job().page(100, 24), JOB_100)
    equal(one_job().page(200), JOB_200)


def test_a_job_that_is_over_has_a_status():
    job = {'id': 7, 'kernel': 'k', 'state': 'failed', 'done': 5, 'total': 9, 'elapsed_s': 2, 'status': 3, 'submitted': 'a', 'began': 'b'}
    equal(Scene().look_into('night', job, []).page(60), """\
night/7: k, failed
  done       ####      55.6 %, 5 of 9
  took       2.00 s
  status     3; hdss output night/7 has what it printed
""")


def test_a_job_that_is_not_told_of_says_so():
    scene = Scene()
    scene.ui = Ui('night/7')
    equal(scene.arrange().page(60), 'night/7\nit does not answer\n')
    scene.model.looked_is_gone = True
    equal(scene.page(60), 'night/7\nit is not there any more\n')
    scene.model.looked_reason = 'there is no such job'
    equal(scene.page(60), 'night/7\nthere is no such job\n')
    scene = one_job()
    scene.model.looked_is_gone, scene.model.looked_reason = True, 'there is no such job'
    assert 'night/7, day: mandelbrot, out of sight, 12:00:00\nthere is no such job\n' in scene.page(60)
    scene.model.looked_is_gone, scene.model.looked_is_silent = False, True
    assert 'night/7, day: mandelbrot, silent, 12:00:00\n' in scene.page(60)


def large_job(nodes, each, lost):
    """Workers without a master come in groups of nodes, of which there may be many."""
    ranks = [{'rank': i + 1, 'role': 'worker', 'state': 'lost' if i % 3 == 0 and i < lost else 'computing', 'node': i // each, 'host': f'n{i // each}',
              'done': 10, 'chunks': 1, 'compute_s': 1.0} for i in range(nodes * each)]
    return Scene().look_into('night', JOB, ranks)


def test_large_jobs_are_folded():
    scene = large_job(10, 100, 0)
    assert len(scene.ui.rows) == 10 and 'node 0, n0    100 of 100' in scene.page(60, 24) and 'Enter workers' in scene.page(60, 24)
    scene.press(Key.DOWN)
    assert scene.press(Key.ENTER) == Act.NOTHING and len(scene.ui.rows) == 110
    assert [type(scene.ui.rows[row]) for row in (1, 2, 102)] == [Group, Rank, Group]
    scene.press(Key.ENTER)
    assert len(scene.ui.rows) == 10
    scene.press(Key.ALL)
    assert len(scene.ui.rows) == 1010
    scene.press(Key.LAST)
    assert 'rank 1000' in scene.page(100, 24) and 'rank 980' not in scene.page(100, 24)


def test_many_lost_ranks_are_cut_short():
    scene = large_job(1, 300, 300)
    assert '\n  lost       ranks 1, 4, 7, 10, 13, 16, 19 and 93 others\n' in scene.page(60)
    assert ' others\n' in scene.page(200) and '  workers    200 of 300 compute, 100 lost\n' in scene.page(60)
    for rank in scene.model.ranks[1:]:
        rank.state = 'lost'
    scene.model.ranks[0].state = 'computing'
    assert '\n  lost       ranks 2 to 300\n' in scene.arrange().page(60)


def test_masters_tell_less():
    scene = Scene().look_into('run-5', MASTERS_JOB, MASTERS)
    assert len(scene.model.sums.groups) == 2 and scene.model.sums.imbalance < 0
    equal(scene.page(60), MASTERS_60)


def test_pages_of_ranks_are_put_together():
    model, two = Model(), [{'rank': 1}, {'rank': 2}]
    counts = []
    for place, ranks, is_last in ((2, two, False), (0, two, False), (2, two, True), (0, two, False), (2, [], True)):
        model.put_ranks(place, ranks, is_last)
        counts.append(len(model.ranks))
    assert counts == [0, 2, 4, 4, 2], counts


# --- tasks ---

def part(first, tasks):
    """Tasks as they stand in a part: (command, exit status, errors) each."""
    lines = [f'{first + i + 1}\thost\t{100 + i}.5\t0.25\t0\t0\t{status}\t0\t{command}\t1\t0\t0\t0\t1\texit\t2\t{len(errors)}\n' for i, (command, status, errors) in enumerate(tasks)]
    table = b''.join(struct.pack('<IIII', status != 0, 2, len(errors), len(line)) for (_, status, errors), line in zip(tasks, lines))
    body = struct.pack('<II', len(tasks), 3) + table + b'o\n' * len(tasks) + ''.join(errors for _, _, errors in tasks).encode() + ''.join(lines).encode()
    return struct.pack('<4sIQQQQQ', b'HDSB', 1, first, len(tasks), len(body), 0, 0) + body


def test_failed_tasks_are_told_with_their_last_line():
    os.makedirs('o.parts', exist_ok=True)
    tasks, good, bad = Tasks(os.path.abspath('o')), part(0, [('a', 0, ''), ('b', 3, 'one\ntwo\n\n')]), part(2, [('c', 1, '')] * 4)
    equal(str(tasks.told()['failures']), '[]')
    with open('o.parts/1', 'wb', buffering=0) as file:
        for data, failed in ((good[:-1], 0), (good[-1:], 1), (bad, 5)):  # the first of them is not whole yet
            file.write(data)
            tasks.look()
            assert tasks.failed == failed, (tasks.failed, failed)
    told = tasks.told()
    assert told['failures'][-1] == {'task': 2, 'command': 'b', 'end': 'exit 3', 'error': 'two'}, told
    assert told['history'] == [(101000, 2), (102000, 4), (103000, 5), (104000, 6)], told['history']
    os.rename('o.parts', 'gone')  # the job has ended
    rows = ''.join(f'{i + 1}\thost\t{100 + i - 2 * (i > 1)}.5\t0.25\t0\t0\t{status}\t0\t{command}\t1\t0\t0\t0\t1\texit\t2\t{len(errors)}\n' for i, (command, status, errors) in
                   enumerate([('a', 0, ''), ('b', 3, 'one\ntwo\n\n')] + [('c', 1, '')] * 4))
    for name, text in (('o.log', 'Seq\tHost\n' + rows), ('o.err', 'one\ntwo\n\n')):
        with open(name, 'w', encoding='utf-8') as file:
            file.write(text)
    for known in (tasks, Tasks(os.path.abspath('o')), Tasks(os.path.abspath('o.out'))):
        known.look()
        known.look()
        equal(str(known.told()), str(told))
    scene = Scene().look_into('run-5', MASTERS_JOB, MASTERS)
    scene.model.failures, scene.model.failed_tasks = told['failures'], told['failed']
    assert 'failed     task 6, exit 1: c\n' in scene.page(60) and '5 failed in all' in scene.page(60), scene.page(60)


# --- words from elsewhere ---

def test_text_is_cut_and_never_obeyed():
    page = Page(8, True)
    page.line()
    page.add_short('äöü', 3)
    page.add_short('äöüß\udcff', 4)
    page.add('\x1b\x9bxyz')
    page.line()
    page.add_bar(0.5, 4)
    equal(page.text(), 'äöüäö..?\n██\n')
    page = Page(8, False)
    page.line()
    page.add('äb\udcff')
    page.add_bar(0.5, 4)
    equal(page.text(), '?b?##\n')
    obeyed = [*range(32), *range(0x7f, 0xa0), 0x61c, 0x200e, 0x200f, *range(0x2028, 0x202f), *range(0x2066, 0x206a), 0xd800, 0xdfff, 0xfffe, 0xffff, 0x10ffff]
    assert _text.shown(''.join(map(chr, obeyed))) == '?' * len(obeyed)
    kept = ' ~\u00a0é\u061b\u200d\u2027\u202f\u2065\u206a漢\ufffd\U0001f600'
    assert _text.shown(kept) == kept and _text.plain('a\tb\nc') == 'a b?c'


NUMBERS = [None, True, -1, 0, 1, 3, 1e18, 1e300, 10 ** 400, -10 ** 400, float('nan'), float('inf'), 'x', [], {}, 0.1]


def any_json(chance, names, depth=2):
    """Fields that a session tells, with values that it should and should not have."""
    def value():
        kind = chance.randrange(8)
        if kind < 4:
            return chance.choice(NUMBERS)
        if kind == 4 and depth > 0:
            return [any_json(chance, names, depth - 1) for _ in range(chance.randrange(4))]
        if kind == 5 and depth > 0:
            return any_json(chance, names, depth - 1)
        return chance.choice(['', 'running', 'lost', 'computing', 'master', 'hierarchical', '\x1b]0;x\x07', 'é' * 50, '\ud800', 'a\nb'])
    return {name: value() for name in names if chance.random() < 0.8}


def test_nonsense_is_passed_by():
    scene = Scene()
    scene.model.add_jobs('night', [7, None, {}, {'state': 3}, {'state': 'running', 'total': 'x', 'done': -5, 'elapsed_s': 1e300}])
    assert len(scene.model.jobs) == 1
    scene.model.add_jobs('night', {'state': 'running'})
    assert len(scene.model.jobs) == 1
    chance = random.Random(1)
    for _ in range(40):
        scene = Scene()
        scene.session('night', any_json(chance, ('ranks', 'jobs', 'workers', 'waiting', 'running', 'done')))
        scene.model.add_jobs('night', [any_json(chance, JOB) for _ in range(3)])
        scene.model.look('night', any_json(chance, JOB))
        scene.model.put_ranks(0, [any_json(chance, (*RANKS[0], 'first', 'count', 'left', 'since_s')) for _ in range(chance.randrange(40))], True)
        scene.ui.job_order = scene.ui.rank_order = chance.randrange(4)
        for scene.ui.is_inside in (False, True):
            scene.arrange()
            for height in (None, 0, 1, 5, 29):
                page = scene.page(chance.randrange(1, 200), height, utf8=True)
                assert all(char == '\n' or (char.isprintable() and not char.isspace()) or char == ' ' for char in page), ascii(page)


def test_figures():
    durations = {0: '0 s', 5e-7: '0.50 us', 9.995e-4: '1.00 ms', 0.0123: '12.3 ms', 0.9995: '1.00 s', 59.94: '59.9 s', 59.95: '1 min 00 s', 185: '3 min 05 s',
                 3599.5: '1 h 00 min', 7500: '2 h 05 min', 86370: '1 d 00 h', 273600: '3 d 04 h', 1e12: '?', -1: '?', float('nan'): '?'}
    assert {seconds: _text.duration(seconds) for seconds in durations} == durations
    numbers = {0: '0', 319: '319', 0.25: '0.25', 999.4: '999', 45600: '45.6 k', 1.234e6: '1.23 M', 1e21: '?', -1: '?'}
    assert {number: _text.si(number) for number in numbers} == numbers
    rates = {319: '319/s', 5100: '5.10 k/s', 12.5 / 60: '12.5/min', 3 / 3600: '3/h', 0: '0/h'}
    assert {rate: _text.rate(rate) for rate in rates} == rates
    assert _text.count(1234567) == '1,234,567' and _text.count(5e20) == '500 E' and _text.clock(7000) == '1:56:40' and _text.clock(196.4) == '3:16'
    assert _text.bar(0.3, 4, True) == '█▎  ' and _text.bar(2, 3, False) == '###' and _text.bar(float('nan'), 2, True) == '  '


# --- keys ---

def test_keys_select():
    scene = jobs()
    assert scene.ui.selected_id == 'night/7'
    for key, selected in ((Key.DOWN, 'night/12'), (Key.LAST, 'run-4711'), (Key.DOWN, 'run-4711'), (Key.PAGE_UP, 'night/7'), (Key.UP, 'night/7'),
                          (Key.PAGE_DOWN, 'run-4711'), (Key.FIRST, 'night/7'), (Key.DOWN, 'night/12')):
        scene.press(key)
        assert scene.ui.selected_id == selected, (key, scene.ui.selected_id)
    page = Page(60, False)
    view(page, scene.model, scene.ui, 12)
    assert [line.text.split()[0] for line in page.lines if line.is_selected] == ['night/12'] and page.lines[5].columns == 60
    scene.model.jobs[0].id = 'night/99'  # the job that is selected stays so when another one before it is over
    scene.arrange()
    assert scene.ui.selected_id == 'night/12' and scene.ui.selected == 0


def test_keys_sort():
    scene = jobs()
    for order, first, second in (('id', 'night/7', 'night/12'), ('done', 'night/7', 'run-4711'), ('rate', 'night/7', 'night/12'), ('end', 'night/7', 'run-4711')):
        assert scene.ui.order_name == order and [job.id for job in scene.ui.rows[:2]] == [first, second], order
        scene.press(Key.SORT)
    assert scene.ui.order_name == 'id'
    scene = one_job()
    for first in (2, 4, 1):  # 2 s, 0 %, 2,000
        scene.press(Key.SORT)
        assert len(scene.ui.rows) == 4 and scene.ui.rows[0].rank == first, first


def test_keys_go_in_and_back():
    scene = jobs()
    scene.press(Key.DOWN)
    assert scene.press(Key.ENTER) == Act.LOOK and scene.ui.is_inside and scene.ui.job == 'night/12'
    assert scene.press(Key.QUIT) == Act.LOOK and not scene.ui.is_inside and scene.ui.selected_id == 'night/12'
    assert scene.press(Key.BACK) == Act.NOTHING
    scene.press(Key.ENTER)
    assert scene.press(Key.BACK) == Act.LOOK and scene.press(Key.ALL) == Act.LOOK and scene.ui.shows_over
    scene.press(Key.HELP)
    assert 'hdss top: keys' in scene.page(60, 24)
    assert scene.press(Key.QUIT) == Act.NOTHING and not scene.ui.helps
    assert scene.press(Key.QUIT) == Act.END and scene.press(Key.END) == Act.END
    scene.ui.is_inside = scene.ui.is_alone = True
    assert scene.press(Key.QUIT) == Act.END


def test_a_cancel_is_asked_for():
    scene = jobs()
    assert scene.press(Key.YES) == Act.NOTHING
    scene.press(Key.CANCEL)
    assert 'cancel night/7? what runs is ended (y/n)' in scene.page(60, 24)
    assert scene.press(Key.OTHER) == Act.NOTHING and not scene.ui.asks
    scene.press(Key.CANCEL)
    assert scene.press(Key.YES) == Act.CANCEL and scene.ui.asked == 'night/7' and not scene.ui.asks
    scene.press(Key.LAST)
    scene.press(Key.CANCEL)
    assert 'cancel run-4711? what runs is finished (y/n)' in scene.page(60, 24)
    scene = one_job()
    scene.press(Key.CANCEL)
    assert scene.ui.asks and scene.ui.asked == 'night/7'
    scene.ui.asks, scene.model.looked_is_gone = False, True
    scene.press(Key.CANCEL)
    assert not scene.ui.asks
    scene = Scene().arrange()
    scene.press(Key.CANCEL)  # there is no job
    assert not scene.ui.asks and scene.press(Key.ENTER) == Act.NOTHING


def test_pieces_have_their_looks():
    scene = jobs()
    scene.model.note = 'night/3 is over: failed'
    page = Page(100, False)
    view(page, scene.model, scene.ui, 12)
    looks = {text.strip(): look for line in page.lines for look, text in line.pieces}
    assert looks['hdss top'] == Look.STRONG and looks['draining'] == Look.WARN and looks['NAME'] == Look.DIM and looks['1'] == Look.BAD
    assert looks['night/3 is over: failed'] == Look.WARN and looks['####'] == Look.BAR, looks


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
