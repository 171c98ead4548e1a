// Follows the instructions of docs/add-a-backend.md, using the code blocks of that page.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "profile/adapter.h"
#include "profile/hardware.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::SizeIs;

std::string Page() { return ReadFile(PRAGMA_SOURCE_DIR "/docs/add-a-backend.md").value_or(""); }

// Returns the fenced blocks whose first line is "# file: NAME", by name and without that line.
std::map<std::string, std::string> Blocks() {
  std::map<std::string, std::string> blocks;
  const std::string start = "# file: ";
  std::string name;
  bool inside = false;
  for (const std::string& line : SplitLines(Page())) {
    if (line.starts_with("```")) {
      inside = !inside;
      name.clear();
    } else if (inside && name.empty() && line.starts_with(start)) {
      name = line.substr(start.size());
      blocks[name];
    } else if (inside && !name.empty()) {
      blocks[name] += line + "\n";
    }
  }
  return blocks;
}

// Returns the table rows "| `tag` | value | unit |" of the page.
std::map<std::string, Metric> ClaimedMetrics() {
  std::map<std::string, Metric> claimed;
  for (const std::string& line : SplitLines(Page())) {
    const auto cells = Split(line, '|');
    if (cells.size() != 5) continue;
    std::string tag(Trim(cells[1]));
    char* end = nullptr;
    const std::string number(Trim(cells[2]));
    const double value = std::strtod(number.c_str(), &end);
    if (!tag.starts_with('`') || number.empty() || *end != '\0') continue;
    tag = tag.substr(1, tag.size() - 2);
    claimed[tag] = {tag, value, std::string(Trim(cells[3])), ""};
  }
  return claimed;
}

class BackendPage : public testing::Test {
 protected:
  void SetUp() override {
    for (const auto& [name, text] : Blocks()) {
      const fs::path path = folder_.path() / name;
      ASSERT_TRUE(MakeDirectories(path.parent_path()));
      ASSERT_TRUE(WriteFileAtomic(path, text));
    }
    adapter_ = LoadAdapter(folder_.path() / "knowledge/adapters/kestrel-prof.toml");
    ASSERT_TRUE(adapter_) << adapter_.error().message;
  }

  // Runs the page's tool, which is searched for only in `folder`.
  AdapterOutcome RunTool(const std::string& folder, const std::string& restricted) {
    const AdapterRunner run =
        [&](const std::vector<std::string>& argv) -> Result<Jail::RunOutcome> {
      const RunResult result = TRY(RunProcess(
          {.argv = argv, .env = {{"KESTREL_RESTRICTED", restricted}}, .inherit_env = true}, {}));
      Jail::RunOutcome outcome;
      outcome.outcome.code = result.status.code;
      outcome.out = result.out;
      outcome.err = result.err;
      return outcome;
    };
    Adapter adapter = *adapter_;
    adapter.probe.folders = {folder};  // as if it were on the path
    const AdapterCall call{
        .program = {"true"}, .kernel = "softmax", .out = folder_.path() / "out.csv"};
    return RunAdapter(adapter, call, run).value();
  }

  TempDir folder_ = TempDir::Create().value();
  Result<Adapter> adapter_;
};

TEST_F(BackendPage, HasTheSixFiles) { EXPECT_THAT(Blocks(), SizeIs(6)); }

TEST_F(BackendPage, TheHardwareIsKnownByItsDriversName) {
  const auto specs = LoadHardwareFolder(folder_.path() / "knowledge/hardware");
  ASSERT_TRUE(specs) << specs.error().message;
  const HardwareSpec* found = FindHardware(*specs, "Kestrel K1 (rev 2)");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->units, 16);
  EXPECT_THAT(Summary(*found), HasSubstr("Kestrel K1"));
}

TEST_F(BackendPage, TheRecordingGivesTheMetricsOfItsTable) {
  const std::string text = ReadFile(folder_.path() / "tests/recorded/kestrel-prof/run.csv").value();
  const AdapterMetrics parsed = ParseOutput(*adapter_, text, "softmax");
  const auto claimed = ClaimedMetrics();
  ASSERT_THAT(claimed, SizeIs(3));
  EXPECT_EQ(parsed.metrics.size(), claimed.size());
  for (const Metric& metric : parsed.metrics) {
    ASSERT_TRUE(claimed.contains(metric.tag)) << metric.tag;
    EXPECT_DOUBLE_EQ(metric.value, claimed.at(metric.tag).value) << metric.tag;
    EXPECT_EQ(metric.unit, claimed.at(metric.tag).unit) << metric.tag;
  }
  EXPECT_THAT(parsed.problems, Contains("the tool says: l2.hits: -"));
  EXPECT_THAT(Page(), HasSubstr("`the tool says: l2.hits: -`"));
}

TEST_F(BackendPage, TheMistakeItShowsIsToldThatWay) {
  std::string toml = Blocks().at("knowledge/adapters/kestrel-prof.toml");
  toml.replace(toml.find("separator = "), 9, "seperator");
  const auto adapter = ParseAdapter(toml, "kestrel-prof.toml");
  ASSERT_FALSE(adapter);
  EXPECT_THAT(Page(), HasSubstr("`" + adapter.error().message + "`"));
}

TEST_F(BackendPage, TheToolRunsIsAbsentOrRefuses) {
  const fs::path bin = folder_.path() / "bin";
  const AdapterOutcome absent = RunTool("/nonexistent", "");
  EXPECT_THAT(Page(), HasSubstr("`" + absent.note.verdict + ": " + absent.note.detail + "`"));
  fs::permissions(bin / "kestrel-prof", fs::perms::owner_all);
  const AdapterOutcome ran = RunTool(bin, "");
  EXPECT_EQ(ran.note.verdict, "ran") << ran.note.detail;
  EXPECT_THAT(ran.metrics, SizeIs(4));
  const AdapterOutcome refused = RunTool(bin, "1");
  EXPECT_EQ(refused.note.verdict, "refused");
  EXPECT_THAT(Page(), HasSubstr("`" + refused.note.verdict + ": " + refused.note.detail + "`"));
}

}  // namespace
}  // namespace pragma
