#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/process.hpp>
#include <bench/base/regex.hpp>
#include <bench/base/text.hpp>
#include <bench/share/crate_archive.hpp>
#include <bench/share/secrets.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::crate {
namespace {

constexpr std::string_view replacement = Scrubber::replacement;
constexpr std::size_t shortest_known = 4;
/// Shorter values could be parts of words.
constexpr std::size_t long_enough = 8;

/// Distinguishes text from binary files as git does.
bool is_text(std::string_view bytes) {
  constexpr std::size_t looked_at = 8000;
  return bytes.substr(0, looked_at).find('\0') == std::string_view::npos;
}

/// A kind of secret that is recognisable by its text.
struct Rule {
  const char* name;
  Regex expression;
  /// Lower-case words of which every match contains one: a fast test before the slow expression.
  std::vector<std::string_view> triggers;
  /// Whether the secret is the value after the match, and group 1 its opening quote.
  /// Otherwise group 1 is the secret.
  bool is_after_match = false;
};

std::vector<Rule> make_rules() {
  std::vector<Rule> rules;
  rules.push_back({"private key",
                   Regex("(-----BEGIN [A-Z ]*PRIVATE KEY-----[\\s\\S]*?(?:-----END [A-Z ]*PRIVATE "
                         "KEY-----|\\z))"),
                   {"private key-----"}});
  rules.push_back({"password in URL",
                   Regex("[A-Za-z][A-Za-z0-9+.-]{0,20}://[^\\s/:@\"']*:([^\\s/@\"']+)@"),
                   {"://"}});
  rules.push_back({"authorization",
                   Regex("(?i)\\b(?:bearer|basic) +([A-Za-z0-9._~+/=-]{16,})"),
                   {"bearer ", "basic "}});
  rules.push_back({"token",
                   Regex("(?<![A-Za-z0-9])(gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\\w{30,}|"
                         "gl[a-z]{2,5}-[\\w-]{20,}|hf_[A-Za-z0-9]{20,}|sk-[A-Za-z0-9_-]{20,}|"
                         "A[KS]IA[0-9A-Z]{16}|xox[abeprs]-[A-Za-z0-9-]{10,}|AIza[\\w-]{35}|"
                         "eyJ[\\w-]{10,}\\.eyJ[\\w-]{10,}\\.[\\w-]{5,}|npm_[A-Za-z0-9]{36})"),
                   {"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "gldt-",
                    "glcbt-", "hf_", "sk-", "akia", "asia", "xox", "eyj", "aiza", "npm_"}});
  rules.push_back({"password of curl",
                   Regex("(?:\\bcurl\\b|\\G(?!\\A))(?:[^\\n|;&]|\\\\\\n)*?[ "
                         "\\t](?:-[A-Za-z]*[uU]|--(?:proxy-)?user)"
                         "[ \\t=]*(\\\\*[\"'])?[^\\s:\"'\\\\]+:"),
                   {"curl"},
                   true});
  rules.push_back(
      {"password of sshpass", Regex("\\bsshpass +-p *(\\\\*[\"'])?"), {"sshpass"}, true});
  rules.push_back({"password of netrc",
                   Regex("\\blogin\\s+\\S+\\s+password\\s+([^\\s\"'\\\\]+)"),
                   {"password"}});
  return rules;
}

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all = make_rules();
  return all;
}

/// What precedes a value: `NAME=`, `"NAME": "`, `--name `, `"--name", "`. Quotes have as many
/// backslashes as the texts around them give them. Group 2 is the quote of the value.
constexpr const char* named =
    "([A-Za-z_][A-Za-z0-9_.-]*)(?:\\\\*[\"'])?"
    "(?:[ \\t]*(?:=>|:=|==|=|:)[ \\t]*|(?<=[a-z])[ \\t]+|(?<=[\"']),[ \\t]*)(\\\\*[\"'])?";

constexpr std::array<std::string_view, 7> secret_words{"token", "secret", "pass",      "pwd",
                                                       "key",   "auth",   "credential"};

/// A number, maybe with its unit.
bool is_measurement(std::string_view value) {
  static const Regex number(
      "\\A[-+]?(?:[0-9]+[A-Za-z%]{0,3}|[0-9]*\\.[0-9]+(?:[eE][-+]?[0-9]+)?[A-Za-z/%]*|"
      "[0-9]+[eE][-+]?[0-9]+)\\z");
  return number.search(value).has_value();
}

