// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <memory>

#include "format/netcdf4/contents.hpp"
#include "format/netcdf4/other_files.hpp"
#include "format/reference/reference.hpp"
#include "storage/paths.hpp"

namespace shoal {

using namespace reference;  // NOLINT
using netcdf4::check;
using netcdf4::Contents;
using netcdf4::Id;

namespace {

constexpr std::int64_t k_copied_bytes = 64 * 1024;  // of a variable that is the same in all files

using Sizes = std::array<hsize_t, k_max_dims>;

class MasterWriter {
 public:
  MasterWriter(FileSet set, const FileSetOptions& options, const std::string& out)
      : set_(std::move(set)), options_(options), folder_(folder_of(normal_path(out))) {}
  void write(const std::string& path);

 private:
  void look_at_files();
  bool is_copied(int v) const;
  Id virtual_storage(int v, hid_t creation) const;
  void add_source(int v, const SetPiece& piece, hid_t creation) const;
  void copy_values(int v, hid_t dataset);
  Catalog& open(int file);
  const VariableDef& def(int v) const { return set_.schema.variable(v); }
  bool unlimited(int v, int d) const { return set_.schema.dim(def(v).dims[d]).unlimited; }

  FileSet set_;
  const FileSetOptions& options_;
  std::string folder_;
  std::vector<Numbered<std::string>> links_;  // [file][variable of the file]: path of its data set
  std::vector<std::string> names_;            // [file] as the master names it
  std::unique_ptr<Catalog> catalog_;          // of the file opened_
  int opened_ = -1;
};

void MasterWriter::look_at_files() {
  for (const auto& file : set_.files) {
    const auto store = options_.open_store(file.path, StoreMode::read);
    if (recognise(*store) != Format::netcdf4)
      throw Error(
          Code::not_supported,
          "a virtual master needs netCDF-4 files, and this one is of another format; write the set with "
          "format=netcdf4, make a reference instead (which takes any format), or combine the files")
          .in_file(file.path);
    const Id opened(H5Fopen(file.path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
    if (!opened.valid()) throw netcdf4::hdf5_error("open the file").in_file(file.path);
    const Contents contents = netcdf4::read_contents(opened, {file.path, options_.catalog.external_files});
    auto& links = links_.emplace_back();
    for (const auto& variable : contents.variables)
      links.push_back(variable.link.empty() || variable.link[0] == '/' ? variable.link : "/" + variable.link);
    // HDF5 takes % for the number of a block.
    std::string name;
    for (const char c : relative_path(normal_path(file.path), folder_))
      name += c == '%' ? std::string("%%") : std::string(1, c);
    names_.push_back(name);
  }
}

/// Small ones that are the same in all files, so that the master has its coordinates itself.
bool MasterWriter::is_copied(int v) const {
  const auto& definition = def(v);
  if (definition.type == Type::string) return true;
  if (set_.is_cut(v) || set_.schema.has_record(v)) return false;
  const auto size = static_cast<std::int64_t>(size_of(definition.type));
  return volume(set_.schema.shape(v)) * size <= k_copied_bytes;
}

void MasterWriter::add_source(int v, const SetPiece& piece, hid_t creation) const {
  const int n = piece.cells.rank();
  const SetFile& file = set_.files[piece.file];
  Sizes whole{}, whole_most{}, own{}, own_most{}, start{}, own_start{}, count{}, block{}, stride{};
  for (int d = 0; d < n; ++d) {
    const auto i = static_cast<std::size_t>(d);
    const int dim = def(v).dims[d];
    const bool grows = unlimited(v, d);
    whole[i] = grows ? 0 : static_cast<hsize_t>(set_.schema.dims[dim].length);
    own[i] = grows ? 0 : static_cast<hsize_t>(file.spans[dim].stored);
    whole_most[i] = grows ? H5S_UNLIMITED : whole[i];
    own_most[i] = grows ? H5S_UNLIMITED : own[i];
    start[i] = grows ? 0 : static_cast<hsize_t>(piece.cells.first[d]);
    own_start[i] = grows ? 0 : static_cast<hsize_t>(piece.in_file.first[d]);
    // All records, however many there will be.
    count[i] = grows ? H5S_UNLIMITED : 1;
    block[i] = grows ? 1 : static_cast<hsize_t>(piece.cells.count[d]);
    stride[i] = block[i];
  }
  const Id to(check(H5Screate_simple(n, whole.data(), whole_most.data()), "make a space"));
  const Id from(check(H5Screate_simple(n, own.data(), own_most.data()), "make a space"));
  check(H5Sselect_hyperslab(to, H5S_SELECT_SET, start.data(), stride.data(), count.data(), block.data()),
        "select cells");
  check(
      H5Sselect_hyperslab(from, H5S_SELECT_SET, own_start.data(), stride.data(), count.data(), block.data()),
      "select cells");
  const auto f = static_cast<std::size_t>(piece.file);
  check(H5Pset_virtual(creation, to, names_[f].c_str(), links_[f][piece.variable].c_str(), from),
        "add a file to a virtual data set");
}

Id MasterWriter::virtual_storage(int v, hid_t creation) const {
  if (is_copied(v)) return {};
  if (def(v).dims.empty()) return {};
  for (int d = 1; d < static_cast<int>(def(v).dims.size()); ++d)
    if (unlimited(v, d))
      throw Error(Code::not_supported,
                  "an unlimited dimension that is not the first cannot be described by a virtual data set")
          .of_variable(def(v).name);
  // Of the records that are there now one will do: the selection goes on for ever. Without any, it is empty.
  Box all = Box::whole(set_.schema.shape(v));
  if (set_.schema.has_record(v)) all.count[0] = 1;
  FileSet first_record = set_;
  if (set_.schema.has_record(v))
    for (auto& file : first_record.files) {
      auto& span = file.spans[def(v).dims[0]];
      span = {0, std::max<std::int64_t>(span.count, 1), 0, span.stored};
    }
  const auto pieces = first_record.pieces(v, all);
  if (pieces.empty()) return {};
  Id storage(check(H5Pcopy(creation), "copy a creation list"));
  for (const auto& piece : pieces)
    add_source(v, piece, storage);
  return storage;
}

/// One at a time stays open, since most values are copied from the first.
Catalog& MasterWriter::open(int file) {
  if (catalog_ == nullptr || opened_ != file) {
    const std::string& path = set_.files[file].path;
    catalog_ = open_catalog(path, options_.open_store, false, options_.catalog);
    opened_ = file;
  }
  return *catalog_;
}

void MasterWriter::copy_values(int v, hid_t dataset) {
  const Box all = Box::whole(set_.schema.shape(v));
  const auto pieces = set_.pieces(v, all);
  if (pieces.empty() || all.empty()) return;
  if (set_.is_cut(v))
    throw Error(Code::not_supported, "strings in several files cannot be described by a virtual data set")
        .of_variable(def(v).name);
  Catalog& catalog = open(pieces.front().file);
  const Id type = netcdf4::memory_type(def(v).type);
  Sizes extent{};
  std::copy(all.count.begin(), all.count.end(), extent.begin());
  if (set_.schema.has_record(v)) check(H5Dset_extent(dataset, extent.data()), "extend a data set");
  if (def(v).type == Type::string) {
    const auto strings = catalog.get_strings(pieces.front().variable, all);
    std::vector<const char*> pointers;
    for (const auto& s : strings)
      pointers.push_back(s.c_str());
    check(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, pointers.data()), "write strings");
  } else {
    Bytes values(static_cast<std::size_t>(all.cells()) * size_of(def(v).type));
    catalog.get(pieces.front().variable, all, values.data());
    check(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), "write values");
  }
}

void MasterWriter::write(const std::string& path) {
  const netcdf4::QuietErrors quiet;
  look_at_files();
  Schema wanted = set_.schema;
  for (auto& variable : wanted.variables) {
    require_plain(variable);
    variable.filters.clear();
    variable.chunks.clear();
  }
  const Id creation(check(H5Pcreate(H5P_FILE_CREATE), "make a creation list"));
  constexpr unsigned k_in_order = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;
  check(H5Pset_link_creation_order(creation, k_in_order), "make a creation list");
  check(H5Pset_attr_creation_order(creation, k_in_order), "make a creation list");
  const Id access(check(H5Pcreate(H5P_FILE_ACCESS), "make an access list"));
  check(H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_LATEST), "set the file format");
  Id file(H5Fcreate(path.c_str(), H5F_ACC_EXCL, creation, access));
  if (!file.valid()) throw netcdf4::hdf5_error("create the file", Code::io);
  netcdf4::mark_as_netcdf4(file, wanted.format);
  Contents contents;
  contents.schema.format = wanted.format;
  extend_contents(file, contents, wanted, options_.catalog,
                  [&](int v, hid_t list) { return virtual_storage(v, list); });
  for (int v = 0; v < static_cast<int>(wanted.variables.size()); ++v)
    if (is_copied(v) || def(v).dims.empty()) copy_values(v, contents.open_variable(file, v));
  if (H5Fflush(file, H5F_SCOPE_LOCAL) < 0) throw netcdf4::hdf5_error("write the file", Code::io);
}

}  // namespace

void write_virtual_master(const std::vector<std::string>& paths, const std::string& out,
                          const FileSetOptions& options) {
  FileSet set = set_of(sources_of(paths), options);
  write_whole(out, [&](const std::string& path) {
    in_context(out, [&] { MasterWriter(std::move(set), options, out).write(path); });
  });
}

}  // namespace shoal
