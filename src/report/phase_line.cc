#include "report/phase_line.h"

#include <cstdio>
#include <string>
#include <string_view>

#include "report/terminal.h"

namespace pragma {

void PhaseLine::Show(std::string_view phase) {
  if (!terminal_.interactive) return;
  const std::string text =
      "\r" + CutToWidth(terminal_, SafeLine(phase), terminal_.width - 1) + "\x1b[K";
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
  shown_ = true;
}

void PhaseLine::Clear() {
  if (!shown_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace pragma
