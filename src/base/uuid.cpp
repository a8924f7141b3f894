#include <boost/uuid/random_generator.hpp>
#include <boost/uuid/uuid_io.hpp>

#include <bench/base/uuid.hpp>

namespace bench {

std::string make_uuid() {
  static boost::uuids::random_generator generator;
  return boost::uuids::to_string(generator());
}

}  // namespace bench
