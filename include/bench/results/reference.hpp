#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bench/results/table.hpp>

namespace bench::results {

/// The columns of a file of published numbers.
enum class Field {
  source,
  table,
  cell,
  workload,
  phase,
  platform,
  platform_tag,  ///< The platform of bench that `platform` is.
  accelerator,
  devices,  ///< Of all nodes.
  nodes,
  batch,
  config,
  metric,
  unit,
  value,
  as_printed,
  note
};
constexpr std::size_t field_count = static_cast<std::size_t>(Field::note) + 1;

/// Its name in a file.
std::string_view name_of(Field field);

/// One published number.
struct Entry {
  std::array<std::string, field_count> texts;
  std::optional<double> value;  ///< None: not to be used; the note says why.

  const std::string& text(Field field) const { return texts[static_cast<std::size_t>(field)]; }
  std::string& text(Field field) { return texts[static_cast<std::size_t>(field)]; }
};

/// A file of published numbers.
struct Reference {
  std::string name;  ///< Of the file, without `.csv`.
  std::vector<Entry> entries;
};

/// Reads a CSV file whose first line names the fields; `metric` and `value` must be among them.
/// @throws Error with the place for an unknown, doubled or missing column, and for text where a
///         number belongs
Reference read_reference(const std::filesystem::path& file);

/// The metrics of all numbers that can be used, in order, each once.
std::vector<std::string> metrics_of(std::span<const Reference> references);

/// A row per number, with all fields, as a file has them.
Table table_of(std::span<const Reference> references);

/// A row per reference: name, source, workload, rows.
Table list_of(std::span<const Reference> references);

/// The sorted names of all references: the files `references/NAME.csv` in the directories that are
/// searched for platforms.
std::vector<std::string> reference_names();

/// The reference of that name, or the file at that path, or every `.csv` of a directory.
/// @throws Error with a suggestion if there is none
std::vector<Reference> find_references(const std::string& name);

}  // namespace bench::results
