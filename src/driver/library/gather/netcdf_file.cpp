// SPDX-License-Identifier: BSD-3-Clause
#ifdef SHOAL_HAVE_NETCDF
#include <fmt/core.h>
#include <netcdf.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/numbered.hpp"
#include "driver/library/definition_visitor.hpp"
#include "driver/library/gather/serial_file.hpp"
#include "driver/library/library_section.hpp"
#include "driver/library/netcdf_changes.hpp"
#include "driver/library/netcdf_errors.hpp"
#include "driver/library/netcdf_filters.hpp"
#include "driver/library/netcdf_ids.hpp"
#include "format/chunk_shape.hpp"
#include "format/classic/header.hpp"
#include "format/classic/layout.hpp"
#include "format/format_traits.hpp"
#include "format/netcdf4/contents.hpp"
#include "storage/paths.hpp"

namespace shoal {

namespace {

// HDF5 does not hand on why the system refused it.
bool is_full(const std::string& path) {
  constexpr std::uint64_t k_little = 64 * 1024;
  bool full = false;
  caught([&] { full = file_system_of(path).free < k_little; });
  return full;
}

Error netcdf_error(int code, const std::string& what, const std::string& path) {
  const int system = code == NC_EHDFERR && is_full(path) ? ENOSPC : std::max(code, 0);
  if (system > 0) {
    const Error plain = errno_error(system, what);
    return {plain.code(), plain.status().message + write_advice(system, path)};
  }
  return {code_of_netcdf(code),
          fmt::format("{}: {} (netCDF error {}{}", what, nc_strerror(code), code,
                      code == NC_EHDFERR ? "; is there space left on the device?)" : ")")};
}

int create_mode(Format format) {
  switch (format) {
    case Format::cdf2:
      return NC_64BIT_OFFSET;
    case Format::cdf5:
      return NC_64BIT_DATA;
    case Format::netcdf4:
      return NC_NETCDF4;
    case Format::netcdf4_classic:
      return NC_NETCDF4 | NC_CLASSIC_MODEL;
    default:
      return 0;
  }
}

using Range = LibrarySection<std::size_t>;

/// What netCDF-C should move at once in a classic file. Left to itself it takes the file system's block, 4
/// KiB on most, and spends a third of the time in calls. Larger buffers gain little, and small writes pay for
/// them, as the whole buffer is read and written for each.
std::size_t buffer_bytes(const std::string& path) {
  constexpr std::size_t least = 256 * 1024;
  return std::max(least, static_cast<std::size_t>(block_bytes_of(folder_of(path))));
}

class NetcdfFile final : public SerialFile {
 public:
  NetcdfFile(const std::string& path, OpenMode mode, const Schema& schema, const DriverOptions& options);
  NetcdfFile(const NetcdfFile&) = delete;
  NetcdfFile& operator=(const NetcdfFile&) = delete;
  ~NetcdfFile() override {
    if (file_ >= 0) nc_abort(file_);
  }

  void define(const Schema& have, const Schema& wanted) override;
  void put(int variable, const Box& box, const std::byte* values) override;
  void get(int variable, const Box& box, std::byte* values) override;
  void put_strings(int variable, const Box& box, const std::vector<std::string>& values) override;
  std::vector<std::string> get_strings(int variable, const Box& box) override;
  void grow(const Schema& schema) override;
  void commit(bool durable) override;
  void close(bool durable) override;
  Status damage() const override { return damage_; }

 private:
  friend class NetcdfDefiner;

  /// Of calls that write.
  void check_written(int code, const std::string& what) {
    const Status status = caught([&] { check(code, what); });
    if (is_failed_write(code)) damage_.merge(status);
    if (!status.ok()) throw Error(status);
  }
  void check(int code, const std::string& what) const {
    if (code != NC_NOERR) throw netcdf_error(code, what, path_).in_file(path_);
  }
  /// In the classic formats netCDF-C would write each cell twice; the driver fills what nobody writes.
  void leave_generation(Format format) const {
    int before = 0;
    if (traits_of(format).is_classic) check(nc_set_fill(file_, NC_NOFILL, &before), "setting the fill mode");
  }
  NetcdfId id_of(int variable) const;
  NetcdfId owner(const Schema& schema, int owner) const;
  std::string writing(int variable, const Box& box) const;
  std::int64_t length_of(int dim) const;
  bool grow_by(const Schema& schema, int variable, int dim);
  void wait_for_device() const {
    const auto store = options_.system.open_store(path_, StoreMode::write);
    store->sync();
    store->close();
  }

