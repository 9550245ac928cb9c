# SPDX-License-Identifier: MIT
"""What a command in Python shares with those in C: options and their page, completion, and one line for what is refused.

`hdss NAME` runs hdss-NAME, which calls main() of the command's module. The page, the errors and the completion are made from one table, by
the conventions of common/config/options.h."""
from __future__ import annotations

import difflib
import math
import re
import signal
import sys
import textwrap
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

from hdss import _text

DONE, FAILED, USAGE = 0, 1, 2
WIDTH, SUMMARY_COLUMN = 79, 25


class Refusal(Exception):
    """The user has typed something wrong. The text says in one line what to type."""


class Option(NamedTuple):
    name: str
    summary: str
    value: str = ''  # name of the value; empty: a flag
    accepted: str = ''
    read: Callable[[str], Any] = str  # raises ValueError for what is not accepted
    letter: str = ''


HELP, VERSION = Option('help', 'show this page', letter='h'), Option('version', 'show the version', letter='V')
COMMON = (HELP, VERSION)


class Command(NamedTuple):
    name: str
    operands: str  # as the usage has them
    about: str
    options: Sequence[Option]
    notes: Sequence[str]  # lines, each of which may be indented
    offer_operands: Callable[[], Iterable[str]]  # ':files' among them: any file
    usage: str = ''  # behind the name, if it is not the operands and all options

    @property
    def program(self) -> str:
        return f'hdss {self.name}'

    def say(self, text: str) -> None:
        print(f'{self.program}: {_text.plain(text)}', file=sys.stderr)

    def page(self) -> str:
        """What --help shows."""
        words = [f'[--{option.name}{" " if option.value else ""}{option.value}]' for option in self.options]
        usage = self.usage or ' '.join([self.operands, *words])
        parts = [f'Usage: {self.program} {usage}\n', _fill(self.about)]
        for title, options in (('Options', self.options), ('Help', COMMON)):
            parts.append(f'{title}:\n' + ''.join(_option_row(option) for option in options))
        return '\n'.join(parts + [''.join(map(_fill, note.split('\n'))) for note in self.notes] + [f'`man hdss-{self.name}` has the rest.\n'])

    def parse(self, words: Sequence[str]) -> Tuple[Dict[str, Any], List[str]]:
        """Values of options by their names, and the operands. `help` or `version` among the values: nothing else counts."""
        values: Dict[str, Any] = {}
        operands: List[str] = []
        rest = list(words)
        while rest:
            word = rest.pop(0)
            if word == '--':
                return values, operands + rest
            if not word.startswith('-') or word == '-':
                operands.append(word)
                continue
            option, value = self._find(word), word.partition('=')[2] if '=' in word else None
            if word[1] != '-' and len(word) > 2:
                value = word[2:]  # behind the letter
            if option in COMMON and value is None:
                return {option.name: True}, []
            values[option.name] = self._value(option, value, rest)
        return values, operands

    def _find(self, word: str) -> Option:
        name = word.partition('=')[0]
        for option in (*self.options, *COMMON):
            if name == f'--{option.name}' or (option.letter and word[1] == option.letter):
                return option
        nearest = _nearest(name.lstrip('-'), [option.name for option in (*self.options, *COMMON)])
        raise Refusal(f'unknown option {name}; ' + (f'did you mean --{nearest}?' if nearest else '--help shows what there is'))

    def _value(self, option: Option, value: Optional[str], rest: List[str]) -> Any:
        if not option.value:
            if value is not None:
                raise Refusal(f'--{option.name} takes no value')
            return True
        if value is None and (not rest or any(rest[0].partition('=')[0] == f'--{other.name}' for other in (*self.options, *COMMON))):
            raise Refusal(f'--{option.name} needs a value: accepted: {option.accepted}')
        text = rest.pop(0) if value is None else value
        try:
            return option.read(text)
        except ValueError:
            raise Refusal(f"--{option.name} '{text:.100}': accepted: {option.accepted}") from None

    def write(self, text: str) -> int:
        """Writes to standard output, as the last thing that the command does. What cannot be written is no success."""
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        data = text.encode(sys.stdout.encoding, 'replace')
        try:
            with open(1, 'wb', buffering=0, closefd=False) as file:
                while data:
                    data = data[file.write(data):]
        except OSError as error:
            self.say(f'cannot write: {error.strerror}')
            return FAILED
        return DONE

    def complete(self, words: Sequence[str]) -> int:
        """Candidates for the last of the words, one a line with what each is for behind a tab."""
        *before, word = words or ['']
        offered = {f'--{option.name}': option.summary for option in (*self.options, *COMMON)}
        if word.startswith('-') and '--' not in before:
            lines = [f'{name}\t{about}' for name, about in offered.items() if name.startswith(word)]
            lines += [f'{kind}\t--{name}=' for name, kind in self._paths() if word.startswith(f'--{name}=')]
        elif before and any(before[-1] == f'--{option.name}' and option.value for option in self.options):
            lines = [f'{kind}\t' for name, kind in self._paths() if before[-1] == f'--{name}']
        elif self._operands_among(before) > 0:
            lines = []
        else:
            lines = [f'{name}\t' for name in self.offer_operands() if name.startswith((word, ':'))]
        return self.write(''.join(line + '\n' for line in lines))

    def _paths(self) -> List[Tuple[str, str]]:
        """The options that take a path, each with what a shell is to offer for it."""
        return [(option.name, ':folders' if option.value == 'FOLDER' else ':files') for option in self.options if option.value.startswith(('FILE', 'FOLDER'))]

    def _operands_among(self, words: Sequence[str]) -> int:
        with_value = {f'--{option.name}' for option in self.options if option.value} | {f'-{option.letter}' for option in self.options if option.letter}
        return sum(not word.startswith('-') and (i == 0 or words[i - 1] not in with_value) for i, word in enumerate(words))

    def main(self, words: Sequence[str], version: str, run: Callable[[Dict[str, Any], List[str]], int]) -> int:
        """Runs the command. Returns its exit status."""
        if words[:1] == ['--complete']:
            return self.complete(words[1:])
        try:
            values, operands = self.parse(words)
            if 'help' in values:
                return self.write(self.page())
            if 'version' in values:
                return self.write(f'hdss (HDSS) {version}\n')
            return run(values, operands)
        except Refusal as refusal:
            self.say(str(refusal))
            return USAGE


