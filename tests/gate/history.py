# SPDX-License-Identifier: MIT
"""How long each test takes and how often it has failed, over all runs of one checkout: a line of JSON for each run in build/selftest/history.jsonl."""
import json
import os
import statistics

RUNS = 100  # the latest ones are looked at


def path_of(build):
    return os.path.join(build, "selftest", "history.jsonl")


def note(build, record):
    """Appends a run: {"date", "commit", "tier", "load", "minutes", "tests": {"STAGE / NAME": [VERDICT, SECONDS]}}."""
    os.makedirs(os.path.dirname(path_of(build)), exist_ok=True)
    with open(path_of(build), "a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")


def runs(build):
    try:
        with open(path_of(build), encoding="utf-8") as file:
            return [json.loads(line) for line in file if line.endswith("\n")][-RUNS:]
    except OSError:
        return []


def last_minutes(build, tier):
    """What the last run of the tier took; None if there was none."""
    return next((run["minutes"] for run in reversed(runs(build)) if run["tier"] == tier), None)


def tally(found):
    """{name: (runs, failures, median seconds)}"""
    seen = {}
    for run in found:
        for name, (verdict, seconds) in run["tests"].items():
            seen.setdefault(name, []).append((verdict, seconds))
    return {name: (len(all_), sum(verdict in ("failed", "flaky") for verdict, _ in all_), statistics.median(seconds for _, seconds in all_))
            for name, all_ in seen.items()}


def text(build):
    """The ten tests that failed most often, and the ten slowest."""
    found = runs(build)
    if not found:
        return f"no run is known of {build}"
    counted = tally(found)
    worst = sorted((item for item in counted.items() if item[1][1] > 0), key=lambda item: -item[1][1] / item[1][0])[:10]
    slowest = sorted(counted.items(), key=lambda item: -item[1][2])[:10]
    lines = [f"{len(found)} runs, the last one {found[-1]['date']} of {found[-1]['commit'][:12]}", "", "failed most often:"]
    lines += [f"  {failures} of {count}  {name}" for name, (count, failures, _) in worst] or ["  none"]
    lines += ["", "slowest (median):"]
    lines += [f"  {seconds:6.1f} s  {name}" for name, (_, _, seconds) in slowest]
    return "\n".join(lines)
