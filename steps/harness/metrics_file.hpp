#pragma once

#include <string>
#include <string_view>

namespace bench::steps {

/// The file of `--metrics`: one flat JSON object of everything that the program logs as
/// `name=value`, on every rank, also on those that print nothing. Beside it `rank`, `size` (the
/// number of ranks) and `host`. A program has one; without `begin_metrics_file` there is none.

/// Makes sure now, before a run that may take hours, that it can be written. Removes the file of an
/// earlier run.
/// @param file empty: none
/// @param rank those behind rank 0 add their number to the name
/// @throws UsageError if it cannot be written
void begin_metrics_file(const std::string& file, int rank, int size);

/// Keeps a value for the file; a name that was there has the newer value.
/// @param json as `json_value` gives it
void keep_metric(std::string_view name, const std::string& json);

/// Writes the file, in one piece: it is complete or not there.
/// @throws std::runtime_error if it cannot be written to its end
void end_metrics_file();

/// Leaves no file: the program was not called rightly.
void discard_metrics_file();

}  // namespace bench::steps
