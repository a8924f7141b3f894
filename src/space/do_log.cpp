#include "do_log.hpp"

#include <filesystem>
#include <string>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/machine/file_operation.hpp>
#include <bench/machine/job.hpp>
#include <bench/space/render_context.hpp>

namespace bench::job {
namespace {

namespace fs = std::filesystem;

}  // namespace

void log_commands(const RenderContext& context, execute::Job& job) {
  const std::string name = context.substitute(context.step.do_log_file);
  if (name.empty())
    return;
  // As in JUBE: a plain name lies beside `work`, one with a slash is relative to here.
  const fs::path file =
      name.find('/') == std::string::npos ? context.directory() / name : fs::absolute(name);
  for (execute::Snippet& snippet : job.snippets) {
    if (snippet.text.empty())
      continue;
    const fs::path& directory = snippet.directory.empty() ? job.work_directory : snippet.directory;
    const std::string command =
        fmt::format("cd {}\n{}\n", shell_quote(directory.string()), snippet.text);
    snippet.before.push_back(
        execute::LogCommand{.run = context.run.directory.path, .file = file, .command = command});
  }
}

}  // namespace bench::job
