// WholeModelServer: pragma's end of the jailed pragma_model server (Python) behind `pragma model`.
// It finds the parts of a user's model that become tasks, packs their kernels as operators, and
// compares and times the whole model with them (docs/whole-models.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/deadline.h"
#include "base/result.h"
#include "core/json_reader.h"
#include "core/json_writer.h"
#include "sandbox/jail.h"
#include "task/torch_server.h"

namespace pragma {

// Equal submodules of a model, which are one task with several uses.
struct ModelPart {
  std::string kind;                  // their class
  std::vector<std::string> paths;    // of the submodules; "" is the model itself
  double seconds = 0;                // of all of them in one call of the model, with Torch
  std::size_t operators = 0;         // in the graph of one of them
  bool compiled = false;             // torch.compile calls them in this form, which eager does not
  std::string refusal;               // why it cannot be a task; empty: it is one
  std::string source;                // text of the task, in KernelBench's format
  std::vector<std::size_t> outputs;  // for each tensor that it returns: which output of the task
  std::string form;                  // the rest of what is known, as a JSON object: where each
                                     // argument of the task comes from, the form of a call
};

// Submodules of one class that stay Torch's for one reason.
struct ModelLeft {
  std::string path;  // of the first of them
  std::size_t uses = 1;
  std::string kind;
  double seconds = 0;
  std::string why;
};

struct CapturedModel {
  std::string name;
  std::string kind;  // class of the model
  std::int64_t parameters = 0;
  std::size_t calls = 0;         // how many example calls the file gives
  std::size_t operators = 0;     // that one call runs
  double seconds = 0;            // of one call
  std::vector<ModelPart> parts;  // those first that take most time
  std::vector<ModelLeft> left;
};

class WholeModelServer final {
 public:
  using OnPhase = std::function<void(std::string_view phase)>;

  // Starts the server. `file` is the user's, and `folder` exists and is where kernels are packed.
  [[nodiscard]] static Result<WholeModelServer> Start(const Jail& jail,
                                                      const TorchServerOptions& options,
                                                      const std::filesystem::path& file,
                                                      const std::filesystem::path& folder);
  WholeModelServer(WholeModelServer&&) noexcept;
  WholeModelServer& operator=(WholeModelServer&&) noexcept;
  ~WholeModelServer();

  [[nodiscard]] const std::string& torch_version() const;
  // Runs the model on its first example call and finds its parts.
  [[nodiscard]] Result<CapturedModel> Capture(const Deadline& deadline, const OnPhase& on_phase);
  // Sends a request with these fields (an open object, begun by WholeModelRequest) and returns the
  // reply.
  [[nodiscard]] Result<JsonReader> Ask(JsonWriter& request, const std::string& what,
                                       const Deadline& deadline, const OnPhase& on_phase);

 private:
  struct Impl;
  explicit WholeModelServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Begins a request: an open object with the operation.
[[nodiscard]] JsonWriter WholeModelRequest(std::string_view operation);

}  // namespace pragma
