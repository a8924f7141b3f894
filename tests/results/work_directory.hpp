#pragma once

#include "support/temp_directory.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <bench/results/analyse.hpp>

namespace bench::results {

inline evaluate::Lookup parameters(std::map<std::string, std::string, std::less<>> values) {
  return [values = std::move(values)](std::string_view name) {
    const auto found = values.find(name);
    return found == values.end() ? nullptr : &found->second;
  };
}

/// A work directory for one test, with patterns and one group over its files.
class WorkDirectory : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& content) const {
    return own_.write(name, content);
  }

  const model::Pattern* pattern(const std::string& name, const std::string& text,
                                ValueType type = ValueType::string) {
    return &editable(name, text, type);
  }

  model::Pattern& editable(const std::string& name, const std::string& text,
                           ValueType type = ValueType::string) {
    auto& made = *patterns_.emplace_back(std::make_unique<model::Pattern>());
    made.name = name;
    made.text = text;
    made.type = type;
    made.place = {"b.yaml", static_cast<int>(patterns_.size()), 1};
    return made;
  }

  model::Pattern& derived(const std::string& name, const std::string& text,
                          ValueType type = ValueType::string,
                          evaluate::Mode mode = evaluate::Mode::python) {
    model::Pattern& made = editable(name, text, type);
    made.derived = true;
    made.mode = mode;
    group_.derived.push_back(&made);
    return made;
  }

  /// Adds a file with this content and these patterns to the group.
  void scan(const std::string& content, std::vector<const model::Pattern*> patterns) {
    const std::string name = "out" + std::to_string(group_.files.size());
    group_.files.push_back({write(name, content), std::move(patterns)});
  }

  FoundValues findings(Diagnostics* diagnostics = nullptr) {
    evaluate::Evaluator evaluator;
    return GroupAnalyser(evaluator, diagnostics).analyse({group_}).at(0);
  }

  support::TempDirectory own_;
  const std::filesystem::path directory_ = own_.path();
  Group group_;

 private:
  std::vector<std::unique_ptr<model::Pattern>> patterns_;
};

/// The value as text, or why there is none.
inline std::string shown(const FoundValues& findings, const std::string& name) {
  const auto found = findings.find(name);
  if (found == findings.end())
    return "(nothing)";
  return found->second.present() ? to_text(found->second.value)
                                 : "absent: " + found->second.absent_reason;
}

}  // namespace bench::results
