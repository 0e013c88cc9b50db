# Prints what a module file sets, as NAME=VALUE lines, without Environment Modules or Lmod.
#   tclsh load_module.tcl MODULEFILE
set ModulesCurrentModulefile [lindex $argv 0]
proc setenv {name value} { puts "$name=$value" }
proc prepend-path {name value} { puts "$name=$value" }
proc module-whatis {text} {}
proc conflict {name} {}
source $ModulesCurrentModulefile
ModulesHelp
