#include <sys/stat.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"
#include "sandbox/jail.h"
#include "task/torch_jail.h"
#include "task/torch_server.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolder = "/candidate";
constexpr const char* kConfine = "/pragma-confine";
// Folder of extensions and torch.compile's files, in the jail's own memory
// (python/pragma_candidate/keep.py).
constexpr const char* kKeep = "/tmp/keep";
// Descriptor of the second filter of worker/jail/confine.c.
constexpr const char* kLateFilterFd = "8";

// Writes a file that all users can read. The jailed user may be another user than the one that runs
// pragma.
Result<void> WriteReadable(const fs::path& path, std::string_view text) {
  TRY(WriteFileAtomic(path, text));
  if (::chmod(path.c_str(), 0644) != 0) return FailErrno("cannot open " + path.string());
  return {};
}

Result<TempDir> WriteFiles(const CandidateText& text) {
  TempDir files = TRY(TempDir::Create());
  TRY(WriteReadable(files.path() / "solution.py", text.solution));
  TRY(WriteReadable(files.path() / "plan.json", text.plan));
  if (::chmod(files.path().c_str(), 0755) != 0) {
    return FailErrno("cannot open " + files.path().string());
  }
  return files;
}

void SetFolders(JailSpec& spec) {
  spec.env.erase("PYTHONPATH");
  spec.env["PRAGMA_KEEP"] = kKeep;
  spec.env["TORCH_EXTENSIONS_DIR"] = std::string(kKeep) + "/extensions";
  spec.env["TORCHINDUCTOR_CACHE_DIR"] = std::string(kKeep) + "/inductor";
  // Precompiling a header takes ten seconds, and the header would not outlive the process. The
  // kernels do.
  spec.env["TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS"] = "0";
  spec.env["TRITON_CACHE_DIR"] = std::string(kKeep) + "/triton";
  // Later processes get the result of an earlier process's tuning unchanged.
  spec.env["TRITON_CACHE_AUTOTUNING"] = "1";
}

}  // namespace

Result<CandidateHome> MakeHome(const Jail& jail, const TorchServerOptions& options,
                               const CandidateText& text) {
  JailSpec spec = TRY(TorchJail(options));
  TempDir files = TRY(WriteFiles(text));
  const std::string python = spec.argv.front();
  const std::string solution = std::string(kFolder) + "/solution.py";
  const std::string package = "/pragma/" + std::string(text.package) + "/";
  SetFolders(spec);
  spec.binds.push_back({jail.program_dir() + "/pragma-confine", kConfine, false});
  spec.binds.push_back({files.path().string(), kFolder, false});
  JailSpec scan = spec;
  scan.argv = {kConfine, "0", python, "-I", "-S", package + "scan.py", solution};
  scan.limits.address_space_bytes = std::size_t{2} << 30U;
  scan.limits.cpu = Seconds{20};
  scan.limits.processes = 4;
  spec.argv = {kConfine,
               kLateFilterFd,
               python,
               "-I",
               package + "start.py",
               "--threads",
               std::to_string(options.threads),
               std::string(kFolder) + "/plan.json",
               solution};
  return CandidateHome{.run = std::move(spec), .scan = std::move(scan), .files = std::move(files)};
}

Result<JailSpec> ModuleJail(const Jail& jail, const TorchServerOptions& options) {
  JailSpec spec = TRY(TorchJail(options));
  const std::string python = spec.argv.front();
  SetFolders(spec);
  spec.binds.push_back({jail.program_dir() + "/pragma-confine", kConfine, false});
  spec.argv = {kConfine, kLateFilterFd, python, "-I", "/pragma/pragma_triton/start.py"};
  return spec;
}

}  // namespace pragma