bool is_of_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// Finds a known value from a position on; a short one only as a whole word.
std::size_t find_known(std::string_view text, std::string_view value, std::size_t from = 0) {
  for (auto at = text.find(value, from); at != std::string_view::npos;
       at = text.find(value, at + 1)) {
    const std::size_t end = at + value.size();
    if (value.size() >= long_enough ||
        ((at == 0 || !is_of_word(text[at - 1])) && (end == text.size() || !is_of_word(text[end]))))
      return at;
  }
  return std::string_view::npos;
}

bool holds_known(std::string_view text, const std::vector<std::string>& known) {
  return std::ranges::any_of(known, [&](const std::string& value) {
    return find_known(text, value) != std::string_view::npos;
  });
}

/// Short values count only if they are not ordinary words or numbers.
bool is_distinct(std::string_view value) {
  const auto is_small = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return value.size() >= long_enough ||
         (value.size() >= shortest_known && !std::ranges::all_of(value.substr(1), is_small) &&
          !std::ranges::all_of(value, is_digit));
}

/// As a JSON or YAML text in double quotes has it, and a shell, but for `$` and backquotes.
std::string escaped_once(const std::string& value) {
  std::string escaped;
  for (const char c : value)
    if (c == '\n' || c == '\t')
      escaped += c == '\n' ? "\\n" : "\\t";
    else
      escaped.append(c == '\\' || c == '"' ? 1 : 0, '\\').append(1, c);
  return escaped;
}

/// Spellings of a value in XML, JSON, YAML and shells, and in texts within those.
std::set<std::string> forms_of(const std::string& value) {
  const std::string ampersands = replace_all(value, "&", "&amp;");
  const std::string xml = replace_all(ampersands, "<", "&lt;");
  const std::string all_of_xml = replace_all(xml, ">", "&gt;");
  std::set<std::string> forms{value,
                              xml,
                              all_of_xml,
                              replace_all(all_of_xml, "\"", "&quot;"),
                              replace_all(value, "'", "''"),
                              replace_all(value, "'", "'\\''")};
  constexpr int most_texts_around = 3;
  for (int k = 0; k < most_texts_around; ++k) {
    std::set<std::string> escaped;
    for (const std::string& form : forms)
      escaped.insert(escaped_once(form));
    forms.merge(escaped);
  }
  return forms;
}

/// Replacements in a text.
class Replacing {
 public:
  /// @param line number of the text's first line
  Replacing(std::string text, const std::string& place, std::vector<Scrubbed>& scrubbed,
            std::size_t line = 1)
      : text_(std::move(text)), place_(place), scrubbed_(scrubbed), first_line_(line) {}

