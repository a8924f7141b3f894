#pragma once

#include "bench_program.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>

#include <fcntl.h>
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

}  // namespace bench::end_to_end
