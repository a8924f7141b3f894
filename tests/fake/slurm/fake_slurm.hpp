#pragma once

#include "support/source_directory.hpp"
#include "support/temp_directory.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>

namespace bench::fake {

/// What a call of one of Slurm's programs does instead of its work.
struct Mishap {
  std::string output = {};
  std::string error = {};
  int code = 0;
  double delay_s = 0;
  bool also = false;  ///< It does its work as well; only its answer is this one.
  bool kill = false;  ///< It kills its caller, after its work if it does that.
  bool pass = false;  ///< It does its work and answers as always.
};

/// sbatch, squeue, sacct, scancel and scontrol that do what a test says: states that a real Slurm
/// will not produce at will, answers that are late, lost or nonsense. With a real cluster's
/// SLURM_CONF in the environment they note calls, have mishaps, and else call the real programs.
/// fake_slurm.py tells what stands in the files.
class FakeSlurm {
 public:
  FakeSlurm() {
    const auto program = support::source_directory() / "tests/fake/slurm/fake_slurm.py";
    std::filesystem::create_directories(programs());
    std::filesystem::create_directories(state());
    for (const char* name : {"sbatch", "squeue", "sacct", "scancel", "scontrol"})
      std::filesystem::create_symlink(program, programs() / name);
  }

  /// With the fakes first on PATH, and nothing of a Slurm that this test may itself run in.
  Environment environment() const {
    const char* path = std::getenv("PATH");
    return {{"PATH", programs().string() + ":" + (path ? path : "/usr/bin:/bin")},
            {"FAKE_SLURM", state().string()}};
  }

  /// The next `times` calls of a program go wrong.
  void mishap(const std::string& program, const Mishap& what, int times = 1) const {
    std::ofstream file(state() / (program + ".mishaps"), std::ios::app);
    for (int k = 0; k < times; ++k)
      file << "{\"output\": " << quoted(what.output) << ", \"error\": " << quoted(what.error)
           << ", \"code\": " << what.code << ", \"delay_s\": " << what.delay_s
           << ", \"also\": " << (what.also ? "true" : "false")
           << ", \"kill\": " << (what.kill ? "true" : "false")
           << ", \"pass\": " << (what.pass ? "true" : "false") << "}\n";
  }

  /// No further mishaps.
  void recover(const std::string& program) const {
    std::filesystem::remove(state() / (program + ".mishaps"));
  }

  /// Forgets all jobs, as a controller does after a while.
  void forget_jobs() const { std::filesystem::remove(state() / "jobs"); }

  /// How the next jobs end, one by one; all further ones as the last.
  void fates(const std::vector<std::string>& states) const {
    write_file_atomically(state() / "fates", join(states, "\n") + "\n");
  }

  /// Whether sacct answers, and squeue forgets jobs that ended.
  void accounting(bool on) const {
    if (on)
      write_file_atomically(state() / "accounting", "");
    else
      std::filesystem::remove(state() / "accounting");
  }

  /// The calls of a program so far, each as a JSON list of words.
  std::vector<std::string> calls(const std::string& program) const {
    std::vector<std::string> found;
    std::ifstream file(state() / "calls");
    for (std::string line; std::getline(file, line);)
      if (line.starts_with("[\"" + program + "\""))
        found.push_back(line);
    return found;
  }

 private:
  /// As JSON, a character for each byte: the text may be nonsense on purpose.
  static std::string quoted(const std::string& text) {
    std::string result = "\"";
    for (const char c : text)
      result += c < ' ' || c == '"' || c == '\\' || c > '~'
                    ? fmt::format("\\u{:04x}", static_cast<unsigned char>(c))
                    : std::string(1, c);
    return result + '"';
  }

  std::filesystem::path programs() const { return directory_.path() / "bin"; }
  std::filesystem::path state() const { return directory_.path() / "state"; }

  support::TempDirectory directory_;
};

}  // namespace bench::fake
