# The plugins of shoal-bench that call PIO, one source for each PIO there is:
#   shoal_bench_pio_on_shoal   PIO on Shoal, compat/pio of this build or of the installed Shoal
#   shoal_bench_pio            NCAR's PIO 2 or E3SM's SCORPIO, where one is found: PIO_DIR (its CMake package, or its
#                              folder), PIO_ROOT, the variable PIO of the environment, pkg-config. It must be built with
#                              the MPI of this build, and as a shared library or with -fPIC
# shoal_bench_pios has what was built, as definitions.
include(CheckSymbolExists)
set(shoal_bench_pios "")
set(shoal_bench_libdir "${CMAKE_INSTALL_LIBDIR}/shoal/bench")
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  file(RELATIVE_PATH shoal_bench_libdir "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_LIBDIR}/shoal/bench")
endif()

# finalize: the function that ends an iosystem, which has two names.
function(shoal_bench_pio_plugin name pio finalize)
  add_library(${name} MODULE pio/pio_method.cpp $<TARGET_OBJECTS:bench_common>)
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/../src")
  target_compile_definitions(${name} PRIVATE SHOAL_BENCH_PIO_FINALIZE=${finalize})
  target_link_libraries(${name} PRIVATE ${pio} shoal::shoal MPI::MPI_C shoal_mpi_definitions shoal_json shoal_cli11
    shoal_warnings)
  set_target_properties(${name} PROPERTIES PREFIX "" SUFFIX .so
    LIBRARY_OUTPUT_DIRECTORY "${bench_binary_dir}/${shoal_bench_libdir}"
    INSTALL_RPATH "$ORIGIN/../.." INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS ${name} LIBRARY DESTINATION "${shoal_bench_libdir}")
endfunction()

# ---- On Shoal.
if(NOT TARGET shoal_pioc AND shoal_DIR AND NOT TARGET shoal_base)
  # Beside an installed Shoal.
  get_filename_component(lib "${shoal_DIR}/../.." ABSOLUTE)
  if(EXISTS "${lib}/shoal/pio/include/pio.h" AND EXISTS "${lib}/shoal/pio/lib/libpioc.so")
    add_library(shoal_pioc INTERFACE)
    target_include_directories(shoal_pioc INTERFACE "${lib}/shoal/pio/include")
    target_link_libraries(shoal_pioc INTERFACE "${lib}/shoal/pio/lib/libpioc.so")
  endif()
endif()
if(TARGET shoal_pioc)
  shoal_bench_pio_plugin(shoal_bench_pio_on_shoal shoal_pioc PIOc_free_iosystem)
  list(APPEND shoal_bench_pios SHOAL_BENCH_PIO_ON_SHOAL=1)
endif()

# ---- Another PIO.
set(shoal_bench_pio "")
set(why "CMake found none (PIO_DIR, PIO_ROOT)")
set(hints "${PIO_DIR}" "${PIO_ROOT}" "$ENV{PIO}")  # find_package forgets a PIO_DIR without a package
find_package(PIO CONFIG QUIET COMPONENTS C)
if(TARGET PIO::PIO_C)
  set(shoal_bench_pio PIO::PIO_C)
  get_target_property(SHOAL_BENCH_PIO_INCLUDE PIO::PIO_C INTERFACE_INCLUDE_DIRECTORIES)
else()
  if(NOT PKG_CONFIG_FOUND)
    find_package(PkgConfig QUIET)
  endif()
  if(PKG_CONFIG_FOUND)
    pkg_search_module(SHOAL_BENCH_PIO_PC QUIET pio libpio pioc scorpio)
    list(APPEND hints ${SHOAL_BENCH_PIO_PC_PREFIX})
  endif()
  find_path(SHOAL_BENCH_PIO_INCLUDE pio.h HINTS ${hints} PATH_SUFFIXES include)
  find_library(SHOAL_BENCH_PIO_LIBRARY pioc HINTS ${hints} PATH_SUFFIXES lib lib64)
  find_library(SHOAL_BENCH_PIO_GPTL gptl HINTS ${hints} PATH_SUFFIXES lib lib64)  # of a static one with timers
  mark_as_advanced(SHOAL_BENCH_PIO_INCLUDE SHOAL_BENCH_PIO_LIBRARY SHOAL_BENCH_PIO_GPTL)
  if(SHOAL_BENCH_PIO_INCLUDE AND SHOAL_BENCH_PIO_LIBRARY)
    add_library(shoal_bench_found_pio INTERFACE IMPORTED)
    target_include_directories(shoal_bench_found_pio SYSTEM INTERFACE "${SHOAL_BENCH_PIO_INCLUDE}")
    target_link_libraries(shoal_bench_found_pio INTERFACE "${SHOAL_BENCH_PIO_LIBRARY}")
    if(SHOAL_BENCH_PIO_GPTL)
      target_link_libraries(shoal_bench_found_pio INTERFACE "${SHOAL_BENCH_PIO_GPTL}")
    endif()
    # Its header asks for theirs, and a static one for their code.
    foreach(library shoal_pnetcdf shoal_netcdf)
      if(TARGET ${library})
        target_link_libraries(shoal_bench_found_pio INTERFACE ${library})
      endif()
    endforeach()
    set(shoal_bench_pio shoal_bench_found_pio)
  endif()
endif()
if(shoal_bench_pio)
  set(CMAKE_REQUIRED_LIBRARIES ${shoal_bench_pio} MPI::MPI_C)
  check_symbol_exists(PIO_SHOAL "pio.h;pio_meta.h" SHOAL_BENCH_PIO_IS_SHOAL)
  check_symbol_exists(PIOc_free_iosystem pio.h SHOAL_BENCH_PIO_HAS_FREE_IOSYSTEM)
  check_symbol_exists(PIOc_finalize pio.h SHOAL_BENCH_PIO_HAS_FINALIZE)
  unset(CMAKE_REQUIRED_LIBRARIES)
  if(SHOAL_BENCH_PIO_IS_SHOAL)
    set(why "${SHOAL_BENCH_PIO_INCLUDE} is PIO on Shoal; set PIO_DIR to NCAR's or E3SM's")
  elseif(SHOAL_BENCH_PIO_HAS_FREE_IOSYSTEM)
    set(finalize PIOc_free_iosystem)
  elseif(SHOAL_BENCH_PIO_HAS_FINALIZE)
    set(finalize PIOc_finalize)
  else()
    set(why "the one in ${SHOAL_BENCH_PIO_INCLUDE} does not compile or link here (CMakeError.log)")
  endif()
  if(finalize)
    shoal_bench_pio_plugin(shoal_bench_pio ${shoal_bench_pio} ${finalize})
    list(APPEND shoal_bench_pios SHOAL_BENCH_PIO=1)
    set(why "${SHOAL_BENCH_PIO_INCLUDE}")
  endif()
endif()
message(STATUS "Shoal: methods pio-box and pio-subset: ${why}")
