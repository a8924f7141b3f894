#pragma once

#include <functional>
#include <vector>

#include <bench/base/error.hpp>

namespace bench {

/// The errors of things that are done one after the other, none of which prevents the next.
class Failures {
 public:
  void attempt(const std::function<void()>& action);

  /// In order, each once.
  const std::vector<Error>& errors() const { return errors_; }
  bool empty() const { return errors_.empty(); }

 private:
  std::vector<Error> errors_;
};

/// @param failures null: an error is thrown
void attempt(Failures* failures, const std::function<void()>& action);

}  // namespace bench
