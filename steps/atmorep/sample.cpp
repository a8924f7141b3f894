#include "atmorep/sample.hpp"

#include "atmorep/sizes.hpp"
#include "data/fields.hpp"

#include <vector>

namespace bench::atmorep {

std::vector<steps::Field> fields(const Sizes& sizes) {
  const Cube window = sizes.window();
  return {{.name = "fields",
           .shape = {sizes.field_count(), sizes.levels, window.times, window.rows, window.columns}},
          {.name = "token_info", .shape = {sizes.field_tokens(), token_info_count}}};
}

}  // namespace bench::atmorep
