# SPDX-License-Identifier: MIT
"""Where this Python looks for packages below a prefix: prints the folder, from the prefix on.

    folder.py PREFIX

Under a prefix where it does not look, which PYTHONPATH then has to name, the folder is called as Python calls it everywhere.
"""
import os
import site
import sys
import sysconfig


def looked_for():
    """Folders of packages that are in the search path of any program, or are put there when they have been made."""
    return site.getsitepackages() + [site.getusersitepackages()]


def package_folder(prefix, folders):
    for folder in folders:
        below = os.path.relpath(folder, prefix)
        if below.split(os.sep)[0].startswith('lib'):  # under /usr, not that of /usr/local
            return below
    return os.path.relpath(sysconfig.get_path('purelib', 'posix_prefix', vars={'base': prefix}), prefix)


def main(words):
    if len(words) != 1:
        sys.exit(__doc__)
    print(package_folder(words[0], looked_for()))


if __name__ == '__main__':
    main(sys.argv[1:])
