# The plugins of shoal-bench that call netCDF and PnetCDF through Shoal's doors, one for each door that this build or the
# installed Shoal has:
#   shoal_bench_door_netcdf, shoal_bench_door_pnetcdf
# shoal_bench_doors has what was built, as definitions.
set(shoal_bench_doors "")
set(shoal_bench_netcdf_sources methods/bare_netcdf.cpp netcdf_file.cpp files.cpp)
set(shoal_bench_pnetcdf_sources methods/bare_pnetcdf.cpp)
foreach(library netcdf pnetcdf)
  set(door "")
  if(TARGET shoal_door_${library})
    set(door shoal_door_${library})
  elseif(shoal_DIR AND NOT TARGET shoal_base)
    get_filename_component(door "${shoal_DIR}/../../shoal/doors/libshoal_${library}.so" ABSOLUTE)
    if(NOT EXISTS "${door}")
      set(door "")
    endif()
  endif()
  if(NOT door OR NOT TARGET shoal_${library})
    message(STATUS "Shoal: methods ${library}-door: no door or no library")
    continue()
  endif()
  set(shoal_bench_door_${library} "${door}")  # for interfaces/, too
  set(name shoal_bench_door_${library})
  string(TOUPPER "${library}" upper)
  add_library(${name} MODULE doors/door_method.cpp ${shoal_bench_${library}_sources} $<TARGET_OBJECTS:bench_common>)
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/../src")
  target_compile_definitions(${name} PRIVATE SHOAL_BENCH_MAKE_BARE=make_bare_${library})
  # The door first: names are looked for in this order, and the door finds the library behind it.
  target_link_libraries(${name} PRIVATE -Wl,--no-as-needed ${door} shoal_${library} shoal::shoal MPI::MPI_C
    shoal_mpi_definitions shoal_json shoal_cli11 shoal_warnings)
  set_target_properties(${name} PROPERTIES PREFIX "" SUFFIX .so
    LIBRARY_OUTPUT_DIRECTORY "${bench_binary_dir}/${shoal_bench_libdir}"
    INSTALL_RPATH "$ORIGIN/../doors;$ORIGIN/../.." INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS ${name} LIBRARY DESTINATION "${shoal_bench_libdir}")
  list(APPEND shoal_bench_doors SHOAL_BENCH_DOOR_${upper}=1)
endforeach()
