#include "reproduce.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/setup/run.hpp>

namespace bench::crate {
namespace {

/// A text in a cell of a table.
std::string cell(const std::string& text) {
  return replace_all(one_line(text), "|", "\\|");
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
      metadata.id, metadata.benchmark, metadata.started, metadata.platform, metadata.bench_version);
  text +=
      "| path | content |\n|---|---|\n"
      "| `ro-crate-metadata.json` | the run as a Workflow Run RO-Crate |\n"
      "| `input/` | what it was made from: input, platform, templates, files |\n"
      "| `run/` | its directory: database, job scripts, output, energy |\n"
      "| `environment.json` | machine and software, as far as they were recorded |\n"
      "| `scheduler.json` | jobs: our record and that of the batch system, if there were any |\n"
      "| `left_out.csv` | files that are not here, and why |\n"
      "| `scrubbed.csv` | secrets that were replaced by `SCRUBBED` |\n"
      "| `SHA256SUMS` | `sha256sum -c SHA256SUMS` checks all files |\n\n";
  if (!package.scrubber().scrubbed().empty())
    text +=
        "The run had secrets, which are replaced by `SCRUBBED`: see `scrubbed.csv`. Put your\n"
        "own into `input/resolved.xml` where it has that word.\n\n";
  if (!package.left_out().empty())
    text +=
        "Some files are not part of the export: see `left_out.csv`. The run needs those that\n"
        "file sets name.\n\n";
  return text + "## Environment\n\n" + environment_table(environment);
}

}  // namespace bench::crate
