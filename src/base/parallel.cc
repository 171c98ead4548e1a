#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace pragma {

void ForEachIndex(std::size_t count, const std::function<void(std::size_t)>& body) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) body(i);
  };
  const std::size_t processors = std::max(std::thread::hardware_concurrency(), 1U);
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < std::min(processors, count); ++i) others.emplace_back(work);
  work();
}

}  // namespace pragma
