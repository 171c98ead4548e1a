// The two-stage builder: documents become segments, a model summarises each into entries, then
// entries about the same thing are merged and what conflicts is reported.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "core/trial.h"
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
  std::string model;  // its spec: replies are kept under it
  Sampling sampling{.temperature = 0.2};
};

// What the builder works with; everything outlives it.
struct KnowledgeBuildParts {
  Model& model;
  const PromptLibrary& prompts;
  KnowledgeCache& cache;
  const Compendium& known;  // its classes may be named, its ids may be related to
  Clock& clock;
  std::function<void(const std::string& what)> progress;  // may be empty
};

struct BuildReport {
  std::size_t documents = 0;
  std::size_t segments = 0;
  std::size_t asked = 0;   // prompts that went to the model, re-asks too
  std::size_t cached = 0;  // questions whose reply was kept from before
  std::size_t entries = 0;
  std::size_t merged = 0;  // entries that went into others
  std::vector<Conflict> conflicts;
  std::vector<std::string> notes;     // pages that were passed over
  std::vector<std::string> rejected;  // parts of replies that could not be used
  std::vector<std::string> known;     // ids that the compendium has, too
  Spent spent;
};

struct Built {
  std::vector<Entry> entries;  // by kind and id; ids are unique
  BuildReport report;
};

// Replies are kept before they are used: what was answered once is not asked again, however this
// ended. Errors are those of sources and of the model.
[[nodiscard]] Result<Built> BuildKnowledge(const BuildOptions& options,
                                           const KnowledgeBuildParts& parts);

// What --out gets: a comment that says where the entries are from, then the entries.
[[nodiscard]] std::string BuiltToml(const Built& built, const BuildOptions& options);

}  // namespace pragma
