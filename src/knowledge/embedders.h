// The kinds of embedder behind MakeEmbedder; private to this folder.
#pragma once

#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "knowledge/embedding.h"
#include "llm/model.h"

namespace pragma {

// POST BASE/embeddings.
[[nodiscard]] Result<Embedder> MakeServiceEmbedder(const std::string& model,
                                                   const ModelOptions& options, Clock& clock);
// A Python child that loads `model` with sentence-transformers, once for each call.
[[nodiscard]] Result<Embedder> MakeLocalEmbedder(const std::string& model,
                                                 const EmbedderOptions& options);

}  // namespace pragma
