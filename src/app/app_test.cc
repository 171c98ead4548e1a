#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "app/candidate_file.h"
#include "app/evaluation_request.h"
#include "app/recorded_task.h"
#include "app/search_choice.h"
#include "app/settings.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/result.h"
#include "core/candidate.h"
#include "core/judging.h"
#include "verify/verifier.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kSource = "// pragma-flags: -O2\nint x;\n";

Settings Parsed(std::string_view text) { return ParseSettings(text, "pragma.toml").value(); }
std::string Complaint(std::string_view text) {
  return ParseSettings(text, "pragma.toml").error().message;
}

TEST(Settings, EveryKeyArrives) {
  const Settings settings = Parsed(R"(
model = "openai:a"
conductor = "openai:b"
strategy = "caesar"
attempts = 3
time = "2m"
tokens = 1000
usd = 2
mode = "official"
cache = "cold"
threads = 1
python = "py"
home = "h"
jail = "reduced"
[models."openai:a"]
base_url = "http://127.0.0.1/v1"
timeout = 30
max_retries = 1
usd_per_million_in = 3
usd_per_million_out = 15.5
[models.short]
timeout = "1m"
)");
  EXPECT_EQ(settings.model, "openai:a");
  EXPECT_EQ(settings.attempts, 3);
  EXPECT_EQ(settings.seconds, 120);
  EXPECT_EQ(settings.usd, 2.0);
  EXPECT_EQ(settings.jail, "reduced");
  EXPECT_EQ(settings.judging.at("cache"), "cold");
  EXPECT_EQ(settings.judging.at("threads"), "1");
  const ModelOptions options = settings.ModelOptionsOf("openai:a");
  EXPECT_EQ(options.base_url, "http://127.0.0.1/v1");
  EXPECT_EQ(options.timeout.count(), 30);
  EXPECT_EQ(options.price.usd_per_million_out, 15.5);
  EXPECT_EQ(settings.ModelOptionsOf("anthropic:short").timeout.count(), 60);
  EXPECT_EQ(settings.ModelOptionsOf("openai:other").max_retries, ModelOptions{}.max_retries);
}

TEST(Settings, MistakesAreToldWithTheirLine) {
  EXPECT_EQ(Complaint("\natempts = 3\n"),
            "pragma.toml:2: unknown key 'atempts'; did you mean 'attempts'?");
  EXPECT_EQ(Complaint("jail = \"none\"\n"), "pragma.toml: jail must be full or reduced");
  EXPECT_EQ(Complaint("attempts = 1.5\n"),
            "pragma.toml:1: the value of 'attempts' has the wrong type");
  EXPECT_THAT(Complaint("time = \"soon\"\n"), HasSubstr("'time' has the wrong type"));
  EXPECT_THAT(Complaint("models = 3\n"), HasSubstr("'models' has the wrong type"));
  EXPECT_THAT(Complaint("[models.x]\nprice = 3\n"),
              HasSubstr("pragma.toml:2: unknown key 'price'"));
  EXPECT_THAT(Complaint("attempts = 0\n"), HasSubstr("at least 1"));
  EXPECT_THAT(Complaint("mode = \"lenient\"\n"), HasSubstr("mode must be one of strict, official"));
  EXPECT_THAT(Complaint("threads = 0\n"), HasSubstr("threads must be a whole number from 1"));
  EXPECT_THAT(Complaint("threads = \"two\"\n"), HasSubstr("'threads' has the wrong type"));
  EXPECT_THAT(Complaint("shapes = \"x\"\n"), HasSubstr("unknown key"));
  EXPECT_THAT(Complaint("a = [\n"), HasSubstr("pragma.toml:"));
  EXPECT_EQ(ParseSettings("x", "f").error().kind, ErrorKind::kUsage);
}

TEST(BudgetWish, OnlyWhatIsGivenChanges) {
  BudgetWish wish;
  wish.time = "1m";
  const Budget budget = wish.Over({.attempts = 7, .seconds = 5, .tokens = 3}).value();
  EXPECT_EQ(budget.attempts, 7);
  EXPECT_EQ(budget.seconds, 60);
  EXPECT_EQ(budget.tokens, 3);
}

class FilesTest : public ::testing::Test {
 protected:
  fs::path Write(const std::string& name, const std::string& text) const {
    const fs::path path = folder_.path() / name;
    EXPECT_TRUE(MakeDirectories(path.parent_path()));
    EXPECT_TRUE(WriteFileAtomic(path, text));
    return path;
  }
  [[nodiscard]] std::string RequestComplaint(const std::string& text) const {
    const Result<EvaluationRequest> request = ParseRequest(text, folder_.path(), folder_.path());
    return request ? "" : request.error().message;
  }
  TempDir folder_ = TempDir::Create().value();
};

