// SPDX-License-Identifier: BSD-3-Clause
#include "plain_file.hpp"

#include <filesystem>

#ifdef SHOAL_HAVE_NETCDF
#include <netcdf.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "netcdf_file.hpp"
#endif

namespace shoal::bench {

#ifdef SHOAL_HAVE_NETCDF

namespace {

class NetcdfFile final : public PlainFile {
 public:
  explicit NetcdfFile(const std::string& path) : path_(path) {
    check_netcdf(nc_open(path_.c_str(), NC_NOWRITE, &file_), "opening", path_);
  }
  ~NetcdfFile() override { nc_close(file_); }
  NetcdfFile(const NetcdfFile&) = delete;
  NetcdfFile& operator=(const NetcdfFile&) = delete;

  std::int64_t length(const std::string& dimension) override {
    int id = -1;
    std::size_t length = 0;
    if (nc_inq_dimid(file_, dimension.c_str(), &id) != NC_NOERR) return -1;
    check_netcdf(nc_inq_dimlen(file_, id, &length), "length of " + dimension, path_);
    return static_cast<std::int64_t>(length);
  }

  bool find(const std::string& variable, PlainVariable& out) override {
    int id = -1, count = 0;
    if (nc_inq_varid(file_, variable.c_str(), &id) != NC_NOERR) return false;
    std::array<int, NC_MAX_VAR_DIMS> dims{};
    check_netcdf(nc_inq_var(file_, id, nullptr, &out.type, &count, dims.data(), nullptr), variable, path_);
    out.dims.clear();
    for (int d = 0; d < count; ++d) {
      std::array<char, NC_MAX_NAME + 1> name{};
      check_netcdf(nc_inq_dimname(file_, dims[static_cast<std::size_t>(d)], name.data()), "dimension", path_);
      out.dims.emplace_back(name.data());
    }
    return true;
  }

  std::vector<std::int64_t> numbers(const std::string& variable, const std::string& attribute) override {
    const int id = id_of(variable);
    std::size_t length = 0;
    if (nc_inq_attlen(file_, id, attribute.c_str(), &length) != NC_NOERR) return {};
    std::vector<long long> values(length);
    check_netcdf(nc_get_att_longlong(file_, id, attribute.c_str(), values.data()), attribute, path_);
    return {values.begin(), values.end()};
  }

  std::string text(const std::string& variable, const std::string& attribute) override {
    const int id = id_of(variable);
    std::size_t length = 0;
    if (nc_inq_attlen(file_, id, attribute.c_str(), &length) != NC_NOERR) return {};
    std::string found(length, '\0');
    return nc_get_att_text(file_, id, attribute.c_str(), found.data()) == NC_NOERR ? found : "";
  }

  void read(const std::string& variable, const std::vector<std::int64_t>& start,
            const std::vector<std::int64_t>& count, std::byte* values) override {
    std::vector<std::size_t> from(start.begin(), start.end()), cells(count.begin(), count.end());
    // netCDF takes pointers even of scalars.
    if (from.empty()) from = {0}, cells = {1};
    check_netcdf(nc_get_vara(file_, id_of(variable), from.data(), cells.data(), values),
                 "reading of " + variable, path_);
  }

  std::int64_t place(const std::string&, const std::vector<std::int64_t>&) override { return -1; }

 private:
  int id_of(const std::string& variable) {
    int id = -1;
    check_netcdf(nc_inq_varid(file_, variable.c_str(), &id), "variable " + variable, path_);
    return id;
  }

  std::string path_;
  int file_ = -1;
};

}  // namespace

std::unique_ptr<PlainFile> open_netcdf(const std::string& path) {
  return std::make_unique<NetcdfFile>(path);
}

#else

std::unique_ptr<PlainFile> open_netcdf(const std::string&) {
  return nullptr;
}

#endif

std::unique_ptr<PlainFile> open_plain(const std::string& path) {
  if (std::filesystem::exists(path + ".json")) return open_raw(path);
  return std::filesystem::is_directory(path) ? open_store(path) : open_netcdf(path);
}

}  // namespace shoal::bench
