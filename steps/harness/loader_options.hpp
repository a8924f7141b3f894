#pragma once

#include "data/sample_maker.hpp"
#include "harness/batches.hpp"
#include "harness/session.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace CLI {
class App;
}

namespace bench::steps {

/// How samples come to the device.
struct LoaderOptions {
  std::string synthetic = "host";  ///< Where synthetic samples are made: device, host.
  int threads = 0;                 ///< 0: as many as suit the device.
  std::int64_t prefetch = 2;       ///< Batches to load ahead.
};

/// Adds `--loader-threads` and `--prefetch`.
void add_loader_thread_options(CLI::App& app, LoaderOptions& options);

/// Adds these and `--synthetic`.
void add_loader_options(CLI::App& app, LoaderOptions& options);

/// Threads of the options, or the default of this process.
int loader_threads(const LoaderOptions& options, const Ranks& ranks, const torch::Device& device);

/// Batches of `--batch-size` samples for this rank, and prints how they are loaded.
/// @param make_makers returns the makers for so many threads
std::unique_ptr<Batches> make_batches(Session& session, const LoaderOptions& options,
                                      const std::function<SampleMakers(int threads)>& make_makers);

}  // namespace bench::steps
