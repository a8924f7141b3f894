#include "derived.hpp"

#include "energy_file.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/evaluate/substitute.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/numbers/statistics.hpp>
#include <bench/results/group.hpp>

namespace bench::results {
namespace {

using DerivedLevels = std::vector<std::vector<const model::Pattern*>>;

/// Whether a `${` has another `$` before its brace closes.
bool has_built_name(const std::string& text) {
  for (auto at = text.find("${"); at != std::string::npos; at = text.find("${", at + 2))
    if (const auto next = text.find_first_of("$}", at + 2);
        next != std::string::npos && text[next] == '$')
      return true;
  return false;
}

class Sorter {
 public:
  explicit Sorter(const std::vector<const model::Pattern*>& patterns) {
    for (const model::Pattern* pattern : patterns) {
      if (places_.contains(pattern->name))
        continue;
      Node& node = nodes_.emplace_back();
      node.pattern = pattern;
      if (has_built_name(pattern->text))
        for (const auto& [name, place] : places_)
          node.needs.push_back(place);
      places_.emplace(pattern->name, nodes_.size() - 1);
    }
    for (Node& node : nodes_)
      for (const std::string& name : evaluate::names_in(node.pattern->text))
        if (const auto needed = places_.find(name); needed != places_.end())
          node.needs.push_back(needed->second);
  }

  DerivedLevels levels() {
    DerivedLevels levels;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const std::size_t level = level_of(i);
      levels.resize(std::max(levels.size(), level + 1));
      levels[level].push_back(nodes_[i].pattern);
    }
    return levels;
  }

 private:
  enum class State { unknown, open, known };
  struct Node {
    const model::Pattern* pattern = nullptr;
    std::vector<std::size_t> needs;
    State state = State::unknown;
    std::size_t level = 0;
  };

  std::size_t level_of(std::size_t index) {
    Node& node = nodes_[index];
    path_.push_back(node.pattern->name);
    if (node.state == State::open)
      fail(*node.pattern);
    if (node.state == State::unknown) {
      node.state = State::open;
      for (const std::size_t needed : node.needs)
        node.level = std::max(node.level, level_of(needed) + 1);
      node.state = State::known;
    }
    path_.pop_back();
    return node.level;
  }

  [[noreturn]] void fail(const model::Pattern& pattern) {
    path_.erase(path_.begin(), std::find(path_.begin(), path_.end(), pattern.name));
    throw Error(Id::circular_reference,
                fmt::format("circular dependency of derived patterns: {}", join(path_, " -> ")),
                "a derived pattern can use only patterns that are computed before it",
                pattern.place);
  }

  std::vector<Node> nodes_;
  std::map<std::string, std::size_t> places_;
  std::vector<std::string> path_;
};

/// The patterns in levels: each needs only those of earlier levels. One name counts once. A name
/// that is put together from values (`${p$n}`) may be any derived pattern before it.
/// @throws Error with a place if patterns need each other
DerivedLevels levels_of(const std::vector<const model::Pattern*>& patterns) {
  return Sorter(patterns).levels();
}

/// Whether `name` is a pattern of the group or a statistic of one.
bool is_pattern_name(const Group& group, std::string_view name) {
  const std::string_view base = numbers::without_suffix(name);
  if (std::ranges::find(group.derived, name, &model::Pattern::name) != group.derived.end())
    return true;
  return std::any_of(group.files.begin(), group.files.end(), [&](const FileToScan& file) {
    return std::any_of(file.patterns.begin(), file.patterns.end(), [&](const auto* pattern) {
      return pattern->name == name || pattern->name == base;
    });
  });
}

/// Of a pattern that cannot be evaluated.
FoundValue fallback_of(const model::Pattern& pattern, const std::string& reason) {
  if (pattern.default_value)
    return {.value = to_value(*pattern.default_value, pattern.type), .unit = pattern.unit};
  return {.unit = pattern.unit, .absent_reason = reason};
}

/// A derived pattern's text in one group, with all values in place.
class Substitution {
 public:
  Substitution(const std::string& text, const Group& group, const FoundValues& findings)
      : group_(group), findings_(findings) {
    text_ = evaluate::substitute(text, [this](std::string_view name) { return look_up(name); });
  }

  const std::string& text() const { return text_; }
  /// Why a value that the text needs is absent, or empty.
  const std::string& absent_reason() const { return absent_reason_; }
  /// Why a pattern that the text needs matched nowhere, so that there is nothing to evaluate; or
  /// empty.
  const std::string& no_match_reason() const { return no_match_reason_; }
  bool estimated() const { return estimated_; }

