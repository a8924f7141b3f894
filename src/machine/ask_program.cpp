#include "ask_program.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <bench/base/error.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/machine/systems.hpp>

namespace bench::machine {
namespace {

/// Limit for a server that hangs; programs give up sooner on one that is down.
double& patience_s() {
  static double seconds = 60;
  return seconds;
}

std::function<void(const std::string&)>& slow_listener() {
  static std::function<void(const std::string&)> listener;
  return listener;
}

/// Reports a program that has not answered for 2 s, as long as this object exists.
class Waiting {
 public:
  explicit Waiting(std::string program) {
    if (slow_listener())
      thread_ = std::thread([this, program = std::move(program)] {
        std::unique_lock lock(mutex_);
        if (!answered_.wait_for(lock, std::chrono::seconds(2), [this] { return is_over_; }))
          slow_listener()(program);
      });
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting() {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    answered_.notify_one();
    if (thread_.joinable())
      thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable answered_;
  bool is_over_ = false;
  std::thread thread_;
};

Environment clean(Environment environment) {
  std::erase_if(environment, [](const auto& variable) {
    return std::ranges::any_of(system_kinds(), [&](const SystemKind* kind) {
      return kind->misleads && kind->misleads(variable.first);
    });
  });
  return environment;
}

}  // namespace

void tell_slow_answers(std::function<void(const std::string& program)> tell) {
  slow_listener() = std::move(tell);
}

void limit_answers(double seconds) {
  patience_s() = seconds;
}

ProgramAnswer ask_program(std::vector<std::string> arguments, Environment environment,
                          const std::filesystem::path& directory, const std::string& name,
                          double own_patience_s) {
  // An error here means that the batch system did not answer; the caller continues without it.
  try {
    const Waiting waiting(name.empty() ? arguments.front() : name);
    const CommandOutput output = run_command({.arguments = std::move(arguments),
                                              .directory = directory,
                                              .environment = clean(std::move(environment))},
                                             patience_s() + own_patience_s);
    ProgramAnswer answer{
        .exit_code = std::nullopt,
        .output = output.standard_output,
        .error = one_line(replace_all(std::string(strip(output.standard_error)), "\n", "; "))};
    if (output.status.signal == 0)
      answer.exit_code = output.status.code;
    if (!output.status.success() && answer.error.empty())
      answer.error = output.status.description();
    return answer;
  } catch (const Error& error) {
    return {.exit_code = std::nullopt, .output = "", .error = error.message()};
  }
}

}  // namespace bench::machine
