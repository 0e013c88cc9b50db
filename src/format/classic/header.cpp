// SPDX-License-Identifier: BSD-3-Clause
#include "format/classic/header.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "codec/convert.hpp"
#include "format/catalog.hpp"
#include "format/flat/flat_layout.hpp"

namespace shoal {

namespace {

constexpr std::uint32_t k_absent = 0;
constexpr std::uint32_t k_dimensions = 10;
constexpr std::uint32_t k_variables = 11;
constexpr std::uint32_t k_attributes = 12;

void to_big_endian(Bytes& data, Type type) {
  const std::size_t size = size_of(type);
  if (!machine_is_big_endian() && size > 1)
    swap_bytes(data.data(), size, static_cast<std::int64_t>(data.size() / size));
}

/// Writes the terminals of the grammar.
class Writer {
 public:
  explicit Writer(Format format) : wide_(format == Format::cdf5), wide_offsets_(format != Format::cdf1) {}

  void raw(const void* data, std::size_t n) {
    const auto* p = static_cast<const std::byte*>(data);
    out_.insert(out_.end(), p, p + n);
  }
  void number(std::uint64_t value, int bytes) {
    for (int i = bytes - 1; i >= 0; --i)
      out_.push_back(static_cast<std::byte>(value >> (8 * i)));
  }
  void tag(std::uint32_t value) { number(value, 4); }
  void count(std::int64_t value) { number(static_cast<std::uint64_t>(value), wide_ ? 8 : 4); }
  void offset(std::int64_t value) { number(static_cast<std::uint64_t>(value), wide_offsets_ ? 8 : 4); }
  void list(std::uint32_t kind, std::size_t n) {
    tag(n == 0 ? k_absent : kind);
    count(static_cast<std::int64_t>(n));
  }
  void pad() {
    while (out_.size() % 4 != 0)
      out_.push_back(std::byte{0});
  }
  void name(const std::string& text) {
    count(static_cast<std::int64_t>(text.size()));
    raw(text.data(), text.size());
    pad();
  }
  void attributes(const std::vector<Attribute>& list_of) {
    list(k_attributes, list_of.size());
    for (const auto& attribute : list_of) {
      name(attribute.name);
      tag(static_cast<std::uint32_t>(attribute.type));
      count(attribute.count());
      Bytes data = attribute.data;
      to_big_endian(data, attribute.type);
      raw(data.data(), data.size());
      pad();
    }
  }
  /// The size of a variable is written for old readers; 4 bytes do not hold all of them.
  void size(std::int64_t slab) {
    const std::int64_t bytes = padded(slab);
    count(wide_ ? bytes : std::min<std::int64_t>(bytes, std::numeric_limits<std::uint32_t>::max()));
  }
  Bytes take() { return std::move(out_); }

 private:
  Bytes out_;
  bool wide_;
  bool wide_offsets_;
};

/// Reads the terminals of the grammar from a file of which it fetches as much as is needed.
class Reader {
 public:
  explicit Reader(Store& store) : store_(store), size_(store.size()) {}

  void set_format(Format format) {
    format_ = format;
    wide_ = format == Format::cdf5;
  }
  Format format() const { return format_; }
  std::uint64_t at() const { return at_; }
  std::uint64_t left() const { return size_ - at_; }

  [[noreturn]] void damaged(std::uint64_t where, const std::string& what) const {
    throw Error(Code::format, "damaged header: at byte {} {}", where, what).in_file(store_.path());
  }

