// Store: the SQLite file of .pragma/ (docs/store.md): runs, calls, trials, artefacts, machine
// figures. The only folder that sees sqlite3.h. Two pragma processes may share one store, and
// threads one object.
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
#include "core/task.h"
#include "core/trial.h"
#include "core/trial_summary.h"

namespace pragma {

struct RunRecord {
  std::string id;  // "r-20261121-101500-ab12"
  std::string task_name;
  std::string task_json;  // ToJson(Task)
  std::string task_path;  // where the file was; may have moved since
  std::string strategy;   // preset name
  std::string
      settings_json;  // everything that shaped the run: preset, models, budget, seed, options
  std::string state;  // "running", "finished"
  std::string
      stopped;  // "budget", "roofline", "stall", "advice", "interrupted"; empty while running
  std::string final_json;  // evaluation of the re-measured best; empty: none
  std::int64_t created_ms = 0;
};

struct CallRecord {
  std::string run;
  int node = 0;
  std::string role;
  int ordinal = 0;
  std::string model;
  std::string prompt_json;      // the messages
  std::string completion_json;  // text, reasoning, tokens, money, time
};

class Store final {
 public:
  // Opens or creates `home`/pragma.db, migrates an older one, refuses a newer one.
  [[nodiscard]] static Result<Store> Open(const std::filesystem::path& home);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();
  [[nodiscard]] const std::filesystem::path& home() const;

  [[nodiscard]] Result<void> CreateRun(const RunRecord& run);
  [[nodiscard]] Result<void> FinishRun(const std::string& run, const std::string& stopped,
                                       const std::string& final_json);
  [[nodiscard]] Result<void> ReopenRun(const std::string& run);
  // Accepts a unique prefix, or "last".
  [[nodiscard]] Result<RunRecord> FindRun(const std::string& id) const;
  [[nodiscard]] Result<std::vector<RunRecord>> ListRuns(int limit) const;  // newest first

  // Committed before it returns.
  [[nodiscard]] Result<void> AppendCall(const CallRecord& call);
  [[nodiscard]] Result<std::optional<CallRecord>> FindCall(const std::string& run, int node,
                                                           const std::string& role,
                                                           int ordinal) const;
  [[nodiscard]] Result<std::vector<CallRecord>> Calls(
      const std::string& run) const;  // node, role, ordinal order of writing
  [[nodiscard]] Result<std::size_t> CountCalls(const std::string& run) const;
  [[nodiscard]] Result<void> AppendTrial(const std::string& run, const Trial& trial);
  // Rewrites a trial that is there: its sanitizers ran beside the next attempt.
  [[nodiscard]] Result<void> AmendTrial(const std::string& run, const Trial& trial);
  // By node; whole, with sources and profiles: some 20 KB of each. Lists need the summaries only.
  [[nodiscard]] Result<std::vector<Trial>> Trials(const std::string& run) const;
  [[nodiscard]] Result<std::vector<TrialSummary>> Summaries(const std::string& run) const;
  // kUsage where the run has no such trial.
  [[nodiscard]] Result<Trial> FindTrial(const std::string& run, int node) const;

  // Texts by content: put once, found by the id that is returned (SHA-256). A replayed run keeps
  // its recording here.
  [[nodiscard]] Result<std::string> PutArtefact(std::string_view text);
  [[nodiscard]] Result<std::string> GetArtefact(const std::string& id) const;

  // Held while a process works on a run, so that no second one does. Ends with the object, and with
  // the process however that ends. kUsage: another process holds it.
  [[nodiscard]] Result<UniqueFd> LockRun(const std::string& run) const;
  // Whether some process works on it now.
  [[nodiscard]] Result<bool> RunIsHeld(const std::string& run) const;

  // Figures that outlive a run, by key; the value is JSON text.
  [[nodiscard]] Result<void> PutFigure(const std::string& key, const std::string& value);
  [[nodiscard]] Result<std::optional<std::string>> GetFigure(const std::string& key) const;
  // Those that begin with `prefix`, in order.
  [[nodiscard]] Result<std::vector<std::string>> FigureKeys(const std::string& prefix) const;

 private:
  struct Impl;
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pragma
