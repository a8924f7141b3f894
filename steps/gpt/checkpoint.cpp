#include "gpt/checkpoint.hpp"

#include "harness/log.hpp"
#include "harness/program.hpp"
#include "harness/statistics.hpp"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <fmt/core.h>

#include <bench/energy/regions/region.hpp>

namespace bench::gpt {
namespace {

namespace fs = std::filesystem;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// What samples the iterations have, as lines `name=value`.
std::string samples_of(const Options& options) {
  const std::string lines = fmt::format("global_batch={}\n", options.global_batch);
  if (options.data.path.empty())
    return lines + fmt::format("data=synthetic\nseed={}\n", options.common.seed);
  return lines + fmt::format("data=corpus\nsplit={}\ndata_seed={}\n", options.data.split,
                             options.data.seed);
}

/// Settings that a continued run must share with its checkpoint: lines `name=value`.
std::string settings_that_must_match(const Options& options) {
  const Architecture& a = options.architecture;
  return fmt::format(
             "layers={}\nhidden={}\nheads={}\nsequence={}\nvocabulary={}\npositions={}\n"
             "precision={}\ntensor_parallel={}\npipeline_parallel={}\ndata_parallel={}\n"
             "distributed_optimizer={}\n",
             a.layers, a.hidden, a.heads, a.sequence, a.vocabulary, positions_name(a.positions),
             options.common.precision_name, options.layout.tensor, options.layout.pipeline,
             options.layout.data, options.distributed_optimizer) +
         samples_of(options);
}

/// Settings that it may change, but then differs from an uninterrupted run: lines `name=value`.
std::string settings_that_should_match(const Options& options) {
  const steps::AdamW::Options& adamw = options.adamw;
  return fmt::format(
      "data_path={}\nmicro_batch={}\nattention_dropout={}\nhidden_dropout={}\nlr={}\nmin_lr={}\n"
      "lr_warmup_samples={}\nlr_decay_samples={}\nadam_beta1={}\nadam_beta2={}\nadam_eps={}\n"
      "weight_decay={}\nclip_grad={}\ngelu={}\n",
      options.data.path, options.micro_batch, options.attention_dropout, options.hidden_dropout,
      options.highest_learning_rate, options.lowest_learning_rate, options.lr_warmup_samples,
      options.lr_decay_samples, adamw.beta1, adamw.beta2, adamw.epsilon, adamw.weight_decay,
      options.clip_gradient, options.gelu);
}

/// How two texts of lines differ, line by line: `has NAME=VALUE, this run NAME=VALUE`.
std::vector<std::string> differences(const std::string& saved, const std::string& ours) {
  std::istringstream theirs_in(saved);
  std::istringstream ours_in(ours);
  std::vector<std::string> all;
  for (std::string theirs, own; std::getline(ours_in, own);) {
    if (!std::getline(theirs_in, theirs))
      theirs.clear();
    if (theirs != own)
      all.push_back(fmt::format("has {}, this run {}", theirs, own));
  }
  return all;
}

/// What `latest` says where a run saves to the folder, and no checkpoint is whole yet.
constexpr const char* none_yet = "none";

bool has_checkpoints(const std::string& folder) {
  std::error_code absent;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, absent))
    if (entry.path().filename().string().starts_with("iteration_"))
      return true;
  return false;
}

/// The name of the last whole checkpoint of a folder; empty if it has none.
/// @throws steps::UsageError if there are checkpoints, and nothing says which of them are whole
std::string latest(const std::string& folder) {
  std::string name;
  std::ifstream(fs::path(folder) / "latest") >> name;
  if (name.empty() && has_checkpoints(folder))
    throw steps::UsageError(
        fmt::format("{} names none of the checkpoints beside it",
                    (fs::path(folder) / "latest").string()),
        "write the name of the last whole one into it, as iteration_00000100, or move them away");
  return name == none_yet ? "" : name;
}

/// There is always a whole `latest`, the old one or the new one.
void set_latest(const fs::path& folder, const std::string& name) {
  const fs::path next = folder / "latest.next";
  std::ofstream out(next);
  out << name << '\n';
  out.close();
  if (!out)
    throw std::runtime_error(fmt::format("cannot write {}", next.string()));
  fs::rename(next, folder / "latest");
}

