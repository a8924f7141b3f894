#include "harness/loader_options.hpp"

#include "data/field_samples.hpp"
#include "data/fields.hpp"
#include "data/files.hpp"
#include "data/sample_loader.hpp"
#include "data/staging.hpp"
#include "harness/arguments.hpp"
#include "harness/batches.hpp"
#include "harness/communicator.hpp"
#include "harness/errors.hpp"
#include "harness/log.hpp"
#include "harness/loop.hpp"
#include "harness/program.hpp"
#include "harness/ranks.hpp"
#include "harness/session.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fmt/ranges.h>  // join, since fmt 11
#include <unistd.h>

namespace bench::steps {

Staging stage_together(Communicator& ranks, const torch::Device& device,
                       const std::function<std::uint64_t()>& copy) {
  mllog("staging_start");
  const auto begin = std::chrono::steady_clock::now();
  const auto bytes = static_cast<double>(copy());
  const std::chrono::duration<double> duration = std::chrono::steady_clock::now() - begin;
  ranks.meet_again();  // nodes may take very different times
  const torch::Tensor own = torch::tensor({duration.count(), bytes}, torch::kDouble);
  const torch::Tensor all = ranks.all_gather(own.to(device)).cpu();  // (ranks, 2)
  mllog("staging_stop");
  return {.seconds = all.select(1, 0).max().item<double>(),
          .bytes = static_cast<std::int64_t>(all.select(1, 1).sum().item<double>())};
}

void Staging::log(const std::string& folder) const {
  log_value("staged_folder", folder);
  log_value("staging_s", seconds);
  log_value("staged_bytes", bytes);
}

int default_loader_threads(int cpus, int node_cpus, int ranks_on_node, bool on_gpu) {
  const int own = cpus == node_cpus ? cpus / ranks_on_node : cpus;
  return std::max(1, on_gpu ? own - 1 : own / 16);
}

int default_loader_threads(const Ranks& ranks, const torch::Device& device) {
  return default_loader_threads(usable_cpus(), static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)),
                                ranks.local_size.value_or(1), device.is_cuda());
}

namespace {

/// The files of `--data-path`, or this node's copies.
std::vector<std::string> data_files(Session& session, const LoaderOptions& options,
                                    const SampleFormat& format, int threads) {
  std::vector<std::string> files = find_data_files(options.path, format.endings);
  if (options.stage_to.empty())
    return files;
  StagedFiles copies;
  const Staging staging = stage_together(session.ranks(), session.device(), [&] {
    copies = stage_files(files, options.stage_to, threads);
    return copies.copied_bytes;
  });
  staging.log(copies.folder);
  return copies.files;
}

SampleMakers data_makers(Session& session, const LoaderOptions& options, const SampleFormat& format,
                         const BatchShare& share, int threads) {
  const auto source = open_data(session, options, format);
  const std::uint64_t seed = session.arguments().seed;
  if (!options.cache)
    return field_makers(source, seed, threads);
  const auto ranks = static_cast<std::uint64_t>(share.ranks);
  if (source->samples() < ranks)
    throw UsageError(fmt::format("{} has {} samples; with --cache each of {} ranks keeps its own",
                                 options.path, source->samples(), ranks),
                     "start at most as many ranks as there are samples, or remove --cache");
  return field_makers(std::make_shared<SampleCache>(source), seed, threads,
                      {.rank = static_cast<std::uint64_t>(share.rank),
                       .ranks = ranks,
                       .batch = static_cast<std::uint64_t>(share.own_batch())});
}

/// Of a sample, slowest dimension first: `image:224x224x3 label`.
std::string shapes_of(const std::vector<Field>& fields) {
  std::string text;
  for (const Field& field : fields)
    text += fmt::format("{}{}{}{}", text.empty() ? "" : " ", field.name,
                        field.shape.empty() ? "" : ":", fmt::join(field.shape, "x"));
  return text;
}

}  // namespace

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

