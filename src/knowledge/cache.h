// KnowledgeCache: what was paid for once, kept in .pragma/knowledge.db: vectors of texts, and
// replies about segments of documents.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace pragma {

class Database;

// Whose reply it is: what was asked about, how, and of whom.
struct ReplyKey {
  std::string segment;  // hash of the text asked about
  std::string prompt;   // hash of the whole prompt
  std::string model;
};

// Anything in it can be asked for again, so it may be deleted. Committed before a Put returns; two
// processes may share a file.
class KnowledgeCache final {
 public:
  // Opens or creates `home`/knowledge.db.
  [[nodiscard]] static Result<KnowledgeCache> Open(const std::filesystem::path& home);
  KnowledgeCache(KnowledgeCache&&) noexcept;
  KnowledgeCache& operator=(KnowledgeCache&&) = delete;
  KnowledgeCache(const KnowledgeCache&) = delete;
  KnowledgeCache& operator=(const KnowledgeCache&) = delete;
  ~KnowledgeCache();

  // The bytes of a vector by the embedder's name and the hash of its text.
  [[nodiscard]] Result<std::optional<std::string>> FindVector(const std::string& embedder,
                                                              const std::string& hash);
  [[nodiscard]] Result<void> PutVector(const std::string& embedder, const std::string& hash,
                                       std::string_view bytes);
  [[nodiscard]] Result<std::optional<std::string>> FindReply(const ReplyKey& key);
  [[nodiscard]] Result<void> PutReply(const ReplyKey& key, std::string_view text);
  // One commit for many puts.
  [[nodiscard]] Database& database() { return *database_; }

 private:
  explicit KnowledgeCache(std::unique_ptr<Database> database);
  std::unique_ptr<Database> database_;
};

}  // namespace pragma
