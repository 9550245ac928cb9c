#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The recipes for packages fit the build: they ask for options that there are, for all optional parts, and for its version, which NEWS.md
and CITATION.cff have too. Spack's recipe is run with stand-ins for Spack. The Python package has what the build makes of it.

    packages.py ROOT          checks the tree at ROOT, TAP on standard output
    packages.py --self-test   shows on made-up recipes that each check finds what it is for
"""
import os
import re
import sys
import types

import source
import tap

OPTION = re.compile(r"^option\('([\w-]+)', type: '(\w+)'", re.MULTILINE)
BUILT_IN = {"buildtype", "prefix"}


class Spec:
    def __init__(self, given):
        self.given = given

    def satisfies(self, text):
        return text in self.given


def spack_recipe(text):
    """The package's class, with `calls`: what it says to Spack, as (directive, first argument)."""
    calls = []

    def directive(name):
        return lambda *words, **_: calls.append((name, words[0]))

    def decorator(*_, **__):
        return lambda function: function

    stand_in = types.ModuleType("spack.package")
    for name in ("version", "variant", "depends_on", "extends", "license"):
        setattr(stand_in, name, directive(name))
    stand_in.run_after = stand_in.on_package_attributes = decorator
    stand_in.MesonPackage = object
    modules = {"spack": types.ModuleType("spack"), "spack.package": stand_in}
    sys.modules.update(modules)
    try:
        names = {}
        exec(compile(text, "package.py", "exec"), names)  # pylint: disable=exec-used
    finally:
        for name in modules:
            del sys.modules[name]
    names["Hdss"].calls = calls
    return names["Hdss"]


def spack_arguments(recipe, given):
    package = recipe()
    package.run_tests, package.spec = True, Spec(given)
    return package.meson_args()


def unknown_options(arguments, options):
    names = re.findall(r"-D(\w+)=", " ".join(arguments))
    return [f"-D{name} is no option of meson_options.txt" for name in names if name not in options and name not in BUILT_IN]


def check_spack(text, options):
    """`options`: {name: type}. Complaints."""
    recipe = spack_recipe(text)
    variants = {word for name, word in recipe.calls if name == "variant"}
    features = [name for name, kind in options.items() if kind == "feature"]
    complaints = unknown_options(spack_arguments(recipe, {"^mpich"}), options)
    for name in features:
        if name not in variants:
            complaints.append(f"{name} is optional, and no variant")
        for given, value in (({"+" + name}, "enabled"), (set(), "disabled")):
            if f"-D{name}={value}" not in spack_arguments(recipe, given):
                complaints.append(f"{name} is not {value} as the variant says")
    return complaints


def check_debian(rules, changelog, control, options, version, soversion):
    complaints = unknown_options(rules.split(), options)
    complaints += [f"{name} is optional, and not in rules" for name, kind in options.items()
                   if kind == "feature" and f"-D{name}=" not in rules]
    if not re.match(rf"hdss \({re.escape(version)}-\d+\) ", changelog):
        complaints.append(f"changelog does not begin with hdss ({version}-")
    if f"\nPackage: libhdss{soversion}\n" not in control:
        complaints.append(f"control has no package libhdss{soversion}")
    # what apt installs with it, from the packages that it names
    complaints += [f"the package hdss has a line {line}: one machine needs no MPI" for line in re.findall(
        r"^(?:Depends|Recommends): .*(?:mpi|mpich).*", "".join(re.findall(r"^Package: hdss\n(?:.+\n)*", control, re.MULTILINE)), re.MULTILINE)]
    return complaints


def check_release(news, citation, version):
    """NEWS.md begins with the version and its date, which are those to cite."""
    complaints = []
    newest = re.search(r"^## (\S+) \((\d{4}-\d\d-\d\d)\)$", news, re.MULTILINE)
    cited = tuple(dict(re.findall(r"^([\w-]+): (\S+)$", citation, re.MULTILINE)).get(field) for field in ("version", "date-released"))
    if newest is None or newest.group(1) != version:
        complaints.append(f"NEWS.md does not begin with ## {version} (YYYY-MM-DD)")
    elif cited[1] != newest.group(2):
        complaints.append(f"date-released: {cited[1]} in CITATION.cff, {newest.group(2)} in NEWS.md")
    if cited[0] != version:
        complaints.append(f"version: {cited[0]} in CITATION.cff, {version} in meson.build")
    return complaints


def check_python(project, recipe, files, licences, version):
    """The Python package: pip gives it this version and licence, and Meson each of its `files`. `project` is pyproject.toml, `recipe` its meson.build."""
    given = re.search(r'^version = "(.*)"$', project, re.MULTILINE)
    complaints = [] if given and given.group(1) == version else [f"deploy/python/pyproject.toml has not version = \"{version}\", which meson.build has"]
    listed = re.findall(r"^ +'([\w.]+)',$", recipe, re.MULTILINE)
    complaints += [f"{name} is not in the list of deploy/python/hdss/meson.build" for name in files if name not in listed]
    complaints += [f"{name} is in the list of deploy/python/hdss/meson.build, and no file there" for name in listed if name not in files]
    complaints += ["deploy/python/hdss/meson.build: the list is not in the order of the alphabet"] if listed != sorted(listed) else []
    return complaints + (["deploy/python/LICENSE is not as LICENSE"] if len(set(licences)) != 1 else [])


def project_version(root):
    return re.search(r"version: '([\d.]+)'", source.read(root, "meson.build")).group(1)


def check_spack_tree(root):
    return check_spack(source.read(root, "deploy/spack/package.py"), dict(OPTION.findall(source.read(root, "meson_options.txt"))))


