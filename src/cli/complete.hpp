#pragma once

#include "completion_scripts.hpp"

#include <vector>

#include <CLI/CLI.hpp>

namespace bench::cli {

/// What there is to complete: everything that `root` declares.
std::vector<Completion> completions_of(const CLI::App& root);

}  // namespace bench::cli
