// dataset: writes data sets for the other step programs. See README.md.

#include "dataset/fields.hpp"
#include "dataset/images.hpp"
#include "harness/arguments.hpp"
#include "harness/program.hpp"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace {

using namespace bench;

int run(int argc, char** argv) {
  CLI::App app("Writes data sets for the other step programs.", "dataset");
  const CLI::App* const images = app.add_subcommand(
      "images", "A data set of images in another format, or images of noise, for `vision`");
  app.add_subcommand("fields", "A data set of random fields: HDF5, netCDF or TFRecord");
  app.require_subcommand(1);
  if (argc > 1 && argv[1][0] != '-' && !app.get_subcommand_no_throw(argv[1]))
    throw steps::UsageError(fmt::format("unknown subcommand '{}'", argv[1]),
                            "`dataset --help` lists the subcommands");
  // The subcommand reads what follows its name.
  if (!steps::parse_command_line(app, std::min(argc, 2), argv))
    return steps::exit_ok;
  return images->parsed() ? dataset::write_images(argc - 1, argv + 1)
                          : dataset::write_fields(argc - 1, argv + 1);
}

}  // namespace

int main(int argc, char** argv) {
  return steps::run_program("dataset", [&] { return run(argc, argv); });
}
