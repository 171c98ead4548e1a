// The kinds of embedder behind MakeEmbedder. Private to this folder.
#pragma once

#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "knowledge/embedding.h"
#include "llm/model.h"

namespace pragma {

// Makes an embedder that sends its texts with POST BASE/embeddings.
[[nodiscard]] Result<Embedder> MakeServiceEmbedder(const std::string& model,
                                                   const ModelOptions& options, Clock& clock);
// Makes an embedder that runs a Python child process, which loads `model` with
// sentence-transformers once per call.
[[nodiscard]] Result<Embedder> MakeLocalEmbedder(const std::string& model,
                                                 const EmbedderOptions& options);

}  // namespace pragma
