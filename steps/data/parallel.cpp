#include "data/parallel.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace bench::steps {

void for_each_index(std::size_t count, int threads, const std::function<void(std::size_t)>& work) {
  std::mutex mutex;
  std::size_t next = 0;
  std::size_t failed = count;
  std::exception_ptr failure;
  const auto work_on = [&] {
    for (std::unique_lock lock(mutex); next < count && !failure;) {
      const std::size_t index = next++;
      lock.unlock();
      std::exception_ptr error;
      try {
        work(index);
      } catch (...) {  // nothing may leave a thread; thrown on below
        error = std::current_exception();
      }
      lock.lock();
      if (error && index < failed) {
        failed = index;
        failure = error;
      }
    }
  };
  {
    std::vector<std::jthread> others;
    const std::size_t wanted = std::min(count, static_cast<std::size_t>(std::max(threads, 1)));
    for (std::size_t i = 1; i < wanted; ++i)
      others.emplace_back(work_on);
    work_on();
  }
  if (failure)
    std::rethrow_exception(failure);
}

}  // namespace bench::steps
