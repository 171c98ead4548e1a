// Decides which of a packed model's units are kept: those with which the whole model computes the
// right values and is faster (docs/whole-models.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/deadline.h"
#include "base/result.h"
#include "core/compiled_model.h"
#include "core/json_reader.h"
#include "core/json_writer.h"
#include "core/timing.h"

namespace pragma {

// The largest error of the whole model's results, and what is allowed.
struct ModelError {
  double error = 0;  // relative, in the 2-norm; for integers the share that differs
  double eager = 0;  // Torch's own, of the same result
  double limit = 0;
  std::string reference;  // "float64", or "eager" where the model does not fit or run in float64
  bool right = false;
};

struct ModelProof {
  std::vector<std::string> kept;             // units, in the order given
  std::map<std::string, std::string> taken;  // unit -> why it was taken out again
  ModelError error;                          // with the kept units, in the faster way
  Interval eager_ms;                         // one call of the model
  std::optional<Interval> compile_ms;
  CompiledModel compile;
  // With the kept units; nothing: none is kept. Both ways of using them: the model as it is, and
  // torch.compile around it.
  std::optional<Interval> kernels_ms;
  std::optional<Interval> compiled_kernels_ms;
  CompiledModel compiled_kernels;   // torch.compile around them
  bool compiled_is_faster = false;  // of the two; the speedups are those of the faster one
  std::optional<Interval> speedup_eager;
  std::optional<Interval> speedup_compile;
  std::map<std::string, std::string> slow_launches;  // kernel -> why no graph replays its launches
  std::map<std::string, Interval> alone;  // unit -> the whole without it over the whole with it
  std::size_t rounds = 0;
  double first_call_eager = 0;  // seconds
  double first_call_kernels = 0;
  std::int64_t peak_eager = 0;  // bytes
  std::int64_t peak_kernels = 0;
};

// The server in whose process a model is proved.
struct ProofServer {
  // Sends a request (an open object, see WholeModelRequest) and returns its reply. The first one
  // finds a server that has computed nothing yet.
  std::function<Result<JsonReader>(JsonWriter& request, const std::string& what,
                                   const Deadline& deadline)>
      ask;
  std::function<Result<void>()> restart;  // after it died
};

// The units of a package, those first that gain most.
struct ProvedUnits {
  std::vector<std::string> eager;
  std::vector<std::string> compiled;  // only torch.compile calls modules in their form
};

// Proves the package that the server's folder holds.
[[nodiscard]] Result<ModelProof> ProveModel(const ProofServer& server, const ProvedUnits& units,
                                            bool compile_baseline, const Deadline& deadline);

}  // namespace pragma
