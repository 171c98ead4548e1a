// Keeping evidence: bundles of what passed, in HOME/evidence, and where the store knows them from.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "cli/workbench.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/search_tree.h"
#include "core/trial.h"
#include "evidence/bundle.h"
#include "report/json_text.h"
#include "store/store.h"

namespace pragma {

// Without lineage. `against`: what it was timed against; nullptr: none.
[[nodiscard]] Bundle MakeBundle(const Workbench& bench, const TaskBench& task,
                                const Candidate& candidate, const Candidate* against,
                                const Evaluation& evaluation);
// "Linux 6.1.0-18-amd64 x86_64".
[[nodiscard]] std::string SystemName();
[[nodiscard]] JudgingOptions OptionsOf(const Workbench& bench, const TaskBench& task);
[[nodiscard]] std::filesystem::path EvidenceFolder(const std::filesystem::path& home);

// A bundle for a passed trial of `tree`, remembered under the run. A full disk must not end a
// search, so what goes wrong is a warning.
void KeepTrialEvidence(Workbench& bench, const TaskBench& task, const RunRecord& run,
                       const SearchTree& tree, const Trial& trial);
// Likewise for the best, measured again.
void KeepFinalEvidence(Workbench& bench, const TaskBench& task, const RunRecord& run,
                       const SearchTree& tree, const Evaluation& evaluation);

[[nodiscard]] Result<BundleNames> BundlesOf(const Store& store, const std::string& run,
                                            const SearchTree& tree);
// That of one trial; empty: it has none.
[[nodiscard]] Result<std::string> TrialBundle(const Store& store, const std::string& run, int node);
// That of the trial `best`, measured again, else as it was first measured, else empty;
// 0: there is no best.
[[nodiscard]] Result<std::string> BestBundle(const Store& store, const std::string& run, int best);
// For people: "1a2b3c4d5e6f; judge it again: pragma recheck 1a2b3c4d5e6f".
[[nodiscard]] std::string EvidenceText(const std::string& sha256);

}  // namespace pragma
