#pragma once

#include "bench_program.hpp"

#include <array>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <bench/base/unique_fd.hpp>

namespace bench::end_to_end {

/// Runs `bench` with a terminal as standard input, at which somebody has typed `typed` already.
inline ExitStatus bench_at_terminal(const Playground& here, std::vector<std::string> arguments,
                                    const std::string& typed) {
  const UniqueFd keyboard(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!keyboard.valid() || ::grantpt(keyboard.get()) != 0 || ::unlockpt(keyboard.get()) != 0)
    throw std::runtime_error("no terminal can be made");
  const UniqueFd terminal(::open(::ptsname(keyboard.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (::write(keyboard.get(), typed.data(), typed.size()) != static_cast<ssize_t>(typed.size()))
    throw std::runtime_error("nothing can be typed");
  ProcessSpec spec = here.spec(std::move(arguments));
  spec.stdin_fd = terminal.get();
  return Process(spec).wait();
}

enum class Screen { standard_error, both };

/// Called with all that is shown so far, whenever there is more.
using Watcher = std::function<void(const std::string&)>;

/// What `bench` shows on a terminal, control characters included; without colours, unless
/// `variables` ask for them.
inline std::string shown_at_terminal(const Playground& here, std::vector<std::string> arguments,
                                     unsigned short columns = 80, unsigned short rows = 24,
                                     Screen screen_of = Screen::standard_error,
                                     const Environment& variables = {{"NO_COLOR", "1"}},
                                     const Watcher& watcher = {}) {
  const UniqueFd screen(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!screen.valid() || ::grantpt(screen.get()) != 0 || ::unlockpt(screen.get()) != 0)
    throw std::runtime_error("no terminal can be made");
  const winsize size{.ws_row = rows, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
  ::ioctl(screen.get(), TIOCSWINSZ, &size);
  UniqueFd terminal(::open(::ptsname(screen.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
  Environment environment{{"TERM", "xterm"}};
  environment.insert(environment.end(), variables.begin(), variables.end());
  ProcessSpec spec = here.spec(std::move(arguments), environment);
  spec.stderr_fd = terminal.get();
  if (screen_of == Screen::both)
    spec.stdout_fd = terminal.get();
  Process process(spec);
  terminal = UniqueFd();  // so that reading ends with the process
  std::string shown;
  std::array<char, 4096> buffer{};
  for (;;) {
    const auto count = ::read(screen.get(), buffer.data(), buffer.size());
    if (count <= 0)
      break;
    shown.append(buffer.data(), static_cast<std::size_t>(count));
    if (watcher)
      watcher(shown);
  }
  process.wait();
  return shown;
}

}  // namespace bench::end_to_end
