#include "search/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/shared_memory.h"
#include "base/text.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/json.h"
#include "core/search_tree.h"
#include "core/stop_reason.h"
#include "core/trial.h"
#include "search/recording.h"
#include "search/search_fakes.h"
#include "search/session.h"
#include "store/store.h"

// A missing value may end a test, so unchecked access is fine here.
namespace pragma {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ModelByScript::Script Script() {
  return {{{"coder", 1}, "broken"},     {{"conductor", 2}, "current"}, {{"coder", 2}, "pass 1 9"},
          {{"conductor", 3}, "best"},   {{"coder", 3}, "none"},        {{"conductor", 4}, "best"},
          {{"coder", 4}, "pass 1.2 8"}, {{"conductor", 5}, "stop"}};
}

// A run that has ended, and its recording.
struct Recorded {
  Recorded() : place(Script()) {
    place.Start();
    result = place.Run().value();
    EXPECT_TRUE(
        place.store.FinishRun(place.run, result.stopped, R"({"schema":1,"status":"passed"})"));
    recording = RecordRun(place.store, place.run).value();
  }
  Workplace place;
  SessionResult result;
  Recording recording;
};

TEST(Recording, TextRoundTripsInOrderOfHappening) {
  const Recorded recorded;
  const std::string text = RecordingText(recorded.recording);
  const auto back = ParseRecording(text, "file");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(RecordingText(*back), text);
  EXPECT_EQ(back->stopped, StopReason::kAdvice);
  EXPECT_EQ(back->task.name, "relu");
  EXPECT_EQ(EvaluationFromJson(back->final_json)->status, Status::kPassed);
  std::vector<std::string> kinds;
  for (const std::string& line : SplitLines(text)) {
    const std::size_t at = line.find("\"kind\":\"") + 8;
    if (!line.empty()) kinds.push_back(line.substr(at, line.find('"', at) - at));
  }
  EXPECT_THAT(kinds, ElementsAre("run", "call", "trial", "call", "call", "trial", "call", "call",
                                 "trial", "call", "call", "trial", "call", "end"));
}

TEST(Recording, ExportsAndLoadsFiles) {
  const Recorded recorded;
  const std::filesystem::path path = recorded.place.dir.path() / "run.jsonl";
  ASSERT_TRUE(ExportRecording(recorded.place.store, recorded.place.run, path));
  EXPECT_EQ(RecordingText(LoadRecording(path).value()), RecordingText(recorded.recording));
  EXPECT_THAT(ReadFile(path).value(), ::testing::Not(HasSubstr("relu.py")))
      << "no paths of this machine";
  EXPECT_FALSE(ExportRecording(recorded.place.store, "r-none", path));
  EXPECT_EQ(LoadRecording("/nonexistent").error().kind, ErrorKind::kUsage);
}

TEST(Recording, NamesNoFolderOrCommandThatAModelStoodFor) {
  Recorded recorded;
  RunSettings& settings = recorded.recording.settings;
  settings.conductor_model = "handoff:/home/me/conductor";
  settings.coder_model = "command:sh /home/me/coder";
  settings.debugger_model = "command:sh /home/me/debugger";
  const std::string text = RecordingText(recorded.recording);
  EXPECT_THAT(text, ::testing::Not(HasSubstr("/home/me")));
  const RunSettings back = ParseRecording(text, "file").value().settings;
  EXPECT_EQ(back.conductor_model, "handoff");
  EXPECT_EQ(back.coder_model, "command");
  EXPECT_EQ(back.debugger_model, "command");
}

TEST(Recording, MistakesNameTheLine) {
  const Recorded recorded;
  const std::string text = RecordingText(recorded.recording);
  const auto message = [](const std::string& foreign) {
    return ParseRecording(foreign, "f.jsonl").error().message;
  };
  EXPECT_THAT(message(""), HasSubstr("no recorded run"));
  EXPECT_THAT(message(text.substr(text.find('\n') + 1)),
              HasSubstr("f.jsonl:1: the line: a recording begins"));
  EXPECT_THAT(message(text.substr(0, text.size() / 2)), HasSubstr("not JSON"));
  EXPECT_THAT(
      message(text +
              "{\"kind\":\"trial\",\"trial\":{\"node\":9,\"evaluation\":{\"status\":\"passed\"}}}"),
      HasSubstr("out of order"));
  EXPECT_THAT(message(text + "{\"kind\":\"call\",\"node\":\"x\"}"), HasSubstr("node"));
  EXPECT_TRUE(ParseRecording(text + "{\"kind\":\"remark\"}\n", "f"))
      << "kinds of later versions are passed over";
}

TEST(Replay, GrowsTheSameTreeInANewRun) {
  Recorded recorded;
  const ReplayParts parts{.store = &recorded.place.store, .make_agents = FakeAgents()};
  const auto replay = ReplayRun(parts, recorded.recording);
  ASSERT_TRUE(replay) << replay.error().message;
  EXPECT_TRUE(replay->same_tree);
  EXPECT_EQ(replay->session.tree.Signature(), recorded.result.tree.Signature());
  EXPECT_EQ(replay->session.stopped, StopReason::kAdvice);
  EXPECT_THAT(replay->notes, IsEmpty());
  EXPECT_NE(replay->run, recorded.place.run);
  const RunRecord run = recorded.place.store.FindRun(replay->run).value();
  EXPECT_EQ(run.state, "finished");
  EXPECT_EQ(run.final_json, recorded.recording.final_json);
  EXPECT_DOUBLE_EQ(replay->session.spent.seconds, recorded.result.spent.seconds)
      << "the recorded time";
}

TEST(Replay, OfAReplayGivesTheSameAgain) {
  Recorded recorded;
  const ReplayParts parts{.store = &recorded.place.store, .make_agents = FakeAgents()};
  const std::string first = ReplayRun(parts, recorded.recording)->run;
  const auto second = ReplayRun(parts, RecordRun(recorded.place.store, first).value());
  ASSERT_TRUE(second);
  EXPECT_TRUE(second->same_tree);
}

TEST(Replay, EndsWhereABrokenOffRunEnded) {
  Recorded recorded;
  recorded.recording.trials.resize(2);
  recorded.recording.stopped = StopReason::kInterrupted;
  const auto replay =
      ReplayRun({.store = &recorded.place.store, .make_agents = FakeAgents()}, recorded.recording);
  ASSERT_TRUE(replay) << replay.error().message;
  EXPECT_TRUE(replay->same_tree);
  EXPECT_EQ(replay->session.stopped, StopReason::kInterrupted);
}

TEST(Replay, PromptsThatChangedAreNoted) {
  Recorded recorded;
  recorded.recording.calls.at(2).prompt_json = R"([{"role":"user","text":"another question"}])";
  const auto replay =
      ReplayRun({.store = &recorded.place.store, .make_agents = FakeAgents()}, recorded.recording);
  ASSERT_TRUE(replay);
  EXPECT_TRUE(replay->same_tree);
  EXPECT_THAT(replay->notes, ElementsAre(AllOf(HasSubstr("attempt 2"), HasSubstr("coder"))));
}

TEST(Replay, KeepsWhatTheRecordedTunerChose) {
  Recorded recorded;
  recorded.recording.trials.at(1).candidate->tunables["TILE"] = 8;
  const auto replay =
      ReplayRun({.store = &recorded.place.store, .make_agents = FakeAgents()}, recorded.recording);
  ASSERT_TRUE(replay) << replay.error().message;
  EXPECT_TRUE(replay->same_tree);
  EXPECT_EQ(replay->session.tree.at(2).candidate->tunables.at("TILE"), 8);
}

TEST(Replay, NeverLendsAnEvaluationToAnotherCandidate) {
  Recorded recorded;
  recorded.recording.trials.at(1).candidate = CppCandidate("something else");
  const auto replay =
      ReplayRun({.store = &recorded.place.store, .make_agents = FakeAgents()}, recorded.recording);
  ASSERT_FALSE(replay);
  EXPECT_THAT(replay.error().message,
              AllOf(HasSubstr("attempt 2"), HasSubstr("another candidate")));
}

TEST(Replay, AMissingReplyIsAnError) {
  Recorded recorded;
  recorded.recording.calls.erase(recorded.recording.calls.begin() + 1);
  const auto replay =
      ReplayRun({.store = &recorded.place.store, .make_agents = FakeAgents()}, recorded.recording);
  ASSERT_FALSE(replay);
  EXPECT_THAT(replay.error().message, HasSubstr("no reply of the conductor for attempt 2"));
}

TEST(Replay, OnlyReplaysAreResumedAsReplays) {
  Recorded recorded;
  const auto result = ResumeReplay({.store = &recorded.place.store, .make_agents = FakeAgents()},
                                   recorded.place.run);
  EXPECT_THAT(result.error().message, HasSubstr("is not a replay"));
}

// Counters in memory that a child process shares with the test, so that they survive its death.
class Counters final {
 public:
  Counters() : memory_(SharedMemory::Create("counters", 64).value()) {}
  int& points() const { return *reinterpret_cast<int*>(memory_.data()); }
  int& asked() const { return *reinterpret_cast<int*>(memory_.data() + 16); }

