#pragma once

#include <bench/space/run.hpp>

namespace bench::inspect {

/// What has become of the file that a run was made from.
enum class InputState {
  unchanged,
  changed,
  unknown  ///< It is gone, or not readable by this user.
};
InputState input_state(const setup::Run& run);

}  // namespace bench::inspect
