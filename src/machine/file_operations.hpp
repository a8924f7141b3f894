#pragma once

#include <bench/base/process.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/machine/file_operation.hpp>

namespace bench::execute {

// One operation each, as `perform`.
void make_directory(const MakeDirectory& operation);
void place_files(const PlaceFiles& operation, const Environment& environment);
void substitute_file(const SubstituteFile& operation, evaluate::Evaluator& evaluator);
void log_command(const LogCommand& operation, const Environment& environment);

}  // namespace bench::execute
