#include "serve/task_stamp.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/hash.h"
#include "base/result.h"

namespace pragma {
namespace {

// Margin for file times, which are coarser than the clock.
constexpr std::int64_t kGrainNs = 100'000'000;

std::int64_t ChangeTime(const std::filesystem::path& file) {
  struct stat info{};
  if (::stat(file.c_str(), &info) != 0) return 0;
  return std::int64_t{info.st_ctim.tv_sec} * 1'000'000'000 + info.st_ctim.tv_nsec;
}

}  // namespace

std::int64_t UnixNanos() {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since_epoch).count();
}

TaskStamp::TaskStamp(std::filesystem::path task, std::string sha256,
                     const std::vector<std::string>& files, std::int64_t opened_ns)
    : task_(std::move(task)), sha256_(std::move(sha256)) {
  for (const std::string& name : files) {
    const std::filesystem::path file = task_.parent_path() / name;
    marks_[file] = Mark(file);
    settled_ = settled_ && ChangeTime(file) < opened_ns - kGrainNs;
  }
}

bool TaskStamp::Holds() const {
  const Result<std::string> text = ReadFile(task_);
  if (!settled_ || !text || Sha256Hex(*text) != sha256_) return false;
  return std::ranges::all_of(marks_,
                             [](const auto& file) { return Mark(file.first) == file.second; });
}

std::string TaskStamp::Mark(const std::filesystem::path& file) {
  struct stat info{};
  if (::stat(file.c_str(), &info) != 0) return "missing";
  return fmt::format("{}:{}:{}:{}", info.st_dev, info.st_ino, info.st_size, ChangeTime(file));
}

}  // namespace pragma