  const std::byte* raw(std::uint64_t n, const char* what) {
    if (n > left())
      damaged(at_,
              fmt::format("there should be {} of {} bytes, but the file ends at byte {}", what, n, size_));
    fetch(at_ + n);
    const std::byte* p = bytes_.data() + at_;
    at_ += n;
    return p;
  }
  std::uint64_t number(int bytes, const char* what) {
    const std::byte* p = raw(static_cast<std::uint64_t>(bytes), what);
    std::uint64_t value = 0;
    for (int i = 0; i < bytes; ++i)
      value = value << 8 | std::to_integer<std::uint64_t>(p[i]);
    return value;
  }
  std::uint32_t tag(const char* what) { return static_cast<std::uint32_t>(number(4, what)); }
  std::uint64_t count(const char* what) { return number(wide_ ? 8 : 4, what); }
  /// A count of things that take at least so many bytes each in the file.
  std::uint64_t count_of(std::uint64_t bytes_each, const char* what) {
    const std::uint64_t where = at_;
    const std::uint64_t n = count(what);
    if (n > left() / bytes_each)
      damaged(where, fmt::format("is {} as {}, but only {} bytes follow", n, what, left()));
    return n;
  }
  std::int64_t offset(const char* what) {
    const std::uint64_t where = at_;
    const std::uint64_t value = number(format_ == Format::cdf1 ? 4 : 8, what);
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      damaged(where, std::string("is a negative number as ") + what);
    return static_cast<std::int64_t>(value);
  }
  std::uint64_t list(std::uint32_t kind, std::uint64_t bytes_each, const char* what) {
    const std::uint64_t where = at_;
    const std::uint32_t found = tag(what);
    const std::uint64_t n = count_of(bytes_each, what);
    if (found != kind && !(found == k_absent && n == 0))
      damaged(where,
              fmt::format("is the tag {} with a count of {}; {} was expected for {}, or 0 with a count of 0",
                          found, n, kind, what));
    return n;
  }
  /// What the padding holds does not matter; old files that end with a list may lack it.
  void pad() {
    const std::uint64_t n = std::min<std::uint64_t>((4 - at_ % 4) % 4, left());
    raw(n, "padding");
  }
  std::string name(const char* what) {
    const std::uint64_t n = count_of(1, what);
    const auto* p = reinterpret_cast<const char*>(raw(n, what));
    std::string text(p, static_cast<std::size_t>(n));
    pad();
    return text;
  }
  Type type(const char* what) {
    const std::uint64_t where = at_;
    const std::uint32_t number_of = tag(what);
    const bool known = number_of >= 1 && number_of <= 11;
    if (!known || !holds(format_, static_cast<Type>(number_of)))
      damaged(where, fmt::format("is {} as {}; {} files have the types 1 to {}", number_of, what,
                                 name_of(format_), wide_ ? "11" : "6"));
    return static_cast<Type>(number_of);
  }
  std::vector<Attribute> attributes() {
    std::vector<Attribute> found;
    const std::uint64_t n = list(k_attributes, wide_ ? 20 : 12, "a list of attributes");
    for (std::uint64_t i = 0; i < n; ++i) {
      Attribute attribute;
      attribute.name = name("the name of an attribute");
      attribute.type = type("the type of an attribute");
      const std::uint64_t bytes =
          count_of(size_of(attribute.type), "the number of values of an attribute") * size_of(attribute.type);
      const std::byte* p = raw(bytes, "values of an attribute");
      attribute.data.assign(p, p + bytes);
      to_big_endian(attribute.data, attribute.type);
      pad();
      found.push_back(std::move(attribute));
    }
    return found;
  }
  void finish(ClassicHeader& header) {
    header.bytes_read = static_cast<std::int64_t>(bytes_.size());
    header.reads = reads_;
    bytes_.resize(static_cast<std::size_t>(at_));
    header.raw = std::move(bytes_);
  }

 private:
  void fetch(std::uint64_t end) {
    if (end <= bytes_.size()) return;
    constexpr std::uint64_t k_least = 64 * 1024;
    const std::uint64_t want =
        std::min(size_, std::max({end, 2 * static_cast<std::uint64_t>(bytes_.size()), k_least}));
    const std::size_t have = bytes_.size();
    bytes_.resize(static_cast<std::size_t>(want));
    const std::size_t n = store_.read(have, std::span(bytes_).subspan(have));
    ++reads_;
    if (have + n < end) damaged(have + n, "the file ended while it was read");
    bytes_.resize(have + n);
  }

