// Bundle: everything needed to judge a passed candidate again, as one self-contained text
// (docs/evidence.md). It is a value. A reader must not trust anything in it.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/judging.h"
#include "evidence/lineage.h"
#include "evidence/sealed_bundle.h"

namespace pragma {

// The options with which the candidate was judged. judging.threads is the number that was used.
struct BundleOptions {
  JudgingOptions judging;
  int check_sets = 5;
  double timing_budget_s = 1;
};

struct Bundle {
  std::string pragma;  // version of the program that judged
  std::string task_name;
  std::string task_source;
  // Further files of the task's folder that its code reads, by their path below that folder.
  std::map<std::string, std::string> task_files;
  std::string kernel_header_sha256;  // hash of the kernel.h that the candidate was built with
  Candidate candidate;
  std::optional<Candidate> against;  // baseline of speedup_best
  BundleOptions options;
  std::string machine = "{}";      // JSON: hardware and measured figures (MachineToJson)
  std::string system;              // "Linux 6.1.0-18-amd64 x86_64"
  Evaluation evaluation;           // including its samples
  std::optional<Lineage> lineage;  // none: the candidate was given, not found by a search
};

// Limit on the size of a bundle that is written or read.
inline constexpr std::size_t kMaxBundleBytes = std::size_t{16} << 20U;
// Limit on the size of the task's source, and on that of its further files together.
inline constexpr std::size_t kMaxTaskBytes = std::size_t{4} << 20U;

// Returns whether a file of a task may have this path: it stays below the task's folder.
[[nodiscard]] bool IsTaskPath(std::string_view path);

[[nodiscard]] SealedBundle Seal(const Bundle& bundle);
// Seals the text of a JSON object, which is the last step of Seal.
[[nodiscard]] SealedBundle SealObject(std::string_view object);

struct OpenedBundle {
  Bundle bundle;
  std::string sha256;
};
// Opens a bundle. Returns kUsage, in one line that begins with `name`, if the text is not a bundle,
// was altered, has a newer schema, or contradicts itself (ids, hashes). The message contains
// untrusted text unescaped.
[[nodiscard]] Result<OpenedBundle> OpenBundle(std::string_view text, std::string_view name);

}  // namespace pragma