TEST_F(FilesTest, ACppFileAndAFolderGiveTheSameCandidate) {
  Write("c/kernel.cpp", kSource);
  Write("c/candidate.json", R"({"flags": ["-O2"]})");
  const Candidate file = LoadCandidate(folder_.path() / "c/kernel.cpp").value();
  EXPECT_THAT(file.flags, ElementsAre("-O2"));
  EXPECT_EQ(LoadCandidate(folder_.path() / "c").value().id(), file.id());
}

TEST_F(FilesTest, APyFileAndAFolderGiveTheSameCandidate) {
  Write("p/solution.py", "class ModelNew: pass\n");
  Write("p/candidate.json", R"({"language": "python"})");
  const Candidate file = LoadCandidate(folder_.path() / "p/solution.py").value();
  EXPECT_EQ(file.language, Language::kPython);
  EXPECT_TRUE(file.flags.empty());
  EXPECT_EQ(LoadCandidate(folder_.path() / "p").value().id(), file.id());
}

TEST_F(FilesTest, APyFileIsATritonModuleWhereThatIsTheTarget) {
  Write("t/solution.py", "def run(x, out): pass\n");
  Write("t/candidate.json", R"({"language": "triton"})");
  const Candidate file = LoadCandidate(folder_.path() / "t/solution.py", Language::kTriton).value();
  EXPECT_EQ(file.language, Language::kTriton);
  EXPECT_TRUE(file.flags.empty());
  EXPECT_EQ(LoadCandidate(folder_.path() / "t").value().id(), file.id());
  EXPECT_NE(LoadCandidate(folder_.path() / "t/solution.py").value().id(), file.id());
}

TEST_F(FilesTest, ACudaFileAndAFolderGiveTheSameCandidate) {
  Write("g/kernel.cu", "// pragma-flags: -O3 -use_fast_math\n__global__ void k() {}\n");
  Write("g/candidate.json", R"({"language": "cuda", "flags": ["-O3", "-use_fast_math"]})");
  const Candidate file = LoadCandidate(folder_.path() / "g/kernel.cu").value();
  EXPECT_EQ(file.language, Language::kCuda);
  EXPECT_EQ(file.compiler, "nvcc");
  EXPECT_THAT(file.flags, ElementsAre("-O3", "-use_fast_math"));
  EXPECT_EQ(LoadCandidate(folder_.path() / "g").value().id(), file.id());
}

TEST_F(FilesTest, CandidatesThatCannotBe) {
  Write("a.f90", "x");
  Write("bad/candidate.json", "{");
  Write("out/candidate.json", R"({"files": ["../a.f90"]})");
  EXPECT_THAT(LoadCandidate(folder_.path() / "a.f90").error().message,
              HasSubstr("a candidate is a .cpp, .cu or .py file"));
  EXPECT_THAT(LoadCandidate(folder_.path() / "bad").error().message,
              HasSubstr("is not a JSON object"));
  EXPECT_THAT(LoadCandidate(folder_.path() / "out").error().message, HasSubstr("its own folder"));
  EXPECT_EQ(LoadCandidate(folder_.path() / "gone.cpp").error().kind, ErrorKind::kUsage);
}

TEST_F(FilesTest, ARequestBringsItsTaskAsText) {
  const std::string text = R"({"schema": 1, "task": {"name": "t", "source": "import torch\n"},
    "candidate": {"files": {"kernel.cpp": "int x;"}}, "measure": "eager", "mode": "official", "repeat": 3})";
  const EvaluationRequest request = ParseRequest(text, folder_.path(), folder_.path()).value();
  EXPECT_EQ(ReadFile(request.task).value(), "import torch\n");
  EXPECT_EQ(request.task.filename(), "t.py");
  EXPECT_EQ(request.measure, Measure::kEager);
  EXPECT_EQ(request.judging, (JudgingTexts{{"mode", "official"}}));
  EXPECT_EQ(request.repeat, 3);
  EXPECT_FALSE(request.call);
  EXPECT_EQ(request.candidates.front().source(), "int x;");
  EXPECT_FALSE(request.against);
}

