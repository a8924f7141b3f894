#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <bench/evaluate/evaluator.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::results {

/// Whether what a run says may be executed: only what its reader has made.
enum class Trust { own, foreign };

/// What the filters of results come to, with the values of a row in place. They are Python, so they
/// are evaluated when a run is analysed, and kept with it: to show a result executes nothing.
class Filters {
 public:
  explicit Filters(Trust trust) : trust_(trust) {}

  /// With what an earlier analysis has kept.
  Filters(const workspace::Workspace& workspace, Trust trust);

  /// One per text, in order; nothing where it is not known and may not be evaluated.
  std::vector<std::optional<evaluate::Outcome>> outcomes(std::span<const std::string> texts);

  /// For `workspace`: a line of the SHA-256 of a text and of what it came to.
  std::string kept() const;

 private:
  Trust trust_;
  std::map<std::string, evaluate::Outcome> known_;  ///< By the SHA-256 of the text.
};

}  // namespace bench::results
