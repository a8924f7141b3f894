#include "command.hpp"
#include "output.hpp"

#include <array>
#include <exception>

#include <fmt/core.h>
#include <signal.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>

namespace bench::cli {
namespace {

constexpr int failure = 1;
constexpr int usage_error = 2;

const std::array<Command, 6> commands{{
    {"run", "expand a benchmark and run it", "bench run examples/quickstart.yaml --result",
     declare_run},
    {"continue", "take in what has ended and go on", "bench continue quickstart_run -i last",
     declare_continue},
    {"analyse", "scan the output of a run", "bench analyse quickstart_run", declare_analyse},
    {"result", "show the tables of a run", "bench result quickstart_run -s markdown",
     declare_result},
    {"info", "show runs, or one run in detail", "bench info quickstart_run -i last", declare_info},
    {"status", "print RUNNING, FINISHED or ERROR", "bench status quickstart_run", declare_status},
}};

int usage(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* at = &app;
  for (const CLI::App* command : app.get_subcommands())
    at = command;
  const std::string name = at == &app ? "bench" : "bench " + at->get_name();
  tell(fmt::format("error: {}\nhint: {} --help", error.what(), name));
  return usage_error;
}

/// `bench contine x` is worth a better answer than "the following arguments were not expected".
int unknown_command(const std::string& word) {
  std::vector<std::string> known;
  for (const Command& command : commands)
    known.emplace_back(command.name);
  const std::string near = did_you_mean(word, known);
  tell(fmt::format("error: there is no command '{}'\nhint: {}", word,
                   near.empty() ? "known: " + join(known, ", ") : near));
  return usage_error;
}

bool is_known(const std::string& word) {
  for (const Command& command : commands)
    if (word == command.name)
      return true;
  return false;
}

int run(int argc, char** argv) {
  CLI::App app("bench declares, runs and compares AI workloads on HPC systems.");
  app.set_version_flag("-V,--version", "bench " BENCH_VERSION);
  app.require_subcommand(1);
  app.footer("`bench COMMAND --help` has an example each. Runs are JUBE's, YAML in, tables out.");
  std::function<int()> action;
  for (const Command& command : commands) {
    CLI::App* sub = app.add_subcommand(command.name, command.summary);
    sub->footer(fmt::format("Example:\n  {}", command.example));
    sub->final_callback([&action, run_it = command.declare(*sub)] { action = run_it; });
  }
  if (argc > 1 && argv[1][0] != '-' && !is_known(argv[1]))
    return unknown_command(argv[1]);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked_for_help) {
    return app.exit(asked_for_help);
  } catch (const CLI::ParseError& error) {
    return usage(app, error);
  }
  return action();
}

}  // namespace
}  // namespace bench::cli

int main(int argc, char** argv) {
  // A reader of our output that goes away is an error that write reports, not a reason to die
  // half-way through a transition.
  signal(SIGPIPE, SIG_IGN);
  try {
    return bench::cli::run(argc, argv);
  } catch (const bench::Error& error) {
    bench::cli::tell(render(error));
  } catch (const std::exception& defect) {
    bench::cli::tell(
        fmt::format("error: {}\nhint: this is a defect of bench; please report it", defect.what()));
  }
  return bench::cli::failure;
}
