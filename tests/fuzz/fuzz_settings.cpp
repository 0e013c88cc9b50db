// SPDX-License-Identifier: BSD-3-Clause
// Settings as text, by the first byte: the argument of a call, a namelist, TOML, filters, quantizing.
#include "codec/filters.hpp"
#include "codec/quantize.hpp"
#include "dataset/settings/settings.hpp"
#include "fuzz.hpp"

using namespace shoal;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const fuzz::InputFile file("settings");
  const std::string text = fuzz::text_of(data + 1, size - 1);
  Settings settings;
  switch (data[0] % 4) {
    case 0:
      fuzz::taken([&] { settings.set_all(text, "argument"); });
      break;
    case 1:
      fuzz::taken([&] { set_from_namelist(settings, file.fill(data + 1, size - 1)); });
      break;
    case 2:
      fuzz::taken([&] { set_from_toml(settings, text, "shoal.toml", ""); });
      break;
    default:
      fuzz::taken([&] {
        const Filters filters = filters_of(text);
        fuzz::require(filters_of(text_of(filters)) == filters, "filters are read as they are written");
      });
  }
  return 0;
}
