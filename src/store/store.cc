#include "store/store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/result.h"
#include "base/text.h"
#include "core/enum_names.h"
#include "core/stop_reason.h"
#include "core/trial.h"
#include "core/trial_summary.h"
#include "store/content.h"
#include "store/database.h"
#include "store/schema.h"
#include "store/sync_turns.h"
#include "store/trial_rows.h"

namespace pragma {
namespace {

constexpr int kSuggestionWindow = 200;  // number of newest runs that a misspelt id is compared with
constexpr std::size_t kListedMatches = 5;

constexpr const char* kRunColumns =
    "SELECT run.id, task_name, bytes, task_path, strategy, settings_json, state, stopped, "
    "final_json,"
    " created_ms FROM run JOIN blob ON blob.sha256 = run.task ORDER BY number DESC LIMIT ?";
constexpr const char* kOneRun =
    "SELECT run.id, task_name, bytes, task_path, strategy, settings_json, state, stopped, "
    "final_json,"
    " created_ms FROM run JOIN blob ON blob.sha256 = run.task WHERE run.id = ?";

RunRecord RunFrom(const Query& row) {
  return {.id = row.Text(0),
          .task_name = row.Text(1),
          .task_json = row.Text(2),
          .task_path = row.Text(3),
          .strategy = row.Text(4),
          .settings_json = row.Text(5),
          .state = row.Text(6),
          .stopped = EnumFromName<StopReason>(row.Text(7)).value_or(StopReason::kNone),
          .final_json = row.Text(8),
          .created_ms = row.Int(9)};
}

CallRecord CallFrom(const std::string& run, const Query& row) {
  return {.run = run,
          .node = static_cast<int>(row.Int(0)),
          .role = row.Text(1),
          .ordinal = static_cast<int>(row.Int(2)),
          .model = row.Text(3),
          .prompt_json = row.Text(4),
          .completion_json = row.Text(5)};
}

// Creates the folder. Only the user may access it, because prompts may hold the user's code. A
// .gitignore makes git ignore it.
Result<void> MakeHome(const std::filesystem::path& home) {
  if (home.has_parent_path()) {
    TRY(MakeDirectories(home.parent_path()));
  }
  if (::mkdir(home.c_str(), 0700) != 0 && errno != EEXIST) {
    return FailErrno("cannot create the folder " + home.string());
  }
  const std::filesystem::path ignore = home / ".gitignore";
  std::error_code code;
  if (std::filesystem::exists(ignore, code)) return {};
  return WriteFileAtomic(ignore, "*\n");
}

enum class Wait : std::uint8_t { kNo, kYes };

Result<UniqueFd> OpenLockFile(const std::filesystem::path& home) {
  const std::filesystem::path path = home / "lock";
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd.valid()) return FailErrno("cannot open " + path.string());
  return fd;
}

struct flock LockOf(std::int64_t byte) {
  struct flock range{};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = byte;
  range.l_len = 1;
  return range;
}

// Locks one byte of the lock file: byte 0 while the store is opened, and the byte of a run's number
// while a process works on that run. The lock belongs to the descriptor and ends with it
// (F_OFD_SETLK).
Result<std::optional<UniqueFd>> LockByte(const std::filesystem::path& home, std::int64_t byte,
                                         Wait wait) {
  UniqueFd fd = TRY(OpenLockFile(home));
  struct flock range = LockOf(byte);
  int status = -1;
  do {
    status = ::fcntl(fd.get(), wait == Wait::kYes ? F_OFD_SETLKW : F_OFD_SETLK, &range);
  } while (status != 0 && errno == EINTR);
  if (status == 0) return std::optional(std::move(fd));
  if (errno == EAGAIN || errno == EACCES) return std::nullopt;
  return FailErrno("cannot lock " + (home / "lock").string());
}

// Returns whether a descriptor of any process holds that lock. Does not take the lock.
Result<bool> ByteIsLocked(const std::filesystem::path& home, std::int64_t byte) {
  const UniqueFd fd = TRY(OpenLockFile(home));
  struct flock range = LockOf(byte);
  if (::fcntl(fd.get(), F_OFD_GETLK, &range) != 0)
    return FailErrno("cannot look at the locks of " + (home / "lock").string());
  return range.l_type != F_UNLCK;
}

std::string Listed(const std::vector<std::string>& ids) {
  const std::size_t shown = std::min(ids.size(), kListedMatches);
  const std::string text =
      Join({ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(shown)}, ", ");
  return ids.size() > shown ? text + ", ..." : text;
}

}  // namespace

