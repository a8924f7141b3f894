#pragma once

#include <cstddef>
#include <string>

#include <bench/results/table.hpp>

namespace bench::results {

/// `done`, `failed`, `skipped`, or `unfinished`.
std::string status_of(const RowSource& source);

/// Why a missing value is missing.
std::string absence(const Table& table, std::size_t row, std::size_t column);

}  // namespace bench::results
