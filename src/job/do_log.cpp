#include "do_log.hpp"

#include <fcntl.h>
#include <fmt/core.h>

#include <bench/base/below.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/job/environment.hpp>

namespace bench::job {
namespace {

namespace fs = std::filesystem;

std::string lines_of(const Environment& environment) {
  std::string lines;
  for (const auto& [name, value] : changes_of(environment))
    lines += value ? fmt::format("export {}={}\n", name, shell_quote(*value))
                   : fmt::format("unset {}\n", name);
  return lines;
}

}  // namespace

void log_commands(const RenderContext& context, execute::Job& job) {
  const std::string name = context.substitute(context.step.do_log_file);
  if (name.empty())
    return;
  // As in JUBE: a plain name stands beside `work`, one with a slash is relative to here.
  const fs::path file =
      name.find('/') == std::string::npos ? context.directory() / name : fs::absolute(name);
  for (execute::Snippet& snippet : job.snippets) {
    if (snippet.text.empty())
      continue;
    const fs::path& directory = snippet.directory.empty() ? job.work_directory : snippet.directory;
    const std::string command =
        fmt::format("cd {}\n{}\n", shell_quote(directory.string()), snippet.text);
    snippet.before = [before = snippet.before, run = context.run.directory.path, file,
                      command](const Environment& environment) {
      if (before)
        before(environment);
      make_directories(file.parent_path());
      const char* first_line = is_there(file) ? "" : "#!/bin/sh\n";
      write_all(open_to_write(run, file, O_APPEND), first_line + lines_of(environment) + command,
                file);
    };
  }
}

}  // namespace bench::job
