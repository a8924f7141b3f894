#include "yaml_includes.hpp"

#include "include_path.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/below.hpp>
#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/document/value.hpp>

namespace bench::document {
namespace {

namespace fs = std::filesystem;
using Kind = Value::Kind;

/// One `["key"]` or `[0]`.
struct Step {
  std::string text;
  bool quoted = false;
};

/// The steps of a whole text like `["a"][0]`; nothing if it is anything else.
std::optional<std::vector<Step>> parse_steps(std::string_view text) {
  std::vector<Step> steps;
  for (text = strip(text); !text.empty(); text = strip(text)) {
    if (!text.starts_with('['))
      return std::nullopt;
    text = strip(text.substr(1));
    Step step;
    const char quote = text.empty() ? ']' : text.front();
    step.quoted = quote == '"' || quote == '\'';
    const auto end = step.quoted ? text.find(quote, 1) : text.find(']');
    if (end == std::string_view::npos)
      return std::nullopt;
    step.text = step.quoted ? text.substr(1, end - 1) : strip(text.substr(0, end));
    text = strip(text.substr(step.quoted ? end + 1 : end));
    if (!text.starts_with(']') || (!step.quoted && !parse_integer(step.text)))
      return std::nullopt;
    text.remove_prefix(1);
    steps.push_back(std::move(step));
  }
  return steps;
}

std::vector<std::string> keys_of(const Value& mapping) {
  std::vector<std::string> keys;
  for (const Entry& entry : mapping.entries)
    keys.push_back(entry.key);
  return keys;
}

}  // namespace

struct YamlIncludes::Request {
  std::string file;
  std::vector<Step> steps;
  Place place;

  std::string selection() const {
    std::string text;
    for (const Step& step : steps)
      text += step.quoted ? fmt::format("['{}']", step.text) : fmt::format("[{}]", step.text);
    return text;
  }
};

ValuePtr YamlIncludes::resolve(const ValuePtr& value) {
  if (value->kind == Kind::null || value->kind == Kind::text)
    return value;
  if (const auto known = resolved_.find(value.get()); known != resolved_.end())
    return known->second;
  ValuePtr made = value->kind == Kind::include ? resolve_include(*value) : rebuild(*value);
  kept_.push_back(value);
  resolved_[value.get()] = made ? made : value;
  return made ? made : value;
}

/// The list or mapping with its parts resolved; null where that changes nothing.
ValuePtr YamlIncludes::rebuild(const Value& value) {
  auto made = std::make_shared<Value>(value);
  bool changed = false;
  made->nodes = weight(value.text);
  made->depth = 1;
  const auto take = [&](ValuePtr& part) {
    const ValuePtr resolved = resolve(part);
    changed = changed || resolved != part;
    part = resolved;
    made->nodes += part->nodes;
    made->depth = std::max(made->depth, part->depth + 1);
    if (made->nodes > max_nodes)
      throw Error("more than 1,000,000 values once the includes are expanded", "",
                  value.mark.place());
    if (made->depth > max_depth)
      throw Error(fmt::format("nested more than {} levels deep", max_depth), "",
                  value.mark.place());
  };
  for (ValuePtr& item : made->items)
    take(item);
  for (Entry& entry : made->entries)
    take(entry.value);
  return changed ? made : nullptr;
}

ValuePtr YamlIncludes::resolve_include(const Value& include) {
  const Request request = parse(include);
  const fs::path file = path_.find(request.file, request.place);
  const std::pair wanted{identity(file), request.selection()};
  if (std::ranges::find(open_, wanted) != open_.end())
    throw Error(fmt::format("'{}' includes itself", include.text),
                "a file may include another part of itself, but no part its own whole",
                request.place);
  open_.push_back(wanted);
  ValuePtr included = resolve(select(load(file), request));
  open_.pop_back();
  return included;
}

ValuePtr YamlIncludes::load(const fs::path& file) {
  ValuePtr& loaded = files_[identity(file)];
  if (!loaded)
    loaded = parse_yaml(read_limited(file, max_file_bytes), file.string());
  return loaded;
}

/// FILE, FILE:SELECT or FILE:SELECT:COMPREHENSION; the last only where it selects no more.
YamlIncludes::Request YamlIncludes::parse(const Value& include) {
  std::vector<std::string> parts = split(include.text, ":");
  Request request{.file = std::string(strip(parts[0])), .steps = {}, .place = include.mark.place()};
  const auto fail = [&](const std::string& part) {
    throw Error(fmt::format("cannot include '{}' of a file", strip(part)),
                R"(write !include FILE:["key"][0], with the wanted items under a key of their own)",
                request.place);
  };
  if (parts.size() > 3)
    fail(include.text.substr(include.text.find(':') + 1));
  for (std::size_t k = 1; k < parts.size(); ++k) {
    std::string_view part = strip(parts[k]);
    if (k == 2 && part.starts_with('_'))
      part.remove_prefix(1);  // the selected value itself
    const auto steps = parse_steps(part);
    if (!steps)
      fail(parts[k]);
    request.steps.insert(request.steps.end(), steps->begin(), steps->end());
  }
  return request;
}

ValuePtr YamlIncludes::select(ValuePtr value, const Request& request) {
  for (const Step& step : request.steps) {
    value = value->kind == Kind::include ? resolve(value) : value;
    if (value->kind == Kind::mapping) {
      const Entry* entry = value->entry(step.text);
      if (!entry)
        throw Error(fmt::format("'{}' has no key '{}'", request.file, step.text),
                    did_you_mean(step.text, keys_of(*value)), request.place);
      value = entry->value;
      continue;
    }
    if (value->kind != Kind::list || step.quoted)
      throw Error(fmt::format("'{}' cannot be selected from a {}", step.text,
                              value->kind == Kind::list ? "list" : "text"),
                  "", request.place);
    const auto size = static_cast<long long>(value->items.size());
    const long long wanted = parse_integer(step.text).value();
    const long long index = wanted < 0 ? wanted + size : wanted;
    if (index < 0 || index >= size)
      throw Error(fmt::format("there is no item [{}] in a list of {}", wanted, size), "",
                  request.place);
    value = value->items[static_cast<std::size_t>(index)];
  }
  return value;
}

}  // namespace bench::document
