#pragma once

#include <functional>
#include <string>

namespace bench::batch {

/// Who is told that a program of a batch system has not answered for 2 s; at first nobody. Called
/// from another thread, while the one that waits for the answer does nothing else.
void tell_slow_answers(std::function<void(const std::string& program)> tell);

}  // namespace bench::batch
