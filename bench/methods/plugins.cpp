// SPDX-License-Identifier: BSD-3-Clause
// Methods whose libraries have the names of others in this program: all PIOs have the same ones, and so have
// a door and the library that it stands before. Each lies in a plugin, which sees its own names alone.
#include <dlfcn.h>

#include <filesystem>
#include <stdexcept>

#include "method.hpp"

namespace shoal::bench {

namespace {

// Beside the libraries of this program, built or installed.
std::string path_of(const std::string& plugin) {
  const auto program = std::filesystem::read_symlink("/proc/self/exe");
  return (program.parent_path().parent_path() / SHOAL_BENCH_LIBDIR / (plugin + ".so")).string();
}

// It stays loaded. What a plugin was linked with is found before what this program has loaded already, where
// the system can do that.
void* load(const std::string& path, bool own_names_first) {
  int how = RTLD_NOW | RTLD_LOCAL;
#ifdef RTLD_DEEPBIND
  if (own_names_first) how |= RTLD_DEEPBIND;
#endif
  void* const plugin = dlopen(path.c_str(), how);
  if (plugin == nullptr) throw std::runtime_error(std::string("a plugin of shoal-bench: ") + dlerror());
  return plugin;
}

// `symbol`: of the function that makes the method.
std::unique_ptr<Method> make(const std::string& name, const char* symbol, const MethodEntry& entry,
                             bool own_names_first) {
  using Make = Method*(const MethodEntry*);
  auto* const make = reinterpret_cast<Make*>(dlsym(load(path_of(name), own_names_first), symbol));
  if (make == nullptr) throw std::runtime_error(std::string("a plugin of shoal-bench: ") + dlerror());
  return std::unique_ptr<Method>(make(&entry));
}

}  // namespace

std::unique_ptr<Method> make_pio_on_shoal(const MethodEntry& entry) {
  return make("shoal_bench_pio_on_shoal", "shoal_bench_make_pio", entry, false);
}

std::unique_ptr<Method> make_pio(const MethodEntry& entry) {
  return make("shoal_bench_pio", "shoal_bench_make_pio", entry, true);
}

std::unique_ptr<Method> make_door(const MethodEntry& entry) {
  return make("shoal_bench_door_" + entry.driver, "shoal_bench_make_door", entry, true);
}

}  // namespace shoal::bench
