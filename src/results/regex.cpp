#include "subject.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <bench/model/benchmark.hpp>
#define PCRE2_CODE_UNIT_WIDTH 8
#include "dialect.hpp"
#include "regex.hpp"

#include <algorithm>

#include <fmt/core.h>
#include <pcre2.h>

#include <bench/base/error.hpp>

namespace bench::analyse {
namespace {

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
    throw Error(fmt::format("invalid regular expression in pattern '{}': {}", name_, why), hint,
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
        fmt::format("matching of pattern '{}' gave up in {}: {}", name_, source, message_of(code)),
        "nested repetitions such as '(a+)+' or '(?:.|\\n)*' try too many ways to match; use a "
        "single repetition, or '.*' with dotall",
        place_);
}

}  // namespace bench::analyse
