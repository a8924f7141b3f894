#include "table_rows.hpp"

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/base/value.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/numbers/statistics.hpp>
#include <bench/results/analyses.hpp>
#include <bench/results/table.hpp>
#include <bench/results/tidy.hpp>
#include <bench/space/definitions.hpp>
#include <bench/space/run.hpp>
#include <bench/space/workpackages.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::results {
namespace {

using workspace::Attempt;
using workspace::Finding;
using workspace::Workpackage;

/// What was found under one name, at most once at each workpackage.
struct Series {
  std::string name;
  std::string unit;
  /// How many series of this name and unit, which contradict this one, came before it.
  std::size_t rank = 0;
  std::vector<const workspace::Finding*> found;  ///< Ascending by workpackage.

  bool is_of_meter = false;
  ValueType type = ValueType::string;
  std::string base;                               ///< Of a statistic: the name that it is of.
  const numbers::Statistic* statistic = nullptr;  ///< Of a statistic.
};

using Found = std::vector<const Finding*>;

/// The findings of one analyser by name and unit.
std::map<std::pair<std::string, std::string>, Found> by_name(const std::vector<Finding>& findings) {
  std::map<std::pair<std::string, std::string>, Found> names;
  Found* last = nullptr;
  for (const Finding& finding : findings) {
    if (!last || last->back()->name != finding.name || last->back()->unit != finding.unit)
      last = &names[{finding.name, finding.unit}];
    last->push_back(&finding);
  }
  for (auto& [name, found] : names)
    if (!std::ranges::is_sorted(found, {}, &Finding::workpackage))
      std::ranges::stable_sort(found, {}, &Finding::workpackage);
  return names;
}

/// Both together; of two findings at one workpackage the one with a value, else the first.
/// @returns false, and changes nothing, where they have different values
bool unite(Found& all, const Found& others) {
  Found united;
  united.reserve(all.size() + others.size());
  auto one = all.begin();
  for (const Finding* other : others) {
    while (one != all.end() && (*one)->workpackage < other->workpackage)
      united.push_back(*one++);
    if (one == all.end() || (*one)->workpackage != other->workpackage) {
      united.push_back(other);
      continue;
    }
    if ((*one)->value && other->value && to_text(*(*one)->value) != to_text(*other->value))
      return false;
    united.push_back((*one)->value ? *one : other);
    ++one;
  }
  united.insert(united.end(), one, all.end());
  all = std::move(united);
  return true;
}

/// Says what the names of series mean, and how they are ordered.
class Meanings {
 public:
  explicit Meanings(const model::Benchmark& benchmark) {
    for (const model::PatternSet& set : benchmark.pattern_sets)
      for (const model::Pattern& pattern : set.patterns)
        patterns_.try_emplace(pattern.name, patterns_.size(), pattern.type);
  }

  void describe(Series& series) const {
    if (!patterns_.contains(series.name)) {
      series.base = numbers::without_suffix(series.name);
      if (series.base != series.name)
        series.statistic = numbers::statistic_of(series.name);
    }
    const auto pattern = patterns_.find(series.statistic ? series.base : series.name);
    series.is_of_meter = pattern == patterns_.end();
    if (!series.is_of_meter && (!series.statistic || series.statistic->has_type))
      series.type = pattern->second.second;
  }

  auto order(const Series& series) const {
    const std::string& name = series.statistic ? series.base : series.name;
    const auto pattern = patterns_.find(name);
    return std::tuple(series.is_of_meter,
                      pattern == patterns_.end() ? patterns_.size() : pattern->second.first, name,
                      series.statistic, series.rank);
  }

