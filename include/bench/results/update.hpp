#pragma once

#include <bench/base/diagnostics.hpp>
#include <bench/space/input.hpp>
#include <bench/space/run.hpp>

namespace bench::results {

/// The run with other evaluation: pattern sets, analysers and results are those of the benchmark of
/// the same name in the request's input file. Tags are those of the run and of the request. Changes
/// nothing that is stored.
/// @throws Error if the file has no such benchmark, or does not fit the run's steps
space::Run with_updated_evaluation(const space::Run& run, space::Request request,
                                   Diagnostics& diagnostics);

}  // namespace bench::results
