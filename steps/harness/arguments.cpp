#include "harness/arguments.hpp"

#include "harness/errors.hpp"
#include "options/cli11.hpp"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <fmt/format.h>
#include <fmt/ranges.h>  // join, since fmt 11
#include <torch/version.h>

namespace bench::steps {
namespace {

constexpr std::int64_t many = std::int64_t{1} << 40;  // far above use, far below overflow

/// Returns true if `--version` is given without a value.
bool asks_for_version(int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    if (std::string_view(argv[i]) == "--version" &&
        (i + 1 == argc || std::string_view(argv[i + 1]).starts_with("-")))
      return true;
  return false;
}

}  // namespace

void add_common_options(CLI::App& app, CommonArguments& arguments) {
  app.option_defaults()->always_capture_default();
  app.add_option("--device", arguments.device, "auto, cpu, cuda or cuda:N");
  app.add_option("--precision", arguments.precision_name,
                 "Precision of matrix products and convolutions: fp32, tf32 (NVIDIA GPUs), bf16 or "
                 "fp16 (GPUs)")
      ->check(CLI::IsMember({"fp32", "tf32", "bf16", "fp16"}));
  CLI::Option* const steps = app.add_option("--steps", arguments.steps, "Measured steps")
                                 ->check(CLI::Range(std::int64_t{1}, many));
  app.add_option("--epochs", arguments.epochs, "Measured epochs, in place of --steps; 0: none")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 20))
      ->excludes(steps);
  app.add_option("--samples-per-epoch", arguments.samples_per_epoch,
                 "Samples of an epoch; 0: those of the data set")
      ->check(CLI::Range(std::int64_t{0}, many));
  app.add_option("--warmup", arguments.warmup, "Steps before them, not measured")
      ->check(CLI::Range(std::int64_t{0}, many));
  app.add_option(
         "--threads", arguments.threads,
         "CPU threads; 0: one per CPU that this process may use (OMP_NUM_THREADS is not read)")
      ->check(CLI::Range(0, 65536));
  app.add_option("--rank-timeout", arguments.rank_timeout_s,
                 "Seconds that a rank waits for another in a step before it gives up")
      ->check(steps::between(0.001, 1e6));
  app.add_option("--seed", arguments.seed, "Seed of weights and synthetic data")
      ->check(whole_and_not_negative());
  app.add_option("--time-limit", arguments.time_limit_s,
                 "Ends after the step that exceeds this time, in seconds; 0: no limit")
      ->check(not_negative());
  app.add_option("--peak-tflops", arguments.peak_tflops,
                 "Peak of a device in this precision, for mfu_percent; 0: unknown")
      ->check(not_negative());
  app.add_option("--timings", arguments.timings_file,
                 "Write every timed sample to this file, as csv (key,index,seconds)");
  app.add_option("--metrics", arguments.metrics_file,
                 "Write all results to this file, as a JSON object; rank N to FILE.N");
  app.add_option("--profile", arguments.profile_file,
                 "Write a trace of three more steps to this file, for Perfetto; rank N to FILE.N");
  app.add_option("--load-weights", arguments.load_weights,
                 "Start from the weights in this safetensors file");
  app.add_option("--save-weights", arguments.save_weights,
                 "Write the trained weights to this safetensors file")
      ->excludes("--profile");  // whose steps train as well
  app.add_flag("--deterministic", arguments.deterministic,
               "Use only algorithms that give the same bits in each run; may be slower on GPUs");
  app.add_flag("--mllog", arguments.mllog, "Also print MLPerf-style lines (unofficial)");
  app.add_flag("--describe", arguments.describe,
               "Print parameters, operations and bytes of the model and exit, without building it");
  app.add_flag("--build-info", arguments.build_info,
               "Print LibTorch's version, BLAS, communication and devices, and exit");
}

std::chrono::milliseconds CommonArguments::rank_timeout() const {
  return std::chrono::milliseconds(std::llround(rank_timeout_s * 1000));
}

void add_batch_size_option(CLI::App& app, CommonArguments& arguments) {
  app.add_option("--batch-size", arguments.batch_size, "Samples of each rank in a step")
      ->check(CLI::Range(std::int64_t{1}, many));
}

void add_batch_options(CLI::App& app, CommonArguments& arguments) {
  add_batch_size_option(app, arguments);
  app.add_option("--micro-batches", arguments.micro_batches,
                 "Parts of a batch that are passed one after the other, to need less memory; their "
                 "gradients are summed")
      ->check(CLI::Range(std::int64_t{1}, many));
}

