#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/jpwr.hpp>
#include <bench/energy/options.hpp>
#include <bench/energy/suffix.hpp>

namespace bench::energy {
namespace {

/// Some counters wrap after minutes, so they must be read now and then.
constexpr double shortest_interval_s = 0.001;
constexpr double longest_interval_s = 10;

constexpr const char* usage = "bench-energy [options] -- program args";
constexpr const char* description =
    "Runs a program and measures the energy that the node draws meanwhile.\n"
    "The program's output, exit code and signals pass through; the result goes to standard error.";
constexpr const char* footer =
    "Examples:\n"
    "  bench-energy --out energy --interval 50ms -- python3 train.py --epochs 1\n"
    "  srun bench-energy --per-node --out energy --suffix %h -- ./train    (one meter per node)\n"
    "  bench-energy combine energy/energy.*.csv --output combined_energy.csv\n"
    "  bench-energy --methods pynvml gh --df-out energy --df-filetype csv ./train    (as jpwr)\n"
    "\n"
    "Files in the --out directory: power.csv, energy.txt, and energy.csv, energy.json or "
    "energy.h5.\n"
    "One of jpwr's options makes it a command line of jpwr's: its files are written, the program\n"
    "needs no -- before it, and a bare number for --interval is milliseconds.\n"
    "Exit code: the program's; 125 for a mistake in these options, 126 if the program cannot be\n"
    "run, 127 if it is not found.";

constexpr const char* combine_usage = "bench-energy combine FILES... [--output FILE]";
constexpr const char* combine_description =
    "Merges the energy files of ranks and nodes into one table: energy.csv of this program, and\n"
    "jpwr's where they tell their node. What several ranks of a node saw is counted once.\n"
    "Of energy.*.txt, makes one energy.txt (--output) with all energies added.";

/// The options as they are written.
struct Texts {
  std::vector<std::string> methods;
  std::string interval = "100ms";
  std::string out;
  std::string suffix;
  std::string wait_ready = "10s";
  std::string baseline;
  std::vector<std::string> formats;
  std::vector<std::string> jpwr_methods;
  std::string jpwr_out;
  std::string jpwr_filetype = "h5";
  std::string jpwr_suffix;
};

constexpr std::array own_options{"--method", "--out", "--suffix", "--format"};
constexpr std::array jpwr_options{"--methods", "--df-out", "--df-filetype", "--df-suffix"};
/// What jpwr has besides, and why it is not needed here.
constexpr std::array refused_options{"--use-mpi", "--mpi-ranks"};

class HelpText : public CLI::Formatter {
 public:
  explicit HelpText(const char* usage_line) : usage_line_(usage_line) {}
  std::string make_usage(const CLI::App* /*app*/, std::string /*name*/) const override {
    return fmt::format("Usage: {}\n", usage_line_);
  }

