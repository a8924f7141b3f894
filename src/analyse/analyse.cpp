#include "derived.hpp"
#include "energy_file.hpp"
#include "regex_cache.hpp"
#include "statistics.hpp"
#include "subject.hpp"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include <bench/analyse/analyse.hpp>

namespace bench::analyse {
namespace {

/// What one pattern found in the files of one group.
struct Matches {
  const model::Pattern* pattern = nullptr;
  std::vector<std::string> texts;
};

using MatchesByName = std::map<std::string_view, Matches>;

}  // namespace

/// Scans the files of groups, one group after the other.
class GroupAnalyser::Scanner {
 public:
  explicit Scanner(Diagnostics* diagnostics) : diagnostics_(diagnostics) {}

  Findings scan(const Group& group) {
    regexes_.next_group();
    MatchesByName matches;
    EnergyReadings energy;
    for (const FileToScan& file : group.files)
      scan_file(file, group, matches, energy);
    for (const std::string& reason : group.unmeasured)
      energy.leave_out(reason);
    std::set<std::string, std::less<>> names;
    for (const auto& [name, found] : matches)
      names.emplace(name);
    Findings findings;
    energy.add_to(findings, names);
    for (const auto& [name, found] : matches)
      add_findings(found, findings);
    return findings;
  }

 private:
  void scan_file(const FileToScan& file, const Group& group, MatchesByName& matches,
                 EnergyReadings& energy) {
    const std::optional<Subject> subject = read_subject(file.file);
    if (file.file.filename() == energy_file_name)
      energy.add(subject);
    if (subject && subject->repaired)
      report_repaired(file.file.string());
    for (const model::Pattern* pattern : file.patterns) {
      const Regex& regex = regexes_.regex(*pattern, group);  // Also where there is no file: it may
      Matches& found = matches[pattern->name];               // be wrong.
      found.pattern = pattern;
      if (subject)
        regex.find_all(*subject, file.file.string(), found.texts);
    }
  }

  void add_findings(const Matches& found, Findings& findings) {
    const model::Pattern& pattern = *found.pattern;
    const bool numeric = pattern.type != ValueType::string;
    const Described described{pattern.name, pattern.unit, false};
    std::vector<Value> values;
    for (const std::string& text : found.texts) {
      Value value = to_value(text, pattern.type);
      if (numeric && std::holds_alternative<std::string>(value))
        report_no_number(pattern, text);
      else
        values.push_back(std::move(value));
    }
    if (!values.empty())
      add_statistics(described, values, numeric, findings);
    else if (pattern.default_value)
      add_default(described, to_value(*pattern.default_value, pattern.type), numeric, findings);
    else if (!found.texts.empty())
      add_absent(described, fmt::format("'{}' is no number", found.texts.front()), findings);
  }

  void report_repaired(const std::string& file) {
    if (repaired_.insert(file).second && diagnostics_)
      diagnostics_->warn(fmt::format("{} is not all UTF-8", file),
                         "what is not is read as the character U+FFFD", {});
  }

  void report_no_number(const model::Pattern& pattern, const std::string& text) {
    if (reported_.insert(&pattern).second && diagnostics_)
      diagnostics_->warn(
          fmt::format("pattern '{}' matched '{}', which is no number", pattern.name, text),
          "such matches are left out; make the expression narrower, for example with "
          "$jube_pat_fp, or leave the type out",
          pattern.place);
  }

  RegexCache regexes_;
  Diagnostics* diagnostics_;
  std::set<const model::Pattern*> reported_;
  std::set<std::string> repaired_;  ///< Files that were told of.
};

GroupAnalyser::GroupAnalyser(evaluate::Evaluator& evaluator, Diagnostics* diagnostics)
    : evaluator_(evaluator),
      diagnostics_(diagnostics),
      scanner_(std::make_unique<Scanner>(diagnostics)) {}
GroupAnalyser::~GroupAnalyser() = default;

std::vector<Findings> GroupAnalyser::analyse(const std::vector<Group>& groups) {
  std::vector<Findings> findings;
  findings.reserve(groups.size());
  for (const Group& group : groups)
    findings.push_back(scanner_->scan(group));
  const std::vector<DerivedFailure> failures = evaluate_derived(groups, evaluator_, findings);
  for (const DerivedFailure& failure : failures)
    if (failed_.insert(failure.pattern).second && diagnostics_)
      diagnostics_->warn(
          fmt::format("derived pattern '{}' fails: {}", failure.pattern->name, failure.error),
          "it has its default where it fails, else nan or nothing", failure.pattern->place);
  return findings;
}

}  // namespace bench::analyse