  Store& store_;
  std::uint64_t size_;
  std::uint64_t at_ = 0;
  Bytes bytes_;
  std::int64_t reads_ = 0;
  Format format_ = Format::cdf1;
  bool wide_ = false;
};

void read_records(Reader& in, ClassicHeader& header, std::int64_t& records) {
  const std::uint64_t where = in.at();
  const std::uint64_t n = in.count("the number of records");
  const auto all_ones = header.schema.format == Format::cdf5 ? ~std::uint64_t{0} : std::uint64_t{0xFFFFFFFF};
  header.streaming = n == all_ones;
  if (!header.streaming && n > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    in.damaged(where, "is a negative number of records");
  records = header.streaming ? 0 : static_cast<std::int64_t>(n);
}

void read_dims(Reader& in, Schema& schema, std::int64_t records) {
  const bool wide = schema.format == Format::cdf5;
  const std::uint64_t n = in.list(k_dimensions, wide ? 16 : 8, "the list of dimensions");
  bool has_record = false;
  for (std::uint64_t i = 0; i < n; ++i) {
    Dimension dim;
    dim.name = in.name("the name of a dimension");
    const std::uint64_t where = in.at();
    const std::uint64_t length = in.count("the length of a dimension");
    if (length > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      in.damaged(where, fmt::format("is a negative length of the dimension '{}'", dim.name));
    dim.unlimited = length == 0;
    if (dim.unlimited && has_record)
      in.damaged(where, "is a second dimension of length 0; one may be unlimited");
    has_record = has_record || dim.unlimited;
    dim.length = dim.unlimited ? records : static_cast<std::int64_t>(length);
    schema.dims.push_back(std::move(dim));
  }
}

void read_variable(Reader& in, ClassicHeader& header) {
  const Schema& schema = header.schema;
  const bool wide = schema.format == Format::cdf5;
  VariableDef variable;
  variable.name = in.name("the name of a variable");
  const std::uint64_t rank = in.count_of(wide ? 8 : 4, "the number of dimensions of a variable");
  for (std::uint64_t d = 0; d < rank; ++d) {
    const std::uint64_t where = in.at();
    const std::uint64_t id = in.count("a dimension of a variable");
    if (id >= schema.dims.size())
      in.damaged(where, fmt::format("is {} as a dimension of the variable '{}'; there are {}, counted from 0",
                                    id, variable.name, schema.dims.size()));
    if (d > 0 && schema.dims[id].unlimited)
      in.damaged(where,
                 fmt::format("the unlimited dimension is not the first of the variable '{}'", variable.name));
    variable.dims.push_back(static_cast<int>(id));
  }
  variable.attributes = in.attributes();
  variable.type = in.type("the type of a variable");
  in.count("the size of a variable");  // redundant, and wrong in some files
  header.begins.push_back(in.offset("the begin of a variable"));
  variable.fits_plainly = variable.dims.count() <= k_max_dims;
  header.schema.variables.push_back(std::move(variable));
}

}  // namespace

Bytes encode_header(const Schema& schema, const std::vector<std::int64_t>& begins,
                    const std::vector<std::int64_t>& slabs) {
  Writer out(schema.format);
  out.raw("CDF", 3);
  out.number(static_cast<std::uint64_t>(schema.format), 1);
  std::int64_t records = 0;
  for (const auto& dim : schema.dims)
    if (dim.unlimited) records = dim.length;
  out.count(records);
  out.list(k_dimensions, schema.dims.size());
  for (const auto& dim : schema.dims) {
    out.name(dim.name);
    out.count(dim.unlimited ? 0 : dim.length);
  }
  out.attributes(schema.attributes);
  out.list(k_variables, schema.variables.size());
  for (std::size_t v = 0; v < schema.variables.size(); ++v) {
    const auto& variable = schema.variables[v];
    out.name(variable.name);
    out.count(static_cast<std::int64_t>(variable.dims.size()));
    for (const int id : variable.dims)
      out.count(id);
    out.attributes(variable.attributes);
    out.tag(static_cast<std::uint32_t>(variable.type));
    out.size(slabs[v]);
    out.offset(begins[v]);
  }
  return out.take();
}

std::int64_t header_bytes_of(const Schema& schema) {
  const std::vector<std::int64_t> nowhere(schema.variables.size(), 0);
  return static_cast<std::int64_t>(encode_header(schema, nowhere, nowhere).size());
}

ClassicHeader decode_header(Store& store) {
  ClassicHeader header;
  header.schema.format = recognise(store);
  Reader in(store);
  in.set_format(header.schema.format);
  in.raw(4, "the signature");
  std::int64_t records = 0;
  read_records(in, header, records);
  read_dims(in, header.schema, records);
  header.schema.attributes = in.attributes();
  const bool wide = header.schema.format == Format::cdf5;
  const std::uint64_t n = in.list(k_variables, wide ? 48 : 28, "the list of variables");
  for (std::uint64_t v = 0; v < n; ++v)
    read_variable(in, header);
  header.bytes = static_cast<std::int64_t>(in.at());
  in.finish(header);
  return header;
}

}  // namespace shoal
