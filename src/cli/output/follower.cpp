#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <unistd.h>

#include <bench/base/below.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/cli/output/console.hpp>
#include <bench/cli/output/follower.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/machine/job.hpp>

namespace bench::cli {
namespace {

/// A longer line is printed in pieces, so that output without lines needs no memory.
constexpr std::size_t longest_line = 64 * std::size_t{1024};

/// The line as shown; drawing it starts over.
std::string take_line(long long workpackage, std::string& line) {
  return fmt::format("[{}] {}\n", workpackage, std::exchange(line, {}));
}

/// The files that the commands of a job append to, each once.
std::vector<std::filesystem::path> outputs_of(const machine::Job& job) {
  if (job.is_batch())
    return {job.work_directory / "stdout", job.work_directory / "stderr"};
  std::vector<std::filesystem::path> outputs;
  for (const machine::Snippet& snippet : job.snippets)
    for (const auto& file : {snippet.stdout_file, snippet.stderr_file})
      if (!file.empty() && std::ranges::find(outputs, file) == outputs.end())
        outputs.push_back(file);
  return outputs;
}

}  // namespace

void Follower::start(const machine::Job& job) {
  std::vector<Output>& followed = running_[job.workpackage];
  followed.clear();
  for (const std::filesystem::path& file : outputs_of(job)) {
    std::error_code absent;
    const auto size = std::filesystem::file_size(file, absent);
    followed.push_back({file, absent ? 0 : size, ""});
  }
}

void Follower::poll() {
  for (auto& [workpackage, outputs] : running_)
    for (Output& output : outputs)
      print_new(workpackage, output);
}

void Follower::stop(long long workpackage) {
  const auto found = running_.find(workpackage);
  if (found == running_.end())
    return;
  for (Output& output : found->second) {
    print_new(workpackage, output);
    if (!output.line.empty())
      print(take_line(workpackage, output.line));
    if (std::error_code gone; output.read < std::filesystem::file_size(output.file, gone) && !gone)
      print(fmt::format("[{}] ... and more in {}\n", workpackage, output.file.string()));
  }
  running_.erase(found);
}

void Follower::print_new(long long workpackage, Output& output) {
  const UniqueFd file = open_regular_file(output.file);
  std::array<char, longest_line> buffer;
  while (!console().is_behind()) {
    const ssize_t count =
        ::pread(file.get(), buffer.data(), buffer.size(), static_cast<::off_t>(output.read));
    if (count <= 0)
      return;
    const std::string_view text(buffer.data(), static_cast<std::size_t>(count));
    output.read += text.size();
    std::string lines;
    for (const char c : text) {
      if (c == '\n' || output.line.size() == longest_line)
        lines += take_line(workpackage, output.line);
      if (c != '\n')
        output.line += c;
    }
    print(lines);
  }
}

}  // namespace bench::cli
