#pragma once

#include <functional>
#include <string>

namespace bench::machine {

/// Sets the function that is called when a program of a batch system has not answered for 2 s. The
/// call comes from another thread, while the caller of the program waits.
void tell_slow_answers(std::function<void(const std::string& program)> tell);

/// How long a program of a batch system may take for an answer, from now on in this process; 60 s
/// unless this says otherwise.
void limit_answers(double seconds);

}  // namespace bench::machine
