#include "completion_scripts.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>

namespace bench::cli {
namespace {

std::string function_name(const std::string& program) {
  std::string name = "_" + program + "_complete";
  for (char& c : name)
    if (c == '.' || c == '+' || c == '-')
      c = '_';
  return name;
}

std::string command_names(const std::vector<Completion>& completions) {
  std::vector<std::string> names;
  for (const Completion& one : completions)
    names.push_back(one.command);
  return join(names, " ");
}

/// @param source what `compgen` makes the words of
std::string bash_reply(const std::string& source) {
  return fmt::format("mapfile -t COMPREPLY < <(compgen {} -- \"$current\")", source);
}

std::string bash_word_list(const std::vector<std::string>& words) {
  return words.empty() ? "" : fmt::format("-W \"{}\"", join(words, " "));
}

/// What bash offers where a word without a dash is wanted.
std::string bash_words(const Completion& completion) {
  const std::string words = bash_word_list(completion.words);
  switch (completion.place) {
    case Completion::Place::file:
      return bash_reply("-f " + words);
    case Completion::Place::directory:
      return bash_reply("-d " + words);
    case Completion::Place::none:
      break;
  }
  return words.empty() ? ":" : bash_reply(words);
}

/// What bash offers behind an option.
std::string bash_value(const OptionValue& value) {
  switch (value.kind) {
    case OptionValue::Kind::file:
      return bash_reply("-f");
    case OptionValue::Kind::directory:
      return bash_reply("-d");
    case OptionValue::Kind::run_id:
      return bash_reply("-W \"$(@function@_ids)\"");
    case OptionValue::Kind::word:
      return bash_reply(bash_word_list(value.words));
    case OptionValue::Kind::nothing:
      break;
  }
  return "COMPREPLY=()";
}

constexpr const char* bash_head =
    R"sh(# Completion of @program@ for bash:  source <(@program@ complete -s bash)
@function@_ids() {
  # The ids of the runs in the directory that the line names, or here.
  local word directory=.
  for word in "${COMP_WORDS[@]:2}"; do
    [[ -d $word ]] && { directory=$word; break; }
  done
  for word in "$directory"/*/{workspace.db,workpackages.xml}; do
    [[ -e $word ]] || continue
    word=${word%/*}; word=${word##*/}
    [[ $word =~ ^[0-9]+$ ]] && echo "$((10#$word))"
  done
  echo last all
}
@function@() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
  local commands="@commands@" options=
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "$commands --help --version" -- "$current")
    return
  fi
  case ${COMP_WORDS[1]} in
)sh";

constexpr const char* bash_tail = R"sh(  esac
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
  else
    case ${COMP_WORDS[1]}$previous in
@values@    esac
  fi
}
complete -o filenames -F @function@ @program@
)sh";

std::string filled(std::string text, const std::string& program,
                   const std::vector<Completion>& completions) {
  text = replace_all(text, "@function@", function_name(program));
  text = replace_all(text, "@program@", program);
  return replace_all(text, "@commands@", command_names(completions));
}

/// A text between single quotes, for every shell.
std::string quoted(const std::string& text) {
  return "'" + replace_all(text, "'", "'\\''") + "'";
}

}  // namespace

std::string bash_completion(const std::vector<Completion>& completions,
                            const std::string& program) {
  std::string text = bash_head;
  for (const Completion& one : completions)
    text += fmt::format("    {}) options=\"{}\"; {} ;;\n", one.command, join(one.options, " "),
                        bash_words(one));
  std::string values;
  for (const Completion& one : completions)
    for (const OptionValue& value : one.values) {
      std::vector<std::string> patterns;
      for (const std::string& name : value.names)
        patterns.push_back(one.command + name);
      values += fmt::format("      {}) {} ;;\n", join(patterns, "|"), bash_value(value));
    }
  return filled(text + replace_all(bash_tail, "@values@", values), program, completions);
}

namespace {

std::string zsh_value(const OptionValue& value) {
  switch (value.kind) {
    case OptionValue::Kind::file:
      return "_files";
    case OptionValue::Kind::directory:
      return "_files -/";
    case OptionValue::Kind::run_id:
      return "compadd last all";
    case OptionValue::Kind::word:
      return "compadd " + join(value.words, " ");
    case OptionValue::Kind::nothing:
      break;
  }
  return ":";
}

/// Behind an option: `-r` wants a value, `-x` one that is not a file.
std::string fish_value(const Completion& completion, const std::string& option) {
  for (const OptionValue& value : completion.values) {
    if (std::ranges::find(value.names, option) == value.names.end())
      continue;
    if (value.kind == OptionValue::Kind::file)
      return " -r -F";
    if (value.kind == OptionValue::Kind::directory)
      return " -x -a '(__fish_complete_directories)'";
    if (value.kind == OptionValue::Kind::run_id)
      return " -x -a 'last all'";
    return value.words.empty() ? " -x" : " -x -a " + quoted(join(value.words, " "));
  }
  return "";
}

}  // namespace

std::string zsh_completion(const std::vector<Completion>& completions, const std::string& program) {
  std::string text =
      "#compdef @program@\n"
      "# Completion of @program@ for zsh:  source <(@program@ complete -s zsh)\n"
      "@function@() {\n"
      "  local -a commands\n"
      "  commands=(\n";
  for (const Completion& one : completions)
    text += "    " + quoted(one.command + ":" + one.summary) + "\n";
  text +=
      "  )\n"
      "  if ((CURRENT == 2)); then\n"
      "    _describe command commands\n"
      "    return\n"
      "  fi\n"
      "  case $words[2] in\n";
  for (const Completion& one : completions) {
    const std::string words = one.words.empty() ? ":" : "compadd " + join(one.words, " ");
    const std::string paths = one.place == Completion::Place::file        ? "; _files"
                              : one.place == Completion::Place::directory ? "; _files -/"
                                                                          : "";
    text += fmt::format("    {})\n      case $words[CURRENT-1] in\n", one.command);
    for (const OptionValue& value : one.values)
      text += fmt::format("        {}) {}; return ;;\n", join(value.names, "|"), zsh_value(value));
    text +=
        fmt::format("      esac\n      [[ $PREFIX == -* ]] && compadd -- {} || {{ {}{}; }} ;;\n",
                    join(one.options, " "), words, paths);
  }
  return filled(text + "  esac\n}\ncompdef @function@ @program@\n", program, completions);
}

std::string fish_completion(const std::vector<Completion>& completions,
                            const std::string& program) {
  std::string text =
      "# Completion of @program@ for fish:  @program@ complete -s fish | source\n"
      "complete -c @program@ -f\n";
  for (const Completion& one : completions) {
    text += fmt::format("complete -c @program@ -n __fish_use_subcommand -a {} -d {}\n", one.command,
                        quoted(one.summary));
    const std::string seen =
        fmt::format("complete -c @program@ -n '__fish_seen_subcommand_from {}'", one.command);
    for (const std::string& option : one.options)
      text += seen +
              (option.starts_with("--") ? " -l " + option.substr(2) : " -s " + option.substr(1)) +
              fish_value(one, option) + "\n";
    if (one.place == Completion::Place::file)
      text += seen + " -F\n";
    else if (one.place == Completion::Place::directory)
      text += seen + " -a '(__fish_complete_directories)'\n";
    if (!one.words.empty())
      text += seen + " -a " + quoted(join(one.words, " ")) + "\n";
  }
  return filled(text, program, completions);
}

}  // namespace bench::cli
