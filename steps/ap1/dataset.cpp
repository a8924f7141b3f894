#include "ap1/dataset.hpp"

#include "ap1/sample.hpp"
#include "ap1/stored_patch.hpp"
#include "ap1/synthetic.hpp"
#include "data/array_files.hpp"
#include "data/array_layout.hpp"
#include "data/field_source.hpp"
#include "data/fields.hpp"
#include "data/generated_samples.hpp"
#include "data/moments.hpp"
#include "data/transformed_fields.hpp"
#include "harness/loader_options.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bench::ap1 {
namespace {

steps::ArrayLayout layout_of(std::int64_t patch) {
  using enum steps::Axis;
  return {.fields = {{.name = "predictors",
                      .variable = "predictors",
                      .axes = {sample, tile_rows, tile_columns},
                      .type = steps::FieldType::float32},
                     {.name = "static_predictors",
                      .variable = "static_predictors",
                      .axes = {tile_rows, tile_columns},
                      .type = steps::FieldType::float32},
                     {.name = "target_mean",
                      .variable = "target_mean",
                      .axes = {sample, tile_rows, tile_columns},
                      .type = steps::FieldType::float32}},
          .indices = {{.name = "leadtime", .axis = sample},
                      {.name = "y", .axis = tile_rows},
                      {.name = "x", .axis = tile_columns}},
          .tile_rows = static_cast<std::uint64_t>(patch),
          .tile_columns = static_cast<std::uint64_t>(patch)};
}

/// From samples that are spread over the data set.
steps::FieldMoments moments_of(const steps::FieldSource& stored) {
  constexpr std::uint64_t samples = 64;
  return steps::moments_of(stored, samples, {{.count = dynamic_count}, {.count = static_count}});
}

/// @param memory the stored fields of a sample, in the order of `layout_of`
StoredPatch stored_patch(const steps::FieldMemory& memory) {
  return {.dynamic = steps::floats(memory[0]),
          .fixed = steps::floats(memory[1]),
          .target = steps::floats(memory[2]),
          .lead_time = steps::floats(memory[3]).front(),
          .rows = steps::floats(memory[4]),
          .columns = steps::floats(memory[5])};
}

}  // namespace

std::unique_ptr<steps::FieldSource> open_dataset(const std::vector<std::string>& files,
                                                 std::int64_t patch, steps::FieldMoments& moments) {
  std::shared_ptr<const steps::FieldSource> stored =
      steps::open_array_files(files, layout_of(patch),
                              {{.name = "predictors", .shape = {patch, patch, dynamic_count}},
                               {.name = "static_predictors", .shape = {patch, patch, static_count}},
                               {.name = "target_mean", .shape = {patch, patch}}});
  if (moments.empty())
    moments = moments_of(*stored);
  const Scales scales = scales_of(moments);
  return steps::transformed_fields(
      stored, fields(patch),
      [scales](const steps::FieldMemory& from, const steps::FieldMemory& to) {
        write_sample(stored_patch(from), scales, steps::floats(to[0]), steps::floats(to[1]));
      });
}

steps::SampleFormat sample_format(std::int64_t patch) {
  return {.synthetic = steps::generated_samples(fields(patch), generate_sample),
          .endings = steps::array_endings(),
          .open = [patch, moments = std::make_shared<steps::FieldMoments>()](
                      const std::vector<std::string>& files, int) {
            return open_dataset(files, patch, *moments);
          }};
}

}  // namespace bench::ap1