 private:
  const char* usage_line_;
};

void add_options(CLI::App& app, Texts& texts, Options& options) {
  app.add_option("--method", texts.methods,
                 "Power source, or several with commas: auto (as far as they are there: "
                 "pm_counters, rapl, amd, hwmon, nvml), any of these, amdgpu, rocm, amdsmi (amd is "
                 "the first of them that works), gcipu, ipmi, slurm, "
                 "command:NAME[/INTERVAL]=COMMAND (prints watts; takes the rest of the option), "
                 "estimates from utilisation (model:cpu=20W..65W, model:node=300W..900W, "
                 "model:gpu=60W..400W), mock:constant=100W")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app.add_option("--interval", texts.interval, "Mean time between samples, 1ms to 10s")
      ->type_name("TIME")
      ->capture_default_str();
  app.add_option("--out", texts.out, "Directory for the files; without it none are written")
      ->type_name("DIR");
  app.add_option("--suffix", texts.suffix,
                 "Goes into the file names, power.SUFFIX.csv; %h is the host's name, %q{VAR} the "
                 "value of an environment variable")
      ->type_name("TEXT");
  app.add_option("--format", texts.formats,
                 "Of the result, or several with commas: csv (the default), json, h5 (HDF5, with "
                 "the samples; needs libhdf5)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app.add_option("--wait-ready", texts.wait_ready,
                 "Start the program after this time also while a source has not come up, which "
                 "joins in later; 0s: at once")
      ->type_name("TIME")
      ->capture_default_str();
  app.add_option("--baseline", texts.baseline,
                 "Measure the idle node for this long before the program starts, for power_idle_w "
                 "and energy_net_wh")
      ->type_name("TIME");
  app.add_flag("--regions", options.regions,
               "Take the program's marks `begin NAME` and `end NAME` from the file that "
               "$BENCH_ENERGY_REGIONS names for it, and give every region its energy");
  app.add_flag("--per-node", options.per_node,
               "One meter on each node, of all that it sees; otherwise each rank measures the "
               "devices that no other one does");
  app.add_option("--sysfs-root", options.sources.sysfs_root, "Look here in place of /sys")
      ->type_name("DIR");
  app.add_flag("--list", options.list, "Show what this node has, and why the rest is not there");
  app.add_flag("--strict", options.strict,
               "Exit with 125 if a named source is absent or the energy is not complete");
}

void add_jpwr_options(CLI::App& app, Texts& texts) {
  constexpr const char* group = "jpwr's options";
  app.add_option("--methods", texts.jpwr_methods,
                 "pynvml, rocm, gh, gc; several, up to the next option or --")
      ->type_name("NAME")
      ->group(group);
  app.add_option("--df-out", texts.jpwr_out,
                 "Directory for the files power, energy and "
                 "energy_from_counter; without it none are written")
      ->type_name("DIR")
      ->group(group);
  app.add_option("--df-filetype", texts.jpwr_filetype, "h5 or csv")
      ->type_name("TYPE")
      ->capture_default_str()
      ->group(group);
  app.add_option("--df-suffix", texts.jpwr_suffix,
                 "power.TEXT.HOST.PID.csv; with %q{VAR} in it power.TEXT.csv")
      ->type_name("TEXT")
      ->group(group);
}

/// Parses `arguments`; false if help was asked for.
bool parse(CLI::App& app, std::vector<std::string> arguments, const char* help_command) {
  std::ranges::reverse(arguments);  // as CLI11 wants a vector
  try {
    app.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    return false;
  } catch (const CLI::ParseError& mistake) {
    throw Error(mistake.what(), fmt::format("see {} --help", help_command));
  }
  return true;
}

[[noreturn]] void fail_unknown(const CLI::App& app, const std::string& option) {
  if (std::ranges::count(refused_options, option) > 0)
    throw Error(fmt::format("jpwr's option {} is not there", option),
                "leave it out: one meter samples on each node, and MPI is the program's alone");
  std::vector<std::string> known;
  for (const CLI::Option* one : app.get_options())
    known.push_back(one->get_name());
  throw Error(fmt::format("unknown option '{}'", option),
              did_you_mean(option.substr(0, option.find('=')), known));
}

/// The first of these options that is there; null if none is.
const char* first_given(const CLI::App& app, std::span<const char* const> names) {
  const auto found =
      std::ranges::find_if(names, [&](const char* name) { return app.count(name) > 0; });
  return found == names.end() ? nullptr : *found;
}

struct Range {
  double least_s;
  double most_s;
  const char* words;
};

std::chrono::nanoseconds checked(const char* option, const std::string& text, double time_s,
                                 const Range& range) {
  if (time_s < range.least_s || time_s > range.most_s)
    throw Error(fmt::format("{} {} is out of range", option, text), range.words);
  return std::chrono::nanoseconds(std::llround(time_s * 1e9));
}

std::chrono::nanoseconds time_of(const char* option, const std::string& text, const Range& range) {
  return checked(option, text, parse_interval_s(text), range);
}

std::chrono::nanoseconds interval(const std::string& text, bool jpwr) {
  const auto milliseconds = jpwr ? parse_integer(text) : std::nullopt;
  const double time_s =
      milliseconds ? static_cast<double>(*milliseconds) * 1e-3 : parse_interval_s(text);
  return checked("--interval", text, time_s,
                 {shortest_interval_s, longest_interval_s, "1ms to 10s"});
}

OutputSettings own_output(const Texts& texts, bool formats_given) {
  if (formats_given && texts.out.empty())
    throw Error("--format needs a place for the files", "name a directory with --out");
  OutputSettings output;
  output.directory = texts.out;
  output.suffix = expand_suffix(texts.suffix);
  if (formats_given)
    output.formats = parse_formats(texts.formats);
  return output;
}

OutputSettings jpwr_output(const Texts& texts) {
  if (texts.jpwr_filetype != "h5" && texts.jpwr_filetype != "csv")
    throw Error(fmt::format("unknown --df-filetype '{}'", texts.jpwr_filetype), "h5 or csv");
  OutputSettings output;
  output.directory = texts.jpwr_out;
  output.suffix = expand_jpwr_suffix(texts.jpwr_suffix);
  output.formats = parse_formats({texts.jpwr_filetype});
  output.layout = PowerLayout::jpwr;
  return output;
}

std::vector<std::string> own_methods(const std::vector<std::string>& jpwr_methods) {
  std::vector<std::string> methods;
  for (const std::string& name : jpwr_methods)
    methods.push_back(method_of_jpwr(name));
  return methods;
}

void interpret(const CLI::App& app, const Texts& texts, Options& options) {
  const char* const own = first_given(app, own_options);
  const char* const jpwr = first_given(app, jpwr_options);
  if (own && jpwr)
    throw Error(fmt::format("{} and jpwr's {} exclude each other", own, jpwr),
                "use either --method, --out, --suffix, --format or --methods, --df-out, "
                "--df-suffix, --df-filetype");
  const std::filesystem::path sysfs_root = options.sources.sysfs_root;
  options.sources = parse_methods(jpwr ? own_methods(texts.jpwr_methods) : texts.methods);
  options.sources.sysfs_root = sysfs_root;
  options.interval = interval(texts.interval, jpwr != nullptr);
  if (!texts.baseline.empty())
    options.baseline = time_of("--baseline", texts.baseline, {0.1, 3600, "100ms to 60min"});
  options.wait_ready = time_of("--wait-ready", texts.wait_ready, {0, 3600, "0s to 60min"});
  options.output = jpwr ? jpwr_output(texts) : own_output(texts, app.count("--format") > 0);
}

/// What stands before `--`, but is none of our options: the program, for jpwr.
void take_left_over(const CLI::App& app, bool separated, Options& options) {
  std::vector<std::string> rest = app.remaining();
  if (rest.empty())
    return;
  if (rest[0].starts_with("-"))
    fail_unknown(app, rest[0]);
  if (!first_given(app, jpwr_options))
    throw Error(fmt::format("unexpected argument '{}'", rest[0]),
                fmt::format("put -- before the program: {}", usage));
  if (separated)
    rest.emplace_back("--");
  options.program.insert(options.program.begin(), rest.begin(), rest.end());
}

}  // namespace

Options parse_options(const std::vector<std::string>& arguments) {
  Options options;
  Texts texts;
  const auto separator = std::ranges::find(arguments, "--");
  const bool separated = separator != arguments.end();
  if (separated)
    options.program.assign(separator + 1, arguments.end());
  CLI::App app(description, "bench-energy");
  app.footer(footer);
  app.formatter(std::make_shared<HelpText>(usage));
  app.prefix_command();
  add_options(app, texts, options);
  add_jpwr_options(app, texts);
  if (!parse(app, {arguments.begin(), separator}, "bench-energy")) {
    options.help = app.help();
    return options;
  }
  take_left_over(app, separated, options);
  interpret(app, texts, options);
  if (options.program.empty() && !options.list)
    throw Error("no program to run", usage);
  return options;
}

CombineOptions parse_combine_options(const std::vector<std::string>& arguments) {
  CombineOptions options;
  CLI::App app(combine_description, "bench-energy combine");
  app.formatter(std::make_shared<HelpText>(combine_usage));
  app.allow_extras();
  app.add_option("FILES", options.files, "What to merge")->type_name("");
  app.add_option("--output", options.output, "Where to write the table")
      ->type_name("FILE")
      ->capture_default_str();
  if (!parse(app, arguments, "bench-energy combine")) {
    options.help = app.help();
    return options;
  }
  if (!app.remaining().empty())
    fail_unknown(app, app.remaining()[0]);
  if (options.files.empty())
    throw Error("no energy files to combine", combine_usage);
  return options;
}

}  // namespace bench::energy
