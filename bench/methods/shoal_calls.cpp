// SPDX-License-Identifier: BSD-3-Clause
#include "methods/shoal_calls.hpp"

#include <cctype>
#include <stdexcept>

namespace shoal::bench {

namespace {

// Hints of the command line for the drivers that hand them on, and those of the variant.
std::string hints_of(const Run& run, const MethodEntry& entry) {
  std::string text;
  if (entry.takes_hints)
    for (const auto& [key, value] : run.hints)
      text += (text.empty() ? "" : ";") + key + "=" + value;
  if (const auto own = run.settings.find("hints"); own != run.settings.end())
    text += (text.empty() ? "" : ";") + own->second;
  return text;
}

}  // namespace

ShoalDecomposition make_decomposition(MPI_Comm comm, const LocalField& array, Halo with) {
  const auto global = array.field().cut_shape(), first = array.first(), count = array.count(),
             halo = with == Halo::yes ? array.halo() : std::vector<std::int64_t>(first.size(), 0);
  const auto dims = static_cast<int>(global.size());
  shoal_decomposition* made = nullptr;
  if (const auto& list = array.tile().list)
    check_shoal(shoal_map(comm, dims, global.data(), 0, array.tile().columns, list->data(), &made),
                "decomposition");
  else
    check_shoal(
        shoal_block(comm, dims, global.data(), first.data(), count.data(), halo.data(), halo.data(), &made),
        "decomposition");
  return ShoalDecomposition(made);
}

Settings settings_of_method(const Run& run, const MethodEntry& entry) {
  Settings all;
  if (!entry.access.empty()) all.emplace_back("access", entry.access);
  if (const auto hints = hints_of(run, entry); !hints.empty()) all.emplace_back("hints", hints);
  for (const auto& [key, value] : run.settings) {
    if (key == "quantize" && value != "none")
      throw Refused("quantize changes values, and every value is compared with what was written");
    if (key == "hints" || key == "packed" || (key == "chunks" && is_chunk_shape(value))) continue;
    all.emplace_back(key, value);
  }
  return all;
}

Settings settings_to_create(const Run& run, const MethodEntry& entry) {
  Settings all{{"format", run.format}, {"driver", entry.driver}};
  if (entry.layout != "one") all.emplace_back("layout", entry.layout);
  if (run.settings.count("fill") == 0) all.emplace_back("fill", "false");
  const auto own = settings_of_method(run, entry);
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

bool is_chunk_shape(const std::string& text) {
  return text.empty() || std::isalpha(static_cast<unsigned char>(text.front())) == 0;
}

}  // namespace shoal::bench
