#pragma once

#include <functional>
#include <string>

namespace bench::serve {

/// Runs `action`. One run that cannot be read is no reason to show nothing of the others.
/// @returns why it failed, in one line with the hint; empty: it did not
std::string reason_of_failure(const std::function<void()>& action);

}  // namespace bench::serve
