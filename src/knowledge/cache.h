// KnowledgeCache: results that were paid for once, kept in .pragma/knowledge.db: embedding vectors
// of texts, and a model's replies about segments of documents.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace pragma {

class Database;

// Identifies a reply: the text that was asked about, the prompt, and the model.
struct ReplyKey {
  std::string segment;  // hash of the text asked about
  std::string prompt;   // hash of the whole prompt
  std::string model;
};

// Everything in the cache can be requested again, so the file may be deleted. A Put has committed
// when it returns. Two processes may share a file.
class KnowledgeCache final {
 public:
  // Opens or creates `home`/knowledge.db.
  [[nodiscard]] static Result<KnowledgeCache> Open(const std::filesystem::path& home);
  KnowledgeCache(KnowledgeCache&&) noexcept;
  KnowledgeCache& operator=(KnowledgeCache&&) = delete;
  KnowledgeCache(const KnowledgeCache&) = delete;
  KnowledgeCache& operator=(const KnowledgeCache&) = delete;
  ~KnowledgeCache();

  // Finds the bytes of a vector by the embedder's name and the hash of the embedded text.
  [[nodiscard]] Result<std::optional<std::string>> FindVector(const std::string& embedder,
                                                              const std::string& hash);
  [[nodiscard]] Result<void> PutVector(const std::string& embedder, const std::string& hash,
                                       std::string_view bytes);
  [[nodiscard]] Result<std::optional<std::string>> FindReply(const ReplyKey& key);
  [[nodiscard]] Result<void> PutReply(const ReplyKey& key, std::string_view text);
  // Serves to put many items in one transaction.
  [[nodiscard]] Database& database() { return *database_; }

 private:
  explicit KnowledgeCache(std::unique_ptr<Database> database);
  std::unique_ptr<Database> database_;
};

}  // namespace pragma
