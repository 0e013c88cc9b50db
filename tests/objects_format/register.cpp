// The one line of the format.
#include "objects_format/objects_catalog.hpp"

namespace {
[[maybe_unused]] const bool k_added = (shoal::add_formats({shoal::testing::objects_format()}), true);
}
