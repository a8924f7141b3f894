#include "input_files.hpp"

#include <filesystem>
#include <string>
#include <system_error>

#include <bench/share/rerun.hpp>
#include <bench/space/input.hpp>
#include <bench/space/metadata.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::crate {
namespace {

namespace fs = std::filesystem;

/// The outpath of the benchmark without its directories, which belong to another machine.
std::string outpath_of(const setup::RunMetadata& metadata) {
  return (metadata.benchmark.find('/') == std::string::npos ? metadata.benchmark : "rerun") +
         "_rerun";
}

}  // namespace

bool is_export(const fs::path& directory) {
  std::error_code absent;
  return fs::is_regular_file(directory / "ro-crate-metadata.json", absent) &&
         fs::is_regular_file(directory / resolved_file, absent) &&
         fs::is_regular_file(directory / "run" / "workspace.db", absent);
}

setup::Request rerun_request(const fs::path& directory, setup::Request request) {
  using workspace::Workspace;
  const setup::RunMetadata metadata = setup::metadata_from(
      Workspace::open(directory / run_directory, Workspace::Access::read).facts());
  const auto take = [](std::string& option, const std::string& recorded) {
    if (option.empty())
      option = recorded;
  };
  request.input_file = directory / resolved_file;
  const bool same_platform = request.platform.empty() && request.tags.empty();
  take(request.outpath, outpath_of(metadata));
  if (request.only_benchmarks.empty())
    request.only_benchmarks = {metadata.benchmark};
  if (!request.comment)
    request.comment = metadata.comment;
  if (!request.order_seed)
    request.order_seed = metadata.order_seed;
  if (!request.parallel && metadata.parallel)
    request.parallel = static_cast<int>(*metadata.parallel);
  take(request.power_source, metadata.power_source);
  if (same_platform) {
    request.platform = metadata.platform;
    take(request.asking.partition, metadata.partition.value_or(""));
    take(request.asking.qos, metadata.qos.value_or(""));
    if (!request.launcher)
      request.launcher = metadata.launcher;
  }
  return request;
}

}  // namespace bench::crate
