#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>

#include <bench/evaluate/evaluator.hpp>
#include <bench/evaluate/substitute.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/metadata.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::space {

/// `jube_benchmark_...` and `jube_platform_...`: known before any workpackage exists.
Variables benchmark_variables(const Run& run);

/// `jube_step_...`.
void add_step_variables(const model::Step& step, Variables& variables);

/// `jube_wp_...` of a workpackage in a cycle. `parents` are its direct parents' steps by id;
/// `variables` hold those of the benchmark and the step already.
void add_workpackage_variables(const Run& run, const workspace::Workpackage& workpackage,
                               const std::map<long long, std::string>& parents,
                               Variables& variables, int cycle = 0);

/// Where the commands of a workpackage run: the step's `work_dir`, `~` and environment variables
/// expanded, relative to the input file; else `work` in its directory. Absolute.
/// @param lookup of the workpackage's parameters and variables
std::filesystem::path work_directory(const Run& run, const workspace::Workpackage& workpackage,
                                     const evaluate::Lookup& lookup);

/// `export NAME="VALUE"` lines for the exported parameters of a workpackage, sorted by name, and
/// the names alone (`jube_wp_envstr`, `jube_wp_envlist`).
void add_exports(const Run& run, const workspace::Workpackage& workpackage, Variables& variables);

/// Looks in `variables`, then in `parameters`; both must outlive the lookup.
evaluate::Lookup lookup_in(const Variables& variables);
evaluate::Lookup lookup_in(const Variables& variables, const workspace::Parameters& parameters);

/// The most workpackages that the run may have.
std::size_t max_workpackages(const Run& run);

/// An evaluator that knows the tags of the run.
evaluate::Evaluator evaluator_of(const Run& run);

/// The exported parameters of a workpackage: name and value, sorted by lower-cased name.
workspace::Parameters exported_parameters(const Run& run,
                                          const workspace::Workpackage& workpackage);

}  // namespace bench::space
