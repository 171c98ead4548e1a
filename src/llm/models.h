// The kinds of model behind MakeModel. Private to this folder and its tests.
#pragma once

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "llm/model.h"
#include "llm/service.h"

namespace pragma {

// Returns how long a call may take: the model's timeout, or what is left of the run's time.
[[nodiscard]] inline Seconds TimeFor(const ModelOptions& options, const Clock& clock) {
  if (!options.deadline) return options.timeout;
  return std::clamp<Seconds>(*options.deadline - clock.Now(), Seconds(0), options.timeout);
}

[[nodiscard]] std::unique_ptr<Model> MakeServiceModel(Service service, const ModelOptions& options,
                                                      Clock& clock);
// Makes a model that runs `command` with sh -c. The command gets the prompt on stdin and writes the
// reply to stdout. Its environment identifies the call: PRAGMA_ROLE, PRAGMA_NODE and
// PRAGMA_ORDINAL.
[[nodiscard]] std::unique_ptr<Model> MakeCommandModel(std::string command,
                                                      const ModelOptions& options, Clock& clock);
// Makes a model that exchanges prompts and replies as files in `folder`, which is created.
[[nodiscard]] Result<std::unique_ptr<Model>> MakeHandoffModel(const std::filesystem::path& folder,
                                                              const ModelOptions& options,
                                                              Clock& clock);
// Makes a model that answers from the "call" lines of a recording (JSON lines).
[[nodiscard]] Result<std::unique_ptr<Model>> MakeReplayModel(const std::filesystem::path& file);

}  // namespace pragma
