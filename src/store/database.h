// Database, Query, Transaction: as much of SQLite as pragma needs. For store/ and what keeps a file
// or an index of its own (knowledge/).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace pragma {

class Database;

// One use of a prepared statement; the statement goes back to its database when this dies.
class Query final {
 public:
  Query(Query&& other) noexcept;
  Query& operator=(Query&&) = delete;
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  ~Query();

  // Parameters from left to right; text and bytes are copied.
  Query& Bind(std::int64_t value);
  Query& Bind(std::string_view text);
  Query& BindBytes(std::string_view bytes);
  Query& BindNull();
  // True: there is a row. False: done.
  [[nodiscard]] Result<bool> Next();
  // For statements without rows.
  [[nodiscard]] Result<void> Run();

  [[nodiscard]] std::int64_t Int(int column) const;
  [[nodiscard]] std::string Text(int column) const;  // also of bytes
  [[nodiscard]] bool IsNull(int column) const;

 private:
  friend class Database;
  Query(Database& database, sqlite3_stmt* statement)
      : database_(&database), statement_(statement) {}
  Database* database_;
  sqlite3_stmt* statement_;
  int bound_ = 0;
};

// Whether a commit waits until the disk has it. One that does not survives the death of the
// process, and is on the disk with the next that does.
enum class Commits : std::uint8_t { kSynced, kUnsynced };

// A connection. Statements are prepared once and kept. Not for several threads at once.
class Database final {
 public:
  // Creates the file if there is none; WAL, commits synced (docs/store.md says why).
  [[nodiscard]] static Result<std::unique_ptr<Database>> Open(const std::filesystem::path& path);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  // Of the transactions from now on, not inside one. At first: synced.
  [[nodiscard]] Result<void> Set(Commits commits);
  // One or several statements without parameters or results.
  [[nodiscard]] Result<void> Execute(const std::string& sql);
  // `sql` must be a literal: it is the key of the kept statement. A statement is used by one Query
  // at a time.
  [[nodiscard]] Result<Query> Prepare(const char* sql);
  // What a failed step means for the person who runs pragma.
  [[nodiscard]] std::unexpected<Error> Failure() const;
  // The last failure was a violated uniqueness.
  [[nodiscard]] bool constraint_failed() const;

 private:
  explicit Database(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
  sqlite3* handle_ = nullptr;
  std::unordered_map<const char*, sqlite3_stmt*> statements_;
};

// BEGIN IMMEDIATE ... COMMIT; rolled back unless committed.
class Transaction final {
 public:
  [[nodiscard]] static Result<Transaction> Begin(Database& database);
  Transaction(Transaction&& other) noexcept;
  Transaction& operator=(Transaction&&) = delete;
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  [[nodiscard]] Result<void> Commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;  // nullptr: over
};

}  // namespace pragma
