// SPDX-License-Identifier: BSD-3-Clause
// Values that pass through the netCDF-4 catalog itself: put and get.
#include <fmt/core.h>

#include <array>
#include <cstring>

#include "codec/filters.hpp"
#include "format/netcdf4/netcdf4_catalog.hpp"

namespace shoal::netcdf4 {

namespace {

// Copies one value over all cells.
void fill_with(const Bytes& value, std::byte* values, std::size_t cells) {
  for (std::size_t i = 0; i < cells; ++i)
    std::memcpy(values + i * value.size(), value.data(), value.size());
}

Id selection(const Dims& shape, const Box& box) {
  if (shape.empty()) return Id(check(H5Screate(H5S_SCALAR), "make a space"));
  std::array<hsize_t, k_max_dims> extent{}, first{}, count{};
  for (int d = 0; d < shape.size(); ++d) {
    const auto i = static_cast<std::size_t>(d);
    extent[i] = static_cast<hsize_t>(shape[d]);
    first[i] = static_cast<hsize_t>(box.first[d]);
    count[i] = static_cast<hsize_t>(box.count[d]);
  }
  Id space(check(H5Screate_simple(shape.size(), extent.data(), nullptr), "make a space"));
  check(H5Sselect_hyperslab(space, H5S_SELECT_SET, first.data(), nullptr, count.data(), nullptr),
        "select a region");
  return space;
}

std::string trimmed_fixed(const char* text, std::size_t size, H5T_str_t padding) {
  std::size_t n = 0;
  if (padding == H5T_STR_SPACEPAD) {
    n = size;
    while (n > 0 && text[n - 1] == ' ')
      --n;
  } else {
    while (n < size && text[n] != '\0')
      ++n;
  }
  return {text, n};
}

}  // namespace

void Netcdf4Catalog::require_type(int variable, bool strings) const {
  require_variable(variable);
  const auto& d = def(variable);
  require_plain(d);
  if ((d.type == Type::string) != strings)
    throw Error(Code::type, strings ? fmt::format("the variable holds {}, not strings", name_of(d.type))
                                    : std::string("the variable holds strings; use the calls for strings"));
}

void Netcdf4Catalog::require_inside(int variable, const Box& box, bool may_grow) const {
  const auto& d = def(variable);
  const auto shape = contents_.schema.shape(variable);
  if (box.rank() != shape.size())
    throw Error(Code::invalid_argument, "the box {} has {} dimensions, the variable {}", text_of(box),
                box.rank(), shape.size());
  for (int i = 0; i < box.rank(); ++i) {
    const bool grows = may_grow && contents_.schema.dim(d.dims[i]).unlimited;
    if (box.first[i] >= 0 && box.count[i] >= 0 && (grows || box.end(i) <= shape[i])) continue;
    throw Error(Code::not_found, "the box {} is not inside of the variable, which is {}", text_of(box),
                text_of(shape));
  }
}

// What sources have in other files again, HDF5 would look for wherever they say.
void Netcdf4Catalog::check_sources(int variable, const Box& box) {
  if (!def(variable).in_other_files) return;
  const Id creation(check(H5Dget_create_plist(contents_.open_variable(file_, variable)),
                          "read the properties of a data set"));
  others_.check_sources(creation, box, [&](const std::string& path) {
    return Id(
        check(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access_list()), "open a file that the values lie in"));
  });
}

// Both directions: source is null for reading. The box is inside of the data set.
void Netcdf4Catalog::transfer(int variable, const Box& box, hid_t memory, void* values, const void* source) {
  auto& s = stored(variable);
  s.held = s.held || (source != nullptr && s.filtered);
  const hid_t dataset = contents_.open_variable(file_, variable);
  const Id file_space = selection(s.extent, box);
  const Id memory_space = selection(box.count, Box::whole(box.count));
  if (source != nullptr)
    check(H5Dwrite(dataset, memory, memory_space, file_space, H5P_DEFAULT, source), "write values");
  else
    check(H5Dread(dataset, memory, memory_space, file_space, H5P_DEFAULT, values), "read values");
}

void Netcdf4Catalog::put(int variable, const Box& box, const std::byte* values) {
  guarded(variable, [&] {
    require_type(variable, false);
    require_writable();
    require_inside(variable, box, true);
    if (box.empty()) return;
    check_sources(variable, box);
    note_change();
    grow_to(variable, box);
    realise(variable);
    transfer(variable, box, memory_type(def(variable).type), nullptr, values);
  });
}

void Netcdf4Catalog::get(int variable, const Box& box, std::byte* values) {
  guarded(variable, [&] {
    require_type(variable, false);
    require_inside(variable, box, false);
    if (box.empty()) return;
    check_sources(variable, box);
    if (writable_) realise(variable);
    const auto memory = memory_type(def(variable).type);
    const auto there = intersection(box, Box::whole(stored(variable).extent));
    if (there == box) return transfer(variable, box, memory, values, nullptr);
    // Records that this variable has not got yet, though the dimension has.
    const auto fill = fill_of(def(variable));
    fill_with(fill, values, static_cast<std::size_t>(box.cells()));
    if (there.empty()) return;
    const hid_t dataset = contents_.open_variable(file_, variable);
    const Id file_space = selection(stored(variable).extent, there);
    Box inner = there;
    for (int d = 0; d < box.rank(); ++d)
      inner.first[d] -= box.first[d];
    const Id memory_space = selection(box.count, inner);
    check(H5Dread(dataset, memory, memory_space, file_space, H5P_DEFAULT, values), "read values");
  });
}

