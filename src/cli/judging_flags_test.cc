#include "cli/judging_flags.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <string>

#include "app/settings.h"
#include "core/judging.h"

namespace pragma {
namespace {

// Parses the words as a command that has all flags would.
JudgingFlags& Parse(JudgingFlags& flags, const std::string& words) {
  CLI::App app;
  flags.AddTo(app);
  flags.AddShapesTo(app);
  flags.AddTargetTo(app);
  app.parse(words);
  return flags;
}

TEST(JudgingFlags, FlagsWinOverSettings) {
  const Settings settings =
      ParseSettings("mode = \"official\"\ncache = \"cold\"\nthreads = 3\n", "f").value();
  JudgingFlags flags;
  const JudgingOptions options = Parse(flags, "--mode strict").Over(settings);
  EXPECT_EQ(options.mode, CheckMode::kStrict);
  EXPECT_EQ(options.cache, CacheState::kCold);
  EXPECT_EQ(options.threads, 3);
}

TEST(JudgingFlags, EachKindIsParsed) {
  JudgingFlags flags;
  const JudgingOptions options =
      Parse(flags, "--run-limit 5s --strict-nan --target cuda --devices 1,0").Over({});
  EXPECT_EQ(options.run_limit.count(), 5);
  EXPECT_TRUE(options.strict_nan);
  EXPECT_EQ(options.language, Language::kCuda);
  EXPECT_EQ(options.devices, (std::vector<std::string>{"1", "0"}));
}

TEST(JudgingFlags, WrongValuesAreRefused) {
  for (const char* words :
       {"--mode lenient", "--threads 0", "--threads many", "--run-limit soon"}) {
    JudgingFlags flags;
    EXPECT_THROW(Parse(flags, words), CLI::ParseError) << words;
  }
}

}  // namespace
}  // namespace pragma
