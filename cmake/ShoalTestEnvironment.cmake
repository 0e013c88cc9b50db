# shoal_test_environment: what every test that runs a program of this build has in its environment.
# Full stacks (fast_unwind_on_malloc=0) name libmpi as the caller also where a plugin of it was unloaded since. A large
# quarantine makes each fork of the tests that fork for every damaged file slow. What the sanitizer of GCC 12 guesses of
# memory behind __tls_get_addr can end the search for leaks with a signal (intercept_tls_get_addr=0).
set(shoal_test_environment "MPIRUN_LAUNCHER=${MPIEXEC_EXECUTABLE}" "MPIRUN_FLAVOUR=${SHOAL_MPI_FLAVOUR}")
if(SHOAL_SANITIZE)
  set(suppressions "${CMAKE_CURRENT_LIST_DIR}/../tools/suppressions")
  list(APPEND shoal_test_environment
    "ASAN_OPTIONS=detect_leaks=1:fast_unwind_on_malloc=0:quarantine_size_mb=32:intercept_tls_get_addr=0"
    "LSAN_OPTIONS=suppressions=${suppressions}/lsan.txt:print_suppressions=0"
    "TSAN_OPTIONS=suppressions=${suppressions}/tsan.txt:second_deadlock_stack=1")
endif()
