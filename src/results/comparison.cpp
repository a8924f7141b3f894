#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unit.hpp>
#include <bench/base/value.hpp>
#include <bench/numbers/statistics.hpp>
#include <bench/results/comparison.hpp>
#include <bench/results/reference.hpp>
#include <bench/results/table.hpp>

namespace bench::results {
namespace {

/// A column of ours under a name of published numbers.
struct Column {
  std::size_t position = 0;
  std::string unit;
};

/// `name[unit]`, as `compare` has it: the unit replaces that of the column.
struct Claim {
  std::string name;
  std::optional<std::string> unit;
};

Claim claim_of(const std::string& compare) {
  const auto bracket = compare.find('[');
  if (bracket == std::string::npos || !compare.ends_with(']'))
    return {.name = compare, .unit = {}};
  return {.name = std::string(strip(compare.substr(0, bracket))),
          .unit = compare.substr(bracket + 1, compare.size() - bracket - 2)};
}

std::map<std::string, Column> claims_of(std::span<const Heading> columns) {
  std::map<std::string, Column> claims;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    if (columns[k].compare.empty())
      continue;
    const Claim claim = claim_of(columns[k].compare);
    const Column column{k, claim.unit.value_or(columns[k].unit)};
    if (const auto [other, is_first] = claims.emplace(claim.name, column);
        !is_first && claim.name != "none")
      throw Error(Id::conflict,
                  fmt::format("columns '{}' and '{}' are both compared as {}",
                              columns[other->second.position].title, columns[k].title, claim.name),
                  "write `compare: none` at one of them", columns[k].place);
  }
  return claims;
}

/// `Avg. epoch time` as `avg_epoch_time`.
std::string as_name(const std::string& title) {
  std::string name;
  for (const char c : title)
    if (std::isalnum(static_cast<unsigned char>(c)))
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!name.empty() && name.back() != '_')
      name += '_';
  if (name.ends_with('_'))
    name.pop_back();
  return name;
}

/// Which column is which of the names: the one that claims it, else the first that has it as title,
/// else as name. A column with a claim is nothing else.
/// @throws Error with the place if two columns claim the same name
std::map<std::string, Column> meanings(std::span<const Heading> columns,
                                       const std::set<std::string>& names) {
  std::map<std::string, Column> found = claims_of(columns);
  std::erase_if(found, [&](const auto& claim) { return !names.contains(claim.first); });
  const auto add = [&](const std::function<std::string(const Heading&)>& name_of_column) {
    for (std::size_t k = 0; k < columns.size(); ++k)
      if (const std::string name = name_of_column(columns[k]);
          columns[k].compare.empty() && names.contains(name))
        found.emplace(name, Column{k, columns[k].unit});
  };
  add([](const Heading& column) { return as_name(column.title); });
  add([](const Heading& column) { return column.name; });
  return found;
}

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

/// Repetitions of one measurement.
struct Published {
  Entry first;
  double sum = 0;
  long long count = 0;
  std::vector<std::string> notes;  ///< Of all of them, each once.

  double mean() const { return sum / static_cast<double>(count); }
};

/// Everything but the cell and what it holds.
std::vector<std::string> key_of(const Entry& entry) {
  std::vector<std::string> key;
  for (const Field field : {Field::source, Field::table, Field::metric, Field::unit})
    key.push_back(entry.text(field));
  for (const Field field : condition_fields())
    key.push_back(entry.text(field));
  return key;
}

/// All that can be used, in order.
std::vector<Published> published_by(std::span<const Reference> references) {
  std::vector<Published> all;
  std::map<std::vector<std::string>, std::size_t> positions;
  for (const Reference& reference : references)
    for (const Entry& entry : reference.entries) {
      if (!entry.value)
        continue;
      const auto [known, is_new] = positions.emplace(key_of(entry), all.size());
      if (is_new)
        all.push_back({.first = entry, .notes = {}});
      Published& published = all[known->second];
      published.sum += *entry.value;
      ++published.count;
      for (std::string& note : split_names(entry.text(Field::note), ";"))
        if (std::ranges::find(published.notes, note) == published.notes.end())
          published.notes.push_back(std::move(note));
    }
  return all;
}

