#include "harness/session.hpp"

#include "harness/arguments.hpp"
#include "harness/communicator.hpp"
#include "harness/device.hpp"
#include "harness/environment.hpp"
#include "harness/errors.hpp"
#include "harness/evaluation.hpp"
#include "harness/log.hpp"
#include "harness/loop.hpp"
#include "harness/precision.hpp"
#include "harness/program.hpp"
#include "harness/ranks.hpp"
#include "harness/trainer.hpp"
#include "harness/weights.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

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

}  // namespace bench::steps