struct Store::Impl {
  std::filesystem::path home;
  std::unique_ptr<Database> database;
  mutable std::mutex mutex;  // only one statement runs at a time

  Result<std::int64_t> RunNumber(const std::string& run) const;
  Result<std::vector<std::string>> Ids(const char* sql, std::string_view prefix) const;
  Result<std::string> Resolve(const std::string& id) const;
  Result<void> Append(const std::string& run, const Trial& trial);
  SyncTurns trial_syncs;
};

Result<std::int64_t> Store::Impl::RunNumber(const std::string& run) const {
  Query query = TRY(database->Prepare("SELECT number FROM run WHERE id = ?"));
  if (!TRY(query.Bind(run).Next())) return Fail(ErrorKind::kUsage, "the store has no run " + run);
  return query.Int(0);
}

Result<std::vector<std::string>> Store::Impl::Ids(const char* sql, std::string_view prefix) const {
  std::vector<std::string> ids;
  Query query = TRY(database->Prepare(sql));
  query.Bind(prefix).Bind(kSuggestionWindow);
  while (TRY(query.Next())) ids.push_back(query.Text(0));
  return ids;
}

// Returns the full id that `id` stands for. `id` may be the id itself, a unique prefix or "last".
Result<std::string> Store::Impl::Resolve(const std::string& id) const {
  const auto newest =
      TRY(Ids("SELECT id FROM run WHERE ?1 = ?1 ORDER BY number DESC LIMIT ?2", id));
  if (newest.empty()) {
    return Fail(ErrorKind::kUsage,
                "there are no runs yet in " + home.string() + "; `pragma optimize FILE` makes one");
  }
  if (id == "last") return newest.front();
  const auto matches = TRY(Ids(
      "SELECT id FROM run WHERE substr(id, 1, length(?1)) = ?1 ORDER BY number DESC LIMIT ?2", id));
  for (const std::string& match : matches) {
    if (match == id || (matches.size() == 1 && !id.empty())) return match;
  }
  if (!matches.empty() && !id.empty()) {
    return Fail(ErrorKind::kUsage,
                fmt::format("\"{}\" could be any of {} runs ({}); give more of the id", id,
                            matches.size(), Listed(matches)));
  }
  const std::string near = Nearest(id, newest);
  const std::string hint =
      near.empty() ? "the newest is " + newest.front() : "did you mean " + near + "?";
  return Fail(ErrorKind::kUsage,
              fmt::format("there is no run \"{}\" in {}; {}", id, home.string(), hint));
}

Result<void> Store::Impl::Append(const std::string& run, const Trial& trial) {
  Transaction transaction = TRY(Transaction::Begin(*database));
  const std::int64_t number = TRY(RunNumber(run));
  if (!TRY(InsertTrial(*database, number, trial)))
    return Fail(fmt::format("the run {} has a trial {} already", run, trial.node));
  return transaction.Commit();
}

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store> Store::Open(const std::filesystem::path& home) {
  TRY(MakeHome(home));
  // Only one process at a time creates the store, migrates it and switches it to WAL.
  const auto turn = TRY(LockByte(home, 0, Wait::kYes));
  auto impl = std::make_unique<Impl>();
  impl->home = home;
  const std::filesystem::path file = home / "pragma.db";
  impl->database = TRY(Database::Open(file));
  TRY(Migrate(*impl->database, file.string()));
  return Store(std::move(impl));
}

const std::filesystem::path& Store::home() const { return impl_->home; }

