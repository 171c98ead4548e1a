// Scripted authors and judges for the tests of search.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/roles.h"
#include "base/clock.h"
#include "base/deadline.h"
#include "base/file.h"
#include "base/result.h"
#include "base/text.h"
#include "core/evaluation.h"
#include "core/search_tree.h"
#include "core/task.h"
#include "llm/model.h"
#include "search/recording_model.h"
#include "search/replay.h"
#include "search/replay_model.h"
#include "search/session.h"
#include "search/settings.h"
#include "search/strategy.h"
#include "store/store.h"

namespace pragma {

// Called at each point where a run may die or fail. An Error makes the component fail there.
using Hook = std::function<Result<void>(std::string_view point)>;

// Replies according to (role, node), with the same reply each time.
class ModelByScript final : public Model {
 public:
  using Script = std::map<std::pair<std::string, int>, std::string>;
  explicit ModelByScript(Script script) : script_(std::move(script)) {}
  Result<Completion> Complete(const std::vector<Message>& messages, const Sampling& /*sampling*/,
                              const CallKey& key) override {
    {
      const std::scoped_lock lock(mutex_);
      prompts.push_back(messages.back().text);
    }
    if (hook) TRY(hook("model"));
    const auto found = script_.find({key.role, key.node});
    if (found == script_.end())
      return Fail(ErrorKind::kUnavailable, "the script has no such reply");
    return Completion{.text = found->second,
                      .model = "scripted-1",
                      .tokens_in = 100,
                      .tokens_out = 20,
                      .usd = 0.25,
                      .seconds = 2};
  }
  [[nodiscard]] std::string name() const override { return "scripted"; }

  std::vector<std::string> prompts;  // all questions asked
  Hook hook;

 private:
  Script script_;
  std::mutex mutex_;
};

inline std::string Describe(const Window& window) {
  std::string text =
      "attempt " + std::to_string(window.attempt) + " of " + std::to_string(window.attempts);
  text += " current " + std::to_string(window.current == nullptr ? 0 : window.current->node);
  text += " best " + std::to_string(window.best == nullptr ? 0 : window.best->node) + " others";
  for (const Trial* trial : window.others) text += " " + std::to_string(trial->node);
  return text;
}

inline Spent SpentOn(const Completion& completion) {
  return {completion.seconds, completion.tokens_in, completion.tokens_out, completion.usd};
}

// Its replies are "best", "current", "reference" and "stop".
class FakeConductor final : public Conductor {
 public:
  FakeConductor(Model& model, Hook hook) : model_(model), hook_(std::move(hook)) {}
  Result<Advised> Advise(const Window& window, CallKey key) override {
    key.role = "conductor";
    const Completion completion = TRY(model_.Complete({{"user", Describe(window)}}, {}, key));
    if (hook_) TRY(hook_("advised"));
    Advised advised{.spent = SpentOn(completion), .author = "conductor"};
    if (completion.text == "current") advised.advice.base = Base::kCurrent;
    if (completion.text == "reference") advised.advice.base = Base::kReference;
    advised.advice.stop = completion.text == "stop";
    return advised;
  }

 private:
  Model& model_;
  Hook hook_;
};

// Its reply is the source. "none" is a reply without code.
class FakeCoder final : public Coder {
 public:
  FakeCoder(Model& model, Hook hook) : model_(model), hook_(std::move(hook)) {}
  Result<Proposal> Propose(const Window& window, const Advice* advice, CallKey key) override {
    key.role = "coder";
    const std::string change = advice == nullptr ? "" : " advised";
    const Completion completion =
        TRY(model_.Complete({{"user", Describe(window) + change}}, {}, key));
    if (hook_) TRY(hook_("proposed"));
    Proposal proposal{.spent = SpentOn(completion), .author = "coder " + model_.name()};
    if (completion.text == "none") {
      proposal.reason = "the reply holds no code";
    } else {
      proposal.candidate = CppCandidate(completion.text);
    }
    return proposal;
  }

