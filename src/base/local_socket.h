// Local (Unix) stream sockets by path: for processes of one user on one machine.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>

#include "base/fd.h"
#include "base/result.h"

namespace pragma {

// A listening socket at `path` that only its owner may connect to (mode 0600), with a lock beside
// it (`path`.lock) that makes it the only one there. Removed when the object dies.
class LocalListener final {
 public:
  // What a dead listener left is replaced. kUsage: another one lives, or `path` is no socket.
  [[nodiscard]] static Result<LocalListener> Create(const std::filesystem::path& path);
  LocalListener(LocalListener&& other) noexcept;
  LocalListener& operator=(LocalListener&&) = delete;
  LocalListener(const LocalListener&) = delete;
  LocalListener& operator=(const LocalListener&) = delete;
  ~LocalListener();
  // Readable once somebody waits.
  [[nodiscard]] int fd() const { return socket_.get(); }
  // Who waits; invalid: nobody.
  [[nodiscard]] UniqueFd Accept() const;

 private:
  LocalListener(std::filesystem::path path, UniqueFd lock, UniqueFd socket)
      : path_(std::move(path)), lock_(std::move(lock)), socket_(std::move(socket)) {}
  std::filesystem::path path_;  // empty: moved away
  UniqueFd lock_;
  UniqueFd socket_;
};

// nullopt: nobody listens there.
[[nodiscard]] std::optional<UniqueFd> ConnectLocal(const std::filesystem::path& path);
// The user that the other end ran as when it connected or began to listen; nullopt: unknown.
[[nodiscard]] std::optional<uid_t> PeerUser(int socket);

}  // namespace pragma
