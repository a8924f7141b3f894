#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace bench::insight {

/// Seconds that a program may take to answer one question.
constexpr double patience_s = 5;

/// Answer of a program to one question.
struct Answer {
  bool found = false;   ///< It is on PATH, or where bench's own programs are.
  bool ok = false;      ///< It ended with exit code 0.
  std::string output;   ///< Its standard output, stripped.
  std::string failure;  ///< Why it is not ok, in one line.
};

/// Runs a program until it ends or the timeout expires.
Answer ask(std::vector<std::string> arguments, double timeout_s = patience_s);

/// The first line of a file, stripped; empty where it cannot be read.
std::string first_line_of(const std::filesystem::path& file);

}  // namespace bench::insight
