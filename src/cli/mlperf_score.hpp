#pragma once

#include <functional>

#include <CLI/CLI.hpp>

namespace bench::cli {

/// `bench mlperf score`. Returns what runs once its options are parsed.
std::function<int()> declare_mlperf_score(CLI::App& app);

}  // namespace bench::cli
