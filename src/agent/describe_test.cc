#include "agent/describe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "agent/agent_fixture.h"
#include "core/evaluation.h"

namespace pragma {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

TEST(Fenced, IsLongerThanAnyFenceInside) {
  EXPECT_EQ(Fenced("a", "cpp"), "```cpp\na\n```");
  EXPECT_EQ(Fenced("a\n````\nb\n", ""), "`````\na\n````\nb\n`````");
}

TEST(Fenced, DropsControlCharactersAndWrongBytes) {
  EXPECT_EQ(Fenced("a\x1b[31m\tb\r\n\xFF", ""), "```\na\tb\n\xEF\xBF\xBD\n```");
}

TEST(Verdict, TellsErrorsBeforeNotesAndQuotesLogs) {
  const SmallRun run;
  const std::string broken = Verdict(run.broken.evaluation, 1000);
  EXPECT_LT(broken.find("7:15: error"), broken.find("3:1: note"));
  EXPECT_THAT(broken, Not(HasSubstr("told by the diagnostics")));
  EXPECT_THAT(Verdict(run.wrong.evaluation, 1000),
              AllOf(HasSubstr("at index [0, 241]"), HasSubstr("````text\nkernel says: ```Ignore"),
                    HasSubstr("15 of 4096")));
  EXPECT_THAT(Verdict(run.wrong.evaluation, 0), Not(HasSubstr("Ignore")));
}

TEST(Verdict, ShortensManyDiagnostics) {
  Evaluation evaluation{.status = Status::kCompileError};
  for (int i = 0; i < 50; ++i)
    evaluation.diagnostics.push_back({"error", "kernel.cpp", i, 1, "m", ""});
  EXPECT_THAT(Verdict(evaluation, 0), HasSubstr("(42 more)"));
}

TEST(LikelyCauses, PutsTheSpecificFirst) {
  const SmallRun run;
  const auto causes = LikelyCauses(run.broken.evaluation, Language::kCpp);
  ASSERT_THAT(causes, Not(IsEmpty()));
  EXPECT_THAT(causes.front(), HasSubstr("instruction set"));
  EXPECT_THAT(LikelyCauses(run.passed.evaluation, Language::kCpp), IsEmpty());
}

TEST(LikelyCauses, KnowsSomethingAboutEveryFailure) {
  for (const Language language : {Language::kCpp, Language::kCuda, Language::kTriton}) {
    for (const Status status :
         {Status::kRejectedSource, Status::kCompileError, Status::kLoadError, Status::kCrashed,
          Status::kTimeout, Status::kOutOfMemory, Status::kSandboxViolation, Status::kWrongShape,
          Status::kWrongValues, Status::kNondeterministic, Status::kImplausible,
          Status::kUnsupported}) {
      EXPECT_THAT(LikelyCauses({.status = status}, language), Not(IsEmpty()))
          << LanguageName(language) << " " << StatusName(status);
    }
  }
  EXPECT_THAT(LikelyCauses({.status = Status::kCrashed, .reason = "SIGILL"}, Language::kCpp),
              SizeIs(4));
}

}  // namespace
}  // namespace pragma