void Netcdf4Catalog::put_strings(int variable, const Box& box, const std::vector<std::string>& values) {
  guarded(variable, [&] {
    require_type(variable, true);
    require_writable();
    require_inside(variable, box, true);
    if (static_cast<std::size_t>(box.cells()) != values.size())
      throw Error(Code::invalid_argument, "{} strings were given for the {} cells of the box {}",
                  values.size(), box.cells(), text_of(box));
    if (stored(variable).type.fixed_text)
      throw Error(Code::not_supported, "the variable holds strings of a fixed length, which are read only");
    if (box.empty()) return;
    note_change();
    grow_to(variable, box);
    realise(variable);
    std::vector<const char*> texts;
    texts.reserve(values.size());
    for (const auto& value : values)
      texts.push_back(value.c_str());
    auto memory = memory_type(Type::string);
    const Id type(
        check(H5Dget_type(contents_.open_variable(file_, variable)), "read the type of a data set"));
    check(H5Tset_cset(memory, H5Tget_cset(type)), "make a string type");
    transfer(variable, box, memory, nullptr, texts.data());
  });
}

// HDF5 goes wherever a string is said to be. (In a file that is written, part of them is only in its memory.)
void Netcdf4Catalog::check_strings(int variable, const Box& box) {
  const auto& s = stored(variable);
  if (writable_ || s.layout == StoredVariable::Layout::other || !missing_code(def(variable).filters).empty())
    return;
  const auto check = [&](std::span<const std::byte> cells) {
    image_->checks().references(cells, 1, image_->end_of_file(), image_->reader());
  };
  const auto load = [&](std::uint64_t address, std::uint64_t size) {
    const std::uint64_t end = image_->end_of_file();
    if (address > end || size > end - address)
      throw Error(Code::format, "the file is damaged: {} bytes of it are said to be at {}, and it has {}",
                  size, address, end);
    Bytes bytes(size);
    image_->read(FileImage::Kind::raw, address, bytes);
    return bytes;
  };
  if (s.layout == StoredVariable::Layout::contiguous) {
    const auto address = H5Dget_offset(contents_.open_variable(file_, variable));
    if (address != HADDR_UNDEF)
      check(load(address, FileChecks::k_reference * static_cast<std::uint64_t>(volume(s.extent))));
    return;
  }
  ChunkCoder coder(def(variable).filters, FileChecks::k_reference);
  for (const auto& stored : stored_chunks(variable, chunks_of(box, s.chunk))) {
    if (!stored.address.is_placed()) continue;
    const Bytes bytes = load(stored.address.offset, stored.bytes);
    Bytes cells(FileChecks::k_reference * static_cast<std::uint64_t>(volume(s.chunk)));
    coder.decode({bytes, stored.left_out}, cells);
    check(cells);
  }
}

std::vector<std::string> Netcdf4Catalog::get_strings(int variable, const Box& box) {
  return guarded(variable, [&] {
    require_type(variable, true);
    require_inside(variable, box, false);
    std::vector<std::string> result(static_cast<std::size_t>(box.cells()));
    if (writable_) realise(variable);
    const auto there = intersection(box, Box::whole(stored(variable).extent));
    if (there.empty()) return result;
    const auto n = static_cast<std::size_t>(there.cells());
    std::vector<std::string> found(n);
    const Id type(
        check(H5Dget_type(contents_.open_variable(file_, variable)), "read the type of a data set"));
    if (stored(variable).type.fixed_text) {
      const auto size = H5Tget_size(type);
      std::vector<char> texts(n * size);
      transfer(variable, there, type, texts.data(), nullptr);
      for (std::size_t i = 0; i < n; ++i)
        found[i] = trimmed_fixed(texts.data() + i * size, size, H5Tget_strpad(type));
    } else {
      check_strings(variable, there);
      std::vector<char*> texts(n, nullptr);
      transfer(variable, there, type, texts.data(), nullptr);
      for (std::size_t i = 0; i < n; ++i)
        if (texts[i] != nullptr) found[i] = texts[i];
      const auto count = static_cast<hsize_t>(n);
      const Id space(check(H5Screate_simple(1, &count, nullptr), "make a space"));
      H5Dvlen_reclaim(type, space, H5P_DEFAULT, texts.data());
    }
    std::size_t i = 0;
    for_each_index(there, [&](const Dims& index) {
      result[static_cast<std::size_t>(position_in(index, box))] = std::move(found[i++]);
    });
    return result;
  });
}

}  // namespace shoal::netcdf4
