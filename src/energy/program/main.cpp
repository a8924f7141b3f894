#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fcntl.h>
#include <fmt/core.h>
#include <malloc.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/base/host.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/energy/core/measurement.hpp>
#include <bench/energy/core/region_book.hpp>
#include <bench/energy/core/signals.hpp>
#include <bench/energy/core/ticks.hpp>
#include <bench/energy/program/before_run.hpp>
#include <bench/energy/program/child.hpp>
#include <bench/energy/program/combine.hpp>
#include <bench/energy/program/energy_table.hpp>
#include <bench/energy/program/options.hpp>
#include <bench/energy/program/output.hpp>
#include <bench/energy/program/power_log.hpp>
#include <bench/energy/program/recover.hpp>
#include <bench/energy/program/report.hpp>
#include <bench/energy/program/run_record.hpp>
#include <bench/energy/program/sampler.hpp>
#include <bench/energy/regions/region.hpp>
#include <bench/energy/sources/claims.hpp>
#include <bench/energy/sources/cpu_watch.hpp>
#include <bench/energy/sources/machine_facts.hpp>
#include <bench/energy/sources/methods.hpp>
#include <bench/energy/sources/nvml_library.hpp>
#include <bench/energy/sources/setting.hpp>

namespace bench::energy {
namespace {

/// Of this program's own mistakes, as nohup and timeout have it.
constexpr int code_of_usage = 125;
/// Who is killed earlier has hardly a sample, and the end of a short program does not wait for it.
constexpr std::chrono::milliseconds record_after{250};
/// How long a file system may take for the results although a signal wants this process to end.
constexpr std::chrono::seconds file_patience{2};
/// What all processes of a workpackage have in their environment.
constexpr const char* attempt_variable = "BENCH_ATTEMPT";
/// Between two checks of what is waited for.
constexpr std::chrono::milliseconds slice{20};
/// Of the meter that measures for all of its node.
constexpr const char* node_claim = "node";

/// What the program gets as this process got it.
struct Context {
  sigset_t mask;
  Environment environment;
};

// A terminal would obey control characters in the texts of programs, devices and files.

/// A closed standard error must not change the exit code, so a failure to write is ignored here.
void say(const std::string& line) {
  std::fputs(fmt::format("bench-energy: {}\n", with_visible_controls(line)).c_str(), stderr);
}

/// @throws std::system_error if standard output cannot be written
void print(const std::string& text) {
  fmt::print("{}", with_visible_controls(text));
}

/// Keeps files of ours from taking the place of a standard descriptor that was closed. The program
/// sees it closed as before.
void occupy_standard_descriptors() {
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(standard, F_GETFD) < 0)
      ::open("/dev/null", O_RDWR | O_CLOEXEC);  // takes the lowest that is free
}

int fail_to_start(const Started& started) {
  say(started.message);
  return started.exit_code;
}

void say_summary(const Measurement& measurement) {
  std::string lines;  // in one call
  for (const NameValue& line : summary(measurement))
    lines += fmt::format("{}bench-energy: {}", lines.empty() ? "" : "\n", line_of(line));
  std::fputs(with_visible_controls(lines + "\n").c_str(), stderr);
}

/// What --strict does not allow, if there is any: a named source that is absent, or no source at
/// all. What another meter on this node measures does not count as missing.
std::optional<Absence> missing_source(const std::vector<Absence>& absences,
                                      const SourceSettings& sources) {
  const auto missing = std::ranges::find(absences, false, &Absence::elsewhere);
  const auto count = std::ranges::count(absences, false, &Absence::elsewhere);
  if (missing == absences.end() || (sources.automatic && count < std::ssize(sources.methods)))
    return std::nullopt;
  return *missing;
}

/// Before the program has started.
void require_sources(const std::vector<Absence>& absences, const SourceSettings& sources) {
  if (const auto missing = missing_source(absences, sources))
    throw Error(Id::no_meter, fmt::format("{}: {}", missing->source, missing->reason),
                "see bench-energy --list, or leave --strict out");
}

// With --per-node, the first of the meters on a node measures, and the others become the program.

/// Whether something comes before the program that needs the node as it is, or changes it.
bool prepares_node(const Options& options) {
  return options.baseline.count() > 0 || options.settings.any() ||
         options.thermal.kind != ThermalCondition::Kind::nothing;
}

/// The claims that divide the work among the meters of a parallel program. Null if this is the only
/// meter.
/// @throws bench::Error if each of them would set the processors of the node
std::shared_ptr<Claims> claims_of_node(const Options& options) {
  const std::filesystem::path directory = claims_directory();
  if (directory.empty())
    return nullptr;
  if (options.settings.any() && !options.per_node)
    throw Error(Id::unsupported, "several meters on a node cannot set its processors",
                "add --per-node: one of them sets, and restores, what all use");
  return std::make_shared<Claims>(directory, claims_rank());
}

/// Whether this process measures, or only becomes the program.
bool is_meter_of_node(const Options& options) {
  return !options.per_node || !options.sources.claims || options.sources.claims->take(node_claim);
}

/// Waits while the meter of the node prepares it: the programs of other ranks would change the idle
/// power or the temperature. For a process that does not measure.
/// @returns the signal that ended the wait; 0 if none did
int wait_for_meter_of_node(const Options& options) {
  return prepares_node(options) ? wait_for_owners(*options.sources.claims) : 0;
}

/// Ends that wait of the others: the program of the meter of the node has started.
void tell_start(const Options& options) {
  if (options.per_node && options.sources.claims && prepares_node(options))
    options.sources.claims->tell_start(node_claim);
}

/// A warning if GPUs of other ranks are hidden from the meter of the node; empty if none are.
std::string hidden_gpus(const Options& options) {
  const NvmlSettings gpus = nvml_settings_of_environment();
  const auto& methods = options.sources.methods;
  if (!options.per_node || !options.sources.claims || task_count().value_or(1) < 2 ||
      !gpus.visible_devices || !gpus.job_devices ||
      std::ranges::find(methods, "nvml", &Method::name) == methods.end())
    return "";
  const auto visible = split_names(*gpus.visible_devices).size();
  const auto of_job = split_names(*gpus.job_devices).size();
  if (visible >= of_job)
    return "";
  return fmt::format(
      "CUDA_VISIBLE_DEVICES shows this meter {} of the {} GPUs of its job step on this node; leave "
      "--per-node out, so that each rank measures its own",
      visible, of_job);
}

Provenance provenance_of(const Options& options, Clock::time_point begin) {
  Provenance provenance;
  provenance.host = host_name();
  provenance.rank = global_rank();
  provenance.program = options.program;
  provenance.interval_s = std::chrono::duration<double>(options.interval).count();
  provenance.started_monotonic_s = std::chrono::duration<double>(begin.time_since_epoch()).count();
  provenance.started_unix_s =
      unix_time_now() - std::chrono::duration<double>(Clock::now() - begin).count();
  return provenance;
}

SamplerSettings sampler_settings(const Options& options) {
  SamplerSettings settings{.sources = options.sources, .interval = options.interval};
  // A program may tell the times of its regions when it has the time to.
  if (options.regions)
    settings.history_points = 1 << 16;
  return settings;
}

[[noreturn]] void end_now(const ExitStatus& status, const Options& options) {
  if (options.sources.claims)
    options.sources.claims->give_back();
  end_like(status);
}

/// Ends this process as the signal would have.
[[noreturn]] void end_by(int signal, const Options& options) {
  end_now({.signal = signal}, options);
}

/// The idle power; ends this process where a signal ends the wait.
IdlePower idle_power(const Options& options, const SamplerSettings& settings) {
  if (options.baseline.count() == 0)
    return {};
  auto measured = measure_idle_power(settings, options.baseline, options.wait_ready);
  if (const int* const signal = std::get_if<int>(&measured))
    end_by(*signal, options);
  return std::get<IdlePower>(measured);
}

/// Whether other meters on this node measure everything, so that this one is needless.
bool is_needless(const std::vector<Absence>& absences, const SourceSettings& sources) {
  return absences.size() == sources.methods.size() &&
         std::ranges::any_of(absences, &Absence::elsewhere);
}

/// What the user is told.
void report(const Options& options, const Measurement& measurement) {
  for (const std::string& line : warnings(measurement))
    say("warning: " + line);
  if (!options.sources.automatic && total_of(measurement).energy_j)
    for (const Absence& absence : measurement.absences)
      if (!absence.elsewhere)
        say(fmt::format("warning: {}: {}", absence.source, absence.reason));
  say_summary(measurement);
}

/// The program has run: its exit code counts, not what goes wrong here.
void write_results(const Output& output, const Measurement& measurement,
                   const Provenance& provenance, RunRecord& record) {
  try {
    output.write(measurement, provenance);
    record.remove();
  } catch (const Error& failure) {
    say("warning: " + failure.message());
  }
}

/// Waits for the files; where their file system hangs, only until a signal would end this process.
/// @returns false if it hangs
bool wait_for_files(FileThread& files) {
  const Clock::time_point patience_ends = Clock::now() + file_patience;
  bool ending = false;
  while (!files.wait_until(Clock::now() + slice)) {
    ending = ending || wait_for_ending_signal(Clock::time_point()) != 0;
    if (ending && Clock::now() > patience_ends)
      return false;
  }
  return true;
}

/// While the program runs, since file systems may be slow: what goes wrong is told, as with a full
/// disk later.
void open_log(const Options& options, const Output& output, Sampler& sampler) {
  std::optional<PowerLog> log;
  try {
    output.make_directory();
    log.emplace(output.power_log(), options.output.layout);
  } catch (const Error& failure) {
    say("warning: " + failure.message());
  }
  output.remove_earlier();
  sampler.log_to(std::move(log));
}

RunStart start_of(const Options& options, const Provenance& provenance, const IdlePower& idle,
                  const Sampler& sampler) {
  return {.provenance = provenance,
          .formats = options.output.formats,
          .layout = options.output.layout,
          .regions = options.regions,
          .idle_w = idle,
          .absences = sampler.absences()};
}

/// The files of a run, which are made while the program runs.
void make_files(const Options& options, const Output& output, Sampler& sampler,
                const std::shared_ptr<RunRecord>& record, FileThread& files) {
  files.post([&] { open_log(options, output, sampler); });
  files.post_later(Clock::now() + record_after, [record] { record->open(); });
}

/// Looks at the programs now and then, and less and less often: what they load, they load early.
void record_software(const Options& options, FileThread& files) {
  const char* const attempt = std::getenv(attempt_variable);
  if (options.record.empty() || !attempt || local_rank().value_or(0) != 0)
    return;
  const auto record = [directory = options.record, value = std::string(attempt)] {
    try {
      record_node(directory);
      record_programs(directory, running_programs(attempt_variable, value));
    } catch (const Error& failure) {
      say("warning: " + failure.message());
    }
  };
  for (const int after_s : {1, 4, 16, 64, 256})
    files.post_later(Clock::now() + std::chrono::seconds(after_s), record);
}

/// Takes the marks of a program and has the sampler cut the energy there.
class RegionMarks {
 public:
  /// @param record of the run; may be null
  /// @throws bench::Error as RegionFile
  RegionMarks(const std::filesystem::path& file, Sampler& sampler,
              std::shared_ptr<RunRecord> record = nullptr);

