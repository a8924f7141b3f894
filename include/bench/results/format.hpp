#pragma once

#include <string>

#include <bench/base/error.hpp>
#include <bench/base/value.hpp>

namespace bench::results {

/// `value` by a Python format specification (`.2f`, `05d`, `>10s`, `,d`, `8.3e`), without its
/// colon; an empty one gives Python's `str`.
///
/// As in JUBE the type at the end converts first: `b c d o x X` take int(float(value)) of whatever
/// is not an integer, `e E f F g G n %` read a text as a number. Widths count characters.
///
/// @param place of the specification, for the error
/// @throws Error if the specification is wrong or does not fit the value
std::string format_value(const Value& value, const std::string& format, const Place& place = {});

/// Six significant digits, or all before the point: times since 1970 differ in the last ones.
std::string short_text(double real);

/// Refuses a specification that fits no value of this type, or of any where that is not known.
/// @throws Error with the place
void check_format(const std::string& format, ValueType type, const Place& place);

}  // namespace bench::results
