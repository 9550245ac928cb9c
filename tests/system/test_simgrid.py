# SPDX-License-Identifier: MIT
"""`hdss simulate --backend simgrid`: the same report as the virtual backend, SimGrid's own platform files, and wrong use; where HDSS was built
without SimGrid, one line that says so."""
import glob
import json
import os
import shutil

from launch import HDSS, main, run

HAS_SIMGRID = os.path.exists(os.path.join(os.path.dirname(HDSS), 'hdss-simgrid'))
ABSENT = 'HDSS was built without SimGrid (libsimgrid-dev)'
ABSENT_LINE = 'hdss simulate: --backend simgrid: this build of HDSS has no SimGrid; accepted: virtual'
JOB = ['--technique', 'fac2', '--costs', 'uniform:mean=500,cov=0.3', 'synthetic', 'iterations=4000']

PLATFORM = '''<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
 <zone id="all" routing="Full">
  <host id="quick" speed="4Gf" core="2"/>
  <host id="slow" speed="1Gf" core="2"/>
  <link id="wire" bandwidth="1GBps" latency="2us"/>
  <route src="quick" dst="slow"><link_ctn id="wire"/></route>
 </zone>
</platform>
'''


def simulate(backend, words, status=0):
    result = run([HDSS, 'simulate', '--backend', backend, '--report', backend + '.json', *words])
    assert result.status == status, str(result)
    with open(backend + '.json') as file:
        return json.load(file), result


def refused(words, *parts):
    os.environ['TMPDIR'] = os.getcwd()
    result = run([HDSS, 'simulate', '--backend', 'simgrid', *words])
    assert result.status == 2 and len(result.err) == 1 and result.err[0].startswith('hdss simulate: '), str(result)
    assert all(part in result.err[0] for part in parts), str(result)
    assert not any(name.startswith('hdss-simulate-') for name in os.listdir('.')), 'files are left'


def test_both_backends_say_the_same():
    if not HAS_SIMGRID:
        return ABSENT
    words = ['--platform', 'ranger', '--workers', 40, '--masters', 2, *JOB]
    (ours, _), (theirs, said) = simulate('virtual', words), simulate('simgrid', words)
    assert set(ours) == set(theirs) and set(ours['simulated']) == set(theirs['simulated'])
    assert theirs['simulated']['backend'] == 'simgrid' and 'backend simgrid' in said.out
    assert theirs['done'] == 4000 and sum(worker['iterations'] for worker in theirs['worker_stats']) == 4000
    assert abs(ours['elapsed_s'] / theirs['elapsed_s'] - 1) < 0.005, (ours['elapsed_s'], theirs['elapsed_s'])
    assert ours['nodes'] == theirs['nodes']
    # Which of several that have as much to do is asked for work depends on who came first.
    (ours, _), (theirs, _) = simulate('virtual', ['--recall', 'off', *words]), simulate('simgrid', ['--recall', 'off', *words])
    assert ours['chunks'] == theirs['chunks'], (ours['chunks'], theirs['chunks'])
    return None


def test_the_modules_are_found_from_a_prefix_that_was_moved():
    if not HAS_SIMGRID or not os.environ['MESON']:
        return ABSENT
    done = run([os.environ['MESON'], 'install', '-C', os.environ['BUILD_ROOT'], '--no-rebuild', '--quiet', '--destdir', os.path.abspath('first')])
    assert done.status == 0, str(done)
    os.rename('first', 'second')
    hdss = glob.glob('second/**/bin/hdss', recursive=True)[0]
    line = [hdss, 'simulate', '--backend', 'simgrid', '--workers', 4, *JOB]
    result = run(line)
    assert result.status == 0, str(result)
    os.remove(glob.glob('second/**/hdss-simulated-rank.so', recursive=True)[0])
    result = run(line)
    assert result.status == 2 and len(result.err) == 1, str(result)
    assert 'the modules of simulated ranks are missing: there is no hdss-simulated-rank.so in ' in result.err[0], str(result)
    return None


def ratio(words):
    """How long the loop takes in virtual time, compared with SimGrid's."""
    (ours, _), (theirs, _) = simulate('virtual', words), simulate('simgrid', words)
    assert ours['iterations'] == theirs['iterations'] == theirs['done'], (ours['done'], theirs['done'])
    return ours['elapsed_s'] / theirs['elapsed_s']


