# Install rules, find_package(shoal) for the build and the install tree, and pkg-config files.
include(CMakePackageConfigHelpers)

set(shoal_config_dir "${CMAKE_INSTALL_LIBDIR}/cmake/shoal")
install(TARGETS shoal EXPORT shoalTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# An export of its own, as a distribution has the Fortran interface in a package of its own.
if(TARGET shoal_fortran)
  install(DIRECTORY "${PROJECT_BINARY_DIR}/fortran/include/" DESTINATION "${SHOAL_FORTRAN_MODULE_DIR}"
    FILES_MATCHING PATTERN "shoal*.mod")
  install(TARGETS shoal_fortran EXPORT shoalFortranTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
# The Fortran library must find libshoal beside it wherever the two are put.
if(TARGET shoal_fortran)
  set_target_properties(shoal_fortran PROPERTIES INSTALL_RPATH "$ORIGIN")
endif()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/shoal" DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/shoalConfig.cmake.in" "${PROJECT_BINARY_DIR}/shoalConfig.cmake"
  INSTALL_DESTINATION "${shoal_config_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/shoalConfigVersion.cmake" COMPATIBILITY ${SHOAL_COMPATIBILITY})
install(FILES "${PROJECT_BINARY_DIR}/shoalConfig.cmake" "${PROJECT_BINARY_DIR}/shoalConfigVersion.cmake"
  DESTINATION "${shoal_config_dir}")
# The build tree can be used as it is: find_package(shoal) with shoal_DIR=<build folder>.
install(EXPORT shoalTargets NAMESPACE shoal:: DESTINATION "${shoal_config_dir}")
export(EXPORT shoalTargets NAMESPACE shoal:: FILE "${PROJECT_BINARY_DIR}/shoalTargets.cmake")
if(TARGET shoal_fortran)
  install(EXPORT shoalFortranTargets NAMESPACE shoal:: DESTINATION "${shoal_config_dir}")
  export(EXPORT shoalFortranTargets NAMESPACE shoal:: FILE "${PROJECT_BINARY_DIR}/shoalFortranTargets.cmake")
endif()

# From a folder below the prefix back to it, so that files may say where the tree lies, wherever it was moved.
function(shoal_path_to_prefix folder result)
  if(IS_ABSOLUTE "${folder}")
    file(RELATIVE_PATH path "${folder}" "${CMAKE_INSTALL_PREFIX}")
  else()
    file(RELATIVE_PATH path "/prefix/${folder}" "/prefix")
  endif()
  string(REGEX REPLACE "/$" "" path "${path}")
  set(${result} "${path}" PARENT_SCOPE)
endfunction()

# pkg-config: MPI's own flags are written out, so that it works with and without the MPI compiler wrapper. Programs
# find libshoal, and an MPI in a place that the loader does not know, by the rpath: a Makefile needs nothing else.
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  option(SHOAL_PC_RPATH "Let pkg-config give -Wl,-rpath" OFF)
else()
  option(SHOAL_PC_RPATH "Let pkg-config give -Wl,-rpath" ON)
endif()
set(SHOAL_PC_RPATH_FLAG "")
if(SHOAL_PC_RPATH)
  set(SHOAL_PC_RPATH_FLAG " -Wl,-rpath,\${libdir}")
endif()
function(shoal_flags_of_mpi language include_flags library_flags)
  set(includes "")
  foreach(dir IN LISTS MPI_${language}_INCLUDE_DIRS)
    string(APPEND includes " -I${dir}")
  endforeach()
  if(language STREQUAL "Fortran")
    foreach(dir IN LISTS MPI_Fortran_MODULE_DIR MPI_Fortran_F08_MODULE_DIR)
      string(APPEND includes " -I${dir}")
    endforeach()
  endif()
  set(libraries "")
  set(places "")
  foreach(library IN LISTS MPI_${language}_LIBRARIES)
    string(APPEND libraries " ${library}")
    get_filename_component(place "${library}" DIRECTORY)
    get_filename_component(real_place "${place}" REALPATH)
    if(SHOAL_PC_RPATH AND place AND NOT place IN_LIST CMAKE_${language}_IMPLICIT_LINK_DIRECTORIES
        AND NOT real_place MATCHES "^/usr/lib")
      list(APPEND places "${place}")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES places)
  foreach(place IN LISTS places)
    string(APPEND libraries " -Wl,-rpath,${place}")
  endforeach()
  set(${include_flags} "${includes}" PARENT_SCOPE)
  set(${library_flags} "${libraries}" PARENT_SCOPE)
