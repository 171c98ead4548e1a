#include "core/backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/backend_testing.h"
#include "core/candidate.h"

namespace pragma {
namespace {

using testing::HasSubstr;

constexpr const char* kWhole = R"(
id = "kestrel"
name = "Kestrel NPUs"
languages = ["triton"]
probe = "kestrel-device"
memory = "host"
[jail]
device_files = ["kestrel"]
visible = "KESTREL_VISIBLE"
[profile]
adapter = "kestrel-prof"
rules = "gpu.toml"
[peaks]
flops = 64
l2_bytes = 32
copy_share = 0.9
)";

std::string ProblemWithout(const std::string& line) {
  std::string text = kWhole;
  text.erase(text.find(line), line.size());
  const auto backend = ParseBackend(text, "kestrel.toml");
  return backend ? "" : backend.error().message;
}

TEST(Backend, IsReadFromItsFile) {
  const auto backend = ParseBackend(kWhole, "kestrel.toml");
  ASSERT_TRUE(backend) << backend.error().message;
  EXPECT_TRUE(backend->Runs(Language::kTriton));
  EXPECT_FALSE(backend->Runs(Language::kCuda));
  EXPECT_EQ(backend->profiler, "kestrel-prof");
  EXPECT_EQ(backend->peaks.flops, 64);
}

TEST(Backend, NamesThePromptsOfALanguage) {
  EXPECT_EQ(ParseBackend(kWhole, "kestrel.toml")->PromptFolder(Language::kTriton), "triton");
  const std::string own = "prompts = { triton = \"kestrel\" }" + std::string(kWhole);
  EXPECT_EQ(ParseBackend(own, "kestrel.toml")->PromptFolder(Language::kTriton), "kestrel");
  const auto wrong = ParseBackend("prompts = { cuda = \"c\" }" + std::string(kWhole), "k.toml");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("prompts names \"cuda\""));
}

TEST(Backend, ThatRunsKernelsNeedsAProbeMemoryAndPeaks) {
  EXPECT_THAT(ProblemWithout("probe = \"kestrel-device\"\n"), HasSubstr("probe is missing"));
  EXPECT_THAT(ProblemWithout("memory = \"host\"\n"), HasSubstr("memory is missing"));
  EXPECT_THAT(ProblemWithout("l2_bytes = 32\n"), HasSubstr("peaks.l2_bytes is missing"));
  EXPECT_EQ(ProblemWithout("visible = \"KESTREL_VISIBLE\"\n"), "");
}

TEST(Backend, OfARecordingNeedsNeither) {
  const Backend ascend = ShippedBackend("ascend");
  EXPECT_FALSE(ascend.Runs(Language::kTriton));
  EXPECT_EQ(ascend.profiler, "msprof");
  EXPECT_NE(ascend.caveat, "");
}

TEST(Backend, ThatIsNotUsedYetSaysSo) {
  EXPECT_EQ(ShippedBackend("nvidia").caveat, "");
  EXPECT_NE(ShippedBackend("amd").caveat, "");
}

}  // namespace
}  // namespace pragma
