#include "follower.hpp"

#include "output.hpp"

#include <algorithm>
#include <array>
#include <fstream>

#include <fmt/core.h>

namespace bench::cli {
namespace {

/// A longer line is printed in pieces, so that output without lines needs no memory.
constexpr std::size_t longest_line = 64 * std::size_t{1024};

void print_line(long long workpackage, std::string& line) {
  print(fmt::format("[{}] {}\n", workpackage, line));
  line.clear();
}

/// The files that the commands of a job append to, each once.
std::vector<std::filesystem::path> outputs_of(const schedule::Job& job) {
  if (job.is_batch())
    return {job.work_directory / "stdout", job.work_directory / "stderr"};
  std::vector<std::filesystem::path> outputs;
  for (const schedule::Snippet& snippet : job.snippets)
    for (const auto& file : {snippet.stdout_file, snippet.stderr_file})
      if (!file.empty() && std::ranges::find(outputs, file) == outputs.end())
        outputs.push_back(file);
  return outputs;
}

}  // namespace

void Follower::start(const schedule::Job& job) {
  std::vector<Output>& followed = running_[job.workpackage];
  followed.clear();
  for (const std::filesystem::path& file : outputs_of(job)) {
    std::error_code absent;
    const auto size = std::filesystem::file_size(file, absent);
    followed.push_back({file, absent ? 0 : size, ""});
  }
}

void Follower::look() {
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
      print_line(workpackage, output.line);
  }
  running_.erase(found);
}

void Follower::print_new(long long workpackage, Output& output) {
  std::ifstream file(output.file, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(output.read));
  std::array<char, longest_line> buffer;
  while (file.read(buffer.data(), buffer.size()), file.gcount() > 0) {
    const std::string_view text(buffer.data(), static_cast<std::size_t>(file.gcount()));
    output.read += text.size();
    for (const char c : text) {
      if (c == '\n' || output.line.size() == longest_line)
        print_line(workpackage, output.line);
      if (c != '\n')
        output.line += c;
    }
  }
}

}  // namespace bench::cli
