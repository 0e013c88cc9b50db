# HDF5's C library as the target shoal_hdf5, of the build that fits the MPI.
# Sets SHOAL_HDF5_LIBRARIES, SHOAL_HDF5_INCLUDE_DIRS, SHOAL_HDF5_VERSION, SHOAL_HDF5_PARALLEL.
#
# Order: HDF5_ROOT when given; Debian's directories per MPI flavour; FindHDF5.

set(shoal_hdf5_hints "")
if(NOT HDF5_ROOT AND NOT DEFINED ENV{HDF5_ROOT} AND NOT DEFINED ENV{HDF5_DIR})
  find_path(SHOAL_HDF5_FLAVOUR_INCLUDE hdf5.h
    PATHS /usr/include/hdf5/${SHOAL_MPI_FLAVOUR} NO_DEFAULT_PATH)
  find_library(SHOAL_HDF5_FLAVOUR_LIBRARY hdf5
    PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/hdf5/${SHOAL_MPI_FLAVOUR} NO_DEFAULT_PATH)
  mark_as_advanced(SHOAL_HDF5_FLAVOUR_INCLUDE SHOAL_HDF5_FLAVOUR_LIBRARY)
endif()

if(SHOAL_HDF5_FLAVOUR_INCLUDE AND SHOAL_HDF5_FLAVOUR_LIBRARY)
  set(SHOAL_HDF5_INCLUDE_DIRS "${SHOAL_HDF5_FLAVOUR_INCLUDE}")
  set(SHOAL_HDF5_LIBRARIES "${SHOAL_HDF5_FLAVOUR_LIBRARY}")
else()
  set(HDF5_PREFER_PARALLEL ON)
  find_package(HDF5 COMPONENTS C)
  if(NOT HDF5_FOUND)
    message(FATAL_ERROR "HDF5 for ${SHOAL_MPI_FLAVOUR} was not found. On Debian run tools/install-deps.sh "
                        "(libhdf5-openmpi-dev or libhdf5-mpich-dev); elsewhere pass -DHDF5_ROOT=<prefix>.")
  endif()
  set(SHOAL_HDF5_INCLUDE_DIRS ${HDF5_C_INCLUDE_DIRS})
  set(SHOAL_HDF5_LIBRARIES ${HDF5_C_LIBRARIES})
endif()

set(SHOAL_HDF5_VERSION "unknown")
set(SHOAL_HDF5_PARALLEL OFF)
foreach(dir IN LISTS SHOAL_HDF5_INCLUDE_DIRS)
  # H5pubconf.h may only include a file per architecture, so look at all of them.
  file(GLOB shoal_hdf5_headers "${dir}/H5pubconf*.h" "${dir}/*/H5pubconf*.h")
  foreach(header IN LISTS shoal_hdf5_headers)
    file(STRINGS "${header}" shoal_hdf5_lines REGEX "^#define H5_(VERSION|PACKAGE_VERSION|HAVE_PARALLEL) ")
    foreach(line IN LISTS shoal_hdf5_lines)
      if(line MATCHES "VERSION \"([0-9.]+[^\"]*)\"")
        set(SHOAL_HDF5_VERSION "${CMAKE_MATCH_1}")
      elseif(line MATCHES "HAVE_PARALLEL 1")
        set(SHOAL_HDF5_PARALLEL ON)
      endif()
    endforeach()
  endforeach()
endforeach()
if(SHOAL_HDF5_VERSION VERSION_LESS 1.10.5 AND NOT SHOAL_HDF5_VERSION STREQUAL "unknown")
  message(FATAL_ERROR "HDF5 ${SHOAL_HDF5_VERSION} in ${SHOAL_HDF5_INCLUDE_DIRS} is too old: "
                      "1.10.5 is the first that says where chunks lie (H5Dget_chunk_info).")
endif()

add_library(shoal_hdf5 INTERFACE IMPORTED)
target_include_directories(shoal_hdf5 SYSTEM INTERFACE ${SHOAL_HDF5_INCLUDE_DIRS})
# A parallel build's hdf5.h includes mpi.h, though Shoal calls nothing of it that needs MPI.
target_link_libraries(shoal_hdf5 INTERFACE ${SHOAL_HDF5_LIBRARIES} MPI::MPI_C)
