#pragma once

#include "cluster.hpp"
#include "end_to_end/bench_program.hpp"
#include "fake/slurm/fake_slurm.hpp"
#include "support/environment_variable.hpp"
#include "support/patience.hpp"
#include "support/source_directory.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fcntl.h>
#include <fmt/format.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>

namespace bench::slurm {

/// For `sweep`: what the first execution of a workpackage does, and the ones after it do not. The
/// witness decides, so a test that has seen it may kill the first one at any moment.
inline std::string at_first(const std::string& commands) {
  return "test $(grep -cx $n ../../../../witness) -gt 1 || { " + commands + "; }";
}

/// A row of the workspace's table of attempts, as far as tests look at it.
struct Attempt {
  long long workpackage = 0;
  std::string outcome;
  std::string job_id;
  std::string submission;
  std::optional<int> task;
  std::optional<int> exit_code;
  std::string reason;
};

/// A directory in which the real program works on platform `fx`: on a cluster with fakes in front
/// of it that count calls and can be told to fail, or on the fakes alone.
class Site {
 public:
  explicit Site(const Cluster* cluster, std::string subdirectory = ".")
      : cluster_(cluster), subdirectory_(std::move(subdirectory)) {
    namespace fs = std::filesystem;
    fs::create_directories(home());
    fs::create_directories(data());
    const fs::path source = support::source_directory();
    for (const char* part : {"platforms", "templates"})
      fs::copy(source / part, data() / part, fs::copy_options::recursive);
    for (const char* partition : {"fx", "low", "nosuch"})
      write_file_atomically(data() / "platforms" / (partition + std::string(".yaml")),
                            fmt::format("name: {0}\n"
                                        "description: a partition of a test's cluster, or none\n"
                                        "scheduler: slurm\n"
                                        "template: slurm.job\n"
                                        "gpu_request: gres\n"
                                        "partition: {0}\n"
                                        "polling: {{interval: 1s, sentinel_grace: 1s}}\n",
                                        partition));
  }

  const fake::FakeSlurm& programs() const { return programs_; }
  /// Where benchmarks are written and bench is called.
  std::filesystem::path home() const { return playground_.path() / subdirectory_; }

  /// Writes `sweep.yaml`: one batch step of so many workpackages, each of which leaves its number
  /// `n` in the file `witness` and then does `commands`. `threads` is 1 or 2.
  /// @param attributes of the step, a line each
  void sweep(int count, const std::string& commands = "exit 0",
             const std::vector<std::string>& attributes = {}) const {
    std::string text = "name: sweep\noutpath: runs\nparameterset: {name: p, parameter: [{n: [0";
    for (int k = 1; k < count; ++k)
      text += fmt::format(", {}", k);
    text +=
        "]}, {name: threads, type: int, mode: python, _: $n % 2 + 1}]}\nstep:\n  name: work\n  "
        "use: p\n";
    bool has_batch = false;
    for (const std::string& attribute : attributes) {
      text += "  " + attribute + "\n";
      has_batch = has_batch || attribute.starts_with("batch:");
    }
    if (!has_batch)
      text += "  batch: {time_limit: \"00:05:00\"}\n";
    // Relative, for the sake of homes with characters that a shell minds.
    text += "  do:\n    - echo $n >> ../../../../witness\n    - " + commands + "\n";
    write_file_atomically(home() / "sweep.yaml", text);
  }

  ProcessSpec spec(std::vector<std::string> arguments) const {
    Environment environment = programs_.environment();
    set_variable(environment, "BENCH_DATA", data().string());
    if (cluster_)
      set_variable(environment, "SLURM_CONF", cluster_->conf().string());
    ProcessSpec result = playground_.spec(std::move(arguments), environment);
    result.directory = home();
    return result;
  }

  /// Starts bench without a word of it.
  Process start(std::vector<std::string> arguments) const {
    ProcessSpec wanted = spec(std::move(arguments));
    wanted.stdout_fd = wanted.stderr_fd = nowhere_.get();
    return Process(wanted);
  }

  /// Runs bench to its end. The timeout is for a hang.
  CommandOutput bench(std::vector<std::string> arguments) const {
    return run_command(spec(std::move(arguments)), support::far_too_long_s);
  }
  CommandOutput run(const std::vector<std::string>& options = {},
                    const std::string& platform = "fx") const {
    std::vector<std::string> arguments{"run", "sweep.yaml", "--platform", platform};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return bench(std::move(arguments));
  }
  CommandOutput go_on(const std::vector<std::string>& options = {}) const {
    std::vector<std::string> arguments{"continue", "runs"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return bench(std::move(arguments));
  }

  bool has_run() const { return std::filesystem::exists(run_directory() / "workspace.db"); }
  std::filesystem::path run_directory() const { return home() / "runs" / "000000"; }
  std::filesystem::path workpackage(int id) const {
    return run_directory() / fmt::format("{:06}_work", id);
  }

  /// What the commands themselves say: how often each workpackage was executed.
  std::map<std::string, int> witness() const {
    std::map<std::string, int> counts;
    if (std::filesystem::exists(home() / "witness"))
      for (const std::string& line : split_names(read_file(home() / "witness"), "\n"))
        ++counts[line];
    return counts;
  }
  /// A witness of each of so many workpackages, once.
  static std::map<std::string, int> each_once(int count) {
    std::map<std::string, int> counts;
    for (int k = 0; k < count; ++k)
      counts[std::to_string(k)] = 1;
    return counts;
  }

  /// How many workpackages are in each state.
  std::map<std::string, int> states() const {
    std::map<std::string, int> counts;
    const SQLite::Database database((run_directory() / "workspace.db").string());
    SQLite::Statement query(database, "SELECT state, count(*) FROM workpackage GROUP BY state");
    while (query.executeStep())
      counts[query.getColumn(0)] = query.getColumn(1);
    return counts;
  }
  std::map<std::string, int> all(const std::string& state, int count) const {
    return {{state, count}};
  }

  /// All attempts, by workpackage and number.
  std::vector<Attempt> attempts() const {
    std::vector<Attempt> rows;
    const SQLite::Database database((run_directory() / "workspace.db").string());
    SQLite::Statement query(
        database,
        "SELECT workpackage, coalesce(outcome, ''), coalesce(job_id, ''), "
        "coalesce(submission, ''), task, exit_code, coalesce(reason, '') FROM attempt "
        "ORDER BY workpackage, number");
    const auto maybe = [](const SQLite::Column& column) {
      return column.isNull() ? std::nullopt : std::optional<int>(column.getInt());
    };
    while (query.executeStep())
      rows.push_back({query.getColumn(0).getInt64(), query.getColumn(1), query.getColumn(2),
                      query.getColumn(3), maybe(query.getColumn(4)), maybe(query.getColumn(5)),
                      query.getColumn(6)});
    return rows;
  }
  std::vector<std::string> outcomes() const {
    std::vector<std::string> found;
    for (const Attempt& attempt : attempts())
      found.push_back(attempt.outcome);
    return found;
  }

 private:
  std::filesystem::path data() const { return playground_.path() / "data"; }

  /// The fakes must not take a cluster of the user's for this test's.
  support::EnvironmentVariable no_slurm_{"SLURM_CONF", std::nullopt};
  UniqueFd nowhere_{::open("/dev/null", O_WRONLY | O_CLOEXEC)};
  end_to_end::Playground playground_;
  fake::FakeSlurm programs_;
  const Cluster* cluster_;
  std::string subdirectory_;
};

}  // namespace bench::slurm
