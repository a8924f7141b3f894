#include "help.hpp"

#include "command.hpp"
#include "options/cli11.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/files.hpp>
#include <bench/base/help.hpp>
#include <bench/base/text.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/document/elements.hpp>
#include <bench/energy/program/options.hpp>
#include <bench/machine/platform.hpp>

namespace bench::cli {
namespace {

using document::AttributeKind;
using document::ElementKind;

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

/// `<run>` would be taken for HTML, but not in code.
std::string in_markdown(const std::string& text) {
  std::vector<std::string> parts = split(text, "`");
  for (std::size_t k = 0; k < parts.size(); k += 2)
    parts[k] = replace_all(replace_all(parts[k], "<", "\\<"), "*", "\\*");
  return join(parts, "`");
}

std::string paragraph(const std::string& text, std::size_t indent = 0) {
  constexpr std::size_t columns = 98;
  return wrapped(in_markdown(text), indent, columns) + "\n";
}

std::string fenced(const std::string& text, std::string_view kind) {
  return fmt::format("```{}\n{}\n```\n", kind, text);
}

std::string attribute_line(const AttributeKind& attribute) {
  std::string line = "- " + code(attribute.name) + " (" + attribute.type_text();
  if (!attribute.otherwise.text().empty())
    line += "; default: " + attribute.otherwise.text();
  return paragraph(line + "): " + attribute.meaning, 2);
}

std::string links(const std::vector<std::string>& names) {
  std::vector<std::string> linked;
  for (const std::string& name : names)
    linked.push_back(fmt::format("[{0}](#{0})", name));
  return join(linked, ", ");
}

std::string element_section(const ElementKind& element) {
  std::string text =
      "\n### " + element.name + "\n\n" + paragraph(capitalised(element.meaning) + ".") + "\n";
  if (!element.details.empty())
    text += paragraph(replace_all(element.details, "\n", " ")) + "\n";
  text += fenced(element.example, element.name == "include" ? "xml" : "yaml");
  if (!element.attributes.empty())
    text += "\n";
  for (const AttributeKind& attribute : element.attributes)
    text += attribute_line(attribute);
  if (!element.children.empty())
    text += "\n" + paragraph("Contains: " + links(element.children));
  if (const auto parents = document::parents_of(element); !parents.empty())
    text += "\n" + paragraph("In: " + links(parents));
  if (!element.see_also.empty())
    text += "\n" + paragraph("See also: " + links(split_names(element.see_also, ",")));
  return text;
}

std::string topic_sections(std::span<const Topic> topics) {
  std::string text;
  for (const Topic& topic : topics)
    text += fmt::format("\n### {}\n\n{}\n{}", topic.name,
                        paragraph(capitalised(topic.summary) + ":"), fenced(topic.text, "text"));
  return text;
}

/// The reference of the input language as a page of Markdown: docs/reference/language.md.
std::string language_reference() {
  std::string text(introduction);
  text += "\n## An input file as a whole\n" + topic_sections(structure_topics());
  text += "\n## Elements\n";
  for (const ElementKind& element : document::all_elements())
    text += element_section(element);
  text += "\n## Metrics\n" + topic_sections(metric_topics());
  return text + "\n## Terms\n" + topic_sections(concept_topics());
}

/// Not to be taken for requests, escapes or typographic dashes.
std::string escaped(std::string_view text) {
  constexpr std::array<std::pair<const char*, const char*>, 9> escapes{{{"\\", "\\e"},
                                                                        {"\n.", "\n\\&."},
                                                                        {"\n'", "\n\\&'"},
                                                                        {"-", "\\-"},
                                                                        {"'", "\\(aq"},
                                                                        {"\"", "\\(dq"},
                                                                        {"^", "\\(ha"},
                                                                        {"~", "\\(ti"},
                                                                        {"`", "\\(ga"}}};
  std::string lines = "\n" + std::string(text);
  for (const auto& [letters, escape] : escapes)
    lines = replace_all(std::move(lines), letters, escape);
  return lines.substr(1);
}

std::string in_capitals(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char letter) { return std::toupper(letter); });
  return text;
}

/// The source of a manual page, with the macros of man(7). It has no date, so the same helps give
/// the same page.
/// @param helps of the program or command, then of its own commands
std::string manual_page(const std::string& name, const std::string& summary,
                        const std::vector<Help>& helps, const std::string& see_also) {
  std::string roff =
      fmt::format(".TH {} 1 \"\" \"bench {}\" \"bench\"\n.SH NAME\n{} \\- {}\n",
                  escaped(in_capitals(name)), BENCH_VERSION, escaped(name), escaped(summary));
  const auto begin = [&roff](const std::string& heading) {
    roff += fmt::format(".SH {}\n", escaped(in_capitals(heading)));
  };
  const auto add_lines = [&roff](const std::string& lines) {
    roff += fmt::format(".nf\n{}\n.fi\n", escaped(lines));
  };
  std::vector<std::string> usages;
  for (const Help& help : helps)
    usages.push_back(help.usage);
  begin("synopsis");
  add_lines(join(usages, "\n"));
  for (const Help& help : helps) {
    const std::string behind = &help == helps.data() ? "" : " of " + help.name;
    if (help.description != summary) {
      begin("description" + behind);
      roff += escaped(help.description) + "\n";
    }
    for (const Help::Section& section : help.sections) {
      begin((section.heading.empty() ? "notes" : section.heading) + behind);
      for (const Help::Row& row : section.rows)
        roff += fmt::format(".TP\n.B {}\n{}\n", escaped(row.left), escaped(row.text));
      if (!section.lines.empty())
        add_lines(section.lines);
    }
  }
  begin("see also");
  return roff + see_also + "\n";
}

/// Of the command and of its own commands, which have the same example.
std::vector<Help> helps_of(const CLI::App& command) {
  const std::string call = "bench " + command.get_name();
  std::vector<Help> helps{options::help_of(command, call)};
  for (const CLI::App* action : command.get_subcommands({})) {
    helps.push_back(options::help_of(*action, call + " " + action->get_name()));
    std::erase_if(helps.back().sections, [](const auto& one) { return one.heading == "Example"; });
  }
  return helps;
}

/// Writes the manual pages of the program, of each of its commands and of `bench-energy`.
/// @throws Error if a file cannot be written
void write_manual(const CLI::App& root, const std::filesystem::path& directory) {
  make_directories(directory);
  const auto write = [&](const std::string& name, const std::string& summary,
                         const std::vector<Help>& helps, const std::string& see_also) {
    write_file_atomically(directory / (name + ".1"), manual_page(name, summary, helps, see_also));
  };
  Help program{.name = "",
               .description = root.get_footer(),
               .usage = "bench COMMAND [OPTIONS] ...",
               .sections = {{.heading = "Commands"},
                            {.heading = "Environment", .lines = find_topic("environment")->text},
                            {.heading = "Exit status", .lines = find_topic("exit_codes")->text}}};
  for (const CLI::App* command : root.get_subcommands({})) {
    const std::string name = "bench-" + command->get_name();
    program.sections.front().rows.push_back({name + "(1)", command->get_description()});
    write(name, command->get_description(), helps_of(*command), "bench(1)");
  }
  write("bench", "runs benchmarks on HPC systems", {program}, "bench-energy(1)");
  write("bench-energy", "measures the energy that a program uses", energy::helps(), "bench(1)");
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
  const auto pages = machine::share_directory().parent_path() / "doc/bench/html/index.html";
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

std::function<int()> declare_schema(CLI::App&) {
  return [] {
    print(document::schema() + "\n");
    return 0;
  };
}

}  // namespace bench::cli