def check_debian_tree(root):
    soversion = re.search(r"soversion: '(\d+)'", source.read(root, "deploy/library/meson.build")).group(1)
    rules, changelog, control = (source.read(root, "deploy/debian", name) for name in ("rules", "changelog", "control"))
    return check_debian(rules, changelog, control, dict(OPTION.findall(source.read(root, "meson_options.txt"))), project_version(root), soversion)


def check_python_tree(root):
    files = [name for name in os.listdir(os.path.join(root, "deploy/python/hdss")) if name.endswith((".py", ".typed"))]
    project, recipe, *licences = (source.read(root, name) for name in
                                    ("deploy/python/pyproject.toml", "deploy/python/hdss/meson.build", "deploy/python/LICENSE", "LICENSE"))
    return check_python(project, recipe, files, licences, project_version(root))


RECIPE = """
from spack.package import *
class Hdss(MesonPackage):
    variant("png")
    def meson_args(self):
        return ["-Dpng=" + ("enabled" if self.spec.satisfies("+png") else "disabled"), "-Dtests=true"]
"""
OPTIONS = {"png": "feature", "tests": "boolean"}
LISTED = "fs = 1\nforeach name : [\n  '_a.py',\n  'py.typed',\n]\n"

CASES = [
    ("a good recipe", check_spack(RECIPE, OPTIONS), 0),
    ("an option that is gone", check_spack(RECIPE, {"png": "feature"}), 1),
    ("a part that is new", check_spack(RECIPE, {**OPTIONS, "jpeg": "feature"}), 3),
    ("a variant that does nothing", check_spack(RECIPE.replace('"+png"', '"+x"'), OPTIONS), 1),
    ("good rules", check_debian("dh -- -Dpng=enabled", "hdss (1.2-1) x", "a\nPackage: libhdss3\n", OPTIONS, "1.2", "3"), 0),
    ("an option too many", check_debian("-Dpng=x -Dno=x", "hdss (1.2-1) x", "a\nPackage: libhdss3\n", OPTIONS, "1.2", "3"), 1),
    ("a part that is left out", check_debian("dh", "hdss (1.2-1) x", "a\nPackage: libhdss3\n", OPTIONS, "1.2", "3"), 1),
    ("a package that brings MPI", check_debian("dh -- -Dpng=enabled", "hdss (1.2-1) x", "a\nPackage: libhdss3\n\nPackage: hdss\nRecommends: hdss-mpich, a\n", OPTIONS, "1.2", "3"), 1),
    ("a package beside it", check_debian("dh -- -Dpng=enabled", "hdss (1.2-1) x", "a\nPackage: libhdss3\n\nPackage: hdss\nSuggests: hdss-mpich\n\nPackage: b\nDepends: mpich\n", OPTIONS, "1.2", "3"), 0),
    ("another version", check_debian("-Dpng=x", "hdss (1.20-1) x", "a\nPackage: libhdss30\n", OPTIONS, "1.2", "3"), 2),
    ("a release", check_release("# News\n\n## 1.2 (2000-01-02)\n\n## 1.1 (1999-01-01)\n", "version: 1.2\ndate-released: 2000-01-02\n", "1.2"), 0),
    ("news of another release", check_release("## 1.1 (2000-01-02)\n## 1.2 (2000-01-02)\n", "version: 1.2\ndate-released: 2000-01-02\n", "1.2"), 1),
    ("no news", check_release("", "version: 1.2\ndate-released: 2000-01-02\n", "1.2"), 1),
    ("a citation of another release", check_release("## 1.2 (2000-01-02)\n", "version: 1.1\ndate-released: 2000-01-02\n", "1.2"), 1),
    ("a citation of another day", check_release("## 1.2 (2000-01-02)\n", "version: 1.2\ndate-released: 2000-01-03\n", "1.2"), 1),
    ("a good Python package", check_python('a\nversion = "1.2"\n', LISTED, ["py.typed", "_a.py"], ["x", "x"], "1.2"), 0),
    ("a Python package of another version", check_python('version = "1.20"\n', LISTED, ["py.typed", "_a.py"], ["x", "x"], "1.2"), 1),
    ("a module that is not listed", check_python('version = "1.2"\n', LISTED, ["py.typed", "_a.py", "_b.py"], ["x", "x"], "1.2"), 1),
    ("a module that is gone", check_python('version = "1.2"\n', LISTED, ["py.typed"], ["x", "x"], "1.2"), 1),
    ("a list out of order", check_python('version = "1.2"\n', "  'b.py',\n  'a.py',\n", ["a.py", "b.py"], ["x", "x"], "1.2"), 1),
    ("another licence", check_python('version = "1.2"\n', LISTED, ["py.typed", "_a.py"], ["x", "y"], "1.2"), 1),
    ("nothing to cite", check_release("## 1.2 (2000-01-02)\n", "", "1.2"), 2),
]


def main(words):
    if words == ["--self-test"]:
        return tap.run([(what, lambda got=got, count=count: [] if len(got) == count else [f"expected {count} complaints, got {got}"])
                        for what, got, count in CASES])
    if len(words) != 1:
        sys.exit(__doc__)
    root = words[0]
    return tap.run([("Spack's recipe", lambda: check_spack_tree(root)), ("Debian's recipe", lambda: check_debian_tree(root)),
                    ("the Python package", lambda: check_python_tree(root)),
                    ("the release", lambda: check_release(source.read(root, "NEWS.md"), source.read(root, "CITATION.cff"), project_version(root)))])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
