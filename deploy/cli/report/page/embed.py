#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes a page of HTML: embed.py PAGE.html FILE...; or a C source of it: embed.py OUTPUT HEADER NAME FILE...

The files are one of HTML, and any of CSS and of JavaScript. Those of a kind become one, in their order. The style and the script go to their places in the HTML, and the hash of each into its Content-Security-Policy, so that a
browser runs this script and no other. Where {{name}} is left the program writes what it has of that name: NAME, which HEADER declares, is an array of
struct page_part."""
import base64
import hashlib
import re
import sys


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def source_of(text):
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def literal(text):
    """The text as string literals of C, one for each line."""
    lines = text.encode("utf-8").splitlines(keepends=True) or [b""]
    escaped = []
    for line in lines:
        shown = "".join(f"\\{byte:03o}" if byte < 32 or byte > 126 or chr(byte) in '"\\?' else chr(byte) for byte in line)
        escaped.append(f'    "{shown}"')
    return "\n".join(escaped)


def main():
    output, *words = sys.argv[1:]
    is_page = output.endswith(".html")
    header, array, *files = ["", "", *words] if is_page else words
    page, style, script = ("\n".join(read(file) for file in files if file.endswith(ending)) for ending in (".html", ".css", ".js"))
    script = "'use strict';\n(async () => {\n" + script + "})();\n"
    for name, text in (("style", style), ("script", script), ("style_source", source_of(style)), ("script_source", source_of(script))):
        page = page.replace("{{" + name + "}}", text)
    if is_page:
        with open(output, "w", encoding="utf-8") as file:
            file.write(page)
        return
    pieces = re.split(r"\{\{(\w+)\}\}", page)
    with open(output, "w", encoding="ascii") as file:
        file.write(f'/* A page, made by embed.py. */\n#include "{header}"\n\n#include <stddef.h>\n\n')
        file.write(f"const struct page_part {array}[] = {{\n")
        for text, name in zip(pieces[0::2], pieces[1::2] + [None]):
            file.write(f"    {{\n{literal(text)},\n    {chr(34) + name + chr(34) if name else 'NULL'}}},\n")
        file.write("};\n")


if __name__ == "__main__":
    main()
