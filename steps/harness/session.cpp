#include "harness/session.hpp"

#include "harness/arguments.hpp"
#include "harness/communicator.hpp"
#include "harness/cost.hpp"
#include "harness/device.hpp"
#include "harness/environment.hpp"
#include "harness/errors.hpp"
#include "harness/evaluation.hpp"
#include "harness/log.hpp"
#include "harness/loop.hpp"
#include "harness/precision.hpp"
#include "harness/program.hpp"
#include "harness/ranks.hpp"
#include "harness/timers.hpp"
#include "harness/trainer.hpp"
#include "harness/weights.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <numeric>
#include <string>
#include <system_error>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <stdlib.h>
#include <unistd.h>

namespace bench::steps {
namespace {

namespace fs = std::filesystem;

/// Of a file that is written when the training has ended.
void check_can_be_written(const std::string& file) {
  if (file.empty())
    return;
  std::error_code failure;  // then no target
  const fs::path target = fs::weakly_canonical(fs::absolute(file), failure);
  const bool is_device = fs::exists(target) && !fs::is_regular_file(target);
  const fs::path written = is_device ? target : target.parent_path();
  if (fs::is_directory(written) == is_device || ::access(written.c_str(), W_OK) != 0)
    throw UsageError(fmt::format("cannot write {}", file),
                     "give a file in a folder that exists and can be written");
}

}  // namespace

Session::Session(const std::string& program, const std::string& description)
    : app_(std::make_unique<CLI::App>(description, program)) {
  keep_freed_memory();
  add_common_options(*app_, arguments_);
}

Session::~Session() = default;

bool Session::parse(int argc, char** argv) {
  if (!parse_command_line(*app_, argc, argv))
    return false;
  if (arguments_.build_info) {
    log_build_info(app_->get_name());
    return false;
  }
  arguments_.in_common = options_in_common(*app_);
  return true;
}

const Ranks& Session::find_ranks() {
  if (!found_) {
    found_ = steps::find_ranks();
    begin_mllog(arguments_.mllog && found_->rank == 0);
  }
  return *found_;
}

const torch::Device& Session::choose_device() {
  if (!device_) {
    device_ = select_device(arguments_.device, find_ranks());
    check_precision(arguments_.precision(), *device_);
    // Without it LibTorch refuses cuBLAS. Here, since no thread has been started that reads the
    // environment.
    if (arguments_.deterministic && device_->is_cuda())
      ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 0);
  }
  return *device_;
}

void Session::begin() {
  const Ranks& ranks = find_ranks();
  mllog("init_start");
  choose_device();
  timings_.emplace(arguments_.timings_file, "--timings", ranks.rank);
  begin_metrics_file(arguments_.metrics_file, ranks.rank, ranks.size);
  guard_.emplace(*device_);
  communicator_.emplace(ranks, *device_,
                        CommunicatorTimeouts{.operation = arguments_.rank_timeout()},
                        arguments_.in_common);
  tell_failures_to([all = *communicator_](const std::exception& error) { all.tell(error); });
  speak_only_on_rank_0(ranks.rank);
  check_can_be_written(arguments_.profile_file);
  if (ranks.rank == 0)
    check_can_be_written(arguments_.save_weights);
  set_up_environment(arguments_, *device_);
  timers_.emplace(make_clock(*device_));
}

void Session::load_weights(torch::nn::Module& network) const {
  steps::load_weights(arguments_.load_weights, network);
}

void Session::save_weights(const torch::nn::Module& network, const Loop& loop) {
  if (arguments_.save_weights.empty())
    return;
  average_running_statistics(network, *communicator_);
  if (communicator_->rank() != 0)
    return;
  if (loop.diverged_at()) {
    fmt::print(stderr, "warning: {} is not written: the training diverged\n",
               arguments_.save_weights);
    return;
  }
  const auto begin = std::chrono::steady_clock::now();
  steps::save_weights(arguments_.save_weights, network);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  log_value("save_weights_s", time.count());
}

void Session::start_training() {
  std::fflush(stdout);  // a killed run still shows what it was
  mllog("init_stop");
  mllog("run_start");
  training_begin_ = std::chrono::steady_clock::now();
  defer_signals();
}

TrainingContext Session::context() {
  return {.ranks = *communicator_,
          .device = *device_,
          .precision = arguments_.precision(),
          .seed = arguments_.seed};
}

void Session::write_timings() {
  if (!timings_->is_wanted())
    return;
  timers_->write_csv(timings_->out());
  timings_->close();
}

double Session::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

double Session::training_seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - training_begin_).count();
}

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
