// Keeps evidence: stores bundles of passed candidates in HOME/evidence, and records them in the
// store.
#pragma once

#include <filesystem>
#include <string>

#include "app/task_bench.h"
#include "app/workbench.h"
#include "base/result.h"
#include "core/candidate.h"
#include "evidence/bundle.h"
#include "report/json_text.h"
#include "store/store.h"

namespace pragma {

struct Evaluation;
class SearchTree;
struct Trial;

// Makes a bundle without lineage. `against` is the candidate that it was timed against, or nullptr.
[[nodiscard]] Bundle MakeBundle(const Workbench& bench, const TaskBench& task,
                                const Candidate& candidate, const Candidate* against,
                                const Evaluation& evaluation);
// Returns the system's name, for example "Linux 6.1.0-18-amd64 x86_64".
[[nodiscard]] std::string SystemName();
[[nodiscard]] BundleOptions OptionsOf(const Workbench& bench, const TaskBench& task);
[[nodiscard]] std::filesystem::path EvidenceFolder(const std::filesystem::path& home);

// Keeps a bundle for a passed trial of `tree` and records it under the run. A full disk must not
// end a search, so errors are only logged as warnings.
void KeepTrialEvidence(Workbench& bench, const TaskBench& task, const RunRecord& run,
                       const SearchTree& tree, const Trial& trial);
// Keeps a bundle for the best trial, measured again. Errors are only logged as warnings.
void KeepFinalEvidence(Workbench& bench, const TaskBench& task, const RunRecord& run,
                       const SearchTree& tree, const Evaluation& evaluation);

[[nodiscard]] Result<BundleNames> BundlesOf(const Store& store, const std::string& run,
                                            const SearchTree& tree);
// Returns the bundle of one trial, or an empty string if it has none.
[[nodiscard]] Result<std::string> TrialBundle(const Store& store, const std::string& run, int node);
// Returns the bundle of the trial `best`: that of its final measurement, else that of its first
// measurement, else an empty string. `best` is 0 if there is no best.
[[nodiscard]] Result<std::string> BestBundle(const Store& store, const std::string& run, int best);
// Describes a bundle for people: "1a2b3c4d5e6f; judge it again: pragma recheck 1a2b3c4d5e6f".
[[nodiscard]] std::string EvidenceText(const std::string& sha256);

}  // namespace pragma