bool is_same_condition(Field field, const std::string& ours, const Entry& entry) {
  if (field == Field::platform && ours == entry.text(Field::platform_tag))
    return true;
  return is_same(field, ours, entry.text(field));
}

/// How far a published condition is from ours: 0 where they are the same, or ours is not stated.
/// One that is not stated is farther than any that is.
double distance(Field field, const std::string& ours, const Entry& entry) {
  const std::string& theirs = entry.text(field);
  if (ours.empty() || is_same_condition(field, ours, entry))
    return 0;
  if (theirs.empty())
    return std::numeric_limits<double>::infinity();
  const auto a = parse_number(ours);
  const auto b = parse_number(theirs);
  return a && b && *a > 0 && *b > 0 ? 1 + std::abs(std::log2(*a / *b)) : 1;
}

/// By condition, the most important first.
std::vector<double> distances(const Conditions& ours, const Entry& entry) {
  std::vector<double> all;
  for (const Field field : condition_fields()) {
    const auto stated = ours.find(field);
    all.push_back(distance(field, stated == ours.end() ? "" : stated->second, entry));
  }
  return all;
}

/// `devices 1 against 4, batch unstated against 32`
std::string differences(const Conditions& ours, const Entry& entry) {
  std::vector<std::string> all;
  for (const Field field : condition_fields()) {
    const std::string& theirs = entry.text(field);
    const auto stated = ours.find(field);
    if (theirs.empty())
      continue;
    if (stated == ours.end())
      all.push_back(fmt::format("{} unstated against {}", name_of(field), theirs));
    else if (!is_same_condition(field, stated->second, entry))
      all.push_back(fmt::format("{} {} against {}", name_of(field), stated->second, theirs));
  }
  return join(all, ", ");
}

Cell condition_cell(const Conditions& conditions, Field field) {
  const auto stated = conditions.find(field);
  const std::string text = stated == conditions.end() ? "" : stated->second;
  if (const auto integer = parse_integer(text))
    return {.value = *integer};
  return {.value = text};
}

/// `D3.7, Table 6`, as far as it is known.
std::string source_of(const Entry& entry) {
  std::vector<std::string> parts{entry.text(Field::source), entry.text(Field::table)};
  std::erase(parts, "");
  return join(parts, ", ");
}

/// The columns of a comparison.
constexpr const char* columns_of_comparison[] = {
    "workload",  "platform", "devices", "batch",      "metric", "unit", "ours",
    "published", "ratio",    "runs",    "conditions", "source", "note"};

/// Compares the rows of one table.
class Comparer {
 public:
  Comparer(const Table& ours, const Conditions& run, std::span<const Reference> references)
      : ours_(ours),
        run_(run),
        published_(published_by(references)),
        metrics_(metrics_of(references)) {
    std::set<std::string> names(metrics_.begin(), metrics_.end());
    for (const Field field : condition_fields())
      names.emplace(name_of(field));
    columns_ = meanings(ours.headings, names);
    Table& table = comparison_.table;
    table.name = ours.name;
    table.separator = ours.separator;
    for (const char* title : columns_of_comparison)
      table.headings.push_back({.title = title, .unit = "", .place = {}, .name = title});
  }

  Comparison compared() {
    for (std::size_t row = 0; row < ours_.rows.size(); ++row)
      for (const std::string& metric : metrics_)
        if (const auto column = columns_.find(metric); column != columns_.end())
          compare_number(row, metric, column->second);
    tell_left_out();
    return std::move(comparison_);
  }

 private:
  /// A line for the columns that have a reason in common.
  void tell_left_out() {
    for (const auto& [reason, rows_of_titles] : left_out_) {
      std::map<std::size_t, std::vector<std::string>> titles_of_rows;
      for (const auto& [title, rows] : rows_of_titles)
        titles_of_rows[rows].push_back(title);
      for (const auto& [rows, titles] : titles_of_rows) {
        const std::string what = fmt::format("{}: {}", join(titles, ", "), reason);
        const bool in_all = rows == ours_.rows.size();
        comparison_.reasons.push_back(what);
        comparison_.table.notes.push_back(in_all ? "not compared: " + what
                                                 : fmt::format("not compared in {} of {} rows: {}",
                                                               rows, ours_.rows.size(), what));
      }
    }
  }

