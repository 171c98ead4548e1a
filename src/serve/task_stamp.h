// TaskStamp records what a warm reference was made from, so that a change is noticed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace pragma {

class TaskStamp final {
 public:
  // The stamp is taken when the reference is ready. `opened_ns` is when making the reference began,
  // as UnixNanos() returns it. `sha256` is the hash of the task's text as the reference read it.
  // `files` lists what else its code read, relative to the task's folder.
  TaskStamp(std::filesystem::path task, std::string sha256, const std::vector<std::string>& files,
            std::int64_t opened_ns);
  // Returns true if a reference made now would be made from the same files. A file that was changed
  // while the reference was made, or just before, counts as changed.
  [[nodiscard]] bool Holds() const;

 private:
  // Returns a mark that changes whenever the file's content does. The system keeps the time of the
  // last change, and no program can set it back.
  [[nodiscard]] static std::string Mark(const std::filesystem::path& file);
  std::filesystem::path task_;
  std::string sha256_;
  std::map<std::filesystem::path, std::string> marks_;
  bool settled_ = true;
};

[[nodiscard]] std::int64_t UnixNanos();

}  // namespace pragma
