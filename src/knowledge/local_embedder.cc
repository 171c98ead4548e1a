// Embeddings from a sentence model on this machine: a Python child process takes texts as JSON and
// returns vectors as JSON.
#include <fmt/format.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "knowledge/embedders.h"
#include "knowledge/embedding.h"

namespace pragma {
namespace {

constexpr Seconds kLimit{1800};  // the first call may download the model
constexpr std::size_t kMostOutput = std::size_t{512} << 20U;
constexpr int kNoLibrary = 3;  // exit code of the script: the import failed

std::string LastLine(std::string_view text) {
  const std::vector<std::string> lines = SplitLines(Trim(text));
  return lines.empty() ? "it said nothing" : Shorten(ToValidUtf8(lines.back()), 400);
}

std::unexpected<Error> Failed(const std::string& model, const EmbedderOptions& options,
                              const RunResult& ran) {
  const std::string python = options.python.string();
  if (!ran.status.signalled && ran.status.code == kNoLibrary) {
    return Fail(ErrorKind::kUnavailable,
                fmt::format("local:{}: {} has no sentence-transformers ({}); install it there with "
                            "`{} -m pip install sentence-transformers`, or name an interpreter "
                            "that has it with --python",
                            model, python, LastLine(ran.err), python));
  }
  if (ran.timed_out) {
    return Fail(ErrorKind::kUnavailable, fmt::format("local:{}: no vectors within {}", model,
                                                     FormatSeconds(kLimit.count())));
  }
  return Fail(ErrorKind::kUnavailable, fmt::format("local:{}: {} cannot embed with that model: {}",
                                                   model, python, LastLine(ran.err)));
}

Result<std::vector<Vector>> Embed(const std::string& model, const EmbedderOptions& options,
                                  const std::vector<std::string>& texts) {
  ProcessSpec spec;
  spec.argv = {options.python.string(), options.script.string()};
  spec.inherit_env = true;
  spec.stdin_text = nlohmann::json{{"model", model}, {"texts", texts}}.dump(
      -1, ' ', false, nlohmann::json::error_handler_t::replace);
  const RunResult ran = TRY(RunProcess(spec, {.wall = kLimit, .max_output_bytes = kMostOutput}));
  if (!ran.status.ok()) return Failed(model, options, ran);
  return ParseVectors(ran.out, texts.size());
}

}  // namespace

Result<Embedder> MakeLocalEmbedder(const std::string& model, const EmbedderOptions& options) {
  return Embedder{.name = "local:" + model,
                  .embed = [model, options](const std::vector<std::string>& texts) {
                    return Embed(model, options, texts);
                  }};
}

}  // namespace pragma
