#include "store/content.h"

#include <string>
#include <string_view>

#include "base/hash.h"
#include "base/result.h"
#include "core/candidate.h"
#include "core/json.h"
#include "store/database.h"

namespace pragma {

Result<std::string> PutBlob(Database& database, std::string_view bytes) {
  std::string sha256 = Sha256Hex(bytes);
  Query query = TRY(database.Prepare("INSERT OR IGNORE INTO blob (sha256, bytes) VALUES (?, ?)"));
  TRY(query.Bind(sha256).BindBytes(bytes).Run());
  return sha256;
}

Result<std::string> GetBlob(Database& database, const std::string& sha256) {
  Query query = TRY(database.Prepare("SELECT bytes FROM blob WHERE sha256 = ?"));
  if (!TRY(query.Bind(sha256).Next()))
    return Fail("the store holds nothing under the id " + sha256);
  return query.Text(0);
}

Result<std::string> PutCandidate(Database& database, const Candidate& candidate) {
  std::string id = candidate.id();
  Candidate bare = candidate;
  bare.files.clear();
  const std::string json = ToJson(bare);
  {
    Query query = TRY(database.Prepare("INSERT OR IGNORE INTO candidate (id, json) VALUES (?, ?)"));
    TRY(query.Bind(id).Bind(json).Run());
  }
  for (const auto& [name, text] : candidate.files) {
    const std::string sha256 = TRY(PutBlob(database, text));
    Query query = TRY(database.Prepare(
        "INSERT OR IGNORE INTO candidate_file (candidate, name, blob) VALUES (?, ?, ?)"));
    TRY(query.Bind(id).Bind(name).Bind(sha256).Run());
  }
  return id;
}

Result<Candidate> GetCandidate(Database& database, const std::string& id) {
  Query query = TRY(database.Prepare("SELECT json FROM candidate WHERE id = ?"));
  if (!TRY(query.Bind(id).Next())) return Fail("the store holds no candidate " + id);
  Candidate candidate = TRY(CandidateFromJson(query.Text(0)));
  Query files =
      TRY(database.Prepare("SELECT name, bytes FROM candidate_file JOIN blob ON blob.sha256 = blob "
                           "WHERE candidate = ?"));
  files.Bind(id);
  while (TRY(files.Next())) candidate.files[files.Text(0)] = files.Text(1);
  if (candidate.id() != id) return Fail("the store's candidate " + id + " is damaged");
  return candidate;
}

}  // namespace pragma
