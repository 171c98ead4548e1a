// Database, Query, Transaction: the part of SQLite that pragma needs. For store/ and for folders
// that keep their own file or index (knowledge/).
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

// Query: one use of a prepared statement. The destructor gives the statement back to its database.
class Query final {
 public:
  Query(Query&& other) noexcept;
  Query& operator=(Query&&) = delete;
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  ~Query();

  // Binds the parameters from left to right. Text and bytes are copied.
  Query& Bind(std::int64_t value);
  Query& Bind(std::string_view text);
  Query& BindBytes(std::string_view bytes);
  Query& BindNull();
  // Steps to the next row. True: there is a row. False: there are no more rows.
  [[nodiscard]] Result<bool> Next();
  // Runs a statement that returns no rows.
  [[nodiscard]] Result<void> Run();

  [[nodiscard]] std::int64_t Int(int column) const;
  [[nodiscard]] std::string Text(int column) const;  // also reads bytes
  [[nodiscard]] bool IsNull(int column) const;

 private:
  friend class Database;
  Query(Database& database, sqlite3_stmt* statement)
      : database_(&database), statement_(statement) {}
  Database* database_;
  sqlite3_stmt* statement_;
  int bound_ = 0;
};

// Commits: whether a commit waits until the data is on the disk. A commit that does not wait
// survives the death of the process, and reaches the disk with the next commit that waits.
enum class Commits : std::uint8_t { kSynced, kUnsynced };

// Database: a connection. Statements are prepared once and kept. Not for use by several threads at
// once.
class Database final {
 public:
  // Opens the file and creates it if there is none. Uses WAL and synced commits (docs/store.md says
  // why).
  [[nodiscard]] static Result<std::unique_ptr<Database>> Open(const std::filesystem::path& path);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  // Sets how later transactions commit. Must not be called inside a transaction. The initial value
  // is kSynced.
  [[nodiscard]] Result<void> Set(Commits commits);
  // Runs one or several statements without parameters or results.
  [[nodiscard]] Result<void> Execute(const std::string& sql);
  // Prepares a statement. `sql` must be a literal, because its address is the key of the kept
  // statement. Only one Query at a time may use a statement.
  [[nodiscard]] Result<Query> Prepare(const char* sql);
  // Explains what a failed step means for the person who runs pragma.
  [[nodiscard]] std::unexpected<Error> Failure() const;
  // Returns whether the last failure was a violated uniqueness constraint.
  [[nodiscard]] bool constraint_failed() const;

 private:
  explicit Database(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
  sqlite3* handle_ = nullptr;
  std::unordered_map<const char*, sqlite3_stmt*> statements_;
};

// Transaction: BEGIN IMMEDIATE ... COMMIT. The destructor rolls back unless it was committed.
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
  Database* database_;  // nullptr: the transaction is over
};

}  // namespace pragma
