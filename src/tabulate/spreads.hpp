#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <bench/result/table.hpp>
#include <bench/workflow/lineage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::tabulate {

/// What the iterations found that are one row.
class Spreads {
 public:
  /// @param each what was found at each iteration; null: not known. Must outlive this object, as
  ///        the family must.
  Spreads(const workflow::Lineage& family, const std::vector<workspace::Finding>* each);

  /// The spread of a name over the iterations that are done. Null for a statistic, where fewer than
  /// two of them have a value, one has several, or all have the same.
  /// @param representative of the iterations
  std::shared_ptr<const result::Spread> of(const std::string& name,
                                           std::size_t representative) const;

  /// Says of which iterations, though they are done, nothing was found under a name or what it is a
  /// statistic of. None if that is so of all, or of none.
  std::optional<result::Remark> lacking(const std::string& name, std::size_t representative) const;

  /// Says which iterations have several values under a name where others have one, which is why
  /// there is no median. None for a statistic, and for texts.
  std::optional<result::Remark> several(const std::string& name, std::size_t representative) const;

 private:
  const workspace::Finding* at(const std::string& name, long long workpackage) const;

  const workflow::Lineage& family_;
  /// By name, each list ascending by workpackage.
  std::unordered_map<std::string, std::vector<const workspace::Finding*>> found_;
};

}  // namespace bench::tabulate
