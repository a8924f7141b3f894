#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <bench/insight/match.hpp>
#include <bench/results/analyses.hpp>
#include <bench/space/metadata.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::insight {

/// What two runs must have in common before their numbers are compared, by name: the benchmark and
/// its input, how many workpackages run at a time, the machine and its settings, its driver and
/// software. What a run has not recorded is left out.
///
/// - `input` is the SHA-256 of the elements that say what runs, its first 12 digits: comments,
///   patterns, analysers and results may change.
/// - `host` is left out on a platform other than `local`, where it is the login node.
/// - `environment` is without the variables that describe a job: each job has its own.
using Fingerprint = std::map<std::string, std::string>;

/// The names that a fingerprint may have, in the order in which they are shown.
const std::vector<std::string>& fingerprint_names();

Fingerprint fingerprint_of(const space::RunMetadata& metadata);

/// What differs in two fingerprints, but for the names in `across`; in the order of the names.
std::vector<TextDifference> differences_of(const Fingerprint& a, const Fingerprint& b,
                                           const std::set<std::string>& across);

/// The first 8 digits of the SHA-256 of a fingerprint: equal ones have the same.
std::string short_name_of(const Fingerprint& fingerprint);

/// The facts of two runs that differ, also those that tell only who made a run and from what.
std::vector<TextDifference> fact_differences(const space::RunMetadata& a,
                                             const space::RunMetadata& b);

/// One of two runs that are compared, `a` or `b`.
struct Side {
  const space::Run& run;
  const workspace::Workspace& workspace;
  const results::Analyses& analyses;
};

/// What may have changed the numbers between two groups of runs: the facts of the fingerprint, the
/// load of the machine at the start, and the version of the program. Different values of one group
/// are separated by `; `.
std::vector<TextDifference> condition_differences(std::span<const Side> a, std::span<const Side> b);

}  // namespace bench::insight
