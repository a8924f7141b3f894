#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/power_source.hpp>
#include <bench/energy/core/ticks.hpp>
#include <bench/energy/core/units.hpp>
#include <bench/energy/sources/methods.hpp>

namespace bench::energy {
namespace {

/// Power and energy as functions of the seconds since the first reading.
struct Shape {
  std::function<double(double)> power_w;
  std::function<double(double)> energy_j;
  double lost_after_s = std::numeric_limits<double>::infinity();
};

Shape constant(double power_w) {
  return {[=](double) { return power_w; }, [=](double t) { return power_w * t; }};
}

Shape ramp(double start_w, double rise_w_per_s) {
  return {[=](double t) { return start_w + rise_w_per_s * t; },
          [=](double t) { return start_w * t + rise_w_per_s * t * t / 2; }};
}

double time_in_period_s(double t, double period_s) {
  return t - period_s * std::floor(t / period_s);
}

Shape square(double low_w, double high_w, double half_period_s) {
  return {[=](double t) {
            return time_in_period_s(t, 2 * half_period_s) < half_period_s ? low_w : high_w;
          },
          [=](double t) {
            const double in_period_s = time_in_period_s(t, 2 * half_period_s);
            const double high_s = std::max(0.0, in_period_s - half_period_s);
            return (t - in_period_s) * (low_w + high_w) / 2 + low_w * (in_period_s - high_s) +
                   high_w * high_s;
          }};
}

Shape parse_shape(const std::string& text) {
  const auto equals = text.find('=');
  const std::string kind = text.substr(0, equals);
  const auto values = split_names(equals == std::string::npos ? "" : text.substr(equals + 1), "/");
  if (kind == "constant" && values.size() == 1)
    return constant(parse_power_w(values[0]));
  if (kind == "ramp" && values.size() == 2)
    return ramp(parse_power_w(values[0]), parse_power_w(values[1]));
  if (kind == "square" && values.size() == 3)
    return square(parse_power_w(values[0]), parse_power_w(values[1]), parse_interval_s(values[2]));
  if (kind == "lost" && values.size() == 2) {
    Shape shape = constant(parse_power_w(values[0]));
    shape.lost_after_s = parse_interval_s(values[1]);
    return shape;
  }
  throw Error(Id::invalid_value, fmt::format("unknown mock '{}'", text),
              "constant=100W, ramp=50W/20W, square=100W/300W/50ms or lost=100W/300ms");
}

/// An invented device whose energy is known in closed form, with power and counter; t is the time
/// since its first reading, just before the program starts:
///
/// - `constant=100W`: E(t) = 100 W * t
/// - `ramp=50W/20W`: 50 W rising by 20 W every second, E(t) = 50 W * t + 20 W/s * t^2 / 2
/// - `square=100W/300W/50ms`: 100 W for 50 ms, 300 W for 50 ms, and again
/// - `lost=100W/300ms`: 100 W, and after 300 ms the device is gone
///
/// @throws bench::Error if the text is none of these
class Mock : public PowerSource {
 public:
  explicit Mock(const std::string& text) : shape_(parse_shape(text)) {
    Channel channel;
    channel.name = "mock:" + as_identifier(text.substr(0, text.find('=')));
    channel.scope = Scope::mock;
    channel.description = text;
    channels_.push_back(channel);
  }

  void read(std::span<Reading> readings) override {
    const auto now = Clock::now();
    if (!start_)
      start_ = now;
    const double t = std::chrono::duration<double>(now - *start_).count();
    if (t >= shape_.lost_after_s) {
      readings[0].failure = "the mock device is gone";
      readings[0].lost = true;
      return;
    }
    readings[0].power_w = shape_.power_w(t);
    readings[0].energy_j = shape_.energy_j(t);
  }

 private:
  Shape shape_;
  std::optional<Clock::time_point> start_;
};

}  // namespace

extern const SourceMethod mock_method{
    .name = "mock",
    .open = [](const std::string& argument, const SourceSettings&) -> std::unique_ptr<PowerSource> {
      return std::make_unique<Mock>(argument);
    },
    .argument = "constant=100W",
    .check = [](const std::string& argument) { parse_shape(argument); },
    .note = "(invented, for tests)",
};

}  // namespace bench::energy
