#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include <sys/types.h>
#include <unistd.h>

#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/render_context.hpp>
#include <bench/space/run.hpp>
#include <bench/space/segment.hpp>

namespace bench::space {
namespace {

constexpr std::array<std::string_view, 11> phrases{
    "result=oom",
    "out of memory",
    "out_of_memory",
    "outofmemory",
    "std::bad_alloc",
    "memoryerror",
    "oom-kill",
    "oom_kill",
    "cannot allocate memory",
    "can't allocate memory",           // LibTorch, of the host's
    "gib on each device, which has"};  // our step programs, before they begin

std::set<std::filesystem::path> output_files(const RenderContext& context) {
  std::set<std::filesystem::path> files;
  if (context.step.batch)
    return {context.work() / "stdout", context.work() / "stderr"};
  for (const model::Command& command : context.step.commands)
    for (const std::string* name : {&command.stdout_file, &command.stderr_file})
      files.insert((command.shared ? context.shared() : context.work()) /
                   context.substitute(*name));
  return files;
}

std::string end_of(const UniqueFd& file) {
  constexpr off_t most = 64 << 10;
  const off_t size = ::lseek(file.get(), 0, SEEK_END);
  std::string text(static_cast<std::size_t>(std::clamp<off_t>(size, 0, most)), '\0');
  const ssize_t count =
      ::pread(file.get(), text.data(), text.size(), std::max<off_t>(0, size - most));
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  return text;
}

}  // namespace

bool says_out_of_memory(const RenderContext& context) {
  return std::ranges::any_of(output_files(context), [&](const std::filesystem::path& name) {
    const UniqueFd file = open_output(context.run, name);
    return file.valid() && contains_any(to_lower(end_of(file)), phrases);
  });
}

}  // namespace bench::space
