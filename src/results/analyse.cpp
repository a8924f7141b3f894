#include "derived.hpp"
#include "energy_file.hpp"
#include "regex.hpp"
#include "statistics.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/evaluate/substitute.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/numbers/statistics.hpp>
#include <bench/results/analyse.hpp>
#include <bench/results/group.hpp>

namespace bench::results {
namespace {

using Patterns = std::vector<const model::Pattern*>;

constexpr std::size_t most_kept = 1000;  // Some 10 kB each.

bool has_names_to_look_up(const std::string& text) {
  const auto names = evaluate::names_in(text);
  return std::any_of(names.begin(), names.end(),
                     [](const std::string& name) { return !model::predefined_pattern(name); });
}

/// Makes one expression. A pattern inside a pattern may hold others.
class Expression {
 public:
  Expression(const Patterns& others, const Group& group) : others_(others), group_(group) {}

  std::string text_of(const model::Pattern& pattern) {
    open_.push_back(&pattern);
    std::set<std::string, std::less<>> unknown;
    std::string expression =
        evaluate::substitute(pattern.text, [&](std::string_view name) -> const std::string* {
          const std::string* value = value_of(name);
          if (!value)
            unknown.emplace(name);
          return value;
        });
    open_.pop_back();
    // Some were only on their way to a name: `p` of `$p$n`.
    for (std::string& name : evaluate::names_in(expression))
      if (unknown.contains(name))
        unknown_.push_back(std::move(name));
    return expression;
  }

  /// Names that stay as they are.
  const std::vector<std::string>& unknown() const { return unknown_; }

 private:
  const std::string* value_of(std::string_view name) {
    if (const std::string* predefined = model::predefined_pattern(name))
      return predefined;
    if (const std::string* parameter = group_.parameter(name))
      return parameter;
    for (const model::Pattern* other : others_)
      if (other->name == name && std::ranges::find(open_, other) == open_.end())
        return &texts_.insert_or_assign(other->name, text_of(*other)).first->second;
    return nullptr;
  }

  const Patterns& others_;
  const Group& group_;
  Patterns open_;  ///< Those that are being made: one inside itself stays a name.
  std::map<std::string, std::string> texts_;
  std::vector<std::string> unknown_;
};

/// The regular expressions of patterns, each compiled once however many groups use it.
class RegexCache {
 public:
  /// @param diagnostics told, once per pattern, of a name that nothing has; may be null
  explicit RegexCache(Diagnostics* diagnostics) : diagnostics_(diagnostics) {}

  /// Of `pattern` with the predefined patterns, the group's parameters and the texts of the
  /// `others` substituted. The reference holds until `next_group`.
  /// @throws Error with the pattern's place if it does not compile
  const Regex& regex(const model::Pattern& pattern, const Patterns& others, const Group& group) {
    if (const auto known = fixed_.find(&pattern); known != fixed_.end())
      return known->second;
    std::string text = expression(pattern, others, group);
    if (!has_names_to_look_up(pattern.text))
      return fixed_.emplace(&pattern, Regex(pattern, text)).first->second;
    Substituted key{&pattern, std::move(text)};
    auto known = substituted_.find(key);
    if (known == substituted_.end()) {
      Regex compiled(pattern, key.second);
      known = substituted_.emplace(std::move(key), std::move(compiled)).first;
    }
    return known->second;
  }

  /// Forgets what was compiled for the parameters of earlier groups, once that is much.
  void next_group() {
    if (substituted_.size() > most_kept)
      substituted_.clear();
  }

 private:
  std::string expression(const model::Pattern& pattern, const Patterns& others,
                         const Group& group) {
    Expression expression(others, group);
    std::string text = expression.text_of(pattern);
    if (!expression.unknown().empty() && diagnostics_ && told_.insert(&pattern).second)
      diagnostics_->warn(
          Id::unknown_name,
          fmt::format("pattern '{}' contains '${}', which is neither a parameter nor a pattern",
                      pattern.name, expression.unknown().front()),
          "it stays as written; write `$$` for a dollar sign", pattern.place);
    return text;
  }

  using Substituted = std::pair<const model::Pattern*, std::string>;

