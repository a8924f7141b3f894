#pragma once

#include "support/environment_variable.hpp"
#include "support/patience.hpp"
#include "support/source_directory.hpp"
#include "support/temp_directory.hpp"

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>

namespace bench::slurm {

/// A private Slurm on this machine, up in a fifth of a second, gone with this object, and also
/// when this process is killed: cluster.py, at the other end of a pipe, ends with the pipe.
///
/// Each test program, and so, as CTest calls them, each test, has a cluster of its own. One for
/// all would save less than Slurm takes to start one job, and a test that kills the controller
/// or takes a node down would break those that run beside it.
class Cluster {
 public:
  /// @param arguments a layout of layout.py (`plain` if there is none) and lines of slurm.conf
  /// @throws std::runtime_error if it does not come up
  explicit Cluster(const std::vector<std::string>& arguments = {}) {
    auto [here_in, there_in] = pipe();
    auto [there_out, here_out] = pipe();
    answers_ = std::move(here_in);
    commands_ = std::move(here_out);
    const auto program = support::source_directory() / "tests/slurm/cluster.py";
    std::vector<std::string> words{program.string(), home().string()};
    words.insert(words.end(), arguments.begin(), arguments.end());
    process_.emplace(ProcessSpec{
        .arguments = std::move(words), .stdin_fd = there_out.get(), .stdout_fd = there_in.get()});
    there_in = UniqueFd();
    if (const std::string line = answer(); line != "ready")
      throw std::runtime_error("no Slurm cluster: " + line);
  }
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;
  ~Cluster() {
    commands_ = UniqueFd();
    wait_readable(process_->pidfd());  // else it would be killed before it has ended the daemons
  }

  /// Why there cannot be a cluster on this machine; empty if there can.
  static std::string missing() {
    for (const char* directory : {"/usr/sbin", "/usr/local/sbin", "/usr/bin", "/usr/local/bin"})
      if (::access((std::string(directory) + "/slurmctld").c_str(), X_OK) == 0)
        return "";
    return "slurmctld is not installed (apt-get install slurmctld slurmd slurm-client)";
  }

  std::filesystem::path conf() const { return home() / "slurm.conf"; }
  Environment environment() const { return {{"SLURM_CONF", conf().string()}}; }

  void stop_controller(const std::string& signal = "TERM") { tell("stop-controller " + signal); }
  void start_controller() { tell("start-controller"); }
  void kill_node(const std::string& name) { tell("kill-node " + name); }
  void start_node(const std::string& name) { tell("start-node " + name); }

  /// What one of Slurm's programs says of the cluster.
  /// @throws std::runtime_error if it fails
  std::string ask(std::vector<std::string> arguments) const {
    const std::string program = arguments.front();
    const auto output = run_command({.arguments = std::move(arguments),
                                     .environment = support::environment_with(environment())},
                                    support::far_too_long_s);
    if (!output.status.success())
      throw std::runtime_error(program + ": " + output.standard_error);
    return std::string(strip(output.standard_output));
  }

 private:
  static std::pair<UniqueFd, UniqueFd> pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
      throw std::runtime_error("cannot make a pipe");
    return {UniqueFd(ends[0]), UniqueFd(ends[1])};
  }

  static bool wait_readable(int fd) {
    pollfd waited{.fd = fd, .events = POLLIN, .revents = 0};
    return ::poll(&waited, 1, static_cast<int>(support::far_too_long_s * 1000)) > 0;
  }

  void tell(const std::string& command) {
    const std::string line = command + "\n";
    if (::write(commands_.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size()))
      throw std::runtime_error("the cluster is gone");
    if (const std::string result = answer(); result != "ok")
      throw std::runtime_error(command + ": " + result);
  }

  /// One line of what it says; what it said so far if it ends or is silent for too long.
  std::string answer() {
    std::string line;
    char letter = 0;
    while (wait_readable(answers_.get()) && ::read(answers_.get(), &letter, 1) == 1) {
      if (letter == '\n')
        return line;
      line += letter;
    }
    return line.empty() ? "no answer" : line;
  }

  std::filesystem::path home() const { return directory_.path() / "slurm"; }

  support::TempDirectory directory_;
  UniqueFd commands_;
  UniqueFd answers_;
  std::optional<Process> process_;
};

/// Tests against a real Slurm; skipped, with the reason, where it is not installed. `cluster()` is
/// one for all tests of a suite that run in the same process.
class SlurmTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (Cluster::missing().empty())
      cluster_ = std::make_unique<Cluster>();
  }
  static void TearDownTestSuite() { cluster_.reset(); }

  void SetUp() override {
    if (!Cluster::missing().empty())
      GTEST_SKIP() << Cluster::missing();
    ASSERT_TRUE(cluster_) << "Slurm is installed, but its cluster did not start";
  }

  static Cluster& cluster() { return *cluster_; }

 private:
  inline static std::unique_ptr<Cluster> cluster_;
};

}  // namespace bench::slurm
