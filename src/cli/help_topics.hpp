#pragma once

#include <span>
#include <string>
#include <vector>

namespace bench::cli {

/// A text of `bench help`: a few lines without a final newline.
struct Topic {
  const char* name;
  const char* summary;
  const char* text;
};

/// What holds for an input file as a whole.
std::span<const Topic> structure_topics();
/// The elements of the input language, in the order in which a file uses them.
std::span<const Topic> element_topics();
/// What does not belong to one element.
std::span<const Topic> concept_topics();
/// The names of all topics.
std::vector<std::string> topic_names();

}  // namespace bench::cli
