#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes a C source of the described platforms: embed.py OUTPUT NAME.platform..."""
import os
import sys


def main():
    output, paths = sys.argv[1], sys.argv[2:]
    names = [os.path.basename(path).rsplit(".", 1)[0] for path in paths]
    with open(output, "w", encoding="ascii") as file:
        file.write("/* The platforms of deploy/simulate/platforms, made by embed.py. */\n"
                   '#include "deploy/simulate/platforms/platform.h"\n\n#include <string.h>\n\n')
        listed = "".join(f'"{name}", ' for name in names)
        file.write(f"const char *const platform_names[] = {{{listed}NULL}};\n\n")
        file.write("static const char *const texts[] = {\n")
        for path in paths:
            with open(path, encoding="ascii") as text:
                for line in text:
                    escaped = line.rstrip("\n").replace("\\", "\\\\").replace('"', '\\"')
                    file.write(f'    "{escaped}\\n"\n')
            file.write("    ,\n")
        file.write("};\n\nconst char *platform_described(const char *name)\n{\n"
                   "    for (unsigned i = 0; platform_names[i] != NULL; i++)\n"
                   "        if (strcmp(platform_names[i], name) == 0)\n            return texts[i];\n"
                   "    return NULL;\n}\n")


if __name__ == "__main__":
    main()
