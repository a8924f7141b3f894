#define PCRE2_CODE_UNIT_WIDTH 8

#include "regex.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <pcre2.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::results {
namespace {

constexpr bool beyond_ascii(char c) {
  return (c & 0x80) != 0;
}

/// `\r\n` and `\r` become `\n`, in place.
void unify_line_ends(std::string& text) {
  std::size_t to = text.find('\r');
  if (to == std::string::npos)
    return;
  for (std::size_t from = to; from < text.size(); ++from) {
    if (text[from] == '\r' && from + 1 < text.size() && text[from + 1] == '\n')
      continue;
    text[to++] = text[from] == '\r' ? '\n' : text[from];
  }
  text.resize(to);
}

/// A regular expression in PCRE2's dialect.
struct PcreExpression {
  std::string text;
  bool ascii_classes = false;  ///< `\w \d \s \b` are about ASCII: Python's `(?a)`.
  std::string fault;           ///< Why Python would refuse it; empty: it is left to PCRE2.
  std::string fault_hint;
};

constexpr std::string_view hexadecimal = "0123456789abcdefABCDEF";
constexpr std::string_view octal = "01234567";
constexpr std::string_view decimal = "0123456789";
constexpr std::string_view flags = "aiLmsux";

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// How many characters at the start of `text` are of this kind, `most` at most.
std::size_t count_of(std::string_view text, std::string_view kind, std::size_t most) {
  return std::min({text.find_first_not_of(kind), text.size(), most});
}

/// The length of `{,n}` or `{,}` at the start of `text`, 0 where it is something else.
std::size_t open_repeat_length(std::string_view text) {
  if (!text.starts_with("{,"))
    return 0;
  const std::size_t end = text.find_first_not_of(decimal, 2);
  return end != std::string_view::npos && text[end] == '}' ? end + 1 : 0;
}

/// The length of `(?im)` at the start of `text`, 0 where it is something else.
std::size_t flags_length(std::string_view text) {
  if (!text.starts_with("(?"))
    return 0;
  const std::size_t end = text.find_first_not_of(flags, 2);
  return end != std::string_view::npos && end > 2 && text[end] == ')' ? end + 1 : 0;
}

/// The flags of `(?im-s:` at the start of `text`, empty where it is something else.
std::string_view group_flags(std::string_view text) {
  if (!text.starts_with("(?"))
    return {};
  const std::size_t on = text.find_first_not_of(flags, 2);
  if (on == std::string_view::npos)
    return {};
  const std::size_t end = text[on] == '-' ? text.find_first_not_of(flags, on + 1) : on;
  return end != std::string_view::npos && text[end] == ':' ? text.substr(2, end - 2)
                                                           : std::string_view{};
}

class Translator {
 public:
  explicit Translator(std::string_view python) : python_(python) {}

  PcreExpression translate() {
    read_global_flags();
    while (at_ < python_.size() && result_.fault.empty())
      step();
    return std::move(result_);
  }

 private:
  std::string_view rest() const { return python_.substr(at_); }

  void take(std::size_t length, std::string_view written) {
    result_.text += written;
    at_ += length;
  }

  void take(std::size_t length) { take(length, rest().substr(0, length)); }

  void refuse(std::string fault, std::string hint) {
    result_.fault = std::move(fault);
    result_.fault_hint = std::move(hint);
  }

  void read_global_flags() {
    const std::size_t length = flags_length(python_);
    std::string kept;
    for (const char flag : python_.substr(0, length)) {
      if (flag == 'L')
        refuse("(?L) is for bytes, not for text", "remove the L");
      if (flag == 'a')
        result_.ascii_classes = true;
      else if (flag == 'i' || flag == 'm' || flag == 's' || flag == 'x')
        kept += flag;
    }
    take(length, kept.empty() ? "" : "(?" + kept + ")");
  }