  Diagnostics* diagnostics_;
  std::map<const model::Pattern*, Regex> fixed_;  ///< Of patterns without names to look up.
  std::map<Substituted, Regex> substituted_;
  std::set<const model::Pattern*> told_;  ///< Those of which an unknown name was told.
};

/// What one pattern found in the files of one group.
struct Matches {
  const model::Pattern* pattern = nullptr;
  std::vector<std::string> texts;
  std::set<std::string> searched;  ///< Names of the files that were there.
  std::set<std::string> missing;
};

std::string listed(const std::set<std::string>& names) {
  return join(std::vector<std::string>(names.begin(), names.end()), ", ");
}

/// `no match in stdout, no file err.log`
std::string reason_of_nothing(const Matches& found) {
  std::vector<std::string> reasons;
  if (!found.searched.empty())
    reasons.push_back("no match in " + listed(found.searched));
  if (!found.missing.empty())
    reasons.push_back("no file " + listed(found.missing));
  return join(reasons, ", ");
}

using MatchesByName = std::map<std::string_view, Matches>;

/// Expressions that find more than that of a pattern, and what a match of theirs says.
struct Variant {
  std::string text;
  const char* difference;
};

/// Lets the width of blanks differ, also around `=` and `:`, but for those of `(?:` and the like.
std::string with_any_blanks(const std::string& text) {
  std::string any;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t next = std::min(text.find_first_not_of(" \t", at), text.size());
    const bool is_sign =
        next < text.size() && (text[next] == '=' || text[next] == ':') &&
        (next == 0 || std::string_view("?<\\").find(text[next - 1]) == std::string_view::npos);
    if (is_sign) {
      any += std::string("\\s*") + text[next] + "\\s*";
      at = std::min(text.find_first_not_of(" \t", next + 1), text.size());
    } else if (next > at) {
      any += "\\s+";
      at = next;
    } else {
      any += text[at++];
    }
  }
  return any;
}

/// From those that differ least on.
std::vector<Variant> variants_of(const model::Pattern& pattern) {
  const auto with_any_number = [](const std::string& text) {
    return replace_all(replace_all(text, "$jube_pat_int", "$jube_pat_fp"), "$jube_pat_nint",
                       "$jube_pat_nfp");
  };
  // The first group is the whole match.
  const std::string text = "(" + pattern.text + ")";
  return {{"(?i)" + text, "its case differs"},
          {with_any_blanks(text), "its blanks differ"},
          {with_any_number(text), "it is no integer"},
          {"(?i)" + with_any_blanks(with_any_number(text)),
           "its case, its blanks or its kind of number differ"}};
}

}  // namespace

void check_expression(const model::Pattern& pattern) {
  if (!pattern.derived && !has_names_to_look_up(pattern.text))
    Regex(pattern, Expression({}, {}).text_of(pattern));
}

/// Scans the files of groups, one group after the other.
class GroupAnalyser::Scanner {
 public:
  explicit Scanner(Diagnostics* diagnostics) : diagnostics_(diagnostics), regexes_(diagnostics) {}

  FoundValues scan(const Group& group) {
    EnergyReadings energy;
    const MatchesByName matches = matches_of(group, energy);
    for (const std::string& reason : group.unmeasured)
      energy.leave_out(reason);
    std::set<std::string, std::less<>> names;
    for (const auto& [name, found] : matches)
      names.emplace(name);
    FoundValues findings;
    energy.add_to(findings, names, group.is_looked_up);
    for (const auto& [name, found] : matches)
      add_findings(found, group.is_looked_up, findings);
    return findings;
  }

  std::vector<Miss> misses(const Group& group) {
    EnergyReadings energy;
    std::vector<Miss> all;
    for (const auto& [name, found] : matches_of(group, energy)) {
      if (!found.texts.empty() || found.pattern->default_value)
        continue;
      Miss miss{.pattern = found.pattern, .reason = reason_of_nothing(found), .searched = {}};
      for (const FileToScan& file : group.files)
        if (std::ranges::find(file.patterns, found.pattern) != file.patterns.end())
          look_closer(file, group, miss);
      all.push_back(std::move(miss));
    }
    return all;
  }

  std::map<std::string, std::vector<double>, std::less<>> series(const Group& group) {
    EnergyReadings energy;
    std::map<std::string, std::vector<double>, std::less<>> series;
    for (const auto& [name, found] : matches_of(group, energy)) {
      const bool numeric = found.pattern->type != ValueType::string;
      std::vector<double> numbers;
      for (const std::string& text : found.texts)
        if (const auto value =
                numeric ? value_of(text, *found.pattern) : std::optional<Value>(text);
            const auto number = value ? numbers::number_of(*value) : std::nullopt)
          numbers.push_back(*number);
      if (numbers.size() > 1 && (numeric || numbers.size() == found.texts.size()))
        series.emplace(name, std::move(numbers));
    }
    return series;
  }

 private:
  MatchesByName matches_of(const Group& group, EnergyReadings& energy) {
    regexes_.next_group();
    MatchesByName matches;
    for (const FileToScan& file : group.files)
      scan_file(file, group, matches, energy);
    return matches;
  }

  /// Looks in one file for what a pattern nearly matches.
  static void look_closer(const FileToScan& file, const Group& group, Miss& miss) {
    const std::optional<Subject> subject = read_subject(file.file);
    if (!subject)
      return;
    miss.searched.push_back(file.file);
    if (!miss.near_match.empty())
      return;
    for (const Variant& variant : variants_of(*miss.pattern)) {
      model::Pattern pattern = *miss.pattern;
      pattern.text = variant.text;
      std::vector<std::string> texts;
      try {
        RegexCache(nullptr)
            .regex(pattern, file.patterns, group)
            .find_all(*subject, file.file.string(), texts);
      } catch (const Error&) {
        continue;  // not every expression can be changed like that
      }
      if (texts.empty())
        continue;
      miss.near_match = texts.front();
      miss.difference = variant.difference;
      return;
    }
  }

