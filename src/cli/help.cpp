#include "command.hpp"
#include "topics.hpp"
#include "wrapped.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/cli/output/log_file.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/document/elements.hpp>
#include <bench/energy/program/command_line.hpp>
#include <bench/energy/program/options.hpp>
#include <bench/machine/platform.hpp>

namespace bench::cli {
namespace {

using language::Attribute;
using language::Element;

constexpr std::string_view introduction = R"(# The input language

Every element and attribute that an input file may have. `bench help NAME` shows the same in a
terminal. This page is the output of `bench help --markdown`.

- An *element* is a key in YAML and a tag in XML. An *attribute* is a key below it.
- The text of an element that also has attributes is the value of the key `_` in YAML.
- Every element takes the attribute `tag`: it exists only if its [condition](#tag_expression) holds.
- A *name* is one word, *names* are separated by commas, a *flag* is `true` or `false`.
- A *duration* is written `30s`, `10min`, `2h` or `HH:MM:SS`.
- Most values may contain parameters: `$name` or `${name}`.
)";

std::string capitalised(std::string text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z')
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  return text;
}

std::string code(const std::string& word) {
  return "`" + word + "`";
}

/// `<run>` would be taken for HTML.
std::string in_markdown(const std::string& text) {
  return replace_all(replace_all(text, "<", "\\<"), "*", "\\*");
}

std::string fenced(const std::string& text, std::string_view kind) {
  return fmt::format("```{}\n{}\n```\n", kind, text);
}

std::string attribute_line(const Attribute& attribute) {
  std::string line = "- " + code(attribute.name) + " (" + attribute.type_text();
  if (!attribute.otherwise.empty())
    line += "; default: " + attribute.otherwise;
  return wrapped(in_markdown(line + "): " + attribute.meaning), 2);
}

std::string links(const std::vector<std::string>& names) {
  std::vector<std::string> linked;
  for (const std::string& name : names)
    linked.push_back(fmt::format("[{0}](#{0})", name));
  return join(linked, ", ");
}

std::string element_section(const Element& element) {
  std::string text = "\n### " + element.name + "\n\n" +
                     wrapped(in_markdown(capitalised(element.meaning) + "."), 0) + "\n";
  if (!element.details.empty())
    text += wrapped(in_markdown(replace_all(element.details, "\n", " ")), 0) + "\n";
  text += fenced(element.example, element.name == "include" ? "xml" : "yaml");
  if (!element.attributes.empty())
    text += "\n";
  for (const Attribute& attribute : element.attributes)
    text += attribute_line(attribute);
  if (!element.children.empty())
    text += "\n" + wrapped("Contains: " + links(element.children), 0);
  if (const auto parents = language::parents_of(element); !parents.empty())
    text += "\n" + wrapped("In: " + links(parents), 0);
  if (!element.see_also.empty())
    text += "\n" + wrapped("See also: " + links(split_names(element.see_also, ",")), 0);
  return text;
}

std::string topic_sections(std::span<const Topic> topics) {
  std::string text;
  for (const Topic& topic : topics)
    text += fmt::format("\n### {}\n\n{}\n{}", topic.name,
                        wrapped(capitalised(topic.summary) + ":", 0), fenced(topic.text, "text"));
  return text;
}

/// The reference of the input language as a page of Markdown: docs/reference/language.md.
std::string language_reference() {
  std::string text(introduction);
  text += "\n## An input file as a whole\n" + topic_sections(structure_topics());
  text += "\n## Elements\n";
  for (const Element& element : language::all_elements())
    text += element_section(element);
  text += "\n## Metrics\n" + topic_sections(metric_topics());
  return text + "\n## Terms\n" + topic_sections(concept_topics());
}

/// A page of section 1 of the manual, as plain text.
struct ManualPage {
  struct Section {
    std::string heading;  ///< In capitals, as on all pages.
    std::string text = {};
    std::vector<std::pair<std::string, std::string>> entries = {};  ///< Terms and what they mean.
    std::string verbatim = {};                                      ///< Lines, as they are.
  };
  std::string name;  ///< `bench-run`
  std::string summary;
  std::vector<Section> sections;
};
using Section = ManualPage::Section;

/// Not to be taken for requests, escapes or typographic dashes.
std::string escaped(std::string_view text) {
  std::string result;
  bool at_start = true;
  for (const char letter : text) {
    if (at_start && (letter == '.' || letter == '\''))
      result += "\\&";
    if (letter == '\\')
      result += "\\e";
    else if (letter == '-')
      result += "\\-";
    else if (letter == '\'')
      result += "\\(aq";
    else if (letter == '"')
      result += "\\(dq";
    else if (letter == '^')
      result += "\\(ha";
    else if (letter == '~')
      result += "\\(ti";
    else if (letter == '`')
      result += "\\(ga";
    else
      result += letter;
    at_start = letter == '\n';
  }
  return result;
}

std::string in_capitals(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char letter) { return std::toupper(letter); });
  return text;
}

std::string roff_of(const ManualPage::Section& section) {
  std::string roff = fmt::format(".SH {}\n", escaped(section.heading));
  if (!section.text.empty())
    roff += escaped(section.text) + "\n";
  for (const auto& [term, meaning] : section.entries)
    roff += fmt::format(".TP\n.B {}\n{}\n", escaped(term), escaped(meaning));
  if (!section.verbatim.empty())
    roff += fmt::format(".nf\n{}\n.fi\n", escaped(section.verbatim));
  return roff;
}

