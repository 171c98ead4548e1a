// Bundle: everything that is needed to judge a passed candidate once more, as one self-contained
// text (docs/evidence.md). A value; who reads one trusts nothing of it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "evidence/lineage.h"

namespace pragma {

// How the candidate was judged.
struct JudgingOptions {
  std::string mode = "strict";  // or "official"
  std::string cache = "warm";   // or "cold"
  int threads = 1;
  int check_sets = 5;
  double run_limit_s = 60;
  double timing_budget_s = 1;
  std::string shapes;       // JSON of further shapes; empty: none
  bool strict_nan = false;  // a NaN that is not passed on as in Torch is a wrong value
};

struct Bundle {
  std::string pragma;  // version of the program that judged
  std::string task_name;
  std::string task_source;
  std::string kernel_header_sha256;  // of the kernel.h that the candidate was built with
  Candidate candidate;
  std::optional<Candidate> against;  // what speedup_best was measured against
  JudgingOptions options;
  std::string machine = "{}";      // JSON: hardware and its measured figures (MachineToJson)
  std::string system;              // "Linux 6.1.0-18-amd64 x86_64"
  Evaluation evaluation;           // with its samples
  std::optional<Lineage> lineage;  // none: the candidate was given, not searched for
};

// The largest text that is written or read.
inline constexpr std::size_t kMaxBundleBytes = std::size_t{16} << 20U;

// A bundle's text and its name. The text is one line of JSON that ends with
// `,"sha256":"HEX"}` and a newline; HEX is the hash of the text without that member and newline.
struct SealedBundle {
  std::string text;
  std::string sha256;
};
[[nodiscard]] SealedBundle Seal(const Bundle& bundle);
// Puts the seal on a JSON object's text: what Seal does last.
[[nodiscard]] SealedBundle SealObject(std::string_view object);

struct OpenedBundle {
  Bundle bundle;
  std::string sha256;
};
// kUsage in one line that begins with `name` when the text is no bundle, was altered, is of a newer
// schema, or contradicts itself (ids, hashes). Foreign text stands in the message unescaped.
[[nodiscard]] Result<OpenedBundle> OpenBundle(std::string_view text, std::string_view name);

}  // namespace pragma
