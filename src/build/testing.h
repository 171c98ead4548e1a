// For tests: a jail, a builder with its own cache, and small candidates.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/file.h"
#include "build/builder.h"
#include "core/candidate.h"
#include "sandbox/jail.h"

namespace pragma {

inline constexpr const char* kTestHeader =
    "#pragma once\n#include <cstddef>\n#include <cstdint>\n"
    "namespace task { inline constexpr std::int64_t n = 1024; }\n"
    "extern \"C\" void pragma_kernel(const float* x, float* out, void* scratch);\n";

inline const Jail& TestJail() {
  static const auto jail = Jail::Create(PRAGMA_BINARY_DIR, SandboxMode::kFull);
  if (!jail) {
    ADD_FAILURE() << jail.error().message;
    std::abort();
  }
  return *jail;
}

// TestBuilder: a builder whose cache exists as long as the object.
class TestBuilder final {
 public:
  explicit TestBuilder(BuildLimits limits = {})
      : cache_(TempDir::Create().value()), builder_(TestJail(), cache_.path() / "cache", limits) {}
  BuildOutcome Build(const Candidate& candidate) const {
    auto outcome = builder_.Build(candidate, kTestHeader);
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome ? std::move(*outcome) : BuildOutcome(BuildFailure{});
  }
  [[nodiscard]] std::filesystem::path cache() const { return cache_.path() / "cache"; }

 private:
  TempDir cache_;
  Builder builder_;
};

inline Candidate TestCandidate(std::string source, std::vector<std::string> flags = {"-O1"},
                               std::string compiler = "g++") {
  Candidate candidate;
  candidate.files["kernel.cpp"] = std::move(source);
  candidate.flags = std::move(flags);
  candidate.compiler = std::move(compiler);
  return candidate;
}

// Returns a source with pragma_kernel around the given body.
inline std::string KernelSource(const std::string& body, const std::string& before = {}) {
  return before +
         "\nextern \"C\" void pragma_kernel(const float* x, float* out, void* scratch) {\n" +
         "  (void)scratch;\n" + body + "\n}\n";
}

inline const BuiltKernel* Built(const BuildOutcome& outcome) {
  if (const auto* failure = std::get_if<BuildFailure>(&outcome)) {
    ADD_FAILURE() << failure->reason << "\n" << failure->log;
  }
  return std::get_if<BuiltKernel>(&outcome);
}

inline BuildFailure Failed(const BuildOutcome& outcome) {
  const auto* failure = std::get_if<BuildFailure>(&outcome);
  EXPECT_NE(failure, nullptr) << "it was built";
  return failure != nullptr ? *failure : BuildFailure{};
}

}  // namespace pragma
