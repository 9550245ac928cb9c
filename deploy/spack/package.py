# SPDX-License-Identifier: MIT
# A recipe for Spack. From a checkout:
#     spack repo create REPO && mkdir -p REPO/packages/hdss && cp deploy/spack/package.py REPO/packages/hdss/
#     spack repo add REPO && spack dev-build --source-path . hdss@main
# (`spack repo create` prints the folder of the packages where it is another one.)
try:
    from spack_repo.builtin.build_systems.meson import MesonPackage  # Spack 1.0 and later
except ImportError:
    pass
from spack.package import *


class Hdss(MesonPackage):
    """Hierarchical distributed self-scheduling: runs a large irregular loop over every core of a cluster so that all of
    them finish together. With a library by which the ranks of an MPI program share a loop, and the calls of DLS4LB."""

    license("MIT")

    version("main")

    variant("png", default=True, description="pictures as results")
    variant("control", default=True, description="the control socket of a running job")
    variant("tls", default=True, description="pods that join over TCP")
    variant("munge", default=False, description="pods that join over TCP without the key of the set")
    variant("openmp", default=True, description="several threads in a worker")
    variant("research", default=True, description="the kernels of papers: evrard, floyd-steinberg, hydro, spinimage")
    variant("python", default=True, description="kernels written in Python, and the package hdss for Python")
    variant("fortran", default=True, description="the modules hdss and DLS for MPI programs in Fortran")
    variant("simgrid", default=False, description="hdss simulate --backend simgrid")
    variant("plot", default=False, description="pictures of studies and of chunk sizes, by matplotlib")

    depends_on("c", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("meson@1.0:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi@3:")
    depends_on("libevent@2.1:")
    depends_on("jansson")
    depends_on("xxhash")
    depends_on("libpng", when="+png")
    depends_on("openssl@1.1.1:", when="+tls")
    depends_on("munge", when="+munge")
    depends_on("python@3.9:", type=("build", "run"))
    depends_on("python@3.9:", type="link", when="+python")
    depends_on("py-cloudpickle", type="run", when="+python")
    extends("python", when="+python")
    depends_on("simgrid@3.32: +smpi", when="+simgrid")
    depends_on("py-matplotlib", type="run", when="+plot")
    depends_on("check", type="test")

    def meson_args(self):
        args = ["-Dtests=true" if self.run_tests else "-Dtests=false"]
        for part in ("png", "control", "tls", "munge", "openmp", "research", "python", "fortran", "simgrid"):
            args.append("-D{0}={1}".format(part, "enabled" if self.spec.satisfies("+" + part) else "disabled"))
        if self.spec.satisfies("^mpich"):
            args.append("-Dmpi=mpich")
        return args

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def run_installed(self):
        Executable(self.prefix.bin.hdss)("chunks", "gss", "--iterations", "1000", "--workers", "4")
