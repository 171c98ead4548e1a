#include "bench/suite.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/text.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;

std::unexpected<Error> Wrong(const std::string& what) { return Fail(ErrorKind::kUsage, what); }

bool IsFolder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

// Returns the number at the beginning of a name, or 0.
int LeadingNumber(std::string_view name) {
  int number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() && end != name.data() ? number : 0;
}

Result<int> WholeNumber(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1) {
    return Wrong("invalid task number '" + std::string(text) + "': use --tasks 1-10,12");
  }
  return number;
}

SuiteTask TaskAt(const fs::path& path) {
  const std::string name = path.stem().string();
  return {.path = path,
          .name = name,
          .group = path.parent_path().filename().string(),
          .number = LeadingNumber(name)};
}

bool IsTaskFile(const fs::directory_entry& entry) {
  const std::string name = entry.path().filename().string();
  return entry.is_regular_file() && entry.path().extension() == ".py" && !name.starts_with("_") &&
         !name.starts_with(".");
}

Result<std::vector<SuiteTask>> TasksBelow(const fs::path& folder) {
  std::vector<SuiteTask> tasks;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (IsTaskFile(*entry)) tasks.push_back(TaskAt(entry->path()));
  }
  if (error) return Wrong("cannot look into " + folder.string() + ": " + error.message());
  std::ranges::sort(tasks, [](const SuiteTask& a, const SuiteTask& b) {
    return std::tuple(a.group, a.number, a.path) < std::tuple(b.group, b.number, b.path);
  });
  return tasks;
}

// Returns the folder that contains level1, level2, ..., or an empty path if there is none.
fs::path LevelsIn(const fs::path& path) {
  for (const fs::path& folder : {path / "KernelBench", path}) {
    if (IsFolder(folder / "level1")) return folder;
  }
  return {};
}

Result<std::vector<SuiteTask>> TasksOfLevels(const fs::path& levels, int level) {
  std::vector<SuiteTask> tasks;
  for (int i = level == 0 ? 1 : level; i <= (level == 0 ? 4 : level); ++i) {
    const fs::path folder = levels / ("level" + std::to_string(i));
    if (!IsFolder(folder)) {
      if (level != 0)
        return Wrong("there is no level " + std::to_string(level) + " in " + levels.string());
      continue;
    }
    std::vector<SuiteTask> found = TRY(TasksBelow(folder));
    tasks.insert(tasks.end(), found.begin(), found.end());
  }
  return tasks;
}

Result<std::vector<SuiteTask>> TasksOfList(const fs::path& list) {
  const Result<std::string> text = ReadFile(list);
  if (!text) return Wrong(text.error().message);
  std::vector<SuiteTask> tasks;
  for (const std::string& line : SplitLines(*text)) {
    const std::string name(Trim(line.substr(0, line.find('#'))));
    if (name.empty()) continue;
    const fs::path path = list.parent_path() / name;
    std::error_code ignored;
    if (!fs::exists(path, ignored)) return Wrong(list.string() + " names a missing file: " + name);
    tasks.push_back(TaskAt(path));
  }
  return tasks;
}

Result<std::vector<SuiteTask>> AllTasks(const Selection& selection) {
  std::error_code ignored;
  if (!fs::exists(selection.path, ignored))
    return Wrong("no such file or folder: " + selection.path.string());
  const fs::path levels = LevelsIn(selection.path);
  if (!levels.empty()) return TasksOfLevels(levels, selection.level);
  if (selection.level != 0)
    return Wrong(selection.path.string() + " has no levels; leave --level out");
  if (IsFolder(selection.path)) return TasksBelow(selection.path);
  if (selection.path.extension() == ".py") return std::vector{TaskAt(selection.path)};
  return TasksOfList(selection.path);
}

// If not all file names have a number, tasks are numbered in order, so that --tasks works on any
// suite.
void NumberTasks(std::vector<SuiteTask>& tasks) {
  if (std::ranges::all_of(tasks, [](const SuiteTask& task) { return task.number > 0; })) return;
  for (std::size_t i = 0; i < tasks.size(); ++i) tasks[i].number = static_cast<int>(i) + 1;
}

}  // namespace

Result<std::set<int>> ParseTaskNumbers(std::string_view text) {
  std::set<int> numbers;
  for (const std::string& part : Split(text, ',')) {
    const std::string_view word = Trim(part);
    const std::size_t dash = word.find('-');
    const int first = TRY(WholeNumber(word.substr(0, dash)));
    const int last =
        dash == std::string_view::npos ? first : TRY(WholeNumber(word.substr(dash + 1)));
    if (last < first || last - first > 100'000)
      return Wrong("invalid range '" + std::string(word) + "' of task numbers");
    for (int i = first; i <= last; ++i) numbers.insert(i);
  }
  return numbers;
}

Result<std::vector<SuiteTask>> SelectTasks(const Selection& selection) {
  std::vector<SuiteTask> tasks = TRY(AllTasks(selection));
  NumberTasks(tasks);
  if (!selection.tasks.empty()) {
    std::erase_if(tasks, [&selection](const SuiteTask& task) {
      return !selection.tasks.contains(task.number);
    });
  }
  if (tasks.empty()) return Wrong("no task is selected in " + selection.path.string());
  return tasks;
}

}  // namespace pragma
