# SPDX-License-Identifier: MIT
"""Text for terminals: figures as people read them, as common/metrics/human.c has them, and words from outside made safe to print."""
from __future__ import annotations

import math
import re

HUGE = 1e18
DAY_S = 86400.0
BAR_MAX = 60
BLOCKS = ' ▏▎▍▌▋▊▉'
# Characters on which a terminal acts, marks that change the direction of writing, separators of lines, and codes that are no characters: those
# for which common/util/plain.c has '?'.
OBEYED = re.compile('[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff'
                    + ''.join(f'{chr(plane << 16 | 0xfffe)}{chr(plane << 16 | 0xffff)}' for plane in range(17)) + ']')


def shown(text: str, utf8: bool = True) -> str:
    """The text as a terminal may have it, each character a column; without UTF-8 also those beyond ASCII become '?'."""
    safe = OBEYED.sub('?', text)
    return safe if utf8 else safe.encode('ascii', 'replace').decode('ascii')


def plain(text: str) -> str:
    """The text for a line of an error; a tab becomes a blank."""
    return shown(text.replace('\t', ' '))


def _decimals(value: float) -> int:
    """Decimals with which the value has three significant digits."""
    return 2 if value < 9.995 else 1 if value < 99.95 else 0


def _whole(value: float) -> float:
    """Rounds to a whole number, halves away from 0, as round() of C does."""
    return math.floor(value + 0.5)


def _two_units(total: float, ratio: int, large: str, small: str) -> str:
    return f'{math.floor(total / ratio):.0f} {large} {total % ratio:02.0f} {small}'


def duration(seconds: float) -> str:
    """"850 us", "12.3 ms", "4.56 s", "3 min 05 s", "2 h 05 min", "3 d 04 h"; "?" for what is no duration."""
    if not 0 <= seconds < 1e12:
        return '?'
    if seconds == 0:
        return '0 s'
    for most, factor, unit in ((0.9995e-3, 1e6, 'us'), (0.9995, 1e3, 'ms'), (59.95, 1, 's')):
        if seconds < most:
            return f'{seconds * factor:.{_decimals(seconds * factor)}f} {unit}'
    if seconds < 3599.5:
        return _two_units(_whole(seconds), 60, 'min', 's')
    if seconds < DAY_S - 30:
        return _two_units(_whole(seconds / 60), 60, 'h', 'min')
    return _two_units(_whole(seconds / 3600), 24, 'd', 'h')


def clock(seconds: float) -> str:
    """"3:16", "2:05:09", from a day on "3 d 04 h"."""
    if not seconds < DAY_S:
        return duration(seconds)
    minutes, rest = divmod(int(_whole(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f'{hours}:{minutes:02}:{rest:02}' if hours else f'{minutes}:{rest:02}'


def si(value: float) -> str:
    """"319", "45.6 k", "1.23 M" and so on, by powers of 1000; "?" below 0 and from 10^21 on."""
    if not 0 <= value < 1e21:
        return '?'
    unit = 0
    while value >= 999.5 and unit < 6:
        value, unit = value / 1000, unit + 1
    if unit == 0 and value == math.floor(value):
        return f'{value:.0f}'
    return f'{value:.{_decimals(value)}f}' + ('', ' k', ' M', ' G', ' T', ' P', ' E')[unit]


def count(number: float) -> str:
    """"1,234,567\""""
    return f'{int(number):,}' if number < HUGE else si(number)


def plural(number: float, one: str, many: str) -> str:
    return f'{count(number)} {one if number == 1 else many}'


def rate(per_second: float) -> str:
    """"319/s", "5.10 k/s", and of what is slow "12.5/min", "3/h"."""
    if per_second * 60 < 0.9995:
        return si(per_second * 3600) + '/h'
    return si(per_second * 60) + '/min' if per_second < 0.9995 else si(per_second) + '/s'


def bar(share: float, columns: int, utf8: bool) -> str:
    """`share` (cut to 0 .. 1) of the columns, blanks behind it: blocks by the eighth of a column, or '#' without UTF-8."""
    columns = min(columns, BAR_MAX)
    share = min(share, 1.0) if share > 0 else 0.0
    if not utf8:
        return ('#' * int(_whole(share * columns))).ljust(columns)
    eighths = int(_whole(share * columns * 8))
    return ('█' * (eighths // 8) + BLOCKS[eighths % 8].strip()).ljust(columns)