 private:
  const std::string* look_up(std::string_view name) {
    if (const std::string* parameter = group_.parameter(name))
      return parameter;
    const auto found = findings_.find(name);
    if (found == findings_.end() || !found->second.present()) {
      note_absence(name);
      return nullptr;
    }
    const FoundValue& finding = found->second;
    estimated_ = estimated_ || finding.estimated;
    return &values_.try_emplace(std::string(name), to_text(finding.value)).first->second;
  }

  void note_absence(std::string_view name) {
    const auto reason_at = [&](std::string_view key) {
      const auto found = findings_.find(key);
      return found == findings_.end() ? "" : found->second.absent_reason;
    };
    if (is_pattern_name(group_, name)) {
      set_if_empty(no_match_reason_, reason_at(name));
      set_if_empty(no_match_reason_, reason_at(numbers::without_suffix(name)));
      set_if_empty(no_match_reason_, fmt::format("'{}' is not defined", name));
    } else {
      set_if_empty(absent_reason_, reason_at(name));
      set_if_empty(absent_reason_, absence_of_region(name, findings_));
    }
  }

  static void set_if_empty(std::string& reason, const std::string& other) {
    if (reason.empty())
      reason = other;
  }

  const Group& group_;
  const FoundValues& findings_;
  std::map<std::string, std::string, std::less<>> values_;
  std::string text_;
  std::string absent_reason_;
  std::string no_match_reason_;
  bool estimated_ = false;
};

/// The derived patterns of one level over all groups, as one batch.
class Batch {
 public:
  explicit Batch(std::vector<FoundValues>& findings) : findings_(findings) {}

  void add(const model::Pattern& pattern, const Group& group, std::size_t index) {
    const Substitution needed(pattern.text, group, findings_[index]);
    if (!needed.absent_reason().empty()) {
      set(index, pattern, FoundValue{"", pattern.unit, false, needed.absent_reason()});
    } else if (!needed.no_match_reason().empty()) {
      set(index, pattern, fallback_of(pattern, needed.no_match_reason()));
    } else {
      requests_.push_back({pattern.mode, needed.text()});
      waiting_.push_back({index, &pattern, needed.estimated()});
    }
  }

  void evaluate(evaluate::Evaluator& evaluator, std::vector<DerivedFailure>& failures) {
    if (requests_.empty())
      return;
    const std::vector<evaluate::Outcome> outcomes = evaluator.evaluate(requests_);
    for (std::size_t i = 0; i < outcomes.size(); ++i)
      take_in(waiting_[i], outcomes[i], failures);
  }

 private:
  struct Waiting {
    std::size_t group;
    const model::Pattern* pattern;
    bool estimated;
  };

  void take_in(const Waiting& waiting, const evaluate::Outcome& outcome,
               std::vector<DerivedFailure>& failures) {
    const model::Pattern& pattern = *waiting.pattern;
    if (outcome.ok) {
      set(waiting.group, pattern,
          FoundValue{to_value(outcome.value, pattern.type), pattern.unit, waiting.estimated, ""});
      return;
    }
    failures.push_back({&pattern, outcome.error});
    set(waiting.group, pattern, fallback_of(pattern, "evaluation failed: " + outcome.error));
  }

  void set(std::size_t group, const model::Pattern& pattern, FoundValue finding) {
    findings_[group].insert_or_assign(pattern.name, std::move(finding));
  }

  std::vector<FoundValues>& findings_;
  std::vector<evaluate::Request> requests_;
  std::vector<Waiting> waiting_;
};

}  // namespace

std::vector<DerivedFailure> evaluate_derived(const std::vector<Group>& groups,
                                             evaluate::Evaluator& evaluator,
                                             std::vector<FoundValues>& findings) {
  std::vector<DerivedFailure> failures;
  std::map<std::vector<const model::Pattern*>, DerivedLevels>
      levels;  // Groups mostly share one list.
  std::size_t depth = 0;
  for (const Group& group : groups)
    if (!levels.contains(group.derived))
      depth = std::max(
          depth, levels.emplace(group.derived, levels_of(group.derived)).first->second.size());
  for (std::size_t level = 0; level < depth; ++level) {
    Batch batch(findings);
    for (std::size_t i = 0; i < groups.size(); ++i)
      if (const DerivedLevels& own = levels.at(groups[i].derived); level < own.size())
        for (const model::Pattern* pattern : own[level])
          batch.add(*pattern, groups[i], i);
    batch.evaluate(evaluator, failures);
  }
  return failures;
}

}  // namespace bench::results