Result<void> Store::CreateRun(const RunRecord& run) {
  const std::lock_guard lock(impl_->mutex);
  Transaction transaction = TRY(Transaction::Begin(*impl_->database));
  const std::string task = TRY(PutBlob(*impl_->database, run.task_json));
  Query query = TRY(impl_->database->Prepare(
      "INSERT INTO run (id, task_name, task, task_path, strategy, settings_json, state, stopped,"
      " final_json, created_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  query.Bind(run.id).Bind(run.task_name).Bind(task).Bind(run.task_path).Bind(run.strategy);
  query.Bind(run.settings_json)
      .Bind(run.state.empty() ? "running" : run.state)
      .Bind(EnumName(run.stopped));
  auto created = query.Bind(run.final_json).Bind(run.created_ms).Run();
  if (!created && impl_->database->constraint_failed()) {
    return Fail(ErrorKind::kUsage, "the store has a run " + run.id + " already");
  }
  if (!created) return created;
  return transaction.Commit();
}

Result<void> Store::FinishRun(const std::string& run, StopReason stopped,
                              const std::string& final_json) {
  const std::lock_guard lock(impl_->mutex);
  const std::int64_t number = TRY(impl_->RunNumber(run));
  Query query = TRY(impl_->database->Prepare(
      "UPDATE run SET state = 'finished', stopped = ?, final_json = ? WHERE number = ?"));
  return query.Bind(EnumName(stopped)).Bind(final_json).Bind(number).Run();
}

Result<void> Store::ReopenRun(const std::string& run) {
  const std::lock_guard lock(impl_->mutex);
  const std::int64_t number = TRY(impl_->RunNumber(run));
  Query query = TRY(impl_->database->Prepare(
      "UPDATE run SET state = 'running', stopped = '', final_json = '' WHERE number = ?"));
  return query.Bind(number).Run();
}

Result<RunRecord> Store::FindRun(const std::string& id) const {
  const std::lock_guard lock(impl_->mutex);
  const std::string full = TRY(impl_->Resolve(id));
  Query query = TRY(impl_->database->Prepare(kOneRun));
  if (!TRY(query.Bind(full).Next())) return Fail("the run " + full + " has no task in the store");
  return RunFrom(query);
}

Result<std::vector<RunRecord>> Store::ListRuns(int limit) const {
  const std::lock_guard lock(impl_->mutex);
  std::vector<RunRecord> runs;
  Query query = TRY(impl_->database->Prepare(kRunColumns));
  query.Bind(limit);
  while (TRY(query.Next())) runs.push_back(RunFrom(query));
  return runs;
}

Result<void> Store::AppendCall(const CallRecord& call) {
  const std::lock_guard lock(impl_->mutex);
  const std::int64_t number = TRY(impl_->RunNumber(call.run));
  Query query = TRY(impl_->database->Prepare(
      "INSERT INTO call (run, node, role, ordinal, model, prompt_json, completion_json)"
      " VALUES (?, ?, ?, ?, ?, ?, ?)"));
  query.Bind(number).Bind(call.node).Bind(call.role).Bind(call.ordinal).Bind(call.model);
  auto appended = query.Bind(call.prompt_json).Bind(call.completion_json).Run();
  if (appended || !impl_->database->constraint_failed()) return appended;
  return Fail(fmt::format("the run {} has a reply for node {}, {} {} already", call.run, call.node,
                          call.role, call.ordinal));
}

Result<std::optional<CallRecord>> Store::FindCall(const std::string& run, int node,
                                                  const std::string& role, int ordinal) const {
  const std::lock_guard lock(impl_->mutex);
  Query query = TRY(impl_->database->Prepare(
      "SELECT node, role, ordinal, model, prompt_json, completion_json FROM call"
      " WHERE run = (SELECT number FROM run WHERE id = ?) AND node = ? AND role = ? AND ordinal = "
      "?"));
  if (!TRY(query.Bind(run).Bind(node).Bind(role).Bind(ordinal).Next())) return std::nullopt;
  return CallFrom(run, query);
}

Result<std::vector<CallRecord>> Store::Calls(const std::string& run) const {
  const std::lock_guard lock(impl_->mutex);
  std::vector<CallRecord> calls;
  Query query = TRY(impl_->database->Prepare(
      "SELECT node, role, ordinal, model, prompt_json, completion_json FROM call"
      " WHERE run = (SELECT number FROM run WHERE id = ?) ORDER BY number"));
  query.Bind(run);
  while (TRY(query.Next())) calls.push_back(CallFrom(run, query));
  return calls;
}

Result<std::size_t> Store::CountCalls(const std::string& run) const {
  const std::lock_guard lock(impl_->mutex);
  Query query = TRY(impl_->database->Prepare(
      "SELECT count(*) FROM call WHERE run = (SELECT number FROM run WHERE id = ?)"));
  TRY(query.Bind(run).Next());
  return static_cast<std::size_t>(query.Int(0));
}

Result<void> Store::AmendTrial(const std::string& run, const Trial& trial) {
  const std::lock_guard lock(impl_->mutex);
  return UpdateTrial(*impl_->database, TRY(impl_->RunNumber(run)), trial);
}

Result<void> Store::AppendTrial(const std::string& run, const Trial& trial) {
  const std::lock_guard lock(impl_->mutex);
  if (impl_->trial_syncs.Next(SystemClock().Now()) == Commits::kSynced)
    return impl_->Append(run, trial);
  TRY(impl_->database->Set(Commits::kUnsynced));
  const Result<void> appended = impl_->Append(run, trial);
  TRY(impl_->database->Set(Commits::kSynced));
  return appended;
}

Result<std::vector<Trial>> Store::Trials(const std::string& run) const {
  const std::lock_guard lock(impl_->mutex);
  return ReadTrials(*impl_->database, run);
}

Result<std::vector<TrialSummary>> Store::Summaries(const std::string& run) const {
  const std::lock_guard lock(impl_->mutex);
  return ReadSummaries(*impl_->database, run);
}

Result<Trial> Store::FindTrial(const std::string& run, int node) const {
  const std::lock_guard lock(impl_->mutex);
  return ReadTrial(*impl_->database, run, node);
}

Result<std::string> Store::PutArtefact(std::string_view text) {
  const std::lock_guard lock(impl_->mutex);
  return PutBlob(*impl_->database, text);
}

Result<std::string> Store::GetArtefact(const std::string& id) const {
  const std::lock_guard lock(impl_->mutex);
  return GetBlob(*impl_->database, id);
}

Result<UniqueFd> Store::LockRun(const std::string& run) const {
  const std::lock_guard lock(impl_->mutex);
  const std::int64_t number = TRY(impl_->RunNumber(run));
  auto held = TRY(LockByte(impl_->home, number, Wait::kNo));
  if (held) return std::move(*held);
  return Fail(ErrorKind::kUsage, "another pragma process is working on the run " + run +
                                     "; wait for it to end, or stop it");
}

Result<bool> Store::RunIsHeld(const std::string& run) const {
  const std::lock_guard lock(impl_->mutex);
  return ByteIsLocked(impl_->home, TRY(impl_->RunNumber(run)));
}

Result<void> Store::PutFigure(const std::string& key, const std::string& value) {
  const std::lock_guard lock(impl_->mutex);
  Query query =
      TRY(impl_->database->Prepare("INSERT INTO figure (key, value) VALUES (?1, ?2) ON CONFLICT "
                                   "(key) DO UPDATE SET value = ?2"));
  return query.Bind(key).Bind(value).Run();
}

Result<std::optional<std::string>> Store::GetFigure(const std::string& key) const {
  const std::lock_guard lock(impl_->mutex);
  Query query = TRY(impl_->database->Prepare("SELECT value FROM figure WHERE key = ?"));
  if (!TRY(query.Bind(key).Next())) return std::nullopt;
  return query.Text(0);
}

Result<std::vector<std::string>> Store::FigureKeys(const std::string& prefix) const {
  const std::lock_guard lock(impl_->mutex);
  Query query = TRY(impl_->database->Prepare(
      "SELECT key FROM figure WHERE substr(key, 1, length(?1)) = ?1 ORDER BY key"));
  query.Bind(prefix);
  std::vector<std::string> keys;
  while (TRY(query.Next())) keys.push_back(query.Text(0));
  return keys;
}

}  // namespace pragma
