#pragma once

// For a library that LD_PRELOAD puts in front of a program: it concerns that one, not what the
// program starts.

#include <cstdlib>

namespace {

[[gnu::constructor]] void leave_children_alone() {
  ::unsetenv("LD_PRELOAD");
}

}  // namespace
