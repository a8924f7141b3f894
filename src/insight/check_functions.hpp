#pragma once

#include <vector>

#include <bench/insight/checks.hpp>

// The checks, by subject. Each leaves the name in its findings empty.
namespace bench::doctor {

using Findings = std::vector<Finding>;

// system.cpp
Findings check_kernel(const System& system);
Findings check_libc(const System& system);
Findings check_clock(const System& system);
// files.cpp
Findings check_file_system(const System& system);
Findings check_space(const System& system);
Findings check_locks(const System& system);
Findings check_database(const System& system);
Findings check_small_files(const System& system);
// programs.cpp
Findings check_python(const System& system);
Findings check_perl(const System& system);
Findings check_shell(const System& system);
Findings check_bash(const System& system);
Findings check_platforms(const System& system);
// scheduler.cpp
Findings check_scheduler(const System& system);
Findings check_partitions(const System& system);
Findings check_accounting(const System& system);
Findings check_accounts(const System& system);
Findings check_limits(const System& system);
// devices.cpp
Findings check_gpus(const System& system);
Findings check_power(const System& system);
Findings check_steps(const System& system);

}  // namespace bench::doctor
