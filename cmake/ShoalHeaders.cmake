# Libraries of headers alone, as targets where found: shoal_json (nlohmann/json), shoal_cli11 (CLI11), shoal_toml (toml++).
# Neither has a part of the interface, so programs that use Shoal need none of them.
function(shoal_header_library target header variable)
  find_path(${variable} ${header})
  mark_as_advanced(${variable})
  if(NOT ${variable} OR TARGET ${target})
    return()
  endif()
  add_library(${target} INTERFACE IMPORTED)
  if(NOT ${variable} IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
    target_include_directories(${target} SYSTEM INTERFACE "${${variable}}")
  endif()
endfunction()

shoal_header_library(shoal_json nlohmann/json.hpp SHOAL_JSON_INCLUDE)
shoal_header_library(shoal_cli11 CLI/CLI.hpp SHOAL_CLI11_INCLUDE)
shoal_header_library(shoal_toml toml++/toml.h SHOAL_TOML_INCLUDE)
