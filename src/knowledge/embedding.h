// Embedder: texts to vectors, from a service that speaks OpenAI's protocol or from a local sentence
// model in Python.
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
  std::string name;  // says whose vectors they are: two names never share any
  // One vector of one length for each text, in their order.
  std::function<Result<std::vector<Vector>>(const std::vector<std::string>& texts)> embed;
};

struct EmbedderOptions {
  ModelOptions service;          // of "openai:NAME"
  std::filesystem::path python;  // of "local:NAME": the interpreter that has sentence-transformers
  std::filesystem::path script;  // python/pragma_embed.py
};

// "openai:NAME" (key and address from the environment or the options, as for models: POST
// BASE/embeddings) or "local:NAME", a model or folder that sentence-transformers loads. `clock`
// outlives the embedder.
[[nodiscard]] Result<Embedder> MakeEmbedder(const std::string& spec, const EmbedderOptions& options,
                                            Clock& clock);

// The vectors in a reply of /embeddings, or of the script: {"data": [{"index", "embedding"}]}.
// kUnavailable unless there are `count` of one length with finite numbers.
[[nodiscard]] Result<std::vector<Vector>> ParseVectors(std::string_view json, std::size_t count);

// Vectors of `texts`; only those that the cache does not have are asked for.
[[nodiscard]] Result<std::vector<Vector>> EmbedCached(const Embedder& embedder,
                                                      const std::vector<std::string>& texts,
                                                      KnowledgeCache& cache);

// Of vectors of one length; 0 when one of them is null.
[[nodiscard]] double Cosine(const Vector& a, const Vector& b);

}  // namespace pragma
