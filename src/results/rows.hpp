#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <bench/results/analyses.hpp>
#include <bench/results/row_values.hpp>
#include <bench/results/table.hpp>
#include <bench/space/metadata.hpp>
#include <bench/space/run.hpp>
#include <bench/space/workpackages.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::results {

/// The rows that an analyser gives, each a workpackage with its ancestors, and the values that they
/// have for a name. A name is looked up for all rows at once, so that what it means in each step is
/// found out only once.
class Rows {
 public:
  /// What is passed must outlive this object.
  Rows(const space::Run& run, const space::Lineage& family, const std::string& analyser,
       const Analyses& analyses);

  std::size_t size() const { return heads_.size(); }

  /// What each row holds under `name`: what was found at its head or, where that is nothing, in an
  /// ancestor; a parameter; `<parameter>_<step>` of an ancestor; a variable of JUBE's.
  const std::vector<Cell>& column(const std::string& name);

  /// The workpackages behind a row.
  const RowSource& source(std::size_t row) const { return sources_[row]; }

  /// Whether the name is that of a pattern of the analyser or of one of its statistics. As in JUBE,
  /// where it has no match there is nothing; where a meter tells nothing, that has to be said.
  bool is_pattern(std::string_view name) const;

  /// A remark for each of these names that has a value in some iterations of a row only, several
  /// values in some, or is a parameter in which they differ.
  std::vector<Remark> remarks(std::size_t row, const std::vector<std::string>& names) const;

  /// Why no row has any value under a name.
  std::string why_unknown(std::size_t row, const std::string& name) const;

 private:
  struct ParameterOfStep;
  class NameInSteps;

  void find_heads();
  RowSource source_of(std::size_t row) const;
  std::size_t standing_for(std::size_t position) const {
    return reduce_ ? family_.representative(position) : position;
  }
  /// The workpackages that are one in a row.
  std::vector<std::size_t> iterations_of(std::size_t position) const;
  Cell cell(std::size_t row, const std::string& name, NameInSteps& meaning) const;
  /// Why the pattern behind a name, which may be one of its statistics, has no match in a row.
  std::string no_match(std::size_t row, const std::string& name) const;
  /// What was found under this name at a workpackage; null: nothing.
  const workspace::Finding* finding_at(const std::string& name, std::size_t position) const;
  /// Whether a derived pattern has no value only because what it needs has no match there: it then
  /// has the reason of that pattern. A failed evaluation and a silent meter have to be said.
  bool lacks_match(const workspace::Finding& finding, std::size_t position) const;
  void add_remarks(std::size_t position, RowSource& source) const;
  /// The value of a parameter, or `<parameter>_<step>`, in the row of a single iteration.
  const std::string* parameter_of(std::size_t iteration, const std::string& name) const;
  /// Says which iterations of a row have another value of a parameter than the first.
  std::optional<Remark> differing(std::size_t row, const std::string& name) const;
  Cell variable(std::size_t row, const std::string& name) const;
  space::Variables variables(std::size_t position) const;

  const space::Run& run_;
  const space::Lineage& family_;
  std::string analyser_;
  bool reduce_;
  RowValues values_;
  std::set<std::string, std::less<>> patterns_;  ///< Those that search files, by name.
  std::set<std::string, std::less<>> derived_;   ///< The others.
  space::Variables benchmark_variables_;
  /// The head of each row with its ancestors, nearest first; ascending by head.
  std::vector<std::vector<std::size_t>> heads_;
  std::vector<RowSource> sources_;  ///< Of each row.
  /// By name, each list ascending by the workpackage at which they were found.
  std::unordered_map<std::string, std::vector<const workspace::Finding*>> findings_;
  /// Names of remarks, with the workpackages that have them; empty where nothing is known of each.
  std::set<std::pair<std::string, long long>> remarked_;
  std::map<std::string, std::vector<Cell>> columns_;  ///< Those asked for so far.
};

}  // namespace bench::results
