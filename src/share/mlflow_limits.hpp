#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <bench/share/mlflow.hpp>

namespace bench::mlflow {

// The limits of MLflow's servers for lengths in characters; bench counts bytes, which are at least
// as many. Source: https://mlflow.org/docs/latest/api_reference/rest-api.html#log-batch
inline constexpr std::size_t longest_key = 250;
inline constexpr std::size_t longest_param = 6000;
inline constexpr std::size_t longest_tag = 5000;

/// Prefix of the tag that holds the reason of a missing value.
inline constexpr const char* absent_tag = "bench.absent.";

/// A name as a key of MLflow: every other character than ASCII letters, digits, `_`, `-`, `.` and
/// blanks becomes `_`, since some stores name files by keys.
std::string valid_key(std::string_view name);

/// Truncates a text to whole characters and at most `most` bytes; valid UTF-8.
std::string cut(const std::string& text, std::size_t most);

/// Splits a batch by the server's limits: 1,000 metrics, 100 parameters, 100 tags, 1,000 in all, 1
/// MB of JSON. Parameters and tags come first. The last batch has room for one more tag. At least
/// one batch, which may be empty.
std::vector<Batch> batches_of(const Batch& batch);

using History = std::function<std::vector<Metric>(const std::string& key)>;

/// The part of a batch that a run lacks: tags with a different value, missing parameters, and
/// metrics with a missing or different value at a step. A replacement gets a later time. Parameters
/// of a run cannot be changed. @param history queried if the latest value is not enough
Batch missing(const Batch& batch, const StoredRun& run, const History& history);

}  // namespace bench::mlflow
