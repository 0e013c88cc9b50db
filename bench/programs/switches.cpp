// SPDX-License-Identifier: BSD-3-Clause
#include "switches.hpp"

#include <shoal/shoal.h>

#include <cctype>
#include <memory>

#include "methods/shoal_calls.hpp"

namespace shoal::bench {

namespace {

struct Abandon {
  void operator()(shoal_dataset* file) const { shoal_abandon(&file); }
};

}  // namespace

bool is_switch(const Field& field) {
  if (field.distributed || field.type != Type::integer) return false;
  return field.name == "spherical" || (field.name.size() > 1 && field.name[0] == 'L');
}

std::vector<double> read_switch(MPI_Comm comm, const std::string& path, const Field& field) {
  shoal_dataset* opened = nullptr;
  check_shoal(shoal_open(comm, path.c_str(), SHOAL_READ, "quiet=true", &opened), "opening");
  const std::unique_ptr<shoal_dataset, Abandon> file(opened);
  int index = 0;
  if (shoal_find_var(file.get(), field.name.c_str(), &index) != SHOAL_OK) return {};
  std::vector<std::int32_t> values(static_cast<std::size_t>(field.elements()));
  const shoal_array view{sizeof(shoal_array),
                         values.data(),
                         SHOAL_LOGICAL,
                         sizeof(std::int32_t),
                         static_cast<int>(field.shape.size()),
                         field.shape.data(),
                         nullptr};
  check_shoal(shoal_get(file.get(), field.name.c_str(), &view, nullptr), "switch " + field.name);
  std::vector<double> out;
  for (const auto value : values)
    out.push_back(value != 0 ? 1 : 0);
  return out;
}

}  // namespace shoal::bench
