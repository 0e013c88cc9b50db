// SPDX-License-Identifier: BSD-3-Clause
// Stands for Lustre's program of that name on mounts of labfs, with the two commands that set and show
// stripes.
//   lfs setstripe [-c COUNT] [-S BYTES] PATH    of a new file, which is made, or of a folder
//   lfs getstripe PATH...
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "mount/backing.hpp"
#include "mount/lustre_attribute.hpp"

using namespace shoal::lab;

namespace {

[[noreturn]] void fail(const std::string& path, const std::string& what, int error) {
  std::string why = std::strerror(error);
  if (error == EOPNOTSUPP) why = "this is no Lustre, and no mount of labfs with a preset of it";
  if (error == EEXIST) why = "it has stripes already";
  throw std::runtime_error(fmt::format("cannot {} of {}: {}", what, path, why));
}

void set_stripes(const std::string& path, const StripingParameters& striping) {
  struct stat status {};
  const bool is_folder = ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
  if (!is_folder) {
    const Descriptor made(::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0666));
    if (!made.valid()) fail(path, "make the file", errno);
  }
  const std::string value = lustre_attribute(striping, {});
  if (::setxattr(path.c_str(), k_lustre_attribute, value.data(), value.size(), 0) != 0)
    fail(path, "set the stripes", errno);
}

void show_stripes(const std::string& path) {
  std::array<char, 65536> value{};
  const ssize_t size = ::getxattr(path.c_str(), k_lustre_attribute, value.data(), value.size());
  if (size < 0) fail(path, "get the stripes", errno);
  const auto found = read_lustre_attribute(std::string(value.data(), static_cast<std::size_t>(size)));
  if (!found) fail(path, "read the stripes", EINVAL);
  fmt::print("{}\nlmm_stripe_count:  {}\nlmm_stripe_size:   {}\n", path, found->striping.count,
             found->striping.bytes);
  if (!found->servers.empty()) fmt::print("lmm_stripe_offset: {}\n\tobdidx\n", found->servers[0]);
  for (const int server : found->servers)
    fmt::print("\t{}\n", server);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Stripes of files on mounts of labfs, as Lustre's lfs");
  app.require_subcommand(1);
  StripingParameters striping{0, 0};
  std::string path;
  std::vector<std::string> paths;
  CLI::App* const set =
      app.add_subcommand("setstripe", "Set the stripes of a new file, or of new files of a folder");
  set->add_option("-c,--stripe-count", striping.count, "Servers; -1: all, 0: as the file system has it");
  set->add_option("-S,--stripe-size", striping.bytes, "Bytes, or with K, M, G; 0: as the file system has it")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{0xFFFFFFFF}));
  set->add_option("path", path)->required();
  CLI::App* const get = app.add_subcommand("getstripe", "Show them");
  get->add_option("path", paths)->required();
  CLI11_PARSE(app, argc, argv);
  try {
    if (*set) set_stripes(path, striping);
    for (const std::string& each : paths)
      show_stripes(each);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "lfs: {}\n", error.what());
    return 1;
  }
}
