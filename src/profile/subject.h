// ProfileSubject: one verified kernel as the providers get it.
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

// Borrowed; all outlive the profile. C++ candidates only.
struct ProfileSubject {
  const Jail& jail;
  const Machine& machine;
  TorchServer& server;  // draws the inputs
  const Candidate& candidate;
  const BuiltKernel& kernel;
  const std::string& kernel_header;
  Toolchains& toolchains;          // each compiler is looked for once
  double time_ms = 0;              // of one call as the evaluation measured it; 0: not measured
  std::vector<ForeignTool> tools;  // that were asked for

  [[nodiscard]] const Task& task() const { return server.task(); }
};

}  // namespace pragma
