#pragma once

#include <vector>

#include <bench/doctor/checks.hpp>

// The checks, by subject. Each leaves the name in its findings empty.
namespace bench::doctor {

using Findings = std::vector<Finding>;

// system.cpp
Findings check_kernel(const Surroundings& where);
Findings check_libc(const Surroundings& where);
Findings check_clock(const Surroundings& where);
// files.cpp
Findings check_file_system(const Surroundings& where);
Findings check_space(const Surroundings& where);
Findings check_locks(const Surroundings& where);
Findings check_database(const Surroundings& where);
Findings check_small_files(const Surroundings& where);
// programs.cpp
Findings check_python(const Surroundings& where);
Findings check_perl(const Surroundings& where);
Findings check_shell(const Surroundings& where);
Findings check_bash(const Surroundings& where);
Findings check_platforms(const Surroundings& where);
// scheduler.cpp
Findings check_scheduler(const Surroundings& where);
Findings check_partitions(const Surroundings& where);
Findings check_accounting(const Surroundings& where);
Findings check_accounts(const Surroundings& where);
Findings check_limits(const Surroundings& where);
// devices.cpp
Findings check_gpus(const Surroundings& where);
Findings check_power(const Surroundings& where);
Findings check_steps(const Surroundings& where);

}  // namespace bench::doctor
