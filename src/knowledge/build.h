// The two-stage builder of the compendium. Documents are split into segments, and a model
// summarises each segment into entries. Then entries about the same thing are merged, and conflicts
// between them are reported.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "core/spent.h"
#include "knowledge/build_reply.h"
#include "knowledge/cache.h"
#include "knowledge/crawl.h"
#include "knowledge/entry.h"
#include "llm/model.h"
#include "llm/prompt.h"

namespace pragma {

struct BuildOptions {
  std::vector<std::string> sources;  // see ReadSource
  std::size_t segment_bytes = 6000;
  CrawlLimits crawl;
  std::string model;  // spec of the model; replies are cached under it
  Sampling sampling{.temperature = 0.2};
};

// What the builder works with. Everything in it must outlive the builder.
struct KnowledgeBuildParts {
  Model& model;
  const PromptLibrary& prompts;
  KnowledgeCache& cache;
  const Compendium& known;  // entries may name its classes and refer to its ids
  Clock& clock;
  std::function<void(const std::string& what)> progress;  // may be empty
};

struct BuildReport {
  std::size_t documents = 0;
  std::size_t segments = 0;
  std::size_t asked = 0;   // prompts sent to the model, including re-asks
  std::size_t cached = 0;  // questions whose reply was already in the cache
  std::size_t entries = 0;
  std::size_t merged = 0;  // entries that were merged into others
  std::vector<Conflict> conflicts;
  std::vector<std::string> notes;     // pages that were skipped
  std::vector<std::string> rejected;  // parts of replies that could not be used
  std::vector<std::string> known;     // ids that the compendium already has
  Spent spent;
};

struct Built {
  std::vector<Entry> entries;  // sorted by kind and id; ids are unique
  BuildReport report;
};

// Replies are stored before they are used, so a question that was answered once is not asked again,
// however this run ends. Errors come from the sources and from the model.
[[nodiscard]] Result<Built> BuildKnowledge(const BuildOptions& options,
                                           const KnowledgeBuildParts& parts);

// Returns the text for --out: a comment that gives the origin of the entries, then the entries.
[[nodiscard]] std::string BuiltToml(const Built& built, const BuildOptions& options);

}  // namespace pragma