  void replace(std::size_t begin, std::size_t length, const std::string& rule,
               const std::string& name = "") {
    const auto newlines = std::ranges::count(std::string_view(text_).substr(0, begin), '\n');
    scrubbed_.push_back({place_, first_line_ + static_cast<std::size_t>(newlines), rule, name});
    text_.replace(begin, length, replacement);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  const std::string& place_;
  std::vector<Scrubbed>& scrubbed_;
  std::size_t first_line_;
};

/// The end of a value without quotes.
std::size_t end_of_bare(std::string_view text, std::size_t begin) {
  const std::size_t end = std::min(text.find_first_of(" \t\r\n\"',;&<>)}]", begin), text.size());
  for (std::size_t k = begin; k < end; ++k) {
    if (text[k] != '\\')
      continue;
    // Backslashes before a quote, or before the n of a line break, belong to the text around it.
    const std::size_t behind = text.find_first_not_of('\\', k);
    if (behind >= end || text[behind] == 'n' || text[behind] == 'r' || text[behind] == 't')
      return k;
    k = behind;
  }
  return end;
}

/// The end of a value in quotes that texts around it may have escaped, each of them once more: the
/// quotes of a value have 0, 1, 3, 7, ... backslashes, a quote in the value more than those.
/// @param opening the quote with its backslashes
std::size_t end_of_quoted(std::string_view text, std::size_t begin, std::string_view opening) {
  const char quote = opening.back();
  const std::size_t own = opening.size() - 1;
  const bool is_literal = quote == '\'' && own == 0;
  for (std::size_t k = begin; k < text.size() && text[k] != '\n'; ++k) {
    const std::size_t behind = std::min(text.find_first_not_of('\\', k), text.size());
    if (behind == text.size() || text[behind] != quote) {
      k = behind > k ? behind - 1 : k;
      continue;
    }
    const std::size_t found = behind - k;
    if (is_literal) {
      const std::string_view rest = text.substr(behind + 1);
      const std::size_t joint = rest.starts_with("\\''") ? 3 : rest.starts_with('\'') ? 1 : 0;
      if (joint == 0 || behind == begin)
        return behind;
      k = behind + joint;
    } else if (found < own) {
      return k;
    } else if ((found - own) / (own + 1) % 2 == 0) {
      return behind - own;
    } else {
      k = behind;
    }
  }
  return std::min(text.find('\n', begin), text.size());
}

std::size_t end_of_value(std::string_view text, std::size_t begin, std::string_view opening) {
  return opening.empty() ? end_of_bare(text, begin) : end_of_quoted(text, begin, opening);
}

void scrub_by_rule(const Rule& rule, Replacing& replacing) {
  std::size_t from = 0;
  while (const auto match = rule.expression.search(replacing.text(), from)) {
    const std::string& text = replacing.text();
    const std::string group = (*match)[1];
    const std::size_t begin = rule.is_after_match ? match->end() : text.find(group, match->begin());
    const std::size_t end =
        rule.is_after_match ? end_of_value(text, begin, group) : begin + group.size();
    const std::string secret = text.substr(begin, end - begin);
    from = std::max(end, match->begin() + 1);
    if (secret.empty() || secret == replacement || secret.starts_with('$'))
      continue;
    replacing.replace(begin, secret.size(), rule.name);
    from = begin + replacement.size();
  }
}

/// Whether a name of this kind is that of a password, which may be short or a number.
bool is_password_name(const std::string& lower) {
  static const Regex password("(?:passw(?:or)?d|passphrase|pwd|(?:\\A|[_.-])pass)\\z");
  return password.search(lower).has_value();
}

void scrub_names_of_line(Replacing& replacing) {
  static const Regex expression(named);
  std::size_t from = 0;
  while (const auto match = expression.search(replacing.text(), from)) {
    const std::string& text = replacing.text();
    std::string name = (*match)[1];
    const std::string opening = (*match)[2];
    const std::size_t begin = match->end();
    const std::size_t end = end_of_value(text, begin, opening);
    const std::string value = text.substr(begin, end - begin);
    // A value that is not a secret may be the name of one: `export TOKEN=...`.
    from = match->begin() + name.size();
    const bool is_assigned =
        text.substr(from, begin - from).find_first_of("=:") != std::string::npos;
    const bool is_option = match->begin() >= 2 && text.compare(match->begin() - 2, 2, "--") == 0;
    if (!is_assigned && !is_option)
      continue;
    // The letter of an escaped line break is not part of the name.
    constexpr std::string_view escapes = "nrt";
    if (match->begin() > 0 && text[match->begin() - 1] == '\\' && name.size() > 1 &&
        escapes.find(name.front()) != std::string_view::npos)
      name.erase(0, 1);
    if (!is_secret_name(name) || value == replacement || !is_secret_value(name, value))
      continue;
    replacing.replace(begin, value.size(), "name", name);
    from = begin + replacement.size();
  }
}

/// Line by line: most lines contain none of the words, and the expression is slow.
std::string scrub_names(const std::string& text, const std::string& place,
                        std::vector<Scrubbed>& scrubbed) {
  std::string result;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t newline = text.find('\n', begin);
    const std::size_t end = newline == std::string::npos ? text.size() : newline + 1;
    std::string line = text.substr(begin, end - begin);
    begin = end;
    ++number;
    if (contains_any(to_lower(line), secret_words)) {
      Replacing replacing(std::move(line), place, scrubbed, number);
      scrub_names_of_line(replacing);
      line = replacing.text();
    }
    result += line;
  }
  return result;
}

}  // namespace

bool is_secret_name(std::string_view name) {
  static const Regex secret(
      "(?:token|secrets?|secret_?key|passw(?:or)?ds?|passphrase|credentials?|auth|"
      "(?:api|access|private|account|storage|encryption|license|wandb|ssh|master)[_-]?key|"
      "access_key_id|(?<!\\Aold)(?<!\\A)pwd|(?:\\A|[_.-])pass)\\z");
  // A pass over data.
  static const Regex pass_over(
      "(?:forward|backward|first|second|third|last|next|single|one|two|multi|per|each|full|dry)"
      "[_.-]pass\\z");
  const std::string lower = to_lower(name);
  return secret.search(lower) && !pass_over.search(lower);
}

