// Local (Unix) stream sockets named by a path, for processes of one user on one machine.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>

#include "base/fd.h"
#include "base/result.h"

namespace pragma {

// LocalListener: a listening socket at `path` that only its owner may connect to (mode 0600). A
// lock file next to it (`path`.lock) keeps a second listener out. The destructor removes the
// socket.
class LocalListener final {
 public:
  // Replaces a socket that a dead listener left. Fails with kUsage if another listener is alive or
  // `path` is not a socket.
  [[nodiscard]] static Result<LocalListener> Create(const std::filesystem::path& path);
  LocalListener(LocalListener&& other) noexcept;
  LocalListener& operator=(LocalListener&&) = delete;
  LocalListener(const LocalListener&) = delete;
  LocalListener& operator=(const LocalListener&) = delete;
  ~LocalListener();
  // Becomes readable once a client waits for a connection.
  [[nodiscard]] int fd() const { return socket_.get(); }
  // Accepts a waiting client. The descriptor is invalid if no client waits.
  [[nodiscard]] UniqueFd Accept() const;

 private:
  LocalListener(std::filesystem::path path, UniqueFd lock, UniqueFd socket)
      : path_(std::move(path)), lock_(std::move(lock)), socket_(std::move(socket)) {}
  std::filesystem::path path_;  // empty after a move
  UniqueFd lock_;
  UniqueFd socket_;
};

// Connects to the listener at that path. nullopt if none listens there.
[[nodiscard]] std::optional<UniqueFd> ConnectLocal(const std::filesystem::path& path);
// Returns the user that the other end ran as when it connected or began to listen. nullopt if
// unknown.
[[nodiscard]] std::optional<uid_t> PeerUser(int socket);

}  // namespace pragma
