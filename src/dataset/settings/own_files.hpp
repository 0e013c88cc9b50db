// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace shoal {

// Settings of files that Shoal makes for itself: decompositions, checkpoints. What the environment says is
// meant for the model's files: it makes no other files of these, and is no error where they have no use for
// it.
constexpr const char* k_to_make_own_file =
    "format=cdf5, driver=native, layout=one, io_layout=, exists=replace, fill=true, report=, reference=, "
    "master=, pack=none, quantize=none, unused_settings=warn, quiet=true";
constexpr const char* k_to_read_own_file =
    "driver=native, report=, read_masked=leave, pack=none, unused_settings=warn, quiet=true";

}  // namespace shoal
