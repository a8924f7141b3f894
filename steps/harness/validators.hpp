#pragma once

#include <cstdint>

#include <CLI/CLI.hpp>

namespace bench::steps {

// Validators for numeric options. Unlike CLI11's own ranges, these refuse `nan` and `inf`, and
// describe valid values in words.

CLI::Validator positive();
CLI::Validator not_negative();
/// Both included.
CLI::Validator between(double least, double most);
/// For a share below 1.
CLI::Validator from_0_to_below_1();

/// Up to `most`, that included.
CLI::Validator multiple_of(std::int64_t divisor, std::int64_t most);

/// A seed; CLI11 takes -1 for 18446744073709551615.
CLI::Validator whole_and_not_negative();

}  // namespace bench::steps
