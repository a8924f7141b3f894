#include "ap6/report.hpp"

#include "ap6/epoch_log.hpp"
#include "harness/arguments.hpp"
#include "harness/cost.hpp"
#include "harness/log.hpp"
#include "harness/loop.hpp"
#include "harness/report.hpp"
#include "harness/session.hpp"

#include <cstdint>

#include <fmt/core.h>

namespace bench::ap6 {

void log_run(const steps::Cost& cost, const steps::CommonArguments& arguments) {
  fmt::print("Number of trainable parameters: {}\n", cost.trainable_parameters());
  fmt::print("Number of non-trainable parameters: {}\n", cost.non_trainable_parameters());
  fmt::print("Batch size: {}\n", arguments.batch_size);
  fmt::print("Batches per epoch: {}\n", arguments.steps_per_epoch);
}

void report_measured(steps::Session& session, const steps::Loop& loop, const steps::Cost& cost,
                     const EpochLog& log) {
  const std::int64_t global_batch = session.arguments().batch_size * session.ranks().size();
  const double embeddings_s = session.timers().asides_s(embeddings_name).back();
  fmt::print("Embeddings initialization time: {:.6g} s\n", embeddings_s);
  fmt::print("Total training time: {:.6g} s\n", log.training_s());
  steps::report_measured(session, loop, steps::reported_work(cost, global_batch));
  steps::log_value("embeddings_s", embeddings_s);
  steps::log_statistics("clustering", "s", log.clusterings_s());
}

int report_outcome(steps::Session& session, const steps::Loop& loop) {
  fmt::print("Total runtime: {:.6g} s\n", session.seconds());
  return steps::report_outcome(session, loop);
}

}  // namespace bench::ap6
