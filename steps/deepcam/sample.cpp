#include "deepcam/sample.hpp"

#include "data/checked_fields.hpp"
#include "data/data_error.hpp"
#include "data/field_source.hpp"
#include "data/fields.hpp"
#include "data/hdf5_fields.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace bench::deepcam {
namespace {

/// @param file of the sample
/// @throws steps::DataError if a label is no class
void check_labels(const std::string& file, std::span<const std::int64_t> labels,
                  std::int64_t width) {
  const auto bad = std::ranges::find_if(
      labels, [](std::int64_t label) { return label < 0 || label >= label::count; });
  if (bad == labels.end())
    return;
  const std::int64_t point = bad - labels.begin();
  throw steps::DataError(file,
                         fmt::format("variable 'climate/labels_0' at ({}, {}): {} is not a class "
                                     "from 0 to {}",
                                     point / width, point % width, *bad, label::count - 1));
}

}  // namespace

std::vector<steps::Field> fields(std::int64_t height, std::int64_t width) {
  return {{.name = "data", .shape = {height, width, channel_count}},
          {.name = "labels", .type = steps::FieldType::int64, .shape = {height, width}}};
}

std::unique_ptr<steps::FieldSource> open_samples(const std::vector<std::string>& files) {
  auto source = steps::open_hdf5_fields(
      files, {.fields = {{.name = "data", .variable = "climate/data", .axes = {}},
                         {.name = "labels", .variable = "climate/labels_0", .axes = {}}}});
  const std::int64_t width = source->fields()[1].shape[1];
  // Each file is one sample.
  return steps::checked_fields(
      std::move(source), [files, width](std::uint64_t sample, const steps::FieldMemory& memory) {
        check_labels(files[sample], steps::integers(memory[1]), width);
      });
}

}  // namespace bench::deepcam
