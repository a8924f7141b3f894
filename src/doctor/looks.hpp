#pragma once

#include <vector>

#include <bench/doctor/checks.hpp>

// The checks, by subject. Each leaves the name in its findings empty.
namespace bench::doctor {

using Findings = std::vector<Finding>;

// system.cpp
Findings look_at_kernel(const Surroundings& where);
Findings look_at_libc(const Surroundings& where);
Findings look_at_clock(const Surroundings& where);
// files.cpp
Findings look_at_file_system(const Surroundings& where);
Findings look_at_space(const Surroundings& where);
Findings look_at_locks(const Surroundings& where);
Findings look_at_database(const Surroundings& where);
Findings look_at_small_files(const Surroundings& where);
// programs.cpp
Findings look_at_python(const Surroundings& where);
Findings look_at_perl(const Surroundings& where);
Findings look_at_shell(const Surroundings& where);
Findings look_at_bash(const Surroundings& where);
Findings look_at_platforms(const Surroundings& where);
// scheduler.cpp
Findings look_at_scheduler(const Surroundings& where);
Findings look_at_partitions(const Surroundings& where);
Findings look_at_accounting(const Surroundings& where);
Findings look_at_accounts(const Surroundings& where);
Findings look_at_limits(const Surroundings& where);
// devices.cpp
Findings look_at_gpus(const Surroundings& where);
Findings look_at_power(const Surroundings& where);
Findings look_at_steps(const Surroundings& where);

}  // namespace bench::doctor
