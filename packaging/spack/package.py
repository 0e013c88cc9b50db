# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: F403, F405

import os

from spack.package import *
from spack_repo.builtin.build_systems.cmake import CMakePackage


class Shoal(CMakePackage):
    """Parallel input and output for simulations whose fields are cut over MPI ranks: classic NetCDF and
    netCDF-4, with interfaces for Fortran, C, C++ and Python."""

    # `make dist` makes this file; spack takes it from the folder in which it is called, or from a mirror.
    url = f"file://{os.getcwd()}/shoal-0.2.0.tar.gz"
    manual_download = True

    license("BSD-3-Clause")

    version("0.2.0")  # without checksum until there is a released file: spack install --no-checksum

    variant("fortran", default=True, description="Fortran interface")
    variant(
        "pio",
        default=True,
        when="+fortran",
        description="Headers, modules and libraries for programs that call PIO",
    )
    variant("python", default=False, description="Python package and the command shoal")
    variant("compression", default=True, description="Compression of netCDF-4 and Zarr by all ranks")
    variant("muparser", default=True, description="Expressions of fields in streams")
    variant("curl", default=True, description="Objects on servers: s3:// and https://")
    variant("pnetcdf", default=False, description="Driver pnetcdf")
    variant("netcdf", default=False, description="Drivers netcdf and gather")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.22:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("nlohmann-json", type="build")
    depends_on("tomlplusplus", type="build")
    depends_on("cli11", type="build")

    # One libhdf5 in a process: netcdf-c and h5py of the same environment must use this one.
    depends_on("mpi@3:")
    depends_on("hdf5@1.10.5:+mpi")
    depends_on("fmt@8:+pic")  # may be an archive: libshoal is a shared library
    depends_on("utf8proc")
    depends_on("zlib-api")
    depends_on("libdeflate", when="+compression")
    depends_on("zstd", when="+compression")
    depends_on("lz4", when="+compression")
    depends_on("c-blosc@1.21:", when="+compression")
    depends_on("muparser", when="+muparser")
    depends_on("curl@7.88:", when="+curl")
    depends_on("openssl", when="+curl")
    depends_on("expat", when="+curl")
    depends_on("parallel-netcdf", when="+pnetcdf")
    depends_on("netcdf-c+mpi", when="+netcdf")

    extends("python@3.9:", when="+python")
    with when("+python"):
        depends_on("py-nanobind@2.4:", type="build")
        depends_on("py-tomli", type="build", when="^python@:3.10")
        depends_on("py-numpy@1.22:", type=("build", "run"))
        depends_on("py-mpi4py@3.1:", type=("build", "run"))
        depends_on("py-typer@0.12:", type=("build", "run"))
        depends_on("py-rich@13:", type=("build", "run"))

    # Designated initialisers, concepts and <span>; array descriptors of Fortran 2018.
    conflicts("%gcc@:10", msg="Shoal is written in C++20")
    conflicts("%gcc@:11", when="+fortran", msg="the Fortran interface needs gfortran 12 or newer")

    def cmake_args(self):
        spec = self.spec
        args = [
            self.define("MPI_C_COMPILER", spec["mpi"].mpicc),
            self.define("HDF5_ROOT", spec["hdf5"].prefix),
            self.define("SHOAL_TESTS", False),
            self.define("SHOAL_EXAMPLES", False),
            self.define_from_variant("SHOAL_FORTRAN", "fortran"),
            self.define("SHOAL_PIO", spec.satisfies("+pio")),
            self.define_from_variant("SHOAL_PYTHON", "python"),
        ]
        if spec.satisfies("+fortran"):
            args.append(self.define("MPI_Fortran_COMPILER", spec["mpi"].mpifc))
        for name, on in (
            ("PNETCDF", "+pnetcdf"),
            ("NETCDF", "+netcdf"),
            ("LIBDEFLATE", "+compression"),
            ("ZSTD", "+compression"),
            ("LZ4", "+compression"),
            ("BLOSC", "+compression"),
            ("MUPARSER", "+muparser"),
            ("CURL", "+curl"),
        ):
            args.append(self.define(f"SHOAL_{name}", "ON" if spec.satisfies(on) else "OFF"))
        if spec.satisfies("+python"):
            args += [
                self.define("Python_EXECUTABLE", python.path),
                self.define("SHOAL_PYTHON_DIR", python_platlib),
            ]
        return args
