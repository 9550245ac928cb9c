# SPDX-License-Identifier: MIT
"""Journals of runs: their head, their records, and the first record, before which nothing can be resumed."""
import os

from launch import finish, journal_is_over, wait_until
from results import read


def has_records(path='out.npy.journal'):
    """Of a run that goes on: a complete one that it takes the place of has left a journal with an end."""
    return os.path.exists(path) and os.path.getsize(path) > head_of(path) and not journal_is_over(path)


def wait_for_records(process, path='out.npy.journal'):
    def look():
        assert process.poll() is None, finish(process)
        return has_records(path)
    wait_until(look, 'the first record')


def head_bytes(content):
    """Bytes of the head of a journal, behind whose magic word and version the length of its text stands, and of what says how long the loop
    is, where that follows."""
    at = 36 + int.from_bytes(content[12:16], 'little')
    while content[at:at + 4] == b'\1\0\0\xc0':
        at += 32
    return at


def head_of(journal):
    with open(journal, 'rb') as file:
        return head_bytes(file.read())


def records_of_journal(path='out.npy.journal'):
    """(kind, offset) of each record; kind: done, deaths or point."""
    try:
        data = read(path)
    except OSError:
        return []
    at, found = 36 + int.from_bytes(data[12:16], 'little'), []
    while len(data) - at >= 16:
        word = int.from_bytes(data[at:at + 4], 'little')
        found.append(('point' if word >> 30 & 1 else 'deaths' if word >> 31 else 'done', at))
        at += 16 + 16 * (word & (1 << 30) - 1)
    return found


def begun_with(path):
    """Bytes of a journal that is begun: the head, and where something was done before a record of it."""
    try:
        content = read(path)
    except OSError:
        return 1 << 62
    head = head_bytes(content)
    return head + 16 + 16 * int.from_bytes(content[head:head + 4], 'little') if len(content) > head else head


def crc32c(before, data):
    crc = before ^ 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def with_one_record(head, first, count, checksum):
    body = int(checksum, 16).to_bytes(8, 'little') + first.to_bytes(8, 'little') + count.to_bytes(8, 'little')
    ranges = (1).to_bytes(4, 'little')
    crc = crc32c(crc32c(int.from_bytes(head[-4:], 'little'), ranges), body)
    return head + ranges + crc.to_bytes(4, 'little') + body
