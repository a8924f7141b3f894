#include "command.hpp"
#include "manual.hpp"
#include "reference.hpp"
#include "topics.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/cli/output/log_file.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/machine/platform.hpp>

namespace bench::cli {
namespace {

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
