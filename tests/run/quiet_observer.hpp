#pragma once

#include <string>
#include <vector>

#include <bench/run/observer.hpp>

namespace bench::run {

/// Keeps the notices.
class QuietObserver : public Observer {
 public:
  void progress(const std::vector<workspace::StepCounts>&) override {}
  void failed(const workspace::Workpackage&) override {}
  void repeated(const workspace::Workpackage&, const std::string&) override {}
  void notice(const std::string& message) override { notices.push_back(message); }
  void warn(const Warning&) override {}

  std::vector<std::string> notices;
};

}  // namespace bench::run
