#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// A Perl-compatible regular expression over bytes, compiled once. For what a few lines of another
/// program say; the expressions of users' patterns are `analyse`'s.
class Regex {
 public:
  /// What it found; valid as long as the text that was searched and the expression.
  class Match {
   public:
    /// The text of a group; 0 is the whole. Empty if the group took no part.
    std::string operator[](std::size_t group) const;
    /// Empty if there is no group of that name.
    std::string operator[](const std::string& name) const;
    /// The offsets of the whole.
    std::size_t begin() const { return bounds_[0]; }
    std::size_t end() const { return bounds_[1]; }

   private:
    friend class Regex;
    const Regex* regex_ = nullptr;
    std::string_view text_;
    std::vector<std::size_t> bounds_;
  };

  /// @throws Error if the regular expression is invalid
  explicit Regex(const std::string& expression);
  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;
  ~Regex();

  std::optional<Match> search(std::string_view text, std::size_t begin = 0) const;
  /// The first group of every match, from left to right.
  std::vector<std::string> find_all(std::string_view text) const;
  std::size_t groups() const;
  bool has_group(const std::string& name) const;

 private:
  struct Code;
  std::unique_ptr<Code> code_;
};

}  // namespace bench
