#pragma once

#include <string>
#include <string_view>

namespace bench::machine {

// A job id as bench keeps it: `123`, `123_4` for a task of an array, and `;name` behind it where
// the job belongs to a cluster other than the user's own. Where users write it so, an array is
// `123[]` and its task `123[4]`.

/// The array that a task belongs to (`123;c` of `123_4;c`); any other id as it is.
std::string array_of(std::string_view id);
/// One task of an array: `123_4;c` of `123;c`.
std::string task_of(std::string_view array, int task);
/// `c` of `123_4;c`; empty for the user's own cluster.
std::string cluster_of(std::string_view id);
/// `123_4` of `123_4;c`.
std::string without_cluster(std::string_view id);
/// The reverse: `123_4` and `c` become `123_4;c`.
std::string with_cluster(std::string_view id, std::string_view cluster);

}  // namespace bench::machine
