#include "lint/lint.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/random.h"
#include "base/result.h"
#include "base/text.h"
#include "core/task.h"
#include "lint/decoys.h"
#include "machine/machine.h"
#include "task/torch_server.h"
#include "values/batteries.h"
#include "values/comparator.h"
#include "verify/stage.h"

namespace pragma {
namespace {

// A decoy counts only when it is this many honest errors away from the truth.
constexpr double kDiffers = 100;

double Epsilon(const Task& task) {
  const bool small = std::ranges::any_of(task.outputs, [](const TensorSpec& output) {
    return output.dtype == DType::kFloat16 || output.dtype == DType::kBFloat16;
  });
  return small ? 0x1.0p-8 : std::numeric_limits<float>::epsilon();
}

// What is known about a decoy on the task's own inputs.
struct Standing {
  bool seen = false;
  bool differs = false;
  bool official = true;
  bool strict = true;
};

class Linter final {
 public:
  Linter(TorchServer& server, Stage stage, const LintOptions& options,
         const VerifyProgress& progress)
      : server_(server),
        stage_(std::move(stage)),
        options_(options),
        progress_(progress),
        decoys_(DecoysFor(server.task())),
        standings_(decoys_.size()),
        rng_(SystemSeed()),
        start_(std::chrono::steady_clock::now()) {}

  Result<LintReport> Run();

 private:
  static constexpr std::size_t kSlot = 0;
  Result<void> NominalSet(int index);
  Result<void> ShowDecoys(const std::vector<Tolerance>& tolerances);
  Result<void> ShowDecoy(std::size_t index, const std::vector<Tolerance>& tolerances);
  void Conclude();
  void ConcludeOne(const Decoy& decoy, const Standing& standing);
  Result<void> TryBatteries();
  void SettleHidden();
  Result<void> TryBattery(Battery battery);
  Result<std::optional<Standing>> Judge(const Decoy& decoy,
                                        const std::vector<Tolerance>& tolerances);
  [[nodiscard]] bool late() const { return Since(start_) > options_.budget; }
  [[nodiscard]] const Task& task() const { return server_.task(); }

