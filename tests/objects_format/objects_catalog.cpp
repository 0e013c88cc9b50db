#include "objects_format/objects_catalog.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "codec/convert.hpp"
#include "format/classic/layout.hpp"
#include "pack/cells.hpp"

namespace shoal::testing {

namespace {

constexpr const char* k_root = "header";
constexpr const char* k_magic = "OBJECTS1";
constexpr std::size_t k_magic_bytes = 8;

// 0 is the header.
std::uint64_t object_of(int variable, std::int64_t record) {
  return ObjectNumber{variable, 0, static_cast<std::uint64_t>(record)}.number();
}
int variable_of(std::uint64_t object) {
  return ObjectNumber::of(object).variable;
}
std::int64_t record_of(std::uint64_t object) {
  return static_cast<std::int64_t>(ObjectNumber::of(object).place);
}

std::string object_name(const Placement* /*where*/, std::uint64_t object) {
  if (object == 0) return k_root;
  return "v" + std::to_string(variable_of(object)) + "/r" + std::to_string(record_of(object));
}

std::optional<Format> recognise_objects(Store& /*store*/, std::span<const std::byte> start) {
  if (start.size() == k_magic_bytes && std::memcmp(start.data(), k_magic, k_magic_bytes) == 0)
    return k_objects;
  return std::nullopt;
}

std::unique_ptr<Catalog> create_objects(Format /*format*/, const std::shared_ptr<Container>& container,
                                        StoreMode mode, const CatalogOptions& options) {
  container->open(k_root, mode)->close();
  return std::make_unique<ObjectsCatalog>(container, options);
}

std::unique_ptr<Catalog> open_objects(const std::shared_ptr<Container>& container, bool writable,
                                      const CatalogOptions& options) {
  return std::make_unique<ObjectsCatalog>(container, writable, options);
}

Bytes read_whole(Store& store) {
  Bytes bytes(static_cast<std::size_t>(store.size()));
  bytes.resize(store.read(0, bytes));
  return bytes;
}

}  // namespace

FormatTraits objects_format() {
  FormatTraits row{k_objects, "objects", {}, classic_types()};
  row.root_object = k_root;
  row.object_name = object_name;
  row.recognise = recognise_objects;
  row.create = create_objects;
  row.open = open_objects;
  return row;
}

ObjectsCatalog::ObjectsCatalog(std::shared_ptr<Container> container, const CatalogOptions& options)
    : container_(std::move(container)), options_(options) {
  schema_.format = k_objects;
}

ObjectsCatalog::ObjectsCatalog(std::shared_ptr<Container> container, bool writable,
                               const CatalogOptions& options)
    : container_(std::move(container)), options_(options), writable_(writable) {
  const Bytes header = read_whole(*container_->open(k_root, StoreMode::read));
  if (header.size() < k_magic_bytes)
    throw Error(Code::format, "it has no header").in_file(container_->path());
  const Bytes packed(header.begin() + k_magic_bytes, header.end());
  ByteReader in(packed);
  schema_ = unpack_schema(in);
  const int dim = schema_.record_dim();
  committed_ = dim < 0 ? 0 : schema_.dim(dim).length;
  const auto variables = static_cast<int>(schema_.variables.size());
  for (auto& variable : schema_.variables) {
    variable.distributed = false;
    variable.no_fill = found_without_fill(variable, options.fill);
  }
  for (const std::string& name : container_->list("v")) {
    int variable = -1;
    long long record = -1;
    if (std::sscanf(name.c_str(), "v%d/r%lld", &variable, &record) != 2) continue;
    const bool counts = variable < variables && (record < committed_ || !schema_.has_record(variable));
    if (counts)
      there_.insert(object_of(variable, record));
    else if (writable)
      container_->remove(name);
  }
}

void ObjectsCatalog::define(const Schema& wanted) {
  schema_ = extended_schema(schema_, wanted, true, options_.fill);
}

Placement ObjectsCatalog::placement(int variable) const {
  Placement placement;
  placement.kind = Placement::Kind::listed;
  placement.chunk = schema_.shape(variable);
  if (schema_.has_record(variable)) placement.chunk[0] = 1;
  return placement;
}

std::vector<Location> ObjectsCatalog::place(int variable, const Box& chunks, const Box& cells,
                                            std::vector<bool>& fresh) {
  require(variable, cells, true);
  if (schema_.has_record(variable) && !cells.empty()) grow(schema_.record_dim(), cells.end(0));
  std::vector<Location> found;
  fresh.clear();
  for_each_index(chunks, [&](const Dims& index) {
    const std::uint64_t object = object_of(variable, schema_.has_record(variable) ? index[0] : 0);
    fresh.push_back(there_.insert(object).second);
    found.push_back({object, 0});
  });
  return found;
}

void ObjectsCatalog::unplace(int variable, const Box& chunks, const std::vector<bool>& fresh) {
  std::size_t i = 0;
  for_each_index(chunks, [&](const Dims& index) {
    if (fresh[i++]) there_.erase(object_of(variable, schema_.has_record(variable) ? index[0] : 0));
  });
}

std::vector<Location> ObjectsCatalog::find(int variable, const Box& chunks) {
  std::vector<Location> found;
  for_each_index(chunks, [&](const Dims& index) {
    const std::uint64_t object = object_of(variable, schema_.has_record(variable) ? index[0] : 0);
    found.push_back(there_.contains(object) ? Location{object, 0} : k_nowhere);
  });
  return found;
}

void ObjectsCatalog::require(int variable, const Box& box, bool may_grow) const {
  const Dims shape = schema_.shape(variable);
  bool inside = box.rank() == shape.size();
  if (inside && box.empty()) return;
  for (int d = 0; inside && d < shape.size(); ++d) {
    const bool grows = may_grow && d == 0 && schema_.has_record(variable);
    inside = box.first[d] >= 0 && (grows || box.end(d) <= shape[d]);
  }
  if (!inside)
    throw Error(Code::not_found, "the cells {} are not all inside of the shape {}", text_of(box),
                text_of(shape))
        .in_file(container_->path())
        .of_variable(schema_.variable(variable).name);
}

Bytes ObjectsCatalog::load(int variable, std::uint64_t object) {
  if (const auto waits = waiting_.find(object); waits != waiting_.end()) return waits->second;
  const Bytes fill = fill_of(schema_.variable(variable));
  const auto cells = static_cast<std::size_t>(volume(placement(variable).chunk));
  Bytes bytes(cells * fill.size());
  std::size_t got = 0;
  if (there_.contains(object)) {
    caught([&] {  // another rank may be about to make it
      const auto store = container_->open(name_of(object), StoreMode::read);
      got = store->read(0, bytes);
      ++traffic_.reads;
      traffic_.bytes_read += static_cast<std::int64_t>(got);
    });
  }
  for (std::size_t at = got / fill.size() * fill.size(); at < bytes.size(); at += fill.size())
    std::copy(fill.begin(), fill.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
  return bytes;
}

std::string ObjectsCatalog::name_of(std::uint64_t object) const {
  return object_name(nullptr, object);
}

void ObjectsCatalog::store(std::uint64_t object, const Bytes& cells, bool durable) {
  const auto store = container_->open(name_of(object), StoreMode::write_or_create);
  store->write(0, cells);
  if (durable) store->sync();
  store->close();
  if (durable) container_->sync_name(name_of(object));
  ++traffic_.writes;
  traffic_.bytes_written += static_cast<std::int64_t>(cells.size());
}

/// Calls move(object, part of the box in it, its first byte among the values).
template <class Move>
void ObjectsCatalog::for_each_part(int variable, const Box& box, Move&& move) {
  const Dims chunk = placement(variable).chunk;
  const auto size = static_cast<std::int64_t>(size_of(schema_.variable(variable).type));
  for_each_index(chunks_of(box, chunk), [&](const Dims& index) {
    const Box whole = cells_of_chunk(index, chunk);
    const Box part = intersection(box, whole);
    move(object_of(variable, schema_.has_record(variable) ? index[0] : 0), whole, part,
         position_in(part.first, box) * size);
  });
}

void ObjectsCatalog::put(int variable, const Box& box, const std::byte* values) {
  require(variable, box, true);
  if (box.empty()) return;
  if (schema_.has_record(variable)) grow(schema_.record_dim(), box.end(0));
  const Element element{schema_.variable(variable).type, size_of(schema_.variable(variable).type), false};
  const ConvertRun copy = find_conversion(element, element);
  for_each_part(
      variable, box, [&](std::uint64_t object, const Box& whole, const Box& part, std::int64_t from) {
        Bytes cells = load(variable, object);
        const Dims strides = byte_strides(whole.count, element.size);
        copy_box(values + from, byte_strides(box.count, element.size),
                 cells.data() + position_in(part.first, whole) * static_cast<std::int64_t>(element.size),
                 strides, part.count, copy, nullptr);
        waiting_[object] = std::move(cells);
        there_.insert(object);
      });
}

void ObjectsCatalog::get(int variable, const Box& box, std::byte* values) {
  require(variable, box, false);
  if (box.empty()) return;
  const Element element{schema_.variable(variable).type, size_of(schema_.variable(variable).type), false};
  const ConvertRun copy = find_conversion(element, element);
  for_each_part(variable, box, [&](std::uint64_t object, const Box& whole, const Box& part, std::int64_t to) {
    const Bytes cells = load(variable, object);
    copy_box(cells.data() + position_in(part.first, whole) * static_cast<std::int64_t>(element.size),
             byte_strides(whole.count, element.size), values + to, byte_strides(box.count, element.size),
             part.count, copy, nullptr);
  });
}

void ObjectsCatalog::put_strings(int variable, const Box& /*box*/,
                                 const std::vector<std::string>& /*values*/) {
  throw Error(Code::type, "objects hold no strings").of_variable(schema_.variable(variable).name);
}

std::vector<std::string> ObjectsCatalog::get_strings(int variable, const Box& /*box*/) {
  throw Error(Code::type, "objects hold no strings").of_variable(schema_.variable(variable).name);
}

void ObjectsCatalog::grow(int dim, std::int64_t length) {
  auto& records = schema_.dim(dim).length;
  records = std::max(records, length);
}

void ObjectsCatalog::take_back(int dim, std::int64_t length) {
  auto& records = schema_.dim(dim).length;
  records = std::min(records, std::max(length, committed_));
  const auto is_over = [&](std::uint64_t object) {
    return schema_.has_record(variable_of(object)) && record_of(object) >= records;
  };
  std::erase_if(waiting_, [&](const auto& one) { return is_over(one.first); });
}

void ObjectsCatalog::write_out(int variable) {
  for (auto at = waiting_.begin(); at != waiting_.end();)
    if (variable_of(at->first) == variable) {
      store(at->first, at->second, false);
      at = waiting_.erase(at);
    } else {
      ++at;
    }
}

void ObjectsCatalog::set_distributed(int variable) {
  write_out(variable);
  schema_.variable(variable).distributed = true;
}

// The header counts last: killed before, the records that it has are what is there.
void ObjectsCatalog::commit(bool durable) {
  if (!writable_) return;
  for (const auto& [object, cells] : std::exchange(waiting_, {}))
    store(object, cells, durable);
  ByteWriter out;
  pack(out, schema_);
  Bytes header(k_magic_bytes);
  std::memcpy(header.data(), k_magic, k_magic_bytes);
  const Bytes packed = out.take();
  header.insert(header.end(), packed.begin(), packed.end());
  const std::string made = std::string(k_root) + ".new";
  const auto store = container_->open(made, StoreMode::create);
  store->write(0, header);
  if (durable) store->sync();
  store->close();
  container_->publish(made, k_root, durable);
  const int dim = schema_.record_dim();
  committed_ = dim < 0 ? 0 : schema_.dim(dim).length;
}

}  // namespace shoal::testing
