#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bench/base/outcome.hpp>

namespace bench {
namespace {

constexpr std::array<std::pair<Outcome, std::string_view>, 12> outcome_names{
    {{Outcome::done, "done"},
     {Outcome::failed, "failed"},
     {Outcome::timeout, "timeout"},
     {Outcome::node_fail, "node_fail"},
     {Outcome::boot_fail, "boot_fail"},
     {Outcome::preempted, "preempted"},
     {Outcome::out_of_memory, "out_of_memory"},
     {Outcome::cancelled, "cancelled"},
     {Outcome::deadline, "deadline"},
     {Outcome::launch_failure, "launch_failure"},
     {Outcome::lost, "lost"},
     {Outcome::interrupted, "interrupted"}}};

}  // namespace

std::string_view name_of(Outcome outcome) {
  for (const auto& [known, name] : outcome_names)
    if (known == outcome)
      return name;
  return "";
}

std::optional<Outcome> outcome_of(std::string_view word) {
  for (const auto& [outcome, name] : outcome_names)
    if (name == word)
      return outcome;
  return std::nullopt;
}

std::vector<std::string> retryable_outcomes() {
  std::vector<std::string> words;
  for (const auto& [outcome, name] : outcome_names)
    if (outcome != Outcome::done && outcome != Outcome::interrupted)
      words.emplace_back(name);
  return words;
}

}  // namespace bench
