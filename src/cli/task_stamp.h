// TaskStamp: what a warm reference was made from, so that a change is noticed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace pragma {

class TaskStamp final {
 public:
  // Taken when the reference is ready. `opened_ns`: when the reference began to be made, as
  // UnixNanos() has it. `sha256`: of the task's text as the reference read it. `files`: what else
  // its code read, relative to the task's folder.
  TaskStamp(std::filesystem::path task, std::string sha256, const std::vector<std::string>& files,
            std::int64_t opened_ns);
  // True: a reference made now would be made from the same files. A file that was changed while
  // the reference was made, or just before, counts as changed.
  [[nodiscard]] bool Holds() const;

 private:
  // Changes whenever the file's content does: the system keeps the time of the last change, and no
  // program can set it back.
  [[nodiscard]] static std::string Mark(const std::filesystem::path& file);
  std::filesystem::path task_;
  std::string sha256_;
  std::map<std::filesystem::path, std::string> marks_;
  bool settled_ = true;
};

[[nodiscard]] std::int64_t UnixNanos();

}  // namespace pragma
