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

// A folder as a jail may bind it. Where the jailed user (none of ours) could not read the original,
// a copy of its files that lives as long as this object.
struct ReadableFolder {
  std::filesystem::path path;
  std::optional<TempDir> copy;
  // `file` is one that must be readable. `other_user`: the jail runs as somebody else.
  [[nodiscard]] static Result<ReadableFolder> Of(const std::filesystem::path& file,
                                                 bool other_user);
};

// A folder for torch.compile's files, ours alone while the lock is held: two servers at once (and
// two jailed users, one after the other) would trip over each other's files.
struct CacheSlot {
  std::filesystem::path path;
  UniqueFd lock;
  // The first free slot of `cache_dir`, made and readable for whoever runs in the jail next.
  [[nodiscard]] static Result<CacheSlot> Take(const std::filesystem::path& cache_dir);
};

// Where things lie inside.
inline constexpr std::string_view kTaskFolder = "/task";

// True when jailed programs run as a user that is not ours: its files must be open to others.
[[nodiscard]] bool RunsAsOtherUser(const Jail& jail);

// Python with torch, the compiler, no network. argv begins with the interpreter and
// `-m pragma_torch`; the caller adds arguments, the task's folders and descriptors.
[[nodiscard]] Result<JailSpec> TorchJail(const TorchServerOptions& options);

// The jails of a Python candidate; fills `files` with what they bind. `plan`: the server's, as
// JSON.
struct CandidateText {
  std::string_view solution;
  std::string_view plan;
  std::string_view package = "pragma_candidate";  // whose scan.py and start.py
};
[[nodiscard]] Result<CandidateHome> MakeHome(const Jail& jail, const TorchServerOptions& options,
                                             const CandidateText& text);
// TorchServer::TritonJail but for the interpreter.
[[nodiscard]] Result<JailSpec> ModuleJail(const Jail& jail, const TorchServerOptions& options);

}  // namespace pragma