def whole(text: str) -> int:
    """A whole number as common/util/number.h has it: 1e6, 2^20 and 1_000, too. ValueError for what is none, or takes more than 64 bits."""
    match = re.fullmatch(r'(\d+(?:_\d+)*)(?:([eE^])(\d+(?:_\d+)*))?', text, re.ASCII)
    if match is None:
        raise ValueError(text)
    number, sign, power = int(match[1]), match[2], int(match[3] or 0)
    if power > 64:
        raise ValueError(text)
    if sign:
        number = number ** power if sign == '^' else number * 10 ** power
    if number >= 1 << 64:
        raise ValueError(text)
    return number


def real(text: str) -> float:
    """A finite number in decimal digits. ValueError for what is none."""
    if not text or text.strip('0123456789.eE+-'):
        raise ValueError(text)
    number = float(text)
    if math.isinf(number):
        raise ValueError(text)
    return number


def any_file() -> Iterable[str]:
    """What a shell is to offer for an operand that is a file."""
    return [':files']


def _fill(text: str) -> str:
    indent = ' ' * (len(text) - len(text.lstrip(' ')))
    return textwrap.fill(text.lstrip(' '), WIDTH, initial_indent=indent, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False) + '\n'


def _option_row(option: Option) -> str:
    head = f'  {f"-{option.letter}, " if option.letter else ""}--{option.name}{" " if option.value else ""}{option.value}'
    indent = ' ' * SUMMARY_COLUMN
    begin = head.ljust(SUMMARY_COLUMN) if len(head) <= SUMMARY_COLUMN - 2 else f'{head}\n{indent}'
    return begin + textwrap.indent(textwrap.fill(option.summary, WIDTH - SUMMARY_COLUMN, break_on_hyphens=False), indent).lstrip() + '\n'


def _nearest(word: str, names: Sequence[str]) -> Optional[str]:
    """The name that was probably meant; None if no name is near."""
    begun = [name for name in names if len(word) > 2 and name.startswith(word)]
    return next(iter(begun or difflib.get_close_matches(word, names, 1)), None)