TEST_F(FilesTest, ARequestWrittenAgainIsTheSameRequest) {
  Write("t.py", "import torch\n");
  const std::string text =
      R"({"task": {"path": "t.py"}, "candidate": {"files": {"kernel.cpp": "int x;"}},
    "against": {"files": {"kernel.cpp": "int y;"}}, "measure": "nothing", "threads": 2, "run_limit": "5s",
    "task_limit": "1m", "target": "cpu", "shapes": [{"n": 4}], "call": true})";
  const EvaluationRequest request = ParseRequest(text, folder_.path(), folder_.path()).value();
  const std::string again = RequestText(request, 0).value();
  const EvaluationRequest read = ParseRequest(again, "/", folder_.path()).value();
  EXPECT_EQ(read.task, folder_.path() / "t.py");
  EXPECT_EQ(read.candidates.front().id(), request.candidates.front().id());
  EXPECT_EQ(read.against->id(), request.against->id());
  EXPECT_EQ(read.measure, Measure::kNothing);
  EXPECT_EQ(read.judging, request.judging);
  EXPECT_EQ(read.judging.at("threads"), "2");
  EXPECT_EQ(read.judging.at("run_limit"), "5s");
  EXPECT_EQ(read.judging.at("shapes"), R"([{"n":4}])");
  EXPECT_TRUE(read.call);
  EXPECT_FALSE(read.sanitize);
  EXPECT_EQ(RequestText(read, 0).value(), again);
}

TEST_F(FilesTest, ARequestWrittenAgainHoldsATaskThatWasText) {
  const std::string text = R"({"task": {"name": "t", "source": "import torch\n"},
    "candidate": {"files": {"kernel.cpp": "int x;"}}})";
  const EvaluationRequest request = ParseRequest(text, folder_.path(), folder_.path()).value();
  EXPECT_THAT(RequestText(request, 0).value(), HasSubstr(R"("source":"import torch\n")"));
}

TEST_F(FilesTest, WhatIsNoTextIsNotWrittenIntoARequest) {
  const EvaluationRequest request{.task = Write("t.py", ""),
                                  .candidates = {CppCandidate("int x; // \xff")}};
  EXPECT_THAT(RequestText(request, 0).error().message, HasSubstr("are not UTF-8 text"));
}

TEST_F(FilesTest, RequestsThatCannotBe) {
  const std::string rest = R"("candidate": {"files": {"kernel.cpp": "int x;"}})";
  EXPECT_THAT(RequestComplaint("]"), HasSubstr("is not a JSON object"));
  EXPECT_THAT(RequestComplaint(R"({"schema": 7})"), HasSubstr("schema"));
  EXPECT_THAT(RequestComplaint("{" + rest + "}"), HasSubstr("no \"task\""));
  EXPECT_THAT(RequestComplaint(R"({"task": {}, )" + rest + "}"),
              HasSubstr("\"path\" or \"source\""));
  EXPECT_THAT(RequestComplaint(R"({"task": {"name": "../t", "source": ""}, )" + rest + "}"),
              HasSubstr("slash"));
  EXPECT_THAT(RequestComplaint(R"({"task": {"path": "t.py"}, "repeat": 0, )" + rest + "}"),
              HasSubstr("repeat"));
  EXPECT_THAT(RequestComplaint(R"({"task": {"path": "t.py"}, "mode": "x", )" + rest + "}"),
              HasSubstr("strict, official"));
  EXPECT_THAT(RequestComplaint(R"({"task": {"path": "t.py"}, "threads": "2", )" + rest + "}"),
              HasSubstr("\"threads\" must be a whole number from 1"));
  EXPECT_THAT(RequestComplaint(R"({"task": {"path": "t.py"}, "run_limit": "5x", )" + rest + "}"),
              HasSubstr("\"run_limit\": invalid duration '5x'"));
  EXPECT_THAT(RequestComplaint(R"({"task": {"path": "t.py"}, "strict_nan": 1, )" + rest + "}"),
              HasSubstr("\"strict_nan\" must be true or false"));
}

TEST_F(FilesTest, ATaskThatWasChangedComesFromTheRecord) {
  const std::string source = "import torch\n";
  const Task task{.name = "t", .sha256 = Sha256Hex(source), .source = source};
  const fs::path file = Write("t.py", source);
  EXPECT_EQ(FindRecordedTask(task, file.string()).value().path, file);
  Write("t.py", "changed\n");
  const RecordedTask recorded = FindRecordedTask(task, file.string()).value();
  EXPECT_NE(recorded.path, file);
  EXPECT_EQ(ReadFile(recorded.path).value(), source);
  EXPECT_EQ(ReadFile(FindRecordedTask(task, "").value().path).value(), source);
}

TEST(TaskFiles, MustBeThere) {
  EXPECT_THAT(CheckTaskFile("/nonexistent/t.py").error().message, HasSubstr("no such task file"));
  EXPECT_THAT(CheckTaskFile("/tmp").error().message, HasSubstr("is not a file"));
}

}  // namespace
}  // namespace pragma
