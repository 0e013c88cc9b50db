# Installs the package, the command `shoal`, its man pages and the completions of shells.
#
# SHOAL_PYTHON_DIR        where the package goes, below the prefix or absolute
# SHOAL_PRIVATE_PACKAGES  a folder with what the command imports (numpy, mpi4py, typer, rich), which is installed
#                         for the command alone, so that it needs nothing but the interpreter. Empty: the interpreter
#                         has them, as in packages of a distribution, Spack, EasyBuild or conda.
# SHOAL_PYTHON_COMPILE    byte code beside the installed sources, which others may not write to later
# SHOAL_COMMAND_PAGES     man pages and completions, for which the package is imported while it is built
set(SHOAL_PYTHON_DIR "lib/python${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}/site-packages" CACHE STRING
  "Where the Python package is installed")
set(SHOAL_PRIVATE_PACKAGES "" CACHE PATH "Folder with the Python packages to install for the command shoal alone")
option(SHOAL_PYTHON_COMPILE "Install byte code beside the Python sources" ON)
option(SHOAL_COMMAND_PAGES "Man pages and completions of the command shoal" ON)

include(GNUInstallDirs)
set(command_tree "${CMAKE_CURRENT_BINARY_DIR}/tree")  # the package as it is installed
set(private_dir "${CMAKE_INSTALL_LIBEXECDIR}/shoal/python")

# From the module to libshoal, both below the prefix, wherever that is.
if(IS_ABSOLUTE "${SHOAL_PYTHON_DIR}")
  file(RELATIVE_PATH to_libdir "${SHOAL_PYTHON_DIR}/shoal" "${CMAKE_INSTALL_FULL_LIBDIR}")
else()
  file(RELATIVE_PATH to_libdir "/prefix/${SHOAL_PYTHON_DIR}/shoal" "/prefix/${CMAKE_INSTALL_LIBDIR}")
endif()
set_target_properties(_shoal PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${command_tree}/shoal")
if(NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set_target_properties(_shoal PROPERTIES INSTALL_RPATH "$ORIGIN/${to_libdir}")
endif()

add_custom_target(shoal_python_tree ALL
  COMMAND "${CMAKE_COMMAND}" -E copy_directory "${PROJECT_SOURCE_DIR}/src/shoal" "${command_tree}/shoal"
  COMMAND "${Python_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/tools/metadata.py" "${PROJECT_SOURCE_DIR}/pyproject.toml" "${command_tree}"
  COMMENT "Python package in ${command_tree}" VERBATIM)
add_dependencies(shoal_python_tree _shoal)

if(SHOAL_COMMAND_PAGES)
  add_custom_target(shoal_command_pages ALL
    COMMAND "${CMAKE_COMMAND}" -E env "PYTHONPATH=${command_tree}:${SHOAL_PRIVATE_PACKAGES}" PYTHONDONTWRITEBYTECODE=1
      "${Python_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/tools/command_pages.py" "${CMAKE_CURRENT_BINARY_DIR}/pages"
    COMMENT "Man pages and completions of shoal" VERBATIM)
  add_dependencies(shoal_command_pages shoal_python_tree)
  install(DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/pages/man/" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT command)
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/pages/shoal.bash" RENAME shoal COMPONENT command
    DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/pages/shoal.zsh" RENAME _shoal COMPONENT command
    DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/pages/shoal.fish" COMPONENT command
    DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
endif()

# The launcher sets PYTHONPATH only where the interpreter does not look there by itself.
execute_process(COMMAND "${Python_EXECUTABLE}" -c "import os, sys; print(';'.join(map(os.path.realpath, sys.path)))"
  OUTPUT_VARIABLE python_places OUTPUT_STRIP_TRAILING_WHITESPACE)
cmake_path(ABSOLUTE_PATH SHOAL_PYTHON_DIR BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" NORMALIZE OUTPUT_VARIABLE python_place)
set(launcher_places "")
if(NOT python_place IN_LIST python_places)
  if(IS_ABSOLUTE "${SHOAL_PYTHON_DIR}")
    set(launcher_places "${SHOAL_PYTHON_DIR}")
  else()
    set(launcher_places "$prefix/${SHOAL_PYTHON_DIR}")
  endif()
endif()
if(SHOAL_PRIVATE_PACKAGES)
  string(APPEND launcher_places ":$prefix/${private_dir}")
endif()
# A virtual environment is a way to build; what is installed runs with the interpreter under it, unless it needs
# the packages of the environment.
set(launcher_python "${Python_EXECUTABLE}")
if(SHOAL_PRIVATE_PACKAGES)
  execute_process(COMMAND "${Python_EXECUTABLE}" -c
    "import os, sys; print(os.path.realpath(getattr(sys, '_base_executable', '') or sys.executable))"
    OUTPUT_VARIABLE launcher_python OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
set(launcher_version "${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}")
set(launcher_script "${CMAKE_INSTALL_LIBEXECDIR}/shoal/shoal")
configure_file("${PROJECT_SOURCE_DIR}/cmake/shoal.sh.in" "${CMAKE_CURRENT_BINARY_DIR}/shoal" @ONLY)

install(TARGETS _shoal LIBRARY DESTINATION "${SHOAL_PYTHON_DIR}/shoal" COMPONENT command)
install(DIRECTORY "${command_tree}/" DESTINATION "${SHOAL_PYTHON_DIR}" COMPONENT command
  PATTERN "__pycache__" EXCLUDE PATTERN "*.so" EXCLUDE)
install(PROGRAMS "${CMAKE_CURRENT_BINARY_DIR}/shoal" DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT command)
install(PROGRAMS "${PROJECT_SOURCE_DIR}/cmake/start.py" RENAME shoal DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/shoal"
  COMPONENT command)
set(compiled_places "${SHOAL_PYTHON_DIR}/shoal")
if(SHOAL_PRIVATE_PACKAGES)
  install(DIRECTORY "${SHOAL_PRIVATE_PACKAGES}/" DESTINATION "${private_dir}" COMPONENT command USE_SOURCE_PERMISSIONS
    PATTERN "__pycache__" EXCLUDE)
  list(APPEND compiled_places "${private_dir}")
endif()
if(SHOAL_PYTHON_COMPILE)
  # Without looking at times of sources, so that the byte code counts after the tree was copied.
  foreach(place IN LISTS compiled_places)
    cmake_path(IS_RELATIVE place is_below_prefix)
    if(is_below_prefix)
      set(place "\${CMAKE_INSTALL_PREFIX}/${place}")
    endif()
    install(CODE "
      set(byte_code_command \"${Python_EXECUTABLE}\" -m compileall -q -j 0 --invalidation-mode unchecked-hash)
      if(NOT \"\$ENV{DESTDIR}\" STREQUAL \"\")
        list(APPEND byte_code_command -s \"\$ENV{DESTDIR}\" -p /)
      endif()
      execute_process(COMMAND \${byte_code_command} \"\$ENV{DESTDIR}${place}\" OUTPUT_QUIET)" COMPONENT command)
  endforeach()
endif()
