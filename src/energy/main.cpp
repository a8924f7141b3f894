#include <algorithm>
#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/child.hpp>
#include <bench/energy/local_rank.hpp>
#include <bench/energy/report.hpp>
#include <bench/energy/sampler.hpp>

namespace bench::energy {
namespace {

/// Of this program's own mistakes, as nohup and timeout have it.
constexpr int code_of_usage = 125;
/// A driver that takes longer to come up does not hold the program back.
constexpr std::chrono::seconds start_patience{10};
/// Some counters wrap after minutes, so they must be read now and then.
constexpr double shortest_interval_s = 0.001;
constexpr double longest_interval_s = 10;

struct Options {
  std::vector<std::string> methods;
  std::string interval = "100ms";
  std::filesystem::path out;
  std::string suffix;
  std::filesystem::path sysfs_root = "/sys";
  bool list = false;
  bool strict = false;
  std::vector<std::string> program;
};

constexpr const char* description =
    "Runs a program and measures the energy that the node draws meanwhile.\n"
    "The program's output, exit code and signals pass through; the result goes to standard error.";
constexpr const char* footer =
    "Example:\n"
    "  bench-energy --out energy --interval 50ms -- python3 train.py --epochs 1\n"
    "  srun bench-energy --out energy --suffix %h -- ./train    (one sampler and file per node)\n"
    "\n"
    "Files in the --out directory: power.csv, energy.csv, energy.txt.\n"
    "Exit code: the program's; 125 for a mistake in these options, 126 if the program cannot be\n"
    "run, 127 if it is not found.";

class HelpText : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* /*app*/, std::string /*name*/) const override {
    return "Usage: bench-energy [options] -- program args\n";
  }
};

void add_options(CLI::App& app, Options& options) {
  app.add_option(
         "--method", options.methods,
         "Power source, or several with commas: auto (as far as they are there: pm_counters, rapl, "
         "hwmon, nvml, amd), any of these, amdgpu, rocm, amdsmi (amd is the first of them that "
         "works), gcipu, ipmi, slurm, "
         "command:NAME[/INTERVAL]=COMMAND (prints watts; takes the rest of the option), "
         "estimates from utilisation (model:cpu=20W..65W, model:node=300W..900W, "
         "model:gpu=60W..400W), mock:constant=100W")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app.add_option("--interval", options.interval, "Mean time between samples, 1ms to 10s")
      ->type_name("TIME")
      ->capture_default_str();
  app.add_option("--out", options.out, "Directory for the files; without it none are written")
      ->type_name("DIR");
  app.add_option("--suffix", options.suffix,
                 "Goes into the file names, power.SUFFIX.csv; %h is the host's name")
      ->type_name("TEXT");
  app.add_option("--sysfs-root", options.sysfs_root, "Look here in place of /sys")
      ->type_name("DIR");
  app.add_flag("--list", options.list, "Show what this node has, and why the rest is not there");
  app.add_flag("--strict", options.strict,
               "Exit with 125 if a named source is absent or the energy is not complete");
}

void check_left_over(const CLI::App& app) {
  const std::vector<std::string> rest = app.remaining();
  if (rest.empty())
    return;
  if (!rest[0].starts_with("-"))
    throw Error(fmt::format("unexpected argument '{}'", rest[0]),
                "put -- before the program: bench-energy [options] -- program args");
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options())
    known.push_back(option->get_name());
  throw Error(fmt::format("unknown option '{}'", rest[0]),
              did_you_mean(rest[0].substr(0, rest[0].find('=')), known));
}

/// The options; nothing if help was asked for and given.
std::optional<Options> parse(std::vector<std::string> arguments) {
  Options options;
  const auto separator = std::ranges::find(arguments, "--");
  if (separator != arguments.end())
    options.program.assign(separator + 1, arguments.end());
  arguments.erase(separator, arguments.end());
  CLI::App app(description, "bench-energy");
  app.footer(footer);
  app.formatter(std::make_shared<HelpText>());
  app.allow_extras();
  add_options(app, options);
  std::ranges::reverse(arguments);  // as CLI11 wants a vector
  try {
    app.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return std::nullopt;
  } catch (const CLI::ParseError& mistake) {
    throw Error(mistake.what(), "see bench-energy --help");
  }
  check_left_over(app);
  if (options.program.empty() && !options.list)
    throw Error("no program to run", "bench-energy [options] -- program args");
  return options;
}

