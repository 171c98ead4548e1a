#include "report/gzip.h"

#include <zlib.h>

#include <array>
#include <string>
#include <string_view>

#include "base/log.h"

namespace pragma {

std::string Gzip(std::string_view text) {
  constexpr int kGzipHeader = 16;
  constexpr int kMemoryLevel = 9;
  z_stream stream{};
  if (::deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzipHeader, kMemoryLevel,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
    Log(LogLevel::kError, "zlib has no memory to compress a page with");
    return {};
  }
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));  // zlib only reads it
  stream.avail_in = static_cast<uInt>(text.size());
  std::string packed(::deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  ::deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  ::deflateEnd(&stream);
  return packed;
}

}  // namespace pragma
