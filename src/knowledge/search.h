// KnowledgeIndex: finds entries by words (SQLite FTS5) and, if embeddings are available, also by
// meaning. The two rankings are fused by rank.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "knowledge/embedding.h"
#include "knowledge/entry.h"

namespace pragma {

class Database;
class KnowledgeCache;

struct SearchRequest {
  std::string text;
  std::size_t limit = 10;
  std::optional<EntryKind> kind;
  std::string target;  // one of EntryTargets(); empty: any
};

struct SearchHit {
  const Entry* entry = nullptr;  // points into the entries that the index was made from
  double score = 0;              // of the fusion: larger is better, without further meaning
  std::size_t by_words = 0;      // rank from 1; 0: not found this way
  std::size_t by_meaning = 0;
};

class KnowledgeIndex final {
 public:
  // `entries` must not change during the lifetime of the index.
  [[nodiscard]] static Result<KnowledgeIndex> Make(const std::vector<Entry>& entries);
  KnowledgeIndex(KnowledgeIndex&&) noexcept;
  KnowledgeIndex& operator=(KnowledgeIndex&&) = delete;
  KnowledgeIndex(const KnowledgeIndex&) = delete;
  KnowledgeIndex& operator=(const KnowledgeIndex&) = delete;
  ~KnowledgeIndex();

  // Returns the best hits first. Any text is a valid query: characters that are not words are
  // ignored, and there are no operators.
  [[nodiscard]] Result<std::vector<SearchHit>> Search(const SearchRequest& request) const;
  // Fuses the search by words with a ranking by meaning. The vectors of entries are kept in
  // `cache`.
  [[nodiscard]] Result<std::vector<SearchHit>> Search(const SearchRequest& request,
                                                      const Embedder& embedder,
                                                      KnowledgeCache& cache) const;

 private:
  KnowledgeIndex(const std::vector<Entry>& entries, std::unique_ptr<Database> database);
  [[nodiscard]] Result<std::vector<const Entry*>> ByWords(const SearchRequest& request) const;
  [[nodiscard]] Result<std::vector<const Entry*>> Matching(const std::string& question,
                                                           const SearchRequest& request) const;
  [[nodiscard]] Result<std::vector<const Entry*>> ByMeaning(const SearchRequest& request,
                                                            const Embedder& embedder,
                                                            KnowledgeCache& cache) const;
  const std::vector<Entry>* entries_;
  std::unique_ptr<Database> database_;
};

// Reciprocal rank fusion with k = 60 (Cormack, Clarke and Buettcher, SIGIR 2009): each ranking
// gives an entry 1 / (k + its rank).
[[nodiscard]] std::vector<SearchHit> FuseRanks(const std::vector<const Entry*>& by_words,
                                               const std::vector<const Entry*>& by_meaning);

// Returns the topic of an entry as one text to embed.
[[nodiscard]] std::string TextToEmbed(const Entry& entry);

}  // namespace pragma
