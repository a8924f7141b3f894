#pragma once

#include <string>

namespace bench::support {

/// What an exception of that type says, which `work` throws.
template <typename Exception, typename Work>
std::string message_of(Work&& work) {
  try {
    work();
  } catch (const Exception& error) {
    return error.what();
  }
  return "nothing noticed";
}

}  // namespace bench::support
