# How targets are compiled in less time.

# shoal_compile_together(<target> <files>): where SHOAL_UNITY is set, so many files of a target are compiled as one.
# Two thirds of the time of a compiler go into headers that most files include, and into templates that each makes again.
function(shoal_compile_together target files)
  set_target_properties(${target} PROPERTIES UNITY_BUILD "${SHOAL_UNITY}" UNITY_BUILD_BATCH_SIZE ${files})
  if(SHOAL_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Of a source that another one includes GCC believes that it is a header.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()

# For what runs once a call of the user or less, and no loop over cells: compiled in less time.
#   shoal_light_optimisation(<target>)            all of it
#   shoal_light_optimisation(<target> source...)  these sources alone, as they are called in this folder
# GCC's level for debugging leaves out the passes of -O1 that cost most: a sixth of the time of a compiler.
function(shoal_light_optimisation target)
  set(level "-O1")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(level "-Og")
  endif()
  set(options $<$<CONFIG:Release,RelWithDebInfo>:${level}>)
  if(ARGN)
    set_property(SOURCE ${ARGN} TARGET_DIRECTORY ${target} APPEND PROPERTY COMPILE_OPTIONS "${options}")
  else()
    target_compile_options(${target} PRIVATE "${options}")
  endif()
endfunction()