fs::path file_of(const std::string& folder, const std::string& name, int rank) {
  return fs::path(folder) / name / fmt::format("rank_{:05}.pt", rank);
}

}  // namespace

Checkpoints::Checkpoints(const Options& options, const torch::Device& device,
                         steps::Communicator& all)
    : options_(options.checkpoints),
      device_(device),
      must_match_(settings_that_must_match(options)),
      should_match_(settings_that_should_match(options)),
      all_(all) {
  const std::string& load = options_.load;
  const std::string& save = options_.save;
  if (!load.empty() && load != save && latest(load).empty())
    throw steps::UsageError(fmt::format("no checkpoint in {}", load),
                            "--load takes a folder that a run had as --save");
  if (!save.empty() && load != save && !latest(save).empty())
    throw steps::UsageError(
        fmt::format("{} has the checkpoints of another run", save),
        fmt::format("go on from them with --load {}, or save to another folder", save));
  std::error_code error;
  if (!save.empty() && !fs::create_directories(save, error) && error)
    throw steps::UsageError(fmt::format("cannot make {}: {}", save, error.message()),
                            "--save takes a folder that all ranks can write to");
  if (!save.empty() && all.rank() == 0 && latest(save).empty())
    set_latest(save, none_yet);  // else what is left of a run that is killed could be whole
}

void Checkpoints::load(Training& training) {
  const std::string name = options_.load.empty() ? "" : latest(options_.load);
  if (name.empty())
    return;
  const auto begin = std::chrono::steady_clock::now();
  const auto read = [&](int rank) {
    return steps::SavedState::read(file_of(options_.load, name, rank).string());
  };
  const steps::SavedState own = read(all_.rank());
  if (const auto found = differences(own.text("setup"), must_match_); !found.empty())
    throw steps::UsageError(
        fmt::format("the checkpoint in {} {}", options_.load, found.front()),
        "go on with the options and the number of ranks that it was saved with");
  if (all_.rank() == 0)
    for (const std::string& difference : differences(own.text("manner"), should_match_))
      fmt::print(stderr, "warning: the checkpoint in {} {}: it does not go on as it would have\n",
                 options_.load, difference);
  const int weights_rank = training.weights_rank();
  training.restore(own, weights_rank == all_.rank() ? own : read(weights_rank));
  all_.meet_again();
  load_s_ = seconds_since(begin);
  loaded_iteration_ = last_saved_ = training.iterations();
}

void Checkpoints::save_if_due(const Training& training, std::int64_t measured) {
  if (options_.interval > 0 && measured % options_.interval == 0)
    save(training);
}

void Checkpoints::save_last(const Training& training) {
  if (last_saved_ != training.iterations())
    save(training);
}

void Checkpoints::save(const Training& training) {
  if (options_.save.empty())
    return;
  const energy::Region region("checkpoint");
  const auto begin = std::chrono::steady_clock::now();
  const std::string name = fmt::format("iteration_{:08}", training.iterations());
  const fs::path file = file_of(options_.save, name, all_.rank());
  std::error_code error;
  fs::create_directories(file.parent_path(), error);  // says nothing if another rank was faster
  if (error)
    throw std::runtime_error(
        fmt::format("cannot make {}: {}", file.parent_path().string(), error.message()));
  steps::SavedState state = training.state();
  state.set_text("setup", must_match_);
  state.set_text("manner", should_match_);
  const auto own_bytes = static_cast<double>(state.write(file.string()));
  all_.meet_again();
  const torch::Tensor bytes = torch::tensor(own_bytes, torch::kDouble).to(device_);
  all_.all_reduce(bytes).wait();
  bytes_ = bytes.item<double>();  // all are on the disk
  if (all_.rank() == 0)
    set_latest(options_.save, name);
  last_saved_ = training.iterations();
  save_s_.push_back(seconds_since(begin));
}

void Checkpoints::log_results() const {
  if (loaded_iteration_ >= 0) {
    steps::log_value("checkpoint_iteration", loaded_iteration_);
    steps::log_value("checkpoint_load_s", load_s_);
  }
  if (save_s_.empty())
    return;
  steps::log_value("checkpoint_saves", save_s_.size());
  steps::log_statistics("checkpoint_save", "s", steps::statistics(save_s_));
  steps::log_value("checkpoint_bytes", bytes_);
}

}  // namespace bench::gpt
