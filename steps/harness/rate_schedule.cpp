#include "harness/rate_schedule.hpp"

#include "harness/arguments.hpp"
#include "harness/errors.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>  // join, since fmt 11

namespace bench::steps {

bool RateSchedule::is_constant() const {
  return warmup == 0 && !ends_at_lowest() && (shape != Shape::step || milestones.empty());
}

double RateSchedule::rate(double progress) const {
  return ends_at_lowest() ? rate_towards_lowest(progress) : rate_in_steps(progress);
}

// The order of the operations is part of the results: losses of recorded runs hold to the last bit.

double RateSchedule::rate_towards_lowest(double progress) const {
  if (progress <= warmup && warmup > 0)
    return first == 0 ? highest * progress / warmup : warmup_rate(progress);
  if (progress >= end)
    return lowest;
  const double from = std::max(warmup, start);
  if (progress <= from)
    return highest;
  const double passed = (progress - from) / (end - from);
  if (shape == Shape::exponential)
    return highest * std::pow(lowest / highest, passed);
  const double left = shape == Shape::cosine ? (std::cos(std::numbers::pi * passed) + 1) / 2
                                             : std::pow(1 - passed, power);
  return lowest + (highest - lowest) * left;
}

double RateSchedule::rate_in_steps(double progress) const {
  const auto passed =
      shape == Shape::step
          ? std::ranges::count_if(milestones, [&](double from) { return progress >= from; })
          : 0;
  const double factor = factor_after(static_cast<std::size_t>(passed));
  if (progress >= warmup)
    return highest * factor;
  return first == 0 ? highest * (progress / warmup) * factor : warmup_rate(progress) * factor;
}

double RateSchedule::warmup_rate(double progress) const {
  return first + (highest - first) * (progress / warmup);
}

double RateSchedule::factor_after(std::size_t passed) const {
  if (factors.size() == 1)
    return std::pow(factors.front(), static_cast<double>(passed));
  double product = 1;
  for (std::size_t i = 0; i < passed; ++i)
    product *= factors.at(i);
  return product;
}

namespace {

using Shape = RateSchedule::Shape;

struct NamedShape {
  const char* name;
  Shape shape;
};
constexpr NamedShape named_shapes[] = {{"constant", Shape::constant},
                                       {"cosine", Shape::cosine},
                                       {"polynomial", Shape::polynomial},
                                       {"exponential", Shape::exponential},
                                       {"step", Shape::step}};

std::vector<std::string> shape_names() {
  std::vector<std::string> names;
  for (const NamedShape& known : named_shapes)
    names.emplace_back(known.name);
  return names;
}

std::string shape_name(Shape shape) {
  return std::ranges::find(named_shapes, shape, &NamedShape::shape)->name;
}

/// @param name one of `shape_names`
Shape shape_of(const std::string& name) {
  return std::ranges::find(named_shapes, name, &NamedShape::name)->shape;
}

/// Options that only some shapes read.
struct ShapeOption {
  const char* name;
  std::vector<Shape> readers;
};
const std::vector<ShapeOption>& shape_options() {
  static const std::vector<Shape> towards_end{Shape::cosine, Shape::polynomial, Shape::exponential};
  static const std::vector<ShapeOption> options{
      {"--lr-milestones", {Shape::step}}, {"--lr-factor", {Shape::step}},
      {"--lr-decay-start", towards_end},  {"--lr-decay", towards_end},
      {"--lr-end", towards_end},          {"--lr-power", {Shape::polynomial}}};
  return options;
}

void check_readers(const CLI::App& app, const RateSchedule& schedule) {
  for (const auto& [option, readers] : shape_options())
    if (app.count(option) > 0 && std::ranges::count(readers, schedule.shape) == 0)
      throw UsageError(
          fmt::format("{} has no effect on a {} learning rate", option, shape_name(schedule.shape)),
          fmt::format("add --lr-schedule {}, or remove {}", shape_name(readers.front()), option));
}

}  // namespace

void add_schedule_options(CLI::App& app, RateSchedule& schedule, const std::string& unit) {
  app.add_option("--learning-rate", schedule.highest, "Highest learning rate")
      ->check(not_negative());
  app.add_option(
         "--lr-warmup", schedule.warmup,
         fmt::format("{} in which the learning rate goes from the first to the highest", unit))
      ->check(not_negative());
  app.add_option("--lr-first", schedule.first, "Learning rate at the beginning of the warm-up")
      ->check(not_negative());
  app.add_option_function<std::string>(
         "--lr-schedule", [&](const std::string& name) { schedule.shape = shape_of(name); },
         "Decay of the learning rate after the warm-up")
      ->check(CLI::IsMember(shape_names()))
      ->default_str(shape_name(schedule.shape));
  app.add_option(
         "--lr-milestones", schedule.milestones,
         fmt::format("step: {} at which the learning rate is multiplied, such as 30,60,80", unit))
      ->check(not_negative())
      ->delimiter(',')
      ->default_str(fmt::format("{}", fmt::join(schedule.milestones, ",")));
  app.add_option("--lr-factor", schedule.factors,
                 "step: factor at each of them, or one for all of them")
      ->check(positive())
      ->delimiter(',')
      ->default_str(fmt::format("{}", fmt::join(schedule.factors, ",")));
  app.add_option(
         "--lr-decay-start", schedule.start,
         fmt::format(
             "cosine, polynomial, exponential: {} from which it falls; 0: after the warm-up", unit))
      ->check(not_negative());
  app.add_option("--lr-decay", schedule.end,
                 fmt::format("cosine, polynomial, exponential: {} after which it is lowest", unit))
      ->check(not_negative());
  app.add_option("--lr-end", schedule.lowest,
                 "cosine, polynomial, exponential: lowest learning rate")
      ->check(not_negative());
  app.add_option("--lr-power", schedule.power, "polynomial: exponent; 1: linear")
      ->check(positive());
}

void check_schedule_options(const CLI::App& app, const RateSchedule& schedule) {
  check_readers(app, schedule);
  if (schedule.shape == Shape::step && schedule.milestones.empty())
    throw UsageError("--lr-schedule step needs --lr-milestones",
                     "add them, such as --lr-milestones 30,60,80");
  if (schedule.shape == Shape::step && schedule.factors.size() > 1 &&
      schedule.factors.size() != schedule.milestones.size())
    throw UsageError(fmt::format("--lr-factor has {} factors, --lr-milestones {} milestones",
                                 schedule.factors.size(), schedule.milestones.size()),
                     "give one factor for each milestone, or one for all");
  if (schedule.shape == Shape::step &&
      std::ranges::adjacent_find(schedule.milestones, std::greater_equal()) !=
          schedule.milestones.end())
    throw UsageError(
        fmt::format("the milestones {} do not rise", fmt::join(schedule.milestones, ",")),
        "give --lr-milestones in their order, such as 30,60,80");
  if (app.count("--lr-first") > 0 && schedule.warmup == 0)
    throw UsageError("--lr-first has no effect without a warm-up",
                     "add --lr-warmup, or remove --lr-first");
  if (schedule.shape == Shape::constant || schedule.shape == Shape::step)
    return;
  if (schedule.shape == Shape::exponential && schedule.lowest == 0)
    throw UsageError("an exponential learning rate never is 0", "give an --lr-end above 0");
  if (schedule.end <= schedule.warmup)
    throw UsageError("the learning rate falls before it has risen",
                     "--lr-decay must be above --lr-warmup");
  if (schedule.end <= schedule.start)
    throw UsageError("the learning rate is lowest before it falls",
                     "--lr-decay must be above --lr-decay-start");
  if (schedule.lowest > schedule.highest)
    throw UsageError(fmt::format("the lowest learning rate, {}, is above the highest, {}",
                                 schedule.lowest, schedule.highest),
                     "--lr-end must not be above --learning-rate");
}

}  // namespace bench::steps
