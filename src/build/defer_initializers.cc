#include "build/defer_initializers.h"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "base/result.h"
#include "build/elf_file.h"
#include "worker/load/deferred_tag.h"

namespace pragma {

Result<std::string> DeferInitializers(std::string object) {
  const ElfFile elf = TRY(ReadElf(object));
  for (const std::uint64_t offset : elf.initializer_tags) {
    Elf64_Sxword tag = 0;
    std::memcpy(&tag, object.data() + offset, sizeof(tag));
    tag += PRAGMA_DEFERRED_TAG;
    std::memcpy(object.data() + offset, &tag, sizeof(tag));
  }
  return object;
}

}  // namespace pragma
