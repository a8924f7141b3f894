#pragma once

#include "bench_program.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <bench/base/text.hpp>

namespace bench::end_to_end {

/// Runs whose results decide what else runs. Their commands write what ran into `witness`.
class DecisionsTest : public testing::Test {
 protected:
  std::vector<std::string> take_witness() const {
    std::vector<std::string> lines;
    if (here_.has("witness"))
      lines = split_names(here_.read("witness"), "\n");
    std::ranges::sort(lines);
    here_.write("witness", "");
    return lines;
  }

  Playground here_;
};

}  // namespace bench::end_to_end
