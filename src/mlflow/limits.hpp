#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <bench/mlflow/tracking_store.hpp>

namespace bench::mlflow {

// The limits of MLflow's servers for lengths in characters; bench counts bytes, which are at least
// as many. Source: https://mlflow.org/docs/latest/api_reference/rest-api.html#log-batch
inline constexpr std::size_t longest_key = 250;
inline constexpr std::size_t longest_param = 6000;
inline constexpr std::size_t longest_tag = 5000;

/// In front of the name of a value that is absent: the tag says why.
inline constexpr const char* absent_tag = "bench.absent.";

/// A name as a key of MLflow: every other character than ASCII letters, digits, `_`, `-`, `.` and
/// blanks becomes `_`, since some stores name files by keys.
std::string valid_key(std::string_view name);

/// The front of a text, whole characters, at most `most` bytes; valid UTF-8.
std::string cut(const std::string& text, std::size_t most);

/// The batch in as many as the limits ask for: 1,000 metrics, 100 parameters, 100 tags, 1,000 in
/// all, 1 MB of JSON. Parameters and tags come first. One tag fits into the last of them. At least
/// one batch, which may be empty.
std::vector<Batch> batches_of(const Batch& batch);

using History = std::function<std::vector<Metric>(const std::string& key)>;

/// What of a batch a run lacks: tags with another value, parameters without one, and metrics with
/// none or another one at a step. One that replaces another is given a later time. Parameters of a
/// run cannot be changed.
/// @param history asked where the latest value does not tell
Batch missing(const Batch& batch, const StoredRun& run, const History& history);

}  // namespace bench::mlflow