  std::string path_;
  DriverOptions options_;
  int file_ = -1;
  bool fresh_ = false;     ///< new, and nothing is defined yet
  bool defining_ = false;  ///< in define mode, as new files are
  Status damage_;
  Numbered<int> dims_;  ///< netCDF's numbers, by index in the schema; -1: it has no such thing
  Numbered<NetcdfId> variables_;
};

NetcdfFile::NetcdfFile(const std::string& path, OpenMode mode, const Schema& schema,
                       const DriverOptions& options)
    : path_(path), options_(options) {
  std::size_t buffer = buffer_bytes(path);
  if (mode == OpenMode::create || mode == OpenMode::create_exclusive) {
    const int exists = mode == OpenMode::create ? NC_CLOBBER : NC_NOCLOBBER;
    check(nc__create(path.c_str(), exists | create_mode(schema.format), 0, &buffer, &file_),
          "creating the file");
    fresh_ = defining_ = true;
    leave_generation(schema.format);
    return;
  }
  check(nc__open(path.c_str(), mode == OpenMode::write ? NC_WRITE : NC_NOWRITE, &buffer, &file_),
        "opening the file");
  if (mode == OpenMode::write) leave_generation(schema.format);
  for (const auto& dim : schema.dims) {
    int id = -1;
    dims_.push_back(find_dim_by_netcdf(file_, dim.name, &id) == NC_NOERR ? id : -1);
  }
  for (const auto& variable : schema.variables) {
    NetcdfId id;
    find_variable_by_netcdf(file_, variable.name, &id);
    variables_.push_back(id);
  }
}

NetcdfId NetcdfFile::id_of(int variable) const {
  const NetcdfId id = variables_.at(variable);
  if (!id.known())
    throw Error(Code::not_supported,
                "the netCDF library does not see this variable of the file; use driver native")
        .in_file(path_);
  return id;
}

NetcdfId NetcdfFile::owner(const Schema& schema, int owner) const {
  if (owner >= 0) return id_of(owner);
  NetcdfId id{file_, NC_GLOBAL};
  if (is_group(owner))
    check(find_group_by_netcdf(file_, schema.groups[group_number(owner)].name, &id.group), "finding a group");
  return id;
}

/// Defines by netCDF-C what a schema has beyond another.
class NetcdfDefiner final : public DefinitionVisitor {
 public:
  NetcdfDefiner(NetcdfFile& file, const Schema& wanted) : file_(file), wanted_(wanted) {}

  void change(const SchemaChange& change) override {
    const bool of_dim = change.kind == SchemaChange::Kind::rename_dim;
    const NetcdfId where = of_dim ? NetcdfId{} : file_.owner(wanted_, change.index);
    file_.check(change_by_netcdf(file_.file_, where, change), text_of(change));
  }

  void group(int /*index*/, const GroupDef& group) override {
    file_.check(define_group_by_netcdf(file_.file_, group.name),
                fmt::format("defining group '{}'", group.name));
  }

  void dimension(int /*index*/, const Dimension& dim) override {
    const std::string what = fmt::format("defining dimension '{}'", dim.name);
    int group = -1, id = -1;
    const std::size_t length = dim.unlimited ? NC_UNLIMITED : static_cast<std::size_t>(dim.length);
    file_.check(find_group_by_netcdf(file_.file_, group_of(dim.name), &group), what);
    file_.check(nc_def_dim(group, name_in_group(dim.name).c_str(), length, &id), what);
    file_.dims_.push_back(id);
  }