 private:
  /// Place and type of each pattern.
  std::map<std::string, std::pair<std::size_t, ValueType>> patterns_;
};

/// Series of a run: those of patterns as its pattern sets define them, each with its statistics,
/// then those of the meter by name. Where two analysers found the same, or one of them nothing,
/// they are one series.
/// @param analyses must outlive the series
std::vector<Series> series_of(const space::Run& run, const Analyses& analyses) {
  std::vector<Series> all;
  std::multimap<std::pair<std::string, std::string>, std::size_t> known;
  for (const model::Analyser& analyser : analysers_of_each(run.benchmark)) {
    const auto findings = analyses.find(analyser.name);
    if (findings == analyses.end())
      continue;
    for (auto& [name, found] : by_name(findings->second)) {
      const auto [first, last] = known.equal_range(name);
      const bool united = std::any_of(
          first, last, [&](const auto& other) { return unite(all[other.second].found, found); });
      if (united)
        continue;
      const auto rank = static_cast<std::size_t>(std::distance(first, last));
      known.emplace(name, all.size());
      all.push_back(
          {.name = name.first, .unit = name.second, .rank = rank, .found = std::move(found)});
    }
  }
  const Meanings meanings(run.benchmark);
  for (Series& series : all)
    meanings.describe(series);
  std::ranges::sort(all, {}, [&](const Series& series) { return meanings.order(series); });
  return all;
}

/// The names that any workpackage has several values of.
std::set<std::string> repeated_names(const std::vector<Series>& all) {
  std::set<std::string> names;
  for (const Series& series : all)
    if (series.statistic && series.statistic->suffix == "_cnt" &&
        std::ranges::any_of(series.found, [](const Finding* finding) {
          const auto* count = finding->value ? std::get_if<long long>(&*finding->value) : nullptr;
          return count && *count > 1;
        }))
      names.insert(series.base);
  return names;
}

bool is_fixed(TidyColumn kind) {
  return kind == TidyColumn::origin || kind == TidyColumn::end;
}

/// The columns of a tidy table while they are found out. A column is the same in all runs that have
/// its kind, name, unit and rank.
class TidyColumns {
 public:
  /// The number of a column, which is added if there is none.
  std::size_t add(TidyColumn kind, const std::string& name, const std::string& unit = "",
                  std::size_t rank = 0) {
    const auto [known, is_new] = numbers_.try_emplace({kind, name, unit, rank}, columns_.size());
    if (is_new)
      columns_.emplace_back(kind, Heading{.title = name, .unit = unit, .name = name});
    return known->second;
  }

  /// Makes every name unique: those that `TidyColumn::origin` and `end` have stay, and of the
  /// others the first.
  TidyTable empty_table() const {
    TidyTable made;
    made.table.headings.resize(columns_.size());
    made.columns.resize(columns_.size());
    const std::vector<std::size_t> place = places();
    for (std::size_t k = 0; k < columns_.size(); ++k)
      std::tie(made.columns[place[k]], made.table.headings[place[k]]) = columns_[k];
    std::set<std::string> taken;
    for (const bool fixed : {true, false})
      for (std::size_t k = 0; k < made.columns.size(); ++k)
        if (is_fixed(made.columns[k]) == fixed) {
          Heading& heading = made.table.headings[k];
          heading.name = heading.title = unique_name(heading.name, taken);
        }
    return made;
  }

  /// Of each column by its number, where it is in the table: by kind, then as they were added.
  std::vector<std::size_t> places() const {
    std::vector<std::size_t> order;
    for (std::size_t k = 0; k < columns_.size(); ++k)
      order.push_back(k);
    std::ranges::stable_sort(order, {}, [&](std::size_t k) { return columns_[k].first; });
    std::vector<std::size_t> places(order.size());
    for (std::size_t place = 0; place < order.size(); ++place)
      places[order[place]] = place;
    return places;
  }

 private:
  std::map<std::tuple<TidyColumn, std::string, std::string, std::size_t>, std::size_t> numbers_;
  std::vector<std::pair<TidyColumn, Heading>> columns_;
};

/// The columns of the parameters of one run, and the types of their values.
class TidyParameters {
 public:
  TidyParameters(const space::Run& run, TidyColumns& columns) : run_(run), columns_(columns) {}

  struct Known {
    std::size_t column = 0;
    ValueType type = ValueType::string;
  };

  const Known& at(const std::string& step, const std::string& name) {
    const auto found = known_.find({step, name});
    if (found != known_.end())
      return found->second;
    const auto* definition = space::definition_of(run_.benchmark, *run_.benchmark.step(step), name);
    return known_
        .try_emplace({step, name}, Known{.column = columns_.add(TidyColumn::parameter, name,
                                                                definition ? definition->unit : ""),
                                         .type = definition ? definition->type : ValueType::string})
        .first->second;
  }

 private:
  const space::Run& run_;
  TidyColumns& columns_;
  std::map<std::pair<std::string, std::string>, Known> known_;  ///< By step and name.
};

/// Whether a text and the number that it is read as say the same: `8`, `0.5`, `1e-3`, but neither
/// `1.10`, which may be a version, nor `007`.
bool says_a_number(const std::string& text) {
  if (const auto integer = parse_integer(text))
    return std::to_string(*integer) == text;
  const auto real = parse_number(text);
  if (!real || !std::isfinite(*real))
    return false;
  const bool has_exponent = text.find_first_of("eE") != std::string::npos;
  return has_exponent || python_float(*real) == text;
}

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
        if (auto last = space::last_parameters(run.run, data.workpackages[position]))
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
      for (const auto& [name, text] : workpackage.parameters) {
        const auto& known = data.parameters.at(workpackage.step, name);
        if (known.type == ValueType::string && !of_texts_.contains(known.column) &&
            !says_a_number(text))
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
      for (const auto& [name, text] : workpackage.parameters) {
        const auto& known = data.parameters.at(workpackage.step, name);
        Cell& cell = rows.cell(position, known.column);
        cell.value = parameter_value(text, known);
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
      cell.value = numbers::of_one_value(*series.statistic, *finding->value);
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

}  // namespace bench::results
