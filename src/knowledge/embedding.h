// Embedder: turns texts into vectors, using a service that speaks OpenAI's protocol or a local
// sentence model in Python.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "llm/model.h"

namespace pragma {

class KnowledgeCache;

using Vector = std::vector<float>;

struct Embedder {
  std::string name;  // origin of the vectors: different names never share vectors
  // Returns one vector for each text, in their order, all of one length.
  std::function<Result<std::vector<Vector>>(const std::vector<std::string>& texts)> embed;
};

struct EmbedderOptions {
  ModelOptions service;          // for "openai:NAME"
  std::filesystem::path python;  // for "local:NAME": interpreter with sentence-transformers
  std::filesystem::path script;  // path of python/pragma_embed.py
};

// `spec` is "openai:NAME" or "local:NAME". The former uses the key and address from the environment
// or the options, as for models, and sends POST BASE/embeddings. In the latter, NAME is a model or
// folder that sentence-transformers loads. `clock` must outlive the embedder.
[[nodiscard]] Result<Embedder> MakeEmbedder(const std::string& spec, const EmbedderOptions& options,
                                            Clock& clock);

// Parses the vectors in a reply of /embeddings or of the script: {"data": [{"index",
// "embedding"}]}. Returns kUnavailable unless there are `count` vectors of one length with finite
// numbers.
[[nodiscard]] Result<std::vector<Vector>> ParseVectors(std::string_view json, std::size_t count);

// Returns the vectors of `texts`. Only vectors that the cache lacks are requested.
[[nodiscard]] Result<std::vector<Vector>> EmbedCached(const Embedder& embedder,
                                                      const std::vector<std::string>& texts,
                                                      KnowledgeCache& cache);

// Returns the cosine of two vectors of the same length, or 0 if one of them is a null vector.
[[nodiscard]] double Cosine(const Vector& a, const Vector& b);

}  // namespace pragma
