# Language standards, warnings and sanitizers, applied to Shoal's own targets.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

if(SHOAL_FORTRAN)
  include(CheckLanguage)
  check_language(Fortran)
  if(CMAKE_Fortran_COMPILER)
    enable_language(Fortran)
  else()
    message(WARNING "No Fortran compiler found: the Fortran interface is not built. "
                    "Install one (gfortran 12 or newer), or pass -DSHOAL_FORTRAN=OFF to silence this.")
    set(SHOAL_FORTRAN OFF)
  endif()
endif()


add_library(shoal_warnings INTERFACE)
target_compile_options(shoal_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:C,CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wconversion>
  $<$<COMPILE_LANGUAGE:C>:-Wno-sign-conversion>)
# gcc 12 at -O3 sees overlapping copies in std::string's operator+ that are not there (GCC bug 105651), and
# copies behind the end of members that a loop reaches through pointers to members, and of what grows as it is
# filled.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(shoal_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict;-Wno-stringop-overflow;-Wno-array-bounds>)
endif()
if(SHOAL_FORTRAN)
  target_compile_options(shoal_warnings INTERFACE $<$<COMPILE_LANGUAGE:Fortran>:-Wall;-Wextra;-Wno-compare-reals>)
endif()
if(SHOAL_WERROR)
  target_compile_options(shoal_warnings INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-Werror>)
endif()

if(SHOAL_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "SHOAL_FUZZ needs clang, whose libFuzzer the fuzzers are made for, and not "
                        "${CMAKE_CXX_COMPILER_ID}: tools/fuzz.sh chooses it (Debian: tools/install-deps.sh --fuzz).")
  endif()
  add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=fuzzer-no-link>")
endif()

if(SHOAL_SANITIZE)
  if(NOT SHOAL_SANITIZE MATCHES "^(address|thread)$")
    message(FATAL_ERROR "SHOAL_SANITIZE is '${SHOAL_SANITIZE}'; allowed are address, thread or nothing.")
  endif()
  set(shoal_sanitize_flags -fsanitize=${SHOAL_SANITIZE} -fno-omit-frame-pointer)
  if(SHOAL_SANITIZE STREQUAL "address")
    list(APPEND shoal_sanitize_flags -fsanitize=undefined -fno-sanitize-recover=undefined)
  endif()
  add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:${shoal_sanitize_flags}>")
  add_link_options(${shoal_sanitize_flags})
endif()
