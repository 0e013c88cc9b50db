// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/array_view.hpp"
#include "codec/convert.hpp"
#include "pack/scratch_buffer.hpp"

namespace shoal {

class CellMask;
class IndexMap;
struct MappedPart;

/// What becomes of values on their way between an array and bytes in file order.
struct CellConversion {
  ConvertRun convert;                  ///< with byte order and rounding
  const std::byte* substitute;         ///< of values that do not fit; in gathering of land too
  std::int64_t* fill_cells = nullptr;  ///< gathering with a mask: counts water that holds the substitute
};

/// A box of an array, in the array's own indices, and bytes in file order.
struct BlockCells {
  Box box;
  Dims strides;                    ///< bytes from cell to cell in file order, one a dimension
  const CellMask* mask = nullptr;  ///< land is neither looked at nor changed
  Dims in_mask{};                  ///< where the box begins in the mask, in the last dimensions of the array
};

/// Cells of a map, and a message of elements of so many bytes.
struct MapCells {
  const IndexMap& map;
  const CellMask* mask;  ///< of local cells; nullptr: all are water
  const MappedPart& part;
  Box box;                     ///< of the array: the part's outer dimensions, the whole list, its inner ones
  std::size_t size;            ///< bytes of an element of the message
  std::int64_t lead_cells = 0; /**< cells from one index of the outer dimensions to the next, of a message in
                                    which each cell lies at its position; 0: cells lie one after another */
};

/// How cells of a rank's array come to the host as bytes in file order, and back: one class for each kind of
/// memory. Memory that the host cannot reach needs fetch and store alone; gather and scatter then work on a
/// copy of the box, and an access that converts beside its memory has its own. An array's address is a number
/// here, and only its access looks behind it. An access serves one call at a time. Local; all may throw.
class CellAccess {
 public:
  virtual ~CellAccess() = default;
  /// Can the host itself read and write where the array's view points to?
  virtual bool is_host() const { return false; }

  /// The cells of a box, as they are, row-major without gaps; and back.
  virtual void fetch(const ArrayView& array, const Box& box, std::byte* to) = 0;
  virtual void store(const ArrayView& array, const Box& box, const std::byte* from) = 0;

  // Conversion errors count from the start of the box; of a map, of the array.
  virtual ConversionErrors gather(const ArrayView& array, const BlockCells& cells, std::byte* to,
                                  const CellConversion& how);
  virtual ConversionErrors scatter(const ArrayView& array, const BlockCells& cells, const std::byte* from,
                                   const CellConversion& how);
  virtual ConversionErrors gather(const ArrayView& array, const MapCells& cells, std::byte* to,
                                  const CellConversion& how);
  virtual ConversionErrors scatter(const ArrayView& array, const MapCells& cells, const std::byte* from,
                                   const CellConversion& how);

 private:
  ArrayView copy_of(const ArrayView& array, const Box& box, bool fetches);

  ScratchBuffer scratch_;
};

/// An array in the host's memory. Has no state: one object for all.
class HostCells : public CellAccess {
 public:
  static std::shared_ptr<CellAccess> shared();

  bool is_host() const override { return true; }
  void fetch(const ArrayView& array, const Box& box, std::byte* to) override;
  void store(const ArrayView& array, const Box& box, const std::byte* from) override;
  ConversionErrors gather(const ArrayView& array, const BlockCells& cells, std::byte* to,
                          const CellConversion& how) override;
  ConversionErrors scatter(const ArrayView& array, const BlockCells& cells, const std::byte* from,
                           const CellConversion& how) override;
  ConversionErrors gather(const ArrayView& array, const MapCells& cells, std::byte* to,
                          const CellConversion& how) override;
  ConversionErrors scatter(const ArrayView& array, const MapCells& cells, const std::byte* from,
                           const CellConversion& how) override;
};

/// Gives the cells of a part, row-major. Local; may throw.
using CellSource = std::function<void(const Box& part, std::byte* to)>;

/// Cells that are made part by part as they are asked for, of an array that lies nowhere. For writing.
class SourceCells : public CellAccess {
 public:
  /// first: what the source calls the first cell of the array; empty: zeros.
  /// most_cells: that are asked for at once.
  SourceCells(CellSource source, const Dims& first, std::int64_t most_cells)
      : source_(std::move(source)), first_(first), most_cells_(most_cells) {}

  using CellAccess::gather;
  ConversionErrors gather(const ArrayView& array, const BlockCells& cells, std::byte* to,
                          const CellConversion& how) override;
  void fetch(const ArrayView& array, const Box& box, std::byte* to) override;
  void store(const ArrayView& array, const Box& box, const std::byte* from) override;

 private:
  CellSource source_;
  Dims first_;
  std::int64_t most_cells_;
};

/// The access that an array of the caller needs; nullptr: it lies in the host's memory.
using AccessFinder = std::function<std::shared_ptr<CellAccess>(const ArrayView& array)>;
/// For all arrays that callers give from now on. Not while another thread calls Shoal.
void find_accesses_by(AccessFinder finder);
std::shared_ptr<CellAccess> find_access(const ArrayView& array);

}  // namespace shoal
