#include <string_view>

#include <bench/base/unit.hpp>
#include <bench/numbers/metric.hpp>

namespace bench::numbers {
namespace {

bool is_of_one_base(const unit::Unit& unit, std::string_view base) {
  return unit.is_convertible_to(unit::Unit(base));
}

/// A unit made only of words that are not physical units.
bool is_count(const unit::Unit& unit) {
  return unit.without_words().is_number();
}

}  // namespace

bool fits(Quantity quantity, const unit::Unit& unit) {
  const unit::Unit physical = unit.without_words();
  switch (quantity) {
    case Quantity::number:
    case Quantity::count:
      return is_count(unit);
    case Quantity::amount:
      return physical.power("s") == 0 && physical.power("J") == 0 && physical.power("VA") == 0;
    case Quantity::time:
      return is_of_one_base(unit, "s");
    case Quantity::rate:
      return physical.power("s") == -1 && physical.power("J") == 0;
    case Quantity::item_rate:
      return is_of_one_base(physical, "1/s");
    case Quantity::energy:
      return is_of_one_base(unit, "J");
    case Quantity::power:
      return is_of_one_base(unit, "W");
    case Quantity::efficiency:
      return physical.power("J") == -1 && physical.power("s") == 0;
    case Quantity::flop:
      return is_of_one_base(physical, "FLOP");
    case Quantity::flop_rate:
      return is_of_one_base(physical, "FLOP/s");
    case Quantity::any:
    case Quantity::ranked:
      break;
  }
  return true;
}

unit::Unit used_unit(Quantity quantity, const unit::Unit& unit) {
  if (quantity == Quantity::ranked)
    return {};
  const bool drops_words = quantity == Quantity::number || quantity == Quantity::item_rate ||
                           quantity == Quantity::flop || quantity == Quantity::flop_rate;
  return drops_words ? unit.without_words() : unit;
}

std::string_view text_of(Quantity quantity) {
  switch (quantity) {
    case Quantity::number:
    case Quantity::count:
      return "a number";
    case Quantity::amount:
      return "an amount (tokens, images, GB)";
    case Quantity::time:
      return "a time";
    case Quantity::rate:
      return "a rate (an amount over time)";
    case Quantity::item_rate:
      return "a rate (tokens/s, images/s)";
    case Quantity::energy:
      return "an energy";
    case Quantity::power:
      return "a power";
    case Quantity::efficiency:
      return "an amount over energy (tokens/Wh)";
    case Quantity::flop:
      return "a number of FLOP";
    case Quantity::flop_rate:
      return "a rate in FLOP/s";
    case Quantity::any:
    case Quantity::ranked:
      break;
  }
  return "any value";
}

std::string_view usual_unit(Quantity quantity) {
  switch (quantity) {
    case Quantity::time:
      return "s";
    case Quantity::amount:
      return "tokens";
    case Quantity::rate:
    case Quantity::item_rate:
      return "tokens/s";
    case Quantity::energy:
      return "Wh";
    case Quantity::power:
      return "W";
    case Quantity::efficiency:
      return "tokens/Wh";
    case Quantity::flop:
      return "FLOP";
    case Quantity::flop_rate:
      return "TFLOP/s";
    default:
      return "";
  }
}

}  // namespace bench::numbers
