#pragma once

#include "command.hpp"

#include <span>

namespace bench::cli {

/// A group of commands in the list of `bench --help`.
struct CommandGroup {
  const char* title;
  std::span<const Command> commands;
};

/// All commands.
std::span<const CommandGroup> command_groups();

}  // namespace bench::cli
