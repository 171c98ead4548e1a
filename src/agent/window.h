// Window: the part of a run that a role is shown. The strategy builds it and the prompts render it.
#pragma once

#include <string>
#include <vector>

#include "core/task.h"

namespace pragma {

struct Trial;

struct MachineSummary {
  std::string
      text;  // processor, instruction sets, caches, threads, peak and bandwidth, for prompts
};

// A kernel for a similar task. It is shown until there is one for this task.
struct ExampleKernel {
  std::string title;
  std::string code;  // empty: there is no example
};

struct Window {
  const Task* task = nullptr;
  const std::string* kernel_header = nullptr;  // text of kernel.h
  const MachineSummary* machine = nullptr;
  const Trial* current = nullptr;  // the version to work on; nullptr: the reference
  const Trial* best = nullptr;
  std::vector<const Trial*> others;  // further trials that the strategy shows, oldest first
  const ExampleKernel* example = nullptr;
  int attempt = 1;  // number of this attempt out of `attempts`, for the prompt
  int attempts = 15;
  std::string focus;             // what the strategy wants improved; empty: anything
  std::string advice_from_user;  // optional text given on the command line
};

}  // namespace pragma
