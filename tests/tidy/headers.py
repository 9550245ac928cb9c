#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every installed header compiles alone, as C and as C++, with the strictest flags.

    headers.py ROOT LANGUAGE COMPILER...    LANGUAGE is c or c++; without a compiler all tests are skipped
"""
import os
import shutil
import subprocess
import sys

import source
import tap

FLAGS = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only"]
STANDARDS = {"c": ["c11", "c17"], "c++": ["c++11", "c++17"]}
MPI_WRAPPERS = {"c": "mpicc", "c++": "mpicxx"}
# The C++ bindings of MPI 2, which no standard has any more and which do not keep these flags.
MPI_FLAGS = ["-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX"]


def compiler_for(text, language, compiler):
    """The compiler, by way of MPI's wrapper where the header needs MPI; None where there is none."""
    if "<mpi.h>" not in text:
        return compiler
    wrapper = shutil.which(MPI_WRAPPERS[language])
    return [wrapper, *MPI_FLAGS] if wrapper else None


def compile_alone(root, header, language, standard, compiler):
    folder = os.path.join(root, "common", "include")
    if not compiler:
        return f"no {language} compiler"
    command = compiler_for(source.read(folder, header), language, compiler)
    if command is None:
        return f"no {MPI_WRAPPERS[language]}"
    done = subprocess.run(command + FLAGS + [f"-std={standard}", "-I", folder, "-x", language, "-"], text=True, check=False,
                          input=f'#include "{header}"\n', stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.stdout.splitlines() or ["failed without a word"] if done.returncode else []


def main(words):
    if len(words) < 2 or words[1] not in STANDARDS:
        sys.exit(__doc__)
    root, language, *compiler = words
    headers = source.files(os.path.join(root, "common", "include"), (".h",))
    return tap.run([(f"{header} is {standard}", lambda header=header, standard=standard:
                     compile_alone(root, header, language, standard, compiler))
                    for header in headers for standard in STANDARDS[language]])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
