// Stands in for hdf5_fields.cpp and hdf5_writer.cpp where the build found no HDF5.
#include "data/array_layout.hpp"
#include "data/field_source.hpp"
#include "data/field_writer.hpp"
#include "data/fields.hpp"
#include "data/hdf5_fields.hpp"
#include "harness/program.hpp"

#include <memory>
#include <string>
#include <vector>

namespace bench::steps {
namespace {

[[noreturn]] void refuse_hdf5() {
  throw UsageError("this program was built without HDF5",
                   "install the HDF5 library (Debian: libhdf5-dev) and build again");
}

}  // namespace

std::unique_ptr<FieldSource> open_hdf5_fields(std::vector<std::string>, ArrayLayout) {
  refuse_hdf5();
}

std::unique_ptr<FieldWriter> make_hdf5_writer(const std::string&, const std::vector<Field>&,
                                              const FieldFile&) {
  refuse_hdf5();
}

}  // namespace bench::steps
