# The door for PnetCDF: its table, and programs of the library with the door, which check what they find. Their runs
# without it, and the comparison, are pytest's (test_programs.py).
if(Python3_Interpreter_FOUND AND SHOAL_PNETCDF_LIBRARY)
  shoal_add_test(doors.pnetcdf.table 60 1 doors Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/test_table.py"
    $<TARGET_FILE:door_table_pnetcdf> $<TARGET_FILE:shoal_door_pnetcdf> "${SHOAL_PNETCDF_LIBRARY}"
    "${SHOAL_PNETCDF_INCLUDE}/pnetcdf.h")
endif()
# Lists of runs become few boxes.
add_executable(door_lists lists.cpp)
target_sources(door_lists PRIVATE "${PROJECT_SOURCE_DIR}/compat/doors/pnetcdf/lists.cpp"
  "${PROJECT_SOURCE_DIR}/compat/doors/file/definitions.cpp")
target_include_directories(door_lists PRIVATE "${PROJECT_SOURCE_DIR}/compat/doors" "${PROJECT_BINARY_DIR}/compat/doors")
target_include_directories(door_lists SYSTEM PRIVATE "${SHOAL_NETCDF_INCLUDE}" "${SHOAL_PNETCDF_INCLUDE}"
  ${MPI_C_INCLUDE_DIRS})
target_compile_definitions(door_lists PRIVATE ${SHOAL_MPI_DEFINITIONS})
target_link_libraries(door_lists PRIVATE shoal shoal_utf8proc MPI::MPI_C shoal_warnings)
set_target_properties(door_lists PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
add_dependencies(door_tests door_lists)
shoal_add_test(doors.pnetcdf.lists 60 1 doors $<TARGET_FILE:door_lists>)
# Each alone and with the door, and compared: logs of calls, and files.
function(shoal_door_pnetcdf_program name source)
  add_executable(door_pnetcdf_${name} ${source})
  target_link_libraries(door_pnetcdf_${name} PRIVATE shoal_pnetcdf MPI::MPI_C shoal_warnings)
  target_include_directories(door_pnetcdf_${name} SYSTEM PRIVATE "${SHOAL_NETCDF_INCLUDE}")
  set_target_properties(door_pnetcdf_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  add_dependencies(door_tests door_pnetcdf_${name})
  foreach(ranks 1 3 4)
    shoal_add_test(doors.pnetcdf.${name}.${ranks} 300 2 doors "${CMAKE_CURRENT_SOURCE_DIR}/run.sh" "${shoal_mpirun}" ${ranks}
      $<TARGET_FILE:shoal_door_pnetcdf> $<TARGET_FILE:door_pnetcdf_${name}> ${ARGN})
  endforeach()
endfunction()
# What is refused, handed back or its own with the door.
shoal_door_pnetcdf_program(files pnetcdf_files.c
  "served.nc: served by Shoal, cdf5, 2 variables" "dims.nc: handed back to PnetCDF: deep has 17 dimensions"
  "vard.nc: handed back to PnetCDF: ncmpi_put_vard_all" "later.nc: handed back to PnetCDF: deep has 17 dimensions")
shoal_door_pnetcdf_program(corners pnetcdf_corners.c
  "names.nc: served by Shoal" "codes.nc: served by Shoal" "fills.nc: served by Shoal" "hints.nc: served by Shoal"
  "strict.nc: served by Shoal" "safe.nc: left to PnetCDF: PNETCDF_SAFE_MODE"
  "sizes.nc: handed back to PnetCDF: a variable is larger")
shoal_door_pnetcdf_program(stores pnetcdf_stores.c
  "named.zarr: served by Shoal, zarr, 1 variables" "set.other: served by Shoal, zarr, 1 variables")
# Names and attributes of any bytes, many dimensions.
shoal_door_pnetcdf_program(names names.c
  "names0.nc: served by Shoal, cdf1" "names1.nc: served by Shoal, cdf2" "names2.nc: served by Shoal, cdf5"
  "deep2_12.nc: served by Shoal" "deep2_16.nc: served by Shoal" "deep2_20.nc: handed back to PnetCDF: deep has 20 dimensions")
target_compile_definitions(door_pnetcdf_names PRIVATE PNETCDF)