  void variable(int index, const VariableDef& definition) override {
    const std::string what = "defining the variable";
    std::vector<int> dims;
    for (const int d : definition.dims) {
      dims.push_back(file_.dims_.at(d));
      if (dims.back() < 0)
        throw Error(Code::not_supported,
                    "the netCDF library does not see the dimension '{}' of the file; use driver native",
                    wanted_.dim(d).name)
            .in_file(file_.path_)
            .of_variable(definition.name);
    }
    NetcdfId id;
    checked(definition, find_group_by_netcdf(file_.file_, group_of(definition.name), &id.group), what);
    checked(
        definition,
        nc_def_var(id.group, name_in_group(definition.name).c_str(), static_cast<nc_type>(definition.type),
                   static_cast<int>(dims.size()), dims.data(), &id.variable),
        what);
    file_.variables_.push_back(id);
    if (traits_of(wanted_.format).is_classic) return;
    chunk(index, definition, id);
    check_levels(definition);
    checked(definition, define_filters(id.group, id.variable, definition.filters),
            "setting compression " + text_of(definition.filters));
    // netCDF-C refuses strings without fill.
    const bool fill = definition.type == Type::string ||
                      (file_.options_.catalog.fill != FillMode::none && !definition.no_fill);
    checked(definition, nc_def_var_fill(id.group, id.variable, fill ? NC_FILL : NC_NOFILL, nullptr),
            "setting the fill mode");
  }

  void attribute(int owner, const Attribute& attribute) override {
    const NetcdfId id = file_.owner(wanted_, owner);
    const std::string what = fmt::format("defining attribute '{}'", attribute.name);
    const int code = put_attribute_by_netcdf(id, attribute);
    if (owner < 0)
      file_.check(code, what);
    else
      checked(wanted_.variable(owner), code, what);
  }

 private:
  void checked(const VariableDef& definition, int code, const std::string& what) const {
    if (code != NC_NOERR)
      throw netcdf_error(code, what, file_.path_).in_file(file_.path_).of_variable(definition.name);
  }

  /// The same chunks as the native driver's.
  void chunk(int index, const VariableDef& definition, NetcdfId id) const {
    Numbered<bool> unlimited;
    for (const int d : definition.dims)
      unlimited.push_back(wanted_.dim(d).unlimited);
    const bool records = std::find(unlimited.begin(), unlimited.end(), true) != unlimited.end();
    if (definition.dims.empty() || (!records && definition.chunks.empty() && definition.filters.empty()))
      return;
    Dims shape = wanted_.shape(index);
    for (int d = 0; d < shape.size(); ++d)
      if (unlimited[d]) shape[d] = 0;
    const std::size_t element =
        definition.type == Type::string ? sizeof(char*) * 2 : size_of(definition.type);
    const Dims chunk = definition.chunks.empty()
                           ? default_chunk(shape, unlimited, element, file_.options_.catalog.chunk_bytes)
                           : Dims(definition.chunks);
    std::vector<std::size_t> sizes(chunk.begin(), chunk.end());
    checked(definition, nc_def_var_chunking(id.group, id.variable, NC_CHUNKED, sizes.data()),
            "setting the chunk shape " + text_of(chunk));
  }

