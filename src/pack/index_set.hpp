// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "base/bytes.hpp"

namespace shoal {

/// Where the cells of another rank's message lie in a box: ascending, each once. Kept as positions or as
/// runs, whichever is smaller, of 32 bits where the box has no more cells: 4 bytes a scattered cell (8 in
/// larger boxes).
class IndexSet {
 public:
  /// All but the bytes themselves; travels as it is.
  struct Form {
    std::int64_t cells = 0, entries = 0;
    std::int32_t wide = 0;     // starts are of 64 bits
    std::int32_t in_runs = 0;  // behind the starts: the number of cells before each run
  };

  IndexSet() = default;
  /// Room for the bytes of another rank's positions, which go to data().
  explicit IndexSet(const Form& form) : form_(form), bytes_(bytes_of(form)) {}
  /// walk(visit) calls visit(position, length) in order; it is called twice, and must not go beyond
  /// box_cells.
  template <class Walk>
  static IndexSet of(std::int64_t box_cells, Walk&& walk);

  const Form& form() const { return form_; }
  std::byte* data() { return bytes_.data(); }
  const std::byte* data() const { return bytes_.data(); }
  std::int64_t bytes() const { return static_cast<std::int64_t>(bytes_.size()); }
  std::int64_t cells() const { return form_.cells; }
  /// Of them that lie in the box's cells first .. end - 1.
  std::int64_t cells_in(std::int64_t first, std::int64_t end) const;

  /// Calls visit(position, which, length) for those in first .. end - 1; which: counts the cells visited
  /// before.
  template <class Visit>
  void for_each_run(std::int64_t first, std::int64_t end, Visit&& visit) const {
    if (form_.wide != 0)
      visit_starts(starts<std::uint64_t>(), first, end, visit);
    else
      visit_starts(starts<std::uint32_t>(), first, end, visit);
  }

 private:
  static std::size_t bytes_of(const Form& form) {
    const std::size_t start = form.wide != 0 ? 8 : 4;
    return static_cast<std::size_t>(form.entries) * (form.in_runs != 0 ? start + 4 : start);
  }
  template <class Start>
  const Start* starts() const {
    return reinterpret_cast<const Start*>(bytes_.data());
  }
  const std::uint32_t* before() const {
    return reinterpret_cast<const std::uint32_t*>(bytes_.data() + form_.entries * (form_.wide != 0 ? 8 : 4));
  }
  std::int64_t cells_before(std::int64_t entry) const {
    if (entry == form_.entries) return form_.cells;
    return form_.in_runs != 0 ? before()[entry] : entry;
  }
  template <class Start>
  void put(std::int64_t entry, std::int64_t start, std::int64_t cells_so_far);
  template <class Start, class Visit>
  void visit_starts(const Start* starts, std::int64_t first, std::int64_t end, Visit& visit) const;

  Form form_;
  Bytes bytes_;
};

template <class Start>
inline void IndexSet::put(std::int64_t entry, std::int64_t start, std::int64_t cells_so_far) {
  reinterpret_cast<Start*>(bytes_.data())[entry] = static_cast<Start>(start);
  if (form_.in_runs != 0)
    const_cast<std::uint32_t*>(before())[entry] = static_cast<std::uint32_t>(cells_so_far);
}

template <class Walk>
IndexSet IndexSet::of(std::int64_t box_cells, Walk&& walk) {
  Form form;
  form.wide = box_cells > (std::int64_t{1} << 32) ? 1 : 0;
  std::int64_t runs = 0;
  std::int64_t next = -1;
  walk([&](std::int64_t position, std::int64_t length) {
    runs += position != next ? 1 : 0;
    form.cells += length;
    next = position + length;
  });
  const std::int64_t start = form.wide != 0 ? 8 : 4;
  form.in_runs = runs * (start + 4) < form.cells * start ? 1 : 0;
  form.entries = form.in_runs != 0 ? runs : form.cells;
  IndexSet out(form);
  std::int64_t entry = 0;
  std::int64_t cells = 0;
  next = -1;
  const auto put = [&](std::int64_t position) {
    if (form.wide != 0)
      out.put<std::uint64_t>(entry++, position, cells);
    else
      out.put<std::uint32_t>(entry++, position, cells);
  };
  walk([&](std::int64_t position, std::int64_t length) {
    if (form.in_runs == 0)
      for (std::int64_t i = 0; i < length; ++i)
        put(position + i);
    else if (position != next)
      put(position);
    cells += length;
    next = position + length;
  });
  return out;
}

template <class Start, class Visit>
inline void IndexSet::visit_starts(const Start* starts, std::int64_t first, std::int64_t end,
                                   Visit& visit) const {
  const Start* const stop = starts + form_.entries;
  const auto from =
      std::partition_point(starts, stop, [&](Start s) { return static_cast<std::int64_t>(s) < first; });
  std::int64_t entry = from - starts;
  if (form_.in_runs == 0) {
    std::int64_t which = 0;
    for (auto at = from; at != stop && static_cast<std::int64_t>(*at) < end; ++at)
      visit(static_cast<std::int64_t>(*at), which++, std::int64_t{1});
    return;
  }
  const auto end_of = [&](std::int64_t e) {
    return static_cast<std::int64_t>(starts[e]) + cells_before(e + 1) - cells_before(e);
  };
  if (entry > 0 && end_of(entry - 1) > first) --entry;  // reaches in
  std::int64_t which = 0;
  for (; entry < form_.entries && static_cast<std::int64_t>(starts[entry]) < end; ++entry) {
    const std::int64_t low = std::max(static_cast<std::int64_t>(starts[entry]), first);
    const std::int64_t length = std::min(end_of(entry), end) - low;
    visit(low, which, length);
    which += length;
  }
}

inline std::int64_t IndexSet::cells_in(std::int64_t first, std::int64_t end) const {
  std::int64_t cells = 0;
  if (form_.in_runs != 0) {
    for_each_run(first, end, [&](std::int64_t, std::int64_t, std::int64_t length) { cells += length; });
    return cells;
  }
  const auto count = [&](const auto* starts) {
    using Start = std::remove_cv_t<std::remove_pointer_t<decltype(starts)>>;
    const auto below = [&](std::int64_t limit) {
      return std::partition_point(starts, starts + form_.entries,
                                  [&](Start s) { return static_cast<std::int64_t>(s) < limit; });
    };
    return static_cast<std::int64_t>(below(end) - below(first));
  };
  return form_.wide != 0 ? count(starts<std::uint64_t>()) : count(starts<std::uint32_t>());
}

}  // namespace shoal
