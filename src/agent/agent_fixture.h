// Fixtures that the tests of this folder share: a model that answers from a list, a small run, and
// golden files.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "agent/roles.h"
#include "agent/window.h"
#include "base/file.h"
#include "base/result.h"
#include "core/task.h"
#include "core/trial.h"
#include "llm/model.h"

namespace pragma {

// A model that gives the scripted replies in order and records every question it was asked.
class ScriptedModel final : public Model {
 public:
  explicit ScriptedModel(std::deque<std::string> replies) : replies_(std::move(replies)) {}
  Result<Completion> Complete(const std::vector<Message>& messages, const Sampling& sampling,
                              const CallKey& key) override {
    asked.push_back(messages);
    keys.push_back(key);
    samplings.push_back(sampling);
    if (replies_.empty()) return Fail(ErrorKind::kUnavailable, "no more replies");
    Completion completion{
        .text = replies_.front(), .tokens_in = 10, .tokens_out = 5, .usd = 0.5, .seconds = 2};
    replies_.pop_front();
    return completion;
  }
  std::string name() const override { return "scripted"; }

  std::vector<std::vector<Message>> asked;
  std::vector<CallKey> keys;
  std::vector<Sampling> samplings;

 private:
  std::deque<std::string> replies_;
};

// Compares `text` with tests/golden/prompts/NAME.md. With PRAGMA_UPDATE_GOLDEN=1 it writes that
// file instead.
inline void ExpectGolden(const std::string& name, const std::string& text) {
  const std::filesystem::path file =
      std::filesystem::path(PRAGMA_SOURCE_DIR) / "tests/golden/prompts" / (name + ".md");
  if (const char* update = std::getenv("PRAGMA_UPDATE_GOLDEN");
      update != nullptr && *update == '1') {
    ASSERT_TRUE(WriteFileAtomic(file, text));
    return;
  }
  const auto golden = ReadFile(file);
  ASSERT_TRUE(golden) << golden.error().message << "; PRAGMA_UPDATE_GOLDEN=1 writes it";
  EXPECT_EQ(*golden, text) << file << " differs; PRAGMA_UPDATE_GOLDEN=1 rewrites it";
}

// A task, its kernel.h, a machine, and one trial of every kind that prompts must tell apart.
struct SmallRun {
  Task task;
  std::string kernel_header;
  MachineSummary machine;
  Trial broken;   // 1: does not compile
  Trial wrong;    // 2: wrong values
  Trial passed;   // 3: the first best
  Trial slower;   // 4: passed, not better
  Trial no_code;  // 5: a reply without code
  SmallRun();
  [[nodiscard]] Window window() const {
    Window w;
    w.task = &task;
    w.kernel_header = &kernel_header;
    w.machine = &machine;
    return w;
  }
};

inline RoleSettings TestSettings() {
  RoleSettings settings;
  settings.allowed_flags = {"-O2", "-O3", "-march=native", "-fopenmp", "-ffast-math"};
  return settings;
}

}  // namespace pragma
