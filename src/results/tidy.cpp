#include "last_cycle.hpp"
#include "row_order.hpp"
#include "series.hpp"
#include "tidy_columns.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/base/value.hpp>
#include <bench/numbers/statistics.hpp>
#include <bench/results/table.hpp>
#include <bench/results/tidy.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::tabulate {
namespace {

using result::Cell;
using workspace::Attempt;
using workspace::Finding;
using workspace::Workpackage;

/// What a run has for the table.
struct RunData {
  const TidyRun* source;
  std::vector<Workpackage> workpackages;
  std::vector<Attempt> attempts;
  std::vector<Series> series;
  std::vector<std::size_t> columns;  ///< Of the series.
  /// Those whose parameters changed in later cycles, by position, with the last ones.
  std::map<std::size_t, Workpackage> last_cycles;
  TidyParameters parameters;

  const Workpackage& in_last_cycle(std::size_t position) const {
    const auto found = last_cycles.find(position);
    return found == last_cycles.end() ? workpackages[position] : found->second;
  }
};

/// The rows of a run in the table, by the positions of its workpackages and numbers of columns.
class RunRows {
 public:
  RunRows(const RunData& data, std::vector<std::vector<Cell>>& rows,
          const std::vector<std::size_t>& places, std::size_t first)
      : workpackages_(data.workpackages), rows_(rows), places_(places), first_(first) {}

  Cell& cell(std::size_t position, std::size_t column) {
    return rows_[first_ + position][places_[column]];
  }

  /// Calls `action(position, one)` for each of `all`, ascending by workpackage, that has a row.
  template <class All, class Id, class Action>
  void for_each(const All& all, Id id_of, Action action) const {
    std::size_t position = 0;
    for (const auto& one : all) {
      while (position < workpackages_.size() && workpackages_[position].id < id_of(one))
        ++position;
      if (position < workpackages_.size() && workpackages_[position].id == id_of(one))
        action(position, one);
    }
  }

 private:
  const std::vector<Workpackage>& workpackages_;
  std::vector<std::vector<Cell>>& rows_;
  const std::vector<std::size_t>& places_;
  std::size_t first_;
};

long long id_of(const Finding* finding) {
  return finding->workpackage;
}

std::optional<Value> text_or_nothing(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional<Value>(text);
}

class TidyBuilder {
 public:
  explicit TidyBuilder(std::span<const TidyRun> runs) {
    for (const TidyRun& run : runs) {
      RunData& data = runs_.emplace_back(RunData{.source = &run,
                                                 .workpackages = run.workspace.workpackages(),
                                                 .attempts = run.workspace.attempts(),
                                                 .series = series_of(run.run, run.analyses),
                                                 .columns = {},
                                                 .last_cycles = {},
                                                 .parameters = {run.run, columns_}});
      for (std::size_t position = 0; position < data.workpackages.size(); ++position)
        if (auto last = last_parameters(run.run, data.workpackages[position]))
          data.last_cycles.emplace(position, data.workpackages[position]).first->second.parameters =
              std::move(*last);
      repeated_.merge(repeated_names(data.series));
    }
    add_columns();
  }

  /// Once.
  TidyTable made() {
    TidyTable tidy = columns_.empty_table();
    tidy.table.name = "tidy";
    const std::vector<std::size_t> places = columns_.places();
    std::size_t count = 0;
    for (const RunData& data : runs_)
      count += data.workpackages.size();
    tidy.table.rows.assign(count, std::vector<Cell>(places.size()));
    tidy.workpackages.reserve(count);
    std::size_t first = 0;
    for (RunData& data : runs_) {
      RunRows rows(data, tidy.table.rows, places, first);
      fill_origin(data, rows);
      fill_parameters(data, rows);
      fill_end(data, rows);
      for (std::size_t k = 0; k < data.series.size(); ++k)
        fill(data.series[k], data.columns[k], rows);
      for (std::size_t k = 0; k < data.series.size(); ++k)
        if (data.series[k].statistic)
          fill_of_one_value(data, k, rows);
      first += data.workpackages.size();
      std::ranges::move(data.workpackages, std::back_inserter(tidy.workpackages));
      std::ranges::move(data.attempts, std::back_inserter(tidy.attempts));
    }
    return tidy;
  }

 private:
  void add_columns() {
    if (std::ranges::any_of(runs_, [](auto& data) { return !data.source->outpath.empty(); }))
      columns_.add(TidyColumn::origin, "outpath");
    for (const char* name : {"run", "step", "workpackage", "iteration"})
      columns_.add(TidyColumn::origin, name);
    for (RunData& data : runs_) {
      add_parameters(data);
      std::erase_if(data.series, [&](const Series& series) {
        return series.statistic &&
               (series.statistic->suffix == "_first" || !repeated_.contains(series.base));
      });
      for (const Series& series : data.series)
        data.columns.push_back(
            columns_.add(series.is_of_meter ? TidyColumn::meter : TidyColumn::finding, series.name,
                         series.unit, series.rank));
    }
    for (const char* name : {"state", "reason", "host", "started", "ended"})
      columns_.add(TidyColumn::end, name);
    columns_.add(TidyColumn::end, "run_time", "s");
  }

