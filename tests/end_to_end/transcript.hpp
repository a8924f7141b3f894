#pragma once

#include "bench_program.hpp"
#include "support/patience.hpp"
#include "support/replace_matches.hpp"

#include <algorithm>
#include <set>

#include <bench/base/text.hpp>

namespace bench::end_to_end {

/// A transcript is what a terminal shows: lines `$ COMMAND`, each followed by what the command
/// prints. Lines of standard error follow those of standard output, with `! ` in front; an exit
/// code other than 0 has a line `exit code N`. What must differ between runs and machines is
/// replaced: see `normalised`.

/// The commands of a transcript, in order.
inline std::vector<std::string> commands_of(const std::string& transcript) {
  std::vector<std::string> commands;
  for (const std::string& line : split(transcript, "\n"))
    if (line.starts_with("$ "))
      commands.push_back(line.substr(2));
  return commands;
}

/// `$ find DIR`, the same on every machine: sorted paths below the directory, links with their
/// targets; without bench's own state, which another file system may keep in other files, and
/// without what the meter records of programs that run for a while.
inline std::string listing(const std::filesystem::path& base, const std::string& directory) {
  namespace fs = std::filesystem;
  std::set<std::string> lines;
  for (const auto& entry : fs::recursive_directory_iterator(base / directory)) {
    if (entry.path().filename().string().starts_with("workspace.") ||
        (entry.path() / "").string().find("/environment/") != std::string::npos)
      continue;
    std::string line = entry.path().lexically_relative(base);
    if (entry.is_symlink())
      line += " -> " + fs::read_symlink(entry.path()).string();
    else if (entry.is_directory())
      line += '/';
    lines.insert(line + '\n');
  }
  std::string text;
  for (const std::string& line : lines)
    text += line;
  return text;
}

/// Without times of day and the names of this machine and of its directories.
inline std::string normalised(std::string text, const std::filesystem::path& here) {
  text = replace_all(text, here.string(), "HERE");
  const std::string programs = std::filesystem::path(BENCH_PROGRAM).parent_path().string();
  text = replace_all(text, programs, "BIN");
  // Only a build with the step programs has their directory.
  text = replace_all(text, "BIN:BIN/steps:", "BIN:");
  text =
      support::replace_matches(text, R"(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d)", "YYYY-MM-DD HH:MM:SS");
  text = support::replace_matches(text, R"(HH:MM:SS \K[+-]\d{4})", "+ZZZZ");
  text = support::replace_matches(text, R"(host: +\K\S+)", "HOST");
  // Whether other programs use this machine is no part of what is tested.
  return support::replace_matches(text, R"((! )?not quiet: [^\n]*\n)", "");
}

/// Failures are told as they happen: those that stand together are put in order.
inline std::string with_failures_in_order(const std::string& standard_error) {
  const auto is_failure = [](const std::string& line) { return line.starts_with("workpackage "); };
  std::vector<std::string> lines = split(strip(standard_error), "\n");
  for (auto begin = lines.begin(); begin != lines.end();) {
    begin = std::find_if(begin, lines.end(), is_failure);
    const auto end = std::find_if_not(begin, lines.end(), is_failure);
    std::sort(begin, end);
    begin = end;
  }
  return join(lines, "\n");
}

/// A command of a transcript, run as a shell in the playground would, with `bench` on its PATH,
/// none of its variables set, and every run strict.
inline std::string play_command(const Playground& here, const std::string& command) {
  if (command.starts_with("find "))
    return listing(here.path(), command.substr(5));
  Environment environment = current_environment();
  std::erase_if(environment, [](const auto& variable) {
    return variable.first.starts_with("BENCH_") || variable.first.starts_with("JUBE_");
  });
  const auto program = std::filesystem::path(BENCH_PROGRAM);
  set_variable(environment, "PATH", program.parent_path().string() + ":" + std::getenv("PATH"));
  const auto output = run_command(
      {.arguments = {"/bin/sh", "-c", replace_all(command, "bench run ", "bench run --strict ")},
       .directory = here.path(),
       .environment = std::move(environment)},
      support::far_too_long_s);
  std::string text = output.standard_output;
  if (!text.empty() && !text.ends_with('\n'))
    text += '\n';
  if (!output.standard_error.empty())
    text += "! " + replace_all(with_failures_in_order(output.standard_error), "\n", "\n! ") + '\n';
  if (!output.status.success())
    text += output.status.description() + '\n';
  return text;
}

/// The transcript of the same commands, played here.
inline std::string play(const Playground& here, const std::string& transcript) {
  std::string played;
  for (const std::string& command : commands_of(transcript))
    played += "$ " + command + '\n' + normalised(play_command(here, command), here.path());
  return played;
}

}  // namespace bench::end_to_end
