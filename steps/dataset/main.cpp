// dataset: writes data sets for the other step programs. See README.md.

#include "dataset/writers.hpp"
#include "harness/arguments.hpp"
#include "harness/program.hpp"

#include <string>

#include <CLI/CLI.hpp>

namespace bench::dataset {
namespace {

struct Subcommand {
  std::string name;
  std::string description;
  int (*run)(int argc, char** argv);
};

}  // namespace

int main(int argc, char** argv) {
  const Subcommand subcommands[] = {
      {"images", "Images for `vision`: a data set in another format, or noise", write_images},
      {"fields", "Random fields in HDF5, netCDF or TFRecord files", write_fields},
      {"tokens", "A corpus of tokens for `gpt` and `llama` from plain text", write_tokens},
      {"texts", "Labelled texts of csv files as tokens, for `ap2`", write_texts}};
  CLI::App app("Writes data sets for the other step programs.", "dataset");
  for (const Subcommand& subcommand : subcommands) {
    app.add_subcommand(subcommand.name, subcommand.description);
    if (argc > 1 && argv[1] == subcommand.name)
      return subcommand.run(argc - 1, argv + 1);
  }
  app.require_subcommand(1);
  steps::parse_command_line(app, argc, argv);
  return steps::exit_ok;
}

}  // namespace bench::dataset
