# Install rules, find_package(shoal) for the build and the install tree, and pkg-config files.
include(CMakePackageConfigHelpers)

set(shoal_config_dir "${CMAKE_INSTALL_LIBDIR}/cmake/shoal")
set(shoal_targets shoal)
if(TARGET shoal_fortran)
  list(APPEND shoal_targets shoal_fortran)
  install(DIRECTORY "${PROJECT_BINARY_DIR}/fortran/include/" DESTINATION "${SHOAL_FORTRAN_MODULE_DIR}"
    FILES_MATCHING PATTERN "shoal*.mod")
endif()
install(TARGETS ${shoal_targets} EXPORT shoalTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
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
install(EXPORT shoalTargets NAMESPACE shoal:: DESTINATION "${shoal_config_dir}")
# The build tree can be used as it is: find_package(shoal) with shoal_DIR=<build folder>.
export(EXPORT shoalTargets NAMESPACE shoal:: FILE "${PROJECT_BINARY_DIR}/shoalTargets.cmake")

# pkg-config: MPI's own flags are written out, so that it works with and without the MPI compiler wrapper.
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
  foreach(library IN LISTS MPI_${language}_LIBRARIES)
    string(APPEND libraries " ${library}")
  endforeach()
  set(${include_flags} "${includes}" PARENT_SCOPE)
  set(${library_flags} "${libraries}" PARENT_SCOPE)
endfunction()

shoal_flags_of_mpi(C SHOAL_PC_C_INCLUDES SHOAL_PC_C_LIBRARIES)
configure_file("${PROJECT_SOURCE_DIR}/cmake/shoal.pc.in" "${PROJECT_BINARY_DIR}/shoal.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/shoal.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
if(TARGET shoal_fortran)
  shoal_flags_of_mpi(Fortran SHOAL_PC_FORTRAN_INCLUDES SHOAL_PC_FORTRAN_LIBRARIES)
  configure_file("${PROJECT_SOURCE_DIR}/cmake/shoal-fortran.pc.in" "${PROJECT_BINARY_DIR}/shoal-fortran.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/shoal-fortran.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endif()
