#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/energy/core/signals.hpp>
#include <bench/energy/core/ticks.hpp>
#include <bench/energy/sources/claims.hpp>
#include <bench/energy/sources/guard.hpp>
#include <bench/energy/sources/nvml_library.hpp>
#include <bench/energy/sources/setting.hpp>

namespace bench::energy {

/// Exclusive claim of this process on the settings of some devices of the node. Without it, the
/// last of two meters to end would restore what the other had set.
class Claim {
 public:
  /// Waits a few seconds if another process holds a claim.
  /// @param node identifies the node by the directory of its devices, `/sys`
  /// @throws bench::Error with a hint if another process holds one of the devices
  Claim(const Settings& settings, const std::string& node);

 private:
  std::vector<UniqueFd> names_;
};

namespace {

/// Gives the guard of a killed meter time to restore its settings.
constexpr std::chrono::seconds patience{3};
constexpr std::chrono::milliseconds between_tries{50};

}  // namespace

Claim::Claim(const Settings& settings, const std::string& node) {
  std::map<std::string, std::string> devices;  // the same order in all processes
  for (const auto& setting : settings)
    devices.emplace(setting->device_id(), setting->device());
  const auto deadline = Clock::now() + patience;
  for (const auto& [id, device] : devices) {
    UniqueFd name = reserve_node_name(fmt::format("bench-energy:{}:{}", node, id));
    while (!name.valid() && Clock::now() < deadline) {
      std::this_thread::sleep_for(between_tries);
      name = reserve_node_name(fmt::format("bench-energy:{}:{}", node, id));
    }
    if (!name.valid())
      throw Error(Id::in_use, fmt::format("another meter has changed the settings of {}", device),
                  "wait until it ends and restores them");
    names_.push_back(std::move(name));
  }
}

namespace {

/// A driver without persistence mode takes seconds for its first answer.
constexpr std::chrono::seconds guard_patience{60};

/// The guard's message when all is set; any other message is an error.
constexpr std::string_view all_set = "set";
/// Its last message; without it the guard was killed.
constexpr std::string_view all_done = "done";
constexpr std::string_view silent_driver = "a driver does not respond; its settings are unknown";
constexpr std::string_view guard_is_gone =
    "the process that restores the settings is gone; they may still be in effect";
/// Between a message and its hint.
constexpr char hint_mark = '\x1f';

constexpr std::size_t guard_arguments = 4;
constexpr const char* not_wanted = "-";

std::string argument_of(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : not_wanted;
}

/// Sends a line to the meter. /// @returns false if the meter is gone
bool say_to_meter(std::string_view line) {
  const std::string text = one_line(line) + "\n";
  return ::write(STDOUT_FILENO, text.data(), text.size()) >= 0;
}

/// Sends a line to the meter or, if that is gone, to standard error.
void tell(const std::string& line) {
  if (say_to_meter(line))
    return;
  const std::string warning = "bench-energy: warning: " + one_line(line) + "\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, warning.data(), warning.size());
}

void wait_for_end_of_input() {
  char ignored = 0;
  for (;;)
    if (const auto count = ::read(STDIN_FILENO, &ignored, 1);
        count == 0 || (count < 0 && errno != EINTR))
      return;
}

Settings settings_of(const std::vector<std::string>& arguments) {
  WantedSettings wanted{.gpu_power_limit_w = parse_number(arguments[0]),
                        .gpu_clock_mhz = parse_number(arguments[1]),
                        .cpu_governor = arguments[2] == not_wanted ? "" : arguments[2]};
  Settings all = gpu_settings(wanted, nvml_settings_of_environment(), arguments[3]);
  for (auto& setting : cpu_settings(wanted.cpu_governor, arguments[3]))
    all.push_back(std::move(setting));
  return all;
}

}  // namespace

SettingsGuard::SettingsGuard(const WantedSettings& wanted, const std::filesystem::path& sysfs,
                             const std::filesystem::path& program) {
  auto [to_guard_end, hold] = make_pipe();
  auto [answers, from_guard_end] = make_pipe();
  hold_ = std::move(hold);
  answers_ = std::move(answers);
  Process guard(
      {.arguments = {program.string(), guard_command, argument_of(wanted.gpu_power_limit_w),
                     argument_of(wanted.gpu_clock_mhz),
                     wanted.cpu_governor.empty() ? not_wanted : wanted.cpu_governor,
                     std::filesystem::absolute(sysfs).string()},
       .stdin_fd = to_guard_end.get(),
       .stdout_fd = from_guard_end.get()});
  from_guard_end = UniqueFd();
  guard.wait();  // of the intermediate process
  const std::string line = answer();
  if (line == all_set)
    return;
  if (line.empty())
    throw Error(Id::program_failed,
                "the process that applies the settings ended without an answer");
  const auto mark = line.find(hint_mark);
  throw Error(Id::device_failed, line.substr(0, mark),
              mark == std::string::npos ? "" : line.substr(mark + 1));
}

/// Reads up to the end of a line or of the stream.
std::string SettingsGuard::answer() const {
  std::string line;
  const auto deadline = Clock::now() + guard_patience;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd ready{.fd = answers_.get(), .events = POLLIN, .revents = 0};
    const int count = left.count() > 0 ? ::poll(&ready, 1, static_cast<int>(left.count())) : 0;
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return std::string(silent_driver);
    char next = '\n';
    if (::read(answers_.get(), &next, 1) <= 0 || next == '\n')
      return line;
    line += next;
  }
}

std::vector<std::string> SettingsGuard::restore() {
  hold_ = UniqueFd();
  std::vector<std::string> failures;
  for (;;) {
    const std::string line = answer();
    if (line == all_done)
      return failures;
    failures.push_back(line.empty() ? std::string(guard_is_gone) : line);
    if (line.empty() || line == silent_driver)
      return failures;
  }
}

int run_guard(const std::vector<std::string>& arguments) {
  if (arguments.size() != guard_arguments)
    return 2;
  // The meter waits only for this process. The guard is orphaned, in no process group that a
  // terminal or batch system signals, and only SIGKILL ends it.
  block_signals();
  if (const pid_t child = ::fork(); child != 0)
    return child < 0 ? 1 : 0;
  ::setsid();
  [[maybe_unused]] const int changed = ::chdir("/");  // must not block unmounting
  Settings settings;
  std::optional<Claim> claim;
  try {
    settings = settings_of(arguments);
    claim.emplace(settings, arguments[3]);
    set_all(settings);
  } catch (const Error& failure) {
    tell(failure.message() + (failure.hint().empty() ? "" : hint_mark + failure.hint()));
    return 1;
  }
  say_to_meter(all_set);
  wait_for_end_of_input();
  for (const std::string& failure : restore_all(settings))
    tell(failure);
  claim.reset();  // before the meter ends, since the next one may wait for it
  say_to_meter(all_done);
  return 0;
}

}  // namespace bench::energy
