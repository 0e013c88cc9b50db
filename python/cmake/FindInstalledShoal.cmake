# find_package(shoal), helped by pkg-config: whoever loaded a module file has at least PKG_CONFIG_PATH.
find_package(shoal 0.2 CONFIG QUIET)
if(NOT shoal_FOUND)
  find_package(PkgConfig QUIET)
  if(PKG_CONFIG_FOUND)
    execute_process(COMMAND "${PKG_CONFIG_EXECUTABLE}" --variable=libdir shoal
      OUTPUT_VARIABLE shoal_libdir OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(shoal_libdir)
      find_package(shoal 0.2 CONFIG QUIET PATHS "${shoal_libdir}/cmake/shoal" NO_DEFAULT_PATH)
    endif()
  endif()
endif()
if(NOT shoal_FOUND)
  set(shoal_others "")
  if(shoal_CONSIDERED_VERSIONS)
    set(shoal_others " Found, but of another version: ${shoal_CONSIDERED_CONFIGS} (${shoal_CONSIDERED_VERSIONS}).")
  endif()
  message(FATAL_ERROR "No installed Shoal 0.2 was found.${shoal_others} Load its module file, or put its prefix into "
                      "CMAKE_PREFIX_PATH or its lib/pkgconfig into PKG_CONFIG_PATH; pip takes the place, also of a "
                      "build folder, as  -C cmake.define.shoal_DIR=<folder>.")
endif()
message(STATUS "Shoal ${shoal_VERSION}: ${shoal_DIR}")
