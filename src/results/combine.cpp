#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/results/combine.hpp>
#include <bench/results/table.hpp>

namespace bench::results {
namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The columns of the united table.
class Union {
 public:
  /// Where the columns of this table are in the united one; new ones are added.
  std::vector<std::size_t> add(const Table& table) {
    std::vector<std::size_t> positions;
    std::map<Shown, int> seen;
    for (const Heading& heading : table.headings) {
      const Shown shown{heading.title, heading.unit};
      const auto [known, is_new] = positions_.try_emplace({shown, seen[shown]++}, headings_.size());
      if (is_new)
        headings_.push_back(heading);
      positions.push_back(known->second);
    }
    return positions;
  }

  const std::vector<Heading>& headings() const { return headings_; }

 private:
  using Shown = std::pair<std::string, std::string>;

  std::vector<Heading> headings_;
  std::map<std::pair<Shown, int>, std::size_t> positions_;
};

/// @param reason why a cell is missing that the table of the row does not have
std::vector<Cell> spread(std::vector<Cell> cells, const std::vector<std::size_t>& positions,
                         std::size_t width, const std::string& reason) {
  std::vector<Cell> spread(width);
  for (Cell& cell : spread)
    cell.absent_reason = reason;
  for (std::size_t k = 0; k < cells.size(); ++k)
    spread[positions[k]] = std::move(cells[k]);
  return spread;
}

}  // namespace

Table combine(const std::vector<RunTable>& runs, bool descending) {
  Union columns;
  std::vector<std::vector<std::size_t>> positions(runs.size());
  for (std::size_t k = runs.size(); k-- > 0;)
    positions[k] = columns.add(runs[k].table);
  Table combined = runs.back().table;
  combined.rows.clear();
  combined.sources.clear();
  combined.notes.clear();
  combined.headings = columns.headings();
  combined.headings.insert(combined.headings.begin(), {.title = "id", .name = "id"});
  for (std::size_t k = 0; k < runs.size(); ++k) {
    const std::size_t at = descending ? runs.size() - 1 - k : k;
    const std::string lacking = fmt::format("run {} has no such column", runs[at].id);
    for (const auto& cells : runs[at].table.rows) {
      std::vector<Cell> row = spread(cells, positions[at], columns.headings().size(), lacking);
      row.insert(row.begin(), {.value = runs[at].id});
      combined.rows.push_back(std::move(row));
    }
    for (RowSource source : runs[at].table.sources) {
      source.run = runs[at].id;
      combined.sources.push_back(std::move(source));
    }
    for (const std::string& note : runs[at].table.notes)
      if (!contains(combined.notes, note))
        combined.notes.push_back(note);
  }
  return combined;
}

}  // namespace bench::results
