// The jail of pragma_torch: what its processes see of the machine. Private to task/.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/file.h"
#include "base/result.h"
#include "sandbox/jail.h"
#include "task/torch_server.h"

namespace pragma {

// ReadableFolder: a folder in a form that a jail can bind. Where the jailed user (not the user of
// pragma) could not read the original, it is a copy of its files that exists as long as this
// object.
struct ReadableFolder {
  std::filesystem::path path;
  std::optional<TempDir> copy;
  // `file` is a file that must be readable. `other_user`: the jail runs as another user.
  [[nodiscard]] static Result<ReadableFolder> Of(const std::filesystem::path& file,
                                                 bool other_user);
};

// CacheSlot: a folder for torch.compile's files, exclusive while the lock is held. Two servers at
// the same time (and two jailed users, one after the other) would otherwise disturb each other's
// files.
struct CacheSlot {
  std::filesystem::path path;
  UniqueFd lock;
  // Takes the first free slot of `cache_dir`, created and made readable for the next user that the
  // jail runs as.
  [[nodiscard]] static Result<CacheSlot> Take(const std::filesystem::path& cache_dir);
};

// Returns the folder of descriptions, which all servers of a cache share, created if it is missing.
// It is opened to every user that a jail may run as.
[[nodiscard]] Result<std::filesystem::path> DescriptionsFolder(
    const std::filesystem::path& cache_dir);

// Where the task's folder is located inside the jail.
inline constexpr std::string_view kTaskFolder = "/task";

// Returns a jail with Python, PyTorch and the compiler, and without a network. argv begins with the
// interpreter and `-m pragma_torch`. The caller adds arguments, the task's folders and descriptors.
[[nodiscard]] Result<JailSpec> TorchJail(const TorchServerOptions& options);

// CandidateText: the texts for the jails of a Python candidate. `plan` is the server's plan, as
// JSON. MakeHome creates the jails and fills `files` with what they bind.
struct CandidateText {
  std::string_view solution;
  std::string_view plan;
  std::string_view package = "pragma_candidate";  // the package whose scan.py and start.py are used
};
[[nodiscard]] Result<CandidateHome> MakeHome(const Jail& jail, const TorchServerOptions& options,
                                             const CandidateText& text);
// Returns TorchServer::TritonJail, without the interpreter.
[[nodiscard]] Result<JailSpec> ModuleJail(const Jail& jail, const TorchServerOptions& options);

}  // namespace pragma
