#include "base/local_socket.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "base/fd.h"
#include "base/result.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;

constexpr int kBacklog = 16;

// A socket address for a path of any length. sockaddr_un holds only some hundred bytes, so the path
// names its folder by an open descriptor. The descriptor must outlive the call that uses the
// address.
struct Address {
  UniqueFd folder;
  sockaddr_un name{};
};

Result<Address> AddressOf(const fs::path& path) {
  const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
  Address address{.folder = UniqueFd(::open(parent.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC))};
  if (!address.folder.valid()) return FailErrno("cannot open the folder " + parent.string());
  const std::string text =
      "/proc/self/fd/" + std::to_string(address.folder.get()) + "/" + path.filename().string();
  address.name.sun_family = AF_UNIX;
  if (text.size() >= sizeof(address.name.sun_path)) {
    return Fail(ErrorKind::kUsage, "the name of the socket is too long: " + path.string());
  }
  std::memcpy(address.name.sun_path, text.c_str(), text.size() + 1);
  return address;
}

UniqueFd NewSocket(int flags) {
  return UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
}

const sockaddr* Untyped(const sockaddr_un& name) {
  return reinterpret_cast<const sockaddr*>(&name);  // NOLINT: how the interface of sockets is
}

Result<UniqueFd> TakeLock(const fs::path& path) {
  const std::string name = path.string() + ".lock";
  UniqueFd lock(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock.valid()) return FailErrno("cannot open " + name);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno != EWOULDBLOCK) return FailErrno("cannot lock " + name);
  return Fail(ErrorKind::kUsage, "another server listens on " + path.string() +
                                     "; use that one, stop it, or give another --socket");
}

// Removes a socket that a dead listener left. The caller holds the lock, so no live listener owns
// it.
Result<void> RemoveStale(const fs::path& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) return {};
  if (!S_ISSOCK(info.st_mode)) {
    return Fail(ErrorKind::kUsage, path.string() + " exists and is not a socket; use another path");
  }
  if (::unlink(path.c_str()) != 0) return FailErrno("cannot replace " + path.string());
  return {};
}

}  // namespace

Result<LocalListener> LocalListener::Create(const fs::path& path) {
  const Address address = TRY(AddressOf(path));
  UniqueFd lock = TRY(TakeLock(path));
  TRY(RemoveStale(path));
  UniqueFd socket = NewSocket(SOCK_NONBLOCK);
  // The mode is set before the socket is bound, so the file never has another mode.
  if (!socket.valid() || ::fchmod(socket.get(), 0600) != 0 ||
      ::bind(socket.get(), Untyped(address.name), sizeof(address.name)) != 0 ||
      ::listen(socket.get(), kBacklog) != 0) {
    return FailErrno("cannot listen on " + path.string());
  }
  return LocalListener(path, std::move(lock), std::move(socket));
}

LocalListener::LocalListener(LocalListener&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      lock_(std::move(other.lock_)),
      socket_(std::move(other.socket_)) {}

LocalListener::~LocalListener() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

UniqueFd LocalListener::Accept() const {
  return UniqueFd(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

std::optional<UniqueFd> ConnectLocal(const fs::path& path) {
  const Result<Address> address = AddressOf(path);
  if (!address) return std::nullopt;
  UniqueFd socket = NewSocket(0);
  if (::connect(socket.get(), Untyped(address->name), sizeof(address->name)) != 0) {
    return std::nullopt;
  }
  return socket;
}

std::optional<uid_t> PeerUser(int socket) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  return peer.uid;
}

}  // namespace pragma
