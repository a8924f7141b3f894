#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// `text` without outer white space (blank, tab, newline, carriage return, form feed, vertical
/// tab).
std::string_view strip(std::string_view text);

/// `strip`, with every run of white space inside made one blank.
std::string one_line(std::string_view text);

/// The pieces between the occurrences of `separator`; empty pieces count. An empty separator never
/// splits. Always at least one piece.
std::vector<std::string> split(std::string_view text, std::string_view separator);

/// `split`, each piece stripped, empty pieces left out: for lists of names.
std::vector<std::string> split_names(std::string_view text, std::string_view separator = ",");

/// `split`, each piece stripped, empty pieces kept: for the values of a template.
std::vector<std::string> split_values(std::string_view text, std::string_view separator);

std::string join(std::span<const std::string> pieces, std::string_view separator);

// Lists with commas between their items. In an item, `\,` is a comma and `\\` a backslash.

/// The item as it stands in a list.
std::string escaped_item(std::string_view item);

/// The items, without blanks around them and without empty ones.
std::vector<std::string> split_escaped(std::string_view list);

std::string replace_all(std::string text, std::string_view from, std::string_view to);

/// Lower case of the ASCII letters.
std::string to_lower(std::string_view text);

/// The whole text as an integer or number, in decimal; nothing where anything else is in it.
std::optional<long long> parse_integer(std::string_view text);
std::optional<double> parse_number(std::string_view text);

/// The keys of a map with words for keys, in its order.
template <class Map>
std::vector<std::string> keys_of(const Map& map) {
  std::vector<std::string> keys;
  keys.reserve(map.size());
  for (const auto& [key, value] : map)
    keys.push_back(key);
  return keys;
}

/// The closest of the known words, or nothing where none is close (more than a third of the letters
/// differ; optimal string alignment distance).
std::optional<std::string> closest(std::string_view word, std::span<const std::string> known);

/// `did you mean 'x'?` for the closest of the known words, or empty where none is close.
std::string did_you_mean(std::string_view word, std::span<const std::string> known);

/// A hint for a word that is none of the known ones: `did_you_mean`, else `introduction` and all of
/// them.
std::string suggestion(std::string_view word, std::span<const std::string> known,
                       std::string_view introduction = "known: ");

/// Whether one of the phrases is in the text.
bool contains_any(std::string_view text, std::span<const std::string_view> phrases);

/// `1 word`, `2 words`.
std::string plural(std::size_t count, std::string_view word);

/// `wanted`, or `wanted_2` and so on where that is taken; taken from now on.
std::string unique_name(const std::string& wanted, std::set<std::string>& taken,
                        char separator = '_');

/// `text` as a part of a URI: `%20` for a blank (RFC 3986, 2.1).
/// @param kept characters that stay besides letters, digits and `-._~`: `/` in a path
std::string percent_encoded(std::string_view text, std::string_view kept = "");

/// `text` as one word of a POSIX shell; left as it is where nothing in it needs quotes.
std::string shell_quote(std::string_view text);

/// Whether `name` can be a variable of a shell: ASCII letters, digits and underscores, and no digit
/// first. Bash hands on functions under other names, such as `BASH_FUNC_module%%`.
bool is_shell_name(std::string_view name);

/// The shortest decimal text that reads back as the same double, written as Python's `str` does:
/// `2.0`, `1e-05`, `1e+16`, `nan`, `inf`.
std::string python_float(double value);

/// Invalid UTF-8 replaced by U+FFFD, so that any output can be stored and printed.
std::string to_valid_utf8(std::string_view bytes);

/// A character as UTF-8.
std::string utf8_of(char32_t code);

/// Valid UTF-8 in which control characters are shown and do nothing: `^[` for Escape, `^M`, `^?`,
/// `<U+009B>` beyond ASCII. Newlines and tabs stay.
std::string with_visible_controls(std::string_view bytes);

/// Columns that the text takes on a terminal: its code points, wide East Asian ones counted twice.
std::size_t display_width(std::string_view utf8);
/// How many bytes of the front of a text take at most `columns` columns; whole characters.
std::size_t bytes_of_front(const std::string& text, std::size_t columns);

}  // namespace bench
