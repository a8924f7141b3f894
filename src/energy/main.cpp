#include <cstdio>

#include <fcntl.h>
#include <fmt/core.h>
#include <malloc.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/base/host.hpp>
#include <bench/base/time.hpp>
#include <bench/energy/child.hpp>
#include <bench/energy/combine.hpp>
#include <bench/energy/local_rank.hpp>
#include <bench/energy/options.hpp>
#include <bench/energy/output.hpp>
#include <bench/energy/report.hpp>
#include <bench/energy/sampler.hpp>

namespace bench::energy {
namespace {

/// Of this program's own mistakes, as nohup and timeout have it.
constexpr int code_of_usage = 125;
/// A driver that takes longer to come up does not hold the program back.
constexpr std::chrono::seconds start_patience{10};

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

void write_results(const Output& output, const Measurement& measurement,
                   const Provenance& provenance) {
  for (const auto& [name, value] : summary(measurement))
    say(fmt::format("{}={}", name, value));
  try {
    output.write(measurement, provenance);
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

int measure(const Options& options) {
  const Output output(options.output);
  const sigset_t mask = block_signals();
  Sampler sampler({.sources = options.sources,
                   .interval = options.interval,
                   .power_log = output.power_log(),
                   .power_layout = options.output.layout});
  const bool ready = sampler.wait_until_ready(start_patience);
  if (!ready)
    say("warning: a power source is slow to start; the program does not wait for it");
  if (options.strict)
    require_sources(sampler.absences(), options.sources);

  const Clock::time_point begin = Clock::now();
  const Started started = start_program(options.program, mask);
  if (started.pid < 0)
    return fail_to_start(started);
  sampler.begin(begin);
  Provenance provenance = provenance_of(options, begin);
  provenance.status = wait_forwarding(started.pid);
  const Measurement measurement = sampler.end(Clock::now());

  const bool complete = total_of(measurement).energy_j.has_value();
  for (const std::string& line : warnings(measurement))
    say("warning: " + line);
  if (!options.sources.automatic && complete)
    for (const Absence& absence : measurement.absences)
      say(fmt::format("warning: {}: {}", absence.source, absence.reason));
  write_results(output, measurement, provenance);
  end_like(options.strict && !complete && provenance.status.success()
               ? ExitStatus{.code = code_of_usage}
               : provenance.status);
}

int run_program(const std::vector<std::string>& arguments) {
  const Options options = parse_options(arguments);
  if (!options.help.empty()) {
    fmt::print("{}", options.help);
    return 0;
  }
  if (options.list) {
    fmt::print("{}", source_table(open_sources(options.sources)));
    return 0;
  }
  if (local_rank().value_or(0) != 0)
    return fail_to_start(become_program(options.program));
  return measure(options);
}

int run_combine(const std::vector<std::string>& arguments) {
  const CombineOptions options = parse_combine_options(arguments);
  fmt::print("{}", options.help.empty() ? combine_files(options.files, options.output) + "\n"
                                        : options.help);
  return 0;
}

int run(std::vector<std::string> arguments) {
  // Threads shall not map heaps of their own: there is little to contend for, and the first one is
  // started while the program waits.
  ::mallopt(M_ARENA_MAX, 1);
  occupy_standard_descriptors();
  if (arguments.empty() || arguments[0] != "combine")
    return run_program(arguments);
  arguments.erase(arguments.begin());
  return run_combine(arguments);
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