  void add_parameters(RunData& data) {
    for (std::size_t position = 0; position < data.workpackages.size(); ++position) {
      const Workpackage& workpackage = data.in_last_cycle(position);
      for (std::size_t k = 0; k < workpackage.parameters.size(); ++k) {
        const auto& known = data.parameters.at(workpackage, k);
        if (known.type == ValueType::string && !of_texts_.contains(known.column) &&
            !says_a_number(workpackage.parameters[k].second))
          of_texts_.insert(known.column);
      }
    }
  }

  void fill_origin(const RunData& data, RunRows& rows) {
    const auto column = [&](const char* name) { return columns_.add(TidyColumn::origin, name); };
    if (const std::string& outpath = data.source->outpath; !outpath.empty())
      for (std::size_t position = 0; position < data.workpackages.size(); ++position)
        rows.cell(position, column("outpath")).value = outpath;
    const std::size_t run = column("run");
    const std::size_t step = column("step");
    const std::size_t workpackage = column("workpackage");
    const std::size_t iteration = column("iteration");
    for (std::size_t position = 0; position < data.workpackages.size(); ++position) {
      const Workpackage& one = data.workpackages[position];
      rows.cell(position, run).value = static_cast<long long>(data.source->run.directory.id);
      rows.cell(position, step).value = one.step;
      rows.cell(position, workpackage).value = one.id;
      rows.cell(position, iteration).value = static_cast<long long>(one.iteration);
    }
  }

  void fill_parameters(RunData& data, RunRows& rows) const {
    for (std::size_t position = 0; position < data.workpackages.size(); ++position) {
      const Workpackage& workpackage = data.in_last_cycle(position);
      for (std::size_t k = 0; k < workpackage.parameters.size(); ++k) {
        const auto& known = data.parameters.at(workpackage, k);
        Cell& cell = rows.cell(position, known.column);
        cell.value = parameter_value(workpackage.parameters[k].second, known);
        cell.is_wide_integer = is_wide_integer(cell, known.type);
      }
    }
  }

  Value parameter_value(const std::string& text, const TidyParameters::Known& known) const {
    if (known.type != ValueType::string || of_texts_.contains(known.column))
      return to_value(text, known.type);
    return to_value(text, parse_integer(text) ? ValueType::integer : ValueType::real);
  }

  void fill_end(const RunData& data, RunRows& rows) {
    const auto column = [&](const char* name, const char* unit = "") {
      return columns_.add(TidyColumn::end, name, unit);
    };
    const std::size_t state = column("state");
    const std::size_t reason = column("reason");
    for (std::size_t position = 0; position < data.workpackages.size(); ++position) {
      rows.cell(position, state).value = std::string(name_of(data.workpackages[position].state));
      rows.cell(position, reason).value = text_or_nothing(data.workpackages[position].reason);
    }
    const std::size_t host = column("host");
    const std::size_t started = column("started");
    const std::size_t ended = column("ended");
    const std::size_t run_time = column("run_time", "s");
    const auto id = [](const Attempt& attempt) { return attempt.workpackage; };
    rows.for_each(data.attempts, id, [&](std::size_t position, const Attempt& attempt) {
      rows.cell(position, host).value = text_or_nothing(attempt.host);
      if (attempt.started_unix_s)
        rows.cell(position, started).value = utc_time_at(*attempt.started_unix_s);
      if (attempt.ended_unix_s)
        rows.cell(position, ended).value = utc_time_at(*attempt.ended_unix_s);
      if (const auto run_time_s = attempt.run_time_s())  // a double holds the times to 0.2 us
        rows.cell(position, run_time).value = std::round(*run_time_s * 1e6) / 1e6;
      else if (attempt.has_clock_error())
        rows.cell(position, run_time).absent_reason =
            "its end is before its start: a clock was set, or two clocks differ";
    });
  }

  static void fill(const Series& series, std::size_t column, RunRows& rows) {
    rows.for_each(series.found, id_of, [&](std::size_t position, const Finding* finding) {
      Cell& cell = rows.cell(position, column);
      cell.value = finding->value;
      cell.absent_reason = finding->absent_reason;
      cell.estimated = finding->estimated;
      cell.is_wide_integer = is_wide_integer(cell, series.type);
    });
  }

  /// The statistics that were not kept since the name has only one value.
  static void fill_of_one_value(const RunData& data, std::size_t number, RunRows& rows) {
    const Series& series = data.series[number];
    const auto base = std::ranges::find_if(data.series, [&](const Series& other) {
      return other.name == series.base && other.rank == series.rank;
    });
    if (base == data.series.end())
      return;
    rows.for_each(base->found, id_of, [&](std::size_t position, const Finding* finding) {
      Cell& cell = rows.cell(position, data.columns[number]);
      if (cell.value || !cell.absent_reason.empty() || !finding->value)
        return;
      cell.value = statistics::of_one_value(*series.statistic, *finding->value);
      cell.estimated = finding->estimated;
    });
  }

  TidyColumns columns_;
  std::vector<RunData> runs_;
  std::set<std::string> repeated_;
  std::set<std::size_t> of_texts_;  ///< Columns of parameters that declare no type.
};

}  // namespace

TidyTable tidy(std::span<const TidyRun> runs) {
  return TidyBuilder(runs).made();
}

}  // namespace bench::tabulate
