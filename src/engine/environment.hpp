#pragma once

#include <bench/base/process.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::engine {

/// This process's environment, with the programs that belong to bench on PATH: what every command
/// starts from.
const Environment& base_environment();

/// How `environment` differs from the base, without what describes one shell only (PWD, SHLVL,
/// ...).
workspace::EnvironmentChanges changes_of(const Environment& environment);

/// Makes the changes in `environment`.
void apply(const workspace::EnvironmentChanges& changes, Environment& environment);

}  // namespace bench::engine