def test_time_steps():
    """Chunks of a time step end when it does: workers of either backend ask for them in the same way."""
    if not HAS_SIMGRID:
        return ABSENT
    found = ratio(['--workers', 7, *JOB[:-2], 'synthetic', 'iterations=4000', 'steps=5'])
    assert abs(found - 1) < 0.005, found
    return None


def test_workers_that_draw_themselves():
    """The machines and the costs of an access are the same; who comes first where workers come at one moment may differ, and with it a chunk or two."""
    if not HAS_SIMGRID:
        return ABSENT
    for mode, words in (('rma', ['fac2']), ('rma:atomics=2', ['wf', '--slowdown', '2']), ('two-sided', ['gss']), ('two-sided', ['af']),
                        ('node', ['fac2']), ('rma', ['dgss', '--slow-nodes', '1:3@0.05']), ('two-sided', ['fac2', '--load', '1', '--weighting', 'acp']),
                        ('node', ['static', '--platform', 'two-sites', '--inject-delay', 'assignment:5'])):
        words = ['--platform', 'ranger', '--workers', 40, '--dca', mode, '--technique', *words, '--costs', 'uniform:mean=500,cov=0.3', 'synthetic', 'iterations=4000']
        (ours, _), (theirs, _) = simulate('virtual', words), simulate('simgrid', words)
        assert theirs['done'] == sum(worker['iterations'] for worker in theirs['worker_stats']) == 4000 and theirs['simulated']['backend'] == 'simgrid'
        assert abs(ours['elapsed_s'] / theirs['elapsed_s'] - 1) < 0.03, (words, ours['elapsed_s'], theirs['elapsed_s'])
    for mode in ('rma', 'two-sided', 'node'):
        words = ['--platform', 'ranger', '--workers', 32, '--dca', mode, '--technique', 'ss', '--fail-nodes', '1@0.2', '--costs', 'constant:mean=1000', 'synthetic', 'iterations=3200']
        (ours, _), (theirs, said) = simulate('virtual', words, 1), simulate('simgrid', words, 1)
        assert 'node 1 failed' in said.out and ours['done'] == theirs['done'], (mode, ours['done'], theirs['done'])
    with open('own.xml', 'w') as file:
        file.write(PLATFORM)
    figures, _ = simulate('simgrid', ['--platform', 'own.xml', '--workers', 4, '--dca', 'two-sided', *JOB])
    slow, quick = (sum(worker['iterations'] for worker in figures['worker_stats'] if worker['node'] == node) for node in (1, 0))
    assert figures['done'] == 4000 and quick > 2 * slow, (quick, slow)
    return None


def test_slow_nodes():
    """A node that is slow from a moment on, for good or for a while, in the middle of chunks and with more than one change; chunks that are dealt out
    before it say exactly what it costs."""
    if not HAS_SIMGRID:
        return ABSENT
    loop = ['--costs', 'uniform:mean=500,cov=0.3', 'synthetic', 'iterations=20000']
    line_up = ['--platform', 'ranger', '--workers', 40, '--masters', 2]
    for technique, slow in (('static', '1:3@0.1'), ('fac2', '1:3@0.1'), ('fac2', '1:3@0.05-0.15,0:2@0.1,1:5@0.12-0.14'), ('awf-b', '2:4@0.1-0.2')):
        for recall, least in (('off', 0.005), ('on', 0.03)):
            found = ratio([*line_up, '--technique', technique, '--slow-nodes', slow, '--recall', recall, *loop])
            assert abs(found - 1) < least, (technique, slow, recall, found)
    job = ['--workers', 31, '--platform', 'ranger', '--technique', 'static', '--recall', 'off', '--costs', 'constant:mean=1000', 'synthetic', 'iterations=3100']
    times = [simulate('simgrid', [*slow, *job])[0]['elapsed_s'] for slow in ([], ['--slow-nodes', '1:3@0'])]
    assert 2.9 < times[1] / times[0] < 3.1, times
    return None


