#include "bench_program.hpp"

#include <chrono>
#include <map>
#include <thread>

#include <gmock/gmock.h>
#include <signal.h>

#include <bench/base/text.hpp>

namespace bench::end_to_end {
namespace {

/// Three steps, one of them a batch step. Every workpackage writes a line when it is through: the
/// witness that does not depend on what bench believes.
constexpr const char* witnessed = R"(name: witnessed
outpath: runs
parameterset: {name: sweep, parameter: [{n: [1, 2, 3]}, {name: double, mode: python, _: 2 * $n}]}
step:
  - {name: first, use: sweep, do: ['sleep 0.02', 'echo "first $n" >> $jube_benchmark_home/witness']}
  - {name: second, depend: first, batch: true, do: 'sleep 0.02; echo "second $n" >> $jube_benchmark_home/witness'}
  - {name: third, depend: second, do: 'echo "value=$double"; echo "third $n" >> $jube_benchmark_home/witness'}
patternset: {name: found, pattern: {name: value, type: int, _: value=$jube_pat_int}}
analyser: {name: output, use: found, analyse: {step: third, file: stdout}}
result: {use: output, table: {name: t, style: csv, sort: n, column: [n, double, value, jube_wp_id]}}
)";

std::map<std::string, int> witness(const Playground& here) {
  std::map<std::string, int> counts;
  if (here.has("witness"))
    for (const std::string& line : split_names(here.read("witness"), "\n"))
      ++counts[line];
  return counts;
}

double seconds_of_an_undisturbed_run(std::string& table) {
  const Playground here;
  here.write("w.yaml", witnessed);
  const auto start = std::chrono::steady_clock::now();
  const auto run = here.bench({"run", "w.yaml"});
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_EQ(run.status.code, 0) << run.standard_error;
  table = here.bench({"result", "runs"}).standard_output;
  return seconds;
}

/// Kills a run after `delay_s`, continues it until it is done, and checks what is left.
void check_kill(double delay_s, const std::string& table) {
  SCOPED_TRACE(testing::Message() << "killed after " << delay_s << " s");
  const Playground here;
  here.write("w.yaml", witnessed);
  {
    Process run(here.spec({"run", "w.yaml", "--hide-animation"}));
    std::this_thread::sleep_for(std::chrono::duration<double>(delay_s));
    ::kill(run.pid(), SIGKILL);
    run.wait();
  }
  if (!here.has("runs/000000/workspace.db"))
    return;  // killed before there was a run: nothing has started either
  const auto again = here.bench({"continue", "runs"});
  EXPECT_EQ(again.status.code, 0) << again.standard_error;
  EXPECT_EQ(here.bench({"status", "runs"}).standard_output, "FINISHED\n");
  EXPECT_EQ(here.bench({"result", "runs"}).standard_output, table);
  std::map<std::string, int> once;
  for (const char* step : {"first", "second", "third"})
    for (int n = 1; n <= 3; ++n)
      once[std::string(step) + " " + std::to_string(n)] = 1;
  EXPECT_EQ(witness(here), once);
}

TEST(KillTest, ARunKilledAtTwentyMomentsIsFinishedByContinueWithEveryWorkpackageOnce) {
  std::string table;
  const double whole_s = seconds_of_an_undisturbed_run(table);
  EXPECT_EQ(table, "n,double,value,jube_wp_id\n1,2,2,6\n2,4,4,7\n3,6,6,8\n\n");
  constexpr int moments = 20;
  for (int k = 0; k < moments; ++k)
    check_kill(whole_s * (k + 0.5) / moments, table);
}

}  // namespace
}  // namespace bench::end_to_end
