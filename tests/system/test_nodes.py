# SPDX-License-Identifier: MIT
"""Several nodes, pretended on one machine: workers are served by the master of their node, dealt evenly where that does not fit."""
import os

from launch import MASTER, SUPERMASTER, WORKER, finish, main, report, start
from nodes import Nodes
from openmpi import IS_5

SYNTHETIC = ['synthetic', 'iterations=2000', 'mean=20']


def run_on(nodes, masters, workers, *options):
    contexts = [(1, [SUPERMASTER, '--report', os.path.abspath('report.json'), *options, *SYNTHETIC])]
    if masters:
        contexts.append((masters, [MASTER]))
    contexts.append((workers, [WORKER]))
    result = finish(start(nodes.line(contexts)))
    assert result.status == 0, result
    return report()


def over(count, test):
    try:
        with Nodes(count) as nodes:
            test(nodes)
    except OSError as problem:
        return str(problem)



def masters_in(figures):
    """Their ranks, which with version 4 come before those of the workers."""
    found = sorted({row['master'] for row in figures['worker_stats']})
    assert IS_5 or found == list(range(1, len(found) + 1)), found
    return found


def test_workers_are_served_by_the_master_of_their_node():
    def test(nodes):
        # each context is mapped round robin over the nodes, so ranks that are equal modulo 4 share one
        figures = run_on(nodes, 4, 8)
        assert figures['nodes'] == 4, figures
        for row in figures['worker_stats']:
            assert IS_5 or row['rank'] % 4 == row['master'] % 4, row  # version 5 numbers them node by node
        pairs = {(row['node'], row['master']) for row in figures['worker_stats']}
        assert len(pairs) == 4 and len({master for _, master in pairs}) == 4, pairs
        even = run_on(nodes, 4, 8, '--group-by', 'even')
        assert even['checksum'] == figures['checksum']
        served = [sum(row['master'] == master for row in even['worker_stats']) for master in masters_in(even)]
        assert served == [2, 2, 2, 2], served
    return over(4, test)


def test_what_does_not_fit_is_dealt_evenly():
    def test(nodes):
        # two of the three nodes have a master; the workers of the third are dealt to even out the counts
        figures = run_on(nodes, 2, 6)
        served = [sum(row['master'] == master for row in figures['worker_stats']) for master in masters_in(figures)]
        assert served == [3, 3], served
        masters_of = {node: {row['master'] for row in figures['worker_stats'] if row['node'] == node} for node in range(3)}
        at_home = [masters.copy().pop() for masters in masters_of.values() if len(masters) == 1]
        assert sorted(at_home) == masters_in(figures), masters_of
    return over(3, test)


def test_results_cross_the_network():
    def test(nodes):
        output = os.path.abspath('out.npy')
        contexts = [(1, [SUPERMASTER, '--output', output, 'mandelbrot', 'width=2000', 'height=500', 'max_iter=50']), (2, [MASTER]), (4, [WORKER])]
        first = finish(start(nodes.line(contexts)))
        assert first.status == 0, first
        contexts = [contexts[0], (3, [WORKER])]
        second = finish(start(nodes.line(contexts)))
        assert second.status == 0, second
        assert first.checksum() == second.checksum()
    return over(2, test)


def test_a_node_on_which_all_tasks_fail_is_put_aside():
    def test(nodes):
        bad = nodes.names[1]
        with open('tasks.txt', 'w') as file:
            file.writelines(f"sh -c 'sleep 0.0{i % 3 + 3}; test $(hostname) != {bad}'\n" for i in range(240))  # failing takes as long
        result = finish(start(nodes.hdss(['--masters', 0, '--workers', 4, '--report', 'report.json', '--node-failures', 4, 'exec', 'tasks=tasks.txt'],
                                         slots=3)))
        told = [line for line in result.err if 'node 1 is put aside: the last ' in line and '--node-failures off keeps it' in line]
        assert result.status == 3 and len(told) == 1, result
        assert report()['done'] == 240 and [row['node'] for row in report()['put_aside']] == [1], report()
    return over(2, test)


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