def test_failed_nodes():
    """Nodes of workers, of a master and its workers, two of them, and of slow workers: who is left finds out and does what they had, in the time that
    virtual time says, and all of it is done once."""
    if not HAS_SIMGRID:
        return ABSENT
    loop = ['--costs', 'uniform:mean=500,cov=0.3', 'synthetic', 'iterations=20000']
    for words in (['--workers', 40, '--technique', 'fac2', '--fail-nodes', '1@0.1'],
                  ['--workers', 40, '--masters', 2, '--technique', 'fac2', '--fail-nodes', '1@0.1'],
                  ['--workers', 60, '--masters', 3, '--technique', 'css:chunk=20', '--fail-nodes', '1@0.05,2@0.1', '--slow-nodes', '3:2@0.02'],
                  ['--workers', 40, '--masters', 2, '--technique', 'gss', '--output', 'x.npy', '--fail-nodes', '1@0.1']):
        words = ['--platform', 'ranger', *words, *loop]
        (ours, _), (theirs, _) = simulate('virtual', words), simulate('simgrid', words)
        assert theirs['done'] == 20000 and theirs['faults']['lost_workers'] > 0, theirs['faults']
        assert ours['faults']['lost_workers'] == theirs['faults']['lost_workers'], (words, ours['faults'], theirs['faults'])
        assert ours['faults']['lost_masters'] == theirs['faults']['lost_masters'], (words, ours['faults'], theirs['faults'])
        assert abs(ours['elapsed_s'] / theirs['elapsed_s'] - 1) < 0.03, (words, ours['elapsed_s'], theirs['elapsed_s'])
    return None


def test_a_run_ends_with_its_supermaster():
    if not HAS_SIMGRID:
        return ABSENT
    for masters in (0, 3):
        figures, said = simulate('simgrid', ['--platform', 'ranger', '--workers', 40, '--masters', masters, '--fail-nodes', '0@0.1', *JOB], 1)
        assert 'the node of the supermaster failed' in said.out and figures['done'] < 4000, str(said)
    return None


def test_loads():
    """Busy processes beside the workers, which the workers tell of where the weighting asks for it."""
    if not HAS_SIMGRID:
        return ABSENT
    times = {}
    for weighting in ('none', 'acp'):
        words = ['--workers', 4, '--load', '1,0,3,0', '--recall', 'off', '--weighting', weighting, *JOB]
        found = ratio(words)
        assert abs(found - 1) < 0.005, (weighting, found)
        with open('simgrid.json') as file:
            times[weighting] = json.load(file)['elapsed_s']
    assert times['acp'] < 0.9 * times['none'], times
    return None


def test_worker_gives_up_what_others_have_done():
    """The chunk of a worker that is a hundred times slower is computed by others; it is told to leave in the middle of it.
    Recall is off: the workers of SimGrid answer it in the middle of an iteration."""
    if not HAS_SIMGRID:
        return ABSENT
    words = ['--workers', 4, '--slowdown', '1,1,1,100', '--power', 'equal', '--recall', 'off', '--technique', 'static', '--costs', 'constant:mean=1000000', 'synthetic', 'iterations=40']
    (ours, _), (theirs, _) = simulate('virtual', words), simulate('simgrid', words)
    assert ours['faults']['reissued_chunks'] == theirs['faults']['reissued_chunks'] == 1
    assert abs(ours['elapsed_s'] / theirs['elapsed_s'] - 1) < 0.005, (ours['elapsed_s'], theirs['elapsed_s'])
    return None


def test_loops_with_dependencies():
    """Chunks that wait for one another's boundary data, which go within messages and by themselves, near and far, to slow workers and from them. No two
    workers are equal: else it is by chance who gets which chunk."""
    if not HAS_SIMGRID:
        return ABSENT
    workers = ['--workers', 6, '--slowdown', '1,1.03,1.06,1.09,1.12,1.15', '--costs', 'uniform:mean=2000,cov=0.3']
    for words in (['--technique', 'fac2', 'hydro', 'l=300', 'k=300'],
                  ['--technique', 'fac2', '--masters', 2, '--output', 'x.npy', 'hydro', 'l=300', 'k=300'],
                  ['--technique', 'css:chunk=20', '--platform', 'two-sites:cores=4', 'hydro', 'l=300', 'k=6000'],
                  ['--technique', 'dfss', '--ask-ahead', 1, '--sync-points', 5, 'floyd-steinberg', 'width=500', 'height=300'],
                  ['--technique', 'css:chunk=40', '--sync-points', 3, '--slow-nodes', '0:2@0.05-0.2', 'floyd-steinberg', 'width=500', 'height=300'],
                  ['--technique', 'gss', '--load', '0,0,2,0,1,0', '--slow-nodes', '0:2@0.05', 'floyd-steinberg', 'width=500', 'height=300']):
        found = ratio([*workers, *words])
        assert abs(found - 1) < 0.005, (words, found)
    failing = ['--platform', 'ranger:cores=4', *workers, '--technique', 'css:chunk=20', '--fail-nodes', '1@0.05', 'hydro', 'l=300', 'k=300']
    for masters in (0, 2):  # the loop ends with the boundary data of that node
        ends = [simulate(backend, ['--masters', masters, *failing], 1) for backend in ('virtual', 'simgrid')]
        assert all(figures['outcome'] == 'failed' and 'the run ends' in said.out for figures, said in ends), str(ends)
        (ours, _), (theirs, said) = ends
        assert ours['done'] == theirs['done'] < 300 and ours['faults'] == theirs['faults'], str(said)
    return None