  void scan_file(const FileToScan& file, const Group& group, MatchesByName& matches,
                 EnergyReadings& energy) {
    const std::optional<Subject> subject = read_subject(file.file);
    if (file.file.filename() == energy_file_name)
      energy.add(subject);
    if (subject && subject->repaired)
      report_repaired(file.file.string());
    const std::string name = file.name.empty() ? file.file.filename().string() : file.name;
    for (const model::Pattern* pattern : file.patterns) {
      // Also where there is no file: the expression may be wrong.
      const Regex& regex = regexes_.regex(*pattern, file.patterns, group);
      Matches& found = matches[pattern->name];
      found.pattern = pattern;
      (subject ? found.searched : found.missing).insert(name);
      if (subject)
        regex.find_all(*subject, file.file.string(), found.texts);
    }
  }

  void add_findings(const Matches& found, const LookedUp& is_looked_up, FoundValues& findings) {
    const model::Pattern& pattern = *found.pattern;
    const bool numeric = pattern.type != ValueType::string;
    const Described described{pattern.name, pattern.unit, false, is_looked_up};
    std::vector<Value> values;
    for (const std::string& text : found.texts)
      if (auto value = value_of(text, pattern))
        values.push_back(std::move(*value));
    if (!values.empty())
      add_statistics(described, values, numeric, findings);
    else if (pattern.default_value)
      add_default(described, to_value(*pattern.default_value, pattern.type), numeric, findings);
    else if (!found.texts.empty())
      add_absent(described, fmt::format("'{}' is not a number", found.texts.front()), findings);
    else
      findings[pattern.name] =
          FoundValue{.unit = pattern.unit, .absent_reason = reason_of_nothing(found)};
  }

  /// Nothing where the pattern wants a number and the text is none.
  std::optional<Value> value_of(const std::string& text, const model::Pattern& pattern) {
    Value value = to_value(text, pattern.type);
    if (pattern.type == ValueType::string)
      return value;
    if (pattern.type == ValueType::integer && !parse_integer(text))
      if (const auto integer = read_integer(text)) {
        if (!integer->is_whole)
          report_fraction(pattern, text, value);
        return value;
      }
    if (std::holds_alternative<std::string>(value)) {
      report_no_number(pattern, text);
      return std::nullopt;
    }
    return value;
  }

  void report_repaired(const std::string& file) {
    if (repaired_.insert(file).second && diagnostics_)
      diagnostics_->warn(Id::unusable_file, fmt::format("{} is not valid UTF-8", file),
                         "invalid bytes are read as the character U+FFFD", {});
  }

  void report_no_number(const model::Pattern& pattern, const std::string& text) {
    if (reported_.insert(&pattern).second && diagnostics_)
      diagnostics_->warn(
          Id::surprising_value,
          fmt::format("pattern '{}' matched '{}', which is not a number", pattern.name, text),
          "such matches are ignored; make the expression narrower, for example with $jube_pat_fp, "
          "or remove the type",
          pattern.place);
  }

  void report_fraction(const model::Pattern& pattern, const std::string& text, const Value& value) {
    if (cut_.insert(&pattern).second && diagnostics_)
      diagnostics_->warn(
          Id::surprising_value,
          fmt::format("pattern '{}' has type int and matched '{}', which counts as {}",
                      pattern.name, text, to_text(value)),
          "use type float, or a narrower expression", pattern.place);
  }

  Diagnostics* diagnostics_;
  RegexCache regexes_;
  std::set<const model::Pattern*> reported_;
  std::set<const model::Pattern*> cut_;  ///< Those of which a match with a fraction was told.
  std::set<std::string> repaired_;       ///< Files that were told of.
};

GroupAnalyser::GroupAnalyser(evaluate::Evaluator& evaluator, Diagnostics* diagnostics)
    : evaluator_(evaluator),
      diagnostics_(diagnostics),
      scanner_(std::make_unique<Scanner>(diagnostics)) {}
GroupAnalyser::~GroupAnalyser() = default;

std::vector<FoundValues> GroupAnalyser::analyse(const std::vector<Group>& groups) {
  std::vector<FoundValues> findings;
  findings.reserve(groups.size());
  for (const Group& group : groups)
    findings.push_back(scanner_->scan(group));
  const std::vector<DerivedFailure> failures = evaluate_derived(groups, evaluator_, findings);
  for (const DerivedFailure& failure : failures)
    if (failed_.insert(failure.pattern).second && diagnostics_)
      diagnostics_->warn(Id::invalid_expression,
                         fmt::format("cannot evaluate derived pattern '{}': {}",
                                     failure.pattern->name, failure.error),
                         "its default is used, or it has no value", failure.pattern->place);
  return findings;
}

std::map<std::string, std::vector<double>, std::less<>> GroupAnalyser::series(const Group& group) {
  return scanner_->series(group);
}

std::vector<Miss> GroupAnalyser::misses(const Group& group) {
  return scanner_->misses(group);
}

}  // namespace bench::results