 private:
  Model& model_;
  Hook hook_;
};

// Judges "pass LOW MS" as passed, where LOW is the lower end of the ratio to the best and MS is the
// time. Anything else is an error.
inline Evaluation Judge(const Candidate& candidate, const Trial* best) {
  const std::vector<std::string> words = Split(candidate.source(), ' ');
  Evaluation evaluation;
  evaluation.status = words.at(0) == "pass" ? Status::kPassed : Status::kCompileError;
  evaluation.reason = candidate.source();
  if (!evaluation.passed()) return evaluation;
  const double low = std::stod(words.at(1));
  if (best != nullptr) evaluation.speedup_best = Interval{low + 0.1, low, low + 0.2};
  evaluation.timing = Timing{.ms = {std::stod(words.at(2)), 0, 0}};
  evaluation.lower_bound_ms = 1.0;
  evaluation.prepacked = words.size() > 3;
  return evaluation;
}

// A store with one run, and the parts needed to work on it.
class Workplace final {
 public:
  explicit Workplace(ModelByScript::Script script)
      : dir(TempDir::Create().value()),
        store(Store::Open(dir.path() / ".pragma").value()),
        model(std::move(script)) {
    task.name = "relu";
    settings.preset = {.name = "test", .history = ShownHistory::kBest};
    settings.coder_model = "scripted";
    settings.kernel_header = "header";
    settings.budget.attempts = 6;
  }
  void Start() { run = StartRun(store, task, "relu.py", settings)->id; }

  Result<SessionResult> Run() { return RunIn(store); }
  // Runs as a new process would, with fresh roles, strategy and connection.
  Result<SessionResult> RunAgain() {
    Store fresh = TRY(Store::Open(dir.path() / ".pragma"));
    return RunIn(fresh);
  }
  // Runs and then releases the run, like a process that ends.
  Result<SessionResult> RunIn(Store& in) {
    Result<SessionResult> result = HoldAndRun(in);
    if (result) result->hold.Reset();
    return result;
  }
  Result<SessionResult> HoldAndRun(Store& in) {
    RecordingModel recording(model, in);
    FakeConductor conductor(recording, hook);
    FakeCoder coder(recording, hook);
    const std::unique_ptr<Strategy> strategy = MakeStrategy(settings.preset, settings.seed);
    SessionParts parts{.store = &in,
                       .strategy = strategy.get(),
                       .conductor = &conductor,
                       .coder = &coder,
                       .clock = &clock,
                       .task = &task,
                       .kernel_header = &settings.kernel_header,
                       .machine = &machine};
    parts.seeds = settings.seeds;
    parts.jobs = settings.jobs;
    parts.evaluate = [this](const Candidate& candidate, const Trial* best,
                            int) -> Result<Evaluation> {
      if (hook) TRY(hook("evaluate"));
      clock.SleepFor(Seconds(10));
      return Judge(candidate, best);
    };
    parts.confirm = confirm;
    parts.deadline = deadline;
    parts.observe = observe;
    parts.observer.on_best = on_best;
    parts.observer.on_trial = [this](const Trial&, const SearchTree&) {
      if (hook) [[maybe_unused]]
        const auto ignored = hook("trial");
    };
    return RunSession(run, parts, settings.preset, settings.budget);
  }

  TempDir dir;
  Store store;
  ModelByScript model;
  Task task;
  RunSettings settings;
  MachineSummary machine;
  ReplayClock clock;
  Hook hook;
  Confirm confirm;
  Observe observe;
  std::function<void(const Trial&)> on_best;
  Deadline deadline;  // by `clock`
  std::string run;
};

// Returns fake agents over any model. It takes the place of the real ModelAgents.
inline MakeAgents FakeAgents(const Hook& hook = {}) {
  return [hook](const AgentModels& models, const RunSettings& settings) -> Result<Agents> {
    Agents agents;
    if (settings.preset.conductor)
      agents.conductor = std::make_unique<FakeConductor>(*models.conductor, hook);
    agents.coder = std::make_unique<FakeCoder>(*models.coder, hook);
    return agents;
  };
}

}  // namespace pragma
