#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <bench/base/error.hpp>
#include <bench/base/help.hpp>
#include <bench/energy/program/child.hpp>
#include <bench/energy/program/output.hpp>
#include <bench/energy/sources/methods.hpp>
#include <bench/energy/sources/setting.hpp>

namespace bench::energy {

/// A text for file names with `%h` replaced by the host's name and each `%q{VAR}` by the value of
/// that environment variable: `x%q{SLURM_PROCID}`.
/// @throws bench::Error for a variable that is not set, a `%q` without its braces, and a result
///         with a slash in it
std::string expand_suffix(const std::string& text);

/// The suffix as jpwr makes it from its --df-suffix: `<host>.<pid>` without one,
/// `TEXT.<host>.<pid>` with a plain text, and the text alone where it holds `%q{VAR}`. Unlike jpwr,
/// which lets the variable's value take the place of the whole text, replaces in place.
/// @throws as expand_suffix
std::string expand_jpwr_suffix(const std::string& text);

/// The lengths of time that an option takes.
struct Range {
  double least_s;
  double most_s;
  const char* words;
};

/// Some counters wrap after minutes, so they must be read now and then.
inline constexpr Range intervals{0.001, 10, "1ms to 10s"};
inline constexpr Range baselines{0.1, 3600, "100ms to 60min"};
inline constexpr Range times_to_get_ready{0, 3600, "0s to 60min"};

/// @param text as the user wrote the time
/// @throws bench::Error if the time is out of range
std::chrono::nanoseconds in_range(const char* name, const std::string& text, double time_s,
                                  const Range& range, const Place& place = {});

/// @throws bench::Error unless it is a number above zero with its unit
double gpu_power_limit_w(const std::string& text, const Place& place = {});
double gpu_clock_mhz(const std::string& text, const Place& place = {});

/// The condition to wait for before a program starts, so that all start at the same temperature.
struct ThermalCondition {
  enum class Kind { nothing, time, temperature, stable };
  Kind kind = Kind::nothing;
  double time_s = 0;
  double temperature_c = 0;  ///< Of the hottest sensor, at most.
};

/// @throws bench::Error unless it is `stable`, a temperature or a time
ThermalCondition thermal_condition(const std::string& text, const Place& place = {});

/// Whether the meter would take this as its option of that name, for those who hand it on.
/// @throws bench::Error with its place if it would not
void check_interval(const std::string& text, const Place& place);
void check_baseline(const std::string& text, const Place& place);
void check_thermal(const std::string& text, const Place& place);
void check_gpu_power_limit(const std::string& text, const Place& place);
void check_gpu_clock(const std::string& text, const Place& place);
void check_cpu_governor(const std::string& text, const Place& place = {});

/// What `--help` tells: of measuring, combining and recovering.
std::vector<Help> helps();

/// What the command line of the meter asks for.
struct Options {
  SourceSettings sources;
  WantedSettings settings;   ///< While the program runs.
  ThermalCondition thermal;  ///< Before it starts.
  std::filesystem::path proc_root = "/proc";
  std::chrono::nanoseconds interval{};
  OutputSettings output;
  /// A source that takes longer to come up does not hold the program back.
  std::chrono::nanoseconds wait_ready{std::chrono::seconds(10)};
  std::chrono::nanoseconds baseline{};  ///< How long to measure before the program; 0: not.
  std::filesystem::path record;         ///< Where to record node and programs; empty: nowhere.
  bool regions = false;
  bool per_node = false;
  bool list = false;
  bool strict = false;
  OnMeterDeath on_meter_death = OnMeterDeath::survive;
  std::vector<std::string> program;
  std::string help;  ///< The text to print and nothing else, if it was asked for.
};

/// Reads the options of a measurement, ours or jpwr's.
///
/// One of `--methods`, `--df-out`, `--df-filetype` and `--df-suffix` makes it a command line of
/// jpwr's: then a bare number for --interval is milliseconds, and the program may follow without
/// `--`. The options for sources and files of one kind exclude those of the other.
/// @throws bench::Error for every mistake, with a hint
Options parse_options(const std::vector<std::string>& arguments);

/// What `bench-energy combine` is to do.
struct CombineOptions {
  std::vector<std::filesystem::path> files;
  std::filesystem::path output = "combined_energy.csv";  ///< Of energy.txt files with that ending.
  bool in_sequence = false;  ///< Of energy.txt files: their programs ran one after the other.
  std::string help;          ///< As above.
};

/// Reads the arguments behind `combine`.
/// @throws as parse_options
CombineOptions parse_combine_options(const std::vector<std::string>& arguments);

/// What `bench-energy recover` is to do.
struct RecoverOptions {
  std::filesystem::path directory;
  std::optional<std::string> suffix;        ///< Only the run with these file names; none: all.
  std::optional<std::set<Format>> formats;  ///< None: those that the meter was asked for.
  std::string help;                         ///< As above.
};

/// Reads the arguments behind `recover`.
/// @throws as parse_options
RecoverOptions parse_recover_options(const std::vector<std::string>& arguments);

}  // namespace bench::energy
