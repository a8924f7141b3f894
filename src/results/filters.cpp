#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <bench/base/hash.hpp>
#include <bench/base/text.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/results/filters.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::results {

Filters::Filters(const workspace::Workspace& workspace, Trust trust) : trust_(trust) {
  const auto facts = workspace.facts();
  const auto kept = facts.find("filters");
  if (kept == facts.end())
    return;
  for (const std::string& line : split_names(kept->second, "\n")) {
    const auto blank = line.find(' ');
    const std::string word = blank == std::string::npos ? "" : line.substr(blank + 1);
    evaluate::Outcome& outcome = known_[line.substr(0, blank)];
    outcome.ok = word == "True" || word == "False";
    (outcome.ok ? outcome.value : outcome.error) = word;
  }
}

std::vector<std::optional<evaluate::Outcome>> Filters::outcomes(
    std::span<const std::string> texts) {
  std::vector<std::string> keys;
  std::map<std::string, std::string> unknown;
  for (const std::string& text : texts)
    if (!known_.contains(keys.emplace_back(sha256(text))))
      unknown[keys.back()] = text;
  if (trust_ == Trust::own && !unknown.empty()) {
    std::vector<std::string> asked;
    for (const auto& [key, text] : unknown)
      asked.push_back(text);
    evaluate::Evaluator evaluator;
    auto answers = evaluator.evaluate_truth(asked);
    auto answer = answers.begin();
    for (const auto& [key, text] : unknown)
      known_[key] = std::move(*answer++);
  }
  std::vector<std::optional<evaluate::Outcome>> outcomes;
  for (const std::string& key : keys) {
    const auto known = known_.find(key);
    outcomes.push_back(known == known_.end() ? std::nullopt : std::optional(known->second));
  }
  return outcomes;
}

std::string Filters::kept() const {
  std::string lines;
  for (const auto& [key, outcome] : known_)
    lines += key + " " + (outcome.ok ? outcome.value : one_line(outcome.error)) + "\n";
  return lines;
}

}  // namespace bench::results