  void step() {
    switch (rest().front()) {
      case '\\':
        escape();
        return;
      case '[':
        in_class_ ? take(1, "\\[") : open_class();
        return;
      case ']':
        // Where a class begins it is an ordinary character.
        in_class_ = in_class_ && at_ == class_start_;
        break;
      case '(':
        if (!in_class_ && rest().starts_with("(*"))
          refuse("nothing to repeat after '('", "write \\* for the character");
        else if (!in_class_ && flags_length(rest()) > 0)
          refuse("flags such as (?i) are not at the start", "put them first");
        else if (const auto of_group = in_class_ ? "" : group_flags(rest()); !of_group.empty())
          return open_flagged_group(of_group);
        break;
      case '{':
        if (const std::size_t length = in_class_ ? 0 : open_repeat_length(rest())) {
          take(length, fmt::format("{{0{}", rest().substr(1, length - 1)));
          return;
        }
        break;
      default:
        break;
    }
    take(1);
  }

  /// PCRE2 has neither a, u nor L for a part of an expression.
  void open_flagged_group(std::string_view of_group) {
    const char other = result_.ascii_classes ? 'u' : 'a';
    if (of_group.find('L') != std::string_view::npos)
      return refuse(fmt::format("(?{}:...) is for bytes, not for text", of_group), "remove the L");
    if (of_group.find(other) != std::string_view::npos)
      return refuse(fmt::format("(?{}:...) is not supported", of_group),
                    other == 'a' ? "put (?a) at the start, for the whole expression"
                                 : "(?a) at the start is for the whole expression");
    std::string kept(of_group);
    std::erase_if(kept, [](char flag) { return flag == 'a' || flag == 'u'; });
    take(of_group.size() + 3, "(?" + kept + ":");
  }

  /// Python counts the separators of ASCII among the spaces of Unicode, PCRE2 does not. `\S` in a
  /// class cannot be written without them.
  void space_escape(bool is_space) {
    constexpr std::string_view separators = "\\x1c-\\x1f";
    const std::string_view written = rest().substr(0, 2);
    if (result_.ascii_classes || (in_class_ && !is_space))
      take(2);
    else if (in_class_)
      take(2, fmt::format("{}{}", written, separators));
    else
      take(2, fmt::format("[{}\\s{}]", is_space ? "" : "^", separators));
  }

  void open_class() {
    in_class_ = true;
    take(rest().starts_with("[^") ? 2 : 1);
    class_start_ = at_;
  }

  void take_character(std::size_t length, std::string_view digits) {
    take(length, fmt::format("\\x{{{}}}", digits));
  }

  /// `\x41`, `\u0041`, `\U00000041`: all digits must be there.
  void hexadecimal_escape(std::size_t digits) {
    if (count_of(rest().substr(2), hexadecimal, digits) < digits)
      refuse(fmt::format("'{}' needs {} hexadecimal digits", rest().substr(0, 2), digits), "");
    else
      take_character(2 + digits, rest().substr(2, digits));
  }

  /// `\0`, `\012`, `\141` are characters; in a class all of them are. Others are groups.
  void digit_escape() {
    const std::string_view digits = rest().substr(1);
    const std::size_t octals = count_of(digits, octal, 3);
    if (digits.front() == '0' || octals == 3 || (in_class_ && octals > 0)) {
      const unsigned long code = std::stoul(std::string(digits.substr(0, octals)), nullptr, 8);
      if (code > 0377)
        refuse(fmt::format("'\\{}' is beyond \\377", digits.substr(0, octals)), "");
      else
        take_character(1 + octals, fmt::format("{:x}", code));
      return;
    }
    const std::size_t length = count_of(digits, decimal, 2);
    take(1 + length, fmt::format("\\g{{{}}}", digits.substr(0, length)));
  }

