# SPDX-License-Identifier: MIT
"""What tests came to, read from Meson's logs: one result for each function of a TAP program, one for any other test."""
import dataclasses
import json
import re

TAP_LINE = re.compile(r"^(not )?ok\b *\d*(?: - )?(.*)((?:\n#.*)*)$", re.MULTILINE)  # with the remarks below it
TAP_PLAN = re.compile(r"^1\.\.\d+", re.MULTILINE)
DIRECTIVE = re.compile(r"#\s*(skip|todo)\b *(.*)", re.IGNORECASE)
SECONDS = re.compile(r"^# ([0-9.]+) s$", re.MULTILINE)
GOOD = {"OK", "EXPECTEDFAIL"}
SHOWN = 10  # lines of a failure; all of them are in a file


@dataclasses.dataclass
class Result:
    """How one function ended. `function` is empty for a test without functions, and for the end of a program that ended badly by itself."""
    stage: str
    program: str
    function: str
    verdict: str  # passed, failed or skipped
    lines: list   # why it failed or was skipped
    seconds: float = 0.0
    retried: bool = False  # a second try can excuse it: its program runs in real time

    @property
    def name(self):
        return f"{self.program}: {self.function}" if self.function else self.program


def read_function(stage, program, match):
    directive = DIRECTIVE.search(match.group(2))
    kind = directive.group(1).lower() if directive else ""
    verdict = "skipped" if kind == "skip" else "failed" if match.group(1) and not kind else "passed"
    function = match.group(2)[:directive.start()] if directive else match.group(2)
    remarks = match.group(3).strip("\n")
    seconds = SECONDS.search(remarks)
    lines = [line.removeprefix("#").removeprefix(" ") for line in remarks.splitlines()] if verdict == "failed" else []
    return Result(stage, program, function.strip(), verdict, [directive.group(2)] if verdict == "skipped" else lines,
                  float(seconds.group(1)) if seconds else 0.0)


def read_test(stage, test):
    """The results of one entry of Meson's log. A program that ended badly although no function failed has one more result, which failed."""
    stdout, result, program = test.get("stdout", ""), test["result"], test["name"].split(" / ")[-1]
    seconds = test.get("duration", 0.0)
    end = (stdout + test.get("stderr", "")).splitlines()
    if not TAP_PLAN.search(stdout):
        verdict = "passed" if result in GOOD else "skipped" if result == "SKIP" else "failed"
        return [Result(stage, program, "", verdict, [] if verdict == "passed" else [result.lower(), *end], seconds)]
    found = [read_function(stage, program, match) for match in TAP_LINE.finditer(stdout)]
    if result == "SKIP" and not found:
        found.append(Result(stage, program, "", "skipped", end[:1], seconds))
    elif result not in GOOD | {"SKIP"} and all(one.verdict != "failed" for one in found):
        found.append(Result(stage, program, "", "failed", [result.lower(), *end], seconds))
    return found


def read_log(stage, path):
    results = []
    with open(path, encoding="utf-8", errors="replace") as log:
        for line in log:
            results += read_test(stage, json.loads(line))
    return results


def shortened(result, path=""):
    """What is shown of a failure: of a function its first lines, where the cause stands, and the last two; of a program its last ones."""
    lines = [line for line in result.lines if line.strip()]
    if len(lines) <= SHOWN:
        return lines
    more = f"... {len(lines) - SHOWN + 1} more lines{path and ' in ' + path} ..."
    return [*lines[:SHOWN - 3], more, *lines[-2:]] if result.function else [more, *lines[1 - SHOWN:]]
