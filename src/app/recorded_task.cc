#include "app/recorded_task.h"

#include <filesystem>
#include <string>
#include <utility>

#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/result.h"
#include "core/task.h"

namespace pragma {

Result<RecordedTask> FindRecordedTask(const Task& task, const std::string& known) {
  if (!known.empty()) {
    const Result<std::string> text = ReadFile(known);
    if (text && Sha256Hex(*text) == task.sha256) return RecordedTask{.path = known};
    Log(LogLevel::kInfo,
        known + (text ? " was changed" : " is gone") + "; using the recorded task");
  }
  TempDir folder = TRY(TempDir::Create());
  const std::filesystem::path path = folder.path() / (task.name + ".py");
  TRY(WriteFileAtomic(path, task.source));
  return RecordedTask{.path = path, .folder = std::move(folder)};
}

}  // namespace pragma
