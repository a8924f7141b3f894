#include "bench_program.hpp"
#include "support/patience.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>

namespace bench::end_to_end {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr const char* squares_file =
    "squares:\n"
    "| n | result |\n"
    "|---|--------|\n"
    "| 1 |      1 |\n"
    "| 2 |      4 |\n"
    "| 3 |      9 |\n";

/// Runs of three squares.
class ResultTest : public testing::Test {
 protected:
  CommandOutput run(const std::string& input = small_sweep(),
                    const std::vector<std::string>& options = {}) const {
    here_.write("in.yaml", input);
    std::vector<std::string> arguments{"run", "in.yaml"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return here_.bench(std::move(arguments));
  }

  static std::string replaced(const std::vector<std::pair<std::string, std::string>>& changes) {
    std::string text = small_sweep();
    for (const auto& [from, to] : changes)
      text = replace_all(std::move(text), from, to);
    return text;
  }

  /// What `bench result runs` with these options prints.
  std::string shown(std::vector<std::string> options, const std::string& warning = "") const {
    options.insert(options.begin(), {"result", "runs"});
    const auto answer = here_.bench(options);
    EXPECT_EQ(answer.status.code, 0) << answer.standard_error;
    EXPECT_EQ(answer.standard_error, warning);
    return answer.standard_output;
  }
  void expect_refusal(std::vector<std::string> options, const std::string& message) const {
    options.insert(options.begin(), {"result", "runs"});
    const auto refused = here_.bench(options);
    EXPECT_EQ(refused.status.code, 1);
    EXPECT_EQ(refused.standard_output, "");
    EXPECT_EQ(refused.standard_error, message);
  }

  std::string python(const std::string& code, const std::vector<std::string>& arguments) const {
    ProcessSpec spec = here_.spec({});
    spec.arguments = {"python3", "-c", code};
    spec.arguments.insert(spec.arguments.end(), arguments.begin(), arguments.end());
    return run_command(std::move(spec), support::far_too_long_s).standard_output;
  }

  Playground here_;
};

TEST_F(ResultTest, SeveralRunsAreOneTableInTheStyleOfTheNewest) {
  run();
  run(replaced({{"column: [n, result]", "column: [result, square]"},
                {"[1, 2, 3]", "[4]"},
                {"style: pretty", "style: csv"}}),
      {"-t", "two"});
  const std::string lacking =
      "note: squares: n/a in square: run 0 has no such column\n"
      "note: squares: n/a in n: run 1 has no such column\n";
  const std::string of_both = "id,result,square,n\n0,1,,1\n0,4,,2\n0,9,,3\n1,16,16,\n\n";
  const std::string of_second = "result,square\n16,16\n\n";
  EXPECT_EQ(shown({"-i", "all"}, lacking), of_both);
  EXPECT_EQ(here_.read("runs/000000/result/squares.dat"), squares_file) << "each has its own file";
  EXPECT_EQ(here_.read("runs/000001/result/squares.dat"), "result,square\n16,16\n");
  EXPECT_EQ(shown({"-i", "0", "1", "-r"}, lacking),
            "id,result,square,n\n1,16,16,\n0,1,,1\n0,4,,2\n0,9,,3\n\n")
      << "the newest first";
  EXPECT_EQ(shown({"-n", "1"}), of_second);
  EXPECT_EQ(shown({"-n", "2"}, lacking), of_both);
  run();
  EXPECT_EQ(shown({"-i", "all", "-t", "two", "other"}), of_second);
  expect_refusal({"-t", "two"},
                 "error: none of these runs has any of the tags two\n"
                 "hint: `bench info` shows the tags of each run\n");
}

TEST_F(ResultTest, HasWhatThePlatformSaidAlsoLater) {
  const std::string table =
      run(replaced({{"column: [n, result]", "column: [n, jube_platform_name]"}}), {"--result"})
          .standard_output;
  EXPECT_THAT(table, HasSubstr("local"));
  EXPECT_THAT(table, testing::EndsWith(shown({})));
}

TEST_F(ResultTest, OfSeveralTablesIsOneObjectInJsonAndNoCsv) {
  run(replaced(
      {{"{use: output, table: ", "{use: output, table: [{name: other, style: csv, column: n}, "},
       {"style: pretty, sort", "style: csv, sort"},
       {"column: [n, result]}}", "column: [n, result]}]}"}}));
  EXPECT_EQ(shown({"-s", "csv", "--only", "other"}), "n\n1\n2\n3\n\n");
  EXPECT_FALSE(here_.has("runs/000000/result/squares.dat")) << "only the named tables are made";
  expect_refusal({"-o", "othr"}, "error: unknown result 'othr'\nhint: did you mean 'other'?\n");
  expect_refusal({"-s", "csv"},
                 "error: style csv prints one table, but there are 2: other, squares\n"
                 "hint: select one: `--only other`; `-s json` prints all\n");
  EXPECT_EQ(shown({}), "other:\nn\n1\n2\n3\n\nsquares:\nn,result\n1,1\n2,4\n3,9\n\n");
  EXPECT_EQ(here_.read("runs/000000/result/other.dat"), "n\n1\n2\n3\n");
  const std::string text = shown({"-s", "json"});
  EXPECT_THAT(text, testing::StartsWith("{\n  \"other\": [\n    {\n      \"n\": 1,\n"
                                        "      \"status\": \"done\"\n    },\n"));
  EXPECT_THAT(text, HasSubstr("  ],\n  \"squares\": [\n    {\n"));
  EXPECT_EQ(python("import json, sys\n"
                   "print([len(rows) for rows in json.loads(sys.argv[1]).values()])",
                   {text}),
            "[3, 3]\n");
}

TEST_F(ResultTest, RawShowsValuesInFull) {
  run(replaced({{"column: [n, result]", "column: [n, {format: .1f, _: result_avg}]"},
                {"[1, 2, 3]", "[1]"},
                {"type: int, _: square=$jube_pat_int", "type: float, _: =(.*)"},
                {"square=$square", "square=0.123456789"}}));
  EXPECT_EQ(shown({"-s", "csv"}), "n,result_avg\n1,0.1\n\n");
  EXPECT_EQ(shown({"-s", "csv", "--raw"}), "n,result_avg\n1,0.123456789\n\n");
  EXPECT_THAT(shown({"--raw"}), HasSubstr("| 1 | 0.123456789 |\n"));
}

/// Five iterations, of which one fails after it has printed its value.
constexpr const char* failing_iterations = R"(name: small
outpath: runs
step: {name: go, iterations: 5, do: 'echo t=$jube_wp_iteration; exit $$(($jube_wp_iteration == 4))'}
patternset: {name: found, pattern: {name: t, type: int, _: t=$jube_pat_int}}
analyser: {name: output, use: found, analyse: {step: go, file: stdout}}
result: {use: output, table: {name: r, style: pretty, column: [t_cnt, t_max, jube_wp_status]}}
)";

TEST_F(ResultTest, FailedIterationsAreCountedAndInNoStatistic) {
  run(failing_iterations);
  EXPECT_EQ(shown({}),
            "r:\n| t_cnt | t_max | jube_wp_status |\n|-------|-------|----------------|\n"
            "|     4 |     3 |          ERROR |\n"
            "4 of 5 iterations count: 1 row, workpackage 4: command 1 of 1: exit code 1\n\n");
  const std::string json = shown({"-s", "json"});
  EXPECT_THAT(json, HasSubstr("\"status\": \"failed\""));
  EXPECT_THAT(json,
              HasSubstr("\"status_reason\": \"4 of 5 iterations count; workpackage 4 failed:"));
}

TEST_F(ResultTest, FailedRowsWithAllValuesSaySo) {
  run(replaced({{"echo \"square=$square\"", "echo \"square=$square\"; exit $n"}}));
  const std::string table = shown({});
  EXPECT_THAT(table, HasSubstr("| 3 |      9 |\n"));
  for (const char* note : {"failed: 1 row, workpackage 0: command 1 of 1: exit code 1\n",
                           "failed: 1 row, workpackage 2: command 1 of 1: exit code 3\n"})
    EXPECT_THAT(table, HasSubstr(note));
  const std::string note = "note: squares: failed: 1 row, workpackage ";
  shown({"-s", "csv"}, note + "0: command 1 of 1: exit code 1\n" + note +
                           "1: command 1 of 1: exit code 2\n" + note +
                           "2: command 1 of 1: exit code 3\n");
}

TEST_F(ResultTest, ShowsTheParametersOfTheLastCycle) {
  run(R"(name: small
outpath: runs
parameterset: {name: p, parameter: {c: {update_mode: cycle, type: int, _: 10$jube_wp_cycle}, n: 1}}
step: {name: go, use: p, cycles: 3, do: echo c=$c}
patternset:
  name: found
  pattern: [{name: t, type: int, _: c=$jube_pat_int}, {name: d, mode: python, type: int, _: $c + 1}]
analyser: {name: output, use: found, analyse: {step: go, file: stdout}}
result: {use: output, table: {name: r, column: [c, c_go, n, d, t_last, jube_wp_cycle]}}
)");
  EXPECT_EQ(shown({}), "c,c_go,n,d,t_last,jube_wp_cycle\n102,102,1,103,102,2\n\n");
}

TEST_F(ResultTest, AMistypedFileSaysSoEachTime) {
  run(replaced({{"file: stdout", "file: stdot"}}));
  for (int k = 0; k < 2; ++k)
    EXPECT_THAT(shown({}), HasSubstr("| 1 |    n/a |\n| 2 |    n/a |\n| 3 |    n/a |\n"
                                     "n/a in result: no file stdot\n"));
}

TEST_F(ResultTest, SelectAndExcludeChangeWhatIsShownAndNoFile) {
  run();
  EXPECT_EQ(shown({"-s", "csv", "--select", "result"}), "result\n1\n4\n9\n\n");
  EXPECT_EQ(shown({"-s", "csv", "--exclude", "result"}), "n\n1\n2\n3\n\n");
  EXPECT_EQ(shown({"-s", "csv", "--select", "result,n", "--sort", "n:desc,result"}),
            "n,result\n3,9\n2,4\n1,1\n\n");
  EXPECT_EQ(shown({"-s", "csv", "--select", "n", "resul"},
                  "warning: unknown column 'resul'\nhint: did you mean 'result'?\n"),
            "n\n1\n2\n3\n\n");
  expect_refusal({"--select", "typo"},
                 "error: unknown column 'typo'\nhint: the columns are n, result\n");
  expect_refusal({"--select", "n", "--exclude", "n"},
                 "error: column 'n' is both selected and excluded\n");
  EXPECT_EQ(here_.read("runs/000000/result/squares.dat"), squares_file);
}

TEST_F(ResultTest, UpdateTakesEvaluationFromAnotherFileAndKeepsIt) {
  run();
  here_.write("new.yaml", replaced({{"name: small", "name: large"}}));
  expect_refusal({"-u", "new.yaml"},
                 "error: new.yaml has no benchmark 'small'\n"
                 "hint: the update must contain a benchmark of the same name\n");
  here_.write("new.yaml", replaced({{"name: result, type: int, _: square=",
                                     "name: half, type: float, tag: halves, _: square="},
                                    {"column: [n, result]", "column: [n, half, half_avg]"},
                                    {"style: pretty", "style: csv"},
                                    {"[1, 2, 3]", "[7, 8, 9]"}}));
  const std::string table = "n,half,half_avg\n1,1.0,1.0\n2,4.0,4.0\n3,9.0,9.0\n\n";
  EXPECT_EQ(shown({"-u", "new.yaml", "-t", "halves"}), table);
  std::filesystem::remove(here_.path() / "new.yaml");
  EXPECT_EQ(shown({}), table);
  // `analyse` takes an update, too; this one has no step.
  here_.write("new.yaml", R"(name: small
patternset: {name: found, pattern: {name: result, type: int, _: =$jube_pat_int}}
analyser: {name: output, use: found, analyse: {step: compute, file: stdout}}
result: {use: output, table: {name: squares, style: csv, column: [result_cnt]}}
)");
  EXPECT_EQ(here_.bench({"analyse", "runs", "-u", "new.yaml"}).standard_output,
            "analysed runs/000000\n");
  EXPECT_EQ(shown({}), "result_cnt\n1\n1\n1\n\n");
}

TEST_F(ResultTest, ARunThatAnotherBenchWorksOnIsShown) {
  run();
  const std::string lock = (here_.path() / "runs/000000/workspace.lock").string();
  const UniqueFd held(::open(lock.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::flock(held.get(), LOCK_EX), 0);
  EXPECT_EQ(
      shown({},
            "note: another bench process is working on this run, so this analysis is shown but not "
            "saved\n"),
      squares_file + std::string("\n"));
  const auto analyse = here_.bench({"analyse", "runs"});
  EXPECT_EQ(analyse.status.code, 1);
  EXPECT_THAT(analyse.standard_error, HasSubstr("another bench is working on runs/000000"));
}

TEST_F(ResultTest, FilesGoIntoTheResultDirectory) {
  run(replaced({{"{use: output, table", "{use: output, result_dir: results, table"}}), {"-r"});
  EXPECT_EQ(here_.read("results/000000/squares.dat"), squares_file);
  EXPECT_FALSE(here_.has("runs/000000/result/squares.dat"));
}

TEST_F(ResultTest, DatabasesHoldTheRowsOfARunOnce) {
  run(replaced({{"table: {name: squares, style: pretty, sort: n, column: [n, result]}",
                 "database: [{name: own, key: [n, {title: r, _: result}]}, "
                 "{name: kept, file: sub/kept.db, key: [{primekey: true, _: n}, result]}]"}}),
      {"-r"});
  EXPECT_EQ(shown({}), "");
  EXPECT_EQ(here_.read("runs/000000/result/kept.dat"),
            (std::filesystem::canonical(here_.path()) / "sub/kept.db").string() + "\n");
  const auto rows = [&](const std::string& file, const std::string& query) {
    return python(
        "import sqlite3, sys\n"
        "print(sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchall())",
        {file, query});
  };
  EXPECT_EQ(rows("runs/000000/result/own.dat", "SELECT n, r FROM own"),
            "[(1, 1), (2, 4), (3, 9)]\n");
  EXPECT_EQ(rows("sub/kept.db", "SELECT * FROM kept"), "[(1, 1), (2, 4), (3, 9)]\n");
}

TEST_F(ResultTest, SyslogIsSentAndPrinted) {
  const std::string path = (here_.path() / "log").string();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, path.size());
  const UniqueFd server(::socket(AF_UNIX, SOCK_DGRAM, 0));
  ASSERT_EQ(::bind(server.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_THAT(run(replaced({{"table: {name: squares, style: pretty, sort: n, column: [n, result]}",
                             "syslog: {name: l, address: log, filter: $n > 2, "
                             "format: '%(levelname)s %(message)s', key: [n, result]}"}}),
                  {"-r"})
                  .standard_output,
              HasSubstr("\nn=3 result=9\n"));
  std::string datagram(100, '?');
  datagram.resize(static_cast<std::size_t>(
      std::max<ssize_t>(::recv(server.get(), datagram.data(), 100, MSG_DONTWAIT), 0)));
  EXPECT_EQ(datagram, std::string("<14>INFO n=3 result=9\0", 22));
}

TEST_F(ResultTest, AResultThatFailsHidesNoOther) {
  const std::string faults =
      replaced({{"{use: output, table: {name: squares",
                 "{use: output, syslog: {name: l, address: none, key: n},\n"
                 "         database: {name: d, key: [n, result]},\n"
                 "         table: [{name: a, column: {format: .2f, _: jube_step_name}},\n"
                 "                 {name: b, filter: \"$n < '3'\", column: n},\n"
                 "                 {name: squares"},
                {"[n, result]}}\n", "[n, result]}]}\n"}});
  for (const char* command : {"run", "result"}) {
    SCOPED_TRACE(command);
    const CommandOutput output = command == std::string("run")
                                     ? run(faults, {"-r"})
                                     : here_.bench({"result", "runs", "-s", "pretty"});
    EXPECT_EQ(output.status.code, 1);
    EXPECT_THAT(output.standard_output, HasSubstr(squares_file));
    for (const char* error : {"error: format '.2f'",
                              "error: invalid expression in the filter of "
                              "table 'b'",
                              "error: cannot send to syslog 'l' at none"})
      EXPECT_THAT(split(output.standard_error, error), SizeIs(2)) << error;
    for (const char* file : {"squares.dat", "d.dat"})
      EXPECT_EQ(std::filesystem::remove(here_.path() / "runs/000000/result" / file), true) << file;
    EXPECT_FALSE(here_.has("runs/000000/result/a.dat"));
  }
}

TEST_F(ResultTest, ShowsTheTablesThatCannotBeWritten) {
  here_.write("there", "");
  const CommandOutput output =
      run(replaced({{"use: output, ", "use: output, result_dir: there, "}}), {"-r"});
  EXPECT_EQ(output.status.code, 1);
  EXPECT_THAT(output.standard_output, HasSubstr(squares_file));
  EXPECT_THAT(output.standard_error, HasSubstr("error: "));
}

TEST_F(ResultTest, WarnsOfOutputThatIsNotUtf8) {
  run();
  here_.write("runs/000000/000000_compute/work/stdout", "square=7 \xff\n");
  const std::string file =
      (std::filesystem::canonical(here_.path()) / "runs/000000/000000_compute/work/stdout")
          .string();
  EXPECT_THAT(shown({}, "warning: " + file + " is not valid UTF-8\n" +
                            "hint: invalid bytes are read as the character U+FFFD\n"),
              HasSubstr("| 1 |      7 |"));
}

}  // namespace
}  // namespace bench::end_to_end
