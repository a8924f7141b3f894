#pragma once

#include <vector>

#include <CLI/CLI.hpp>

#include <bench/cli/help/completion_scripts.hpp>

namespace bench::cli {

/// What there is to complete: everything that `root` declares.
std::vector<Completion> completions_of(const CLI::App& root);

}  // namespace bench::cli
