# SPDX-License-Identifier: MIT
"""What runs have computed: files of results, and how they compare with those of a run that nothing happens to."""
import functools
import os
import struct

from launch import hurried, journal_is_over, run_job


def read(path):
    with open(path, 'rb') as file:
        return file.read()


@functools.cache
def undisturbed(*words):
    """Checksum and output of a run that nothing happens to."""
    with hurried():
        result = run_job(0, 3, ['--power', 'equal', '--journal', 'off', '--output', 'reference.npy', *words])
    assert result.status == 0, result
    return result.checksum(), read('reference.npy')


def check(result, reference, output='out.npy'):
    assert result.status == 0, result
    checksum, content = reference
    assert result.checksum() == checksum, (result, checksum)
    assert read(output) == content
    journal = output + '.journal'
    assert not os.path.exists(journal) or journal_is_over(journal), 'the journal of a complete run says that it is over'


def records_of(path):
    """What is behind the head of a .npy."""
    data = read(path)
    return data[10 + struct.unpack('<H', data[8:10])[0]:]


def records(path='out.npy'):
    found = read(path)
    return memoryview(found[10 + struct.unpack('<H', found[8:10])[0]:]).cast('Q')
