#include "bench_program.hpp"
#include "support/eventually.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <signal.h>

#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>

namespace bench::end_to_end {
namespace {

/// 120 workpackages of three steps, one of them a batch step. Every workpackage writes a line when
/// it is through: the witness that does not depend on what bench believes.
constexpr int points = 40;
constexpr const char* witnessed = R"yaml(name: witnessed
outpath: runs
parameterset:
  name: sweep
  parameter:
    - {name: n, mode: python, separator: ";", _: "';'.join(str(k) for k in range(1, 41))"}
    - {name: double, type: int, mode: python, _: 2 * $n}
    - {name: third, mode: shell, _: "expr $n % 3 || true"}
step:
  - {name: first, use: sweep, procs: 4, do: ['sleep 0.002', 'echo "first $n" >> $jube_benchmark_home/witness']}
  - {name: second, depend: first, batch: true, do: 'echo "second $n" >> $jube_benchmark_home/witness'}
  - {name: third, depend: second, procs: 4, do: 'echo "value=$double"; echo "third $n" >> $jube_benchmark_home/witness'}
patternset: {name: found, pattern: {name: value, type: int, _: value=$jube_pat_int}}
analyser: {name: output, use: found, analyse: {step: third, file: stdout}}
result: {use: output, table: {name: t, style: csv, sort: n, column: [n, double, third, value, jube_wp_id]}}
)yaml";

std::map<std::string, int> witness(const Playground& here) {
  std::map<std::string, int> counts;
  for (const std::string& line : split_names(here.read("witness"), "\n"))
    ++counts[line];
  return counts;
}

std::map<std::string, int> once_each() {
  std::map<std::string, int> counts;
  for (const char* step : {"first", "second", "third"})
    for (int n = 1; n <= points; ++n)
      counts[fmt::format("{} {}", step, n)] = 1;
  return counts;
}

/// The number in a variable of the environment, for more than the suite has time for.
int number_from(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::atoi(text) : otherwise;
}

struct Undisturbed {
  double seconds = 0;
  std::string table;
};

Undisturbed run_undisturbed() {
  const Playground here;
  here.write("w.yaml", witnessed);
  const auto start = std::chrono::steady_clock::now();
  const auto run = here.bench({"run", "w.yaml"});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(run.status.code, 0) << run.standard_error;
  EXPECT_EQ(witness(here), once_each());
  return {took.count(), here.bench({"result", "runs"}).standard_output};
}

/// Starts bench and kills it after `delay_s`, if it has not ended by then.
/// @returns whether it has
bool ends_within(double delay_s, const Playground& here, const std::vector<std::string>& command) {
  const UniqueFd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  ProcessSpec spec = here.spec(command);
  spec.stdout_fd = nowhere.get();
  Process bench(spec);
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(delay_s);
  while (std::chrono::steady_clock::now() < until)
    if (const auto status = bench.poll()) {
      EXPECT_EQ(status->code, 0);
      return true;
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  ::kill(bench.pid(), SIGKILL);
  bench.wait();
  return false;
}

/// A run that is killed at random moments and continued, until one bench gets to the end of it.
class KilledRun {
 public:
  /// @param whole_s about how long a run takes that is not killed
  KilledRun(const Undisturbed& undisturbed, double whole_s, std::mt19937& random)
      : undisturbed_(undisturbed), whole_s_(whole_s), random_(random) {
    here_.write("w.yaml", witnessed);
  }

  /// @returns how often it was killed
  int go_on_until_done() {
    // Seldom before there is a run, and several times per run.
    std::uniform_real_distribution<double> delay_s(0, whole_s_ / 3);
    int kills = 0;
    // However slow the machine has become, one is left to get to the end.
    while (!ends_within(kills < 100 ? delay_s(random_) : 600, here_, command()))
      ++kills;
    return kills;
  }

  void check() const {
    EXPECT_EQ(here_.bench({"status", "runs"}).standard_output, "finished\n");
    EXPECT_EQ(here_.bench({"result", "runs"}).standard_output, undisturbed_.table);
    EXPECT_EQ(witness(here_), once_each());
    const SQLite::Database plain(database().string());
    SQLite::Statement check(plain, "PRAGMA integrity_check");
    ASSERT_TRUE(check.executeStep());
    EXPECT_EQ(check.getColumn(0).getString(), "ok");
  }

 private:
  std::vector<std::string> command() const {
    if (!database().empty())
      return {"continue", "runs", "--hide-animation"};
    return {"run", "w.yaml", "--hide-animation"};  // nothing has started yet
  }

  /// Of the run; empty where there is none, though its directory may have been made.
  std::filesystem::path database() const {
    if (here_.has("runs"))
      for (const auto& run : std::filesystem::directory_iterator(here_.path() / "runs"))
        if (std::filesystem::exists(run.path() / "workspace.db"))
          return run.path() / "workspace.db";
    return {};
  }

  const Undisturbed& undisturbed_;
  double whole_s_;
  std::mt19937& random_;
  Playground here_;
};

// BENCH_KILLS=300 for more of them, BENCH_KILL_SEED for others.
TEST(KillTest, ARunKilledAtRandomMomentsIsFinishedByContinueWithEveryWorkpackageOnce) {
  const int wanted = number_from("BENCH_KILLS", 30);
  std::mt19937 random(static_cast<unsigned>(number_from("BENCH_KILL_SEED", 1)));
  const Undisturbed undisturbed = run_undisturbed();
  double whole_s = undisturbed.seconds;
  for (int kills = 0; kills < wanted && !testing::Test::HasFailure();) {
    SCOPED_TRACE(testing::Message() << "after " << kills << " kills");
    KilledRun run(undisturbed, whole_s, random);
    const auto start = std::chrono::steady_clock::now();
    kills += run.go_on_until_done();
    run.check();
    // If the machine was busier at first, most runs would get to their end before they are killed.
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    whole_s = std::min(whole_s, took.count());
  }
}

/// What happens to the write-ahead log of a run whose bench was killed.
struct LogDamage {
  std::string name;
  std::function<void(const std::filesystem::path& log)> inflict;
};
class LogDamageTest : public testing::TestWithParam<LogDamage> {
 protected:
  /// Runs `w.yaml`, whose commands kill bench, damages the log once this workpackage has left its
  /// sentinel, and lets the next bench finish.
  /// @returns false where the file system has no log
  static bool finish_after_damage(const Playground& here, const std::string& workpackage) {
    EXPECT_EQ(here.bench({"run", "w.yaml"}).status.signal, SIGKILL);
    const std::filesystem::path log = here.path() / "runs/000000/workspace.db-wal";
    if (!std::filesystem::exists(log))
      return false;
    EXPECT_TRUE(
        support::eventually([&] { return here.has("runs/000000/" + workpackage + "/sentinel"); }));
    GetParam().inflict(log);
    const auto again = here.bench({"continue", "runs"});
    EXPECT_EQ(again.status.code, 0) << again.standard_error;
    return true;
  }
};

TEST_P(LogDamageTest, RepeatsNothingThatLeftItsSentinel) {
  const Playground here;
  // The last command but one kills bench, and goes on to its own end.
  here.write("w.yaml", R"(name: w
outpath: runs
parameterset: {name: s, parameter: {n: [1, 2, 3]}}
step:
  - {name: first, use: s, procs: 1, do: 'echo "first $n" >> $jube_benchmark_home/witness'}
  - {name: second, depend: first, procs: 1, do: ['echo "second $n" >> $jube_benchmark_home/witness', 'test $n != 2 || kill -9 $PPID']}
)");
  if (!finish_after_damage(here, "000004_second"))
    GTEST_SKIP() << "there is no write-ahead log on this file system";
  EXPECT_EQ(here.bench({"status", "runs"}).standard_output, "finished\n");
  for (const auto& [line, count] : witness(here))
    EXPECT_EQ(count, 1) << line;
  EXPECT_EQ(witness(here).size(), 6U);
}

// The sentinel is that of the last part only, and tells that those before it have ended as well.
TEST_P(LogDamageTest, RepeatsNoPartBeforeTheOneThatLeftTheSentinel) {
  const Playground here;
  here.write("w.yaml", R"yaml(name: w
outpath: runs
parameterset: {name: s, parameter: {n: [1, 2, 3]}}
fileset: {name: files, copy: w.yaml}
step:
  - name: cycled
    use: [s, files]
    cycles: 3
    do:
      - echo "a $n $jube_wp_cycle" >> $jube_benchmark_home/witness
      - {done_file: ready, _: 'echo "b $n $jube_wp_cycle" >> $jube_benchmark_home/witness; touch ready'}
      - shared: "true"
        _: 'echo "shared $(grep -c shared $jube_benchmark_home/witness)" >> $jube_benchmark_home/witness'
      - rm ready; echo "c $n $jube_wp_cycle" >> $jube_benchmark_home/witness
    shared: together
  - {name: last, depend: cycled, procs: 1, do: ['echo "last $n" >> $jube_benchmark_home/witness', 'test $n != 1 || kill -9 $PPID']}
)yaml");

  if (!finish_after_damage(here, "000003_last"))
    GTEST_SKIP() << "there is no write-ahead log on this file system";
  EXPECT_EQ(here.bench({"status", "runs"}).standard_output, "finished\n");
  for (const auto& [line, count] : witness(here))
    EXPECT_EQ(count, 1) << line;
  EXPECT_EQ(witness(here).size(), 3 * 3 * 3 + 3 + 3U);
}

// What the sentinel tells counts as one try. The next one is executed.
TEST_P(LogDamageTest, RepeatsWhatHasFailedAsOftenAsTheStepSays) {
  const Playground here;
  here.write("w.yaml", R"yaml(name: w
outpath: runs
step:
  name: tried
  retry: {on: [failed], times: 1}
  do: 'echo try >> $jube_benchmark_home/witness; [ $(wc -l < $jube_benchmark_home/witness) = 2 ] || { kill -9 $PPID; false; }'
)yaml");
  if (!finish_after_damage(here, "000000_tried"))
    GTEST_SKIP() << "there is no write-ahead log on this file system";
  EXPECT_EQ(witness(here), (std::map<std::string, int>{{"try", 2}}));
}

INSTANTIATE_TEST_SUITE_P(
    Kill, LogDamageTest,
    testing::Values(LogDamage{"Lost", [](const auto& log) { std::filesystem::remove(log); }},
                    LogDamage{"Empty",
                              [](const auto& log) { std::filesystem::resize_file(log, 0); }},
                    LogDamage{"Truncated",
                              [](const auto& log) {
                                std::filesystem::resize_file(log,
                                                             std::filesystem::file_size(log) / 2);
                              }},
                    LogDamage{"Overwritten",
                              [](const auto& log) {
                                std::string bytes = read_file(log);
                                for (std::size_t k = bytes.size() / 3; k < bytes.size(); k += 7)
                                  bytes[k] = '?';
                                write_file_atomically(log, bytes);
                              }}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace bench::end_to_end
