# Other libraries that the benchmark measures: targets shoal_pnetcdf and shoal_netcdf where found.
# Both must be built with the same MPI and, for netCDF, the same HDF5 as Shoal: one libhdf5 in a process.

# Distributions build PnetCDF with their default MPI only; a link test against ours tells.
find_path(SHOAL_PNETCDF_INCLUDE pnetcdf.h)
find_library(SHOAL_PNETCDF_LIBRARY NAMES libpnetcdf.so pnetcdf)
find_path(SHOAL_NETCDF_INCLUDE netcdf_par.h
  HINTS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/netcdf/mpi/include)
find_library(SHOAL_NETCDF_LIBRARY netcdf
  PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/netcdf/mpi NO_DEFAULT_PATH)
find_library(SHOAL_NETCDF_LIBRARY netcdf)
mark_as_advanced(SHOAL_PNETCDF_INCLUDE SHOAL_PNETCDF_LIBRARY SHOAL_NETCDF_INCLUDE SHOAL_NETCDF_LIBRARY)

# True when the shared library needs the MPI library that we link (and no other).
function(shoal_same_mpi library result)
  set(${result} OFF PARENT_SCOPE)
  execute_process(COMMAND ldd "${library}" OUTPUT_VARIABLE needed ERROR_QUIET RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    return()
  endif()
  foreach(ours IN LISTS MPI_C_LIBRARIES)
    get_filename_component(ours "${ours}" REALPATH)
    get_filename_component(ours "${ours}" NAME)
    string(REGEX MATCH "^lib(mpi|mpich)\\.so\\.[0-9]+" soname "${ours}")
    if(soname)
      string(REPLACE "." "\\." soname "${soname}")
      if(needed MATCHES "${soname}[^0-9]")
        set(${result} ON PARENT_SCOPE)
      endif()
    endif()
  endforeach()
endfunction()

set(SHOAL_HAVE_PNETCDF OFF)
if(SHOAL_PNETCDF_INCLUDE AND SHOAL_PNETCDF_LIBRARY)
  shoal_same_mpi("${SHOAL_PNETCDF_LIBRARY}" SHOAL_HAVE_PNETCDF)
endif()
if(SHOAL_HAVE_PNETCDF)
  add_library(shoal_pnetcdf INTERFACE IMPORTED)
  target_include_directories(shoal_pnetcdf SYSTEM INTERFACE "${SHOAL_PNETCDF_INCLUDE}")
  target_link_libraries(shoal_pnetcdf INTERFACE "${SHOAL_PNETCDF_LIBRARY}" MPI::MPI_C)
  target_compile_definitions(shoal_pnetcdf INTERFACE SHOAL_HAVE_PNETCDF=1)
endif()

set(SHOAL_HAVE_NETCDF OFF)
if(SHOAL_NETCDF_INCLUDE AND SHOAL_NETCDF_LIBRARY)
  shoal_same_mpi("${SHOAL_NETCDF_LIBRARY}" SHOAL_HAVE_NETCDF)
endif()
if(SHOAL_HAVE_NETCDF)
  add_library(shoal_netcdf INTERFACE IMPORTED)
  target_include_directories(shoal_netcdf SYSTEM INTERFACE "${SHOAL_NETCDF_INCLUDE}")
  target_link_libraries(shoal_netcdf INTERFACE "${SHOAL_NETCDF_LIBRARY}" MPI::MPI_C)
  target_compile_definitions(shoal_netcdf INTERFACE SHOAL_HAVE_NETCDF=1)
endif()
