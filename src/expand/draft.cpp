#include "draft.hpp"

#include <fmt/core.h>

#include <bench/base/text.hpp>

namespace bench::expand {

Layout::Layout(std::vector<const model::Parameter*> parameters, std::size_t own_count)
    : definitions(std::move(parameters)), own(own_count) {
  for (std::size_t k = 0; k < definitions.size(); ++k)
    index.emplace(definitions[k]->name, k);
}

Slot open_slot(const model::Parameter& parameter) {
  Slot slot{.text = parameter.text};
  if (!parameter.values.empty()) {
    slot.splits = false;  // the list's items are taken as they are
    slot.progress = Progress::choice;
  } else if (parameter.mode == evaluate::Mode::text) {
    split_if_template(parameter, slot);
  }
  return slot;
}

std::vector<std::string> pieces_of(const model::Parameter& parameter, const Slot& slot) {
  if (!slot.splits)
    return parameter.values;
  std::vector<std::string> pieces = split(slot.text, parameter.separator);
  for (std::string& piece : pieces)
    piece = strip(piece);
  return pieces;
}

void split_if_template(const model::Parameter& parameter, Slot& slot) {
  if (slot.splits && !parameter.separator.empty() &&
      slot.text.find(parameter.separator) != std::string::npos)
    slot.progress = Progress::choice;
}

std::string substitute_in(const Draft& draft, const std::string& text, const Constants& constants,
                          Met& met) {
  if (text.find('$') == std::string::npos)
    return text;
  return evaluate::substitute(text, [&](std::string_view name) -> const std::string* {
    if (name.starts_with("jube_")) {
      if (const std::string* internal = constants.known(name))
        return internal;
      if (name.starts_with("jube_wp_") && !constants.complete) {
        met.late = true;
        return nullptr;
      }
    }
    const auto found = draft.layout->index.find(name);
    if (found == draft.layout->index.end()) {
      met.open |= draft.pending && draft.pending->names.contains(name);
      return nullptr;
    }
    const Slot& other = draft.slots[found->second];
    met.late |= other.progress == Progress::late;
    met.open |= other.progress == Progress::open || other.progress == Progress::choice;
    return other.progress == Progress::constant ? &other.text : nullptr;
  });
}

void check_type(const model::Parameter& parameter, const std::string& value) {
  if (parameter.type == ValueType::string ||
      !std::holds_alternative<std::string>(to_value(value, ValueType::real)))
    return;
  throw Error(fmt::format("value '{}' of parameter '{}' is not {}", value, parameter.name,
                          parameter.type == ValueType::integer ? "an integer" : "a number"),
              "", parameter.place);
}

}  // namespace bench::expand
