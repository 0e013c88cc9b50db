// SPDX-License-Identifier: BSD-3-Clause
#include "driver/native/path/library_path.hpp"

#include <algorithm>

namespace shoal {

namespace {

constexpr std::int64_t k_buffer = 1024 * 1024;  // bytes, of cells on their way to an array

}  // namespace

Status LibraryPath::read(const FieldJob& job) {
  return job.transfer->decomposition->map() != nullptr ? rearranged_.read_by_library(job) : read_tile(job);
}

Status LibraryPath::read_tile(const FieldJob& job) {
  const Transfer& transfer = *job.transfer;
  ConversionErrors conversion_errors;
  const Status status = caught([&] {
    const Timer timer(context_.counters.read);
    if (transfer.mine.empty()) return;
    const Element from{job.variable->type, size_of(job.variable->type), false};
    const ConvertRun convert = find_conversion(from, in_memory(transfer));
    const auto most = std::max(k_buffer, context_.options.stage.bytes / context_.groups.node().size()) /
                      static_cast<std::int64_t>(from.size);
    Bytes buffer;
    for_each_part(transfer.mine, most, [&](const Box& part) {
      buffer.resize(bytes_of(part, from.size));
      context_.header.get_by_library(transfer.variable, part, buffer.data());
      const ArrayView source = ArrayView::contiguous(buffer.data(), from.type, part.count);
      conversion_errors.merge(unpack_cells(transfer, source.data, source.strides, part, convert), 0);
    });
  });
  return status.ok() && conversion_errors.count > 0
             ? conversion_status(transfer, *job.variable, conversion_errors, transfer.mine, false)
             : status;
}

}  // namespace shoal