  NetcdfFile& file_;
  const Schema& wanted_;
};

void NetcdfFile::define(const Schema& have, const Schema& wanted) {
  if (!traits_of(wanted.format).is_classic) check_changes_by_netcdf(have, wanted);
  if (!defining_) check(nc_redef(file_), "entering define mode");
  defining_ = true;
  NetcdfDefiner definer(*this, wanted);
  for_each_new(have, wanted, definer);
  if (fresh_ && traits_of(wanted.format).is_classic) {
    const auto reserve = static_cast<std::size_t>(options_.catalog.header_reserve);
    const auto align = static_cast<std::size_t>((options_.catalog.alignment + 3) / 4 * 4);
    check_written(nc__enddef(file_, reserve, align, reserve, align), "leaving define mode");
  } else {
    check_written(nc_enddef(file_), "leaving define mode");
  }
  fresh_ = defining_ = false;
}

void NetcdfFile::put(int variable, const Box& box, const std::byte* values) {
  const NetcdfId id = id_of(variable);
  const Range range(box);
  const int code = nc_put_vara(id.group, id.variable, range.start.data(), range.count.data(), values);
  if (code != NC_NOERR) check_written(code, writing(variable, box));
}

// netCDF-C says neither how much it is that failed nor where.
std::string NetcdfFile::writing(int variable, const Box& box) const {
  nc_type type = NC_NAT;
  std::size_t size = 0;
  nc_inq_vartype(id_of(variable).group, id_of(variable).variable, &type);
  nc_inq_type(file_, type, nullptr, &size);
  std::string text = fmt::format("cannot write {} bytes", bytes_of(box, size));
  caught([&] {  // of a classic file whose header is there
    const auto store = options_.system.open_store(path_, StoreMode::read);
    const ClassicHeader header = decode_header(*store);
    const ClassicLayout layout = found_layout(header.schema, header.begins, header.bytes);
    Dims shape = header.schema.shape(variable);
    const bool of_records = header.schema.has_record(variable);
    std::int64_t offset = layout.begins.at(static_cast<std::size_t>(variable));
    if (of_records) offset += box.first[0] * layout.record_bytes;
    const Dims strides = row_major_strides(shape);
    for (int d = of_records ? 1 : 0; d < box.rank(); ++d)
      offset += box.first[d] * strides[d] * static_cast<std::int64_t>(size);
    text += fmt::format(" from offset {}", offset);
  });
  return fmt::format("{}, the cells {}", text, text_of(box));
}

void NetcdfFile::get(int variable, const Box& box, std::byte* values) {
  const NetcdfId id = id_of(variable);
  const Range range(box);
  check(nc_get_vara(id.group, id.variable, range.start.data(), range.count.data(), values),
        "reading " + text_of(box));
}

void NetcdfFile::put_strings(int variable, const Box& box, const std::vector<std::string>& values) {
  const NetcdfId id = id_of(variable);
  std::vector<const char*> texts;
  for (const auto& value : values)
    texts.push_back(value.c_str());
  const Range range(box);
  check_written(
      nc_put_vara_string(id.group, id.variable, range.start.data(), range.count.data(), texts.data()),
      "writing " + text_of(box));
}

std::vector<std::string> NetcdfFile::get_strings(int variable, const Box& box) {
  const NetcdfId id = id_of(variable);
  std::vector<char*> texts(static_cast<std::size_t>(box.cells()), nullptr);
  const Range range(box);
  check(nc_get_vara_string(id.group, id.variable, range.start.data(), range.count.data(), texts.data()),
        "reading " + text_of(box));
  std::vector<std::string> values;
  for (const char* text : texts)
    values.emplace_back(text == nullptr ? "" : text);
  nc_free_string(texts.size(), texts.data());
  return values;
}

std::int64_t NetcdfFile::length_of(int dim) const {
  std::size_t length = 0;
  const int id = dims_.at(dim);
  if (id >= 0) check(nc_inq_dimlen(file_, id, &length), "asking for the length of a dimension");
  return static_cast<std::int64_t>(length);
}

// netCDF has no call for it: one cell of the last record makes the others.
void NetcdfFile::grow(const Schema& schema) {
  for (int d = 0; d < static_cast<int>(schema.dims.size()); ++d) {
    const Dimension& dim = schema.dim(d);
    if (!dim.unlimited || length_of(d) >= dim.length) continue;
    for (int v = 0; v < static_cast<int>(schema.variables.size()); ++v)
      if (grow_by(schema, v, d)) break;
  }
}

bool NetcdfFile::grow_by(const Schema& schema, int v, int dim) {
  const VariableDef& variable = schema.variable(v);
  const auto& dims = variable.dims;
  if (std::find(dims.begin(), dims.end(), dim) == dims.end() || !variable.fits_plainly) return false;
  Box cell(Dims(static_cast<int>(dims.size())), Dims(static_cast<int>(dims.size()), 1));
  for (int i = 0; i < cell.rank(); ++i) {
    const int d = dims[static_cast<std::size_t>(i)];
    const Dimension& other = schema.dim(d);
    if (d == dim)
      cell.first[i] = other.length - 1;
    else if (other.unlimited && length_of(d) == 0)
      return false;  // it would grow too
  }
  if (variable.type == Type::string) {
    const Attribute* fill = find_attribute(variable.attributes, "_FillValue");
    put_strings(v, cell, {fill != nullptr && !fill->strings.empty() ? fill->strings[0] : ""});
  } else {
    put(v, cell, fill_of(variable).data());
  }
  return true;
}

void NetcdfFile::commit(bool durable) {
  if (defining_) check_written(nc_enddef(file_), "leaving define mode");
  defining_ = false;
  check_written(nc_sync(file_), "bringing the file up to date");
  if (durable) wait_for_device();
}

void NetcdfFile::close(bool durable) {
  check_written(nc_close(std::exchange(file_, -1)), "closing the file");
  if (durable) wait_for_device();
}

}  // namespace

std::unique_ptr<SerialFile> open_netcdf_file(const std::string& path, OpenMode mode, const Schema& schema,
                                             const DriverOptions& options) {
  return std::make_unique<NetcdfFile>(path, mode, schema, options);
}

}  // namespace shoal
#endif
