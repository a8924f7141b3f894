#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unit.hpp>
#include <bench/numbers/expression.hpp>

namespace bench::numbers {
namespace {

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

bool is_of_name(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) != 0 || c == '_' || byte >= 0x80;
}

}  // namespace

/// Reads a formula from left to right, and adds its operations in the order of their evaluation.
class Parser {
 public:
  Parser(std::string_view text, Expression& made) : text_(text), made_(made) {}

  void parse() {
    sum();
    if (skip_blanks(); at_ < text_.size())
      fail(fmt::format("unexpected '{}'", text_.substr(at_, 1)));
  }

 private:
  using Kind = Expression::Kind;

  void sum() {
    product();
    for (;;)
      if (take('+')) {
        product();
        add({.kind = Kind::add});
      } else if (take('-')) {
        product();
        add({.kind = Kind::subtract});
      } else {
        return;
      }
  }

  void product() {
    factor();
    for (;;)
      if (take('*')) {
        factor();
        add({.kind = Kind::multiply});
      } else if (take('/')) {
        factor();
        add({.kind = Kind::divide});
      } else {
        return;
      }
  }

  void factor() {
    bool negative = false;
    while (take('-'))
      negative = !negative;
    operand();
    if (take('^'))
      add({.kind = Kind::power, .exponent = exponent()});
    if (negative)
      add({.kind = Kind::negate});
  }

  int exponent() {
    const bool negative = take('-');
    skip_blanks();
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_digit(text_[at_]))
      ++at_;
    constexpr long long most = 9;
    const auto value = parse_integer(text_.substr(begin, at_ - begin));
    if (!value || *value > most)
      fail("'^' must be followed by a whole number of at most 9");
    return static_cast<int>(negative ? -*value : *value);
  }

  void operand() {
    skip_blanks();
    if (take('(')) {
      constexpr int deepest = 100;
      if (++depth_ > deepest)
        fail("parentheses are nested too deeply");
      sum();
      --depth_;
      return close();
    }
    if (at_ < text_.size() && (is_digit(text_[at_]) || text_[at_] == '.'))
      return number();
    const std::string name = word();
    if (name.empty())
      fail(at_ < text_.size() ? fmt::format("unexpected '{}'", text_.substr(at_, 1))
                              : "it is incomplete");
    if (name == "base" && take('(')) {
      skip_blanks();
      add_name(Kind::baseline, word());
      return close();
    }
    add_name(Kind::name, name);
  }

  void number() {
    const std::size_t begin = at_;
    const auto digits = [&] {
      while (at_ < text_.size() && (is_digit(text_[at_]) || text_[at_] == '.'))
        ++at_;
    };
    digits();
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      const std::size_t before = at_++;
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-'))
        ++at_;
      if (at_ < text_.size() && is_digit(text_[at_]))
        digits();
      else
        at_ = before;
    }
    const auto value = parse_number(text_.substr(begin, at_ - begin));
    if (!value)
      fail(fmt::format("'{}' is not a number", text_.substr(begin, at_ - begin)));
    skip_blanks();
    const bool percent = take('%');
    add({.kind = Kind::number, .number = *value, .unit = unit::Unit(percent ? "%" : word())});
  }

  std::string word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_of_name(text_[at_]))
      ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  void add_name(Kind kind, const std::string& name) {
    if (name.empty())
      fail("base() needs a name");
    auto& names = made_.names_;
    const auto known = std::ranges::find(names, name);
    const auto position = static_cast<std::size_t>(known - names.begin());
    if (known == names.end())
      names.push_back(name);
    add({.kind = kind, .name = position});
  }

  void add(Expression::Operation operation) { made_.operations_.push_back(std::move(operation)); }

  void close() {
    if (!take(')'))
      fail("missing ')'");
  }

  bool take(char c) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != c)
      return false;
    ++at_;
    return true;
  }

  void skip_blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0)
      ++at_;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(Id::invalid_expression, fmt::format("invalid formula '{}': {}", text_, what),
                "a formula is made of names, numbers, + - * / ^ ( ) and base(NAME)", made_.place_);
  }

  std::string_view text_;
  Expression& made_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

Expression::Expression(std::string_view text, Place place)
    : text_(strip(text)), place_(std::move(place)) {
  Parser(text_, *this).parse();
}

bool Expression::uses_baseline() const {
  return std::ranges::find(operations_, Kind::baseline, &Operation::kind) != operations_.end();
}

unit::Unit Expression::set_units(std::span<const unit::Unit> units) {
  std::vector<unit::Unit> stack;
  for (Operation& operation : operations_) {
    if (operation.kind == Kind::number)
      stack.push_back(operation.unit);
    else if (operation.kind == Kind::name || operation.kind == Kind::baseline)
      stack.push_back(units[operation.name]);
    else
      combine_units(operation, stack);
    require_power(stack.back().largest_power());
  }
  return stack.back();
}

/// The text of a unit with a higher power could not be read again.
void Expression::require_power(int power) const {
  if (power > unit::most_power)
    throw Error(
        Id::unit_mismatch,
        fmt::format("the formula '{}' has a unit to a power above {}", text_, unit::most_power), "",
        place_);
}

void Expression::combine_units(Operation& operation, std::vector<unit::Unit>& stack) const {
  if (operation.kind == Kind::negate)
    return;
  if (operation.kind == Kind::power) {
    require_power(stack.back().largest_power() * std::abs(operation.exponent));
    stack.back() = stack.back().to_the_power(operation.exponent);
    return;
  }
  const unit::Unit second = stack.back();
  stack.pop_back();
  unit::Unit& first = stack.back();
  if (operation.kind == Kind::multiply) {
    first = first * second;
  } else if (operation.kind == Kind::divide) {
    first = first / second;
  } else if (const auto factor = unit::conversion_factor(second, first)) {
    operation.number = *factor;
  } else {
    const auto name = [](const unit::Unit& one) {
      return one.is_number() ? "a plain number" : one.text();
    };
    throw Error(
        Id::unit_mismatch,
        fmt::format("the formula '{}' {} {} and {}", text_,
                    operation.kind == Kind::add ? "adds" : "subtracts", name(first), name(second)),
        "terms of a sum must measure the same thing", place_);
  }
}

double Expression::value(std::span<const double> values, std::span<const double> baseline) const {
  std::vector<double> stack;
  stack.reserve(operations_.size());
  for (const Operation& operation : operations_) {
    if (operation.kind == Kind::number) {
      stack.push_back(operation.number);
    } else if (operation.kind == Kind::name) {
      stack.push_back(values[operation.name]);
    } else if (operation.kind == Kind::baseline) {
      stack.push_back(baseline[operation.name]);
    } else if (operation.kind == Kind::negate) {
      stack.back() = -stack.back();
    } else if (operation.kind == Kind::power) {
      stack.back() = std::pow(stack.back(), operation.exponent);
    } else {
      const double second = stack.back();
      stack.pop_back();
      double& first = stack.back();
      switch (operation.kind) {
        case Kind::add:
          first += second * operation.number;
          break;
        case Kind::subtract:
          first -= second * operation.number;
          break;
        case Kind::multiply:
          first *= second;
          break;
        default:
          first /= second;
          break;
      }
    }
  }
  return stack.back();
}

}  // namespace bench::numbers
