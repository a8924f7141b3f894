// Stands in for netcdf_fields.cpp and netcdf_writer.cpp where the build found no netCDF.
#include "data/array_layout.hpp"
#include "data/field_source.hpp"
#include "data/field_writer.hpp"
#include "data/fields.hpp"
#include "data/netcdf_fields.hpp"
#include "harness/program.hpp"

#include <memory>
#include <string>
#include <vector>

namespace bench::steps {
namespace {

[[noreturn]] void refuse_netcdf() {
  throw UsageError("this program was built without netCDF",
                   "install the netCDF library (Debian: libnetcdf-dev) and build again");
}

}  // namespace

std::unique_ptr<FieldSource> open_netcdf_fields(std::vector<std::string>, ArrayLayout) {
  refuse_netcdf();
}

std::unique_ptr<FieldWriter> make_netcdf_writer(const std::string&, const std::vector<Field>&,
                                                const FieldFile&) {
  refuse_netcdf();
}

}  // namespace bench::steps
