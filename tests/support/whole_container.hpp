// A folder whose objects are stored as a whole, as those of an object store are.
#pragma once

#include <cstdint>

namespace shoal::testing {

/// Environment TEST_CONTAINER=whole: from now on folders of datasets are such containers. An object is put in
/// one step, by one rank; a Store that was written to keeps its bytes in memory and puts them when it is
/// closed; one that is thrown away puts nothing.
void replace_folders_if_asked();

/// Objects that this process put.
std::int64_t objects_put();

}  // namespace shoal::testing
