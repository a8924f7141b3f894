#include "harness/report.hpp"

#include "harness/cost.hpp"
#include "harness/device.hpp"
#include "harness/log.hpp"
#include "harness/loop.hpp"
#include "harness/program.hpp"
#include "harness/session.hpp"
#include "harness/timers.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

namespace bench::steps {
namespace {

constexpr double tera = 1e12;
constexpr double mega = 1e6;

}  // namespace

ReportedWork reported_work(const Cost& cost, std::int64_t global_batch, const std::string& unit) {
  return {.global_batch = global_batch,
          .flops_per_sample = static_cast<double>(cost.training_flops_per_sample()),
          .bytes_per_sample = static_cast<double>(cost.input_bytes_per_sample()),
          .unit = unit};
}

void log_epochs(const Timers& timers, std::int64_t whole_epochs) {
  const std::vector<double>& all_s = timers.samples_s(Region::epoch);
  if (all_s.size() < 2)
    return;
  const std::vector<double> epochs_s(all_s.begin(), all_s.begin() + whole_epochs);
  log_value("epochs", epochs_s.size());
  log_value("epoch_first_s", epochs_s.front());
  log_value("epoch_min_s", *std::ranges::min_element(epochs_s));
  log_value("epoch_mean_s", statistics(epochs_s).mean);
  log_value("epoch_max_s", *std::ranges::max_element(epochs_s));
  for (std::size_t epoch = 0; epoch < epochs_s.size(); ++epoch)
    log_value(fmt::format("epoch_{}_s", epoch + 1), epochs_s[epoch]);
}

void log_rates(Session& session, const ReportedWork& work, double samples_per_second) {
  const double devices = session.ranks().size();
  log_value("samples_per_second", samples_per_second);
  log_value("samples_per_second_per_device", samples_per_second / devices);
  if (work.unit != "samples") {
    const double units_per_second = samples_per_second * work.units_per_sample;
    log_value(fmt::format("{}_per_second", work.unit), units_per_second);
    log_value(fmt::format("{}_per_second_per_device", work.unit), units_per_second / devices);
  }
  if (work.bytes_per_sample > 0)
    log_value("megabytes_per_second", samples_per_second * work.bytes_per_sample / mega);
  if (work.flops_per_sample <= 0)
    return;
  const double tflops = samples_per_second * work.flops_per_sample / devices / tera;
  log_value("tflops_per_device", tflops);
  if (const double peak = session.arguments().peak_tflops; peak > 0) {
    log_value("peak_tflops", peak);
    log_value("mfu_percent", 100 * tflops / peak);
  }
}

double report_measured(Session& session, const Loop& loop, const ReportedWork& work) {
  const Timers& timers = session.timers();
  const std::vector<double>& epochs_s = timers.samples_s(Region::epoch);
  double samples_per_second = 0;
  if (!epochs_s.empty()) {  // else it ended in the warm-up
    const double training_s = std::accumulate(epochs_s.begin(), epochs_s.end(), 0.0);
    const auto steps = static_cast<double>(loop.results().size());
    log_value("measured_steps", loop.results().size());
    log_value("epoch_s", training_s);
    log_epochs(timers, loop.whole_epochs());
    log_value("first_step_s", timers.first_batch_s());
    log_times(timers);
    samples_per_second = static_cast<double>(work.global_batch) * steps / training_s;
    log_rates(session, work, samples_per_second);
  }
  if (loop.first_loss()) {
    log_value("first_loss", *loop.first_loss());
    log_value("final_loss", *loop.final_loss());
  }
  session.write_timings();
  std::fflush(stdout);  // a failure after the training must not lose them
  return samples_per_second;
}

namespace {

void log_totals(Session& session) {
  if (const auto peak_bytes = peak_memory_bytes(session.device()))
    log_value("peak_memory_bytes", *peak_bytes);
  if (const auto peak_bytes = peak_memory_bytes(torch::kCPU))
    log_value("peak_host_memory_bytes", *peak_bytes);
  log_value("total_runtime_s", session.seconds());
}

int log_end(bool interrupted) {
  log_value("result", interrupted ? "interrupted" : "ok");
  return interrupted ? exit_interrupted : exit_ok;
}

}  // namespace

int report_outcome(Session& session, const Loop& loop) {
  log_totals(session);
  if (const auto step = loop.diverged_at()) {
    log_value("diverged_at_step", *step);
    log_value("result", "diverged");
    return exit_diverged;
  }
  return log_end(loop.is_interrupted());
}

int report_outcome(Session& session, bool interrupted) {
  log_totals(session);
  return log_end(interrupted);
}

}  // namespace bench::steps
