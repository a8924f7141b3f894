#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <bench/base/value.hpp>
#include <bench/results/table.hpp>
#include <bench/results/tidy.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::tabulate {

/// The columns of a tidy table while they are found out. A column is the same in all runs that have
/// its kind, name, unit and rank.
class TidyColumns {
 public:
  /// The number of a column, which is added if there is none.
  std::size_t add(TidyColumn kind, const std::string& name, const std::string& unit = "",
                  std::size_t rank = 0);

  /// Makes every name unique: those that `TidyColumn::origin` and `end` have stay, and of the
  /// others the first.
  TidyTable empty_table() const;
  /// Of each column by its number, where it is in the table: by kind, then as they were added.
  std::vector<std::size_t> places() const;

 private:
  std::map<std::tuple<TidyColumn, std::string, std::string, std::size_t>, std::size_t> numbers_;
  std::vector<std::pair<TidyColumn, result::Heading>> columns_;
};

/// The columns of the parameters of one run, and the types of their values.
class TidyParameters {
 public:
  TidyParameters(const setup::Run& run, TidyColumns& columns) : run_(run), columns_(columns) {}

  struct Known {
    std::string name;
    std::size_t column = 0;
    ValueType type = ValueType::string;
  };

  /// The parameter of a workpackage that is `position`th among its parameters.
  const Known& at(const workspace::Workpackage& workpackage, std::size_t position);

 private:
  Known known(const std::string& step, const std::string& name);

  const setup::Run& run_;
  TidyColumns& columns_;
  /// By step, in the order that its workpackages mostly have them in.
  std::map<std::string, std::vector<Known>> steps_;
};

/// Whether a text and the number that it is read as say the same: `8`, `0.5`, `1e-3`, but neither
/// `1.10`, which may be a version, nor `007`.
bool says_a_number(const std::string& text);

}  // namespace bench::tabulate