 private:
  SharedMemory memory_;
};

// Runs `body` in a child process that is killed at the given point (0: never). Returns true if it
// survived to the end.
template <class Body>
bool InChild(const Counters& counters, int kill_at, const Body& body) {
  counters.points() = 0;
  const Hook hook = [&counters, kill_at](std::string_view point) -> Result<void> {
    if (point == "model") ++counters.asked();
    if (++counters.points() == kill_at) ::raise(SIGKILL);
    return {};
  };
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body(hook) ? 0 : 1);
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(status == 0 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)) << status;
  return status == 0;
}

TEST(Kill, AtAnyPointOfARunAndResumeGivesTheSameTree) {
  const Counters counters;
  const Recorded undisturbed;
  const int calls = static_cast<int>(undisturbed.recording.calls.size());
  bool lived = false;
  for (int kill_at = 1; !lived; ++kill_at) {
    Workplace place(Script());
    place.Start();
    counters.asked() = 0;
    const auto run = [&](const Hook& hook) {
      place.hook = hook;
      place.model.hook = hook;
      return place.RunAgain().has_value();
    };
    lived = InChild(counters, kill_at, run);
    place.model.hook = [&](std::string_view) -> Result<void> {
      ++counters.asked();
      return {};
    };
    const auto resumed = place.RunAgain();
    ASSERT_TRUE(resumed) << resumed.error().message;
    EXPECT_EQ(resumed->tree.Signature(), undisturbed.result.tree.Signature())
        << "killed at point " << kill_at;
    EXPECT_EQ(resumed->stopped, StopReason::kAdvice);
    EXPECT_EQ(place.store.Calls(place.run)->size(), static_cast<std::size_t>(calls));
    EXPECT_LE(counters.asked(), calls + (lived ? 0 : 1))
        << "only the call in flight may be asked again";
    ASSERT_LT(kill_at, 100);
  }
}

