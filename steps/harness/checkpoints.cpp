#include "harness/checkpoints.hpp"

#include "harness/errors.hpp"
#include "harness/log.hpp"
#include "harness/loop.hpp"
#include "harness/saved_state.hpp"
#include "harness/session.hpp"
#include "harness/trainer.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace bench::steps {
namespace {

namespace fs = std::filesystem;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
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

/// Lines `name=value` as one, with commas.
std::string one_line(std::string lines) {
  if (lines.ends_with('\n'))
    lines.pop_back();
  std::ranges::replace(lines, '\n', ',');
  return lines;
}

/// Of the meter: saving is in no rate.
constexpr const char* checkpoint_region = "checkpoint";

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
/// @throws UsageError if there are checkpoints, and nothing says which of them are whole
std::string latest(const std::string& folder) {
  std::string name;
  std::ifstream(fs::path(folder) / "latest") >> name;
  if (name.empty() && has_checkpoints(folder))
    throw UsageError(
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

std::string name_of(std::int64_t steps) {
  return fmt::format("iteration_{:08}", steps);
}

/// Reads the state of a rank.
/// @throws UsageError if it is of other steps than its folder: together with those of the other
///         ranks it would be no state that there was
SavedState read_state(const fs::path& file) {
  SavedState state = SavedState::read(file.string());
  if (!state.has("steps"))
    return state;
  if (const std::string name = name_of(static_cast<std::int64_t>(state.number("steps")));
      name != file.parent_path().filename())
    throw UsageError(fmt::format("{} is of {}", file.string(), name),
                     "all files of a folder must be those that its ranks saved there");
  return state;
}

fs::path file_of(const std::string& folder, const std::string& name, int rank) {
  return fs::path(folder) / name / fmt::format("rank_{:05}.pt", rank);
}

}  // namespace

void add_checkpoint_options(CLI::App& app, CheckpointOptions& options) {
  constexpr std::int64_t many = std::int64_t{1} << 40;
  app.option_defaults()->always_capture_default(false);
  app.add_option("--save", options.save, "Save checkpoints to this folder, also at the end")
      ->option_text("FOLDER")
      ->excludes("--profile");  // whose steps train as well
  app.add_option("--load", options.load,
                 "Continue from the last checkpoint in this folder; if it is that of --save, it "
                 "may be empty")
      ->option_text("FOLDER");
  app.option_defaults()->always_capture_default();
  app.add_option("--save-interval", options.interval,
                 "Measured steps between checkpoints; 0: only at the end")
      ->check(CLI::Range(std::int64_t{0}, many))
      ->needs("--save");
}

Checkpoints::Checkpoints(Session& session, const CheckpointOptions& options,
                         const CheckpointSettings& settings)
    : session_(session), options_(options), settings_(settings) {
  const std::string& load = options_.load;
  const std::string& save = options_.save;
  if (!load.empty() && load != save && latest(load).empty())
    throw UsageError(fmt::format("no checkpoint in {}", load),
                     "--load takes a folder that a run had as --save");
  if (!save.empty() && load != save && !latest(save).empty())
    throw UsageError(
        fmt::format("{} has the checkpoints of another run", save),
        fmt::format("go on from them with --load {}, or save to another folder", save));
  std::error_code error;
  if (!save.empty() && !fs::create_directories(save, error) && error)
    throw UsageError(fmt::format("cannot make {}: {}", save, error.message()),
                     "--save takes a folder that all ranks can write to");
  if (!save.empty() && session.ranks().rank() == 0 && latest(save).empty())
    set_latest(save, none_yet);  // else what is left of a run that is killed could be whole
}

void Checkpoints::load(Trainer& trainer) {
  const std::string name = options_.load.empty() ? "" : latest(options_.load);
  if (name.empty())
    return;
  const int rank = session_.ranks().rank();
  const auto begin = std::chrono::steady_clock::now();
  const auto read = [&](int of_rank) { return read_state(file_of(options_.load, name, of_rank)); };
  const bool has_own = fs::exists(file_of(options_.load, name, rank));  // not if ranks were fewer
  const SavedState own = read(has_own ? rank : 0);
  check_settings(own);
  if (own.text("layout") != settings_.layout) {
    const auto ranks = static_cast<int>(own.number("ranks"));
    const SavedState state = rearranged(trainer.row_layout(), ranks, read);
    trainer.restore(state, state);
    loaded_layout_ = own.text("layout");
  } else {
    const int weights_rank = trainer.weights_rank();
    trainer.restore(has_own ? own : read(rank), weights_rank == rank ? own : read(weights_rank));
  }
  session_.ranks().meet_again();
  load_s_ = seconds_since(begin);
  loaded_step_ = last_saved_ = trainer.steps();
}

void Checkpoints::check_settings(const SavedState& saved) const {
  if (const std::string program = saved.has("program") ? saved.text("program") : settings_.program;
      program != settings_.program)
    throw UsageError(fmt::format("the checkpoint in {} is of the program {}, not {}", options_.load,
                                 program, settings_.program),
                     fmt::format("--load takes a folder that {} had as --save", settings_.program));
  if (!saved.has("program") || !saved.has("layout"))
    throw UsageError(
        fmt::format("the checkpoint in {} is of an earlier version of this program", options_.load),
        "start from the beginning, or continue with the version that saved it");
  if (const auto found = differences(saved.text("must_match"), settings_.must_match);
      !found.empty())
    throw UsageError(fmt::format("the checkpoint in {} {}", options_.load, found.front()),
                     "continue with the options that it was saved with");
  if (session_.ranks().rank() == 0)
    for (const std::string& difference :
         differences(saved.text("should_match"), settings_.should_match))
      fmt::print(stderr, "warning: the checkpoint in {} {}: it does not go on as it would have\n",
                 options_.load, difference);
}

void Checkpoints::save_during(Loop& loop, const Trainer& trainer) {
  if (!options_.save.empty() && options_.interval > 0)
    loop.after(checkpoint_region, options_.interval, [&] { write(trainer); });
}

void Checkpoints::save_last(const Loop& loop, const Trainer& trainer) {
  if (!options_.save.empty() && !loop.diverged_at() && last_saved_ != trainer.steps())
    session_.timers().aside(checkpoint_region, [&] { write(trainer); });
}

void Checkpoints::write(const Trainer& trainer) {
  const auto begin = std::chrono::steady_clock::now();
  const std::string name = name_of(trainer.steps());
  const fs::path file = file_of(options_.save, name, session_.ranks().rank());
  std::error_code error;
  fs::create_directories(file.parent_path(), error);  // says nothing if another rank was faster
  if (error)
    throw std::runtime_error(
        fmt::format("cannot make {}: {}", file.parent_path().string(), error.message()));
  SavedState state = trainer.state();
  state.set_text("program", settings_.program);
  state.set_text("must_match", settings_.must_match);
  state.set_text("layout", settings_.layout);
  state.set_number("ranks", session_.ranks().size());
  state.set_text("should_match", settings_.should_match);
  const auto own_bytes = static_cast<double>(state.write(file.string()));
  session_.ranks().meet_again();
  const torch::Tensor bytes = torch::tensor(own_bytes, torch::kDouble).to(session_.device());
  session_.ranks().all_reduce(bytes).wait();
  bytes_ = bytes.item<double>();  // all are on the disk
  if (session_.ranks().rank() == 0)
    set_latest(options_.save, name);
  last_saved_ = trainer.steps();
  save_s_.push_back(seconds_since(begin));
}

void Checkpoints::log_results() const {
  if (loaded_step_ >= 0) {
    log_value("checkpoint_iteration", loaded_step_);
    log_value("checkpoint_load_s", load_s_);
    if (!loaded_layout_.empty())
      log_value("checkpoint_layout", one_line(loaded_layout_));
  }
  if (save_s_.empty())
    return;
  log_value("checkpoint_saves", save_s_.size());
  log_statistics("checkpoint_save", "s", save_s_);
  log_value("checkpoint_bytes", bytes_);
}

}  // namespace bench::steps
