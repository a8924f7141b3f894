#include "harness/loader_options.hpp"

#include "harness/loader_threads.hpp"
#include "harness/log.hpp"

#include <CLI/CLI.hpp>

namespace bench::steps {

void add_loader_thread_options(CLI::App& app, LoaderOptions& options) {
  app.add_option("--loader-threads", options.threads,
                 "Threads that load samples; 0: with a GPU one for each CPU of this rank but one, "
                 "otherwise one for 16 CPUs")
      ->check(CLI::Range(0, 65536));
  app.add_option("--prefetch", options.prefetch, "Batches to load ahead")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 20));
}

void add_loader_options(CLI::App& app, LoaderOptions& options) {
  app.add_option("--synthetic", options.synthetic,
                 "Synthetic samples: one batch on the device, or a new one for each step on the "
                 "host")
      ->check(CLI::IsMember({"device", "host"}));
  add_loader_thread_options(app, options);
}

int loader_threads(const LoaderOptions& options, const Ranks& ranks, const torch::Device& device) {
  return options.threads > 0 ? options.threads : default_loader_threads(ranks, device);
}

std::unique_ptr<Batches> make_batches(Session& session, const LoaderOptions& options,
                                      const std::function<SampleMakers(int threads)>& make_makers) {
  const int threads = loader_threads(options, session.find_ranks(), session.device());
  const BatchShare share{.batch_size = session.arguments().batch_size,
                         .rank = session.ranks().rank(),
                         .ranks = session.ranks().size()};
  log_value("dataset", "synthetic_" + options.synthetic);
  auto loaded = std::make_unique<LoadedBatches>(
      make_makers(threads),
      BatchOptions{.share = share, .device = session.device(), .prefetch = options.prefetch});
  if (options.synthetic == "device")
    return std::make_unique<ResidentBatches>(loaded->next());
  log_value("loader_threads", threads);
  log_value("prefetch", options.prefetch);
  return loaded;
}

}  // namespace bench::steps
