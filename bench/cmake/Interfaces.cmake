# bench-interfaces, interfaces/: what PIO's interface on Shoal costs beside shoal_write, and the calls of netCDF and
# PnetCDF through doors, as far as this build has them.
if(NOT TARGET shoal_pioc)
  return()
endif()
file(GLOB interfaces_sources CONFIGURE_DEPENDS interfaces/*.cpp)
add_executable(bench-interfaces ${interfaces_sources})
shoal_light_optimisation(bench-interfaces interfaces/main.cpp)
target_compile_definitions(bench-interfaces PRIVATE ${shoal_bench_doors})
# The doors first: names are looked for in this order, and a door finds the library behind it.
foreach(library netcdf pnetcdf)
  string(TOUPPER "SHOAL_BENCH_DOOR_${library}" has)
  if("${has}=1" IN_LIST shoal_bench_doors)
    target_link_libraries(bench-interfaces PRIVATE -Wl,--no-as-needed ${shoal_bench_door_${library}} shoal_${library})
  endif()
endforeach()
target_link_libraries(bench-interfaces PRIVATE bench_common shoal_pioc shoal_warnings)
set_target_properties(bench-interfaces PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${bench_binary_dir}/bin"
  BUILD_RPATH "${PROJECT_BINARY_DIR}/lib/shoal/doors")
