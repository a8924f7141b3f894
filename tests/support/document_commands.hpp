#pragma once

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bench/base/files.hpp>
#include <bench/base/text.hpp>

namespace bench::support {

/// A command line that a page shows, and the output that it shows below a line with a prompt.
struct DocumentCommand {
  std::string line;
  std::string output;
};

/// Command lines of the pages that no test runs, with the reason.
inline const std::vector<std::pair<std::string, std::string>>& commands_not_run() {
  static const std::vector<std::pair<std::string, std::string>> commands{
      {"./scripts/quickstart", "installs packages with apt-get and builds the whole tree"},
      {"./scripts/test", "installs packages with apt-get, and runs this test"},
      {"bench serve examples", "ends at Ctrl-C; ServeTest starts and ends it"},
      {"cmake -S . -B build/steps -DBENCH_TOOL=OFF -DBENCH_TESTS=OFF "
       "-DCMAKE_PREFIX_PATH=DIR/libtorch",
       "needs a LibTorch in that place"},
      {"cmake --build build/steps && cmake --install build/steps --prefix DIR", "likewise"},
      {"sacct -j JOB -P -n -o JobID,ConsumedEnergyRaw",
       "needs slurmdbd and sensors that Slurm reads; the clusters of the tests have neither"},
  };
  return commands;
}

inline bool is_run(const std::string& line) {
  return std::ranges::none_of(commands_not_run(),
                              [&](const auto& command) { return command.first == line; });
}

/// Whether a command line needs a machine with Slurm. tests/slurm runs those, other tests the rest.
inline bool needs_slurm(const std::string& line) {
  return line.starts_with("srun ") || line.starts_with("squeue ") || line.starts_with("salloc ") ||
         line.find("batch_arrays") != std::string::npos ||
         line.find("--platform slurm --wait") != std::string::npos;
}

namespace detail {

inline bool starts_command(const std::string& line) {
  static const std::array programs{"bench",  "bench-energy", "srun",    "salloc",
                                   "sbatch", "squeue",       "sacct",   "scancel",
                                   "source", "cmake",        "sqlite3", "python3"};
  const std::string first = line.substr(0, line.find(' '));
  return first.starts_with("./") ||
         std::ranges::find(programs, std::string_view(first)) != programs.end();
}

/// Whether the shell reads a further line after this text.
inline bool is_unfinished(const std::string& text) {
  return std::ranges::count(text, '\'') % 2 != 0 || text.ends_with('\\');
}

inline std::string without_comment(const std::string& line) {
  return std::string(strip(line.substr(0, line.find(" # "))));
}

/// The command in the last cell of a row, which is code.
inline std::string last_cell(const std::string& row) {
  const auto end = row.size() - 3;
  const auto begin = row.rfind('`', end - 1) + 1;
  return row.substr(begin, end - begin);
}

}  // namespace detail

/// The command lines of a page: lines of indented blocks that begin with a prompt or the name of a
/// program, together with those that the shell reads on, and last cells of tables that hold one.
inline std::vector<DocumentCommand> document_commands(const std::filesystem::path& page) {
  std::vector<DocumentCommand> commands;
  bool in_output = false;
  for (const std::string& line : split(read_file(page), "\n")) {
    const bool indented = line.starts_with("    ");
    const std::string text = indented ? line.substr(4) : "";
    if (indented && !commands.empty() && detail::is_unfinished(commands.back().line))
      commands.back().line += "\n" + text;
    else if (text.starts_with("$ "))
      commands.push_back({detail::without_comment(text.substr(2)), ""});
    else if (indented && in_output)
      commands.back().output += text + "\n";
    else if (indented && detail::starts_command(text))
      commands.push_back({detail::without_comment(text), ""});
    else if (line.starts_with("| ") && line.ends_with("` |") &&
             detail::starts_command(detail::last_cell(line)))
      commands.push_back({detail::last_cell(line), ""});
    in_output = indented && (in_output || text.starts_with("$ "));
  }
  return commands;
}

/// Those of a page that a test has to run: with Slurm, or without it.
inline std::vector<DocumentCommand> commands_to_run(const std::filesystem::path& page,
                                                    bool with_slurm = false) {
  auto commands = document_commands(page);
  std::erase_if(commands, [&](const DocumentCommand& command) {
    return !is_run(command.line) || needs_slurm(command.line) != with_slurm;
  });
  return commands;
}

}  // namespace bench::support
