#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace bench::space {

/// JUBE's internal variables, by name.
using Variables = std::map<std::string, std::string, std::less<>>;

/// Record of a run beside its workpackages: the rows of the table `fact`, with their types.
struct RunMetadata {
  std::string id;
  std::string uuid;
  std::string benchmark;  ///< Its name.
  std::string comment;
  std::string document;  ///< The input as it was understood, as JSON.
  std::string started;   ///< `2026-01-31 13:05:09`, local time of the machine that made the run.
  std::optional<double> started_unix_s;  ///< The same moment.
  std::string home;                      ///< Directory at which relative paths of the input begin.
  std::string tags;                      ///< Those given, separated by commas.
  std::string accepted;  ///< When it was accepted as a baseline, local time; empty: it is none.
  std::optional<std::string> confirms;  ///< UUID of the run of which it repeated some points.
  std::string input_file;
  std::optional<std::string> input_sha256;
  std::string platform;                     ///< Its name.
  std::string platform_file;                ///< Empty: unknown.
  std::string power_source;                 ///< Value of `--power-source`.
  std::string bench_version;                ///< Empty for a run of JUBE's.
  std::optional<std::string> jube_version;  ///< Of a run that JUBE made.
  /// Settings of its jobs; none where nothing was recorded.
  std::optional<std::string> partition;
  std::optional<std::string> account;
  std::optional<std::string> qos;
  std::optional<std::string> reservation;
  std::optional<std::string> launcher;  ///< Value of `--launcher`.
  std::optional<long long> max_workpackages;
  std::optional<long long> parallel;    ///< Value of `-j`; 0: the number of cores.
  std::optional<long long> order_seed;  ///< Of steps that start in a random order.
  std::optional<double> budget_node_hours;
  /// Names of the steps that `--chain` submits while their parents run, separated by commas; none:
  /// the run is not chained.
  std::optional<std::string> chained;
  /// `jube_platform_...` as they were when the run began.
  Variables platform_variables;
  /// Other facts for people: host, CPU, GPUs, modules, git revision, ...
  std::map<std::string, std::string> provenance;
};

/// Provenance of a run: input hash, git revision and difference, host, operating system, CPU with
/// topology, clocks and firmware, memory, GPUs and driver, container, loaded modules, and the
/// variables of the environment that change what is measured (no others: the environment may hold
/// secrets). Absent ones are left out.
std::map<std::string, std::string> collect_provenance(const std::filesystem::path& input_file);

/// @param facts by name, as the workspace holds them; unknown ones are provenance
RunMetadata metadata_from(const std::map<std::string, std::string>& facts);
/// The reverse; what is absent is left out.
std::map<std::string, std::string> facts_of(const RunMetadata& metadata);

/// The same for people: times have the reader's time zone.
std::map<std::string, std::string> shown_facts(const RunMetadata& metadata);

/// When the run started, in the reader's time zone.
std::string start_for_people(const RunMetadata& metadata);
/// The same in UTC, `2026-01-31 12:05:09 UTC`, for what people of other time zones read.
std::string start_in_utc(const RunMetadata& metadata);
/// The same as `utc_time_at` writes it, for programs.
std::string start_for_programs(const RunMetadata& metadata);

}  // namespace bench::space
