#include "power_curve.hpp"

#include "html.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/unique_fd.hpp>
#include <bench/energy/program/power_log.hpp>

namespace bench::serve {
namespace {

using report::RegionVisit;

constexpr std::size_t most_channels = 16;
constexpr double width = 1000;
constexpr double height = 100;

struct Range {
  double low = 0;
  double high = 0;
};

/// Both axes start at 0: the start of the program, and a baseline that makes heights comparable.
struct Axes {
  Range time_s;
  Range power_w;

  explicit Axes(const PowerCurve& curve) {
    for (const PowerCurve::Channel& channel : curve.channels) {
      if (channel.samples.empty())
        continue;
      power_w.low = std::min(power_w.low, channel.samples.lowest().power_w);
      power_w.high = std::max(power_w.high, channel.samples.highest().power_w);
      const auto samples = channel.samples.samples();
      time_s.low = std::min(time_s.low, samples.front().time_s);
      time_s.high = std::max(time_s.high, samples.back().time_s);
    }
  }

  double x(double at_s) const {
    const double length_s = time_s.high - time_s.low;
    return length_s > 0 ? (at_s - time_s.low) / length_s * width : 0;
  }
  double y(double at_w) const {
    const double all_w = power_w.high - power_w.low;
    return all_w > 0 ? height - (at_w - power_w.low) / all_w * height : height;
  }
};

/// The regions in order of their first appearance, which determines their colours.
std::vector<std::string> names_of(const std::vector<RegionVisit>& visits) {
  std::vector<std::string> names;
  for (const RegionVisit& visit : visits)
    if (std::ranges::find(names, visit.region) == names.end())
      names.push_back(visit.region);
  return names;
}

constexpr std::size_t colours = 16;

/// @param first the first colour that no channel uses
std::string bands(const std::vector<RegionVisit>& visits, const Axes& axes, std::size_t first) {
  const std::vector<std::string> names = names_of(visits);
  std::string html;
  for (const RegionVisit& visit : visits) {
    const double begin = std::clamp(axes.x(visit.begin_s), 0.0, width);
    const double end = std::clamp(axes.x(visit.end_s), begin, width);
    html += fmt::format(
        "<rect class=\"region c{}\" x=\"{:.1f}\" y=\"-2\" width=\"{:.1f}\" "
        "height=\"{:g}\"><title>{}: {:.4g} to {:.4g} s</title></rect>\n",
        (static_cast<std::size_t>(std::ranges::find(names, visit.region) - names.begin()) + first) %
            colours,
        begin, end - begin, height + 4, html_text(visit.region), visit.begin_s, visit.end_s);
  }
  return html;
}

std::string polyline(const PowerCurve::Channel& channel, const Axes& axes, std::size_t number) {
  std::string points;
  for (const Envelope::Sample& sample : channel.samples.samples())
    points += fmt::format("{:.1f},{:.2f} ", axes.x(sample.time_s), axes.y(sample.power_w));
  return fmt::format("<polyline class=\"line c{}\" points=\"{}\"><title>{}</title></polyline>\n",
                     number, points, html_text(channel.name));
}

}  // namespace

void Envelope::widen(Stretch& stretch, Sample sample) {
  if (sample.power_w < stretch.low.power_w)
    stretch.low = sample;
  if (sample.power_w > stretch.high.power_w)
    stretch.high = sample;
}

void Envelope::add(Sample sample) {
  if (!stretches_.empty() && in_last_ < samples_per_stretch_) {
    widen(stretches_.back(), sample);
    ++in_last_;
    return;
  }
  if (stretches_.size() == most_stretches) {
    for (std::size_t k = 0; k < most_stretches / 2; ++k) {
      stretches_[k] = stretches_[2 * k];
      widen(stretches_[k], stretches_[2 * k + 1].low);
      widen(stretches_[k], stretches_[2 * k + 1].high);
    }
    stretches_.resize(most_stretches / 2);
    samples_per_stretch_ *= 2;
  }
  stretches_.push_back({sample, sample});
  in_last_ = 1;
}

std::vector<Envelope::Sample> Envelope::samples() const {
  std::vector<Sample> all;
  for (const Stretch& stretch : stretches_) {
    const bool is_low_first = stretch.low.time_s <= stretch.high.time_s;
    all.push_back(is_low_first ? stretch.low : stretch.high);
    if (stretch.low.time_s != stretch.high.time_s)
      all.push_back(is_low_first ? stretch.high : stretch.low);
  }
  return all;
}

Envelope::Sample Envelope::lowest() const {
  return std::ranges::min_element(stretches_, {}, [](const auto& one) { return one.low.power_w; })
      ->low;
}

Envelope::Sample Envelope::highest() const {
  return std::ranges::max_element(stretches_, {}, [](const auto& one) { return one.high.power_w; })
      ->high;
}

bool PowerCurve::empty() const {
  return std::ranges::all_of(channels, [](const Channel& one) { return one.samples.empty(); });
}

PowerCurve read_power_curve(UniqueFd fd, const std::string& file) {
  energy::PowerLogReader reader(std::move(fd), file);
  PowerCurve curve;
  auto channels = reader.channels();
  channels.resize(std::min(channels.size(), most_channels));
  for (const auto& channel : channels)
    curve.channels.push_back({.name = channel.name, .samples = {}});
  std::vector<double> row;
  while (reader.next(row))
    for (std::size_t k = 0; k < channels.size(); ++k)
      if (const double power_w = row[channels[k].column];
          std::isfinite(row.front()) && std::isfinite(power_w))
        curve.channels[k].samples.add({row.front(), power_w});
  curve.damage = report::damage_in(reader, row, file);
  return curve;
}

std::string power_figure(const PowerCurve& curve, const std::vector<RegionVisit>& visits,
                         std::string_view caption) {
  const Axes axes(curve);
  std::string lines = bands(visits, axes, curve.channels.size());
  std::string legend;
  std::size_t number = 0;
  for (const PowerCurve::Channel& channel : curve.channels) {
    if (channel.samples.empty())
      continue;
    lines += polyline(channel, axes, number);
    legend += fmt::format("<li class=\"c{}\">{}: {:.1f} to {:.1f} W</li>\n", number,
                          html_text(channel.name), channel.samples.lowest().power_w,
                          channel.samples.highest().power_w);
    ++number;
  }
  const std::vector<std::string> regions = names_of(visits);
  for (std::size_t k = 0; k < regions.size(); ++k)
    legend += fmt::format("<li class=\"region c{}\">{}</li>\n",
                          (k + curve.channels.size()) % colours, html_text(regions[k]));
  return fmt::format(
      "<figure class=\"curve\">\n<figcaption>{}</figcaption>\n"
      "<span class=\"top\">{:.4g} W</span><span class=\"bottom\">{:.4g}</span>\n"
      "<svg viewBox=\"0 -2 {:g} {:g}\" preserveAspectRatio=\"none\" role=\"img\">\n{}</svg>\n"
      "<span class=\"left\">{:.4g} s</span><span class=\"right\">{:.4g} s</span>\n"
      "<ul>\n{}</ul>\n</figure>\n",
      html_text(caption), axes.power_w.high, axes.power_w.low, width, height + 4, lines,
      axes.time_s.low, axes.time_s.high, legend);
}

}  // namespace bench::serve