SamplerSettings sampler_settings(const Options& options, const std::string& suffix) {
  SamplerSettings settings;
  settings.sources = parse_methods(options.methods);
  settings.sources.sysfs_root = options.sysfs_root;
  const double interval_s = parse_interval_s(options.interval);
  if (interval_s < shortest_interval_s || interval_s > longest_interval_s)
    throw Error(fmt::format("--interval {} is out of range", options.interval), "1ms to 10s");
  settings.interval = std::chrono::nanoseconds(static_cast<long long>(interval_s * 1e9));
  if (!options.out.empty()) {
    make_directories(options.out);
    settings.power_log = options.out / fmt::format("power{}.csv", suffix);
  }
  return settings;
}

std::string file_suffix(const std::string& text) {
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  if (text.find('/') != std::string::npos)
    throw Error(fmt::format("--suffix '{}' has a slash", text), "name a directory with --out");
  return text.empty() ? "" : "." + replace_all(text, "%h", host);
}

/// A closed standard error must not change the exit code, so a failure to write is no matter here.
void say(const std::string& line) {
  std::fputs(fmt::format("bench-energy: {}\n", line).c_str(), stderr);
}

/// Keeps files of ours from taking the place of a standard descriptor that was closed. The program
/// sees it closed as before.
void occupy_standard_descriptors() {
  int fd = 0;
  while (fd >= 0 && fd <= STDERR_FILENO)
    fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (fd >= 0)
    ::close(fd);
}

int fail_to_start(const Started& started) {
  say(started.message);
  return started.exit_code;
}

void write_results(const Options& options, const std::string& suffix,
                   const Measurement& measurement) {
  std::string text;
  for (const auto& [name, value] : summary(measurement)) {
    const std::string line = fmt::format("{}={}", name, value);
    text += line + "\n";
    say(line);
  }
  if (options.out.empty())
    return;
  try {
    write_file_atomically(options.out / fmt::format("energy{}.csv", suffix),
                          energy_csv(measurement));
    write_file_atomically(options.out / fmt::format("energy{}.txt", suffix), text);
  } catch (const Error& failure) {  // the program has run: its exit code counts, not this
    say("warning: " + failure.message());
  }
}

/// Under --strict: what is wrong with the sources before the program has started.
void require_sources(const std::vector<Absence>& absences, const SourceSettings& sources) {
  if (!absences.empty() && (!sources.automatic || absences.size() == sources.methods.size()))
    throw Error(fmt::format("{}: {}", absences[0].source, absences[0].reason),
                "see bench-energy --list, or leave --strict out");
}

int measure(const Options& options) {
  const std::string suffix = file_suffix(options.suffix);
  const SamplerSettings settings = sampler_settings(options, suffix);
  const sigset_t mask = block_signals();
  Sampler sampler(settings);
  const bool ready = sampler.wait_until_ready(start_patience);
  if (!ready)
    say("warning: a power source is slow to start; the program does not wait for it");
  if (options.strict)
    require_sources(sampler.absences(), settings.sources);

  const Clock::time_point begin = Clock::now();
  const Started started = start_program(options.program, mask);
  if (started.pid < 0)
    return fail_to_start(started);
  sampler.begin(begin);
  const ExitStatus status = wait_forwarding(started.pid);
  const Measurement measurement = sampler.end(Clock::now());

  for (const std::string& line : warnings(measurement))
    say("warning: " + line);
  if (!settings.sources.automatic && total_of(measurement).energy_j)
    for (const Absence& absence : measurement.absences)
      say(fmt::format("warning: {}: {}", absence.source, absence.reason));
  write_results(options, suffix, measurement);
  const bool complete = total_of(measurement).energy_j.has_value();
  end_like(options.strict && !complete && status.success() ? ExitStatus{.code = code_of_usage}
                                                           : status);
}

int run(const std::vector<std::string>& arguments) {
  occupy_standard_descriptors();
  const std::optional<Options> options = parse(arguments);
  if (!options)
    return 0;
  if (options->list) {
    SourceSettings settings = parse_methods(options->methods);
    settings.sysfs_root = options->sysfs_root;
    fmt::print("{}", source_table(open_sources(settings)));
    return 0;
  }
  if (local_rank().value_or(0) != 0)
    return fail_to_start(become_program(options->program));
  return measure(*options);
}

}  // namespace
}  // namespace bench::energy

int main(int argc, char** argv) {
  try {
    return bench::energy::run({argv + 1, argv + argc});
  } catch (const bench::Error& error) {
    bench::energy::say(bench::render(error));
    return bench::energy::code_of_usage;
  } catch (const std::exception& error) {
    bench::energy::say(std::string("error: ") + error.what());
    return bench::energy::code_of_usage;
  }
}
