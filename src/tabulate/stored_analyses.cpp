#include <cctype>
#include <optional>
#include <set>

#include <bench/analyse/analyse.hpp>
#include <bench/evaluate/substitute.hpp>
#include <bench/statistics/statistics.hpp>
#include <bench/tabulate/report.hpp>

namespace bench::tabulate {
namespace {

/// Whether a name in the expression may be put together from values: `${p$n}`, `$p$n`.
bool may_build_names(const std::string& expression) {
  for (std::size_t at = expression.find('$', 1); at != std::string::npos;
       at = expression.find('$', at + 1)) {
    const char before = expression[at - 1];
    if (std::isalnum(static_cast<unsigned char>(before)) || before == '_' || before == '{')
      return true;
  }
  return false;
}

/// The names that the results of an analyser look up; nothing where any name may be needed.
class NeededNames {
 public:
  void add(const model::Result& result) {
    for (const model::Table& table : result.tables) {
      add_columns(table.columns);
      names_.insert(table.sort.begin(), table.sort.end());
      add_filter(table.filter);
    }
    for (const model::Syslog& syslog : result.syslogs) {
      add_columns(syslog.keys);
      names_.insert(syslog.sort.begin(), syslog.sort.end());
      add_filter(syslog.filter);
    }
    for (const model::Database& database : result.databases) {
      add_columns(database.keys);
      add_filter(database.filter);
    }
  }

  /// With the patterns behind statistics: these say why there are none.
  std::optional<std::set<std::string>> names() const {
    if (any_)
      return std::nullopt;
    std::set<std::string> names = names_;
    for (const std::string& name : names_)
      names.emplace(statistics::without_suffix(name));
    return names;
  }

 private:
  template <class Columns>
  void add_columns(const Columns& columns) {
    for (const auto& column : columns)
      names_.insert(column.name);
  }

  void add_filter(const std::string& filter) {
    for (std::string& name : evaluate::names_in(filter))
      names_.insert(std::move(name));
    any_ = any_ || may_build_names(filter);
  }

  std::set<std::string> names_;
  bool any_ = false;
};

}  // namespace

Analyses stored_analyses(const setup::Run& run, const workspace::Workspace& workspace) {
  NeededNames needed;
  for (const model::Result& result : run.benchmark.results)
    needed.add(result);
  const auto names = needed.names();
  Analyses analyses;
  for (const model::Analyser& analyser : run.benchmark.analysers)
    analyses[analyser.name] =
        names ? workspace.findings(analyser.name, *names) : workspace.findings(analyser.name);
  return analyses;
}

}  // namespace bench::tabulate
