#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include <bench/engine/run.hpp>
#include <bench/result/table.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::engine {

/// The rows that an analyser gives, each a workpackage with its ancestors, and the value that a row
/// has for a name.
class Rows {
 public:
  Rows(const Run& run, const std::vector<workspace::Workpackage>& all, const std::string& analyser,
       const std::vector<workspace::Finding>& findings);

  /// The heads of the rows, ascending: analysed workpackages that no other analysed one descends
  /// from.
  const std::vector<long long>& heads() const { return heads_; }

  /// What the row of `head` holds under `name`: what was found there or, where that is nothing, in
  /// an ancestor; a parameter; `<parameter>_<step>` of an ancestor; a variable of JUBE's.
  result::Cell cell(long long head, const std::string& name) const;

  /// Why a row has no value where its siblings have one: its workpackages failed, or have not
  /// ended. Empty where neither is so.
  std::string absence(long long head) const;

 private:
  const workspace::Workpackage& at(long long id) const {
    return all_[static_cast<std::size_t>(id)];
  }
  void find_heads(bool reduce);
  /// The head and all its ancestors, nearest first.
  std::vector<long long> chain(long long head) const;
  const workspace::Finding* finding(long long id, const std::string& name) const;
  result::Cell parameter(long long head, const std::string& name) const;
  result::Cell variable(long long head, const std::string& name) const;
  std::string status(long long id) const;

  const Run& run_;
  const std::vector<workspace::Workpackage>& all_;
  std::string analyser_;
  bool reduce_;
  std::set<std::string> analysed_steps_;
  std::vector<long long> heads_;
  std::map<long long, std::map<std::string, workspace::Finding>> findings_;
  /// The workpackages of each combination, ascending.
  std::map<long long, std::vector<long long>> siblings_;
};

}  // namespace bench::engine
