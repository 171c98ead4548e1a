// ProfileSubject: one verified kernel in the form that the providers take.
#pragma once

#include <string>
#include <vector>

#include "build/builder.h"
#include "build/toolchain.h"
#include "core/candidate.h"
#include "core/task.h"
#include "machine/machine.h"
#include "profile/foreign_tool.h"
#include "sandbox/jail.h"
#include "task/torch_server.h"

namespace pragma {

// The references are borrowed, and all must outlive the profile. Only for C++ candidates.
struct ProfileSubject {
  const Jail& jail;
  const Machine& machine;
  TorchServer& server;  // draws the inputs
  const Candidate& candidate;
  const BuiltKernel& kernel;
  const std::string& kernel_header;
  Toolchains& toolchains;          // cache, so that each compiler is searched for once
  double time_ms = 0;              // time of one call from the evaluation; 0: not measured
  std::vector<ForeignTool> tools;  // external tools that were requested

  [[nodiscard]] const Task& task() const { return server.task(); }
};

}  // namespace pragma
