#include "writer.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/results/table.hpp>

namespace bench::results {
namespace {

/// More reasons than these for one thing are told in short.
constexpr std::size_t most_reasons = 5;

void add_once(std::vector<std::string>& list, const std::string& item) {
  if (std::find(list.begin(), list.end(), item) == list.end())
    list.push_back(item);
}

/// `3, 7-9`
std::string ranges(const std::set<long long>& numbers) {
  std::vector<std::string> pieces;
  for (auto at = numbers.begin(); at != numbers.end();) {
    const long long first = *at;
    long long last = first;
    for (++at; at != numbers.end() && *at == last + 1; ++at)
      ++last;
    pieces.push_back(first == last ? std::to_string(first) : fmt::format("{}-{}", first, last));
  }
  return join(pieces, ", ");
}

/// Workpackages by run; without a number in a table of one run.
using Workpackages = std::map<std::optional<long long>, std::set<long long>>;

/// `workpackages 1-3 of run 0, workpackage 2 of run 1`
std::string workpackages_text(const Workpackages& workpackages) {
  std::vector<std::string> pieces;
  for (const auto& [run, ids] : workpackages)
    pieces.push_back(fmt::format("workpackage{} {}{}", ids.size() == 1 ? "" : "s", ranges(ids),
                                 run ? fmt::format(" of run {}", *run) : ""));
  return join(pieces, ", ");
}

/// A row: its run, and its number there; all lines of a distribution are one.
using RowName = std::pair<std::optional<long long>, std::size_t>;

/// What rows have in common, and the reason for it.
struct NoteGroup {
  std::vector<std::string> titles;
  std::set<RowName> rows;
  Workpackages workpackages;
  std::string reason;
};

std::string line_of(const std::string& what, const NoteGroup& group) {
  return fmt::format("{}: {}, {}: {}", what, plural(group.rows.size(), "row"),
                     workpackages_text(group.workpackages), group.reason);
}

/// Groups in the order of their first rows, each reason once.
class Groups {
 public:
  NoteGroup& at(const std::string& reason) {
    const auto [known, is_new] = places_.try_emplace(reason, groups_.size());
    if (is_new)
      groups_.emplace_back().reason = reason;
    return groups_[known->second];
  }

  /// Where there are many reasons, what follows their last colon, mostly a line that a
  /// program wrote, is left out; and where these are still many, the last ones are one group.
  std::vector<NoteGroup> shortened() const {
    if (groups_.size() <= most_reasons)
      return groups_;
    Groups shorter;
    for (const NoteGroup& group : groups_)
      merge(group, shorter.at(group.reason.substr(0, group.reason.rfind(": "))));
    std::vector<NoteGroup> all = std::move(shorter.groups_);
    if (all.size() <= most_reasons)
      return all;
    NoteGroup rest;
    rest.reason = "other reasons; `bench why ID` shows each";
    for (std::size_t k = most_reasons - 1; k < all.size(); ++k)
      merge(all[k], rest);
    all.resize(most_reasons - 1);
    all.push_back(std::move(rest));
    return all;
  }

 private:
  static void merge(const NoteGroup& from, NoteGroup& to) {
    for (const std::string& title : from.titles)
      add_once(to.titles, title);
    to.rows.insert(from.rows.begin(), from.rows.end());
    for (const auto& [run, ids] : from.workpackages)
      to.workpackages[run].insert(ids.begin(), ids.end());
  }

  std::vector<NoteGroup> groups_;
  std::map<std::string, std::size_t> places_;
};

std::string reason_of(const NotDone& workpackage) {
  return workpackage.failed || workpackage.skipped ? workpackage.reason : "has not ended";
}

/// A failure explains more than what was skipped, and that more than what has not ended.
const NotDone& culprit(const RowSource& source) {
  return *std::ranges::max_element(source.not_done, {}, [](const NotDone& one) {
    return one.failed ? 2 : one.skipped ? 1 : 0;
  });
}

/// Whether a value is missing since its workpackages failed or have not ended.
bool is_explained_by_source(const Table& table, std::size_t row, const Cell& cell) {
  if (table.sources.empty() || table.sources[row].not_done.empty())
    return false;
  return table.sources[row].done == 0 || cell.absent_reason.empty();
}

void add_workpackages(const RowSource& source, const std::string& reason, NoteGroup& group) {
  for (const NotDone& one : source.not_done)
    if (reason_of(one) == reason)
      group.workpackages[source.run].insert(one.workpackage);
}

/// Gathers what is said below one table.
class Footer {
 public:
  explicit Footer(const Table& table) : table_(table) {
    for (std::size_t column = 0; column < table.headings.size(); ++column)
      for (std::size_t row = 0; row < table.rows.size(); ++row)
        add_cell(row, column);
    for (std::size_t row = 0; row < table.sources.size(); ++row)
      if (!table.sources[row].not_done.empty() && !explained_.contains(row))
        add_row(row);
    for (std::size_t row = 0; row < table.sources.size(); ++row)
      for (const Remark& remark : table.sources[row].remarks)
        add_remark(row, remark);
  }

