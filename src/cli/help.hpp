#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

namespace bench::cli {

/// A text of `bench help`: a few lines without a final newline.
struct Topic {
  std::string name;
  std::string summary;
  std::string text;
};

/// What holds for an input file as a whole.
const std::vector<Topic>& structure_topics();
/// The elements of the input language, in the order in which a file uses them.
const std::vector<Topic>& element_topics();
/// Metrics of rows, one topic each, and units.
const std::vector<Topic>& metric_topics();
/// What does not belong to one element.
const std::vector<Topic>& concept_topics();
/// All of them, in this order.
std::array<std::span<const Topic>, 4> all_topics();
/// The topic with that name, JUBE's own or `<element>_tag` included; null where there is none.
const Topic* find_topic(const std::string& word);
/// The names of all topics.
std::vector<std::string> topic_names();

}  // namespace bench::cli
