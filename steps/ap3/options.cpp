#include "ap3/options.hpp"

#include "harness/arguments.hpp"
#include "harness/inference.hpp"
#include "harness/loader_options.hpp"
#include "harness/schedule_options.hpp"
#include "harness/session.hpp"
#include "harness/validation.hpp"

#include <CLI/CLI.hpp>

namespace bench::ap3 {

bool read_options(steps::Session& session, int argc, char** argv, Options& options) {
  session.app()
      .add_option("--model", options.model,
                  "Convolutions (cnn), the recurrent network (lstm), or only reading (none)")
      ->check(CLI::IsMember({"cnn", "lstm", "none"}));
  steps::add_batch_options(session.app(), session.arguments());
  steps::add_data_options(session.app(), options.loader);
  steps::add_validation_options(session.app(), options.validation);
  steps::add_schedule_options(session.app(), options.schedule, "samples");
  steps::add_inference_option(session.app(), options.inference);
  if (!session.parse(argc, argv))
    return false;
  steps::check_schedule_options(session.app(), options.schedule);
  return true;
}

}  // namespace bench::ap3
