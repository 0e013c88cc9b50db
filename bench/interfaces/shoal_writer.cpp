// SPDX-License-Identifier: BSD-3-Clause
#include <shoal/shoal.h>

#include "json.hpp"
#include "writers.hpp"

namespace shoal::bench::interfaces {

namespace {

shoal_array array_of(const float* values, const std::vector<std::int64_t>& extents) {
  return shoal_array_of(const_cast<float*>(values), SHOAL_FLOAT, static_cast<int>(extents.size()),
                        extents.data());
}

}  // namespace

void ShoalWriter::prepare(const Case& c) {
  decompositions_.clear();
  for (const auto& cut : c.cuts) {
    shoal_decomposition* made = nullptr;
    const int dims = static_cast<int>(cut.shape.size());
    if (cut.is_box())
      check_shoal(shoal_block(comm_, dims, cut.shape.data(), cut.first.data(), cut.count.data(), nullptr,
                              nullptr, &made),
                  "decomposition");
    else
      check_shoal(shoal_map(comm_, dims, cut.shape.data(), 0, cut.local_cells(), cut.cells.data(), &made),
                  "decomposition");
    decompositions_.emplace_back(made);
  }
}

void ShoalWriter::write(const std::string& path, const Case& c) {
  shoal_dataset* file = nullptr;
  check_shoal(shoal_create(comm_, path.c_str(), "format=cdf5, fill=written", &file), "creation");
  check_shoal(shoal_def_dim(file, "time", SHOAL_UNLIMITED), "time");
  std::vector<std::string> dims;
  for (std::size_t i = 0; i < c.cuts.size(); ++i) {
    dims.emplace_back("time");
    const auto lengths = c.cuts[i].lengths();
    for (std::size_t d = 0; d < lengths.size(); ++d) {
      const auto name = "d" + std::to_string(i) + "_" + std::to_string(d);
      check_shoal(shoal_def_dim(file, name.c_str(), lengths[d]), name);
      dims.back() += " " + name;
    }
  }
  for (std::size_t f = 0; f < c.fields.size(); ++f) {
    const auto cut = static_cast<std::size_t>(c.fields[f]);
    check_shoal(shoal_def_var(file, ("v" + std::to_string(f)).c_str(), SHOAL_FLOAT, dims[cut].c_str(),
                              decompositions_[cut].get()),
                "variable");
  }
  check_shoal(shoal_end_define(file), "end of definitions");
  for (int record = 0; record < c.records; ++record)
    for (std::size_t f = 0; f < c.fields.size(); ++f) {
      const auto& cut = c.cuts[static_cast<std::size_t>(c.fields[f])];
      const auto extents = cut.extents();
      const auto values = array_of(cut.values.data(), extents);
      check_shoal(
          shoal_write(file, ("v" + std::to_string(f)).c_str(), nullptr, &values, SHOAL_RECORD(record)),
          "writing");
    }
  stage_bytes_ = Json::parse(shoal_report(file)).at("stage").at("bytes");
  check_shoal(shoal_close(&file, 0), "closing");
}

std::int64_t ShoalWriter::wrong(const std::string& path, const Case& c) {
  shoal_dataset* file = nullptr;
  std::int64_t wrong = 0;
  check_shoal(shoal_open(comm_, path.c_str(), SHOAL_READ, nullptr, &file), "opening");
  for (int record = 0; record < c.records; ++record)
    for (std::size_t f = 0; f < c.fields.size(); ++f) {
      const auto index = static_cast<std::size_t>(c.fields[f]);
      const auto& cut = c.cuts[index];
      const auto extents = cut.extents();
      std::vector<float> found(cut.values.size(), -1);
      const auto values = array_of(found.data(), extents);
      check_shoal(shoal_read(file, ("v" + std::to_string(f)).c_str(), decompositions_[index].get(), &values,
                             SHOAL_RECORD(record)),
                  "reading");
      for (std::size_t i = 0; i < found.size(); ++i)
        if (found[i] != cut.values[i]) ++wrong;
    }
  check_shoal(shoal_close(&file, 0), "closing");
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT64_T, MPI_SUM, comm_);
  return wrong;
}

}  // namespace shoal::bench::interfaces
