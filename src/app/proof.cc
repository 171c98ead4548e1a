#include "app/proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/result.h"
#include "core/json_reader.h"
#include "core/json_writer.h"
#include "core/statistics.h"
#include "core/timing.h"
#include "task/whole_model_server.h"

namespace pragma {
namespace {

// Sums in another order err differently. More than this times Torch's own error is another
// computation. A large error, as of 16-bit numbers, is a mean over many roundings, and differs
// less.
constexpr double kErrorFactor = 10;
constexpr double kFactorOfLarge = 3;
constexpr double kLargeError = 1e-3;
constexpr double kLeastLimit = 1e-6;         // for models that Torch computes almost exactly
constexpr double kLimitAgainstEager = 1e-4;  // where there is no truth in float64
constexpr std::size_t kLeastRounds = 3;
constexpr std::size_t kMostRounds = 40;
constexpr double kPartForUnits = 0.3;  // of the time, to time the model without each unit
constexpr Seconds kMostForUnits{120};
constexpr double kPartForCompile = 0.4;  // of what is left then, each time
constexpr Seconds kMostForCompile{300};
constexpr Seconds kGraceForCompile{10};  // after which a server that does not stop is ended
constexpr double kPartForMeasuring =
    0.6;  // of what is left at the end; the rest is for its last round
constexpr Seconds kMostForMeasuring{180};

// The sides of the final measurement.
constexpr const char* kEager = "eager";
constexpr const char* kCompile = "compile";
constexpr const char* kKernels = "kernels";
constexpr const char* kCompiledKernels = "compiled_kernels";

using Sides = std::map<std::string, std::vector<double>>;  // seconds per call, by round

class Prover final {
 public:
  Prover(const ProofServer& server, ProvedUnits units, const Deadline& deadline)
      : server_(server),
        units_(std::move(units.eager)),
        compiled_units_(std::move(units.compiled)),
        deadline_(deadline) {}

  Result<ModelProof> Run(bool compile_baseline);

 private:
  Result<JsonReader> Ask(JsonWriter& request, const std::string& what) const {
    return server_.ask(request, what, deadline_);
  }
  Result<void> Open();
  Result<void> First();
  struct Checked {
    ModelError error;
    std::map<std::string, std::string> unserved;  // unit -> why it computed nothing
  };
  Result<Checked> Check(const std::vector<std::string>& units, std::string_view compiled = "");
  Result<void> KeepRight();
  Result<void> KeepServing();
  Result<CompiledModel> Compile(std::string_view name, const std::vector<std::string>& units);
  Result<void> CompileBoth(bool compile_baseline);
  Result<void> CompileKernels();
  Result<void> KeepFaster();
  Result<void> Measure();
  void NoteKernels(const Sides& samples);
  void TakeOutSlow();
  void TakeOutUnusedForms();
  // A side of the timing: Torch's eager model, a compiled copy, or the model with some units.
  struct Side {
    std::string name;
    bool compiled = false;  // a compiled copy has this name
    std::vector<std::string> units;
  };
  Result<Sides> Time(const std::vector<Side>& sides, Seconds limit);
  void TakeOut(const std::string& unit, std::string why);