  TorchServer& server_;
  Stage stage_;
  const LintOptions& options_;
  const VerifyProgress& progress_;
  std::vector<Decoy> decoys_;
  std::vector<Standing> standings_;
  std::vector<std::byte> first_native_;
  std::vector<std::byte> first_arguments_;
  Rng rng_;
  TimePoint start_;
  LintReport report_;
  std::vector<std::string> hidden_;  // decoys that are right on the task's own inputs
};

Result<LintReport> Linter::Run() {
  for (int i = 0; i < options_.sets; ++i) TRY(NominalSet(i));
  Conclude();
  const bool fooled = !report_.accepted.empty();
  if (fooled) TRY(TryBatteries());
  SettleHidden();
  if (task().random) report_.notes.emplace_back("forward draws random numbers");
  report_.seconds = Since(start_).count();
  return std::move(report_);
}

Result<void> Linter::NominalSet(int index) {
  if (progress_) progress_(fmt::format("lint: input set {}/{}", index + 1, options_.sets));
  stage_.Forget();
  TRY(stage_.DrawSet(static_cast<std::size_t>(index), rng_() >> 1U, kSlot));
  TRY(ShowDecoys(stage_.Tolerances(kSlot)));
  if (index > 0) return {};
  const auto arguments = stage_.arguments(kSlot);
  first_native_.assign(stage_.native().begin(), stage_.native().end());
  first_arguments_.assign(arguments.begin(), arguments.end());
  return {};
}

Result<void> Linter::ShowDecoys(const std::vector<Tolerance>& tolerances) {
  for (std::size_t i = 0; i < decoys_.size(); ++i) {
    if (Interrupted()) return Fail(ErrorKind::kInterrupted, "interrupted while linting");
    // A decoy that was already rejected needs no further examination. An invariance does.
    const Standing& standing = standings_[i];
    const bool settled = standing.differs && !standing.official && !standing.strict;
    if (!settled && !late()) TRY(ShowDecoy(i, tolerances));
  }
  return {};
}

Result<void> Linter::ShowDecoy(std::size_t index, const std::vector<Tolerance>& tolerances) {
  const std::optional<Standing> now = TRY(Judge(decoys_[index], tolerances));
  if (!now) return {};
  Standing& standing = standings_[index];
  standing.seen = true;
  standing.differs = standing.differs || now->differs;
  standing.official = standing.official && now->official;
  standing.strict = standing.strict && now->strict;
  return {};
}

// Judges one decoy on this set. nullopt: the decoy says nothing about it.
Result<std::optional<Standing>> Linter::Judge(const Decoy& decoy,
                                              const std::vector<Tolerance>& tolerances) {
  const DecoyScene scene{
      .task = task(),
      .arguments = stage_.arguments(kSlot),
      .native = stage_.native(),
      .first_native = first_native_,
      .first_arguments = first_arguments_,
      .run =
          [this](std::span<const std::byte> arguments) { return stage_.NativeOutputs(arguments); },
      .rng = rng_};
  const Result<DecoyOutputs> outputs = decoy.make(scene);
  if (!outputs) {
    // The reference refuses the changed arguments. A kernel cannot use them to pass for the right
    // one.
    if (outputs.error().kind == ErrorKind::kTask) return std::optional<Standing>();
    return std::unexpected(outputs.error());
  }
  if (!*outputs) return std::optional<Standing>();
  Standing standing{.seen = true};
  const Comparison strict = stage_.CompareOutputs(**outputs, kSlot, tolerances);
  double honest = Epsilon(task());
  for (const Tolerance& tolerance : tolerances) honest = std::max(honest, tolerance.honest_rel_l2);
  standing.strict = strict.ok;
  standing.differs = !(strict.error.rel_l2 <= kDiffers * honest);
  standing.official = stage_.OfficialOutputs(**outputs, kSlot);
  return std::optional(standing);
}

void Linter::Conclude() {
  for (std::size_t i = 0; i < decoys_.size(); ++i) {
    const Decoy& decoy = decoys_[i];
    const Standing& standing = standings_[i];
    if (!standing.seen) {
      if (late()) report_.notes.push_back("no time for: " + decoy.name);
      continue;
    }
    ConcludeOne(decoy, standing);
  }
}

void Linter::ConcludeOne(const Decoy& decoy, const Standing& standing) {
  const bool same = !standing.differs;
  if (same && !decoy.argument.empty()) {
    report_.invariances.push_back(decoy.argument);
    return;
  }
  // A decoy that equals the truth on these inputs passes for it, however inexact the reference
  // itself is.
  const bool strict = same || standing.strict;
  if (!standing.official && !strict) return;
  report_.accepted.push_back({.decoy = decoy.name,
                              .official = standing.official,
                              .strict = strict,
                              .rejected_by = strict ? "" : "its own inputs"});
  if (same && !decoy.ignores_inputs) {
    hidden_.push_back(decoy.name);  // the batteries decide whether it is right on these inputs only
    return;
  }
  const bool degenerate = decoy.ignores_inputs && strict;
  report_.verdict =
      std::max(report_.verdict, degenerate ? LintVerdict::kDegenerate : LintVerdict::kWeak);
}

// Decoys that the strict rule accepts on the task's own inputs may still fail on the batteries.
Result<void> Linter::TryBatteries() {
  for (const Battery battery : kAllBatteries) {
    if (MayBeNonFinite(battery)) continue;
    if (Interrupted()) return Fail(ErrorKind::kInterrupted, "interrupted while linting");
    if (late()) {
      report_.notes.push_back("no time for battery " + std::string(BatteryName(battery)));
      continue;
    }
    if (progress_) progress_(fmt::format("lint: battery {}", BatteryName(battery)));
    TRY(TryBattery(battery));
  }
  return {};
}

Result<void> Linter::TryBattery(Battery battery) {
  const BatteryDraw draw = TRY(stage_.DrawBattery({.battery = battery}, rng_, kSlot));
  if (!draw.not_admitted.empty()) return {};
  report_.batteries.emplace_back(BatteryName(battery));
  for (AcceptedDecoy& accepted : report_.accepted) {
    if (!accepted.rejected_by.empty()) continue;
    const auto decoy = std::ranges::find(decoys_, accepted.decoy, &Decoy::name);
    const std::optional<Standing> standing = TRY(Judge(*decoy, draw.tolerances));
    if (standing && standing->differs && !standing->strict)
      accepted.rejected_by = BatteryName(battery);
  }
  return {};
}

// A decoy that no battery can tell from the truth either is equivalent to the truth.
void Linter::SettleHidden() {
  for (const std::string& name : hidden_) {
    const auto found = std::ranges::find(report_.accepted, name, &AcceptedDecoy::decoy);
    if (found->rejected_by.empty()) {
      report_.accepted.erase(found);
    } else {
      report_.verdict = std::max(report_.verdict, LintVerdict::kWeak);
    }
  }
}

}  // namespace

std::string_view LintVerdictName(LintVerdict verdict) {
  switch (verdict) {
    case LintVerdict::kSound: return "sound";
    case LintVerdict::kWeak: return "weak";
    case LintVerdict::kDegenerate: return "degenerate";
  }
  return "?";
}

bool LintReport::strict_mode_tells() const {
  return std::ranges::none_of(accepted,
                              [](const AcceptedDecoy& decoy) { return decoy.rejected_by.empty(); });
}

std::string LintReport::Summary() const {
  std::string text(LintVerdictName(verdict));
  if (accepted.empty()) return text;
  std::vector<std::string> names;
  for (const AcceptedDecoy& decoy : accepted) names.push_back(decoy.decoy);
  text += fmt::format(": {} would pass on its own inputs; strict mode {}", Join(names, ", "),
                      strict_mode_tells() ? "rejects them" : "cannot reject all of them");
  return text;
}

Result<LintReport> LintTask(TorchServer& server, const LintOptions& options,
                            const VerifyProgress& progress) {
  const MachineLock lock = TRY(MachineLock::Take(MachineLock::Kind::kShared));
  Stage stage = TRY(Stage::Create(
      server, {.sets = 1, .draws = static_cast<std::size_t>(std::max(options.sets, 1))}));
  return Linter(server, std::move(stage), options, progress).Run();
}

}  // namespace pragma
