#pragma once

namespace bench::dataset {

/// `dataset texts`: labelled texts of csv files as tokens in netCDF or HDF5, for `ap2`.
int write_texts(int argc, char** argv);

}  // namespace bench::dataset
