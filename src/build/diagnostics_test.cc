#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "build/builder.h"
#include "build/testing.h"

namespace pragma {
namespace {

using testing::HasSubstr;

TEST(Diagnostics, PlacesSeverityMessageAndSourceLine) {
  const auto found = ParseDiagnostics(
      "kernel.cpp: In function 'void f()':\nkernel.cpp:2:10: error: 'y' was not declared in this "
      "scope\n"
      "kernel.cpp:1:5: warning: unused variable 'x' [-Wunused]\n",
      "int x;\n  return y;\n");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].severity, "error");
  EXPECT_EQ(found[0].file, "kernel.cpp");
  EXPECT_EQ(found[0].line, 2);
  EXPECT_EQ(found[0].column, 10);
  EXPECT_EQ(found[0].message, "'y' was not declared in this scope");
  EXPECT_EQ(found[0].source_line, "return y;");
  EXPECT_EQ(found[1].severity, "warning");
}

TEST(Diagnostics, AnErrorInAHeaderLeadsBackToTheKernel) {
  const auto found = ParseDiagnostics(
      "In file included from kernel.cpp:1:\n/usr/include/c++/12/vector: In instantiation of 'x':\n"
      "kernel.cpp:3:7:   required from here\n/usr/include/c++/12/bits/stl_vector.h:400:9: error: "
      "no match\n",
      "a\nb\n  c();\n");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].line, 400);
  EXPECT_EQ(found[1].severity, "note");
  EXPECT_EQ(found[1].line, 3);
  EXPECT_EQ(found[1].source_line, "c();");
}

TEST(Diagnostics, DriverAndLinkerMessagesHaveNoPlace) {
  const auto found = ParseDiagnostics(
      "g++: error: unrecognized command-line option '-fx'\n"
      "/usr/bin/ld: kernel.cpp:(.text+0x5): undefined reference to `f'\n",
      "");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].line, 0);
  EXPECT_THAT(found[1].message, HasSubstr("undefined reference to `f'"));
  EXPECT_EQ(found[1].severity, "error");
}

TEST(Diagnostics, NoiseIsBounded) {
  std::string text;
  for (int i = 0; i < 1000; ++i)
    text += "kernel.cpp:1:1: note: candidate " + std::string(5000, 'x') + "\n";
  for (int i = 0; i < 1000; ++i) text += "kernel.cpp:1:1: error: e\n";
  const auto found = ParseDiagnostics(text, "s\n");
  EXPECT_EQ(found.size(), 40U);
  EXPECT_EQ(found[4].severity, "error");
  EXPECT_LT(found[0].message.size(), 500U);
}

TEST(Diagnostics, GarbageGivesNothing) {
  EXPECT_TRUE(ParseDiagnostics("", "").empty());
  EXPECT_TRUE(
      ParseDiagnostics(":::\n:1:\n:99999999999999999999: error\nerror\n\xff\xfe\n", "x").empty());
  EXPECT_EQ(ParseDiagnostics("\xff:1: error: \xff\n", "x")[0].message, "\xef\xbf\xbd");
}

class CompilerMessages : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Diagnostics, CompilerMessages, testing::Values("g++", "clang++"),
                         [](const auto& name) { return name.param == "g++" ? "gcc" : "clang"; });

TEST_P(CompilerMessages, RealMessagesBecomeValues) {
  const TestBuilder builder;
  const auto failure = Failed(builder.Build(TestCandidate(
      KernelSource("  out[0] = undeclared(x[0]);\n  float y = ;"), {"-O1"}, GetParam())));
  EXPECT_EQ(failure.status, Status::kCompileError);
  ASSERT_GE(failure.diagnostics.size(), 2U);
  EXPECT_EQ(failure.diagnostics[0].file, "kernel.cpp");
  EXPECT_EQ(failure.diagnostics[0].line, 4);
  EXPECT_EQ(failure.diagnostics[0].source_line, "out[0] = undeclared(x[0]);");
  EXPECT_THAT(failure.diagnostics[0].message, HasSubstr("undeclared"));
  EXPECT_THAT(failure.reason, HasSubstr("kernel.cpp:4: "));
  EXPECT_THAT(failure.reason, HasSubstr("kernel.cpp:5: "));
}

TEST_P(CompilerMessages, AnErrorDeepInTheLibraryNamesTheKernelsLine) {
  const TestBuilder builder;
  const auto failure = Failed(builder.Build(TestCandidate(
      KernelSource("  struct S {};\n  std::vector<S> v(4);\n  std::sort(v.begin(), v.end());",
                   "#include <algorithm>\n#include <vector>"),
      {"-O1"}, GetParam())));
  EXPECT_EQ(failure.status, Status::kCompileError);
  EXPECT_THAT(failure.diagnostics, testing::Contains(testing::Field(&Diagnostic::line, 7)));
  EXPECT_THAT(failure.reason, HasSubstr("kernel.cpp:7: "));
  EXPECT_LT(failure.reason.size(), 3000U);
}

}  // namespace
}  // namespace pragma
