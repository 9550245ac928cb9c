# SPDX-License-Identifier: MIT
"""A few lines of TAP for the tidy tests: each check gives a list of complaints, none of them means ok."""
import sys


def run(checks):
    """Runs (name, function) pairs; a function returns its complaints, or a string that says why it was skipped."""
    failed = 0
    print(f"1..{len(checks)}")
    for number, (name, check) in enumerate(checks, 1):
        complaints = check()
        if isinstance(complaints, str):
            print(f"ok {number} - {name} # SKIP {complaints}")
            continue
        print(f"{'not ok' if complaints else 'ok'} {number} - {name}")
        for complaint in complaints:
            print(f"# {complaint}")
            print(complaint, file=sys.stderr)
        failed += bool(complaints)
    return 1 if failed else 0
