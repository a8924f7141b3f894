#include <algorithm>
#include <functional>

#include <bench/base/error.hpp>
#include <bench/base/failures.hpp>

namespace bench {

void Failures::attempt(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    const bool is_known = std::ranges::any_of(errors_, [&](const Error& known) {
      return known.message() == error.message() && known.place() == error.place();
    });
    if (!is_known)
      errors_.push_back(error);
  }
}

void attempt(Failures* failures, const std::function<void()>& action) {
  if (failures)
    failures->attempt(action);
  else
    action();
}

}  // namespace bench