void add_data_options(CLI::App& app, LoaderOptions& options) {
  app.add_option("--data-path", options.path,
                 "File, folder or pattern of a data set; default: synthetic samples")
      ->always_capture_default(false);
  add_loader_options(app, options);
  app.get_option("--synthetic")->excludes("--data-path");
  app.add_option("--stage-to", options.stage_to,
                 "Copy the data set to this folder of each node first, unless it has a copy")
      ->needs("--data-path")
      ->always_capture_default(false);
  app.add_flag("--cache", options.cache,
               "Keep samples in memory; each of several ranks then has the same in every epoch")
      ->needs("--data-path");
}

int loader_threads(const LoaderOptions& options, const Ranks& ranks, const torch::Device& device) {
  return options.threads > 0 ? options.threads : default_loader_threads(ranks, device);
}

std::shared_ptr<const FieldSource> open_data(Session& session, const LoaderOptions& options,
                                             const SampleFormat& format,
                                             const std::string& prefix) {
  const int threads = loader_threads(options, session.find_ranks(), session.device());
  const std::vector<std::string> files = data_files(session, options, format, threads);
  const auto begin = std::chrono::steady_clock::now();
  std::shared_ptr<const FieldSource> source = format.open(files, threads);
  const std::chrono::duration<double> duration = std::chrono::steady_clock::now() - begin;
  log_value(prefix + "dataset", options.path);
  log_value(prefix + "dataset_files", files.size());
  log_value(prefix + "dataset_samples", source->samples());
  if (const auto bytes = source->bytes())
    log_value(prefix + "dataset_bytes", *bytes);
  log_value(prefix + "dataset_open_s", duration.count());
  log_value(prefix + "dataset_cache", options.cache);
  return source;
}

std::unique_ptr<Batches> make_batches(Session& session, const LoaderOptions& options,
                                      const SampleFormat& format) {
  CommonArguments& arguments = session.arguments();
  const int threads = loader_threads(options, session.find_ranks(), session.device());
  const BatchShare share{.batch_size = micro_batch_size(arguments),
                         .micro_batches = arguments.micro_batches * options.updates_per_step,
                         .rank = session.ranks().rank(),
                         .ranks = session.ranks().size()};
  const bool synthetic = options.path.empty();
  if (synthetic)
    log_value("dataset", "synthetic_" + options.synthetic);
  SampleMakers makers = synthetic ? format.synthetic(arguments.seed, threads)
                                  : data_makers(session, options, format, share, threads);
  if (format.augment)
    makers = format.augment(std::move(makers), arguments.seed);
  auto loaded = std::make_unique<LoadedBatches>(std::move(makers),
                                                BatchOptions{.share = share,
                                                             .device = session.device(),
                                                             .prefetch = options.prefetch,
                                                             .hwc_fields = format.hwc_fields});
  const std::int64_t global_batch = share.global_batch() / options.updates_per_step;
  log_value("sample_shape", shapes_of(loaded->fields()));
  log_value("batch_size", arguments.batch_size);
  log_value("global_batch_size", global_batch);
  set_epoch_length(arguments, global_batch, loaded->samples_per_epoch());
  if (synthetic && arguments.samples_per_epoch > 0)
    log_value("dataset_bytes", arguments.samples_per_epoch * loaded->bytes_per_sample());
  if (synthetic && options.synthetic == "device")
    return std::make_unique<ResidentBatches>(loaded->next());
  log_value("loader_threads", threads);
  log_value("prefetch", options.prefetch);
  return loaded;
}

std::unique_ptr<Batches> evaluation_batches(Session& session, const LoaderOptions& options,
                                            const SampleFormat& format,
                                            const std::shared_ptr<const FieldSource>& source) {
  const CommonArguments& arguments = session.arguments();
  const int threads = loader_threads(options, session.find_ranks(), session.device());
  auto loaded = std::make_unique<LoadedBatches>(
      source ? field_makers(source, std::nullopt, threads)
             : format.synthetic(arguments.seed + 1, threads),
      BatchOptions{.share = {.batch_size = micro_batch_size(arguments),
                             .rank = session.ranks().rank(),
                             .ranks = session.ranks().size()},
                   .device = session.device(),
                   .prefetch = options.prefetch,
                   .hwc_fields = format.hwc_fields});
  if (source || options.synthetic != "device")
    return loaded;
  return std::make_unique<ResidentBatches>(loaded->next());
}

