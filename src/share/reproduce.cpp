#include "reproduce.hpp"

#include "environment.hpp"
#include "package.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/markdown.hpp>
#include <bench/base/text.hpp>
#include <bench/space/metadata.hpp>
#include <bench/space/run.hpp>

namespace bench::crate {
namespace {

std::string cell(const std::string& text) {
  return markdown_text(one_line(text));
}

std::string environment_table(const std::vector<EnvironmentItem>& environment) {
  constexpr std::size_t most_bytes = 500;
  std::string text = "| | |\n|---|---|\n";
  for (const EnvironmentItem& item : environment)
    if (item.value.size() > most_bytes)
      text +=
          fmt::format("| {} | {} bytes, see `environment.json` |\n", item.name, item.value.size());
    else if (!item.value.empty())
      text += fmt::format("| {} | {} |\n", item.name, cell(item.value));
  return text;
}

}  // namespace

std::string reproduce_text(const setup::Run& run, const std::vector<EnvironmentItem>& environment,
                           const Package& package) {
  const setup::RunMetadata& metadata = run.metadata;
  std::string text = fmt::format(
      "# Run {0} of the benchmark {1}\n\n"
      "Started {2} on platform `{3}` with bench {4}.\n"
      "To repeat it, install bench {4} and run this command in this directory:\n\n"
      "    bench run . --outpath ../rerun\n\n"
      "It runs `input/resolved.xml`, the input with all that it includes, on the same platform.\n"
      "`--platform NAME` selects another one, `--account NAME` your account.\n"
      "`bench result run` shows the results of the run that was exported.\n\n",
      metadata.id, cell(metadata.benchmark), setup::start_in_utc(metadata), metadata.platform,
      metadata.bench_version);
  text +=
      "| path | content |\n|---|---|\n"
      "| `ro-crate-metadata.json` | the run as a Workflow Run RO-Crate |\n"
      "| `input/` | what the run was made from: input, platform, templates, files |\n"
      "| `run/` | its directory: database, job scripts, output, energy |\n"
      "| `environment.json` | machine and software, as far as they were recorded |\n"
      "| `scheduler.json` | records of the jobs, if any: bench's and the batch system's |\n"
      "| `left_out.csv` | files that are not here, and why |\n"
      "| `scrubbed.csv` | secrets that were replaced by `SCRUBBED` |\n"
      "| `SHA256SUMS` | `sha256sum -c SHA256SUMS` checks all files |\n\n";
  if (!package.scrubber().scrubbed().empty())
    text +=
        "Secrets of the run were replaced by `SCRUBBED`: see `scrubbed.csv`. Before you repeat\n"
        "the run, replace that word in `input/resolved.xml` with your own.\n\n";
  if (!package.left_out().empty())
    text +=
        "Some files are not part of the export: see `left_out.csv`. To repeat the run, you\n"
        "need those that its file sets name.\n\n";
  return text + "## Environment\n\n" + environment_table(environment);
}

}  // namespace bench::crate
