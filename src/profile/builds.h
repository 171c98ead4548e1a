// KernelBuilds: a candidate compiled once to assembly, and the objects assembled from it: the
// unchanged code with a table of code places, the code with a counter in each block, and the code
// that reports its memory accesses and branches.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "build/assembly.h"
#include "build/block_counters.h"
#include "build/toolchain.h"
#include "build/trace_calls.h"
#include "profile/subject.h"
#include "sandbox/jail.h"

namespace pragma {

inline constexpr const char* kPlainObject = "plain.so";
inline constexpr const char* kCountedObject = "counted.so";
inline constexpr const char* kTracedObject = "traced.so";

struct KernelBuilds {
  Toolchain toolchain;
  TempDir folder;       // in/ (mounted as /build), out/ (mounted as /out)
  std::string failure;  // why there is only kPlainObject, without places; empty: complete
  Assembly assembly;
  std::vector<CodePlace> places;  // code places of kPlainObject
  TraceProgram trace;             // trace program of kTracedObject, without its text

  [[nodiscard]] std::filesystem::path in() const { return folder.path() / "in"; }
  [[nodiscard]] std::filesystem::path out() const { return folder.path() / "out"; }
  // Returns a jail that sees both folders and the toolchain.
  [[nodiscard]] JailSpec Spec(std::vector<std::string> argv) const;
};

[[nodiscard]] Result<KernelBuilds> BuildForProfile(const ProfileSubject& subject);

}  // namespace pragma
