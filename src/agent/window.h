// Window: what a role is shown of a run. Built by the strategy; rendered by the prompts.
#pragma once

#include <string>
#include <vector>

#include "core/task.h"
#include "core/trial.h"

namespace pragma {

struct MachineSummary {
  std::string
      text;  // processor, instruction sets, caches, threads, peak and bandwidth, for prompts
};

// A kernel for a similar task, shown until there is one for this task.
struct ExampleKernel {
  std::string title;
  std::string code;  // empty: there is none
};

struct Window {
  const Task* task = nullptr;
  const std::string* kernel_header = nullptr;  // text of kernel.h
  const MachineSummary* machine = nullptr;
  const Trial* current = nullptr;  // the node worked on; nullptr: the reference
  const Trial* best = nullptr;
  std::vector<const Trial*> others;  // what else the strategy shows, oldest first
  const ExampleKernel* example = nullptr;
  int attempt = 1;  // of how many, for the prompt
  int attempts = 15;
  std::string focus;             // what the strategy asks to work on; empty: anything
  std::string advice_from_user;  // optional text given on the command line
};

}  // namespace pragma