  const ProofServer& server_;
  std::vector<std::string> units_;           // that are not taken out
  std::vector<std::string> compiled_units_;  // that only serve a compiled model
  Deadline deadline_;
  ModelError compiled_error_;  // with the kernels in torch.compile
  ModelProof proof_;
};

// Returns the interval of one side's time over the other's, paired by round.
Interval Ratio(const std::vector<double>& slow, const std::vector<double>& fast) {
  std::vector<double> logs;
  for (std::size_t i = 0; i < std::min(slow.size(), fast.size()); ++i)
    logs.push_back(std::log(slow[i] / fast[i]));
  return GeometricInterval(logs);
}

Interval Millis(const std::vector<double>& seconds) {
  std::vector<double> logs;
  for (const double value : seconds) logs.push_back(std::log(value * 1e3));
  return GeometricInterval(logs);
}

// Returns how large an error may be where Torch's own is `eager`.
double LimitBeside(double eager) {
  const double large = std::max(kLargeError, kFactorOfLarge * eager);
  return std::max(std::min(kErrorFactor * eager, large), kLeastLimit);
}

void Prover::TakeOut(const std::string& unit, std::string why) {
  std::erase(units_, unit);
  std::erase(compiled_units_, unit);
  proof_.taken[unit] = std::move(why);
}

Result<void> Prover::Open() {
  JsonWriter request = WholeModelRequest("prove");
  TRY(Ask(request, "opening the model to prove it"));
  return {};
}

Result<void> Prover::First() {
  JsonWriter request = WholeModelRequest("first");
  request.Field("units", units_);
  const JsonReader reply = TRY(Ask(request, "the model's first call"));
  reply["eager"].Get("seconds", proof_.first_call_eager);
  reply["kernels"].Get("seconds", proof_.first_call_kernels);
  reply["eager"].Get("bytes", proof_.peak_eager);
  reply["kernels"].Get("bytes", proof_.peak_kernels);
  return reply.status();
}

// Compares the whole model with these units, or the copy of this name, with the truth. The result
// is that of the tensor that is furthest beyond its limit.
Result<Prover::Checked> Prover::Check(const std::vector<std::string>& units,
                                      std::string_view compiled) {
  JsonWriter request = WholeModelRequest("check");
  request.Field("units", units).Field("compiled", compiled);
  const JsonReader reply = TRY(Ask(request, "comparing the whole model"));
  ModelError worst{.right = true};
  reply.Get("reference", worst.reference);
  const bool wide = worst.reference == "float64";
  double furthest = -1;
  for (const JsonReader& value : reply["errors"].items()) {
    ModelError one{.reference = worst.reference};
    value.Get("error", one.error);
    value.Get("eager", one.eager);
    one.limit = wide ? LimitBeside(one.eager) : kLimitAgainstEager;
    one.right = one.error <= one.limit;
    const double beyond = one.error / one.limit;
    if (beyond > furthest) worst = one;
    furthest = std::max(furthest, beyond);
  }
  Checked checked{.error = worst, .unserved = {}};
  reply.Get("unserved", checked.unserved);
  TRY(reply.status());
  return checked;
}

// Takes out the units that do not compute, because the module's own forward serves their calls.
Result<void> Prover::KeepServing() {
  while (!units_.empty()) {
    const Checked checked = TRY(Check(units_));
    proof_.error = checked.error;
    if (checked.unserved.empty()) break;
    for (const auto& [unit, why] : checked.unserved) TakeOut(unit, why);
  }
  return {};
}

// Takes out the units with which the model is wrong.
Result<void> Prover::KeepRight() {
  TRY(KeepServing());
  if (units_.empty() || proof_.error.right) return {};
  for (const std::string& unit : std::vector(units_)) {
    const Checked alone = TRY(Check({unit}));
    if (!alone.error.right) TakeOut(unit, "the whole model's values are wrong with it");
  }
  if (!units_.empty()) proof_.error = TRY(Check(units_)).error;
  // Errors may add up so that only all of them together are wrong.
  while (!units_.empty() && !proof_.error.right) {
    TakeOut(units_.back(), "the whole model's values are wrong with it and the others");
    if (!units_.empty()) proof_.error = TRY(Check(units_)).error;
  }
  return {};
}

// Has a copy of the model with these units compiled, in the mode of torch.compile in which it is
// the fastest. A compilation that ends the server, or does not end in time, is a failed one: the
// proof goes on in a new server, without the copies of the old one.
Result<CompiledModel> Prover::Compile(std::string_view name,
                                      const std::vector<std::string>& units) {
  JsonWriter request = WholeModelRequest("compile");
  const Seconds limit = std::min(kMostForCompile, deadline_.Left() * kPartForCompile);
  request.Field("name", name).Field("units", units).Field("seconds", limit.count());
  const Deadline end = Deadline::In(std::min(deadline_.Left(), limit + kGraceForCompile));
  const Result<JsonReader> reply = server_.ask(request, "torch.compile", end);
  CompiledModel compiled;
  if (!reply) {
    if (reply.error().kind == ErrorKind::kInterrupted || deadline_.Left() == Seconds{0})
      return std::unexpected(reply.error());
    TRY(server_.restart());
    TRY(Open());
    compiled.failure = reply.error().message;
    if (proof_.compile.failure.empty()) proof_.compile.failure = "its process ended later";
    return compiled;
  }
  reply->Get("mode", compiled.mode);
  reply->Get("tried", compiled.tried);
  reply->Get("failure", compiled.failure);
  TRY(reply->status());
  return compiled;
}

Result<Sides> Prover::Time(const std::vector<Side>& sides, Seconds limit) {
  JsonWriter request = WholeModelRequest("time");
  request.Key("sides").BeginObject();
  for (const Side& side : sides) {
    if (side.compiled) {
      request.Field(side.name, side.name);
    } else if (side.units.empty()) {
      request.Field(side.name, "eager");
    } else {
      request.Field(side.name, side.units);
    }
  }
  request.EndObject().Field("seconds", limit.count()).Field("seed", sides.size());
  request.Field("least", kLeastRounds).Field("most", kMostRounds);
  const JsonReader reply = TRY(Ask(request, "timing the whole model"));
  Sides samples;
  reply.Get("samples", samples);
  reply.Get("slow_launches", proof_.slow_launches);
  TRY(reply.status());
  return samples;
}

// Times the model without each unit, and takes out those that do not make it faster.
Result<void> Prover::KeepFaster() {
  if (units_.empty()) return {};
  std::vector<Side> sides{{.name = "all", .units = units_}};
  for (const std::string& unit : units_) {
    Side side{.name = unit, .units = units_};
    std::erase(side.units, unit);
    sides.push_back(std::move(side));
  }
  const Sides samples = TRY(Time(sides, std::min(deadline_.Left() * kPartForUnits, kMostForUnits)));
  for (const std::string& unit : std::vector(units_)) {
    proof_.alone[unit] = Ratio(samples.at(unit), samples.at("all"));
    if (proof_.alone[unit].median <= 1) TakeOut(unit, "does not make the whole faster");
  }
  return {};
}

// Times what the user can choose from: eager, torch.compile, and the kernels without and with
// torch.compile around them.
Result<void> Prover::Measure() {
  std::vector<Side> sides{{.name = kEager}};
  if (proof_.compile.failure.empty()) sides.push_back({.name = kCompile, .compiled = true});
  if (!units_.empty()) {
    sides.push_back({.name = kKernels, .units = units_});
    if (proof_.compiled_kernels.failure.empty())
      sides.push_back({.name = kCompiledKernels, .compiled = true});
  }
  const Sides samples =
      TRY(Time(sides, std::min(deadline_.Left() * kPartForMeasuring, kMostForMeasuring)));
  proof_.eager_ms = Millis(samples.at(kEager));
  proof_.rounds = samples.at(kEager).size();
  if (samples.contains(kCompile)) proof_.compile_ms = Millis(samples.at(kCompile));
  if (!units_.empty()) NoteKernels(samples);
  return {};
}

void Prover::NoteKernels(const Sides& samples) {
  const std::vector<double>* ours = &samples.at(kKernels);
  proof_.kernels_ms = Millis(*ours);
  if (samples.contains(kCompiledKernels)) {
    const std::vector<double>& compiled = samples.at(kCompiledKernels);
    proof_.compiled_kernels_ms = Millis(compiled);
    proof_.compiled_is_faster = Ratio(*ours, compiled).median > 1;
    if (proof_.compiled_is_faster) {
      ours = &compiled;
      proof_.error = compiled_error_;
    }
  }
  proof_.speedup_eager = Ratio(samples.at(kEager), *ours);
  if (samples.contains(kCompile)) proof_.speedup_compile = Ratio(samples.at(kCompile), *ours);
}

// Compiles the model, and the model with its kernels. Where torch.compile fails on the first, it is
// not tried on the second.
Result<void> Prover::CompileBoth(bool compile_baseline) {
  proof_.compile.failure = "not asked for";
  if (compile_baseline) proof_.compile = TRY(Compile(kCompile, {}));
  proof_.compiled_kernels = proof_.compile;
  if (proof_.compile.failure.empty() && !units_.empty()) TRY(CompileKernels());
  return {};
}

// A compiled model has results of its own: it calls some modules in another form.
Result<void> Prover::CompileKernels() {
  std::vector<std::string> all = units_;
  all.insert(all.end(), compiled_units_.begin(), compiled_units_.end());
  proof_.compiled_kernels = TRY(Compile(kCompiledKernels, all));
  if (!proof_.compiled_kernels.failure.empty()) return {};
  compiled_error_ = TRY(Check(all, kCompiledKernels)).error;
  if (!compiled_error_.right)
    proof_.compiled_kernels.failure =
        fmt::format("the model's values are wrong: error {:.1e}, {:.1e} allowed",
                    compiled_error_.error, compiled_error_.limit);
  return {};
}

// A model that is not compiled has no use for these.
void Prover::TakeOutUnusedForms() {
  if (proof_.compiled_is_faster) return;
  std::string why = "the model with its kernels is not faster inside torch.compile";
  if (units_.empty()) why = "without torch.compile no kernel makes the model faster";
  if (!proof_.compiled_kernels.failure.empty())
    why = "torch.compile was not measured with it: " + proof_.compiled_kernels.failure;
  for (const std::string& unit : std::vector(compiled_units_)) TakeOut(unit, why);
}

Result<ModelProof> Prover::Run(bool compile_baseline) {
  TRY(Open());
  TRY(First());
  TRY(KeepRight());
  TRY(KeepFaster());
  TRY(CompileBoth(compile_baseline));
  TRY(Measure());
  TakeOutUnusedForms();
  TakeOutSlow();
  proof_.kept = units_;
  proof_.kept.insert(proof_.kept.end(), compiled_units_.begin(), compiled_units_.end());
  return std::move(proof_);
}

// Takes all units out if the user would be better off without them.
void Prover::TakeOutSlow() {
  std::string why;
  if (proof_.speedup_eager && proof_.speedup_eager->low <= 1)
    why = "the whole model is not clearly faster with it";
  if (proof_.speedup_compile && proof_.speedup_compile->median <= 1)
    why = "torch.compile alone makes the whole model as fast";
  if (why.empty()) return;
  for (const std::string& unit : std::vector(units_)) TakeOut(unit, why);
  for (const std::string& unit : std::vector(compiled_units_)) TakeOut(unit, why);
}

}  // namespace

Result<ModelProof> ProveModel(const ProofServer& server, const ProvedUnits& units,
                              bool compile_baseline, const Deadline& deadline) {
  return Prover(server, units, deadline).Run(compile_baseline);
}

}  // namespace pragma
