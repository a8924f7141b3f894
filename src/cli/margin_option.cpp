#include "command.hpp"

namespace bench::cli {

void declare_margin(CLI::App& app, double& percent) {
  app.add_option("--margin", percent, "the smallest change that matters")
      ->type_name("PERCENT")
      ->check(number_above_zero())
      ->capture_default_str();
}

}  // namespace bench::cli
