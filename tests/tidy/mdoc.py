# SPDX-License-Identifier: MIT
"""Man pages in mdoc, as the tidy tests see them."""
import re

PAGES = tuple(f".{number}" for number in range(1, 9))  # how the names of their files end
REFERENCE = re.compile(r"^\.(?:.* )?Xr ([\w.-]+) (\d)", re.MULTILINE)
NAME = re.compile(r"^\.Nm ([\w.-]+)(?: ,)?$", re.MULTILINE)


def section(text, title):
    found = re.search(rf"^\.Sh {title}\n(.*?)(?:^\.Sh |\Z)", text, re.MULTILINE | re.DOTALL)
    return found.group(1) if found else ""


def names(text):
    """Those that the page gives at its beginning."""
    return NAME.findall(section(text, "NAME"))
