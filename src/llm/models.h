// The kinds of model behind MakeModel; private to this folder and its tests.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "llm/model.h"
#include "llm/service.h"

namespace pragma {

[[nodiscard]] std::unique_ptr<Model> MakeServiceModel(Service service, const ModelOptions& options,
                                                      Clock& clock);
// `command` goes to sh -c; the prompt on stdin, the reply on stdout. PRAGMA_ROLE, PRAGMA_NODE and
// PRAGMA_ORDINAL say in its environment which call it is.
[[nodiscard]] std::unique_ptr<Model> MakeCommandModel(std::string command,
                                                      const ModelOptions& options, Clock& clock);
// Prompts and replies as files in `folder` (created).
[[nodiscard]] Result<std::unique_ptr<Model>> MakeHandoffModel(const std::filesystem::path& folder,
                                                              const ModelOptions& options,
                                                              Clock& clock);
// Answers from the "call" lines of a recording (JSON lines).
[[nodiscard]] Result<std::unique_ptr<Model>> MakeReplayModel(const std::filesystem::path& file);

}  // namespace pragma