bool is_secret_value(std::string_view name, std::string_view value) {
  constexpr std::array<std::string_view, 8> words{"true", "false", "none", "null",
                                                  "yes",  "no",    "on",   "off"};
  constexpr std::array<std::string_view, 8> verdicts{"ok",   "pass",   "passed",  "fail",
                                                     "done", "failed", "skipped", "all"};
  constexpr std::string_view digits = "0123456789";
  constexpr std::size_t shortest_pin = 4;
  const std::string lower = to_lower(name);
  const bool is_password = is_password_name(lower);
  const bool has_alphanumeric =
      std::ranges::any_of(value, [](char c) { return is_of_word(c) && c != '_'; });
  const bool is_pin = is_password && value.size() >= shortest_pin &&
                      value.find_first_not_of(digits) == std::string_view::npos;
  if ((is_password ? !has_alphanumeric : value.size() < 3) || value.starts_with('$') ||
      value.starts_with('%') || std::ranges::find(words, to_lower(value)) != words.end() ||
      value.find_first_not_of('*') == std::string_view::npos || (is_measurement(value) && !is_pin))
    return false;
  if (lower.ends_with("pwd") && (value.starts_with('/') || value.starts_with('~')))
    return false;  // a working directory
  if (lower.ends_with("pass") && std::ranges::find(verdicts, to_lower(value)) != verdicts.end())
    return false;
  const bool is_plain = lower.ends_with("token") || lower.ends_with("key") ||
                        lower.ends_with("key_id") || lower.ends_with("auth");
  const bool has_letter = std::ranges::any_of(
      value, [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
  return !is_plain || (value.size() >= 8 && has_letter &&
                       value.find_first_of(digits) != std::string_view::npos &&
                       value.find_first_of("<>[]{}|()") == std::string_view::npos);
}

Scrubber::Scrubber(const std::set<std::string>& known) {
  for (const std::string& value : known)
    if (is_distinct(value))
      for (const std::string& form : forms_of(value))
        known_.push_back(form);
  // Longest first: a longer one may contain a shorter one.
  std::ranges::stable_sort(
      known_, [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
}

std::string Scrubber::scrub(const std::string& text, const std::string& place) {
  const std::string lower = to_lower(text);
  const bool has_name = contains_any(lower, secret_words);
  const bool has_known = holds_known(text, known_);
  if (!has_name && !has_known && std::ranges::none_of(rules(), [&](const Rule& rule) {
        return contains_any(lower, rule.triggers);
      }))
    return text;
  Replacing replacing(text, place, scrubbed_);
  for (const std::string& value : known_)
    for (auto at = find_known(replacing.text(), value); at != std::string::npos;
         at = find_known(replacing.text(), value, at))
      replacing.replace(at, value.size(), "known value");
  for (const Rule& rule : rules())
    if (contains_any(lower, rule.triggers))
      scrub_by_rule(rule, replacing);
  return has_name ? scrub_names(replacing.text(), place, scrubbed_) : replacing.text();
}

bool Scrubber::is_in(std::string_view bytes) const {
  const std::string lower = to_lower(bytes);
  return holds_known(bytes, known_) || std::ranges::any_of(rules(), [&](const Rule& rule) {
           return rule.name != std::string_view("password in URL") &&
                  contains_any(lower, rule.triggers) && rule.expression.search(bytes);
         });
}

Scrubber::Cleaned Scrubber::clean(const std::string& content, const std::string& place) {
  const bool is_container = is_compressed(content);
  if (!is_container && is_text(content))
    return {.content = scrub(content, place)};
  bool holds_secret = is_in(content);
  if (is_container && !holds_secret) {
    const bool is_searched = visit_contained(content, [&](const std::string& contained) {
      Scrubber search = *this;
      holds_secret = holds_secret || (is_text(contained) ? search.scrub(contained, "") != contained
                                                         : is_in(contained));
    });
    if (!is_searched && !holds_secret)
      unsearched_.push_back(place);
  }
  if (holds_secret)
    return {.reason = fmt::format("is a {} file that contains a secret, which cannot be replaced "
                                  "in it",
                                  is_container ? "compressed" : "binary")};
  return {.content = content};
}

Scrubber scrubber_of(const workspace::Workspace& workspace) {
  std::set<std::string> secrets;
  const auto take = [&](const std::string& name, const std::string& value) {
    if (is_secret_name(name) && is_secret_value(name, value))
      secrets.insert(value);
  };
  for (const auto& [name, value] : current_environment())
    take(name, value);
  for (const workspace::Workpackage& one : workspace.workpackages())
    for (const auto& [name, value] : one.parameters)
      take(name, value);
  for (const auto& [id, changes] : workspace.environments())
    for (const auto& [name, value] : changes)
      take(name, value.value_or(""));
  return Scrubber(secrets);
}

std::string without_secrets(Scrubber& scrubber, const std::string& name, const std::string& value) {
  return is_secret_name(name) && is_secret_value(name, value) ? std::string(Scrubber::replacement)
                                                              : scrubber.scrub(value, name);
}

}  // namespace bench::crate
