#include "bench/solutions.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "base/result.h"
#include "bench/kernelbench.h"
#include "bench/suite.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;

// Removes `word` and the integer after it from the front of `text`, and returns the integer.
std::optional<int> TakeNumber(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return std::nullopt;
  int number = 0;
  const char* begin = text.data() + word.size();
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

struct SampleName {
  int level = 0;
  int problem = 0;
  int sample = 0;
};

std::optional<SampleName> ParseSampleName(std::string_view name) {
  const std::optional<int> level = TakeNumber(name, "level_");
  const std::optional<int> problem = TakeNumber(name, "_problem_");
  const std::optional<int> sample = TakeNumber(name, "_sample_");
  if (!level || !problem || !sample || name != "_kernel.py") return std::nullopt;
  return SampleName{*level, *problem, *sample};
}

class Finder final {
 public:
  explicit Finder(std::span<const SuiteTask> tasks) : tasks_(tasks) {}

  Result<void> Look(const fs::path& folder);
  Result<GivenSolutions> Take(const fs::path& folder);

 private:
  void LookAtFile(const fs::path& path);
  [[nodiscard]] bool LookAtFolder(const fs::path& path);
  [[nodiscard]] const SuiteTask* ByName(const std::string& name) const;
  [[nodiscard]] const SuiteTask* ByNumber(const std::string& name) const;
  [[nodiscard]] const SuiteTask* BySample(const SampleName& sample) const;
  void Add(const SuiteTask& task, int sample, const fs::path& path) {
    const fs::path folder = fs::absolute(path).parent_path();
    given_.found.push_back(
        {.task = task, .set = folder.filename().string(), .sample = sample, .path = path});
  }

  std::span<const SuiteTask> tasks_;
  GivenSolutions given_;
};

const SuiteTask* Finder::ByName(const std::string& name) const {
  const auto task = std::ranges::find(tasks_, name, &SuiteTask::name);
  return task == tasks_.end() ? nullptr : &*task;
}

// Returns nullptr if several tasks have this number.
const SuiteTask* Finder::ByNumber(const std::string& name) const {
  std::string_view text = name;
  const std::optional<int> number = TakeNumber(text, "");
  if (!number || !text.starts_with("_")) return nullptr;
  const SuiteTask* found = nullptr;
  for (const SuiteTask& task : tasks_) {
    if (task.number != *number) continue;
    if (found != nullptr) return nullptr;
    found = &task;
  }
  return found;
}

const SuiteTask* Finder::BySample(const SampleName& sample) const {
  const auto fits = [&](const SuiteTask& task) {
    return LevelOf(task) == sample.level && task.number == sample.problem;
  };
  const auto task = std::ranges::find_if(tasks_, fits);
  return task == tasks_.end() ? nullptr : &*task;
}

void Finder::LookAtFile(const fs::path& path) {
  const std::string extension = path.extension().string();
  if (extension != ".py" && extension != ".cpp") return;
  if (const auto sample = ParseSampleName(path.filename().string())) {
    const SuiteTask* task = BySample(*sample);
    if (task != nullptr) return Add(*task, sample->sample, path);
    given_.unmatched.push_back(path);
    return;
  }
  std::string name = path.stem().string();
  const SuiteTask* task = ByName(name);
  constexpr std::string_view kExported = "_new";
  if (task == nullptr && name.ends_with(kExported))
    task = ByName(name.substr(0, name.size() - kExported.size()));
  if (task == nullptr) task = ByNumber(name);
  if (task != nullptr) return Add(*task, 0, path);
  given_.unmatched.push_back(path);
}

// Returns true if the folder is itself a solution, so that its contents belong to it.
bool Finder::LookAtFolder(const fs::path& path) {
  const SuiteTask* task = ByName(path.filename().string());
  std::error_code ignored;
  const bool whole =
      fs::exists(path / "candidate.json", ignored) || fs::exists(path / "kernel.cpp", ignored);
  if (task == nullptr || !whole) return false;
  Add(*task, 0, path);
  return true;
}

Result<void> Finder::Look(const fs::path& folder) {
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->is_directory()) {
      if (LookAtFolder(entry->path())) entry.disable_recursion_pending();
    } else {
      LookAtFile(entry->path());
    }
  }
  if (!error) return {};
  return Fail(ErrorKind::kUsage, "cannot look into " + folder.string() + ": " + error.message());
}

Result<GivenSolutions> Finder::Take(const fs::path& folder) {
  if (given_.found.empty()) {
    return Fail(ErrorKind::kUsage,
                "no file in " + folder.string() +
                    " fits a selected task; name solutions as the task (1_Matmul.py, 1_Matmul.cpp) "
                    "or as KernelBench does (level_1_problem_1_sample_0_kernel.py)");
  }
  const auto key = [](const GivenSolution& given) {
    return std::tuple(given.set, given.task.group, given.task.number, given.task.name,
                      given.sample);
  };
  std::ranges::sort(given_.found, [&](const GivenSolution& a, const GivenSolution& b) {
    return std::pair(key(a), a.path) < std::pair(key(b), b.path);
  });
  for (std::size_t i = 0; i < given_.found.size(); ++i) {
    const GivenSolution& given = given_.found[i];
    if (i > 0 && key(given) == key(given_.found[i - 1])) {
      return Fail(ErrorKind::kUsage,
                  fmt::format("{} and {} are both sample {} of {}; keep one",
                              given_.found[i - 1].path.string(), given.path.string(), given.sample,
                              given.task.name));
    }
    if (given_.sets.empty() || given_.sets.back() != given.set) given_.sets.push_back(given.set);
  }
  std::ranges::sort(given_.unmatched);
  return std::move(given_);
}

}  // namespace

Result<GivenSolutions> FindSolutions(const fs::path& folder, std::span<const SuiteTask> tasks) {
  Finder finder(tasks);
  TRY(finder.Look(folder));
  return finder.Take(folder);
}

}  // namespace pragma
