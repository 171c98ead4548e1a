#include "knowledge/cache.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/result.h"
#include "store/database.h"

namespace pragma {
namespace {

constexpr const char* kTables =
    "CREATE TABLE IF NOT EXISTS vector (embedder TEXT NOT NULL, text TEXT NOT NULL, "
    "  value BLOB NOT NULL, PRIMARY KEY (embedder, text)) STRICT;"
    "CREATE TABLE IF NOT EXISTS reply (segment TEXT NOT NULL, prompt TEXT NOT NULL, "
    "  model TEXT NOT NULL, text TEXT NOT NULL, PRIMARY KEY (segment, prompt, model)) STRICT;";

Result<std::optional<std::string>> Single(Query& query) {
  if (!TRY(query.Next())) return std::nullopt;
  return query.Text(0);
}

}  // namespace

KnowledgeCache::KnowledgeCache(std::unique_ptr<Database> database)
    : database_(std::move(database)) {}
KnowledgeCache::KnowledgeCache(KnowledgeCache&&) noexcept = default;
KnowledgeCache::~KnowledgeCache() = default;

Result<KnowledgeCache> KnowledgeCache::Open(const std::filesystem::path& home) {
  TRY(MakeDirectories(home));
  std::unique_ptr<Database> database = TRY(Database::Open(home / "knowledge.db"));
  TRY(database->Execute(kTables));
  return KnowledgeCache(std::move(database));
}

Result<std::optional<std::string>> KnowledgeCache::FindVector(const std::string& embedder,
                                                              const std::string& hash) {
  Query query = TRY(database_->Prepare("SELECT value FROM vector WHERE embedder = ? AND text = ?"));
  return Single(query.Bind(embedder).Bind(hash));
}

Result<void> KnowledgeCache::PutVector(const std::string& embedder, const std::string& hash,
                                       std::string_view bytes) {
  Query query = TRY(
      database_->Prepare("INSERT OR REPLACE INTO vector (embedder, text, value) VALUES (?, ?, ?)"));
  return query.Bind(embedder).Bind(hash).BindBytes(bytes).Run();
}

Result<std::optional<std::string>> KnowledgeCache::FindReply(const ReplyKey& key) {
  Query query = TRY(
      database_->Prepare("SELECT text FROM reply WHERE segment = ? AND prompt = ? AND model = ?"));
  return Single(query.Bind(key.segment).Bind(key.prompt).Bind(key.model));
}

Result<void> KnowledgeCache::PutReply(const ReplyKey& key, std::string_view text) {
  Query query = TRY(database_->Prepare(
      "INSERT OR REPLACE INTO reply (segment, prompt, model, text) VALUES (?, ?, ?, ?)"));
  return query.Bind(key.segment).Bind(key.prompt).Bind(key.model).Bind(text).Run();
}

}  // namespace pragma
