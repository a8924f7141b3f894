#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <bench/base/error.hpp>

namespace bench {

/// Local time as `2026-01-31 13:05:09`, the form that JUBE writes.
std::string local_time(std::chrono::system_clock::time_point time);
std::string local_time_now();
/// Local time of seconds since 1970 with the offset from UTC, for people:
/// `2026-01-31 13:05:09 +0100`.
std::string local_time_at(double unix_s);
/// Universal time of seconds since 1970 in the form of ISO 8601, to the millisecond:
/// `2026-01-31T12:05:09.250Z`.
std::string utc_time_at(double unix_s);

/// Seconds since 1970 of a local time in one of these forms; nothing for another text.
std::optional<double> parse_local_time(const std::string& text);

/// Seconds since 1970 as a double, for the database.
double unix_time_now();

/// A length of time for people: `3.2 s`, `4 min 05 s`, `2 h 10 min`.
std::string human_duration(double seconds);

/// 127 years. Much more would overflow where it is added to a time in nanoseconds.
constexpr double longest_duration_s = 4e9;

/// Seconds in a text like `90`, `90s`, `5min`, `2h`, `1d`, `01:30:00` or `30:00` (hours, minutes,
/// seconds as Slurm reads them: `MM`, `MM:SS`, `HH:MM:SS`, `D-HH:MM:SS`; a bare number is seconds).
/// @throws Error, with `place`, if it is none of these, or longer than `longest_duration_s`
double parse_duration_s(const std::string& text, const Place& place = {});

}  // namespace bench