/// The page in roff, with the macros of man(7). The same for the same page: it has no date.
std::string roff_of(const ManualPage& page, const std::string& version) {
  std::string roff = fmt::format(".TH {} 1 \"\" \"bench {}\" \"bench\"\n.SH NAME\n{} \\- {}\n",
                                 escaped(in_capitals(page.name)), version, escaped(page.name),
                                 escaped(page.summary));
  for (const ManualPage::Section& section : page.sections)
    roff += roff_of(section);
  return roff;
}

/// The page of `bench-energy`.
ManualPage meter_manual() {
  ManualPage page{
      .name = "bench-energy", .summary = "measures the energy that a program uses", .sections = {}};
  const auto helps = energy::helps();
  std::vector<std::string> usages;
  for (const energy::Help& help : helps)
    usages.emplace_back(help.usage);
  page.sections.push_back({.heading = "SYNOPSIS", .verbatim = join(usages, "\n")});
  for (const energy::Help& help : helps) {
    const std::string behind = *help.name ? fmt::format(" OF {}", in_capitals(help.name)) : "";
    page.sections.push_back({.heading = "DESCRIPTION" + behind, .verbatim = help.description});
    for (const auto& [heading, rows] : help.options) {
      ManualPage::Section options{.heading = in_capitals(heading) + behind};
      for (const energy::OptionRow& row : rows)
        options.entries.emplace_back(energy::left_of(row), row.help);
      page.sections.push_back(std::move(options));
    }
    if (*help.footer)
      page.sections.push_back({.heading = "NOTES" + behind, .verbatim = help.footer});
  }
  page.sections.push_back({.heading = "SEE ALSO", .text = "bench(1)"});
  return page;
}

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

/// Writes the manual pages of the program, of each of its commands and of `bench-energy`.
/// @throws Error if a file cannot be written
void write_manual(const CLI::App& root, const std::filesystem::path& directory) {
  std::vector<ManualPage> pages{page_of_program(root), meter_manual()};
  for (const CLI::App* command : root.get_subcommands({}))
    pages.push_back(page_of(*command));
  make_directories(directory);
  for (const ManualPage& page : pages)
    write_file_atomically(directory / (page.name + ".1"), roff_of(page, BENCH_VERSION));
}

std::string list_of(std::span<const Topic> topics) {
  std::vector<std::vector<std::string>> rows;
  for (const Topic& topic : topics)
    rows.push_back({topic.name, topic.summary});
  return aligned_lines(rows, "  ");
}

std::string text_of(const Topic& topic) {
  return fmt::format("{} - {}\n\n  {}\n", topic.name, topic.summary, hanging(topic.text, 2));
}

void show_topics(const CLI::App& root) {
  std::vector<std::vector<std::string>> commands;
  for (const CLI::App* command : root.get_subcommands({}))
    commands.push_back({command->get_name(), command->get_description()});
  print("Commands (`bench help COMMAND`):\n" + aligned_lines(commands, "  ") +
        "\nAn input file as a whole (`bench help TOPIC`):\n" + list_of(structure_topics()) +
        "\nIts elements (`bench help ELEMENT`):\n" + list_of(element_topics()) +
        "\nMetrics of rows (`bench help metric NAME`):\n" + list_of(metric_topics()) +
        "\nMore (`bench help TOPIC`, or ALL):\n" + list_of(concept_topics()));
}

/// Names the documentation as HTML, if the installation has it.
void show_html_pages() {
  const auto pages = platform::data_directory().parent_path() / "doc/bench/html/index.html";
  if (std::filesystem::exists(pages))
    print("\nThe documentation in a browser: file://" + pages.string() + "\n");
}

void show_all(const CLI::App& root) {
  show_topics(root);
  for (const auto& topics : all_topics())
    for (const Topic& topic : topics)
      print("\n" + text_of(topic));
}

int show_help(const CLI::App& root, const std::string& word) {
  if (word.empty()) {
    show_topics(root);
    show_html_pages();
    return 0;
  }
  if (word == "ALL") {
    show_all(root);
    return 0;
  }
  std::vector<std::string> known = topic_names();
  for (const CLI::App* command : root.get_subcommands({})) {
    if (command->get_name() == word) {
      print(command->help("bench"));
      return 0;
    }
    known.push_back(command->get_name());
  }
  if (const Topic* topic = find_topic(word)) {
    print(text_of(*topic));
    return 0;
  }
  const std::string near = did_you_mean(word, known);
  tell(fmt::format("error: unknown help topic '{}'\nhint: {}", word,
                   near.empty() ? "`bench help` lists all topics" : near),
       Level::error);
  return usage_error;
}

/// `metric speedup` is the topic of that metric.
std::string word_of(const std::vector<std::string>& words) {
  if (words.size() == 2 && words.front() == "metric")
    return words.back();
  return join(words, " ");
}

}  // namespace

std::function<int()> declare_help(CLI::App& app) {
  const auto topic = std::make_shared<std::vector<std::string>>();
  app.add_option("TOPIC", *topic, "a command, an element of the language, `metric NAME`, or ALL")
      ->expected(0, 2);
  const auto markdown = std::make_shared<bool>();
  app.add_flag("--markdown", *markdown, "print the reference of the whole language as Markdown");
  const auto manual = std::make_shared<std::string>();
  app.add_option("--man", *manual, "write the manual pages of all commands to this directory")
      ->type_name("DIR");
  return [topic, markdown, manual, &app] {
    if (!manual->empty()) {
      write_manual(*app.get_parent(), *manual);
      return 0;
    }
    if (!*markdown)
      return show_help(*app.get_parent(), word_of(*topic));
    print(language_reference());
    return 0;
  };
}

}  // namespace bench::cli