std::int64_t micro_batch_size(const CommonArguments& arguments) {
  if (arguments.batch_size % arguments.micro_batches != 0)
    throw UsageError(fmt::format("a batch of {} cannot be divided into {} micro-batches",
                                 arguments.batch_size, arguments.micro_batches),
                     "--batch-size must be a multiple of --micro-batches");
  return arguments.batch_size / arguments.micro_batches;
}

bool parse_command_line(CLI::App& app, int argc, char** argv) {
  app.get_help_ptr()->description("print this help");
  const std::string help =
      fmt::format("`{} --help` lists the options and their defaults", app.get_name());
  std::string version = fmt::format("{} {}\n", app.get_name(), BENCH_VERSION);
  if (app.get_option_no_throw("--build-info"))  // a program that trains
    version += fmt::format("LibTorch {}\n", TORCH_VERSION);
  if (!app.get_option_no_throw("--version")) {
    app.set_version_flag("--version", version, "print the version");
  } else if (asks_for_version(argc, argv)) {
    fmt::print("{}", version);
    return false;
  }
  try {
    if (argc > 1 && argv[1][0] != '-' && !app.get_subcommands({}).empty())
      throw CLI::ExtrasError({argv[1]});  // whatever follows, such as --help
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", text_of(options::help_of(app, app.get_name())));
    return false;
  } catch (const CLI::CallForVersion&) {
    fmt::print("{}", version);
    return false;
  } catch (const CLI::ParseError& error) {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    const options::Refusal refusal = options::refusal_of(app, error, arguments);
    const char* const separator = refusal.hint.ends_with("?") ? " " : "; ";
    throw UsageError(refusal.message,
                     refusal.hint.empty() ? help : refusal.hint + separator + help);
  }
  return true;
}

std::string options_in_common(const CLI::App& app) {
  static const std::set<std::string> own{
      "--help",         "--device",    "--threads",  "--timings",        "--metrics",    "--mllog",
      "--rank-timeout", "--data-path", "--stage-to", "--loader-threads", "--peak-tflops"};
  std::string lines = "the program " + app.get_name() + "\n";
  for (const CLI::Option* option : app.get_options()) {
    if (own.contains(option->get_name()) || option == app.get_version_ptr())
      continue;
    std::string value = option->get_default_str();
    if (option->count() > 0)
      value = fmt::format("{}", fmt::join(option->results(), " "));
    lines += value.empty() ? "no " + option->get_name() + "\n"
                           : fmt::format("{} {}\n", option->get_name(), value);
  }
  return lines;
}

namespace {

/// @param words what it takes, for errors
/// @param short_words for --help
CLI::Validator finite_number(const std::string& words, const std::string& short_words,
                             const std::function<bool(double)>& holds) {
  return {[words, holds](const std::string& input) -> std::string {
            double value = 0;
            if (CLI::detail::lexical_cast(input, value) && std::isfinite(value) && holds(value))
              return "";
            return fmt::format("{} is not a {}", input, words);
          },
          short_words};
}

}  // namespace

CLI::Validator positive() {
  return finite_number("finite number above 0", "POSITIVE", [](double value) { return value > 0; });
}

CLI::Validator not_negative() {
  return finite_number("finite number from 0 on", "NONNEGATIVE",
                       [](double value) { return value >= 0; });
}

CLI::Validator between(double least, double most) {
  return finite_number(fmt::format("number from {} to {}", least, most),
                       fmt::format("in [{} - {}]", least, most),
                       [=](double value) { return value >= least && value <= most; });
}

CLI::Validator from_0_to_below_1() {
  return finite_number("number from 0 to below 1", "in [0 - 1)",
                       [](double value) { return value >= 0 && value < 1; });
}

CLI::Validator multiple_of(std::int64_t divisor, std::int64_t most) {
  return {[=](const std::string& input) -> std::string {
            std::int64_t value = 0;
            if (CLI::detail::lexical_cast(input, value) && value > 0 && value <= most &&
                value % divisor == 0)
              return "";
            return fmt::format("{} is not a multiple of {} from {} to {}", input, divisor, divisor,
                               most);
          },
          fmt::format("multiple of {}", divisor)};
}

CLI::Validator whole_and_not_negative() {
  return {[](const std::string& input) -> std::string {
            std::uint64_t value = 0;
            if (!input.starts_with('-') && CLI::detail::lexical_cast(input, value))
              return "";
            return fmt::format("{} is not a whole number from 0 to 18446744073709551615", input);
          },
          "NONNEGATIVE"};
}

}  // namespace bench::steps