  /// Where the program is to make them, which the variable of region.hpp tells it.
  const std::filesystem::path& path() const { return file_.path(); }
  /// The program was started at `time`.
  void begin(Clock::time_point time);
  /// The program has ended at `time`.
  void end(Clock::time_point time);
  /// Adds what is known of the regions, but for their energies.
  void complete(Measurement& measurement) const;

 private:
  void take(std::string_view line, Clock::time_point received);

  RegionFile file_;
  Sampler& sampler_;
  std::shared_ptr<RunRecord> record_;
  RegionBook book_;
  Clock::time_point begin_;
};

RegionMarks::RegionMarks(const std::filesystem::path& file, Sampler& sampler,
                         std::shared_ptr<RunRecord> record)
    : file_(file), sampler_(sampler), record_(std::move(record)) {}

void RegionMarks::begin(Clock::time_point time) {
  begin_ = time;
  file_.listen([this](std::string_view line, Clock::time_point received) { take(line, received); });
}

void RegionMarks::take(std::string_view line, Clock::time_point received) {
  const auto mark = parse_region_mark(line);
  if (!mark)
    return book_.note_nonsense(line);
  // Nobody knows more of the future than we.
  const Clock::time_point told{std::chrono::nanoseconds(mark->monotonic_ns.value_or(0))};
  const std::chrono::duration<double> after =
      (mark->monotonic_ns ? std::min(told, received) : received) - begin_;
  if (record_ && !mark->monotonic_ns)  // the others' times stand in the file
    record_->add_mark(after.count());
  if (const auto edge = book_.take(*mark, after.count()))
    sampler_.cut(*edge);
}

void RegionMarks::end(Clock::time_point time) {
  file_.stop();
  const std::chrono::duration<double> after = time - begin_;
  for (const RegionEdge& edge : book_.close(after.count()))
    sampler_.cut(edge);
}

void RegionMarks::complete(Measurement& measurement) const {
  measurement.regions = book_.regions();
  std::ranges::copy(book_.warnings(), std::back_inserter(measurement.warnings));
}

/// Takes the figures of a program that has ended.
/// @param begin of the program
Measurement measurement_of(const Options& options, const ProgramEnd& program,
                           Clock::time_point begin, Sampler& sampler,
                           std::optional<RegionMarks>& marks, CpuWatch& watch) {
  Clock::time_point end = program.last_seen.value_or(program.noticed);
  if (marks)
    marks->end(end);
  bool all = true;
  if (options.sources.claims)
    all = wait_for_others(*options.sources.claims, program.status, end);
  Measurement measurement = sampler.end(end);
  measurement.machine.cpu = watch.end();
  if (program.last_seen) {
    const auto seconds = [&](Clock::time_point time) {
      return std::chrono::duration<double>(time - begin).count();
    };
    measurement.end_is_unknown = true;
    measurement.cut_short = fmt::format(
        "the meter was stopped when the program ended, between {:.3g} s and {:.3g} s after its "
        "start",
        seconds(*program.last_seen), seconds(program.noticed));
  }
  if (!all)
    measurement.cut_short = "other programs of this node, which this meter measures, ran on";
  if (options.sources.claims)
    if (std::string failure = options.sources.claims->failure(); !failure.empty())
      measurement.warnings.push_back(std::move(failure));
  if (marks)
    marks->complete(measurement);
  return measurement;
}

/// The started program, and its end once it is known. Whatever fails in the meter, the program is
/// started once, and the meter waits for it.
struct Launched {
  pid_t pid = -1;
  std::optional<ProgramEnd> end;
};

/// Becomes the program, which is not measured.
int run_unmeasured(const Options& options, const Context& context, const std::string& reason) {
  say(fmt::format("warning: the program is not measured: {}", reason));
  if (options.sources.claims)
    options.sources.claims->give_back();
  return fail_to_start(become_program(options.program, context.environment, context.mask));
}

/// @returns how the program ended, or what to end with where it could not be started
ExitStatus run_measured(const Options& options, const Output& output, Sampler& sampler,
                        const IdlePower& idle, const Context& context, Launched& launched) {
  std::shared_ptr<RunRecord> record;  // null: no files are wanted
  if (const auto file = output.run_record(); !file.empty()) {
    record = std::make_shared<RunRecord>(file);
    sampler.await_log(record);
  }
  Environment environment = context.environment;
  std::optional<RegionMarks> marks;
  if (options.regions && may_be_started(options.program[0])) {
    output.make_directory();
    marks.emplace(output.region_log(), sampler, record);
    set_variable(environment, region_variable, marks->path().string());
  }

  CpuWatch watch(options.proc_root, options.sources.sysfs_root, is_in_job());
  const Clock::time_point begin = Clock::now();
  const Started started =
      start_program(options.program, environment, context.mask, options.on_meter_death);
  if (started.needs_this_process)
    return {.code = run_unmeasured(options, context, started.message)};
  if (started.pid < 0)  // what an earlier run has left stays
    return {.code = fail_to_start(started)};
  launched.pid = started.pid;
  sampler.begin(begin);
  tell_start(options);
  if (marks)
    marks->begin(begin);
  watch.begin();
  FileThread files;
  if (record)
    make_files(options, output, sampler, record, files);
  record_software(options, files);
  Provenance provenance = provenance_of(options, begin);
  if (record)
    record->add_start(start_of(options, provenance, idle, sampler));
  launched.end = wait_forwarding(started.pid);
  Measurement measurement = measurement_of(options, *launched.end, begin, sampler, marks, watch);
  const ExitStatus status = launched.end->status;
  files.drop_later();
  provenance.status = status;
  provenance.started_unix_s = measurement.begin_unix_s;
  add_idle_power(measurement, idle);
  report(options, measurement);
  if (record)
    files.post([&] { write_results(output, measurement, provenance, *record); });
  if (!wait_for_files(files))
    end_now(status, options);  // what the thread uses stays as it is
  const bool complete =
      total_of(measurement).energy_j && !missing_source(measurement.absences, options.sources);
  return options.strict && !complete && status.success() ? ExitStatus{.code = code_of_usage}
                                                         : status;
}

/// As above; does not return where this meter is needless, and becomes the program.
ExitStatus run_with_sources(const Options& options, const Context& context, Launched& launched) {
  const SamplerSettings settings = sampler_settings(options);
  Output output(options.output);
  if (!options.sources.claims)  // no other meter of the node makes this one needless
    output.reserve();
  std::optional<SettingsGuard> guard;
  if (options.settings.any())
    guard.emplace(options.settings, options.sources.sysfs_root);
  const ThermalWait cooled = wait_for_temperature(options.thermal, options.sources.sysfs_root);
  if (cooled.signal != 0)
    end_by(cooled.signal, options);
  if (!cooled.failure.empty())
    say("warning: " + cooled.failure);
  const IdlePower idle = idle_power(options, settings);
  Sampler sampler(settings);
  const SourceWait wait = wait_for_sources(sampler, options.wait_ready);
  if (wait.signal != 0)
    end_by(wait.signal, options);
  if (!wait.ready && options.wait_ready.count() > 0)
    say("warning: a power source is slow to start; the program does not wait for it");
  const auto absences = sampler.absences();
  if (is_needless(absences, options.sources)) {
    options.sources.claims->give_back();
    return {.code =
                fail_to_start(become_program(options.program, context.environment, context.mask))};
  }
  if (options.strict)
    require_sources(absences, options.sources);
  output.reserve();
  const ExitStatus status = run_measured(options, output, sampler, idle, context, launched);
  if (guard)
    for (const std::string& failure : guard->restore())
      say("warning: " + failure);
  return status;
}

/// Measures as far as the limits of this process allow, on memory and threads for example, and runs
/// the program in any case.
ExitStatus run_in_any_case(const Options& options, const Context& context) {
  Launched launched;
  std::string reason;
  try {
    return run_with_sources(options, context, launched);
  } catch (const Error& mistake) {
    if (launched.pid < 0)
      throw;
    reason = mistake.message();
  } catch (const std::exception& failure) {
    reason = failure.what();
  }
  if (launched.pid < 0)
    return {.code = run_unmeasured(options, context, reason)};
  say(fmt::format("warning: the program is not measured: {}", reason));
  if (!launched.end)
    launched.end = wait_forwarding(launched.pid);
  return launched.end->status;
}

int measure(Options options) {
  options.sources.claims = claims_of_node(options);
  const Context context{.mask = block_signals(), .environment = current_environment()};
  if (!is_meter_of_node(options)) {
    if (const int signal = wait_for_meter_of_node(options))
      end_by(signal, options);
    return fail_to_start(become_program(options.program, context.environment, context.mask));
  }
  if (const std::string hidden = hidden_gpus(options); !hidden.empty())
    say("warning: " + hidden);
  if (options.output.suffix.empty() && options.output.layout == PowerLayout::own &&
      task_count().value_or(1) > 1)
    options.output.suffix = fmt::format("{}.{}", host_name(), global_rank().value_or(0));
  end_now(run_in_any_case(options, context), options);
}

/// @throws bench::Error where the disk is full, say
int after_flushing(int code) {
  if (std::fflush(stdout) != 0)
    throw Error::of_system("cannot write standard output", errno);
  return code;
}

int run_program(const std::vector<std::string>& arguments) {
  const Options options = parse_options(arguments);
  if (!options.help.empty()) {
    print(options.help);
    return 0;
  }
  if (options.list) {
    print(source_table(open_sources(options.sources)));
    return 0;
  }
  return measure(options);
}

int run_combine(const std::vector<std::string>& arguments) {
  const CombineOptions options = parse_combine_options(arguments);
  if (!options.help.empty())
    print(options.help);
  else if (std::ranges::all_of(options.files, has_summaries))
    combine_summary_files(options.files, options.output,
                          options.in_sequence ? Course::in_sequence : Course::at_once);
  else
    print(combine_files(options.files, options.output) + "\n");
  return 0;
}

int run_recover(const std::vector<std::string>& arguments) {
  const RecoverOptions options = parse_recover_options(arguments);
  if (!options.help.empty()) {
    print(options.help);
    return 0;
  }
  const RecoveredDirectory recovery = recover_directory(options);
  for (const RecoveredFiles& recovered : recovery.made) {
    for (const std::string& line : warnings(recovered.measurement))
      say("warning: " + line);
    print(recovered.line + "\n");
  }
  for (const Error& failure : recovery.failures)
    say(render(failure));
  return recovery.failures.empty() ? 0 : 1;
}

int run(std::vector<std::string> arguments) {
  // Threads must not map heaps of their own: there is little to contend for, and the first one is
  // started while the program waits.
  ::mallopt(M_ARENA_MAX, 1);
  occupy_standard_descriptors();
  const std::string command = arguments.empty() ? "" : arguments[0];
  if (command == guard_command)
    return run_guard({arguments.begin() + 1, arguments.end()});
  if (command != "combine" && command != "recover")
    return after_flushing(run_program(arguments));
  arguments.erase(arguments.begin());
  return after_flushing(command == "combine" ? run_combine(arguments) : run_recover(arguments));
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
