// Makes a whole model faster (docs/whole-models.md): finds the parts of it that take time, searches
// a kernel for each, packs the kernels as operators of Torch, and keeps those with which the whole
// model is right and faster.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/context.h"
#include "app/part_search.h"
#include "app/proof.h"
#include "app/search_run.h"
#include "app/workbench.h"
#include "base/deadline.h"
#include "base/result.h"
#include "core/timing.h"
#include "export/package.h"
#include "task/whole_model_server.h"

namespace pragma {

struct WholeModelWish {
  std::filesystem::path file;  // the user's
  std::filesystem::path out;   // folder for the result; created
  PartWish part;
  std::size_t most_parts = 8;  // how many are searched
  bool compile_baseline = true;
  Deadline deadline;
};

// A part of the model and what came of it.
struct PartWork {
  ModelPart part;
  std::string name;  // of the unit in the package: "u1"
  double share = 0;  // of the model's time
  std::vector<std::string> runs;
  std::vector<std::string> bundles;  // sha256 of its kernels' evidence
  std::string outcome;               // why it stays Torch's; empty: it has kernels
  std::optional<Interval> speedup;   // of the part over eager; an estimate where islands compute it
  std::optional<PartKernels> kernels;
};

struct WholeModelOutcome {
  CapturedModel model;
  std::vector<PartWork> parts;      // those first that take most time
  std::optional<ModelProof> proof;  // nothing: there was no kernel to prove
  std::string torch;
};

struct WholeModelObserver {
  std::function<void(std::string_view phase)> on_phase;
  std::function<void(const WholeModelOutcome& found)> on_captured;  // before anything is searched
  std::function<void(const PartWork& part, std::size_t number, std::size_t all)> on_part;
  SearchObserver search;  // of the part that is being searched
};

[[nodiscard]] Result<WholeModelOutcome> OptimizeWholeModel(const AppContext& context,
                                                           Workbench& bench,
                                                           const WholeModelWish& wish,
                                                           const WholeModelObserver& observer);

}  // namespace pragma
