#pragma once

#include "support/environment_variable.hpp"
#include "support/eventually.hpp"
#include "support/temp_directory.hpp"

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <bench/base/error.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/power_source.hpp>
#include <bench/energy/sources/methods.hpp>

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

/// The source of that name with `tree` for /sys.
inline std::unique_ptr<PowerSource> open_in(const TemporaryDirectory& tree,
                                            const std::string& name) {
  return open_source({name, ""}, {.sysfs_root = tree.path()});
}

/// The names of a source's channels.
inline std::vector<std::string> names(const PowerSource& source) {
  std::vector<std::string> result;
  for (const Channel& channel : source.channels())
    result.push_back(channel.name);
  return result;
}

/// One reading of all of them.
inline std::vector<Reading> read_channels(PowerSource& source) {
  std::vector<Reading> readings(source.channels().size());
  source.read(readings);
  return readings;
}

/// One reading of the first of them.
inline Reading first_reading(PowerSource& source) {
  return read_channels(source).at(0);
}

inline Reading power(double power_w) {
  return {.power_w = power_w, .energy_j = {}, .failure = ""};
}
inline Reading counter(double energy_j) {
  return {.power_w = {}, .energy_j = energy_j, .failure = ""};
}
inline Reading both(double power_w, double energy_j) {
  return {.power_w = power_w, .energy_j = energy_j, .failure = ""};
}
inline Reading failed(bool lost = false) {
  return {.power_w = {}, .energy_j = {}, .failure = "broken", .lost = lost};
}

/// The message of the error that `action` throws; empty if it throws none.
template <class Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

/// The same with its hint: `message | hint`.
template <class Action>
std::string message_and_hint_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.message() + " | " + error.hint();
  }
  return "";
}

/// True if the process whose id is the first in the file has ended; false without a file.
inline bool process_is_gone(const std::filesystem::path& pid_file) {
  std::ifstream file(pid_file);
  int pid = 0;
  return file >> pid && support::is_gone(pid);
}

/// Waits for the end of the process whose id a file will hold; false if it goes on.
inline bool has_ended(const std::filesystem::path& pid_file) {
  return support::eventually([&] { return process_is_gone(pid_file); });
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