TEST(Kill, AtAnyPointOfAReplayAndResumeGivesTheSameTree) {
  const Counters counters;
  Recorded recorded;
  const std::filesystem::path home = recorded.place.dir.path() / "other";
  bool lived = false;
  for (int kill_at = 1; !lived; ++kill_at) {
    const auto replay = [&](const Hook& hook) {
      Store store = Store::Open(home).value();
      SessionObserver observer;
      observer.on_trial = [&](const Trial&, const SearchTree&) { (void)hook("trial"); };
      return ReplayRun({.store = &store, .make_agents = FakeAgents(hook), .observer = observer},
                       recorded.recording)
          .has_value();
    };
    lived = InChild(counters, kill_at, replay);
    Store store = Store::Open(home).value();
    const std::string run = store.FindRun("last")->id;
    EXPECT_EQ(store.FindRun(run)->state, lived ? "finished" : "running");
    const std::size_t committed = store.Calls(run)->size();
    const auto resumed = ResumeReplay({.store = &store, .make_agents = FakeAgents()}, run);
    ASSERT_TRUE(resumed) << resumed.error().message;
    EXPECT_TRUE(resumed->same_tree) << "killed at point " << kill_at;
    EXPECT_EQ(resumed->session.tree.Signature(), recorded.result.tree.Signature());
    EXPECT_EQ(store.Calls(run)->size(), recorded.recording.calls.size());
    EXPECT_LE(static_cast<std::size_t>(resumed->reused), committed);
    EXPECT_EQ(store.FindRun(run)->stopped, StopReason::kAdvice);
    ASSERT_LT(kill_at, 100);
  }
}

TEST(Remeasure, JudgesEachRecordedCandidateAnew) {
  const Recorded recorded;
  std::vector<int> bests;
  const auto slower = [&](const Candidate& candidate, const Trial* best,
                          int) -> Result<Evaluation> {
    bests.push_back(best == nullptr ? 0 : best->node);
    Evaluation evaluation = Judge(candidate, best);
    if (evaluation.speedup_best) evaluation.speedup_best->low = 0.5;
    return evaluation;
  };
  int seen = 0;
  const auto result = RemeasureRun(recorded.recording, slower, [&](const Remeasured&) { ++seen; });
  ASSERT_TRUE(result);
  ASSERT_EQ(result->trials.size(), 3U) << "the attempt without code is passed over";
  EXPECT_EQ(seen, 3);
  EXPECT_THAT(bests, ElementsAre(0, 0, 2));
  EXPECT_TRUE(result->trials.at(2).recorded.best);
  EXPECT_FALSE(result->trials.at(2).fresh.best);
}

TEST(Remeasure, KeepsWhatWasDoneWhenInterrupted) {
  const Recorded recorded;
  const auto evaluate = [](const Candidate& candidate, const Trial* best,
                           int node) -> Result<Evaluation> {
    if (node == 2) return Fail(ErrorKind::kInterrupted, "stopped");
    return Judge(candidate, best);
  };
  const auto result = RemeasureRun(recorded.recording, evaluate);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->interrupted);
  EXPECT_EQ(result->trials.size(), 1U);
  const auto broken = [](const Candidate&, const Trial*, int) -> Result<Evaluation> {
    return Fail("no worker");
  };
  EXPECT_EQ(RemeasureRun(recorded.recording, broken).error().message, "no worker");
}

}  // namespace
}  // namespace pragma
// NOLINTEND(bugprone-unchecked-optional-access)
