#include "harness/submission.hpp"

#include "harness/device.hpp"
#include "harness/log.hpp"
#include "harness/mllog.hpp"
#include "harness/ranks.hpp"
#include "harness/session.hpp"

#include <cstdint>

#include <CLI/CLI.hpp>

namespace bench::steps {

void add_submission_options(CLI::App& app, SubmissionOptions& options) {
  app.add_option("--submission-org", options.organisation, "Organisation, for --mllog");
  app.add_option("--submission-platform", options.platform, "Name of the system, for --mllog")
      ->default_str("name of the device");
  app.add_option("--submission-division", options.division, "Division of MLPerf, for --mllog")
      ->check(CLI::IsMember({"closed", "open"}));
  app.add_option("--submission-status", options.status, "Status of the system, for --mllog")
      ->check(CLI::IsMember({"cloud", "onprem", "preview", "research"}));
}

void mllog_submission(Session& session, const Submission& submission,
                      const SubmissionOptions& options) {
  if (submission.synthetic)
    log_value("mlperf", "MLPerf-style, unofficial");
  const Ranks& ranks = session.find_ranks();
  const std::int64_t node_ranks = ranks.local_size.value_or(ranks.size);
  const torch::Device& device = session.device();
  mllog("submission_benchmark", submission.benchmark);
  mllog("submission_org", options.organisation);
  mllog("submission_division", options.division);
  mllog("submission_status", options.status);
  mllog("submission_platform", options.platform.empty() ? device_name(device) : options.platform);
  mllog("seed", static_cast<std::int64_t>(session.arguments().seed));
  mllog("number_of_ranks", std::int64_t{ranks.size});
  mllog("number_of_nodes", std::int64_t{ranks.size} / node_ranks);
  mllog("accelerators_per_node", device.is_cuda() ? node_ranks : 0);
  mllog("global_batch_size", submission.global_batch);
}

void mllog_samples(std::int64_t train_samples, std::int64_t eval_samples) {
  mllog("train_samples", train_samples);
  mllog("eval_samples", eval_samples);
}

}  // namespace bench::steps
