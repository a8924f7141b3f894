#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace bench::steps {

/// An error that the caller can do something about.
class HintedError : public std::runtime_error {
 public:
  /// @param message what is wrong, without a final full stop or newline
  /// @param hint what the caller can do about it
  HintedError(const std::string& message, std::string hint)
      : std::runtime_error(message), hint_(std::move(hint)) {}

  const std::string& hint() const { return hint_; }

 private:
  std::string hint_;
};

/// The caller asked for something that does not exist or cannot work here.
class UsageError : public HintedError {
 public:
  using HintedError::HintedError;
};

/// There is less memory than the run is known to need. `run_program` tells it as `result=oom`.
class OutOfMemory : public HintedError {
 public:
  using HintedError::HintedError;
};

}  // namespace bench::steps
