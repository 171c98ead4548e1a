#include "base/clock.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <string>
#include <thread>

namespace pragma {

TimePoint SystemClock::Now() const { return std::chrono::steady_clock::now(); }

void SystemClock::SleepFor(Seconds duration) { std::this_thread::sleep_for(duration); }

std::int64_t UnixMillis() {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count();
}

std::string FormatUtc(std::int64_t unix_millis) {
  const std::time_t seconds = unix_millis / 1000;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), length};
}

}  // namespace pragma
