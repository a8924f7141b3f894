#pragma once

#include "family.hpp"
#include "variables.hpp"

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include <bench/engine/run.hpp>
#include <bench/result/table.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::engine {

/// The rows that an analyser gives, each a workpackage with its ancestors, and the values that they
/// have for a name. A name is looked up for all rows at once, so that what it means in each step is
/// found out only once.
class Rows {
 public:
  /// What is passed must outlive this object.
  Rows(const Run& run, const Family& family, const std::string& analyser,
       const std::vector<workspace::Finding>& findings);

  std::size_t size() const { return heads_.size(); }

  /// What each row holds under `name`: what was found at its head or, where that is nothing, in an
  /// ancestor; a parameter; `<parameter>_<step>` of an ancestor; a variable of JUBE's.
  const std::vector<result::Cell>& column(const std::string& name);

  /// Why a row has no value where its siblings have one: its workpackages failed, or have not
  /// ended. Empty where neither is so.
  std::string absence(std::size_t row) const;

 private:
  struct ParameterOfStep;
  class NameInSteps;
  class FoundOfName;

  void find_heads();
  std::size_t standing_for(std::size_t position) const {
    return reduce_ ? family_.representative(position) : position;
  }
  result::Cell cell(std::size_t row, const std::string& name, FoundOfName& found,
                    NameInSteps& meaning) const;
  result::Cell variable(std::size_t row, const std::string& name) const;
  Variables variables(std::size_t position) const;

  const Run& run_;
  const Family& family_;
  std::string analyser_;
  bool reduce_;
  Variables benchmark_variables_;
  /// The head of each row with its ancestors, nearest first; ascending by head.
  std::vector<std::vector<std::size_t>> heads_;
  /// By name, each list ascending by the workpackage at which they were found.
  std::unordered_map<std::string, std::vector<const workspace::Finding*>> findings_;
  std::map<std::string, std::vector<result::Cell>> columns_;  ///< Those asked for so far.
};

}  // namespace bench::engine
