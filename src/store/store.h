// Store: the SQLite file in .pragma/ (docs/store.md), which holds runs, calls, trials, artefacts
// and machine figures. Only this folder includes sqlite3.h. Two pragma processes may share one
// store, and several threads may share one Store object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "core/stop_reason.h"
#include "core/task.h"

namespace pragma {

struct Trial;
struct TrialSummary;

struct RunRecord {
  std::string id;  // "r-20261121-101500-ab12"
  std::string task_name;
  std::string task_json;  // ToJson(Task)
  std::string task_path;  // path of the file when the run began; it may have moved since
  std::string strategy;   // name of the preset
  std::string
      settings_json;  // everything that shaped the run: preset, models, budget, seed, options
  std::string state;  // "running", "finished"
  StopReason stopped = StopReason::kNone;  // kNone while running
  std::string final_json;  // evaluation of the re-measured best; empty: there is none
  std::int64_t created_ms = 0;
};

struct CallRecord {
  std::string run;
  int node = 0;
  std::string role;
  int ordinal = 0;
  std::string model;
  std::string prompt_json;      // the messages
  std::string completion_json;  // text, reasoning, tokens, money and time
};

class Store final {
 public:
  // Opens or creates `home`/pragma.db. Migrates an older file and refuses a newer one.
  [[nodiscard]] static Result<Store> Open(const std::filesystem::path& home);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();
  [[nodiscard]] const std::filesystem::path& home() const;

  [[nodiscard]] Result<void> CreateRun(const RunRecord& run);
  [[nodiscard]] Result<void> FinishRun(const std::string& run, StopReason stopped,
                                       const std::string& final_json);
  [[nodiscard]] Result<void> ReopenRun(const std::string& run);
  // Finds a run. `id` may be a unique prefix, or "last".
  [[nodiscard]] Result<RunRecord> FindRun(const std::string& id) const;
  [[nodiscard]] Result<std::vector<RunRecord>> ListRuns(int limit) const;  // newest first

  // Stores a call. It is committed before the function returns.
  [[nodiscard]] Result<void> AppendCall(const CallRecord& call);
  [[nodiscard]] Result<std::optional<CallRecord>> FindCall(const std::string& run, int node,
                                                           const std::string& role,
                                                           int ordinal) const;
  [[nodiscard]] Result<std::vector<CallRecord>> Calls(
      const std::string& run) const;  // by node, then role, then ordinal, in order of writing
  [[nodiscard]] Result<std::size_t> CountCalls(const std::string& run) const;
  [[nodiscard]] Result<void> AppendTrial(const std::string& run, const Trial& trial);
  // Rewrites an existing trial, because its sanitizers ran in parallel with the next attempt.
  [[nodiscard]] Result<void> AmendTrial(const std::string& run, const Trial& trial);
  // Returns whole trials by node, with sources and profiles: about 20 KB each. Lists need only the
  // summaries.
  [[nodiscard]] Result<std::vector<Trial>> Trials(const std::string& run) const;
  [[nodiscard]] Result<std::vector<TrialSummary>> Summaries(const std::string& run) const;
  // Returns one trial. Fails with kUsage if the run has no such trial.
  [[nodiscard]] Result<Trial> FindTrial(const std::string& run, int node) const;

  // Stores a text by content and returns its id (SHA-256). Equal texts are stored once. A replayed
  // run keeps its recording here.
  [[nodiscard]] Result<std::string> PutArtefact(std::string_view text);
  [[nodiscard]] Result<std::string> GetArtefact(const std::string& id) const;

  // Locks a run for this process, so that no second process works on it. The lock ends with the
  // returned object, and with the process however that ends. Fails with kUsage if another process
  // holds the lock.
  [[nodiscard]] Result<UniqueFd> LockRun(const std::string& run) const;
  // Returns whether some process works on the run now.
  [[nodiscard]] Result<bool> RunIsHeld(const std::string& run) const;

  // Stores a figure that outlives a run, by key. The value is JSON text.
  [[nodiscard]] Result<void> PutFigure(const std::string& key, const std::string& value);
  [[nodiscard]] Result<std::optional<std::string>> GetFigure(const std::string& key) const;
  // Returns the keys that begin with `prefix`, in order.
  [[nodiscard]] Result<std::vector<std::string>> FigureKeys(const std::string& prefix) const;

 private:
  struct Impl;
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pragma
