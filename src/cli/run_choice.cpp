#include "command.hpp"

namespace bench::cli {

void RunChoice::declare(CLI::App& app) {
  app.add_option("DIR", directory, "outpath of the benchmark, or the directory of one run")
      ->capture_default_str();
  app.add_option("-i,--id", ids, "run: a number, -1 for the newest, last or all; default: last")
      ->type_name("ID");
}

}  // namespace bench::cli
