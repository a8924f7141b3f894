#pragma once

#include <memory>

#include <bench/machine/batch_system.hpp>
#include <bench/machine/job_monitor.hpp>
#include <bench/machine/platform.hpp>

namespace bench::machine {

/// The batch system of a platform; one that has no jobs where it names none.
/// @throws Error for a table of commands that does not fit together
std::unique_ptr<BatchSystem> batch_system_of(const Platform& platform);

/// The batch system of the jobs that commands of steps submit themselves: the platform's where it
/// has one, else the one whose words submitted_ids knows.
std::unique_ptr<BatchSystem> batch_system_of_commands(const Platform& platform);

BatchSettings batch_settings_of(const Platform& platform);

}  // namespace bench::machine
