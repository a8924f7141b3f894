#include "reason.hpp"

#include <functional>
#include <string>

#include <bench/base/error.hpp>

namespace bench::serve {

std::string reason_of_failure(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.hint().empty() ? error.message() : error.message() + "; " + error.hint();
  }
  return "";
}

}  // namespace bench::serve
