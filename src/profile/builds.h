// KernelBuilds: a candidate compiled once to assembly, and the objects assembled from it: the code
// as it is with a table of places, the code with a counter in each block, and the code that tells
// its memory accesses and branches.
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
  TempDir folder;  // in/ (seen as /build), out/ (seen as /out)
  std::string
      failure;  // why there is only kPlainObject, and that without places; empty: all is there
  Assembly assembly;
  std::vector<CodePlace> places;  // of kPlainObject
  TraceProgram trace;             // of kTracedObject, without its text

  [[nodiscard]] std::filesystem::path in() const { return folder.path() / "in"; }
  [[nodiscard]] std::filesystem::path out() const { return folder.path() / "out"; }
  // A jail that sees both folders and the toolchain.
  [[nodiscard]] JailSpec Spec(std::vector<std::string> argv) const;
};

[[nodiscard]] Result<KernelBuilds> BuildForProfile(const ProfileSubject& subject);

}  // namespace pragma
