#include "manual.hpp"

#include "manual_page.hpp"
#include "topics.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/files.hpp>
#include <bench/base/text.hpp>

namespace bench::cli {
namespace {

using Section = ManualPage::Section;

/// What `--help` has of the option on its left, and on its right.
std::pair<std::string, std::string> entry_of(const CLI::Option& option) {
  const CLI::Formatter text;
  const bool positional = option.get_positional();
  std::string name = text.make_option_name(&option, positional);
  std::string rest = text.make_option_opts(&option);
  return {std::string(strip(replace_all(name, ",", ", ") + rest)), text.make_option_desc(&option)};
}

/// Its arguments and options, those left out that `--help` leaves out.
void add_options(const CLI::App& command, const std::string& behind, ManualPage& page) {
  Section arguments{.heading = "ARGUMENTS" + behind};
  Section options{.heading = "OPTIONS" + behind};
  for (const CLI::Option* option : command.get_options())
    if (!option->get_group().empty())
      (option->get_positional() ? arguments : options).entries.push_back(entry_of(*option));
  for (Section* section : {&arguments, &options})
    if (!section->entries.empty())
      page.sections.push_back(std::move(*section));
}

std::string usage_of(const CLI::App& command, const std::string& call) {
  std::string text = CLI::Formatter().make_usage(&command, call);
  constexpr std::string_view label = "Usage: ";
  if (const auto at = text.find(label); at != std::string::npos)
    text.erase(0, at + label.size());
  return std::string(strip(text));
}

ManualPage page_of(const CLI::App& command) {
  const std::string call = "bench " + command.get_name();
  ManualPage page{
      .name = "bench-" + command.get_name(), .summary = command.get_description(), .sections = {}};
  std::vector<std::string> usages;
  const std::vector<const CLI::App*> actions = command.get_subcommands({});
  for (const CLI::App* action : actions)
    usages.push_back(usage_of(*action, call + " " + action->get_name()));
  if (actions.empty())
    usages.push_back(usage_of(command, call));
  page.sections.push_back({.heading = "SYNOPSIS", .verbatim = join(usages, "\n")});
  add_options(command, "", page);
  for (const CLI::App* action : actions) {
    const std::string behind = " OF " + action->get_name();
    page.sections.push_back({.heading = "DESCRIPTION" + behind, .text = action->get_description()});
    add_options(*action, behind, page);
  }
  page.sections.push_back(
      {.heading = "EXAMPLE", .verbatim = replace_all(command.get_footer(), "Example:\n", "")});
  page.sections.push_back({.heading = "SEE ALSO", .text = "bench(1)"});
  return page;
}

ManualPage page_of_program(const CLI::App& root) {
  ManualPage page{.name = "bench", .summary = "runs benchmarks on HPC systems", .sections = {}};
  Section listed{.heading = "COMMANDS"};
  for (const CLI::App* command : root.get_subcommands({}))
    listed.entries.emplace_back(fmt::format("bench-{}(1)", command->get_name()),
                                command->get_description());
  page.sections = {{.heading = "SYNOPSIS", .verbatim = "bench COMMAND [OPTIONS] ..."},
                   {.heading = "DESCRIPTION", .text = root.get_footer()},
                   std::move(listed),
                   {.heading = "ENVIRONMENT", .verbatim = find_topic("environment")->text},
                   {.heading = "EXIT STATUS", .text = find_topic("exit_codes")->text},
                   {.heading = "SEE ALSO", .text = "bench-energy(1)"}};
  return page;
}

}  // namespace

void write_manual(const CLI::App& root, const std::filesystem::path& directory) {
  std::vector<ManualPage> pages{page_of_program(root), meter_manual()};
  for (const CLI::App* command : root.get_subcommands({}))
    pages.push_back(page_of(*command));
  make_directories(directory);
  for (const ManualPage& page : pages)
    write_file_atomically(directory / (page.name + ".1"), roff_of(page, BENCH_VERSION));
}

}  // namespace bench::cli
