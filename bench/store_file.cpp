// SPDX-License-Identifier: BSD-3-Clause
// A store of Zarr, by Shoal, on one rank. netCDF-C 4.9 reads version 2 alone, and no store with scalars.
#include <shoal/shoal.h>

#include <stdexcept>

#include "plain_file.hpp"
#include "shoal_check.hpp"

namespace shoal::bench {

namespace {

class StoreFile final : public PlainFile {
 public:
  explicit StoreFile(const std::string& path) {
    check_shoal(shoal_open(MPI_COMM_SELF, path.c_str(), SHOAL_READ, "", &file_), "opening of " + path);
  }
  ~StoreFile() override { shoal_abandon(&file_); }
  StoreFile(const StoreFile&) = delete;
  StoreFile& operator=(const StoreFile&) = delete;

  std::int64_t length(const std::string& dimension) override {
    int index = 0;
    if (shoal_find_dim(file_, dimension.c_str(), &index) != SHOAL_OK) return -1;
    return dim(index).length;
  }

  bool find(const std::string& variable, PlainVariable& out) override {
    shoal_variable index = 0;
    if (shoal_find_var(file_, variable.c_str(), &index) != SHOAL_OK) return false;
    const auto info = variable_info(index);
    out.type = info.type;
    out.dims.clear();
    for (int d = 0; d < (is_scalar(info) ? 0 : info.ndims); ++d)
      out.dims.emplace_back(dim(info.dims[d]).name);
    return true;
  }

  std::vector<std::int64_t> numbers(const std::string& variable, const std::string& attribute) override {
    std::vector<std::int64_t> values(static_cast<std::size_t>(count_of(variable, attribute)));
    if (!values.empty())
      check_shoal(shoal_get_att(file_, variable.c_str(), attribute.c_str(), SHOAL_INT64, values.data()),
                  attribute);
    return values;
  }

  std::string text(const std::string& variable, const std::string& attribute) override {
    std::string found(static_cast<std::size_t>(count_of(variable, attribute)), '\0');
    if (!found.empty())
      check_shoal(shoal_get_att(file_, variable.c_str(), attribute.c_str(), SHOAL_CHAR, found.data()),
                  attribute);
    return found;
  }

  void read(const std::string& variable, const std::vector<std::int64_t>& start,
            const std::vector<std::int64_t>& count, std::byte* values) override {
    shoal_variable index = 0;
    check_shoal(shoal_find_var(file_, variable.c_str(), &index), "variable " + variable);
    const auto info = variable_info(index);
    if (is_scalar(info)) return read_scalar(index, info, values);
    const std::size_t records = info.has_record != 0 ? 1 : 0;
    const auto dims = static_cast<int>(start.size() - records);
    const auto array = shoal_array_of(values, info.type, dims, count.data() + records);
    const shoal_section section{sizeof(shoal_section),
                                records != 0 ? start[0] : SHOAL_NO_RECORD,
                                dims,
                                start.data() + records,
                                count.data() + records,
                                0};
    check_shoal(shoal_get_variable(file_, index, &array, &section), "reading of " + variable);
  }

  std::int64_t place(const std::string&, const std::vector<std::int64_t>&) override { return -1; }

 private:
  // NCZarr stores a scalar as an array of one cell. Along its own name it is a coordinate.
  bool is_scalar(const shoal_var_info& info) const {
    return info.ndims == 1 && dim(info.dims[0]).length == 1 &&
           std::string(info.name) != dim(info.dims[0]).name;
  }
  void read_scalar(shoal_variable index, const shoal_var_info& info, std::byte* values) {
    const std::int64_t one = 1;
    const auto array = shoal_array_of(values, info.type, 1, &one);
    check_shoal(shoal_get_variable(file_, index, &array, nullptr), std::string("reading of ") + info.name);
  }
  shoal_dim_info dim(int index) const {
    shoal_dim_info info = SHOAL_DIM_INFO_INIT;
    check_shoal(shoal_inq_dim(file_, index, &info), "a dimension");
    return info;
  }
  shoal_var_info variable_info(shoal_variable index) const {
    shoal_var_info info = SHOAL_VAR_INFO_INIT;
    check_shoal(shoal_inq_var(file_, index, &info), "a variable");
    return info;
  }
  std::int64_t count_of(const std::string& variable, const std::string& attribute) const {
    int index = 0;
    if (shoal_find_att(file_, variable.c_str(), attribute.c_str(), &index) != SHOAL_OK) return 0;
    shoal_att_info info = SHOAL_ATT_INFO_INIT;
    check_shoal(shoal_inq_att(file_, variable.c_str(), index, &info), attribute);
    return info.count;
  }

  shoal_dataset* file_ = nullptr;
};

}  // namespace

std::unique_ptr<PlainFile> open_store(const std::string& path) {
  return std::make_unique<StoreFile>(path);
}

}  // namespace shoal::bench
