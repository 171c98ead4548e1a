#include "app/proof.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/deadline.h"
#include "base/result.h"
#include "core/json_reader.h"
#include "core/json_writer.h"

namespace pragma {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Units = std::set<std::string>;

// A model whose times and errors are functions of the units that are installed.
struct Model {
  std::function<double(const Units&)> seconds = [](const Units&) { return 1.0; };
  std::function<double(const Units&)> error = [](const Units&) { return 1e-7; };
  double eager = 1e-7;        // Torch's own error
  double compiled = 2;        // seconds of torch.compile alone
  double around_kernels = 2;  // seconds of torch.compile around the kernels
  std::string compile_failure;
  std::string dies_on;                          // the copy at whose compilation the server dies
  std::string mode = "default";                 // in which torch.compile is the fastest
  std::map<std::string, std::string> unserved;  // unit -> why it computes nothing
};

Units UnitsOf(const JsonReader& request) {
  std::vector<std::string> names;
  request.Get("units", names);
  return {names.begin(), names.end()};
}

// Three samples that vary a little, as those of a quiet machine do, and not in step with eager's.
void WriteSamples(JsonWriter& writer, const std::string& name, double seconds) {
  const double up = name == "eager" ? 1.001 : 0.999;
  writer.Field(name, std::vector<double>{seconds, seconds * up, seconds / up});
}

double SecondsOf(const Model& model, const std::string& name, const JsonReader& side) {
  if (name == "compile") return model.compiled;
  if (name == "compiled_kernels") return model.around_kernels;
  if (side.type() == JsonReader::Type::kText) return model.seconds({});
  std::vector<std::string> names;
  side.Get(names);
  return model.seconds({names.begin(), names.end()});
}

std::string Answer(const Model& model, const JsonReader& request) {
  std::string op;
  request.Get("op", op);
  JsonWriter writer;
  writer.BeginObject();
  if (op == "check") {
    writer.Field("reference", "float64").Key("errors").BeginArray().BeginObject();
    writer.Field("error", model.error(UnitsOf(request))).Field("eager", model.eager);
    writer.EndObject().EndArray().Key("unserved").BeginObject();
    for (const auto& [unit, why] : model.unserved)
      if (UnitsOf(request).contains(unit)) writer.Field(unit, why);
    writer.EndObject();
  } else if (op == "compile") {
    writer.Field("failure", model.compile_failure);
    writer.Field("mode", model.compile_failure.empty() ? model.mode : "");
  } else if (op == "time") {
    writer.Key("samples").BeginObject();
    for (const auto& [name, side] : request["sides"].members())
      WriteSamples(writer, name, SecondsOf(model, name, side));
    writer.EndObject();
  }
  writer.EndObject();
  return writer.Take();
}

ModelProof Prove(const Model& model, const std::vector<std::string>& units,
                 const std::vector<std::string>& around = {}) {
  std::set<std::string> compiled;  // copies that the server holds
  std::size_t starts = 1;
  const auto ask = [&](JsonWriter& request, const std::string&,
                       const Deadline&) -> Result<JsonReader> {
    request.EndObject();
    const JsonReader read = JsonReader::Parse(request.Take(), "request").value();
    std::string op;
    std::string name;
    read.Get("op", op);
    read.Get("name", name);
    if (op == "compile" && name == model.dies_on) return Fail("the server was killed");
    if (op == "compile" && model.compile_failure.empty()) compiled.insert(name);
    for (const auto& [side, how] : read["sides"].members())
      EXPECT_TRUE(!side.starts_with("compile") || compiled.contains(side)) << side;
    return JsonReader::Parse(Answer(model, read), "reply");
  };
  const auto restart = [&]() -> Result<void> {
    compiled.clear();
    ++starts;
    return {};
  };
  const ModelProof proof =
      ProveModel({.ask = ask, .restart = restart}, {units, around}, true, Deadline()).value();
  EXPECT_EQ(starts, model.dies_on.empty() ? 1 : 2);
  return proof;
}

// Each unit takes this much off a call of one second.
std::function<double(const Units&)> Saving(std::map<std::string, double> saved) {
  return [saved = std::move(saved)](const Units& units) {
    double seconds = 1;
    for (const std::string& unit : units) seconds -= saved.at(unit);
    return seconds;
  };
}

TEST(ModelProof, KeepsWhatMakesTheWholeFaster) {
  const ModelProof proof = Prove({.seconds = Saving({{"u1", 0.4}, {"u2", 0.1}})}, {"u1", "u2"});
  EXPECT_THAT(proof.kept, ElementsAre("u1", "u2"));
  EXPECT_NEAR(proof.speedup_eager->median, 2.0, 0.01);
  EXPECT_NEAR(proof.speedup_compile->median, 4.0, 0.02);
  EXPECT_NEAR(proof.alone.at("u2").median, 1.2, 0.01);
}

TEST(ModelProof, TakesOutAPartThatDoesNotHelpTheWhole) {
  const ModelProof proof = Prove({.seconds = Saving({{"u1", 0.4}, {"u2", -0.1}})}, {"u1", "u2"});
  EXPECT_THAT(proof.kept, ElementsAre("u1"));
  EXPECT_EQ(proof.taken.at("u2"), "does not make the whole faster");
  EXPECT_NEAR(proof.speedup_eager->median, 1 / 0.6, 0.01);
}

TEST(ModelProof, TakesOutAPartWithWhichTheModelIsWrong) {
  const ModelProof proof =
      Prove({.seconds = Saving({{"u1", 0.4}, {"u2", 0.2}}),
             .error = [](const Units& units) { return units.contains("u1") ? 1e-2 : 2e-7; }},
            {"u1", "u2"});
  EXPECT_THAT(proof.kept, ElementsAre("u2"));
  EXPECT_EQ(proof.taken.at("u1"), "the whole model's values are wrong with it");
  EXPECT_TRUE(proof.error.right);
}

TEST(ModelProof, GoesOnWithoutACompilationThatEndsItsServer) {
  const ModelProof first =
      Prove({.seconds = Saving({{"u1", 0.4}}), .compiled = 0.1, .dies_on = "compile"}, {"u1"});
  EXPECT_THAT(first.kept, ElementsAre("u1"));
  EXPECT_EQ(first.compile.failure, "the server was killed");
  EXPECT_FALSE(first.speedup_compile);
  const ModelProof second = Prove(
      {.seconds = Saving({{"u1", 0.4}}), .compiled = 0.1, .dies_on = "compiled_kernels"}, {"u1"});
  EXPECT_EQ(second.compile.failure, "its process ended later");
  EXPECT_EQ(second.compiled_kernels.failure, "the server was killed");
  EXPECT_NEAR(second.speedup_eager->median, 1 / 0.6, 0.01);
}

// With such a part the model is right and as fast as before, since its own forward computes.
TEST(ModelProof, TakesOutAPartThatServesNoCall) {
  const ModelProof proof = Prove({.seconds = Saving({{"u1", 0.4}, {"u2", 0.2}}),
                                  .unserved = {{"u1", "it serves no call of the model: shape"}}},
                                 {"u1", "u2"});
  EXPECT_THAT(proof.kept, ElementsAre("u2"));
  EXPECT_EQ(proof.taken.at("u1"), "it serves no call of the model: shape");
}

TEST(ModelProof, AllowsALargeErrorLessOften) {
  const auto limit = [](double eager) {
    return Prove({.error = [=](const Units&) { return eager; }, .eager = eager}, {"u1"})
        .error.limit;
  };
  EXPECT_DOUBLE_EQ(limit(1e-9), 1e-6);
  EXPECT_DOUBLE_EQ(limit(1e-6), 1e-5);
  EXPECT_DOUBLE_EQ(limit(2e-4), 1e-3);
  EXPECT_DOUBLE_EQ(limit(1e-2), 3e-2);  // as of bfloat16
}

TEST(ModelProof, NamesTheModeOfTorchCompile) {
  const ModelProof proof =
      Prove({.seconds = Saving({{"u1", 0.4}}), .mode = "reduce-overhead"}, {"u1"});
  EXPECT_EQ(proof.compile.mode, "reduce-overhead");
  EXPECT_EQ(proof.compiled_kernels.mode, "reduce-overhead");
}

TEST(ModelProof, TakesOutPartsWhoseErrorsAddUp) {
  const ModelProof proof =
      Prove({.seconds = Saving({{"u1", 0.4}, {"u2", 0.2}}),
             .error = [](const Units& units) { return 6e-7 * static_cast<double>(units.size()); }},
            {"u1", "u2"});
  EXPECT_THAT(proof.kept, ElementsAre("u1"));  // the one that gains more
}

TEST(ModelProof, KeepsNothingThatIsNotClearlyFaster) {
  const ModelProof proof = Prove({.seconds = Saving({{"u1", 0.0005}})}, {"u1"});
  EXPECT_THAT(proof.kept, IsEmpty());
  EXPECT_EQ(proof.taken.at("u1"), "the whole model is not clearly faster with it");
}

TEST(ModelProof, KeepsNothingWhereTorchCompileAloneIsFaster) {
  const ModelProof proof = Prove({.seconds = Saving({{"u1", 0.2}}), .compiled = 0.5}, {"u1"});
  EXPECT_THAT(proof.kept, IsEmpty());
  EXPECT_EQ(proof.taken.at("u1"), "torch.compile alone makes the whole model as fast");
}

TEST(ModelProof, CountsTorchCompileAroundTheKernels) {
  const ModelProof proof =
      Prove({.seconds = Saving({{"u1", 0.2}}), .compiled = 0.5, .around_kernels = 0.4}, {"u1"});
  EXPECT_THAT(proof.kept, ElementsAre("u1"));
  EXPECT_TRUE(proof.compiled_is_faster);
  EXPECT_NEAR(proof.speedup_compile->median, 1.25, 0.01);
  EXPECT_NEAR(proof.speedup_eager->median, 2.5, 0.01);
}

TEST(ModelProof, ComparesWithEagerWhereTorchCompileFails) {
  const ModelProof proof =
      Prove({.seconds = Saving({{"u1", 0.5}}), .compile_failure = "no compiler"}, {"u1"});
  EXPECT_THAT(proof.kept, ElementsAre("u1"));
  EXPECT_FALSE(proof.speedup_compile);
  EXPECT_EQ(proof.compiled_kernels.failure, "no compiler");
}

TEST(ModelProof, KeepsWhatOnlyACompiledModelCallsWhereThatIsTheFasterWay) {
  const Model model{.seconds = Saving({{"u1", 0.2}}), .compiled = 0.5, .around_kernels = 0.4};
  EXPECT_THAT(Prove(model, {"u1"}, {"u2"}).kept, ElementsAre("u1", "u2"));
}

TEST(ModelProof, TakesOutWhatOnlyACompiledModelCallsWhereThatIsTheSlowerWay) {
  const Model model{.seconds = Saving({{"u1", 0.2}}), .compiled = 1.5, .around_kernels = 0.9};
  const ModelProof proof = Prove(model, {"u1"}, {"u2"});
  EXPECT_THAT(proof.kept, ElementsAre("u1"));
  EXPECT_EQ(proof.taken.at("u2"), "the model with its kernels is not faster inside torch.compile");
}

TEST(ModelProof, DoesNotUseACompiledModelWhoseValuesAreWrong) {
  const Model model{.seconds = Saving({{"u1", 0.2}}),
                    .error = [](const Units& units) { return units.contains("u2") ? 1.0 : 1e-7; },
                    .compiled = 1.5,
                    .around_kernels = 0.1};
  const ModelProof proof = Prove(model, {"u1"}, {"u2"});
  EXPECT_THAT(proof.kept, ElementsAre("u1"));
  EXPECT_THAT(proof.compiled_kernels.failure, testing::HasSubstr("values are wrong"));
  EXPECT_FALSE(proof.compiled_is_faster);
  EXPECT_THAT(proof.taken.at("u2"), testing::HasSubstr("was not measured with it: the model's"));
}

}  // namespace
}  // namespace pragma
