#pragma once

#include "support/source_directory.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include <bench/base/files.hpp>

namespace bench::support {

/// Expects a text to be that of a file in `tests/data`; BENCH_UPDATE_EXPECTED in the environment
/// writes the file.
inline void expect_golden(const std::string& name, const std::string& text) {
  const std::filesystem::path file = source_directory() / "tests/data" / name;
  if (const char* update = std::getenv("BENCH_UPDATE_EXPECTED"); update && *update)
    write_file_atomically(file, text);
  EXPECT_EQ(text, read_file(file)) << file;
}

}  // namespace bench::support
