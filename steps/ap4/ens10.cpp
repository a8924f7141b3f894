#include "ap4/ens10.hpp"

#include "ap4/sample.hpp"
#include "ap4/synthetic.hpp"
#include "data/array_layout.hpp"
#include "data/data_error.hpp"
#include "data/field_source.hpp"
#include "data/fields.hpp"
#include "data/generated_samples.hpp"
#include "data/joined_fields.hpp"
#include "data/netcdf_fields.hpp"
#include "harness/loader_options.hpp"
#include "harness/program.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>  // join, since fmt 11

namespace bench::ap4 {
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
    layout.fields.push_back({.name = variable,
                             .variable = variable,
                             .axes = {steps::Axis::sample},
                             .type = steps::FieldType::float32});
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
