#include "base/fd.h"

#include <unistd.h>

namespace pragma {

void UniqueFd::Reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

}  // namespace pragma
