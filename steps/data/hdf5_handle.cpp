#include "data/hdf5_handle.hpp"

#include <string>

#include <hdf5.h>

namespace bench::steps {

std::string hdf5_error() {
  std::string message = "unknown error";
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned depth, const H5E_error2_t* error, void* out) -> herr_t {
        if (depth == 0 && error->desc)
          *static_cast<std::string*>(out) = error->desc;
        return 0;
      },
      &message);
  return message;
}

}  // namespace bench::steps
