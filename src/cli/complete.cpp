#include "command.hpp"
#include "help.hpp"
#include "options/cli11.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/machine/platform.hpp>
#include <bench/results/reference.hpp>
#include <bench/workspace/run_directory.hpp>

namespace bench::cli {
namespace {

/// The possible words at a place of the command line. The shell itself completes files and
/// directories.
struct Candidates {
  std::string_view paths = "none";  ///< Or `files`, `directories`.
  std::vector<std::string> words = {};
};

/// The options of a command and of its own commands.
std::vector<const CLI::Option*> options_of(const CLI::App& command) {
  std::vector<const CLI::Option*> options = command.get_options();
  for (const CLI::App* action : command.get_subcommands({}))
    std::ranges::copy(action->get_options(), std::back_inserter(options));
  return options;
}

/// The ids of the runs in the directory that the words name, or here.
std::vector<std::string> run_ids(const std::vector<std::string>& words) {
  const auto is_directory = [](const std::string& word) {
    std::error_code absent;
    return std::filesystem::is_directory(word, absent);
  };
  const auto directory = std::find_if(words.begin() + 1, words.end(), is_directory);
  std::vector<std::string> ids;
  for (const auto& run : workspace::find_runs(directory == words.end() ? "." : *directory))
    ids.push_back(std::to_string(run.id));
  ids.insert(ids.end(), {"last", "all"});
  return ids;
}

Candidates values_of(const CLI::App& command, const CLI::Option& option,
                     const std::vector<std::string>& words) {
  const std::string type = option.get_type_name();
  if (type == "FILE" || type == "PATH")
    return {.paths = "files"};
  if (type == "DIR")
    return {.paths = "directories"};
  if (option.check_lname("id"))
    return {.words = run_ids(words)};
  if (option.check_lname("platform"))
    return {.words = machine::platform_names()};
  if (option.check_lname("compare"))
    return {.words = results::reference_names()};
  if (command.get_name() == "log" && option.check_lname("command"))
    return {.words = log_names()};
  return {.words = options::values_of(option)};
}

/// The operands of a command and the names of its own commands.
Candidates operands_of(const CLI::App& command) {
  Candidates candidates;
  for (const CLI::App* action : command.get_subcommands({}))
    candidates.words.push_back(action->get_name());
  for (const CLI::Option* option : options_of(command)) {
    const std::string name = option->get_positional() ? option->get_name() : "";
    if (name == "FILE" || name == "LOG")
      candidates.paths = "files";
    else if ((name == "DIR" || name == "PATH" || name == "RUN") && candidates.paths == "none")
      candidates.paths = "directories";
    else if (name == "REFERENCE")
      candidates.words = results::reference_names();
    else if (name == "TOPIC")
      candidates.words = topic_names();
  }
  return candidates;
}

/// @param words of the command line after the name of the program; the user is writing the last
Candidates candidates_for(const CLI::App& root, const std::vector<std::string>& words) {
  Candidates candidates;
  const auto commands = root.get_subcommands({});
  if (words.size() < 2) {
    for (const CLI::App* one : commands)
      candidates.words.push_back(one->get_name() + "\t" + one->get_description());
    candidates.words.insert(candidates.words.end(), {"--help", "--version"});
    return candidates;
  }
  const auto called = std::ranges::find(commands, words.front(), &CLI::App::get_name);
  if (called == commands.end())
    return candidates;
  const CLI::App& command = **called;
  const bool is_option = words.back().starts_with('-');
  for (const CLI::Option* option : options_of(command)) {
    std::vector<std::string> names = options::names_of(*option);
    if (!is_option && option->get_items_expected_max() > 0 &&
        std::ranges::find(names, words[words.size() - 2]) != names.end())
      return values_of(command, *option, words);
    for (std::string& name : names)
      if (is_option && std::ranges::find(candidates.words, name) == candidates.words.end())
        candidates.words.push_back(std::move(name));
  }
  return is_option ? candidates : operands_of(command);
}

// Each script asks the program. The first line of the answer is `none`, `files` or `directories`;
// each further line is a word, followed by a tab and its meaning if it has one. If the shell calls
// an alias, the script asks the program `bench`.

constexpr const char* for_bash =
    R"sh(# Completion of @program@ for bash:  source <(@program@ complete -s bash)
@function@() {
  local program answer paths
  program=$(type -P -- "${COMP_WORDS[0]}") || program=bench
  mapfile -t answer < <("$program" complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  case ${answer[0]} in files) paths=-f ;; directories) paths=-d ;; esac
  answer=("${answer[@]:1}")
  mapfile -t COMPREPLY < <(compgen $paths -W "${answer[*]%%$'\t'*}" -- "${COMP_WORDS[COMP_CWORD]}")
}
complete -o filenames -F @function@ @program@
)sh";

