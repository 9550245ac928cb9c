# SPDX-License-Identifier: MIT
"""What a program gives as arguments: numbers of Python and numpy, paths, texts. What cannot be is one TypeError or ValueError, which names
the argument and what is accepted."""
from __future__ import annotations

import math
import numbers
import operator
import os
import shlex
from typing import Any, Dict, Iterable, List, Mapping, Optional, Tuple

COUNT_MAX = 2**63 - 1


def refusal(kind: 'type[Exception]', name: str, given: Any, accepted: str) -> Exception:
    return kind(f'{name}: {given!r:.60}; accepted: {accepted}')


def whole(name: str, given: Any, least: int = 0, accepted: str = '') -> int:
    """A whole number of at least `least`."""
    accepted = accepted or f'{least} or more'
    try:
        number = operator.index(given)  # ints of numpy, too
    except TypeError:
        raise refusal(TypeError, name, given, f'a whole number, {accepted}') from None
    if not least <= number <= COUNT_MAX:
        raise refusal(ValueError, name, number, accepted)
    return number


def seconds(name: str, given: Any) -> Optional[float]:
    """Seconds above 0, or None."""
    if given is None:
        return None
    if not isinstance(given, numbers.Real) or isinstance(given, bool):
        raise refusal(TypeError, name, given, 'seconds above 0, or None')
    if not 0 < float(given) < math.inf:
        raise refusal(ValueError, name, given, 'seconds above 0, or None')
    return float(given)


def text(name: str, given: Any) -> Optional[str]:
    """A text, or None."""
    if given is not None and not isinstance(given, str):
        raise refusal(TypeError, name, given, 'a text, or None')
    return given


def is_truth(given: Any) -> bool:
    """True for True and False, of Python or numpy."""
    return isinstance(given, bool) or (type(given).__module__ == 'numpy' and type(given).__name__ in ('bool', 'bool_'))


def word(name: str, given: Any) -> str:
    """A word of a command line: a text, bytes, a path, or a number. Bytes that are no UTF-8 are as os.fsdecode() has them."""
    if isinstance(given, str):
        return given
    if isinstance(given, numbers.Number) and not is_truth(given):
        return str(given)
    try:
        return os.fsencode(given).decode('utf-8', 'surrogateescape')
    except TypeError:
        raise refusal(TypeError, name, given, 'a text, bytes, a path, or a number') from None


def parameter(name: str, given: Any) -> str:
    """The value of a parameter of a kernel."""
    return ('yes' if given else 'no') if is_truth(given) else word(name, given)


def option_words(options: Optional[Mapping[str, Any]]) -> List[str]:
    """Options of a job as words: {'iteration_timeout': 5} is --iteration-timeout 5."""
    words: List[str] = []
    for name, value in (options or {}).items():
        option = '--' + name.replace('_', '-')
        if value is None or is_truth(value):
            words += [option] if value else []
        else:
            words += [option, word(f'options[{name!r}]', value)]
    return words


def listed(name: str, given: Any, accepted: str) -> Iterable[Any]:
    """What is to be a list, a tuple or an iterator; a single text is none."""
    if isinstance(given, (str, bytes, os.PathLike)) or not hasattr(given, '__iter__'):
        raise refusal(TypeError, name, given, accepted)
    items: Iterable[Any] = given
    return items


def command_line(command: Any) -> str:
    """The line of a command, which is a line, or a list of words."""
    if isinstance(command, (str, bytes)):
        line = word('commands', command)
    elif isinstance(command, os.PathLike):
        line = shlex.join([word('commands', command)])
    else:
        line = shlex.join(word('a word of commands', part) for part in listed('commands', command, 'lines, or lists of words'))
        if not line:
            raise refusal(ValueError, 'commands', command, 'lines, or lists of words')
    for bad, what in (('\n', 'a line end'), ('\0', 'a null character')):
        if bad in line:
            raise ValueError(f'a command has {what}: {line!r:.60}')
    return line


def job_options(name: Any, priority: Any, weight: Any, after: Iterable[int] = ()) -> Dict[str, Any]:
    """As POST /v1/jobs takes them."""
    def number(of: str, given: Any) -> int:
        return whole(of, given, -COUNT_MAX, 'a number of the range that `hdss submit --help` says')
    awaited = [whole('after', one, 1, 'numbers of jobs') for one in listed('after', after, 'a list of numbers of jobs')]
    return {'name': text('name', name), 'priority': number('priority', priority), 'weight': number('weight', weight),
            **({'after': awaited} if awaited else {})}


def variables(environment: Any) -> Dict[str, str]:
    """Variables of workers."""
    if not isinstance(environment, Mapping):
        raise refusal(TypeError, 'environment', environment, 'a dictionary of texts, or None')
    return {word('environment', name): word(f'environment[{name!r}]', value) for name, value in environment.items()}


def arguments(initargs: Any) -> Tuple[Any, ...]:
    return tuple(listed('initargs', initargs, 'a tuple of arguments, such as (1,)'))
