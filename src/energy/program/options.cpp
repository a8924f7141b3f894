#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/base/help.hpp>
#include <bench/base/host.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/units.hpp>
#include <bench/energy/program/child.hpp>
#include <bench/energy/program/combine.hpp>
#include <bench/energy/program/command_line.hpp>
#include <bench/energy/program/jpwr.hpp>
#include <bench/energy/program/options.hpp>
#include <bench/energy/program/output.hpp>
#include <bench/energy/program/power_log.hpp>
#include <bench/energy/sources/methods.hpp>
#include <bench/energy/sources/setting.hpp>

namespace bench::energy {
namespace {

constexpr std::string_view variable_begin = "%q";

std::string value_of(const std::string& name, const std::string& text) {
  const char* const value = std::getenv(name.c_str());
  if (!value)
    throw Error(Id::invalid_value,
                fmt::format("the suffix '{}' needs the variable {}, which is not set", text, name),
                "Slurm sets SLURM_PROCID for the tasks of srun");
  return value;
}

std::string with_variables(const std::string& text) {
  std::string result;
  std::size_t at = 0;
  for (auto found = text.find(variable_begin); found != std::string::npos;
       found = text.find(variable_begin, at)) {
    const auto close = text.find('}', found);
    if (text[found + 2] != '{' || close == std::string::npos || close == found + 3)
      throw Error(Id::invalid_value,
                  fmt::format("the suffix '{}' has a %q without a variable", text),
                  "write it like %q{SLURM_PROCID}");
    result += text.substr(at, found - at);
    result += value_of(text.substr(found + 3, close - found - 3), text);
    at = close + 1;
  }
  return result + text.substr(at);
}

std::string without_slash(const std::string& suffix) {
  if (suffix.find('/') != std::string::npos)
    throw Error(Id::invalid_value, fmt::format("the suffix '{}' has a slash", suffix),
                "it is a part of file names; name a directory with --out or --df-out");
  return suffix;
}

}  // namespace

std::string expand_suffix(const std::string& text) {
  return without_slash(with_variables(replace_all(text, "%h", host_name())));
}

std::string expand_jpwr_suffix(const std::string& text) {
  if (text.find(variable_begin) != std::string::npos)
    return without_slash(with_variables(text));
  const std::string own = fmt::format("{}.{}", host_name(), ::getpid());
  return without_slash(text.empty() ? own : text + "." + own);
}

namespace {

void check_time(const char* name, const std::string& text, const Range& range, const Place& place) {
  const auto time_s = interval_s_of(text);
  if (!time_s)
    throw Error(Id::invalid_value, fmt::format("{} is a number with a unit, not '{}'", name, text),
                "write it like 100ms or 5s", place);
  in_range(name, text, *time_s, range, place);
}

double above_zero(const char* name, const char* example, const std::string& text,
                  std::optional<double> value, const Place& place) {
  if (!value || *value <= 0)
    throw Error(Id::invalid_value,
                fmt::format("{} is a number above zero with a unit, not '{}'", name, text),
                fmt::format("write it like {}", example), place);
  constexpr double most = 1e6;  // of W and MHz; drivers take integers
  if (*value > most)
    throw Error(Id::invalid_value, fmt::format("{} is not as high as {}", name, text), "", place);
  return *value;
}

/// `stable`, a temperature (`45C`) or a time (`60s`); nothing for any other text.
std::optional<ThermalCondition> parse_thermal(const std::string& text) {
  using enum ThermalCondition::Kind;
  if (text == "stable")
    return ThermalCondition{.kind = stable};
  if (const auto time_s = interval_s_of(text); time_s && *time_s > 0)
    return ThermalCondition{.kind = time, .time_s = *time_s};
  std::string_view number = strip(text);
  if (!number.ends_with('C'))
    return std::nullopt;
  number.remove_suffix(1);
  const auto temperature_c = parse_number(strip(number));
  if (!temperature_c || !std::isfinite(*temperature_c) || *temperature_c <= 0)
    return std::nullopt;
  return ThermalCondition{.kind = temperature, .temperature_c = *temperature_c};
}

}  // namespace

std::chrono::nanoseconds in_range(const char* name, const std::string& text, double time_s,
                                  const Range& range, const Place& place) {
  if (time_s < range.least_s || time_s > range.most_s)
    throw Error(Id::invalid_value, fmt::format("{} {} is out of range", name, text), range.words,
                place);
  return std::chrono::round<std::chrono::nanoseconds>(std::chrono::duration<double>(time_s));
}

double gpu_power_limit_w(const std::string& text, const Place& place) {
  return above_zero("the power limit of a GPU", "300W", text, power_w_of(text), place);
}

double gpu_clock_mhz(const std::string& text, const Place& place) {
  return above_zero("the clock of a GPU", "1410MHz", text, frequency_mhz_of(text), place);
}

ThermalCondition thermal_condition(const std::string& text, const Place& place) {
  if (const auto condition = parse_thermal(text)) {
    in_range("thermal", text, condition->time_s, times_to_get_ready, place);
    return *condition;
  }
  throw Error(Id::invalid_value,
              fmt::format("thermal is stable, a temperature or a time, not '{}'", text),
              "write it like stable, 45C or 60s", place);
}

void check_thermal(const std::string& text, const Place& place) {
  thermal_condition(text, place);
}

void check_interval(const std::string& text, const Place& place) {
  check_time("interval", text, intervals, place);
}

void check_baseline(const std::string& text, const Place& place) {
  check_time("baseline", text, baselines, place);
}

void check_gpu_power_limit(const std::string& text, const Place& place) {
  gpu_power_limit_w(text, place);
}

void check_gpu_clock(const std::string& text, const Place& place) {
  gpu_clock_mhz(text, place);
}

/// The kernel has the list of those that there are.
void check_cpu_governor(const std::string& text, const Place& place) {
  if (text.empty() || text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") != std::string::npos)
    throw Error(Id::invalid_value, fmt::format("'{}' is not a frequency governor", text),
                "performance, powersave, schedutil ...", place);
}

namespace {

constexpr const char* usage = "bench-energy [options] -- program args";
constexpr const char* description =
    "Runs a program and measures the energy that the node uses meanwhile.\n"
    "The program's output, exit code and signals pass through; the result goes to standard error.";
constexpr const char* examples =
    "  bench-energy --out energy --interval 50ms -- python3 train.py --epochs 1\n"
    "  srun bench-energy --per-node --out energy --suffix %h -- ./train    (one meter per node)\n"
    "  bench-energy combine energy/energy.*.csv --output combined_energy.csv\n"
    "  bench-energy recover energy    (writes the results of a killed meter)\n"
    "  bench-energy --methods pynvml gh --df-out energy --df-filetype csv ./train    (as jpwr)";
constexpr const char* footer =
    "Files in the --out directory: power.csv, energy.txt, and energy.csv, energy.json or "
    "energy.h5.\n"
    "One of jpwr's options makes it a command line of jpwr's: its files are written, the program\n"
    "needs no -- before it, and a bare number for --interval is milliseconds.\n"
    "Exit code: the program's; 125 for a mistake in these options, 126 if the program cannot be\n"
    "run, 127 if it is not found.";

constexpr const char* combine_usage = "bench-energy combine FILES... [--output FILE]";
constexpr const char* combine_description =
    "Merges the energy files of ranks and nodes into one table: energy.csv or energy.json of this "
    "program, and jpwr's csv where they tell their node. What several ranks of a node saw is "
    "counted "
    "once.\n"
    "Of energy.*.txt, makes one energy.txt (--output) with all energies added. A directory stands "
    "for "
    "those that are in it.";

constexpr const char* recover_usage = "bench-energy recover DIR [options]";
constexpr const char* recover_description =
    "Makes the results of a meter that was killed, up to its last sample, from power.csv and "
    "unfinished.jsonl in its --out directory. What is there is left as it is.";

constexpr std::array own_options{"--method", "--out", "--suffix", "--format"};
constexpr std::array jpwr_options{"--methods", "--df-out", "--df-filetype", "--df-suffix"};
/// What jpwr has besides, and why it is not needed here.
constexpr std::array refused_options{"--use-mpi", "--mpi-ranks"};

constexpr OptionRow help_option{.name = "--help", .help = "print this help (also -h)"};
constexpr std::array options_of_measuring{
    help_option,
    OptionRow{"--method", Arity::repeated, "NAME"},  // the second: its help is that of the sources
    OptionRow{"--interval", Arity::one, "TIME", "100ms", "mean time between samples, 1ms to 10s"},
    OptionRow{"--out", Arity::one, "DIR", "",
              "directory for the files; without it none are written"},
    OptionRow{
        "--suffix", Arity::one, "TEXT", "",
        "goes into the file names, power.SUFFIX.csv; %h is the host's name, %q{VAR} the value "
        "of an environment variable"},
    OptionRow{"--format", Arity::repeated, "NAME", "",
              "of the result, or several with commas: csv (the default), json, h5 (HDF5, with the "
              "samples; needs libhdf5)"},
    OptionRow{"--wait-ready", Arity::one, "TIME", "10s",
              "start the program after this time even if a source is not ready; it joins later. "
              "0s: at once"},
    OptionRow{"--baseline", Arity::one, "TIME", "",
              "measure the idle node for this long before the program starts; adds power_idle_w "
              "and energy_net_wh"},
    OptionRow{
        "--thermal", Arity::one, "WHAT", "",
        "what to wait for before the program starts, for at most 10 min: stable (temperatures "
        "change by 1 degree in 10 s at most), a temperature (45C), or a time (60s)"},
    OptionRow{"--gpu-power-limit", Arity::one, "POWER", "",
              "power limit of every GPU while the program runs, such as 300W; needs the right to "
              "set it. What was set before is restored at the end, even if the meter is killed"},
    OptionRow{"--gpu-clock", Arity::one, "CLOCK", "", "GPU clock, such as 1410MHz; likewise"},
    OptionRow{"--cpu-governor", Arity::one, "NAME", "",
              "frequency governor of the CPUs, such as performance; likewise"},
    OptionRow{.name = "--regions",
              .help = "take the program's marks `begin NAME` and `end NAME` from the file that "
                      "$BENCH_ENERGY_REGIONS names for it, and give every region its energy"},
    OptionRow{.name = "--per-node",
              .help = "one meter per node measures everything there; otherwise each rank measures "
                      "the devices that no other rank measures"},
    OptionRow{.name = "--shared-node",
              .help = "other programs run on the node at the same time: the total has only the "
                      "GPUs that CUDA_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES gives this program"},
    OptionRow{"--record", Arity::one, "DIR", "",
              "in jobs of bench that run for 1 s: describe node and loaded libraries in DIR, once"},
    OptionRow{"--sysfs-root", Arity::one, "DIR", "/sys",
              "directory of the kernel's files of sensors and devices"},
    OptionRow{"--proc-root", Arity::one, "DIR", "/proc",
              "directory of the kernel's files of the node's load"},
    OptionRow{.name = "--list",
              .help = "list the power sources of this node, and why others are missing"},
    OptionRow{.name = "--strict",
              .help = "exit with 125 if a requested source is missing or the energy is incomplete"},
    OptionRow{"--on-meter-death", Arity::one, "WHAT", "survive",
              "what happens to the program if SIGKILL ends this meter: survive, or kill (its child "
              "processes keep running)"},
    OptionRow{"--methods", Arity::words, "NAME", "",
              "pynvml, rocm, gh, gc; several, up to the next option or --"},
    OptionRow{"--df-out", Arity::one, "DIR", "",
              "directory for the files power, energy and energy_from_counter; without it none are "
              "written"},
    OptionRow{"--df-filetype", Arity::one, "TYPE", "h5", "h5 or csv"},
    OptionRow{"--df-suffix", Arity::one, "TEXT", "",
              "power.TEXT.HOST.PID.csv; with %q{VAR} in it power.TEXT.csv"},
};
constexpr std::array options_of_combining{
    help_option,
    OptionRow{"--output", Arity::one, "FILE", "",
              "where to write; combined_energy.csv without it, of energy.txt files "
              "combined_energy.txt"},
    OptionRow{.name = "--in-sequence",
              .help = "of energy.txt files: their programs ran one after the other, not at once; "
                      "times are added, and powers are means over all of the time"},
};

constexpr std::array options_of_recovering{
    help_option,
    OptionRow{
        "--suffix", Arity::one, "TEXT", "",
        "only the run whose samples are in power.TEXT.csv; otherwise all that have no results"},
    OptionRow{"--format", Arity::repeated, "NAME", "",
              "of the results: csv, json, h5; without it as the meter was asked"},
};

Help help_of_measuring() {
  const std::span<const OptionRow> options = options_of_measuring;
  const auto own = options.size() - jpwr_options.size();  // the last ones are jpwr's
  std::vector<Help::Row> rows = rows_of(options.first(own));
  rows[1].text = "power source, or several with commas: " + methods_help();
  return {.name = "",
          .description = description,
          .usage = usage,
          .sections = {{.heading = "Options", .rows = std::move(rows)},
                       {.heading = "jpwr's options", .rows = rows_of(options.subspan(own))},
                       {.heading = "Examples", .rows = {}, .lines = examples},
                       {.heading = "", .rows = {}, .lines = footer}}};
}

Help help_of_combining() {
  return {.name = "combine",
          .description = combine_description,
          .usage = combine_usage,
          .sections = {{.heading = "Options", .rows = rows_of(options_of_combining)}}};
}

Help help_of_recovering() {
  return {.name = "recover",
          .description = recover_description,
          .usage = recover_usage,
          .sections = {{.heading = "Options", .rows = rows_of(options_of_recovering)}}};
}

/// @throws bench::Error with a hint, if one is not
void require_known(const CommandLine& line, std::span<const OptionRow> table) {
  const std::string option = line.unknown().substr(0, line.unknown().find('='));
  if (option.empty())
    return;
  if (std::ranges::count(refused_options, option) > 0)
    throw Error(Id::usage, fmt::format("jpwr's option {} is not supported", option),
                "leave it out: one meter samples on each node, and MPI is the program's alone");
  std::vector<std::string> known;
  for (const OptionRow& row : table)
    known.emplace_back(row.name);
  const std::string likely = did_you_mean(option, known);
  throw Error(Id::usage, fmt::format("unknown option '{}'", line.unknown()),
              likely.empty() ? "see bench-energy --help" : likely);
}

/// The first of these options that is given; null if none is.
const char* first_given(const CommandLine& line, std::span<const char* const> names) {
  const auto found = std::ranges::find_if(names, [&](const char* name) { return line.has(name); });
  return found == names.end() ? nullptr : *found;
}

std::chrono::nanoseconds time_of(const CommandLine& line, const char* option, const Range& range) {
  const std::string text = line.value(option);
  return in_range(option, text, parse_interval_s(text), range);
}

std::chrono::nanoseconds interval(const std::string& text, bool jpwr) {
  const auto milliseconds = jpwr ? parse_integer(text) : std::nullopt;
  const double time_s =
      milliseconds ? static_cast<double>(*milliseconds) * 1e-3 : parse_interval_s(text);
  return in_range("--interval", text, time_s, intervals);
}

WantedSettings wanted_settings(const CommandLine& line) {
  WantedSettings wanted;
  if (line.has("--gpu-power-limit"))
    wanted.gpu_power_limit_w = gpu_power_limit_w(line.value("--gpu-power-limit"));
  if (line.has("--gpu-clock"))
    wanted.gpu_clock_mhz = gpu_clock_mhz(line.value("--gpu-clock"));
  if (line.has("--cpu-governor"))
    check_cpu_governor(line.value("--cpu-governor"));
  wanted.cpu_governor = line.value("--cpu-governor");
  return wanted;
}

/// As an unset variable in a script would have it.
std::string directory_of(const CommandLine& line, const char* option) {
  if (line.has(option) && line.value(option).empty())
    throw Error(Id::usage, fmt::format("{} names no directory", option),
                fmt::format("without {} no files are written", option));
  return line.value(option);
}

OutputSettings own_output(const CommandLine& line) {
  OutputSettings output;
  output.directory = directory_of(line, "--out");
  output.suffix = expand_suffix(line.value("--suffix"));
  if (!line.has("--format"))
    return output;
  if (output.directory.empty())
    throw Error(Id::usage, "--format needs a place for the files", "name a directory with --out");
  output.formats = parse_formats(line.values("--format"));
  return output;
}

OutputSettings jpwr_output(const CommandLine& line) {
  const std::string type = line.value("--df-filetype");
  if (type != "h5" && type != "csv")
    throw Error(Id::invalid_value, fmt::format("unknown --df-filetype '{}'", type), "h5 or csv");
  OutputSettings output;
  output.directory = directory_of(line, "--df-out");
  output.suffix = expand_jpwr_suffix(line.value("--df-suffix"));
  output.formats = parse_formats({type});
  output.layout = PowerLayout::jpwr;
  return output;
}

std::vector<std::string> own_methods(const std::vector<std::string>& jpwr_methods) {
  std::vector<std::string> methods;
  for (const std::string& name : jpwr_methods)
    methods.push_back(method_of_jpwr(name));
  return methods;
}

/// Without such a variable a program sees the GPUs of all.
Owned owned_on_shared_node() {
  constexpr std::array variables{"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
                                 "HIP_VISIBLE_DEVICES"};
  return std::ranges::any_of(variables, [](const char* name) { return std::getenv(name); })
             ? Owned::devices
             : Owned::nothing;
}

OnMeterDeath on_meter_death(const std::string& text) {
  static const std::array<std::string, 2> words{"survive", "kill"};
  const auto found = std::ranges::find(words, text);
  if (found == words.end())
    throw Error(Id::invalid_value, fmt::format("unknown --on-meter-death '{}'", text),
                "survive or kill");
  return static_cast<OnMeterDeath>(found - words.begin());
}

Options interpret(const CommandLine& line) {
  const char* const own = first_given(line, own_options);
  const char* const jpwr = first_given(line, jpwr_options);
  if (own && jpwr)
    throw Error(Id::usage, fmt::format("{} and jpwr's {} exclude each other", own, jpwr),
                "use either --method, --out, --suffix, --format or --methods, --df-out, "
                "--df-suffix, --df-filetype");
  Options options;
  options.sources = jpwr ? parse_methods(own_methods(line.values("--methods")), methods_of_jpwr())
                         : parse_methods(line.values("--method"));
  options.sources.sysfs_root = line.value("--sysfs-root");
  options.proc_root = line.value("--proc-root");
  if (line.has("--shared-node"))
    options.sources.owned = owned_on_shared_node();
  options.interval = interval(line.value("--interval"), jpwr != nullptr);
  if (line.has("--baseline"))
    options.baseline = time_of(line, "--baseline", baselines);
  options.settings = wanted_settings(line);
  if (line.has("--thermal"))
    options.thermal = thermal_condition(line.value("--thermal"));
  options.wait_ready = time_of(line, "--wait-ready", times_to_get_ready);
  options.output = jpwr ? jpwr_output(line) : own_output(line);
  options.record = line.value("--record");
  options.regions = line.has("--regions");
  options.per_node = line.has("--per-node");
  options.list = line.has("--list");
  options.strict = line.has("--strict");
  options.on_meter_death = on_meter_death(line.value("--on-meter-death"));
  return options;
}

}  // namespace

std::vector<Help> helps() {
  return {help_of_measuring(), help_of_combining(), help_of_recovering()};
}

Options parse_options(const std::vector<std::string>& arguments) {
  const auto separator = std::ranges::find(arguments, "--");
  const CommandLine line(options_of_measuring, {arguments.begin(), separator},
                         Operands::at_the_end);
  if (line.wants_help()) {
    Options options;
    options.help = text_of(help_of_measuring());
    return options;
  }
  require_known(line, options_of_measuring);
  // What precedes `--`, but is none of our options: the program, for jpwr.
  if (!line.operands().empty() && !first_given(line, jpwr_options))
    throw Error(Id::usage, fmt::format("unexpected argument '{}'", line.operands()[0]),
                fmt::format("put -- before the program: {}", usage));
  Options options = interpret(line);
  options.program = line.operands();
  options.program.insert(
      options.program.end(),
      options.program.empty() && separator != arguments.end() ? separator + 1 : separator,
      arguments.end());
  if (options.program.empty() && !options.list)
    throw Error(Id::usage, "no program to run", usage);
  return options;
}

CombineOptions parse_combine_options(const std::vector<std::string>& arguments) {
  CombineOptions options;
  const CommandLine line(options_of_combining, arguments, Operands::anywhere);
  if (line.wants_help()) {
    options.help = text_of(help_of_combining());
    return options;
  }
  require_known(line, options_of_combining);
  options.files.assign(line.operands().begin(), line.operands().end());
  options.in_sequence = line.has("--in-sequence");
  if (options.files.empty())
    throw Error(Id::usage, "no energy files to combine", combine_usage);
  const auto table = std::ranges::find_if_not(options.files, has_summaries);
  const auto summary = std::ranges::find_if(options.files, has_summaries);
  const bool has_table = table != options.files.end();
  if (options.in_sequence && has_table)
    throw Error(Id::usage, fmt::format("--in-sequence is not for {}", table->string()),
                "it adds up energy.txt files; leave it out for tables");
  if (has_table && summary != options.files.end())
    throw Error(
        Id::usage,
        fmt::format("{} is a summary and {} a table", summary->string(), table->string()),
        "name files of one kind: of energy.txt files it makes a summary, of others a table");
  if (line.has("--output"))
    options.output = line.value("--output");
  else if (!has_table)
    options.output = "combined_energy.txt";
  return options;
}

RecoverOptions parse_recover_options(const std::vector<std::string>& arguments) {
  RecoverOptions options;
  const CommandLine line(options_of_recovering, arguments, Operands::anywhere);
  if (line.wants_help()) {
    options.help = text_of(help_of_recovering());
    return options;
  }
  require_known(line, options_of_recovering);
  if (line.operands().size() != 1)
    throw Error(Id::usage,
                line.operands().empty()
                    ? "no directory to recover"
                    : fmt::format("unexpected argument '{}'", line.operands()[1]),
                recover_usage);
  options.directory = line.operands()[0];
  if (line.has("--suffix"))
    options.suffix = expand_suffix(line.value("--suffix"));
  if (line.has("--format"))
    options.formats = parse_formats(line.values("--format"));
  return options;
}

}  // namespace bench::energy
