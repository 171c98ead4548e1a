#include "base/result.h"

#include <cerrno>
#include <string>
#include <system_error>

namespace pragma {

std::unexpected<Error> FailErrno(const std::string& what) {
  const int code = errno;
  return Fail(what + ": " + std::generic_category().message(code));
}

}  // namespace pragma