  void escape() {
    const char letter = rest().size() > 1 ? rest()[1] : '\0';
    if (letter == 'x' || letter == 'u' || letter == 'U')
      return hexadecimal_escape(letter == 'x' ? 2 : letter == 'u' ? 4 : 8);
    if (letter >= '0' && letter <= '9')
      return digit_escape();
    if (letter == 'v')
      return take(2, "\\x0b");
    if (letter == 'Z' && !in_class_)
      return take(2, "\\z");
    if (letter == 's' || letter == 'S')
      return space_escape(letter == 's');
    if (letter == 'N' && rest().substr(2).starts_with('{'))
      return refuse("names of characters, as in \\N{...}, are not supported",
                    "write the character itself, or \\u and its four hexadecimal digits");
    const std::string_view known = in_class_ ? "abfnrtdDsSwW" : "abfnrtdDsSwWAB";
    if (is_letter(letter) && known.find(letter) == std::string_view::npos)
      return refuse(fmt::format("'\\{}' is not valid in Python's regular expressions{}", letter,
                                in_class_ ? " in a class" : ""),
                    letter == 'h'   ? "for blanks and tabs write [ \\t]"
                    : letter == 'z' ? "the end of the text is \\Z"
                    : letter == 'R' ? "the end of a line is \\n"
                                    : "remove the backslash to match the letter itself");
    take(std::min<std::size_t>(rest().size(), 2));
  }

  std::string_view python_;
  std::size_t at_ = 0;
  bool in_class_ = false;
  std::size_t class_start_ = 0;
  PcreExpression result_;
};

/// Rewrites an expression of Python's `re` for PCRE2, so that it means the same:
///
/// - `\Z` is the very end, `\v` one character; `\xhh \uXXXX \UXXXXXXXX` and octal escapes are
///   characters, `\12` without a third octal digit is a group;
/// - a `[` inside a class is an ordinary one, so that there are no POSIX classes;
/// - `{,n}` is a repetition from 0;
/// - `(?u)` changes nothing, `(?a)` see above; such flags stand at the start only.
///
/// Escapes of a letter that Python does not know (`\h \R \z \K \Q` ...) and verbs such as
/// `(*FAIL)` are faults: PCRE2 would give them a meaning that no Python has.
PcreExpression to_pcre(std::string_view python) {
  return Translator(python).translate();
}

/// Ends an exponential search after some tenths of a second.
constexpr std::uint32_t match_limit = 20'000'000;
constexpr std::size_t jit_stack_start = std::size_t{32} * 1024;
constexpr std::size_t jit_stack_limit =
    std::size_t{256} * 1024 * 1024;  // Address space; taken as it is needed.
constexpr std::uint32_t heap_limit_kib = 256 * 1024;

template <auto free_function>
struct Free {
  template <class T>
  void operator()(T* pointer) const {
    free_function(pointer);
  }
};

/// Limits and stack, one for all programs: they run one after the other.
struct MatchMemory {
  std::unique_ptr<pcre2_match_context, Free<pcre2_match_context_free>> context{
      pcre2_match_context_create(nullptr)};
  std::unique_ptr<pcre2_jit_stack, Free<pcre2_jit_stack_free>> stack{
      pcre2_jit_stack_create(jit_stack_start, jit_stack_limit, nullptr)};

  MatchMemory() {
    pcre2_set_match_limit(context.get(), match_limit);
    pcre2_set_heap_limit(context.get(), heap_limit_kib);
    pcre2_jit_stack_assign(context.get(), nullptr, stack.get());
  }
};

MatchMemory& match_memory() {
  thread_local MatchMemory memory;
  return memory;
}

std::string message_of(int code) {
  PCRE2_UCHAR text[256];
  pcre2_get_error_message(code, text, sizeof text);
  return reinterpret_cast<const char*>(text);
}

bool is_ascii(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) { return (c & 0x80) != 0; });
}

}  // namespace

Subject to_subject(std::string text) {
  unify_line_ends(text);
  if (std::ranges::none_of(text, beyond_ascii))
    return {std::move(text), true, false};
  std::string valid = to_valid_utf8(text);
  const bool repaired = valid != text;
  return {std::move(valid), false, repaired};
}

std::optional<Subject> read_subject(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored))
    return std::nullopt;
  return to_subject(read_file(file));
}

