# utf8proc, which brings names to the form in which NetCDF stores them (NFC): target shoal_utf8proc.
find_path(SHOAL_UTF8PROC_INCLUDE utf8proc.h)
find_library(SHOAL_UTF8PROC_LIBRARY NAMES utf8proc)
mark_as_advanced(SHOAL_UTF8PROC_INCLUDE SHOAL_UTF8PROC_LIBRARY)
if(NOT SHOAL_UTF8PROC_INCLUDE OR NOT SHOAL_UTF8PROC_LIBRARY)
  message(FATAL_ERROR "utf8proc was not found. Install it (Debian: libutf8proc-dev, or tools/install-deps.sh; Spack: "
                      "utf8proc), or set SHOAL_UTF8PROC_INCLUDE and SHOAL_UTF8PROC_LIBRARY.")
endif()
add_library(shoal_utf8proc INTERFACE)
if(NOT SHOAL_UTF8PROC_INCLUDE IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
  target_include_directories(shoal_utf8proc SYSTEM INTERFACE "${SHOAL_UTF8PROC_INCLUDE}")
endif()
target_link_libraries(shoal_utf8proc INTERFACE "${SHOAL_UTF8PROC_LIBRARY}")
