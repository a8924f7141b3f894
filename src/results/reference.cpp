#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/program/csv.hpp>
#include <bench/machine/platform.hpp>
#include <bench/results/reference.hpp>
#include <bench/results/table.hpp>

namespace bench::results {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, field_count> all_field_names{
    "source",       "table",       "cell",    "workload",   "phase", "platform",
    "platform_tag", "accelerator", "devices", "nodes",      "batch", "config",
    "metric",       "unit",        "value",   "as_printed", "note"};

/// The fields of a file's columns, from its first line.
std::vector<Field> fields_of(const energy::CsvLine& header, const fs::path& file) {
  const Place place{file.string(), header.line, 0};
  const std::vector<std::string> known(all_field_names.begin(), all_field_names.end());
  std::vector<Field> fields;
  for (const std::string& cell : header.cells) {
    const std::string name(strip(cell));
    const auto found = std::ranges::find(all_field_names, name);
    if (found == all_field_names.end())
      throw Error(Id::unknown_name, fmt::format("published numbers have no column '{}'", name),
                  suggestion(name, known, "the columns are "), place);
    const auto field = static_cast<Field>(found - all_field_names.begin());
    if (std::ranges::find(fields, field) != fields.end())
      throw Error(Id::duplicate_name, fmt::format("two columns '{}'", name), "", place);
    fields.push_back(field);
  }
  for (const Field needed : {Field::metric, Field::value})
    if (std::ranges::find(fields, needed) == fields.end())
      throw Error(Id::missing_key, fmt::format("there is no column '{}'", name_of(needed)),
                  "published numbers need at least the columns metric and value", place);
  return fields;
}

Entry entry_of(const energy::CsvLine& line, const std::vector<Field>& fields,
               const fs::path& file) {
  const Place place{file.string(), line.line, 0};
  Entry entry;
  for (std::size_t k = 0; k < fields.size(); ++k)
    entry.text(fields[k]) = strip(line.cells[k]);
  if (entry.text(Field::metric).empty())
    throw Error(Id::missing_key, "this number has no metric", "", place);
  for (const Field field : {Field::devices, Field::nodes})
    if (const std::string& text = entry.text(field); !text.empty())
      if (const auto count = parse_integer(text); !count || *count < 1)
        throw Error(
            Id::invalid_value,
            fmt::format("{} must be a whole number of at least 1, not '{}'", name_of(field), text),
            "", place);
  if (const std::string& text = entry.text(Field::value); !text.empty()) {
    entry.value = parse_number(text);
    if (!entry.value || !std::isfinite(*entry.value))
      throw Error(Id::invalid_value, fmt::format("value '{}' is not a number", text),
                  "leave it empty if the number is not to be used", place);
  }
  return entry;
}

/// A number where the text is one; a value that is not to be used is missing.
Cell cell_of(const Entry& entry, Field field) {
  const std::string& text = entry.text(field);
  if (field == Field::value && !entry.value)
    return {.absent_reason = entry.text(Field::note)};
  const bool is_number = field == Field::devices || field == Field::nodes ||
                         field == Field::batch || field == Field::value;
  if (const auto integer = is_number ? parse_integer(text) : std::nullopt)
    return {.value = *integer};
  if (field == Field::value)
    return {.value = *entry.value};
  return {.value = text};
}

/// What the entries have under a field, each once, in order.
std::string kinds(const Reference& reference, Field field) {
  std::vector<std::string> all;
  for (const Entry& entry : reference.entries)
    if (const std::string& text = entry.text(field);
        !text.empty() && std::ranges::find(all, text) == all.end())
      all.push_back(text);
  return join(all, ", ");
}

/// The CSV files of a directory by their names; none where there is no such directory.
std::map<std::string, fs::path> files_in(const fs::path& directory) {
  std::map<std::string, fs::path> files;
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(directory, absent))
    if (entry.path().extension() == ".csv")
      files.emplace(entry.path().stem().string(), entry.path());
  return files;
}

/// Of several files of one name the user's own comes first.
std::map<std::string, fs::path> known_files() {
  std::map<std::string, fs::path> files;
  for (const fs::path& directory : machine::data_directories())
    files.merge(files_in(directory / "references"));
  return files;
}

std::vector<Reference> read_all(const fs::path& directory) {
  std::vector<Reference> all;
  for (const auto& [name, file] : files_in(directory))
    all.push_back(read_reference(file));
  if (all.empty())
    throw Error(Id::missing_file,
                fmt::format("{} has no file of published numbers", directory.string()),
                "its files must end in .csv");
  return all;
}

}  // namespace

std::string_view name_of(Field field) {
  return all_field_names[static_cast<std::size_t>(field)];
}

Reference read_reference(const fs::path& file) {
  const auto lines = energy::parse_csv(read_file(file), file);
  if (lines.empty())
    throw Error(Id::no_data, "no published numbers in this file",
                "its first line must name columns such as metric, unit and value",
                {file.string(), 1, 0});
  const std::vector<Field> fields = fields_of(lines.front(), file);
  Reference reference{.name = file.stem().string(), .entries = {}};
  for (const energy::CsvLine& line : std::span(lines).subspan(1))
    reference.entries.push_back(entry_of(line, fields, file));
  return reference;
}

std::vector<std::string> metrics_of(std::span<const Reference> references) {
  std::vector<std::string> metrics;
  for (const Reference& reference : references)
    for (const Entry& entry : reference.entries)
      if (const std::string& metric = entry.text(Field::metric);
          entry.value && std::ranges::find(metrics, metric) == metrics.end())
        metrics.push_back(metric);
  return metrics;
}

Table table_of(std::span<const Reference> references) {
  Table table;
  table.name = "references";
  for (const std::string_view name : all_field_names)
    table.headings.push_back({.title = std::string(name), .name = std::string(name)});
  for (const Reference& reference : references)
    for (const Entry& entry : reference.entries) {
      auto& row = table.rows.emplace_back();
      for (std::size_t k = 0; k < field_count; ++k)
        row.push_back(cell_of(entry, static_cast<Field>(k)));
    }
  return table;
}

Table list_of(std::span<const Reference> references) {
  Table table = table_with("references", {"name", "source", "workload", "rows"});
  for (const Reference& reference : references)
    table.rows.push_back({{.value = reference.name},
                          {.value = kinds(reference, Field::source)},
                          {.value = kinds(reference, Field::workload)},
                          {.value = static_cast<long long>(reference.entries.size())}});
  return table;
}

std::vector<std::string> reference_names() {
  return keys_of(known_files());
}

std::vector<Reference> find_references(const std::string& name) {
  const auto known = known_files();
  if (const auto found = known.find(name); found != known.end())
    return {read_reference(found->second)};
  std::error_code absent;
  if (fs::is_directory(name, absent))
    return read_all(name);
  if (name.find('/') != std::string::npos || name.ends_with(".csv"))
    return {read_reference(name)};
  const std::string near = did_you_mean(name, keys_of(known));
  throw Error(
      Id::unknown_name, fmt::format("unknown reference '{}'", name),
      near.empty() ? "`bench references` lists them; your own is the path of a .csv file" : near);
}

}  // namespace bench::results
