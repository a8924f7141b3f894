#pragma once

#include "support/patience.hpp"
#include "support/source_directory.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>

namespace bench::end_to_end {

inline bool has_browser() {
  return !find_program("chromium").empty() && !find_program("node").empty();
}

/// What the expressions come to on a page, as JSON.
/// @param page a file or an address
/// @param arguments of browser.mjs: options and expressions
inline std::string browse(const std::string& page, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(),
                   {"node", (support::source_directory() / "tests/pages/browser.mjs").string(),
                    find_program("chromium").string(), page});
  const CommandOutput output =
      run_command({.arguments = std::move(arguments)}, support::far_too_long_s);
  EXPECT_EQ(output.status.code, 0) << output.standard_error;
  return output.standard_output;
}

}  // namespace bench::end_to_end
