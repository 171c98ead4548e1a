#include "task/shapes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "core/task.h"

namespace pragma {
namespace {

using ::testing::HasSubstr;

std::string ComplaintOf(const std::string& text) {
  const auto shapes = ParseShapes(text, "shapes.json");
  return shapes ? "" : shapes.error().message;
}

Task Linear(std::int64_t batch, std::int64_t width) {
  Task task;
  task.name = "linear";
  task.arguments = {{"x", "args[0]", TensorRole::kInput, DType::kFloat32, {batch, width}},
                    {"w", "w", TensorRole::kParameter, DType::kFloat32, {8, width}}};
  task.outputs = {{"out", "output", TensorRole::kOutput, DType::kFloat32, {batch, 8}}};
  task.init_args = {{"width", {.kind = ScalarValue::Kind::kInt, .integer = width}}};
  return task;
}

std::vector<std::string> NamesOf(const std::vector<VaryingSize>& sizes) {
  std::vector<std::string> names;
  for (const VaryingSize& size : sizes) names.push_back(size.name);
  return names;
}

TEST(Shapes, AreReadFromJson) {
  const auto shapes = ParseShapes(R"([{"n": 64, "batch": 8}, {"n": 1, "held_out": true}])", "f");
  ASSERT_TRUE(shapes) << shapes.error().message;
  ASSERT_EQ(shapes->size(), 2U);
  EXPECT_EQ(shapes->at(0).label(), "batch=8, n=64");
  EXPECT_FALSE(shapes->at(0).held_out);
  EXPECT_TRUE(shapes->at(1).held_out);
}

TEST(Shapes, AnythingElseIsOneClearLine) {
  for (const char* text : {"", "{}", "[]", "[1]", R"([{"n": 1.5}])", R"([{"n": "64"}])",
                           R"([{"held_out": true}])", "[{}]"}) {
    EXPECT_THAT(ComplaintOf(text), HasSubstr("shapes.json: ")) << text;
    EXPECT_EQ(ComplaintOf(text).find('\n'), std::string::npos);
  }
}

TEST(Shapes, ReplaceLinesAtTheTopLevelOnly) {
  const std::string source =
      "n = 2 * 32  # width\nn_more = n\nif n == 4: pass\ndef f(n = 3):\n    n = 5\nm: int = 7\n";
  const auto changed = WithShape(source, {.numbers = {{"n", 9}, {"m", -1}}});
  ASSERT_TRUE(changed) << changed.error().message;
  EXPECT_EQ(*changed, "n = 9\nn_more = n\nif n == 4: pass\ndef f(n = 3):\n    n = 5\nm = -1\n");
}

TEST(Shapes, ANumberThatNoLineAssignsIsNamed) {
  const auto changed = WithShape("n = (1 +\n 2)\n", {.numbers = {{"n", 9}}});
  ASSERT_FALSE(changed);
  EXPECT_THAT(changed.error().message, HasSubstr("no line \"n = ...\""));
}

TEST(Shapes, WhatVariesIsFoundOnce) {
  const Task first = Linear(4, 16);
  const Task second = Linear(5, 32);
  const auto sizes = FindVaryingSizes(std::vector<const Task*>{&first, &second},
                                      std::vector<std::string>{"as written", "n=32"});
  ASSERT_TRUE(sizes) << sizes.error().message;
  EXPECT_EQ(NamesOf(sizes->at(0)),
            (std::vector<std::string>{"x_0", "x_1", "w_1", "out_0", "width"}));
  EXPECT_EQ(sizes->at(0).at(1).value, 16);
  EXPECT_EQ(sizes->at(1).at(1).value, 32);
}

TEST(Shapes, OnlySizesMayDiffer) {
  const Task first = Linear(4, 16);
  Task other = Linear(4, 16);
  const auto error_of = [&] {
    const auto sizes = FindVaryingSizes(std::vector<const Task*>{&first, &other},
                                        std::vector<std::string>{"as written", "n=1"});
    return sizes ? "" : sizes.error().message;
  };
  EXPECT_EQ(error_of(), "no size differs between the shapes");
  other.arguments[0].shape = {4, 4, 4};
  EXPECT_THAT(error_of(), HasSubstr("with n=1 the task has other tensors"));
  other = Linear(4, 16);
  other.init_args[0].value.kind = ScalarValue::Kind::kFloat;
  EXPECT_THAT(error_of(), HasSubstr("width differs in more than a number"));
}

}  // namespace
}  // namespace pragma
