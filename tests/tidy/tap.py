# SPDX-License-Identifier: MIT
"""A few lines of TAP for the tidy tests: each check gives a list of complaints, none of them means ok."""
import os
import sys
import tempfile


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


def write(folder, texts):
    """Writes files, {path below the folder: text}, and the folders that they are in."""
    for path, text in texts.items():
        os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
        with open(os.path.join(folder, path), "w", encoding="utf-8", newline="") as file:
            file.write(text)


def self_test(check, texts, count):
    """Runs a check, check(folder), on files, {path: text}, of which it has to complain as often as `count`. Gives what is wrong, as a check does."""
    with tempfile.TemporaryDirectory() as folder:
        write(folder, texts)
        found = check(folder)
    if isinstance(found, str):
        return found
    return [] if len(found) == count else [f"expected {count} complaints, got {found}"]
