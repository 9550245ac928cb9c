# SPDX-License-Identifier: MIT
"""What the commands in Python share: options by the conventions of those in C, their page, completion, and one line for what is refused."""
import contextlib
import io
import os
import sys

sys.path.insert(0, os.path.join(os.environ['SOURCE_ROOT'], 'deploy', 'python'))
# pylint: disable=wrong-import-position
from hdss._command import Command, Option, Refusal
from launch import main

COMMAND = Command('look', '[FILE]', 'Looks at ' + 'a word and ' * 9 + 'nothing else.',
                  (Option('all', 'look at all'), Option('count', 'how many ' + 'and more ' * 9 + 'of them', 'COUNT', '1 to 9', int),
                   Option('a-very-long-name', 'no room beside it', 'VALUE', 'any')), ('A note.',), lambda: ['north', 'south'])
PAGE = '''\
Usage: hdss look [FILE] [--all] [--count COUNT] [--a-very-long-name VALUE]

Looks at a word and a word and a word and a word and a word and a word and a
word and a word and a word and nothing else.

Options:
  --all                  look at all
  --count COUNT          how many and more and more and more and more and more
                         and more and more and more and more of them
  --a-very-long-name VALUE
                         no room beside it

Help:
  -h, --help             show this page
  -V, --version          show the version

A note.

`man hdss-look` has the rest.
'''


def test_options_are_taken():
    for words, values, operands in (([], {}, []), (['a', '--all', '-'], {'all': True}, ['a', '-']), (['--count', '3', '--count=4'], {'count': 4}, []),
                                    (['--', '--all', '-h'], {}, ['--all', '-h']), (['--count', '-3'], {'count': -3}, []), (['x', '-h', '--no'], {'help': True}, []),
                                    (['-V'], {'version': True}, []), (['--a-very-long-name=--all'], {'a-very-long-name': '--all'}, [])):
        assert COMMAND.parse(words) == (values, operands), words
    assert COMMAND.page() == PAGE, '\n' + COMMAND.page()


def test_what_is_refused_is_said_in_one_line():
    for words, line in ((['--count', 'x'], "--count 'x': accepted: 1 to 9"), (['--count'], '--count needs a value: accepted: 1 to 9'),
                        (['--count', '--all'], '--count needs a value: accepted: 1 to 9'), (['--all=1'], '--all takes no value'),
                        (['--cuont=1'], 'unknown option --cuont; did you mean --count?'), (['--ver'], 'unknown option --ver; did you mean --version?'),
                        (['-x'], 'unknown option -x; --help shows what there is')):
        try:
            COMMAND.parse(words)
        except Refusal as refusal:
            assert str(refusal) == line, (words, refusal)
        else:
            raise AssertionError(words)
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        assert COMMAND.main(['--\x1b[1m'], '1.2', lambda values, operands: 0) == 2
    assert said.getvalue() == 'hdss look: unknown option --?[1m; --help shows what there is\n', said.getvalue()


def test_words_are_completed():
    def offered(*words):
        written = []
        type(COMMAND).write, write = lambda self, text: written.append(text), type(COMMAND).write
        try:
            COMMAND.complete(words)
        finally:
            type(COMMAND).write = write
        return [line.split('\t')[0] for line in written[0].splitlines()]
    for words, expected in (([''], ['north', 'south']), (['s'], ['south']), (['--a'], ['--all', '--a-very-long-name']), (['--count', ''], []),
                            (['north', ''], []), (['--all', 'n'], ['north']), (['--', '--'], [])):
        assert offered(*words) == expected, (words, offered(*words))


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
