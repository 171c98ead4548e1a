#include "app/paths.h"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "base/result.h"
#include "base/text.h"
#include "report/html_page.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;

bool Exists(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// Called while the program still has a single thread. pragma's code never changes the environment.
std::string Variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? "" : value;
}

fs::path ExecutableFolder() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path(".") : self.parent_path();
}

fs::path OnPath(const std::string& program) {
  for (const std::string& folder : Split(Variable("PATH"), ':')) {
    if (!folder.empty() && Exists(fs::path(folder) / program)) return fs::path(folder) / program;
  }
  return program;
}

// Returns an absolute path, but keeps symbolic links. A virtual environment is found through its
// own link.
fs::path Interpreter(const std::string& wish) {
  if (wish.find('/') == std::string::npos) return OnPath(wish);
  std::error_code error;
  const fs::path absolute = fs::absolute(wish, error);
  return error ? fs::path(wish) : absolute.lexically_normal();
}

// Returns the interpreter of the environment that is active in the user's shell, if it has Torch.
fs::path ActivePython() {
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const fs::path root = Variable(name);
    std::error_code error;
    if (!root.is_absolute() || !Exists(root / "bin/python")) continue;
    for (const fs::directory_entry& entry : fs::directory_iterator(root / "lib", error)) {
      if (Exists(entry.path() / "site-packages/torch")) return root / "bin/python";
    }
  }
  return {};
}

}  // namespace

Paths FindPaths(const std::string& wish, const std::string& configured) {
  const fs::path here = ExecutableFolder();
  Paths paths;
  paths.programs =
      Exists(here / "pragma-init") ? here : (here / "../lib/pragma").lexically_normal();
  paths.data = (here / "../share/pragma").lexically_normal();
  if (!Exists(paths.data / "python")) paths.data = PRAGMA_SOURCE_DIR;
  const fs::path own = paths.data / ".venv/bin/python";
  for (const std::string& choice : {wish, Variable("PRAGMA_PYTHON"), configured}) {
    if (!choice.empty() && paths.python.empty()) paths.python = Interpreter(choice);
  }
  if (paths.python.empty()) paths.python = ActivePython();
  if (paths.python.empty()) paths.python = Exists(own) ? own : OnPath("python3");
  return paths;
}

PageFolders Paths::page_folders() const {
  const fs::path parts = data / "report";
  return {.parts = parts, .libraries = {parts, PRAGMA_D3_DIR, PRAGMA_DIFF_DIR}};
}

Result<void> CheckPaths(const Paths& paths) {
  for (const char* program :
       {"pragma-init", "pragma-worker", "pragma-confine", "pragma-probe", "pragma-profiler",
        "pragma-device", "pragma-amd-device", "pragma-cuda-worker", "pragma-cuda-profiler"}) {
    if (Exists(paths.programs / program)) continue;
    return Fail(ErrorKind::kUnavailable, std::string("cannot find the program ") + program +
                                             " in " + paths.programs.string() +
                                             "; build all of pragma, or install it again");
  }
  if (!Exists(paths.package_root() / "pragma_torch")) {
    return Fail(ErrorKind::kUnavailable, "cannot find python/pragma_torch in " +
                                             paths.data.string() + "; install pragma again");
  }
  if (!Exists(paths.python)) {
    return Fail(ErrorKind::kUnavailable,
                "cannot find the Python interpreter " + paths.python.string() +
                    "; name one that has torch with --python or PRAGMA_PYTHON");
  }
  return {};
}

}  // namespace pragma
