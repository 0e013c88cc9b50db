# shoal_test_environment: what every test that runs a program of this build has in its environment.
set(shoal_test_environment "MPIRUN_LAUNCHER=${MPIEXEC_EXECUTABLE}" "MPIRUN_FLAVOUR=${SHOAL_MPI_FLAVOUR}")
# The address sanitizer knows who asked for memory by frame pointers, which MPI does not have: it sees the first caller
# alone, and that must still be in memory in the end (keep_plugins). All callers, by fast_unwind_on_malloc=0, take five
# times as long. A large quarantine makes each fork slow. What the sanitizer of GCC 12 guesses of memory behind
# __tls_get_addr can end the search for leaks with a signal (intercept_tls_get_addr=0).
if(SHOAL_SANITIZE)
  set(suppressions "${CMAKE_CURRENT_LIST_DIR}/../tools/suppressions")
  list(APPEND shoal_test_environment
    "ASAN_OPTIONS=detect_leaks=1:quarantine_size_mb=32:intercept_tls_get_addr=0:verify_asan_link_order=0"
    "LSAN_OPTIONS=suppressions=${suppressions}/lsan.txt:print_suppressions=0"
    "TSAN_OPTIONS=suppressions=${suppressions}/tsan.txt:second_deadlock_stack=1")
endif()
if(SHOAL_SANITIZE STREQUAL "address")
  add_library(keep_plugins SHARED "${CMAKE_CURRENT_LIST_DIR}/../tests/support/keep_plugins.c")
  # Programs that are no part of the build get it, too: it must not bring the sanitizer with it.
  target_compile_options(keep_plugins PRIVATE -fno-sanitize=all)
  target_link_options(keep_plugins PRIVATE -fno-sanitize=all)
  set_target_properties(keep_plugins PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  list(APPEND shoal_test_environment "LD_PRELOAD=$<TARGET_FILE:keep_plugins>")
endif()
