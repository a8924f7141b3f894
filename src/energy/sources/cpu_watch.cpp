#include <chrono>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>
#include <thread>

#include <signal.h>
#include <unistd.h>

#include <bench/base/text.hpp>
#include <bench/energy/core/machine_state.hpp>
#include <bench/energy/core/signals.hpp>
#include <bench/energy/core/ticks.hpp>
#include <bench/energy/sources/cpu_sensors.hpp>
#include <bench/energy/sources/cpu_time.hpp>
#include <bench/energy/sources/cpu_watch.hpp>
#include <bench/energy/sources/sysfs.hpp>

namespace bench::energy {
namespace {

constexpr std::chrono::milliseconds first_read_after{50};
constexpr std::chrono::seconds time_between_reads{1};
/// The kernel accounts CPU time in ticks; less than this may be rounding.
constexpr double least_others_s = 0.2;
/// Over a longer time, rounding is negligible.
constexpr double shortest_run_s = 2;

std::optional<NodeCpuTime> node_now(const std::filesystem::path& proc) {
  std::ifstream file(proc / "stat");  // on a large node longer than a page
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return node_cpu_time(text, static_cast<double>(::sysconf(_SC_CLK_TCK)));
}

}  // namespace

CpuWatch::~CpuWatch() {
  stop();
}

void CpuWatch::begin() {
  begin_ = Clock::now();
  node_before_ = node_now(proc_);
  own_.emplace(proc_, sysfs_, in_job_);
  own_before_s_ = own_->read_s();
  const std::string load = kernel_text(proc_ / "loadavg");
  state_.load = parse_number(load.substr(0, load.find(' ')));
  const sigset_t before = block_signals();
  try {
    thread_ = std::thread([this] { watch(); });
  } catch (const std::system_error&) {  // a limit on threads: no clocks and temperatures
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void CpuWatch::watch() {
  over_.wait_until(begin_ + first_read_after);
  if (over_.has_happened())
    return;
  try {
    CpuSensors sensors(sysfs_);
    for (auto next = Clock::now(); !over_.has_happened(); over_.wait_until(next)) {
      sensors.read(state_);
      next += time_between_reads;
    }
    sensors.close(state_);
  } catch (const std::exception&) {  // out of memory: the rest is missing
  }
}

void CpuWatch::stop() {
  over_.happen();
  if (thread_.joinable())
    thread_.join();
}

CpuState CpuWatch::end() {
  const double duration_s = std::chrono::duration<double>(Clock::now() - begin_).count();
  const auto node = node_now(proc_);
  const auto own_s = own_ ? own_->read_s() : std::nullopt;
  stop();
  if (!node)
    return state_;
  state_.cpus = node->cpus;
  if (!node_before_ || !own_s || !own_before_s_)
    return state_;
  const double others_s = (node->busy_s - node_before_->busy_s) - (*own_s - *own_before_s_);
  if (others_s >= least_others_s)
    state_.other_cpus = others_s / duration_s;
  else if (duration_s >= shortest_run_s)
    state_.other_cpus = 0;
  return state_;
}

}  // namespace bench::energy
