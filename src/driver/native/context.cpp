// SPDX-License-Identifier: BSD-3-Clause
#include "driver/native/context.hpp"

namespace shoal {

FieldJob NativeContext::job_for(const Transfer& transfer) const {
  FieldJob job;
  job.transfer = &transfer;
  job.variable = &header.variable(transfer.variable);
  job.placement = &header.placement(transfer.variable);
  job.records = header.schema().has_record(transfer.variable);
  job.share = &strategies.of(transfer.decomposition.get()).share;
  job.alignment_bytes = options.rearranging.alignment_bytes;
  job.least_box_bytes = options.rearranging.least_box_bytes;
  job.addresses_listed =
      job.placement->kind == Placement::Kind::listed ||
      (job.placement->kind == Placement::Kind::regular && job.placement->begin == k_unplaced);
  return job;
}

bool NativeContext::may_keep(const Decomposition& decomposition, const VariableDef& variable) const {
  return writable && keeps_unowned(options.catalog.fill, variable) && decomposition.has_unowned();
}

bool NativeContext::may_keep(const Transfer& transfer) const {
  return transfer.keeps_unowned ? transfer.decomposition->has_unowned()
                                : may_keep(*transfer.decomposition, header.variable(transfer.variable));
}

}  // namespace shoal
