#include "harness/field_data.hpp"

#include "data/data_files.hpp"
#include "data/field_source.hpp"
#include "data/fields.hpp"
#include "data/page_cache.hpp"
#include "data/sample_cache.hpp"
#include "harness/arguments.hpp"
#include "harness/batches.hpp"
#include "harness/loader_options.hpp"
#include "harness/mllog.hpp"
#include "harness/program.hpp"
#include "harness/ranks.hpp"
#include "harness/session.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>  // join, since fmt 11

namespace bench::steps {
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
