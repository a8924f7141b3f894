#pragma once

#include "support/environment_variable.hpp"
#include "support/patience.hpp"
#include "support/temp_directory.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>

namespace bench::end_to_end {

/// A directory of its own in which the real program is called.
class Playground {
 public:
  const std::filesystem::path& path() const { return directory_.path(); }

  void write(const std::string& name, const std::string& text) const {
    make_directories((path() / name).parent_path());
    write_file_atomically(path() / name, text);
  }
  std::string read(const std::string& name) const { return read_file(path() / name); }
  bool has(const std::string& name) const { return std::filesystem::exists(path() / name); }

  /// What to start `bench` with these arguments, here.
  ProcessSpec spec(std::vector<std::string> arguments, const Environment& extra = {}) const {
    arguments.insert(arguments.begin(), BENCH_PROGRAM);
    return {.arguments = std::move(arguments),
            .directory = path(),
            .environment = support::environment_with(extra)};
  }

  /// Runs `bench` to its end. The timeout is for a hang, not a measurement.
  CommandOutput bench(std::vector<std::string> arguments, const Environment& extra = {}) const {
    return run_command(spec(std::move(arguments), extra), support::far_too_long_s);
  }

  /// Writes an input file and runs it. Expects the exit code.
  CommandOutput run(const std::string& file, const std::string& text,
                    std::vector<std::string> options = {}, int code = 0,
                    const Environment& extra = {}) const {
    write(file, text);
    options.insert(options.begin(), {"run", file});
    CommandOutput output = bench(std::move(options), extra);
    EXPECT_EQ(output.status.code, code) << output.standard_output << output.standard_error;
    return output;
  }

  /// Runs a line of a shell here, with `bench` on its PATH.
  CommandOutput shell(const std::string& line, const Environment& extra = {},
                      const std::string& program = "bash") const {
    const std::string programs = std::filesystem::path(BENCH_PROGRAM).parent_path();
    Environment variables{{"PATH", programs + ":" + std::getenv("PATH")}};
    variables.insert(variables.end(), extra.begin(), extra.end());
    return run_command({.arguments = {program, "-c", line},
                        .directory = path(),
                        .environment = support::environment_with(variables)},
                       support::far_too_long_s);
  }

  /// What a command writes, its errors last. Expects the exit code.
  std::string text_of(const std::string& command, std::vector<std::string> arguments,
                      int code) const {
    arguments.insert(arguments.begin(), command);
    const CommandOutput output = bench(std::move(arguments));
    EXPECT_EQ(output.status.code, code) << output.standard_output << output.standard_error;
    return output.standard_output + output.standard_error;
  }

 private:
  support::TempDirectory directory_;
};

/// Three combinations of one step, one dependent step, a table.
inline const char* small_sweep() {
  return R"(name: small
outpath: runs
comment: three squares
parameterset: {name: sweep, parameter: [{n: [1, 2, 3]}, {name: square, type: int, mode: python, _: $n ** 2}]}
step:
  - {name: compute, use: sweep, do: 'echo "square=$square"'}
  - {name: check, depend: compute, do: cat compute/stdout}
patternset: {name: found, pattern: {name: result, type: int, _: square=$jube_pat_int}}
analyser: {name: output, use: found, analyse: {step: compute, file: stdout}}
result: {use: output, table: {name: squares, style: pretty, sort: n, column: [n, result]}}
)";
}

}  // namespace bench::end_to_end
