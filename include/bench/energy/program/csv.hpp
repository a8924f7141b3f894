#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace bench::energy {

/// One line of a CSV file with its newline; what holds a comma, a quote or a newline is quoted.
/// Source: RFC 4180.
std::string csv_line(std::span<const std::string> cells);

/// One line of a CSV file that was read.
struct CsvLine {
  int line = 0;  ///< Where it begins, from 1.
  std::vector<std::string> cells;
};

/// The lines of a CSV file, empty ones left out; takes LF and CRLF.
/// @throws bench::Error, with the place, for a quote that is never closed and for a line with more
///         or fewer cells than the first
std::vector<CsvLine> parse_csv(const std::string& text, const std::filesystem::path& file);

}  // namespace bench::energy
