#pragma once

#include "support/environment_variable.hpp"
#include "support/temp_directory.hpp"

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <bench/energy/meter/power_source.hpp>

namespace bench::energy {

/// A directory that goes away with the test.
class TemporaryDirectory : public support::TempDirectory {
 public:
  /// Writes one line, as sysfs shows it, and makes the directories on the way. In place, since a
  /// source keeps its files open.
  void write(const std::string& name, const std::string& line) const {
    std::filesystem::create_directories((path() / name).parent_path());
    std::ofstream(path() / name) << line << "\n";
  }
};

/// The names of a source's channels.
inline std::vector<std::string> names(const PowerSource& source) {
  std::vector<std::string> result;
  for (const Channel& channel : source.channels())
    result.push_back(channel.name);
  return result;
}

/// One look at all of them.
inline std::vector<Reading> look(PowerSource& source) {
  std::vector<Reading> readings(source.channels().size());
  source.read(readings);
  return readings;
}

/// The cells of a CSV text without quotes, line by line.
inline std::vector<std::vector<std::string>> csv_cells(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    rows.emplace_back();
    std::istringstream cells(line + ",");
    for (std::string cell; std::getline(cells, cell, ',');)
      rows.back().push_back(cell);
  }
  return rows;
}

}  // namespace bench::energy
