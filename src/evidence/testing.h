// Test support: a bundle with content in every part.
#pragma once

#include <string>
#include <vector>

#include "core/advice.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "evidence/bundle.h"
#include "evidence/lineage.h"
#include "verify/timing_session.h"

namespace pragma {

// Samples of two processes of two bursts. The candidate takes 1 ms and eager takes `ratio` times as
// long.
inline std::vector<RawSamples> ExampleSamples(double ratio) {
  return {{.session = "eager",
           .side = "candidate",
           .doorbell_us = 5,
           .seconds = {{1e-3, 1e-3}, {1.1e-3, 1.1e-3}}},
          {.session = "eager",
           .side = "eager (keep)",
           .doorbell_us = 5,
           .seconds = {{ratio * 1e-3, ratio * 1e-3}, {ratio * 1.11e-3, ratio * 1.11e-3}}}};
}

inline Interval RatioOfSamples(const std::vector<RawSamples>& samples) {
  TimingOutcome outcome;
  outcome.sides = {{.seconds = samples[1].seconds}, {.seconds = samples[0].seconds}};
  return outcome.Ratio(0, 1);
}

inline Evaluation ExampleEvidence() {
  Evaluation evaluation;
  evaluation.status = Status::kPassed;
  evaluation.checks = {{"values", CheckVerdict::kPass, "5 input sets against fp64"}};
  evaluation.error = ErrorFigures{1e-6, 2e-6, 3e-7, 1e-7, {1, 2}, "out"};
  evaluation.timing = Timing{.ms = {1, 0.9, 1.1}, .samples = 4, .processes = 2, .method = "paired"};
  evaluation.eager = Timing{.ms = {2, 1.9, 2.1}, .samples = 4, .processes = 2, .method = "paired"};
  evaluation.samples = ExampleSamples(2);
  evaluation.speedup_eager = RatioOfSamples(evaluation.samples);
  evaluation.environment = {"a cpu", "g++ 12", "2.13", "keep", "warm", 2, {"bwrap"}, "isolated"};
  evaluation.object_sha256 = std::string(64, 'b');
  evaluation.seed = "0123456789abcdef0123456789abcdef";
  return evaluation;
}

inline Lineage ExampleLineage() {
  return {.run = "r-20260101-000000-ab12",
          .strategy = "n-pragma",
          .node = 3,
          .role = "improve",
          .author = "coder openai:NAME",
          .advice = Advice{.change = "tile by 8"},
          .ancestors = {{.node = 1,
                         .parent = 0,
                         .author = "coder openai:NAME",
                         .candidate = "00ff",
                         .status = Status::kPassed,
                         .speedup_eager = Interval{1.2, 1.1, 1.3}},
                        {.node = 2, .parent = 1, .author = "coder openai:NAME"}},
          .calls = {{.role = "coder",
                     .ordinal = 0,
                     .model = "openai:NAME",
                     .messages = R"([{"role":"user","text":"faster"}])",
                     .completion = R"({"text":"here"})"}}};
}

inline Bundle ExampleBundle() {
  return {.pragma = "0.1.0",
          .task_name = "relu",
          .task_source = "class Model: pass\n",
          .task_files = {{"parts/layers.py", "width = 3\n"}},
          .kernel_header_sha256 = std::string(64, 'a'),
          .candidate = CppCandidate("int x;\n"),
          .against = CppCandidate("int y;\n"),
          .options = {.judging = {.threads = 2}},
          .machine = R"({"cpu":"a cpu","peak_gflops":1.5})",
          .system = "Linux 6.1 x86_64",
          .evaluation = ExampleEvidence(),
          .lineage = ExampleLineage()};
}

}  // namespace pragma
