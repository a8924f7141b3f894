#include "harness/profiler.hpp"

#include "harness/json.hpp"
#include "harness/program.hpp"

#include <memory>
#include <set>
#include <stdexcept>
#include <string>

#include <fmt/core.h>
#include <torch/csrc/autograd/profiler_kineto.h>

namespace bench::steps {
namespace {

namespace profiler = torch::autograd::profiler;
using torch::profiler::impl::ActivityType;

struct Microseconds {
  double begin;
  double duration;
};

Microseconds times_of(const profiler::KinetoEvent& event) {
#if BENCH_TORCH_AT_LEAST(2, 4)
  constexpr double nanosecond_us = 1e-3;
  return {static_cast<double>(event.startNs()) * nanosecond_us,
          static_cast<double>(event.durationNs()) * nanosecond_us};
#else
  return {static_cast<double>(event.startUs()), static_cast<double>(event.durationUs())};
#endif
}

/// A complete event. Operations of the host are in the rows of their threads, kernels in those of
/// their streams.
std::string trace_event(const profiler::KinetoEvent& event, int rank) {
  const bool on_host = event.deviceType() == c10::DeviceType::CPU;
  const auto [begin, duration] = times_of(event);
  return fmt::format(
      R"({{"ph": "X", "cat": "{}", "name": {}, "pid": {}, "tid": {}, "ts": {:.3f}, "dur": {:.3f}}})",
      on_host ? "cpu_op" : "kernel", json_string(event.name()), rank,
      on_host ? fmt::format("{}", event.startThreadId())
              : fmt::format(R"("stream {}")", event.deviceResourceId()),
      begin, duration);
}

}  // namespace

Profiler::Profiler(const std::string& file, const torch::Device& device, int rank)
    : file_(file), device_(device), rank_(rank) {
  if (file_.empty())
    return;
  if (rank > 0)
    file_ += fmt::format(".{}", rank);
  out_.open(file_);
  if (!out_)
    throw UsageError(fmt::format("cannot write {}", file_),
                     "--profile takes a file in a folder that exists and can be written");
}

void Profiler::start() {
  std::set<ActivityType> activities{ActivityType::CPU};
  if (device_.is_cuda())
    activities.insert(ActivityType::CUDA);
  const torch::profiler::impl::ProfilerConfig config(torch::profiler::impl::ProfilerState::KINETO);
  profiler::prepareProfiler(config, activities);
  profiler::enableProfiler(config, activities);
}

void Profiler::write() {
  const std::unique_ptr<profiler::ProfilerResult> result = profiler::disableProfiler();
  out_ << "{\"traceEvents\": [";
  const char* separator = "\n";
  for (const profiler::KinetoEvent& event : result->events()) {
    out_ << separator << trace_event(event, rank_);
    separator = ",\n";
  }
  out_ << "\n]}\n";
  out_.close();
  if (!out_)
    throw std::runtime_error(fmt::format("cannot write {} to its end", file_));
}

}  // namespace bench::steps