def test_same_input_same_bytes():
    if not HAS_SIMGRID:
        return ABSENT
    texts = []
    for _ in range(2):
        simulate('simgrid', ['--platform', 'two-sites', '--workers', 70, '--slow-nodes', '0:2@0.1', '--fail-nodes', '1@0.2', *JOB])
        with open('simgrid.json') as file:
            texts.append(file.read())
    assert texts[0] == texts[1]
    return None


def test_platform_file_of_simgrid():
    """A core of its first host has speed 1; the other's workers are four times slower, and are found to be."""
    if not HAS_SIMGRID:
        return ABSENT
    with open('mine.xml', 'w') as file:
        file.write(PLATFORM)
    figures, _ = simulate('simgrid', ['--platform', 'mine.xml', '--workers', 3, '--technique', 'dfss', *JOB[2:]])
    assert figures['simulated']['platform'] == 'mine.xml' and figures['simulated']['platform_nodes'] == 2
    assert sorted(round(worker['power'], 2) for worker in figures['worker_stats']) == [1, 1, 4], figures['worker_stats']
    assert abs(figures['compute_s'] / 3 - 4000 * 500e-6 / (4 + 1 + 1) * 4) < 0.1, figures['compute_s']
    refused(['--platform', 'mine.xml', '--workers', 4, *JOB], 'mine.xml', '4 cores', '5 ranks')
    refused(['--platform', 'mine.xml', '--backend', 'virtual', *JOB], 'mine.xml', '--backend simgrid')
    return None


def test_wrong_use():
    if not HAS_SIMGRID:
        return ABSENT
    with open('broken.xml', 'w') as file:
        file.write(PLATFORM.replace('</zone>', ''))
    refused(['--platform', 'broken.xml', *JOB], '--platform broken.xml', 'SimGrid cannot read it', 'broken.xml:')
    refused(['--platform', 'none.xml', *JOB], '--platform none.xml', 'No such file')
    refused(['--slow-nodes', '0:2', *JOB], '--slow-nodes', '0:2', 'NODE:FACTOR@SECONDS')
    refused(['--slow-nodes', '7:2@1', *JOB], '--slow-nodes', '7:2@1', 'from 0 to 0')
    refused(['--fail-nodes', '0', *JOB], '--fail-nodes', "'0'", 'NODE@SECONDS')
    refused(['--load', '1,2', *JOB], '--load', '16 workers')
    refused(['--workers', 0, *JOB], '--workers')
    refused(['--seed', '2', *JOB], '--seed')
    return None


def test_without_simgrid():
    """An hdss that has no hdss-simgrid beside it, as where it was built without."""
    shutil.copy(HDSS, 'hdss')
    result = run([os.path.abspath('hdss'), 'simulate', '--backend', 'simgrid', *JOB])
    assert result.status == 2 and result.err == [ABSENT_LINE], str(result)


if __name__ == '__main__':
    main([test_both_backends_say_the_same, test_the_modules_are_found_from_a_prefix_that_was_moved, test_time_steps, test_slow_nodes, test_failed_nodes, test_a_run_ends_with_its_supermaster,
          test_loads, test_workers_that_draw_themselves, test_loops_with_dependencies, test_worker_gives_up_what_others_have_done, test_same_input_same_bytes, test_platform_file_of_simgrid, test_wrong_use, test_without_simgrid])