  Conditions conditions_of(std::size_t row) const {
    Conditions conditions = run_;
    for (const Field field : condition_fields()) {
      const auto column = columns_.find(std::string(name_of(field)));
      if (column == columns_.end())
        continue;
      const Cell& cell = ours_.rows[row][column->second.position];
      if (const std::string text = cell.value ? to_text(*cell.value) : ""; !text.empty())
        conditions[field] = text;
    }
    return conditions;
  }

  /// The nearest of the numbers that can be converted into; null: there is none.
  const Published* nearest(const Conditions& ours, const std::string& metric,
                           const std::string& unit) const {
    const Published* best = nullptr;
    std::vector<double> least;
    for (const Published& one : published_) {
      if (one.first.text(Field::metric) != metric ||
          !unit::conversion_factor(unit, one.first.text(Field::unit)))
        continue;
      std::vector<double> here = distances(ours, one.first);
      if (!best || here < least) {
        best = &one;
        least = std::move(here);
      }
    }
    return best;
  }

  void compare_number(std::size_t row, const std::string& metric, const Column& column) {
    const Cell& cell = ours_.rows[row][column.position];
    const Heading& heading = ours_.headings[column.position];
    const auto number = numbers::finite_number(cell.value);
    if (!number) {
      const std::string& reason = cell.absent_reason;
      ++left_out_[cell.value       ? "not a number"
                  : reason.empty() ? "no value"
                                   : reason][heading.title];
      return;
    }
    const Conditions conditions = conditions_of(row);
    if (const Published* published = nearest(conditions, metric, column.unit))
      add_row(row, conditions, *published,
              {.value = *number *
                        *unit::conversion_factor(column.unit, published->first.text(Field::unit)),
               .format = ".6g",
               .estimated = cell.estimated});
    else
      ++left_out_[wrong_unit(column, metric)][heading.title];
  }

  std::string wrong_unit(const Column& column, const std::string& metric) const {
    const auto theirs =
        std::ranges::find(published_, metric, [](const Published& published) -> const std::string& {
          return published.first.text(Field::metric);
        });
    const std::string& unit = theirs->first.text(Field::unit);
    if (column.unit.empty())
      return fmt::format("no unit, but {} is published in {}; write `compare: {}[UNIT]`", metric,
                         unit, metric);
    return fmt::format("in {}, but {} is published {}", column.unit, metric,
                       unit.empty() ? "without a unit" : "in " + unit);
  }

  /// @param ours in the published unit
  void add_row(std::size_t row, const Conditions& conditions, const Published& published,
               const Cell& ours) {
    const Entry& entry = published.first;
    const double theirs = published.mean();
    Cell ratio{.absent_reason = "the published number is 0"};
    if (theirs != 0)
      ratio = {.value = *numbers::finite_number(ours.value) / theirs, .format = ".4g"};
    Table& table = comparison_.table;
    table.rows.push_back({condition_cell(conditions, Field::workload),
                          condition_cell(conditions, Field::platform),
                          condition_cell(conditions, Field::devices),
                          condition_cell(conditions, Field::batch),
                          {.value = entry.text(Field::metric)},
                          {.value = entry.text(Field::unit)},
                          ours,
                          {.value = theirs, .format = ".6g"},
                          ratio,
                          {.value = published.count},
                          {.value = differences(conditions, entry)},
                          {.value = source_of(entry)},
                          {.value = join(published.notes, "; ")}});
    if (!ours_.sources.empty())
      table.sources.push_back(ours_.sources[row]);
  }

  const Table& ours_;
  const Conditions& run_;
  std::vector<Published> published_;
  std::vector<std::string> metrics_;
  std::map<std::string, Column> columns_;
  /// In how many rows a column is not compared, by reason and title.
  std::map<std::string, std::map<std::string, std::size_t>> left_out_;
  Comparison comparison_;
};

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

Comparison compare(const Table& ours, const Conditions& run,
                   std::span<const Reference> references) {
  return Comparer(ours, run, references).compared();
}

}  // namespace bench::results
