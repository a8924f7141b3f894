#include "topics.hpp"

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench::cli {
namespace {

/// JUBE's names of topics that have another one here, or are part of one.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> names_of_jube{
    {{"directory_structure", "run_directory"}, {"statistical_values", "statistics"}}};

std::string own_name(const std::string& word) {
  for (const auto& [of_jube, own] : names_of_jube)
    if (word == of_jube)
      return std::string(own);
  // JUBE calls the topic of an element `<element>_tag`.
  return word.ends_with("_tag") ? word.substr(0, word.size() - 4) : word;
}

}  // namespace

std::array<std::span<const Topic>, 4> all_topics() {
  return {structure_topics(), element_topics(), metric_topics(), concept_topics()};
}

const Topic* find_topic(const std::string& word) {
  const std::string name = own_name(word);
  for (const auto& topics : all_topics())
    for (const Topic& topic : topics)
      if (name == topic.name)
        return &topic;
  return nullptr;
}

std::vector<std::string> topic_names() {
  std::vector<std::string> names;
  for (const auto& topics : all_topics())
    for (const Topic& topic : topics)
      names.emplace_back(topic.name);
  for (const auto& [of_jube, own] : names_of_jube)
    names.emplace_back(of_jube);
  return names;
}

}  // namespace bench::cli
