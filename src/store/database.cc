#include "store/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace pragma {
namespace {

// How long a writer waits for another pragma process. Commits take milliseconds.
constexpr int kBusyTimeoutMs = 30'000;

constexpr const char* kSettings =
    "PRAGMA journal_mode = WAL;"
    "PRAGMA synchronous = FULL;"
    "PRAGMA foreign_keys = ON;"
    "PRAGMA trusted_schema = OFF;";

}  // namespace

Query::Query(Query&& other) noexcept
    : database_(other.database_),
      statement_(std::exchange(other.statement_, nullptr)),
      bound_(other.bound_) {}

Query::~Query() {
  if (statement_ == nullptr) return;
  ::sqlite3_reset(statement_);
  ::sqlite3_clear_bindings(statement_);
}

Query& Query::Bind(std::int64_t value) {
  ::sqlite3_bind_int64(statement_, ++bound_, value);
  return *this;
}

Query& Query::Bind(std::string_view text) {
  ::sqlite3_bind_text64(statement_, ++bound_, text.data(), text.size(), SQLITE_TRANSIENT,
                        SQLITE_UTF8);
  return *this;
}

Query& Query::BindBytes(std::string_view bytes) {
  // An empty view may hold a null pointer, which SQLite would store as NULL.
  const char* data = bytes.empty() ? "" : bytes.data();
  ::sqlite3_bind_blob64(statement_, ++bound_, data, bytes.size(), SQLITE_TRANSIENT);
  return *this;
}

Query& Query::BindNull() {
  ::sqlite3_bind_null(statement_, ++bound_);
  return *this;
}

Result<bool> Query::Next() {
  const int code = ::sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return database_->Failure();
}

Result<void> Query::Run() {
  TRY(Next());
  return {};
}

std::int64_t Query::Int(int column) const { return ::sqlite3_column_int64(statement_, column); }

std::string Query::Text(int column) const {
  const void* bytes = ::sqlite3_column_blob(statement_, column);
  const int size = ::sqlite3_column_bytes(statement_, column);
  if (bytes == nullptr) return {};
  return {static_cast<const char*>(bytes), static_cast<std::size_t>(size)};
}

bool Query::IsNull(int column) const {
  return ::sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

Result<std::unique_ptr<Database>> Database::Open(const std::filesystem::path& path) {
  std::unique_ptr<Database> database(new Database(path));
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  if (::sqlite3_open_v2(path.c_str(), &database->handle_, flags, nullptr) != SQLITE_OK) {
    return database->Failure();
  }
  ::sqlite3_busy_timeout(database->handle_, kBusyTimeoutMs);
  TRY(database->Execute(kSettings));
  return database;
}

Database::~Database() {
  for (const auto& [sql, statement] : statements_) ::sqlite3_finalize(statement);
  ::sqlite3_close(handle_);
}

Result<void> Database::Set(Commits commits) {
  return Execute(commits == Commits::kSynced ? "PRAGMA synchronous = FULL"
                                             : "PRAGMA synchronous = NORMAL");
}

Result<void> Database::Execute(const std::string& sql) {
  if (::sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return Failure();
}

Result<Query> Database::Prepare(const char* sql) {
  sqlite3_stmt*& statement = statements_[sql];
  if (statement == nullptr && ::sqlite3_prepare_v3(handle_, sql, -1, SQLITE_PREPARE_PERSISTENT,
                                                   &statement, nullptr) != SQLITE_OK) {
    return Failure();
  }
  return Query(*this, statement);
}

bool Database::constraint_failed() const {
  return (::sqlite3_errcode(handle_) & 0xff) == SQLITE_CONSTRAINT;
}

std::unexpected<Error> Database::Failure() const {
  const std::string what = ::sqlite3_errmsg(handle_);
  switch (::sqlite3_errcode(handle_) & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return Fail(
          fmt::format("the store {} is damaged ({}); move it away, and pragma starts a new one",
                      path_.string(), what));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Fail(
          ErrorKind::kUnavailable,
          fmt::format("the store {} has been held by another process for {} s; try again later",
                      path_.string(), kBusyTimeoutMs / 1000));
    case SQLITE_FULL:
      return Fail(fmt::format("no space left for the store {}; free some and resume the run",
                              path_.string()));
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return Fail(fmt::format(
          "cannot write the store {} ({}); check its permissions or choose another --home",
          path_.string(), what));
    default: return Fail(fmt::format("the store {} failed: {}", path_.string(), what));
  }
}

Result<Transaction> Transaction::Begin(Database& database) {
  TRY(database.Execute("BEGIN IMMEDIATE"));
  return Transaction(database);
}

Transaction::Transaction(Transaction&& other) noexcept
    : database_(std::exchange(other.database_, nullptr)) {}

Transaction::~Transaction() {
  if (database_ != nullptr) [[maybe_unused]]
    const auto ignored = database_->Execute("ROLLBACK");
}

Result<void> Transaction::Commit() {
  auto committed = database_->Execute("COMMIT");
  if (committed) database_ = nullptr;
  return committed;
}

}  // namespace pragma
