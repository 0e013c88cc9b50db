// SPDX-License-Identifier: BSD-3-Clause
#include "listing.hpp"

#include "command_line.hpp"
#include "experiments.hpp"
#include "json.hpp"
#include "method.hpp"
#include "workload.hpp"

namespace shoal::bench {

std::string list_text() {
  std::string out = "Experiments\n";
  for (const auto& w : workloads())
    out += "  " + w.name + ": " + w.summary + "\n    sizes " + size_names(w) + "; methods " +
           joined(experiment_of(w.name).methods) + "\n";
  out += "Methods (those through Shoal also with -per-process, -per-domain, -per-node)\n";
  for (const auto& m : methods()) {
    if (!m.listed) continue;
    const bool alias = !m.fixed_format.empty();
    if (m.through_shoal && m.layout != "one" && !alias) continue;
    out +=
        "  " + m.name + ": " + m.summary + (m.formats.empty() ? "" : " (" + joined(m.formats) + ")") + "\n";
  }
  return out;
}

std::string list_json() {
  Json experiments = Json::array(), all = Json::array();
  for (const auto& w : workloads()) {
    Json sizes = Json::object();
    for (const auto& size : w.sizes)
      sizes[size.name] = {size.grid.xi, size.grid.eta, size.grid.s};
    experiments.push_back({{"name", w.name},
                           {"summary", w.summary},
                           {"sizes", sizes},
                           {"records", w.records},
                           {"check_in", experiment_of(w.name).checks_in_other_folder()},
                           {"methods", experiment_of(w.name).methods}});
  }
  for (const auto& m : methods()) {
    if (!m.listed) continue;
    const auto formats = !m.formats.empty() ? m.formats
                         : !m.writes()      ? std::vector<std::string>{"none"}
                                            : std::vector<std::string>{"raw"};
    all.push_back({{"name", m.name},
                   {"summary", m.summary},
                   {"driver", m.driver},
                   {"access", m.access},
                   {"layout", m.layout},
                   {"formats", formats}});
  }
  return line_of({{"experiments", experiments}, {"methods", all}});
}

}  // namespace shoal::bench
