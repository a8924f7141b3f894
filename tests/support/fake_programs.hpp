#pragma once

#include "support/environment_variable.hpp"
#include "support/temp_directory.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <bench/base/text.hpp>

namespace bench::support {

/// Programs that a test writes, and the only ones on PATH as long as this object lives. A program
/// that it has not written is certain to be missing.
class FakePrograms {
 public:
  /// A program with this text for a shell, which notes how it is called. The text has builtins of
  /// the shell only.
  void write(const std::string& name, const std::string& text) const {
    const std::string calls = shell_quote((directory_.path() / (name + ".calls")).string());
    const auto file =
        directory_.write(name, "#!/bin/sh\nprintf '%s\\n' \"$*\" >>" + calls + "\n" + text + "\n");
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }

  /// A program that says this and exits so.
  void say(const std::string& name, const std::string& output, const std::string& error = "",
           int exit_code = 0) const {
    write(name, "printf %s " + shell_quote(output) + "\nprintf %s " + shell_quote(error) +
                    " >&2\nexit " + std::to_string(exit_code));
  }

  /// The arguments of each call of a program.
  std::vector<std::string> calls(const std::string& name) const {
    const auto file = directory_.path() / (name + ".calls");
    return std::filesystem::exists(file) ? split_names(read_file(file), "\n")
                                         : std::vector<std::string>{};
  }

  const std::filesystem::path& path() const { return directory_.path(); }

 private:
  TempDirectory directory_;
  EnvironmentVariable variable_{"PATH", directory_.path().string()};
};

}  // namespace bench::support
