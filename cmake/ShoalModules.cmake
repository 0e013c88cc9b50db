# A module is a folder of src/ and one object library; all modules together are libshoal.

set_property(GLOBAL PROPERTY shoal_modules "")

include(ShoalCompilation)

# Names of a module's unnamed namespaces are different in each file, whichever files come together: 0 takes all files
# of a module, which shows those that are not.
set(SHOAL_UNITY_FILES 8 CACHE STRING "How many files of a module are compiled together; 0: all")
mark_as_advanced(SHOAL_UNITY_FILES)

# shoal_module(<name> [DEPENDS module...] [LIBRARIES lib...])
# Sources are found by themselves: src/<name>/*.cpp, and one folder deeper (drivers, formats).
# A folder in it that has a CMakeLists.txt is a module of its own.
# A module without sources is an interface, so that the tree configures while it is being built.
function(shoal_module name)
  cmake_parse_arguments(arg "" "" "DEPENDS;LIBRARIES" ${ARGN})
  set(target shoal_${name})
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp" "${CMAKE_CURRENT_SOURCE_DIR}/*/*.cpp"
    "${CMAKE_CURRENT_SOURCE_DIR}/*/*/*.cpp")
  file(GLOB_RECURSE inner_modules RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}/*/CMakeLists.txt")
  foreach(inner IN LISTS inner_modules)
    get_filename_component(folder "${CMAKE_CURRENT_SOURCE_DIR}/${inner}" DIRECTORY)
    list(FILTER sources EXCLUDE REGEX "^${folder}/")
  endforeach()
  list(TRANSFORM arg_DEPENDS PREPEND shoal_)
  if(sources)
    add_library(${target} OBJECT ${sources})
    set(scope PUBLIC)
    target_link_libraries(${target} PRIVATE shoal_warnings)
    set_target_properties(${target} PROPERTIES
      POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
    shoal_compile_together(${target} ${SHOAL_UNITY_FILES})
    set_property(GLOBAL APPEND PROPERTY shoal_modules ${target})
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${target} ${scope}
    "${PROJECT_SOURCE_DIR}/src" "${PROJECT_BINARY_DIR}/generated" "${PROJECT_SOURCE_DIR}/include")
  target_link_libraries(${target} ${scope} ${arg_DEPENDS} ${arg_LIBRARIES})
endfunction()

# The library itself: every module's objects, and of their symbols only the C interface.
function(shoal_library)
  get_property(modules GLOBAL PROPERTY shoal_modules)
  set(objects "")
  foreach(module IN LISTS modules)
    list(APPEND objects $<TARGET_OBJECTS:${module}>)
  endforeach()
  if(NOT objects)
    file(WRITE "${PROJECT_BINARY_DIR}/generated/no_modules.cpp" "")
    set(objects "${PROJECT_BINARY_DIR}/generated/no_modules.cpp")
  endif()
  add_library(shoal SHARED ${objects})
  add_library(shoal::shoal ALIAS shoal)
  target_include_directories(shoal PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_definitions(shoal INTERFACE ${SHOAL_MPI_DEFINITIONS})
  target_link_libraries(shoal PUBLIC MPI::MPI_C PRIVATE ${SHOAL_HDF5_LIBRARIES} fmt::fmt shoal_utf8proc Threads::Threads ${CMAKE_DL_LIBS})
  foreach(library shoal_pnetcdf shoal_netcdf shoal_libdeflate shoal_zstd shoal_lz4 shoal_blosc shoal_muparser shoal_curl)
    if(TARGET ${library})
      target_link_libraries(shoal PRIVATE ${library})
    endif()
  endforeach()
  if(SHOAL_RT_LIBRARY)
    target_link_libraries(shoal PRIVATE rt)
  endif()
  set_target_properties(shoal PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${SHOAL_SOVERSION} LINKER_LANGUAGE CXX
    LINK_DEPENDS "${PROJECT_SOURCE_DIR}/cmake/shoal.map"
    LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib"
    INSTALL_RPATH_USE_LINK_PATH ON)  # libraries that lie where the loader does not look
  if(NOT APPLE)
    target_link_options(shoal PRIVATE "LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/shoal.map")
    if(NOT SHOAL_SANITIZE)
      target_link_options(shoal PRIVATE LINKER:--no-undefined)
    endif()
  endif()
endfunction()
