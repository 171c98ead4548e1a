// pragma-synthetic-run HOME RECORDING ATTEMPTS puts a run of any length into a store, to measure
// what grows with the length. The material is a recorded run. Each attempt takes a recorded one and
// rewrites a part of its words and figures. Texts are therefore as long, as similar and as hard to
// compress as real ones. The figures mean nothing.
#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "base/text.h"
#include "core/evaluation.h"
#include "core/stop_reason.h"
#include "core/trial.h"
#include "llm/completion.h"
#include "search/recording.h"
#include "search/settings.h"
#include "store/store.h"

namespace pragma {
namespace {

// How a kernel differs from its parent: in recorded runs 16 % of the lines are new, in blocks.
constexpr double kChangedBlocks = 0.027;
constexpr int kBlockLines = 6;
constexpr double kChangedWords = 0.25;  // share of the words in a changed line, advice or reply
constexpr double kFailures = 0.35;      // share of the attempts
constexpr double kGreedy = 0.5;         // share of the attempts that start from the best

// Writer appends attempts modelled on a recorded run.
class Writer final {
 public:
  Writer(const Recording& recording, std::string run)
      : recording_(recording), run_(std::move(run)), random_(Seed{1, 2}) {
    for (const Trial& trial : recording.trials) {
      if (!trial.advice) continue;
      for (const std::string& word : Split(trial.advice->change, ' ')) words_.push_back(word);
    }
  }

  Result<void> Append(Store& store, int node) {
    Trial trial = recording_.trials.at(random_.Below(recording_.trials.size()));
    trial.node = node;
    trial.parent = Parent(node);
    trial.role = trial.parent == 0 ? Role::kSeed : Role::kImprove;
    if (trial.advice) {
      trial.advice->change = Rewritten(trial.advice->change);
      trial.advice->evidence = Rewritten(trial.advice->evidence);
    }
    if (trial.candidate && trial.parent > 0) {
      sources_.push_back(Mutated(sources_.at(static_cast<std::size_t>(trial.parent) - 1)));
    } else {
      sources_.push_back(trial.candidate ? trial.candidate->source() : "");
    }
    if (trial.candidate) trial.candidate->files.begin()->second = sources_.back();
    Judge(trial);
    if (trial.profile) {
      for (Metric& metric : trial.profile->metrics) metric.value *= 1 + 0.1 * random_.Normal();
    }
    TRY(AppendCalls(store, node));
    return store.AppendTrial(run_, trial);
  }

 private:
  int Parent(int node) {
    if (best_ > 0 && random_.Uniform() < kGreedy) return best_;
    return node == 1 || random_.Uniform() < 0.02
               ? 0
               : 1 + static_cast<int>(random_.Below(static_cast<std::uint64_t>(node) - 1));
  }

  std::string Rewritten(const std::string& text) {
    std::vector<std::string> words = Split(text, ' ');
    for (std::string& word : words) {
      if (random_.Uniform() < kChangedWords && !words_.empty())
        word = words_.at(random_.Below(words_.size()));
    }
    return Join(words, " ");
  }

  std::string Mutated(const std::string& source) {
    std::vector<std::string> lines = Split(source, '\n');
    int left = 0;  // lines left in the block that is being changed
    for (std::string& line : lines) {
      if (random_.Uniform() < kChangedBlocks) left = kBlockLines;
      if (left-- > 0) line = Rewritten(line);
    }
    return Join(lines, "\n");
  }

  void Judge(Trial& trial) {
    Evaluation& evaluation = trial.evaluation;
    trial.best = false;
    if (random_.Uniform() < kFailures) {
      constexpr Status kKinds[] = {Status::kCompileError, Status::kWrongValues, Status::kCrashed,
                                   Status::kTimeout};
      evaluation = Evaluation{.status = kKinds[random_.Below(4)],
                              .reason = Rewritten("max abs error 0.3 at [1, 2]; " + words_.at(0)),
                              .checks = evaluation.checks,
                              .log = Rewritten(sources_.back().substr(0, 1500)),
                              .environment = evaluation.environment};
      trial.profile.reset();
      return;
    }
    const double speedup = std::exp(0.3 * random_.Normal() + 0.3 * std::log(trial.node));
    evaluation.status = Status::kPassed;
    evaluation.speedup_eager = Interval{speedup, speedup * 0.95, speedup * 1.06};
    evaluation.timing = Timing{.ms = {1 / speedup, 0.95 / speedup, 1.06 / speedup}, .samples = 45};
    if (speedup > best_speedup_ * 1.01) {
      trial.best = true;
      best_ = trial.node;
      best_speedup_ = speedup;
    }
  }

  Result<void> AppendCalls(Store& store, int node) {
    for (const char* role : {"conductor", "coder"}) {
      const CallRecord& recorded = recording_.calls.at(random_.Below(recording_.calls.size()));
      Completion completion = TRY(CompletionFromJson(recorded.completion_json));
      completion.text = Rewritten(completion.text);
      std::vector<Message> messages = TRY(MessagesFromJson(recorded.prompt_json));
      for (Message& message : messages) message.text = Mutated(message.text);
      TRY(store.AppendCall({.run = run_,
                            .node = node,
                            .role = role,
                            .ordinal = 0,
                            .model = recorded.model,
                            .prompt_json = MessagesToJson(messages),
                            .completion_json = CompletionToJson(completion)}));
    }
    return {};
  }

  const Recording& recording_;
  std::string run_;
  Rng random_;
  std::vector<std::string> words_;
  std::vector<std::string> sources_;  // by node - 1
  int best_ = 0;
  double best_speedup_ = 0;
};

Result<std::string> Write(const std::string& home, const std::string& file, int attempts) {
  const Recording recording = TRY(LoadRecording(file));
  Store store = TRY(Store::Open(home));
  const RunRecord run = TRY(StartRun(store, recording.task, "", recording.settings));
  Writer writer(recording, run.id);
  for (int node = 1; node <= attempts; ++node) TRY(writer.Append(store, node));
  TRY(store.FinishRun(run.id, StopReason::kBudget, ""));
  return run.id;
}

}  // namespace
}  // namespace pragma

int main(int argc, char** argv) {
  if (argc != 4 || std::atoi(argv[3]) < 1) {
    std::fputs("usage: pragma-synthetic-run HOME RECORDING ATTEMPTS\n", stderr);
    return 2;
  }
  const auto run = pragma::Write(argv[1], argv[2], std::atoi(argv[3]));
  if (!run) {
    fmt::print(stderr, "pragma-synthetic-run: {}\n", run.error().message);
    return 1;
  }
  fmt::print("{}\n", *run);
  return 0;
}
