#include "harness/arguments.hpp"

#include "harness/program.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace bench::steps {
namespace {

constexpr std::int64_t many = std::int64_t{1} << 40;  // far above use, far below overflow

}  // namespace

void add_common_options(CLI::App& app, CommonArguments& arguments) {
  app.option_defaults()->always_capture_default();
  app.add_option("--device", arguments.device, "auto, cpu, cuda or cuda:N");
  app.add_option(
         "--precision", arguments.precision_name,
         "Of matrix products and convolutions: fp32, tf32 (NVIDIA GPUs), bf16 or fp16 (GPUs)")
      ->check(CLI::IsMember({"fp32", "tf32", "bf16", "fp16"}));
  app.add_option("--steps", arguments.steps, "Steps that are measured")
      ->check(CLI::Range(std::int64_t{1}, many));
  app.add_option("--warmup", arguments.warmup, "Steps before them that are not")
      ->check(CLI::Range(std::int64_t{0}, many));
  app.add_option("--threads", arguments.threads,
                 "CPU threads; 0: one for each CPU this process may use (OMP_NUM_THREADS is not "
                 "read)")
      ->check(CLI::Range(0, 65536));
  app.add_option("--seed", arguments.seed, "Of weights and synthetic data");
  app.add_option("--timings", arguments.timings_file,
                 "Write every timed sample to this file, as csv (key,index,seconds)");
  app.add_option("--metrics", arguments.metrics_file,
                 "Write all results to this file, as a JSON object; rank N to FILE.N");
  app.add_flag("--mllog", arguments.mllog, "Print MLPerf-style lines too (unofficial)");
  app.add_flag("--describe", arguments.describe,
               "Print parameters, operations and bytes of the model and exit, without building it");
}

void add_batch_size_option(CLI::App& app, CommonArguments& arguments) {
  app.add_option("--batch-size", arguments.batch_size, "Samples per step")
      ->check(CLI::Range(std::int64_t{1}, many));
}

bool parse_command_line(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return false;
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what(), fmt::format("`{} --help` lists the options and their defaults",
                                               app.get_name()));
  }
  return true;
}

}  // namespace bench::steps
