#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "base/hash.h"
#include "base/result.h"
#include "core/task.h"
#include "task/torch_server.h"

namespace pragma {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kGood =
    R"({"schema": 1, "name": "relu", "source": "x = 1\n", "category": "activation",
  "arguments": [{"name": "x", "path": "args[0]", "role": "input", "dtype": "float32", "shape": [4, 8]},
                {"name": "w", "path": "w", "role": "parameter", "dtype": "bfloat16", "shape": []}],
  "outputs": [{"name": "out", "path": "output", "role": "output", "dtype": "float32", "shape": [4, 8]}],
  "output_kind": "tensor", "init_args": [{"name": "n", "value": 3}],
  "call_args": [{"name": "s", "value": {"float": "inf"}}], "flops": 32.0, "compulsory_bytes": 258,
  "graph": [{"name": "relu", "op": "aten.relu.default", "args": [{"node": "x"}], "kwargs": [],
    "results": [{"name": "relu", "path": "relu", "role": "output", "dtype": "float32", "shape": [4, 8]}],
    "strides": [[8, 1]]}],
  "export_error": "", "random": false, "stateful": false, "reduction_length": 1, "notes": ["a"]})";

// Returns kGood with `from` replaced by `to`.
std::string With(const std::string& from, const std::string& to) {
  std::string text = kGood;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

void ExpectBad(const std::string& json, const std::string& why) {
  const Result<Task> task = ParseTaskDescription(json);
  ASSERT_FALSE(task) << why;
  EXPECT_EQ(task.error().kind, ErrorKind::kTask);
  EXPECT_THAT(task.error().message, HasSubstr(why));
}

TEST(TaskDescription, ReadsEverything) {
  const Result<Task> task = ParseTaskDescription(kGood);
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_EQ(task->sha256, Sha256Hex("x = 1\n"));
  EXPECT_EQ(task->arguments[1].dtype, DType::kBFloat16);
  EXPECT_EQ(task->arguments[1].role, TensorRole::kParameter);
  EXPECT_EQ(task->init_args[0].value.integer, 3);
  EXPECT_EQ(task->call_args[0].value.kind, ScalarValue::Kind::kFloat);
  EXPECT_EQ(task->graph[0].args[0].kind, ScalarValue::Kind::kNode);
  EXPECT_EQ(task->graph[0].strides[0][0], 8);
  EXPECT_EQ(task->compulsory_bytes, 258U);
}

TEST(TaskDescription, RefusesWhatTheRestCouldNotBear) {
  ExpectBad("{", "");
  ExpectBad("[]", "");
  ExpectBad(With(R"("x", "path")", R"("x y", "path")"), R"("x y" is not a C++ name)");
  ExpectBad(With(R"("x", "path")", R"("1x", "path")"), "is not a C++ name");
  ExpectBad(With(R"("w", "path")", R"("x", "path")"), "x occurs twice");
  ExpectBad(With("[4, 8]", "[4, -8]"), "negative");
  ExpectBad(With("[4, 8]", "[4611686018427387904, 4611686018427387904]"), "x is too large");
  ExpectBad(With(R"("float32")", R"("complex64")"), "complex64");
  ExpectBad(With(R"("role": "input")", R"("role": "constant")"), "order");
  ExpectBad(With(R"("role": "input")", R"("role": "output")"), "order");
  ExpectBad(With(R"("activation")", R"("magic")"), R"("magic" is not a category)");
  ExpectBad(With(R"("output_kind": "tensor")", R"("output_kind": "dict")"), "kind of output");
  ExpectBad(With("32.0", "-1.0"), "FLOPs");
  ExpectBad(With(R"("reduction_length": 1)", R"("reduction_length": 0)"), "reduction length");
  ExpectBad(With("[[8, 1]]", "[]"), "strides");
  ExpectBad(With(R"("n", "value")", R"("n;", "value")"), "is not a C++ name");
}

// kGood with an argument of four by eight that forward changes: the output is its new contents.
std::string WithUpdates(const std::string& names) {
  return With(R"("export_error")", R"("updates": )" + names + R"(, "export_error")");
}

TEST(TaskDescription, WhatForwardChangesIsAnArgumentAndTheLastOutputsAreLikeIt) {
  const Result<Task> task = ParseTaskDescription(WithUpdates(R"(["x"])"));
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_THAT(task->updates, ElementsAre("x"));
  ExpectBad(WithUpdates(R"(["y"])"), "y is not an argument");
  ExpectBad(WithUpdates(R"(["w"])"), "out is not like w");
  ExpectBad(WithUpdates(R"(["x", "w"])"), "more updates than outputs");
}

TEST(TaskDescription, NeedsAnOutput) {
  std::string text = kGood;
  const std::size_t from = text.find("\"outputs\": [") + 12;
  text.erase(from, text.find("],\n  \"output_kind\"") - from);
  ExpectBad(text, "no output");
}

}  // namespace
}  // namespace pragma
