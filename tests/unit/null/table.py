# SPDX-License-Identifier: MIT
"""Makes a table of calls from the headers: each function of theirs that has an error to fill in, as table.h has it.

usage: table.py ROOT OUTPUT AREA...
"""
import os
import re
import sys

# Needs MPI or a library that the others do without, or has a name that another header has.
LEFT_OUT = ('common/mpi/', 'common/stream/peer.h', 'common/dca/', 'deploy/simulate/simgrid/', 'supermaster/set/pods.h', 'deploy/cli/values.h')
COMMENT = re.compile(r'/\*.*?\*/', re.DOTALL)
PROTOTYPE = re.compile(r'^(?!static|typedef|#|extern)[A-Za-z_][\w *]*?\b(\w+)\(([^;{}]*?\bstruct error \*\w+[^;{}]*?)\)(?:\s*__attribute__\(\(.*?\)\))?;',
                       re.MULTILINE | re.DOTALL)


def headers(root, areas):
    for area in areas:
        for folder, _, names in sorted(os.walk(os.path.join(root, area))):
            for name in sorted(names):
                path = os.path.relpath(os.path.join(folder, name), root)
                if name.endswith('.h') and not path.startswith(LEFT_OUT):
                    yield path


def split(parameters):
    """The parameters, which commas part that are in no parentheses."""
    depth, parts = 0, ['']
    for letter in ' '.join(parameters.split()):
        depth += (letter == '(') - (letter == ')')
        if letter == ',' and depth == 0:
            parts.append('')
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def argument(place, parameter):
    kind = re.sub(r'\b\w+(\[[^\]]*\])?$', lambda match: '*' if match.group(1) else '', parameter).strip()
    if '(*' in parameter:
        return 'NULL'
    if kind == 'struct error *':
        return 'error'
    if kind == 'const char *':
        return 'text'
    if kind in ('char *const *', 'const char *const *'):
        return '(void *)null_words'
    if kind.endswith('*') or kind.endswith('*const'):
        return f'null_room({place})'
    return 'number' if re.fullmatch(r'(u?int\d*_t|unsigned|int|size_t|bool|double|long|off_t|mode_t|pid_t|char)', kind) else f'({kind}){{0}}'


def main():
    root, output, *areas = sys.argv[1:]
    includes, calls, names = [], [], []
    for path in headers(root, areas):
        with open(os.path.join(root, path), encoding='utf-8') as file:
            found = PROTOTYPE.findall(COMMENT.sub(' ', file.read()))
        includes += [f'#include "{path}"\n'] * bool(found)
        for name, parameters in found:
            parts = split(parameters)
            given = [argument(place, part) for place, part in enumerate(parts) if part != '...']
            if any('va_list' in part for part in parts) or 'error' not in given:
                continue
            if parts[-1] == '...':
                given[-1] = '"%s", text'
            names.append(name)
            calls.append(f'static void call_{name}(unsigned number, const char *text, struct error *error)\n{{\n    (void)number, (void)text;\n'
                         f'    (void){name}({", ".join(given)});\n}}\n')
    text = ('/* Made by table.py. */\n#include "tests/unit/null/table.h"\n' + ''.join(includes) + '\n' + '\n'.join(calls) +
            '\nconst struct null_call null_calls[] = {\n' + ''.join(f'    {{"{name}", call_{name}}},\n' for name in names) +
            f'}};\nconst unsigned null_call_count = {len(names)};\n')
    if not os.path.exists(output) or open(output, encoding='utf-8').read() != text:  # else nothing is compiled again
        with open(output, 'w', encoding='utf-8') as file:
            file.write(text)


main()
