# MPI, HDF5 (of the flavour that fits the MPI) and what is optional.
#
# Where two MPIs are installed, as on Debian, nothing may mix: compiler wrapper,
# launcher, HDF5, PnetCDF and netCDF are all chosen by the one flavour.

if(NOT SHOAL_MPI MATCHES "^(auto|openmpi|mpich)$")
  message(FATAL_ERROR "SHOAL_MPI is '${SHOAL_MPI}'; allowed are auto, openmpi and mpich.")
endif()

# Suffixed wrappers exist where a distribution installs several MPIs side by side.
if(SHOAL_MPI STREQUAL "auto")
  set(shoal_mpi_suffixes openmpi mpich)
  if(DEFINED MPI_C_COMPILER)
    set(shoal_mpi_suffixes "")
  endif()
else()
  set(shoal_mpi_suffixes ${SHOAL_MPI})
endif()
foreach(suffix IN LISTS shoal_mpi_suffixes)
  find_program(SHOAL_MPICC_${suffix} mpicc.${suffix})
  if(SHOAL_MPICC_${suffix} AND NOT DEFINED MPI_C_COMPILER)
    get_filename_component(shoal_mpi_bin "${SHOAL_MPICC_${suffix}}" DIRECTORY)
    set(MPI_C_COMPILER "${SHOAL_MPICC_${suffix}}" CACHE FILEPATH "MPI C compiler wrapper")
    find_program(MPI_Fortran_COMPILER mpifort.${suffix} HINTS "${shoal_mpi_bin}")
    find_program(MPIEXEC_EXECUTABLE mpiexec.${suffix} HINTS "${shoal_mpi_bin}")
  endif()
endforeach()

# C++ sources use MPI's C interface; its C++ bindings are gone from the standard.
if(SHOAL_FORTRAN)
  find_package(MPI REQUIRED COMPONENTS C Fortran)
else()
  find_package(MPI REQUIRED COMPONENTS C)
endif()
# MPICH's wrapper asks for options that only Fortran compilers know; the Fortran library has C sources too.
if(TARGET MPI::MPI_Fortran)
  get_target_property(shoal_mpi_options MPI::MPI_Fortran INTERFACE_COMPILE_OPTIONS)
  if(shoal_mpi_options)
    set_target_properties(MPI::MPI_Fortran PROPERTIES
      INTERFACE_COMPILE_OPTIONS "$<$<COMPILE_LANGUAGE:Fortran>:${shoal_mpi_options}>")
  endif()
endif()
set(SHOAL_MPI_DEFINITIONS OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1)

include(CheckSymbolExists)
set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_C)
check_symbol_exists(OPEN_MPI mpi.h SHOAL_MPI_IS_OPENMPI)
check_symbol_exists(MPICH_VERSION mpi.h SHOAL_MPI_IS_MPICH)
unset(CMAKE_REQUIRED_LIBRARIES)
if(SHOAL_MPI_IS_OPENMPI)
  set(SHOAL_MPI_FLAVOUR openmpi)
elseif(SHOAL_MPI_IS_MPICH)
  set(SHOAL_MPI_FLAVOUR mpich)
else()
  set(SHOAL_MPI_FLAVOUR other)
endif()
if(NOT SHOAL_MPI STREQUAL "auto" AND NOT SHOAL_MPI STREQUAL SHOAL_MPI_FLAVOUR)
  message(FATAL_ERROR "SHOAL_MPI is ${SHOAL_MPI}, but ${MPI_C_COMPILER} belongs to '${SHOAL_MPI_FLAVOUR}'. "
                      "Install ${SHOAL_MPI} (Debian: tools/install-deps.sh --mpich), or set MPI_C_COMPILER.")
endif()

find_package(Threads REQUIRED)
find_package(fmt 8 QUIET)
if(NOT TARGET fmt::fmt)
  message(FATAL_ERROR "{fmt} 8 or newer was not found. Install it (Debian: libfmt-dev, or tools/install-deps.sh; Spack: fmt), "
                      "or set fmt_DIR to the folder that has fmt-config.cmake.")
endif()
find_library(SHOAL_RT_LIBRARY rt)   # shm_open, where libc has it not
mark_as_advanced(SHOAL_RT_LIBRARY)

include(ShoalHDF5)
include(ShoalNames)

# PnetCDF and parallel netCDF are peers to measure against, never needed by the library.
find_package(PkgConfig QUIET)
include(ShoalPeers)
include(ShoalHeaders)
include(ShoalCodecs)
include(ShoalExpressions)
include(ShoalRemote)

message(STATUS "Shoal: MPI ${SHOAL_MPI_FLAVOUR} (${MPI_C_COMPILER}), HDF5 ${SHOAL_HDF5_VERSION} (${SHOAL_HDF5_LIBRARIES})")

# Keeps MPI's C++ bindings out of our C++ sources, for both implementations.
add_library(shoal_mpi_definitions INTERFACE)
target_compile_definitions(shoal_mpi_definitions INTERFACE ${SHOAL_MPI_DEFINITIONS})
