#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include <fmt/core.h>
#include <sys/types.h>
#include <unistd.h>

#include <bench/base/files.hpp>
#include <bench/base/hash.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/render_context.hpp>
#include <bench/space/run.hpp>
#include <bench/space/segment.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::space {
namespace {

/// Whether a workpackage of the step may have files of its own to prepare. A name that holds a
/// parameter may turn out to be a file set.
bool uses_files(const model::Benchmark& benchmark, const model::Step& step) {
  return std::any_of(step.use.begin(), step.use.end(), [&](const std::string& name) {
    return name.find('$') != std::string::npos || benchmark.file_set(name) ||
           benchmark.substitute_set(name);
  });
}

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

bool watches(const model::Command& command) {
  return !command.done_file.empty() || !command.error_file.empty() || !command.break_file.empty();
}

bool is_barrier(const model::Step& step, int command) {
  const auto next = static_cast<std::size_t>(command);
  return next < step.commands.size() && step.commands[next].shared;
}

bool waits_at_barrier(const model::Step& step, const workspace::Workpackage& workpackage) {
  return workpackage.state == workspace::State::waiting &&
         is_barrier(step, workpackage.progress.command);
}

ExecutionSegment next_segment(const model::Benchmark& benchmark, const model::Step& step,
                              const workspace::Progress& progress) {
  const int size = static_cast<int>(step.commands.size());
  ExecutionSegment segment{
      .files = !progress.prepared, .begin = progress.command, .end = progress.command};
  if (step.batch) {
    segment.script = progress.prepared || !uses_files(benchmark, step);
    segment.end = segment.script ? size : segment.begin;
    return segment;
  }
  const auto command = [&](int k) -> const model::Command& {
    return step.commands[static_cast<std::size_t>(k)];
  };
  if (segment.end < size && command(segment.end).shared) {
    // The first command may be one: then the files come first, for every workpackage.
    segment.shared = progress.prepared;
    segment.end += segment.shared ? 1 : 0;
    return segment;
  }
  while (segment.end < size && !command(segment.end).shared)
    if (watches(command(segment.end++)))
      break;
  return segment;
}

std::string segment_digits(const workspace::Workpackage& workpackage) {
  const workspace::Progress& progress = workpackage.progress;
  std::string text = fmt::format("{}\n{}\n{} {} {}\n", workpackage.step, workpackage.iteration,
                                 progress.prepared, progress.cycle, progress.command);
  for (const auto& [name, value] : workpackage.parameters)
    text += fmt::format("{} {}\n{}\n", name, value.size(), value);
  return sha256(text).substr(0, 12);
}

bool is_scheduled(const Run& run, const model::Step& step) {
  return step.batch && run.platform.capabilities().queues_jobs;
}

bool is_scheduled(const Run& run, const workspace::Workpackage& workpackage) {
  return run.platform.capabilities().queues_jobs &&
         next_segment(run.benchmark, *run.benchmark.step(workpackage.step), workpackage.progress)
             .script;
}

Watched check_files(const model::Command& command, const RenderContext& context) {
  if (!context.holds(command.active, command.place))
    return {};
  const auto there = [&](const std::string& name, std::string& path) {
    if (name.empty())
      return false;
    path = (context.directory_of(command) / context.file_name(name)).string();
    return is_there(path);
  };
  Watched watched;
  if (there(command.error_file, watched.file))
    watched.state = Watched::State::failed;
  else if (there(command.break_file, watched.file))
    watched.state = Watched::State::broken;
  else if (!command.done_file.empty() && !there(command.done_file, watched.file))
    watched.state = Watched::State::waiting;
  return watched;
}

bool keeps_environment(const model::Step& step, const ExecutionSegment& segment,
                       const workspace::Progress& progress) {
  if (segment.script)
    return false;
  return step.exported || segment.end < static_cast<int>(step.commands.size()) ||
         progress.cycle + 1 < step.cycles;
}

bool says_out_of_memory(const RenderContext& context) {
  return std::ranges::any_of(output_files(context), [&](const std::filesystem::path& name) {
    const UniqueFd file = open_output(context.run, name);
    return file.valid() && contains_any(to_lower(end_of(file)), phrases);
  });
}

}  // namespace bench::space
