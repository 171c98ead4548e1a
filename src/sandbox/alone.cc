#include <sys/types.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "sandbox/jail.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;

fs::path ProcFolder(pid_t pid) { return "/proc/" + std::to_string(pid); }

struct Status {
  char state = 'X';  // the process is gone
  pid_t parent = 0;
};

Status StatusOf(pid_t pid) {
  const Result<std::string> text = ReadFile(ProcFolder(pid) / "stat");
  // The name in front of it may hold any characters.
  const std::size_t end = text ? text->rfind(") ") : std::string::npos;
  Status status;
  if (end != std::string::npos) {
    std::istringstream(text->substr(end + 2)) >> status.state >> status.parent;
  }
  return status;
}

// Returns the living children of every thread of a process.
std::vector<pid_t> ChildrenOf(pid_t pid) {
  std::vector<pid_t> children;
  std::error_code error;
  for (const fs::directory_entry& thread :
       fs::directory_iterator(ProcFolder(pid) / "task", error)) {
    std::istringstream words(ReadFile(thread.path() / "children").value_or(""));
    for (pid_t child = 0; words >> child;) {
      const char state = StatusOf(child).state;
      if (state != 'Z' && state != 'X') children.push_back(child);
    }
  }
  return children;
}

}  // namespace

bool RunsAlone(pid_t program) {
  if (!ChildrenOf(program).empty()) return false;
  // A process that loses its parent becomes a child of the jail's init.
  for (const pid_t child : ChildrenOf(StatusOf(program).parent)) {
    if (child != program) return false;
  }
  return true;
}

bool LeftNothing(pid_t forked) {
  if (!ChildrenOf(forked).empty()) return false;
  const pid_t zygote = StatusOf(forked).parent;
  if (zygote == 0) return true;  // it is dead, and the processes it left belong to its jail
  for (const pid_t child : ChildrenOf(StatusOf(zygote).parent)) {
    if (child != zygote) return false;
  }
  return true;
}

}  // namespace pragma
