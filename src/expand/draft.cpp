#include "draft.hpp"

#include <bench/base/text.hpp>

namespace bench::expand {

std::string substitute_slot(const Draft& draft, const Slot& slot, const evaluate::Lookup& constants,
                            Met& met) {
  if (slot.text.find('$') == std::string::npos)
    return slot.text;
  return evaluate::substitute(slot.text, [&](std::string_view name) -> const std::string* {
    if (const std::string* internal = constants(name))
      return internal;
    if (name.starts_with("jube_wp_")) {
      met.late = true;
      return nullptr;
    }
    for (const Slot& other : draft.slots)
      if (other.definition->name == name) {
        met.late |= other.progress == Progress::late;
        met.open |= other.progress == Progress::open || other.progress == Progress::choice;
        return other.progress == Progress::constant ? &other.text : nullptr;
      }
    return nullptr;
  });
}

void split_into_pieces(Slot& slot) {
  const std::string& separator = slot.definition->separator;
  if (!slot.splits || separator.empty() || slot.text.find(separator) == std::string::npos)
    return;
  slot.pieces.clear();
  for (const std::string& piece : split(slot.text, separator))
    slot.pieces.emplace_back(strip(piece));
  slot.progress = Progress::choice;
}

}  // namespace bench::expand
