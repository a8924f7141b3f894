#pragma once

#include <bench/engine/run.hpp>

namespace bench::engine {

/// What has become of the file that a run was made from.
enum class InputState {
  unchanged,
  changed,
  unknown  ///< It is gone, or not readable by this user.
};
InputState input_state(const Run& run);

}  // namespace bench::engine