void log_loader(const Batches& batches) {
  const auto work = batches.work();
  if (!work || work->samples == 0)
    return;
  log_value("loader_samples", work->samples);
  log_value("loader_samples_per_second_per_thread",
            static_cast<double>(work->samples) / work->seconds);
}

namespace {

std::string text_of(const Field& field) {
  return fmt::format("{} ({})", field.name, fmt::join(field.shape, ", "));
}

/// @throws UsageError naming the first field that differs
void check_fields(const std::vector<Field>& wanted, const std::vector<Field>& found,
                  const std::string& file) {
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i] != found[i])
      throw UsageError(
          fmt::format("{} has {}, expected {}", file, text_of(found[i]), text_of(wanted[i])),
          "give the size of the samples in the data set");
}

/// A format whose data sets are compared with the fields that a program needs.
SampleFormat checked(SampleFormat format, const std::vector<Field>& fields) {
  format.open = [open = std::move(format.open), fields](const std::vector<std::string>& files,
                                                        int threads) {
    std::unique_ptr<FieldSource> source = open(files, threads);
    check_fields(fields, source->fields(), files.front());
    return source;
  };
  return format;
}

}  // namespace

FieldData::FieldData(LoaderOptions options, SampleFormat format, const std::vector<Field>& fields,
                     std::int64_t synthetic_epoch)
    : options_(std::move(options)),
      format_(checked(std::move(format), fields)),
      epoch_samples_(synthetic_epoch) {}

LoaderOptions FieldData::part(const char* name) const {
  LoaderOptions options = options_;
  if (!is_synthetic())
    options.path += std::string("/") + name;
  return options;
}

void FieldData::clear_caches(Session& session) const {
  if (!session.arguments().mllog)
    return;
  const Ranks& ranks = session.find_ranks();
  const auto share = static_cast<std::size_t>(ranks.local_size.value_or(1));
  const auto first = static_cast<std::size_t>(ranks.local_rank.value_or(0));
  for (const char* name : {"train", "validation"}) {
    const std::string path = part(name).path;
    std::error_code ignored;
    if (is_synthetic() || !std::filesystem::is_directory(path, ignored))
      continue;
    const std::vector<std::string> files = find_data_files(path, format_.endings);
    for (std::size_t i = first; i < files.size(); i += share)
      drop_cached_pages({&files[i], 1});
  }
  mllog("cache_clear", true);
}

void FieldData::open(Session& session, std::int64_t eval_samples) {
  CommonArguments& arguments = session.arguments();
  if (is_synthetic() && arguments.samples_per_epoch == 0)
    arguments.samples_per_epoch = epoch_samples_;
  training_ = make_batches(session, part("train"), format_);
  epoch_samples_ = arguments.samples_per_epoch > 0
                       ? arguments.samples_per_epoch
                       : static_cast<std::int64_t>(training_->samples_per_epoch().value());
  if (is_synthetic() || eval_samples == 0)
    return;
  validation_ = open_data(session, part("validation"), format_, "evaluation_");
  if (validation_->samples() < static_cast<std::uint64_t>(eval_samples))
    throw UsageError(fmt::format("{} has {} samples, --eval-samples asks for {}",
                                 part("validation").path, validation_->samples(), eval_samples),
                     fmt::format("use --eval-samples {} or less", validation_->samples()));
  if (options_.cache)
    validation_ = std::make_shared<SampleCache>(validation_);
}

std::unique_ptr<Batches> FieldData::validation_batches(Session& session) const {
  return evaluation_batches(session, options_, format_, validation_);
}

}  // namespace bench::steps
