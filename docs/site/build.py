#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the site of the documents and man pages: plain HTML, which opens from disk.

    build.py ROOT FOLDER HDSS PAGE...    from the tree at ROOT, the program HDSS and the man pages, into FOLDER/html

The Markdown of the tree keeps its paths, so that its links lead where they did; man pages become HTML by mandoc, in `man`, and what they refer to
becomes a link. `hdss techniques` says what each technique is. Sphinx makes HTML of all that, with its search. It takes sphinx-build with MyST, and mandoc.
"""
import glob
import importlib.util
import os
import re
import shutil
import subprocess
import sys

DOCUMENTS = ['README.md', 'NEWS.md', 'CONTRIBUTING.md', 'SECURITY.md', 'docs/*.md', 'proto/PROTOCOL.md', 'tests/bench/RESULTS.md']
LINK = re.compile(r'(\[[^][]*\])\(([^)#:\s]+)(#[^)\s]*)?\)')
REFERENCE = re.compile(r'<a class="Xr" href="([\w.-]+)\.(\d)\.html">([^<]*)</a>')
HEADING = re.compile(r'(</?h)([1-5])')
TECHNIQUE = re.compile(r'^([a-z][a-z0-9-]*).* [x-] [x-] [x-]$', re.MULTILINE)
NAME = re.compile(r'^\.Nm ([\w.-]+)(?: ,)?$', re.MULTILINE)


def lacking():
    """What there is not: the words of a line, or None."""
    programs = [program for program in ('sphinx-build', 'mandoc') if not shutil.which(program)]
    return programs or (['the Python module myst_parser'] if not has_myst() else None)


def has_myst():
    """Sphinx has the modules of its own Python, which need not be the one that runs this."""
    with open(shutil.which('sphinx-build'), encoding='utf-8', errors='replace') as file:
        python = file.readline().strip().removeprefix('#!').split() or [sys.executable]
    if not os.path.exists(python[0]):
        return importlib.util.find_spec('myst_parser') is not None
    return subprocess.run([*python, '-c', 'import myst_parser'], stderr=subprocess.DEVNULL, check=False).returncode == 0


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)


def names_of(pages):
    """{(name, section): its page} of all names that the pages have."""
    found = {}
    for path in pages:
        page = os.path.basename(path)
        number = page.rsplit('.', 1)[1]
        for name in NAME.findall(read(path).split('.Nd ')[0]):
            found[name, number] = page
        found.setdefault((page.rsplit('.', 1)[0], number), page)
    return found


def page_text(path, names):
    """A man page as HTML in Markdown: its first heading has its name and what it is, and what it refers to are links, where it is a page of ours."""
    def link(found):
        name, number, words = found.groups()
        return f'<a href="{names[name, number]}.html">{words}</a>' if (name, number) in names else words
    made = subprocess.run(['mandoc', '-T', 'html', '-O', 'fragment,man=%N.%S.html', path], stdout=subprocess.PIPE, text=True, check=True).stdout
    body = made.split('<div class="manual-text">\n')[1].split('</div>\n<table class="foot">')[0].split('</section>\n', 1)[1]
    body = HEADING.sub(lambda found: found.group(1) + str(int(found.group(2)) + 1), REFERENCE.sub(link, body))
    name, number = os.path.basename(path).rsplit('.', 1)
    about = re.search(r'^\.Nd (.*)$', read(path), re.MULTILINE).group(1)
    return f'# {name}({number}): {about}\n\n```````{{raw}} html\n{body}```````\n'


def document_text(root, path, sources):
    """Its links to what is no document are files beside it, or only their words, as those to folders."""
    def link(found):
        words, target, _ = found.groups()
        place = os.path.normpath(os.path.join(os.path.dirname(path), target))
        if os.path.isfile(os.path.join(root, place)):
            if not os.path.exists(os.path.join(sources, place)):
                os.makedirs(os.path.dirname(os.path.join(sources, place)), exist_ok=True)
                shutil.copy(os.path.join(root, place), os.path.join(sources, place))
            return found.group(0)
        return words[1:-1]
    return LINK.sub(link, read(os.path.join(root, path)))


def techniques_text(program):
    """What `hdss techniques NAME` prints of each."""
    def shown(*words):
        return subprocess.run([program, 'techniques', *words], stdout=subprocess.PIPE, text=True, check=True).stdout
    parts, legend = [], ''
    for name in TECHNIQUE.findall(shown()):
        title, text = shown(name).split('\n', 1)
        text, legend = text.strip().rsplit('\n\n', 1)
        parts.append(f'## {title}\n\n```text\n{text}\n```\n')
    head = ('# The rule of each technique\n\n`hdss techniques NAME` prints these texts. [hdss-techniques(7)](hdss-techniques.7.md) says what techniques share.\n\n'
            f'```text\n{legend}\n```\n')
    return '\n'.join([head, *parts])


def make_sources(root, sources, program, pages):
    shutil.rmtree(sources, ignore_errors=True)
    names = names_of(pages)
    for path in pages:
        write(os.path.join(sources, 'man', os.path.basename(path) + '.md'), page_text(path, names))
    write(os.path.join(sources, 'man', 'techniques.md'), techniques_text(program))
    documents = [os.path.relpath(path, root) for pattern in DOCUMENTS for path in sorted(glob.glob(os.path.join(root, pattern)))]
    for path in documents:
        os.makedirs(os.path.dirname(os.path.join(sources, path)), exist_ok=True)
        shutil.copy(os.path.join(root, path), os.path.join(sources, path))
    for path in documents:
        write(os.path.join(sources, path), document_text(root, path, sources))
    shown = sorted((os.path.basename(path) for path in pages), key=lambda page: (page != 'hdss.1', page))
    index = read(os.path.join(root, 'docs/site/index.md.in'))
    for mark, section in (('@commands@', [page for page in shown if page.endswith('.1')]), ('@reference@', [page for page in shown if not page.endswith('.1')])):
        index = index.replace(mark, '\n'.join(f"{page.rsplit('.', 1)[0]}({page[-1]}) <man/{page}>" for page in section))
    write(os.path.join(sources, 'index.md'), index)
    for name in ('conf.py', 'hdss.css'):
        shutil.copy(os.path.join(root, 'docs/site', name), sources)


def main(root, folder, program, pages):
    needed = lacking()
    if needed:
        sys.exit(f"docs: there is no {' and no '.join(needed)}; on Debian: apt install python3-myst-parser python3-sphinx mandoc")
    sources, html = os.path.join(folder, 'sources'), os.path.join(folder, 'html')
    make_sources(root, sources, program, pages)
    done = subprocess.run(['sphinx-build', '-q', '-E', '-W', '--keep-going', '-d', os.path.join(folder, 'doctrees'), sources, html], check=False)
    if done.returncode == 0:
        print(f'docs: open {html}/index.html')
    return done.returncode


if __name__ == '__main__':
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]))