class Regex::Program {
 public:
  Program(const std::string& expression, std::uint32_t options)
      : code_(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(),
                            options, &error_, &error_offset_, nullptr)) {}

  bool valid() const { return code_ != nullptr; }
  std::string error() const { return message_of(error_); }
  std::size_t error_offset() const { return error_offset_; }

  /// @returns 0, or the error code that ended the search
  int find_all(std::string_view text, std::vector<std::string>& values) {
    if (!match_)
      prepare();
    const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data());
    const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(match_.get());
    std::size_t start = 0;
    std::uint32_t options = PCRE2_NO_UTF_CHECK;
    for (;;) {
      const int code = pcre2_match(code_.get(), subject, text.size(), start, options, match_.get(),
                                   match_memory().context.get());
      if (code < 0)
        return code == PCRE2_ERROR_NOMATCH ? 0 : code;
      collect(text, values);
      start = ends[1];
      // As Python: after an empty match the next one may start at the same place, but not be empty.
      options = PCRE2_NO_UTF_CHECK | (ends[0] == ends[1] ? PCRE2_NOTEMPTY_ATSTART : 0U);
    }
  }

 private:
  /// Done at the first search: most expressions need only one of their two programs.
  void prepare() {
    pcre2_jit_compile(code_.get(), PCRE2_JIT_COMPLETE);  // Where it cannot, the interpreter runs.
    match_.reset(pcre2_match_data_create_from_pattern(code_.get(), nullptr));
    pcre2_pattern_info(code_.get(), PCRE2_INFO_CAPTURECOUNT, &groups_);
  }

  void collect(std::string_view text, std::vector<std::string>& values) const {
    const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(match_.get());
    for (std::size_t group = groups_ == 0 ? 0 : 1; group <= groups_; ++group) {
      const std::size_t from = ends[2 * group];
      const std::size_t to = ends[2 * group + 1];
      if (from != PCRE2_UNSET && from < to)
        values.emplace_back(text.substr(from, to - from));
    }
  }

  int error_ = 0;
  std::size_t error_offset_ = 0;
  std::uint32_t groups_ = 0;
  std::unique_ptr<pcre2_code, Free<pcre2_code_free>> code_;
  std::unique_ptr<pcre2_match_data, Free<pcre2_match_data_free>> match_;
};

Regex::Regex(const model::Pattern& pattern, const std::string& expression)
    : name_(pattern.name), place_(pattern.place) {
  const PcreExpression pcre = to_pcre(expression);
  const auto refuse = [&](const std::string& why, const std::string& hint) {
    throw Error(Id::invalid_expression,
                fmt::format("invalid regular expression in pattern '{}': {}", name_, why), hint,
                place_);
  };
  if (!pcre.fault.empty())
    refuse(pcre.fault,
           pcre.fault_hint.empty() ? fmt::format("in '{}'", expression) : pcre.fault_hint);
  const std::uint32_t options = PCRE2_MULTILINE | PCRE2_ALT_CIRCUMFLEX | PCRE2_NEVER_BACKSLASH_C |
                                (pattern.dotall ? PCRE2_DOTALL : 0U);
  unicode_ = std::make_unique<Program>(pcre.text,
                                       options | PCRE2_UTF | (pcre.ascii_classes ? 0U : PCRE2_UCP));
  if (!unicode_->valid()) {
    const std::string rest = pcre.text.substr(unicode_->error_offset());
    refuse(unicode_->error(), rest.empty() ? fmt::format("at the end of '{}'", pcre.text)
                                           : fmt::format("before '{}' in '{}'", rest, pcre.text));
  }
  if (!is_ascii(pcre.text))
    return;
  bytes_ = std::make_unique<Program>(pcre.text, options);
  if (!bytes_->valid())  // Such as `\u20ac`, which is not a byte.
    bytes_.reset();
}

Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;
Regex::~Regex() = default;

void Regex::find_all(const Subject& subject, const std::string& source,
                     std::vector<std::string>& values) const {
  Program& program = subject.ascii && bytes_ ? *bytes_ : *unicode_;
  if (const int code = program.find_all(subject.text, values))
    throw Error(
        Id::invalid_expression,
        fmt::format("matching of pattern '{}' gave up in {}: {}", name_, source, message_of(code)),
        "nested repetitions such as '(a+)+' or '(?:.|\\n)*' try too many ways to match; use a "
        "single repetition, or '.*' with dotall",
        place_);
}

}  // namespace bench::results
