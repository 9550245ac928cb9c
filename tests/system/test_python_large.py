# SPDX-License-Identifier: MIT
"""What is large: arrays as arguments and results, those that all workers of a node share, and maps of very many items."""
from launch import main
from pythons import needing


@needing('numpy')
def test_large_arguments_and_results(said):
    """They have files of their own, which go when they have been read.

import json, os
import hdss, numpy

array = numpy.random.default_rng(1).bytes(40 << 20)
with hdss.Executor(2) as executor:
    back = executor.submit(lambda a: a[::-1], array).result()
    mapped = list(executor.map(lambda a: a[:3 << 20], [array] * 4))
    names = [name for folder in os.scandir('temporary') if folder.is_dir() for name in os.listdir(folder.path) if 'unit-' in name]
print(json.dumps([back == array[::-1], all(one == array[:3 << 20] for one in mapped), names]))
    """
    assert said == [True, True, []], said


@needing('numpy')
def test_workers_of_a_node_share_what_is_broadcast(said):
    """All workers have read all of the array, and it is in memory once: a worker's part of it is what it takes, divided by their number.

import json, os, time
import hdss, numpy

SIZE, WORKERS = 48 << 20, 4
array = numpy.arange(SIZE // 8)
data = hdss.broadcast(array)
os.mkdir('read')

def look(total):
    assert int(data.value.sum()) == total
    assert not data.value.flags.writeable
    open(f'read/{os.getpid()}', 'w').close()
    while len(os.listdir('read')) < WORKERS:
        time.sleep(0.01)
    found, ours = {}, False
    with open('/proc/self/smaps') as file:
        for line in file:
            words = line.split()
            if '-' in words[0] and not words[0].endswith(':'):
                ours = 'broadcast-' in line
            elif ours and words[0] in ('Rss:', 'Pss:', 'Private_Dirty:'):
                found[words[0]] = found.get(words[0], 0) + int(words[1]) * 1024
    open(f'read/{os.getpid()}-done', 'w').close()
    while len(os.listdir('read')) < 2 * WORKERS:
        time.sleep(0.01)
    return found

with hdss.Executor(WORKERS) as executor:
    found = [future.result() for future in [executor.submit(look, int(array.sum())) for _ in range(WORKERS)]]
del data
print(json.dumps([SIZE, found]))
    """
    size, found = said
    for part in found:
        assert part['Rss:'] >= size and part['Private_Dirty:'] == 0, said
    assert size <= sum(part['Pss:'] for part in found) < 1.3 * size, said


@needing('numpy')
def test_maps_of_many_items_take_bounded_memory(said):
    """Ten times the items of a generator take no more memory.

import json, resource, sys
import hdss

def peak_kib():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

with hdss.Executor(2) as executor:
    peaks = []
    for count in (100000, 1000000):
        for way in (executor.map, executor.imap_unordered):
            total = sum(way(lambda i: i + 1, (i for i in range(count))))
            assert total == count * (count + 1) // 2, total
        peaks.append(peak_kib())
print(json.dumps(peaks))
    """
    few, many = said
    assert many < 1.2 * few, said


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
