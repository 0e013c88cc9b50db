// SPDX-License-Identifier: BSD-3-Clause
#include "driver/native/file_header.hpp"

#include <algorithm>
#include <set>

#include "driver/file/file_catalog.hpp"
#include "driver/file/shared_file.hpp"
#include "driver/protocol/root_values.hpp"
#include "format/format_traits.hpp"
#include "format/netcdf4/contents.hpp"
#include "storage/paths.hpp"
#include "storage/replacement.hpp"

namespace shoal {

FileSystem FileHeader::open(OpenMode mode, Format format) {
  const Bytes opened = comm_.from_root([&] {
    // Before it is opened: if another file takes the name now, ranks that open that one notice.
    const std::uint64_t number = mode == OpenMode::read ? file_number(file_.path()) : 0;
    catalog_ = catalog_of_file(file_.path(), mode, format, options_, counters_.warnings);
    ByteWriter out;
    out.put(number);
    pack(out, options_.system.find_file_system(file_.path()));
    out.put(packed());
    return out.take();
  });
  ByteReader in(opened);
  in.get(number_);
  const FileSystem where = unpack_file_system(in);
  const bool same_everywhere =
      where.sharing != FileSystem::Sharing::cached && where.sharing != FileSystem::Sharing::unknown;
  if (!same_everywhere) number_ = 0;
  take(in.get<Bytes>());
  return where;
}

bool FileHeader::has_place(const Schema& wanted) {
  if (!traits_of(schema_.format).is_classic || schema_.variables.empty()) return true;
  return value_of_root(comm_, [&] {
    report_records();
    return catalog_->has_place(wanted);
  });
}

void FileHeader::define(const Schema& wanted) {
  take(comm_.from_root([&] {
    report_records();  // what holds records does not move, and its header reports them
    catalog_->define(wanted);
    return packed();
  }));
}

Bytes FileHeader::packed() const {
  ByteWriter out;
  pack(out, catalog_->schema());
  std::vector<Placement> placements;
  for (int v = 0; v < static_cast<int>(catalog_->schema().variables.size()); ++v)
    placements.push_back(catalog_->placement(v));
  out.put(placements);
  return out.take();
}

void FileHeader::take(const Bytes& header) {
  ByteReader in(header);
  schema_ = unpack_schema(in);
  placements_ = in.get<std::vector<Placement>>();
  file_.set_names(schema_.format, placements_);
  // For libraries that this process may read the file with; only the owner's HDF5 has the file open.
  if (largest_encoded_chunk() > 0) netcdf4::provide_filters();
}

// A catalog that is not closed writes nothing more: then the file is that of the last commit.
Status FileHeader::commit(bool lost, bool durable, bool final) {
  Status committed = caught([&] {
    comm_.on_root([&] {
      if (lost) {
        if (!final) take_back_records();
        return;
      }
      report_records();
      if (final)
        catalog_->close(durable);
      else
        catalog_->commit(durable);
    });
  });
  reader_.reset();
  if (committed.ok() && !lost && traits_of(schema_.format).holds_objects()) {
    for (std::size_t v = 0; v < placements_.size(); ++v)
      placements_[v].objects.folder = schema_.variables[v].name;
    file_.set_names(schema_.format, placements_);
  }
  return committed;
}

void FileHeader::close() {
  comm_.on_root([&] { catalog_->close(false); });
}

void FileHeader::report_records() {
  for (int d = 0; d < static_cast<int>(schema_.dims.size()); ++d) {
    const Dimension& dim = schema_.dim(d);
    if (dim.unlimited) catalog_->grow(d, dim.length);
  }
}

void FileHeader::take_back_records() {
  for (int d = 0; d < static_cast<int>(schema_.dims.size()); ++d) {
    const Dimension& dim = schema_.dim(d);
    if (dim.unlimited) catalog_->take_back(d, dim.length);
  }
}

std::int64_t FileHeader::chunk_bytes(int v) const {
  return volume(placement(v).chunk) * static_cast<std::int64_t>(size_of(variable(v).type));
}

std::int64_t FileHeader::largest_encoded_chunk() const {
  constexpr std::int64_t k_room = 4096;
  std::int64_t largest = 0;
  for (int v = 0; v < static_cast<int>(placements_.size()); ++v)
    if (placement(v).kind == Placement::Kind::encoded) largest = std::max(largest, chunk_bytes(v) + k_room);
  return largest;
}

void FileHeader::set_distributed(int v) {
  auto& definition = schema_.variables.at(static_cast<std::size_t>(v));
  if (definition.distributed) return;
  // First, as it may fail: a catalog that does not know it would fill what ranks write.
  if (on_owner()) catalog_->set_distributed(v);
  definition.distributed = true;
}

void FileHeader::put(int v, const Box& box, const std::byte* values,
                     const std::vector<std::string>& strings) {
  puts_.hold(v);
  if (variable(v).type == Type::string)
    catalog_->put_strings(v, box, strings);
  else
    catalog_->put(v, box, values);
}

void FileHeader::get(int v, const Box& box, std::byte* values, std::vector<std::string>& strings) {
  if (writable_) report_records();  // those that were written but not committed
  Catalog& from = on_owner() ? *catalog_ : reader();
  if (variable(v).type == Type::string)
    strings = from.get_strings(v, box);
  else
    from.get(v, box, values);
}

void FileHeader::write_out_put(int v) {
  if (!on_owner() || puts_.held().count(v) == 0) return;
  catalog_->write_out(v);
  puts_.release(v);  // last, as what could not be written out must go before what ranks store then
}

void FileHeader::write_out_puts() {
  comm_.on_root([&] {
    for (const int v : std::set<int>(puts_.held()))
      write_out_put(v);
  });
  puts_.set_waiting(false);
}

void FileHeader::write_ahead(bool sync) {
  if (!on_owner()) return;
  report_records();
  catalog_->write_ahead(sync);
}

Catalog& FileHeader::reader() {
  if (!reader_) {
    // A folder that got its name with the first commit is no folder under the name before.
    auto catalog = open_catalog(options_.system.present_name(file_.path()), options_.system.open_store, false,
                                options_.catalog, options_.system.open_folder);
    check_replaced(file_.path(), number_);
    reader_ = std::move(catalog);
  }
  return *reader_;
}

void FileHeader::get_by_library(int v, const Box& box, std::byte* cells) {
  count_get(reader(), v, box, cells);
}

void FileHeader::get_alone(int v, const Box& box, std::byte* values) {
  if (on_owner() && writable_) report_records();  // those that were written but not committed
  count_get(on_owner() ? *catalog_ : reader(), v, box, values);
}

void FileHeader::count_get(Catalog& from, int v, const Box& box, std::byte* cells) {
  const Catalog::Traffic before = from.traffic();
  from.get(v, box, cells);
  const Catalog::Traffic after = from.traffic();
  counters_.reads += after.reads - before.reads;
  counters_.bytes_read += after.bytes_read - before.bytes_read;
}

}  // namespace shoal
