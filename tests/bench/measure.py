"""What the benchmarks share: a header that names the machine, medians with their range, JSON lines.

Figures are ratios measured side by side in one run; nothing here judges, it prints. HDSS_BENCH_RUNS sets the number of runs
(default 5), HDSS_BENCH_JSON a file to which every figure is appended as one JSON line.
"""
import json
import os
import platform
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'system'))

RUNS = int(os.environ.get('HDSS_BENCH_RUNS', '5'))


def machine():
    model = 'unknown processor'
    with open('/proc/cpuinfo') as info:
        for line in info:
            if line.startswith('model name'):
                model = line.split(':', 1)[1].strip()
                break
    return {'processor': model, 'cores': len(os.sched_getaffinity(0)), 'system': platform.platform(), 'load': os.getloadavg()[0]}


def header(title):
    facts = machine()
    print(f'{title}\n  {facts["processor"]}, {facts["cores"]} cores, {facts["system"]}, load {facts["load"]:.2f}, '
          f'medians of {RUNS} (least .. most)\n', flush=True)


def spread(values, form='{:.3f}'):
    return f'{form.format(statistics.median(values))} ({form.format(min(values))} .. {form.format(max(values))})'


def record(benchmark, name, values, **more):
    path = os.environ.get('HDSS_BENCH_JSON')
    if path:
        with open(path, 'a') as file:
            line = {'benchmark': benchmark, 'name': name, 'values': values, 'median': statistics.median(values), **more,
                    'machine': machine()}
            file.write(json.dumps(line) + '\n')


def side_by_side(cases):
    """cases: {name: function that runs once and returns its figure}. All in turn, RUNS times; {name: [figures]}."""
    figures = {name: [] for name in cases}
    for _ in range(RUNS):
        for name, function in cases.items():
            figures[name].append(function())
    return figures