constexpr const char* for_zsh = R"sh(#compdef @program@
# Completion of @program@ for zsh:  source <(@program@ complete -s zsh)
@function@() {
  local -a answer
  local program=${commands[$words[1]]:-$words[1]}
  [[ -x $program ]] || program=bench
  answer=("${(@f)$($program complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  case $answer[1] in files) _files ;; directories) _files -/ ;; esac
  shift answer
  answer=("${(@)${(@)answer//:/\\:}/$'\t'/:}")
  _describe word answer
}
compdef @function@ @program@
[[ $funcstack[1] != _@program@ ]] || @function@  # zsh has loaded this file itself, at the first TAB
)sh";

constexpr const char* for_fish =
    R"sh(# Completion of @program@ for fish:  @program@ complete -s fish | source
function @function@
  set -l words (commandline -opc) (commandline -ct)
  set -l program (command -s $words[1]; or echo bench)
  set -l answer ($program complete -- $words[2..] 2>/dev/null)
  switch "$answer[1]"
    case files
      __fish_complete_path $words[-1]
    case directories
      __fish_complete_directories $words[-1]
  end
  string join \n -- $answer[2..]
end
complete -c @program@ -f -a '(@function@)'
)sh";

std::string function_name(const std::string& program) {
  std::string name = "_" + program + "_complete";
  for (char& c : name)
    if (c == '.' || c == '+' || c == '-')
      c = '_';
  return name;
}

/// @param shell empty: that which the user works in; bash where that is not one of ours
std::string script_for(const std::string& shell, const std::string& program) {
  const char* const login = std::getenv("SHELL");
  const std::string name =
      shell.empty() ? std::filesystem::path(login ? login : "").filename().string() : shell;
  const char* const script = name == "zsh" ? for_zsh : name == "fish" ? for_fish : for_bash;
  return replace_all(replace_all(script, "@function@", function_name(program)), "@program@",
                     program);
}

}  // namespace

std::function<int()> declare_complete(CLI::App& app) {
  struct Options {
    std::string shell;
    std::string program = "bench";
    std::vector<std::string> words;
  };
  const auto options = std::make_shared<Options>();
  app.add_option("-s,--shell", options->shell, "bash, zsh or fish; default: that of $SHELL")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->type_name("SHELL");
  app.add_option("-c,--command-name", options->program, "the command that the completion is for")
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("WORDS", options->words)->group("");  // from the script, behind --
  return [options, &app] {
    if (!options->words.empty()) {
      const Candidates candidates = candidates_for(*app.get_parent(), options->words);
      print(fmt::format("{}\n", candidates.paths));
      for (const std::string& word : candidates.words)
        print(word + "\n");
      return 0;
    }
    constexpr const char* of_names =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-";
    if (options->program.empty() ||
        options->program.find_first_not_of(of_names) != std::string::npos)
      throw Error(Id::unknown_name,
                  fmt::format("'{}' is not the name of a program", options->program),
                  "use letters, digits and _ . + -");
    print(script_for(options->shell, options->program));
    return 0;
  };
}

}  // namespace bench::cli
