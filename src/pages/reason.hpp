#pragma once

#include <functional>
#include <string>

namespace bench::serve {

/// Runs `action` and catches its Error, so that one unreadable run does not hide the others.
/// @returns the error and its hint in one line; empty on success
std::string reason_of_failure(const std::function<void()>& action);

}  // namespace bench::serve