  std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    for (const NoteGroup& group : absent_.shortened())
      lines.push_back(fmt::format("n/a in {}: {}", join(group.titles, ", "), group.reason));
    for (const NoteGroup& group : not_done_.shortened())
      lines.push_back(line_of("n/a in " + join(group.titles, ", "), group));
    for (const auto& [what, groups] : with_values_)
      for (const NoteGroup& group : groups.shortened())
        lines.push_back(line_of(what, group));
    for (const auto& [what, groups] : remarks_)
      for (const NoteGroup& group : groups.shortened())
        lines.push_back(line_of(what, group));
    if (!estimated_.empty())
      lines.push_back(fmt::format("(estimated) in {}: from a model, not a measurement",
                                  join(estimated_, ", ")));
    lines.insert(lines.end(), table_.notes.begin(), table_.notes.end());
    return lines;
  }

 private:
  void add_cell(std::size_t row, std::size_t column) {
    const Cell& cell = table_.rows[row][column];
    const std::string& title = table_.headings[column].title;
    if (cell.value) {
      if (cell.estimated)
        add_once(estimated_, title);
    } else if (is_explained_by_source(table_, row, cell)) {
      const RowSource& source = table_.sources[row];
      const std::string reason = reason_of(culprit(source));
      NoteGroup& group = not_done_.at(reason);
      add_once(group.titles, title);
      group.rows.insert(name_of(row));
      add_workpackages(source, reason, group);
      explained_.insert(row);
    } else if (!cell.absent_reason.empty()) {
      add_once(absent_.at(cell.absent_reason).titles, title);
    }
  }

  void add_row(std::size_t row) {
    const RowSource& source = table_.sources[row];
    const NotDone& culprit_of_row = culprit(source);
    const std::string what =
        source.done > 0 && source.done < source.iterations
            ? fmt::format("{} of {} iterations count", source.done, source.iterations)
        : culprit_of_row.failed  ? "failed"
        : culprit_of_row.skipped ? "skipped"
                                 : "not finished";
    const std::string reason = reason_of(culprit_of_row);
    NoteGroup& group = with_values_[what].at(reason);
    group.rows.insert(name_of(row));
    add_workpackages(source, reason, group);
  }

  void add_remark(std::size_t row, const Remark& remark) {
    NoteGroup& group = remarks_[remark.what].at(remark.reason);
    group.rows.insert(name_of(row));
    group.workpackages[table_.sources[row].run].insert(remark.workpackages.begin(),
                                                       remark.workpackages.end());
  }

  RowName name_of(std::size_t row) const {
    const RowSource& source = table_.sources[row];
    return {source.run, source.row.value_or(row)};
  }

  const Table& table_;
  Groups absent_;                              ///< Values that are missing for a reason of theirs.
  Groups not_done_;                            ///< Those that are since workpackages are not done.
  std::map<std::string, Groups> with_values_;  ///< Rows that are not done and have all values.
  std::map<std::string, Groups> remarks_;
  std::set<std::size_t> explained_;  ///< Rows that are in `not_done_`.
  std::vector<std::string> estimated_;
};

std::string sentence(const NotDone& workpackage) {
  if (workpackage.skipped)
    return fmt::format("workpackage {} was skipped: {}", workpackage.workpackage,
                       workpackage.reason);
  return workpackage.failed
             ? fmt::format("workpackage {} failed: {}", workpackage.workpackage, workpackage.reason)
             : fmt::format("workpackage {} has not ended", workpackage.workpackage);
}

}  // namespace

std::string status_of(const RowSource& source) {
  if (source.not_done.empty())
    return "done";
  const NotDone& worst = culprit(source);
  return worst.failed ? "failed" : worst.skipped ? "skipped" : "unfinished";
}

std::string status_reason(const RowSource& source) {
  if (source.not_done.empty())
    return "";
  std::string reason = sentence(culprit(source));
  if (source.done == 0 || source.done == source.iterations)
    return reason;
  return fmt::format("{} of {} iterations count; {}", source.done, source.iterations, reason);
}

std::string absence(const Table& table, std::size_t row, std::size_t column) {
  const Cell& cell = table.rows[row][column];
  return is_explained_by_source(table, row, cell) ? sentence(culprit(table.sources[row]))
                                                  : cell.absent_reason;
}

std::vector<std::string> notes_of(const Table& table) {
  return Footer(table).lines();
}

std::vector<std::string> notes_of_spreads(const Table& table) {
  std::vector<std::string> with_spread;
  std::vector<std::string> notes;
  for (std::size_t column = 0; column < table.headings.size(); ++column) {
    const std::string& title = table.headings[column].title;
    Workpackages outliers;
    for (std::size_t row = 0; row < table.rows.size(); ++row)
      if (const auto& spread = table.rows[row][column].spread) {
        add_once(with_spread, title);
        for (const long long id : spread->outliers)
          outliers[table.sources.empty() ? std::nullopt : table.sources[row].run].insert(id);
      }
    if (!outliers.empty())
      notes.push_back(fmt::format("* in {}: outlier among the iterations: {}", title,
                                  workpackages_text(outliers)));
  }
  if (!with_spread.empty())
    notes.insert(notes.begin(),
                 fmt::format("± in {}: median of the iterations and its 95 % confidence interval",
                             join(with_spread, ", ")));
  return notes;
}

}  // namespace bench::results
