#include "meaning.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bench/base/text.hpp>
#include <bench/results/comparison.hpp>
#include <bench/results/reference.hpp>
#include <bench/results/table.hpp>

namespace bench::results {
namespace {

constexpr std::array all_conditions{Field::workload, Field::phase, Field::accelerator,
                                    Field::devices,  Field::batch, Field::nodes,
                                    Field::platform, Field::config};

std::string letters_of(const std::string& text) {
  std::string letters = as_name(text);
  std::erase(letters, '_');
  return letters;
}

bool is_count(const std::string& word) {
  return std::ranges::all_of(word, [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// The words that tell accelerators apart: `{a100, sxm4, 40gb}`.
std::set<std::string> words_of_accelerator(const std::string& text) {
  static const std::set<std::string> of_all{"nvidia", "amd", "graphcore", "instinct",
                                            "tesla",  "gcd", "ipu"};
  const std::vector<std::string> all = split_names(as_name(text), "_");
  std::set<std::string> words;
  for (auto word = all.begin(); word != all.end(); ++word)
    if (is_count(*word) && std::next(word) != all.end() && *std::next(word) == "gb") {
      words.insert(*word + "gb");
      ++word;
    } else if (!of_all.contains(*word)) {
      words.insert(*word);
    }
  return words;
}

bool is_same_accelerator(const std::string& a, const std::string& b) {
  const auto words_a = words_of_accelerator(a);
  const auto words_b = words_of_accelerator(b);
  return !words_a.empty() && !words_b.empty() &&
         (std::ranges::includes(words_a, words_b) || std::ranges::includes(words_b, words_a));
}

}  // namespace

std::span<const Field> condition_fields() {
  return all_conditions;
}

std::vector<std::string> missing_conditions(std::span<const Heading> columns) {
  std::set<std::string> names;
  for (const Field field : all_conditions)
    names.emplace(name_of(field));
  std::vector<std::string> missing(names.begin(), names.end());
  const auto known = meanings(columns, names);
  std::erase_if(missing, [&](const std::string& name) {
    return known.contains(name) ||
           std::ranges::find(columns, name, &Heading::name) != columns.end();
  });
  return missing;
}

bool is_same(Field condition, const std::string& a, const std::string& b) {
  if (condition == Field::accelerator)
    return letters_of(a) == letters_of(b) || is_same_accelerator(a, b);
  const auto number_a = parse_number(a);
  const auto number_b = parse_number(b);
  return number_a && number_b ? *number_a == *number_b : letters_of(a) == letters_of(b);
}

}  // namespace bench::results
