// SPDX-License-Identifier: BSD-3-Clause
// Definitions as one rank with the HDF5 library alone would make them: datasets and text attributes, without
// netCDF's conventions, which it shows the price of.
#include <hdf5.h>

#include <stdexcept>

#include "method.hpp"
#include "node.hpp"

namespace shoal::bench {

namespace {

// An HDF5 identifier that closes itself.
class Id {
 public:
  Id(hid_t id, herr_t (*close)(hid_t), const char* what) : id_(id), close_(close) {
    if (id < 0) throw std::runtime_error(std::string("HDF5: ") + what + " failed");
  }
  ~Id() { close_(id_); }
  Id(const Id&) = delete;
  Id& operator=(const Id&) = delete;
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

hid_t file_type(Type type) {
  if (type == Type::dbl) return H5T_IEEE_F64LE;
  return type == Type::real ? H5T_IEEE_F32LE : H5T_STD_I32LE;
}

class BareHdf5 : public Method {
 public:
  void create(Run& run) override {
    if (run.rank != 0) return;
    run.phases.time(Phase::open,
                    [&] { file_ = H5Fcreate(run.path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT); });
    if (file_ < 0) throw std::runtime_error("HDF5: creation of " + run.path + " failed");
    run.phases.time(Phase::write_meta, [&] {
      for (const auto& field : run.content.fields)
        define_field(file_, field);
    });
  }

  void finish(Run& run) override {
    run.at_peak();
    if (run.rank != 0) return;
    run.phases.time(Phase::close, [&] {
      if (H5Fclose(file_) < 0) throw std::runtime_error("HDF5: closing of " + run.path + " failed");
      if (run.flush) flush_file(run.path);
    });
  }

  void put(Run&, std::int64_t) override { no_values(); }
  void open(Run&) override { no_values(); }
  void get(Run&, std::int64_t) override { no_values(); }
  void close(Run&) override { no_values(); }

 private:
  [[noreturn]] static void no_values() { throw std::logic_error("bare-hdf5 knows definitions alone"); }

  static void define_field(hid_t file, const Field& field) {
    const Id creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "a property list");
    std::vector<hsize_t> now, most;
    if (field.record) {
      now.push_back(0);
      most.push_back(H5S_UNLIMITED);
    }
    for (const auto n : field.shape) {
      now.push_back(static_cast<hsize_t>(n));
      most.push_back(static_cast<hsize_t>(n));
    }
    if (field.record) {
      auto chunk = most;
      for (std::size_t i = 0; i + 2 < chunk.size(); ++i)
        chunk[i] = 1;
      H5Pset_chunk(creation, static_cast<int>(chunk.size()), chunk.data());
    }
    const Id space(now.empty() ? H5Screate(H5S_SCALAR)
                               : H5Screate_simple(static_cast<int>(now.size()), now.data(), most.data()),
                   H5Sclose, "a dataspace");
    const Id set(H5Dcreate2(file, field.name.c_str(), file_type(field.type), space, H5P_DEFAULT, creation,
                            H5P_DEFAULT),
                 H5Dclose, "a dataset");
    for (const auto& [key, value] : field.attributes) {
      const Id type(H5Tcopy(H5T_C_S1), H5Tclose, "a type");
      H5Tset_size(type, value.size());
      const Id scalar(H5Screate(H5S_SCALAR), H5Sclose, "a dataspace");
      const Id attribute(H5Acreate2(set, key.c_str(), type, scalar, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                         "an attribute");
      if (H5Awrite(attribute, type, value.data()) < 0)
        throw std::runtime_error("HDF5: attribute " + key + " failed");
    }
  }

  hid_t file_ = -1;
};

}  // namespace

std::unique_ptr<Method> make_bare_hdf5(const MethodEntry&) {
  return std::make_unique<BareHdf5>();
}

}  // namespace shoal::bench
