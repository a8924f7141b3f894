#include "ap4/data.hpp"

#include "data/array_fields.hpp"
#include "data/field_files.hpp"
#include "data/field_samples.hpp"
#include "data/field_transforms.hpp"
#include "data/fields.hpp"
#include "data/files.hpp"
#include "data/random.hpp"
#include "harness/errors.hpp"
#include "harness/loader_options.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>  // join, since fmt 11

namespace bench::ap4 {

std::vector<steps::Field> fields(const Grid& grid) {
  return {{.name = "predictors", .shape = {predictor_count, grid.height, grid.width}},
          {.name = "scale", .shape = {2, grid.height, grid.width}},
          {.name = "target", .shape = {1, grid.height, grid.width}}};
}

namespace {

// Size and spread of the geopotential at 500 hPa, m^2 s^-2, and a typical spread of the members.
constexpr double climate_mean = 52000;
constexpr double climate_deviation = 7000;
constexpr double least_spread = 50;
constexpr double most_spread = 150;

constexpr double explained = 0.9;  ///< Correlation of temperature and error.

}  // namespace

void generate_sample(steps::Random random, const steps::FieldMemory& sample) {
  const std::span<float> predictors = steps::floats(sample[0]);
  const std::span<float> scale = steps::floats(sample[1]);
  const std::span<float> target = steps::floats(sample[2]);
  const std::size_t points = target.size();
  const auto predictor = [&](Variable variable, std::size_t point) {
    return static_cast<double>(predictors[static_cast<std::size_t>(variable) * points + point]);
  };
  std::ranges::generate(predictors, [&] { return random.normal(); });
  for (std::size_t point = 0; point < points; ++point) {
    const double mean =
        climate_mean + climate_deviation * predictor(Variable::geopotential, point) / 4;
    const double spread = least_spread + (most_spread - least_spread) * random.uniform();
    const double error = explained * predictor(Variable::temperature, point) +
                         std::sqrt(1 - explained * explained) * random.normal();
    scale[point] = static_cast<float>(mean);
    scale[points + point] = static_cast<float>(spread);
    target[point] = static_cast<float>(mean + spread * error);
  }
}

namespace {

struct Ens10File {
  const char* name;
  std::vector<std::string> variables;
};

/// In the order of the fields of a sample.
const std::vector<Ens10File>& ens10_files() {
  static const std::vector<std::string> all{"Z", "T", "Q", "W", "D", "U", "V"};
  static const std::vector<Ens10File> files{{"ENS10_pl_mean_normalized.nc", all},
                                            {"ENS10_pl_std_normalized.nc", all},
                                            {"ENS10_pl_mean.nc", {"Z"}},
                                            {"ENS10_pl_std.nc", {"Z"}},
                                            {"ERA5_z500.nc", {"Z"}}};
  return files;
}

/// @throws UsageError if there is none of that name
std::string path_of(const Ens10File& file, const std::vector<std::string>& files) {
  const auto found = std::ranges::find_if(files, [&](const std::string& path) {
    return std::filesystem::path(path).filename() == file.name;
  });
  if (found != files.end())
    return *found;
  throw steps::UsageError(
      fmt::format("no file {} among the {} files of the data set", file.name, files.size()),
      "give the folder of a data set that was prepared as in steps/ap4/README.md");
}

void check_shape(const steps::Field& field, const Grid& grid, const std::string& path) {
  std::vector<std::int64_t> shape = field.shape;
  if (shape.size() == 3 && shape.front() == 1)
    shape.erase(shape.begin());
  if (shape == std::vector{grid.height, grid.width})
    return;
  throw steps::DataError(
      path,
      fmt::format("variable '{}' has fields of shape ({}), expected ({}, {}) of one level",
                  field.name, fmt::join(field.shape, ", "), grid.height, grid.width),
      "select 500 hPa, for example by `cdo sellevel,50000`, or give --height and --width");
}

std::shared_ptr<const steps::FieldSource> open_file(const Ens10File& file, const std::string& path,
                                                    const Grid& grid) {
  steps::ArrayLayout layout;
  for (const std::string& variable : file.variables)
    layout.fields.push_back(
        {.name = variable, .axes = {steps::Axis::sample}, .type = steps::FieldType::float32});
  std::shared_ptr<const steps::FieldSource> source =
      steps::open_netcdf_fields({path}, std::move(layout));
  for (const steps::Field& field : source->fields())
    check_shape(field, grid, path);
  return source;
}

}  // namespace

std::unique_ptr<steps::FieldSource> open_ens10(const std::vector<std::string>& files,
                                               const Grid& grid) {
  std::vector<std::shared_ptr<const steps::FieldSource>> sources;
  for (const Ens10File& file : ens10_files()) {
    const std::string path = path_of(file, files);
    sources.push_back(open_file(file, path, grid));
    if (sources.back()->samples() != sources.front()->samples())
      throw steps::DataError(path,
                             fmt::format("{} times, {} has {}", sources.back()->samples(),
                                         ens10_files().front().name, sources.front()->samples()),
                             "select the same times from all files of ENS-10 and ERA5");
  }
  std::vector<steps::JoinedField> joined;
  constexpr std::size_t parts[] = {static_cast<std::size_t>(predictor_count), 2, 1};
  for (const steps::Field& field : fields(grid))
    joined.push_back({.field = field, .parts = parts[joined.size()]});
  return steps::join_fields(std::move(sources), joined);
}

steps::SampleFormat sample_format(const Grid& grid) {
  return {.synthetic = steps::generated_samples(fields(grid), generate_sample),
          .endings = {steps::netcdf_endings.begin(), steps::netcdf_endings.end()},
          .open = [grid](const std::vector<std::string>& files, int) {
            return open_ens10(files, grid);
          }};
}

}  // namespace bench::ap4
