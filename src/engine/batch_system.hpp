#pragma once

#include <memory>

#include <bench/platform/platform.hpp>
#include <bench/schedule/batch.hpp>

namespace bench::engine {

/// The batch system of a platform; one that is never asked where it has none.
/// @throws Error for a table of commands that does not fit together
std::unique_ptr<schedule::BatchSystem> batch_system_of(const platform::Platform& platform);

schedule::BatchSettings batch_settings_of(const platform::Platform& platform);

}  // namespace bench::engine