endfunction()

shoal_path_to_prefix("${CMAKE_INSTALL_LIBDIR}/pkgconfig" SHOAL_PC_TO_PREFIX)
shoal_flags_of_mpi(C SHOAL_PC_C_INCLUDES SHOAL_PC_C_LIBRARIES)
configure_file("${PROJECT_SOURCE_DIR}/cmake/shoal.pc.in" "${PROJECT_BINARY_DIR}/shoal.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/shoal.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
if(TARGET shoal_fortran)
  shoal_flags_of_mpi(Fortran SHOAL_PC_FORTRAN_INCLUDES SHOAL_PC_FORTRAN_LIBRARIES)
  configure_file("${PROJECT_SOURCE_DIR}/cmake/shoal-fortran.pc.in" "${PROJECT_BINARY_DIR}/shoal-fortran.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/shoal-fortran.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endif()
if(TARGET shoal_pioc)
  set(SHOAL_PIO_ROOT "${CMAKE_INSTALL_LIBDIR}/shoal/pio")
  set(SHOAL_PIO_AND_FORTRAN "")
  set(SHOAL_PIO_FORTRAN_LIB "")
  if(TARGET shoal_piof)
    set(SHOAL_PIO_AND_FORTRAN " and Fortran")
    set(SHOAL_PIO_FORTRAN_LIB " -lpiof")
  endif()
  configure_file("${PROJECT_SOURCE_DIR}/compat/pio/cmake/shoal-pio.pc.in" "${PROJECT_BINARY_DIR}/shoal-pio.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/shoal-pio.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endif()

# What people read: licence, documents, examples that build over the installed Shoal.
option(SHOAL_DOCS "Install the licence, the documents and the sources of the examples" ${PROJECT_IS_TOP_LEVEL})
if(SHOAL_DOCS)
  foreach(file LICENSE README.md CHANGELOG.md CITATION.cff)
    install(FILES "${PROJECT_SOURCE_DIR}/${file}" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
  endforeach()
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" "${PROJECT_SOURCE_DIR}/examples" DESTINATION "${CMAKE_INSTALL_DOCDIR}"
    PATTERN "docs/site" EXCLUDE PATTERN "__pycache__" EXCLUDE PATTERN "test_examples.py" EXCLUDE PATTERN "*.o" EXCLUDE PATTERN "*.mod" EXCLUDE)
endif()

# For `module load shoal`: a centre puts share/modulefiles into MODULEPATH, or copies the file.
set(SHOAL_MODULEFILE_DIR "${CMAKE_INSTALL_DATADIR}/modulefiles" CACHE STRING "Where the module file goes; empty: nowhere")
if(SHOAL_MODULEFILE_DIR)
  shoal_path_to_prefix("${SHOAL_MODULEFILE_DIR}/shoal" SHOAL_MODULEFILE_TO_PREFIX)
  configure_file("${PROJECT_SOURCE_DIR}/cmake/modulefile.in" "${PROJECT_BINARY_DIR}/modulefile" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/modulefile" DESTINATION "${SHOAL_MODULEFILE_DIR}/shoal" RENAME "${PROJECT_VERSION}")
endif()

# All that is installed, and nothing else: no tests, no examples. tests/test_front_door.py holds it to the install rules.
add_custom_target(installable)
foreach(target shoal shoal_fortran shoal_pioc shoal_pioc_static shoal_piof shoal_piof_static shoal_doors shoal-plan shoal-streams shoal-tune shoal-bench
    shoal_bench_pio_on_shoal shoal_bench_pio shoal_bench_door_netcdf shoal_bench_door_pnetcdf labfs lab_lfs shoal_python_tree shoal_command_pages)
  if(TARGET ${target})
    add_dependencies(installable ${target})
  endif()
endforeach()
