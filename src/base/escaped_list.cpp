#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <bench/base/escaped_list.hpp>
#include <bench/base/text.hpp>

namespace bench {
namespace {

constexpr char escape = '\\';

bool is_special(char c) {
  return c == ',' || c == escape;
}

}  // namespace

std::string escaped(std::string_view item) {
  std::string text;
  for (const char c : item) {
    if (is_special(c))
      text += escape;
    text += c;
  }
  return text;
}

std::vector<std::string> split_escaped(std::string_view list) {
  std::vector<std::string> items(1);
  for (std::size_t k = 0; k < list.size(); ++k)
    if (list[k] == ',')
      items.emplace_back();
    else if (list[k] == escape && k + 1 < list.size() && is_special(list[k + 1]))
      items.back() += list[++k];
    else
      items.back() += list[k];
  for (std::string& item : items)
    item = strip(item);
  std::erase(items, "");
  return items;
}

}  // namespace bench
