#include "grid.hpp"

#include <algorithm>

#include <fmt/core.h>

#include <bench/base/text.hpp>

namespace bench::result {
namespace {

std::string cell_text(const Cell& cell, const Heading& heading, bool heading_says_estimated) {
  if (!cell.value)
    return cell.absent_reason.empty() ? "" : "n/a";
  std::string text = format_value(*cell.value, cell.format, heading.place);
  return cell.estimated && !heading_says_estimated ? text + " (estimated)" : text;
}

std::string heading_text(const Heading& heading, bool estimated) {
  return heading.title + (heading.unit.empty() ? "" : fmt::format("[{}]", heading.unit)) +
         (estimated ? " (estimated)" : "");
}

void add_once(std::vector<std::string>& list, const std::string& item) {
  if (std::find(list.begin(), list.end(), item) == list.end())
    list.push_back(item);
}

/// A reason and the columns in which it stands.
struct Note {
  std::string reason;
  std::vector<std::string> titles;
};

void add_title(std::vector<Note>& notes, const std::string& reason, const std::string& title) {
  const auto same = [&](const Note& note) { return note.reason == reason; };
  auto note = std::find_if(notes.begin(), notes.end(), same);
  if (note == notes.end())
    note = notes.insert(notes.end(), Note{reason, {}});
  add_once(note->titles, title);
}

}  // namespace

bool estimated_throughout(const Table& table, std::size_t column) {
  bool any = false;
  for (const auto& row : table.rows) {
    if (row[column].value && !row[column].estimated)
      return false;
    any = any || row[column].value;
  }
  return any;
}

Grid grid_of(const Table& table) {
  Grid grid;
  grid.rows.resize(table.rows.size() + 1);
  for (auto& row : grid.rows)
    row.reserve(table.headings.size());
  for (std::size_t column = 0; column < table.headings.size(); ++column) {
    const Heading& heading = table.headings[column];
    const bool estimated = estimated_throughout(table, column);
    grid.rows[0].push_back(heading_text(heading, estimated));
    grid.minimum_widths.push_back(static_cast<std::size_t>(std::max(heading.minimum_width, 0)));
    for (std::size_t row = 0; row < table.rows.size(); ++row)
      grid.rows[row + 1].push_back(cell_text(table.rows[row][column], heading, estimated));
  }
  return grid;
}

Grid transposed(const Grid& grid) {
  Grid turned;
  turned.rows.resize(grid.rows.front().size());
  for (const auto& row : grid.rows)
    for (std::size_t column = 0; column < row.size(); ++column)
      turned.rows[column].push_back(row[column]);
  return turned;
}

std::vector<std::string> notes_of(const Table& table) {
  std::vector<Note> absent;
  std::vector<std::string> estimated;
  for (std::size_t column = 0; column < table.headings.size(); ++column)
    for (const auto& row : table.rows) {
      const std::string& title = table.headings[column].title;
      if (!row[column].value && !row[column].absent_reason.empty())
        add_title(absent, row[column].absent_reason, title);
      if (row[column].value && row[column].estimated)
        add_once(estimated, title);
    }
  std::vector<std::string> notes;
  for (const Note& note : absent)
    notes.push_back(fmt::format("n/a in {}: {}", join(note.titles, ", "), note.reason));
  if (!estimated.empty())
    notes.push_back(
        fmt::format("(estimated) in {}: from a model, not a measurement", join(estimated, ", ")));
  notes.insert(notes.end(), table.notes.begin(), table.notes.end());
  return notes;
}

}  // namespace bench::result
