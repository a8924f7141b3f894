#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/document/node.hpp>
#include <bench/machine/platform.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::space {

/// Options of `bench run`.
struct Request {
  std::filesystem::path input_file;
  std::set<std::string> tags;
  std::set<std::string> tags_of_run;  ///< Also active: those of the run that the file updates.
  std::string outpath;       ///< Empty: JUBE_BENCHMARK_OUTPATH, otherwise that of the file.
  std::string platform;      ///< Empty: the tag that is a platform's name, otherwise `local`.
  std::string power_source;  ///< Empty: the step's `energy` methods.
  machine::SubmissionDefaults asking;   ///< Empty ones: the platform's.
  std::optional<std::string> launcher;  ///< In place of the platform's, its arguments included.
  std::string budget;                   ///< As `set_budget` takes it; empty: none.
  std::optional<int> parallel;          ///< As `set_parallel` takes it.
  std::optional<long long> order_seed;  ///< None: drawn.
  std::optional<std::string> comment;
  std::optional<int> id;
  std::vector<std::filesystem::path> include_path;  ///< Searched first, before the file's own.
  std::vector<std::string> only_benchmarks;  ///< Names; empty: what the file's `selection` says.
  std::vector<std::string> not_benchmarks;   ///< The same, of those that do not run.
  std::size_t max_workpackages = 1'000'000;  ///< More are refused.
};

/// The input file as it was understood: tags applied, checked, with its platform.
struct Input {
  document::Node document;
  std::vector<model::Benchmark> benchmarks;  ///< The chosen ones; none where none is left.
  std::set<std::string> tags;  ///< Active ones: of the request and of the file's `selection`.
  machine::Platform platform;
  std::filesystem::path home;   ///< Absolute directory of the input file.
  bool whole_file = true;       ///< Every benchmark of the file was chosen.
  bool nothing_chosen = false;  ///< It has benchmarks, and none was chosen.
};

/// Reads and checks the input file of a request, with the files that it takes in.
/// @throws Error with the place of the first mistake
Input read_input(const Request& request, Diagnostics& diagnostics);
/// The same without `benchmarks`: the document may be a part of a benchmark.
Input read_input_document(const Request& request, Diagnostics& diagnostics);

/// What relative file names of a benchmark start from; its outpath starts from the input file.
std::filesystem::path home_of(const model::Benchmark& benchmark, const Input& input);

/// The outpath that options or the environment name; empty if they name none.
std::string asked_outpath(const Request& request);
/// The outpath of the file. It may hold JUBE's variables of the benchmark, `~` and environment
/// variables.
std::string outpath_of(const model::Benchmark& benchmark, const Input& input);

}  // namespace bench::space
